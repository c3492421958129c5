package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes the result as tables for people.
func (r *ForwardResult) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "Frames forwarded from veth to veth by one processor (%d), lossless class; the sender has processor %d.\n", r.DUTCPU, r.SenderCPU)
	fmt.Fprintf(w, "Medians of %d rounds of %gs; the ratios are taken round by round.\n\n", r.Rounds, r.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "frame\tdevice\tMpps\tleast..greatest\toffered\tCPU\tsoftswitch is\t\t\n")
	for _, s := range r.Frames {
		for i, d := range s.DUTs {
			fmt.Fprintf(t, "%d B\t%s\t%.3f\t%.3f..%.3f\t%.3f\t%.0f%%\t", s.Bytes, d.Name, d.Delivered.Median/1e6, d.Delivered.Min/1e6, d.Delivered.Max/1e6, d.Offered.Median/1e6, 100*d.CPU.Median)
			if i > 0 {
				fmt.Fprintf(t, "%.2f x (%.2f..%.2f)", s.Ratios[i-1].Median, s.Ratios[i-1].Min, s.Ratios[i-1].Max)
			}
			fmt.Fprint(t, "\t")
			switch {
			case d.SenderLimited:
				fmt.Fprint(t, "sender-limited")
			case d.Starved:
				fmt.Fprint(t, "starved")
			}
			fmt.Fprint(t, "\t\n")
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.explain(w)
	for _, a := range r.Absent {
		fmt.Fprintf(w, "\n%s is absent: %s\n", a.Name, a.Reason)
	}
	return nil
}

// explain says what the remarks in the table mean, those that occur.
func (r *ForwardResult) explain(w io.Writer) {
	var limited, starved bool
	for _, s := range r.Frames {
		for _, d := range s.DUTs {
			limited, starved = limited || d.SenderLimited, starved || d.Starved
		}
	}
	if limited {
		fmt.Fprint(w, "\nsender-limited: it forwarded all that it was offered, and may be faster.\n")
	}
	if starved {
		fmt.Fprint(w, "\nstarved: others used its processor meanwhile; it is faster on an idle machine.\n")
	}
}

// WriteText writes the result as a table for people.
func (r *FloorResult) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "One %d-byte frame round a ring of %d processes, each a bare read and write; %d laps each.\n\n", r.FrameBytes, r.Hops, r.Laps)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "laps\tleast us\tmedian us\tp90 us\tgreatest us\t\n")
	for _, row := range []struct {
		name string
		Times
	}{{fmt.Sprintf("every %d ms", r.EveryNs/1e6), r.Spaced}, {"back-to-back", r.BackToBack}} {
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t\n", row.name, float64(row.Min)/1e3, float64(row.Median)/1e3, float64(row.P90)/1e3, float64(row.Max)/1e3)
	}
	return t.Flush()
}

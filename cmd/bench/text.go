package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"softswitch/unit"
)

// WriteText writes the result as a table for people.
func (r *ForwardResult) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "Frames forwarded from veth to veth by one processor (%d), lossless priority; the sender has processor %d.\n", r.DUTCPU, r.SenderCPU)
	fmt.Fprintf(w, "Medians (and least..greatest) of %d rounds of %gs; ratios are taken within a round.\n\n", r.Rounds, r.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "frame\tdevice\tMpps\toffered\tCPU\tsoftswitch is\tMpps per CPU\tsoftswitch is\t\n")
	for _, s := range r.Frames {
		for i, d := range s.DUTs {
			var delivered, perCPU string
			if i > 0 {
				delivered, perCPU = times(s.Ratios[i-1].Delivered), times(s.Ratios[i-1].PerCPU)
			}
			fmt.Fprintf(t, "%d B\t%s\t%s\t%.3f\t%.0f%%\t%s\t%s\t%s\t%s\n",
				s.Bytes, d.Name, mpps(d.Delivered), d.Offered.Median/1e6, 100*d.CPU.Median, delivered, mpps(d.PerCPU), perCPU, d.remark())
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

func mpps(s Spread) string {
	return fmt.Sprintf("%.3f (%.3f..%.3f)", s.Median/1e6, s.Min/1e6, s.Max/1e6)
}

func times(s Spread) string {
	return fmt.Sprintf("%.2f x (%.2f..%.2f)", s.Median, s.Min, s.Max)
}

func (d *DUT) remark() string {
	switch {
	case d.SenderLimited:
		return "sender-limited"
	case d.Starved:
		return "starved"
	}
	return ""
}

// explain writes the meaning of the remarks that occur in the table.
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
		fmt.Fprint(w, "\nstarved: others used its processor meanwhile, and it is faster on an idle machine; the\nfigures per second of its own processor time (CPU) stand.\n")
	}
}

// WriteText writes the result as a table for people.
func (r *FloorResult) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "One %d-byte frame round a ring of %d processes, each a bare read and write; %s each.\n\n", r.FrameBytes, r.Hops, unit.Count(r.Laps, "lap"))
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

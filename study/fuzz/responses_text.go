package fuzz

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r *ResponsesReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, seed %d, %d cases: %d deadlocks; %d invalid\n", Response, r.Detector, r.Seed, r.Cases, r.Locked, r.Invalid)
	fmt.Fprintf(w, "a smallest cause was found in %s %%, a single host or flow in %s %% of those\nshares in per cent, with their 95 %% intervals\n\n", r.Found, r.Single)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "response\treserve\tcured\trecurrences\tlossy turns\tpoliced\tinnocents\tin cases\tinnocents hit\tin cases\tlost of theirs\tgoodput of innocents\tsingle cause\tdropped\tno room\n")
	for _, s := range r.Responses {
		reserve := "yes"
		if !s.Reserve {
			reserve = "none"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%.1f\t%.1f\t%.1f\t%s\t%.1f\t%s\t%.1f (%.1f-%.1f)\t%.2f (%.2f-%.2f)\t%.2f\t%.1f\t%d\n", s.Response, reserve, s.Cured, s.Recurrences, s.Turns, s.Policed, s.Innocents,
			s.WithInnocents, s.Hit, s.WithHit, 100*s.Robbed.P50, 100*s.Robbed.P25, 100*s.Robbed.P75, s.Goodput.P50, s.Goodput.P25, s.Goodput.P75, s.SingleGoodput.P50, 100*s.Dropped, s.Lost)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
cured        no deadlock came back, and none is there at the end
recurrences  mean; lossy turns and flows policed too
innocents    mean of innocent flows that are policed, and the cases that have one
hit          mean of innocent flows of which frames were dropped on purpose, by whatever action,
             and the cases that have one
lost         of theirs: these frames, in per cent of them and of what arrived of innocent flows:
             median and quartiles of cases
goodput      of innocents, as a share of what they get when the cause is handled from the start:
             median and quartiles; and the median where a single host or flow is the cause
dropped      frames dropped on purpose, in per cent
no room      lossless frames for which there was no room
`)
	return err
}

package fuzz

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"softswitch/detect/catalog"
	"softswitch/internal/safefile"
	"softswitch/unit"
)

// truthMode is what is done with the cases of a mode truth-*.
var truthMode = records[TruthOutcome]{one: playTruth, report: truthReport, write: writeTruth}

func playTruth(r *Run, i int) (TruthOutcome, string) {
	o := PlayTruth(r.Seed, r.Part.Item(i), r.Mode, r.detector())
	if o.Lost != "" {
		return o, "a lossless frame is lost: " + o.Lost
	}
	return o, o.Invalid
}

func truthReport(r *Run, outcomes []TruthOutcome) Report {
	report := NewTruthReport(r.Seed, r.Mode, r.detector().Name)
	for i := range outcomes {
		report.Add(&outcomes[i])
		if outcomes[i].Faulty() {
			report.Failures = append(report.Failures, outcomes[i].File)
		}
	}
	return report
}

// truthFile is the file of a case in which something is wrong.
func (r *Run) truthFile(i int, o *TruthOutcome) string {
	return filepath.Join(r.Out, fmt.Sprintf("%s-%s.yaml", r.newCase(i).Name(), o.Worst))
}

// writeTruth writes the cases in which something is wrong, the first ones of each kind made smaller.
func writeTruth(ctx context.Context, r *Run, outcomes []TruthOutcome) error {
	var wrong []int
	var small []bool // by index of wrong
	var count [truthFaults]int
	for i := range outcomes {
		if o := &outcomes[i]; o.Faulty() {
			o.File = r.truthFile(i, o)
			count[o.Worst]++
			wrong, small = append(wrong, i), append(small, count[o.Worst] <= r.Shrink)
		}
	}
	return r.eachFailure(ctx, len(wrong), func(n int) error {
		return r.writeTruthOf(ctx, wrong[n], &outcomes[wrong[n]], small[n], theOracle)
	})
}

// writeTruthOf writes a case in which something is wrong: with its sources stopped at the instant,
// if that can be seen of it then.
func (r *Run) writeTruthOf(ctx context.Context, i int, o *TruthOutcome, small bool, judge judge) error {
	c, what := r.newCase(i), o.Why
	wrong := func(c *Case) bool {
		if slices.ContainsFunc(c.Flows, func(f Flow) bool { return f.Stop == 0 }) {
			return false
		}
		rest, _, err := c.restOnly(r.detector(), judge)
		return ctx.Err() == nil && err == nil && rest.Faults[o.Worst] > 0
	}
	if held := c.heldStill(o.At, max(c.Duration, o.At+1)); wrong(held) {
		c, what = held, "The sources stop long before the end"
		if small {
			c, what = Shrink(held, shrinkTries, wrong), what+", and it was made smaller while that is so"
			c = c.heldStill(c.lastActivity(), c.Duration) // some host may have lost its end
		}
		if _, end, err := c.restOnly(r.detector(), judge); err == nil {
			c.Duration = end
		}
	}
	comment := fmt.Sprintf("%s (%s): %s.\n%s.\n\n  softswitch sim run FILE --seed %d\n", c.Name(), c.Shape, o.Worst.text(), what, c.Wires)
	return safefile.WriteFile(r.truthFile(i, o), c.Text(r.detector().Name, comment), 0o644)
}

// heldStill is the case as it is if every source stops after a time, every host is well again and
// nothing else happens: as still makes it of a plan.
func (c *Case) heldStill(at, end unit.Time) *Case {
	d := c.clone()
	d.Duration = end
	d.Flows = slices.DeleteFunc(d.Flows, func(f Flow) bool { return f.Start > at })
	for i := range d.Flows {
		if f := &d.Flows[i]; f.Stop == 0 || f.Stop > at {
			f.Stop = at + 1
		}
	}
	d.Events = slices.DeleteFunc(d.Events, func(e Event) bool { return e.At > at })
	ill := map[string]bool{}
	for i := range d.Events {
		e := &d.Events[i]
		if e.For > 0 && e.At+e.For > at {
			e.For = 0
		}
		switch e.Do {
		case "storm", "slow":
			ill[e.Node] = ill[e.Node] || e.For == 0
		case "normal":
			ill[e.Node] = false
		}
	}
	for _, h := range d.Hosts {
		if ill[h] {
			d.Events = append(d.Events, Event{At: at + 1, Do: "normal", Node: h})
		}
	}
	return d
}

// restOnly is the truth of a case at the last instant at which something happens to it, with one
// run, and when that run ends. It is that of a case whose sources stop.
func (c *Case) restOnly(d catalog.Detector, judge judge) (o TruthOutcome, end unit.Time, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	plan, err := c.Plan(d.Name)
	if err != nil {
		return o, 0, err
	}
	r, err := playRest(plan, c.lastActivity(), c.options(d), judge)
	if err != nil {
		return o, 0, err
	}
	if r.lost != "" {
		return o, 0, errors.New(r.lost)
	}
	o.compare(r)
	if d.Name != "none" {
		if err := o.undeclared(r); err != nil {
			return o, 0, err
		}
	}
	return o, max(r.last, r.at) + r.quiet, nil
}

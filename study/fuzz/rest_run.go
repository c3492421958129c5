package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"softswitch/detect/catalog"
	"softswitch/unit"
)

// truthMode is what is done with the cases of a mode truth-*.
var truthMode = records[TruthOutcome, *TruthReport]{playTruth, newTruthReport, writeTruth}

// writeTruth writes the cases in which something is wrong, the first ones of each kind made smaller.
func writeTruth(ctx context.Context, r *Run, outcomes []TruthOutcome) error {
	all := r.failures(len(outcomes), func(i int) (string, bool) { return "-" + outcomes[i].Worst.String(), outcomes[i].Faulty() })
	for _, f := range all {
		outcomes[f.i].File = f.File
	}
	return r.write(ctx, all, func(f failure) (*Case, string) { return r.wrongCase(ctx, f, &outcomes[f.i], theOracle) })
}

// wrongCase is a case in which something is wrong: with its sources stopped at the instant, if that can
// be seen of it then.
func (r *Run) wrongCase(ctx context.Context, f failure, o *TruthOutcome, judge judge) (c *Case, comment string) {
	c, what := r.newCase(f.i), o.Why
	wrong := func(c *Case) bool {
		if slices.ContainsFunc(c.Flows, func(f Flow) bool { return f.Stop == 0 }) {
			return false
		}
		rest, _, err := c.restOnly(r.detector(), judge)
		return ctx.Err() == nil && err == nil && rest.Faults[o.Worst] > 0
	}
	if held := c.heldStill(o.At, max(c.Duration, o.At+1)); wrong(held) {
		c, what = held, "The sources stop long before the end"
		if f.small {
			c, what = Shrink(ctx, held, shrinkTries, wrong), what+", and it was made smaller while that is so"
			c = c.heldStill(c.lastActivity(), c.Duration) // some host may have lost its end
		}
		if _, end, err := c.restOnly(r.detector(), judge); err == nil {
			c.Duration = end
		}
	}
	return c, fmt.Sprintf("%s (%s): %s.\n%s.\n\n  softswitch sim run FILE --seed %d\n", c.Name(), c.Shape, faultTexts[o.Worst].text, what, c.Wires)
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
	defer noPanic(&err)
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

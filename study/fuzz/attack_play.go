// Mode Attack plays cases in which strangers on links, and hosts, put control frames on the
// wires: forged, replayed, reflected and mutated ones. Each case is played with strict links and
// with links that authenticate nothing, with a detector and a response, and judged by the
// oracle.
//
//	New(seed, index, Attack) --> Case --auth: strict--> AttackRun --.
//	                              '-----auth: off------> AttackRun --+--> AttackReport
//
// Read in this order: this file (a case, and what went wrong in it), attack_report.go (many cases).
//
// Invariants:
//   - the same case: both runs have the same fabric, traffic, wires and attacks;
//   - founded: an action of a response is founded once a deadlock was declared rightly in the
//     run; before that, it was taken on somebody's false word.
//
// What it does not do: nobody in it has a key. What somebody with a key can do is in
// docs/security.md.

package fuzz

import (
	"context"
	"fmt"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/lists"
	"softswitch/link/auth"
	"softswitch/oracle"
	"softswitch/unit"
)

// AttackOutcome is the result of a case.
type AttackOutcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	// Attacks are the frames that were put on wires, or tried to: a frame that is replayed
	// has to be there.
	Attacks      int
	Strict, Open AttackRun
	// File is the one that it is written to if something went wrong on strict links.
	File string `json:",omitempty"`
}

// AttackRun is a case with links of a mode.
type AttackRun struct {
	Frames uint64 // frame-hops
	// Declarations by their outcome.
	True, False, Premature, Late int
	Deadlocks                    int // that had to be declared
	Suppressed                   int // of those, that nobody declared
	Unfounded                    int // actions before a deadlock was declared rightly
	Lost                         int // lossless frames for which there was no room
	Refused                      int // control frames that were not believed
	OfHosts                      int // messages and labels of hosts, which are ignored
	OverBudget                   int // control frames that were too many
}

// Faults is what went wrong in a run, "" for nothing.
func (r *AttackRun) Faults() string {
	switch {
	case r.False > 0:
		return "a deadlock was declared that never formed"
	case r.Premature > 0:
		return "a deadlock was declared that formed later"
	case r.Suppressed > 0:
		return "a deadlock was not declared"
	case r.Unfounded > 0:
		return "an action was taken without a deadlock"
	case r.Lost > 0:
		return "lossless frames were lost"
	}
	return ""
}

func (o AttackOutcome) why() string { return o.Invalid }

// playAttack plays a case both ways, with a response.
func playAttack(r *Run, i int) (o AttackOutcome) {
	c := r.newCase(i)
	for _, e := range c.Events {
		count(&o.Attacks, e.Do == "forge" || e.Do == "replay")
	}
	for _, side := range []struct {
		auth auth.Mode
		run  *AttackRun
	}{{auth.Strict, &o.Strict}, {auth.Off, &o.Open}} {
		var err error
		if *side.run, err = playAttackWith(c, side.auth, r.detector(), attackPolicy()); err != nil {
			return AttackOutcome{Invalid: err.Error()}
		}
	}
	return o
}

// playAttackWith plays a case with links of a mode.
func playAttackWith(c *Case, auth auth.Mode, d catalog.Detector, response respond.Policy) (r AttackRun, err error) {
	defer noPanic(&err)
	with := *c
	with.Auth = auth.String()
	w, _, err := with.run(d.Name, respond.New(d.New, response))
	if err != nil {
		return r, err
	}
	r.Frames, _ = w.Frames()
	result := w.Result()
	o := c.Judge(result)
	r.True, r.False, r.Premature, r.Late = o.True, o.FalsePositives, o.Premature, o.Late
	for _, k := range o.Knots {
		count(&r.Deadlocks, !k.Young)
		count(&r.Suppressed, k.Missed)
	}
	r.Unfounded = unfounded(result)
	w.EachSwitch(func(s *dataplane.Switch) { r.count(s) })
	return r, nil
}

// unfounded is how many actions were taken before a deadlock was declared rightly. That a host is
// contained, which pauses without end, needs none.
func unfounded(r *oracle.Result) int {
	founded := unit.Never
	for _, f := range r.Findings {
		if f.Outcome == oracle.TruePositive || f.Outcome == oracle.Late {
			founded = min(founded, f.At)
		}
	}
	return len(lists.Where(r.Actions, func(m oracle.Taken) bool {
		return m.At < founded && m.Action != detect.ActionContain && m.Action != detect.ActionRelease
	}))
}

// count adds what a switch has dropped.
func (r *AttackRun) count(s *dataplane.Switch) {
	for p := range unit.Port(s.Ports()) {
		drops := &s.Counters(p).Drops
		for _, why := range NoRoom {
			r.Lost += int(drops[why])
		}
		for v := auth.Missing; v < auth.Verdicts; v++ {
			r.Refused += int(drops[dataplane.DropOf(v)])
		}
		r.OfHosts += int(drops[dataplane.DropHostMessage] + drops[dataplane.OddHostLabel])
		r.OverBudget += int(drops[dataplane.DropControlBudget])
	}
}

// attackResponse is the response of the cases: that which does most.
const attackResponse = "cure"

func attackPolicy() respond.Policy {
	p, err := respond.Parse(attackResponse)
	if err != nil {
		panic(err)
	}
	return p
}

// writeAttacks writes the cases in which something went wrong on strict links, the first ones made
// smaller.
func writeAttacks(ctx context.Context, r *Run, outcomes []AttackOutcome) error {
	all := r.failures(len(outcomes), func(i int) (string, bool) { return "", outcomes[i].Strict.Faults() != "" })
	for _, f := range all {
		outcomes[f.i].File = f.File
	}
	return r.write(ctx, all, func(f failure) (*Case, string) {
		c, fault := r.newCase(f.i), outcomes[f.i].Strict.Faults()
		if f.small {
			c = Shrink(ctx, c, shrinkTries, func(c *Case) bool {
				run, err := playAttackWith(c, auth.Strict, r.detector(), attackPolicy())
				return err == nil && run.Faults() == fault
			})
		}
		c.Auth = auth.Strict.String()
		return c, fmt.Sprintf("%s: with strict links, seed %d of the wires and response %s, %s.\n", c.Name(), c.Wires, attackResponse, fault)
	})
}

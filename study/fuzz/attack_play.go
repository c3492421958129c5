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
	"errors"
	"fmt"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/link/auth"
	"softswitch/oracle"
	"softswitch/sim"
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

// NewAttack is case index of seed.
func NewAttack(seed uint64, index int) *Case { return New(seed, index, Attack) }

// PlayAttack plays case index of seed both ways, with a response.
func PlayAttack(seed uint64, index int, d catalog.Detector, response respond.Policy) (o AttackOutcome) {
	c := NewAttack(seed, index)
	for _, e := range c.Events {
		if e.Do == "forge" || e.Do == "replay" {
			o.Attacks++
		}
	}
	for _, side := range []struct {
		auth auth.Mode
		run  *AttackRun
	}{{auth.Strict, &o.Strict}, {auth.Off, &o.Open}} {
		var err error
		if *side.run, err = PlayAttackWith(c, side.auth, d, response); err != nil {
			return AttackOutcome{Invalid: err.Error()}
		}
	}
	return o
}

// PlayAttackWith plays a case with links of a mode.
func PlayAttackWith(c *Case, auth auth.Mode, d catalog.Detector, response respond.Policy) (r AttackRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	with := *c
	with.Auth = auth.String()
	w, _, err := with.World(d.Name, respond.New(d.New, response), sim.Options{})
	if err != nil {
		return r, err
	}
	v, err := w.Run()
	if err != nil {
		return r, err
	}
	if v.Invalid != "" {
		return r, errors.New(v.Invalid)
	}
	r.Frames, _ = w.Frames()
	result := w.Result()
	o := c.Judge(result)
	r.True, r.False, r.Premature, r.Late = o.True, o.FalsePositives, o.Premature, o.Late
	for _, k := range o.Knots {
		if !k.Young {
			r.Deadlocks++
		}
		if k.Missed {
			r.Suppressed++
		}
	}
	r.Unfounded = unfounded(result)
	w.EachSwitch(func(s *dataplane.Switch) { r.count(s) })
	return r, nil
}

// unfounded is how many actions were taken before a deadlock was declared rightly. That a host is
// contained, which pauses without end, needs none.
func unfounded(r *oracle.Result) (n int) {
	founded := unit.Never
	for _, f := range r.Findings {
		if f.Outcome == oracle.TruePositive || f.Outcome == oracle.Late {
			founded = min(founded, f.At)
		}
	}
	for _, m := range r.Actions {
		if m.At < founded && m.Action != detect.ActionContain && m.Action != detect.ActionRelease {
			n++
		}
	}
	return n
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

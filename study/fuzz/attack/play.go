package attack

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
	"softswitch/study/fuzz"
	"softswitch/unit"
)

// Mode is the name of the mode.
const Mode = string(fuzz.Attack)

// Outcome is what came of a case.
type Outcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	// Attacks are the frames that were put on wires, or tried to: a frame that is replayed
	// has to be there.
	Attacks      int
	Strict, Open Run
}

// Run is a case with links of a mode.
type Run struct {
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
func (r *Run) Faults() string {
	switch {
	case r.False > 0:
		return "a deadlock was declared that never came about"
	case r.Premature > 0:
		return "a deadlock was declared that came about later"
	case r.Suppressed > 0:
		return "a deadlock was not declared"
	case r.Unfounded > 0:
		return "an action was taken without a deadlock"
	case r.Lost > 0:
		return "lossless frames were lost"
	}
	return ""
}

// New is case index of seed.
func New(seed uint64, index int) *fuzz.Case { return fuzz.New(seed, index, fuzz.Attack) }

// Play plays case index of seed both ways, with a response.
func Play(seed uint64, index int, d catalog.Detector, response respond.Policy) (o Outcome) {
	c := New(seed, index)
	for _, e := range c.Events {
		if e.Do == "forge" || e.Do == "replay" {
			o.Attacks++
		}
	}
	for _, side := range []struct {
		auth auth.Mode
		run  *Run
	}{{auth.Strict, &o.Strict}, {auth.Off, &o.Open}} {
		var err error
		if *side.run, err = PlayWith(c, side.auth, d, response); err != nil {
			return Outcome{Invalid: err.Error()}
		}
	}
	return o
}

// PlayWith plays a case with links of a mode.
func PlayWith(c *fuzz.Case, auth auth.Mode, d catalog.Detector, response respond.Policy) (r Run, err error) {
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
	for _, m := range r.Measures {
		if m.At < founded && m.Measure != detect.ActionContain && m.Measure != detect.ActionRelease {
			n++
		}
	}
	return n
}

// count adds what a switch has dropped.
func (r *Run) count(s *dataplane.Switch) {
	for p := range unit.Port(s.Ports()) {
		drops := &s.Counters(p).Drops
		for _, why := range fuzz.NoRoom {
			r.Lost += int(drops[why])
		}
		for v := auth.Missing; v < auth.Verdicts; v++ {
			r.Refused += int(drops[dataplane.DropOf(v)])
		}
		r.OfHosts += int(drops[dataplane.DropHostMessage] + drops[dataplane.OddHostLabel])
		r.OverBudget += int(drops[dataplane.DropControlBudget])
	}
}

package response

import (
	"fmt"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/study/cause"
	"softswitch/study/fuzz"
	"softswitch/unit"
)

// Outcome is what came of a case.
type Outcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	// Locked: it has a deadlock without a detector. All else is only set then.
	Locked bool
	// Sought: the smallest cause was sought. Found: it was found; Single: it is one host
	// or one flow.
	Sought, Found, Single bool
	Runs                  []Run // by response, with reserve; then by response, without
}

// Run is a case with a response.
type Run struct {
	Recurrences int
	Gone        bool // no deadlock is there at the end
	Turns       int  // times that a turn was made lossy
	Policed     int  // flows
	Innocents   int  // of those, if the cause was found
	// Lost are lossless frames for which there was no room, Dropped those that were
	// dropped on purpose, and Received what arrived.
	Lost, Dropped, Received int
	// Goodput of innocent flows, as a share of what they get if the cause is handled from
	// the start; -1 if that is not known.
	Goodput float64
}

// Cured reports whether no deadlock came back and none is there at the end.
func (r *Run) Cured() bool { return r.Gone && r.Recurrences == 0 }

// soughtIn is in one of how many cases the cause is sought.
const soughtIn = 4

// newCase is case index of seed, whose flows never stop. A poor one has nothing to lend.
func newCase(seed uint64, index int, poor bool) *fuzz.Case {
	c := fuzz.New(seed, index, fuzz.Usual)
	c.Endless()
	c.Poor = poor
	return c
}

// Play plays case index of seed without a detector and, if it deadlocks, with a detector
// and each response, with and without reserve.
func Play(seed uint64, index int, d catalog.Detector, responses []respond.Choice) (o Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = Outcome{Invalid: fmt.Sprintf("panic: %v", r)}
		}
	}()
	w, v, err := play(newCase(seed, index, false), catalog.None, detect.NewNone)
	switch {
	case err != nil:
		return Outcome{Invalid: err.Error()}
	case fuzz.Lost(w) != "":
		return Outcome{Invalid: fuzz.Lost(w)}
	case !v.Deadlock:
		return o
	}
	o.Locked = true
	var t *cause.Innocents
	if o.Sought = index%soughtIn == 0; o.Sought {
		if t, err = seek(newCase(seed, index, false)); err != nil {
			return Outcome{Invalid: err.Error()}
		}
		o.Found, o.Single = t != nil, t != nil && t.Single
	}
	for _, poor := range []bool{false, true} {
		for _, r := range responses {
			w, v, err := play(newCase(seed, index, poor), d.Name, respond.New(d.New, r.Policy))
			if err != nil {
				return Outcome{Invalid: err.Error()}
			}
			o.Runs = append(o.Runs, runOf(w, v, t))
		}
	}
	return o
}

func play(c *fuzz.Case, name string, detector detect.Factory) (*sim.World, *verdict.Verdict, error) {
	w, _, err := c.World(name, detector, sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	v, err := w.Run()
	if err == nil && v.Invalid != "" {
		err = fmt.Errorf("%s", v.Invalid)
	}
	return w, v, err
}

// seek finds who had no part in the case's first deadlock; nil if it has no cause.
func seek(c *fuzz.Case) (*cause.Innocents, error) {
	plan, err := c.Plan(catalog.None)
	if err != nil {
		return nil, err
	}
	k, err := cause.New(plan.Scenario, c.Wires, nil)
	if err != nil {
		return nil, err
	}
	return k.Innocents(cause.InTurn)
}

// runOf is what came of a run. t is nil if the cause is not known.
func runOf(w *sim.World, v *verdict.Verdict, t *cause.Innocents) Run {
	r := Run{Recurrences: v.Recurrences, Gone: v.Recovered || !v.Deadlock, Dropped: v.ResponseDropped + v.Policed, Lost: lost(w), Goodput: -1}
	for _, m := range v.Measures {
		if m.Measure == detect.ActionLossyTurn.String() {
			r.Turns++
		}
	}
	for i, f := range v.Flows {
		r.Received += int(f.Received)
		if f.Policed {
			r.Policed++
			if t != nil && t.Flows[i] {
				r.Innocents++
			}
		}
	}
	if t != nil {
		if share, ok := t.Share(v.Flows); ok {
			r.Goodput = share
		}
	}
	return r
}

// lost is for how many lossless frames there was no room.
func lost(w *sim.World) (n int) {
	w.EachSwitch(func(s *dataplane.Switch) {
		for p := range unit.Port(s.Ports()) {
			for _, r := range fuzz.NoRoom {
				n += int(s.Counters(p).Drops[r])
			}
		}
	})
	return n
}

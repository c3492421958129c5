package response

import (
	"fmt"
	"slices"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/cause"
	"softswitch/sim/fuzz"
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
	var t *truth
	if o.Sought = index%soughtIn == 0; o.Sought {
		if t, err = seek(newCase(seed, index, false)); err != nil {
			return Outcome{Invalid: err.Error()}
		}
		o.Found, o.Single = t != nil, t != nil && t.single
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

// truth is who had no part in a deadlock, and what they get without it.
type truth struct {
	innocent []bool // by flow
	goodput  float64
	single   bool
}

// seek finds the smallest cause of the case's first deadlock; nil if there is none.
func seek(c *fuzz.Case) (*truth, error) {
	plan, err := c.Plan(catalog.None)
	if err != nil {
		return nil, err
	}
	k, err := cause.New(plan.Scenario, c.Wires, nil)
	if err != nil {
		return nil, err
	}
	singles, err := k.TryAll(cause.InTurn, "", k.Singles())
	if err != nil {
		return nil, err
	}
	sets, err := k.Smallest(cause.InTurn, singles)
	if err != nil || sets.LeastHarm < 0 {
		return nil, err
	}
	set := sets.Sets[sets.LeastHarm]
	t := &truth{innocent: make([]bool, len(plan.Scenario.Flows)), single: sets.Single}
	for i, f := range plan.Scenario.Flows {
		to := plan.Fabric.Nodes[f.To].Name
		t.innocent[i] = slices.Contains(plan.Scenario.PFC.Lossless, int(f.Class)) && !slices.Contains(set.Flows, f.Name) && !slices.Contains(set.Hosts, to)
		if t.innocent[i] {
			t.goodput += float64(set.Goodput[i])
		}
	}
	return t, nil
}

// runOf is what came of a run. t is nil if the cause is not known.
func runOf(w *sim.World, v *verdict.Verdict, t *truth) Run {
	r := Run{Recurrences: v.Recurrences, Gone: v.Recovered || !v.Deadlock, Dropped: v.ResponseDropped + v.Policed, Lost: lost(w), Goodput: -1}
	for _, m := range v.Measures {
		if m.Measure == detect.ActionLossyTurn.String() {
			r.Turns++
		}
	}
	goodput := 0.0
	for i, f := range v.Flows {
		r.Received += int(f.Received)
		innocent := t != nil && t.innocent[i]
		if f.Policed {
			r.Policed++
			if innocent {
				r.Innocents++
			}
		}
		if innocent {
			goodput += mean(f.OverTime)
		}
	}
	if t != nil && t.goodput > 0 {
		r.Goodput = goodput / t.goodput
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

// mean is the mean of rates.
func mean(rates []int64) float64 {
	sum := int64(0)
	for _, r := range rates {
		sum += r
	}
	return float64(sum) / float64(len(rates))
}

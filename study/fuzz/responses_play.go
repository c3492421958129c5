// Mode Response measures what responses do about random deadlocks: whether they stay
// away, and what that costs those who had no part in them.
//
//	New --endless--> case --no detector--> a deadlock? --.
//	                        |                                 v
//	                        |--- each response, with and without reserve --> Run
//	                        |                                                 |
//	                        '--- study/cause: the smallest cause, handled ------'--> Report
//
// Read in this order: this file (a case), responses_report.go (many).
//
// Words: a deadlock *comes back* whenever there is one again after all were gone,
// wherever it is. A case is *cured* if none came back and none is there at the end.
// *Innocent* is a lossless flow that is not in the smallest set of hosts and flows
// without which the first deadlock does not form (package cause), and goes to no
// host of it. Its goodput is compared with that of the run in which that set is handled from
// the start. Finding that set takes longer than all else, so it is sought in one case
// of four.
//
// Invariants:
//   - every response has the same cases: those that deadlock without one, and in which no
//     lossless frame is lost then;
//   - the same case gives the same outcome, whatever else runs.

package fuzz

import (
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/study/cause"
	"softswitch/unit"
)

// ResponsesOutcome is the result of a case.
type ResponsesOutcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	// Locked: it has a deadlock without a detector. All else is only set then.
	Locked bool
	// Sought: the smallest cause was sought. Found: it was found; Single: it is one host
	// or one flow.
	Sought, Found, Single bool
	Runs                  []ResponsesRun // by response, with reserve; then by response, without
}

// ResponsesRun is a case with a response.
type ResponsesRun struct {
	Recurrences int
	Gone        bool // no deadlock is there at the end
	Turns       int  // times that a turn was made lossy
	Policed     int  // flows
	Innocents   int  // of those, if the cause was found
	// Lost are lossless frames for which there was no room, Dropped those that were
	// dropped on purpose, and Received what arrived.
	Lost, Dropped, Received int
	// Hit are the innocent flows of which frames were dropped on purpose, InnocentDropped these
	// frames, and InnocentReceived what arrived of all innocent flows, if the cause was found.
	Hit, InnocentDropped, InnocentReceived int
	// Goodput of innocent flows, as a share of what they get if the cause is handled from
	// the start; -1 if that is not known.
	Goodput float64
}

// Cured reports whether no deadlock came back and none is there at the end.
func (r *ResponsesRun) Cured() bool { return r.Gone && r.Recurrences == 0 }

// soughtIn is in one of how many cases the cause is sought.
const soughtIn = 4

// newCase is case index of seed, whose flows never stop. A poor one has nothing to lend.
func newCase(seed uint64, index int, poor bool) *Case {
	c := New(seed, index, Usual)
	for i := range c.Flows {
		c.Flows[i].Stop = 0
	}
	c.Poor = poor
	return c
}

func (o ResponsesOutcome) why() string { return o.Invalid }

// playResponses plays a case without a detector and, if it deadlocks, with a detector and each
// response, with and without reserve.
func playResponses(r *Run, i int) (o ResponsesOutcome) {
	defer recovered(&o, &o.Invalid)
	index, d := r.Part.Item(i), r.detector()
	w, v, err := newCase(r.Seed, index, false).run(catalog.None, detect.NewNone)
	switch {
	case err != nil:
		return ResponsesOutcome{Invalid: err.Error()}
	case Lost(w) != "":
		return ResponsesOutcome{Invalid: Lost(w)}
	case !v.Deadlock:
		return o
	}
	o.Locked = true
	var t *cause.Innocents
	if o.Sought = index%soughtIn == 0; o.Sought {
		if t, err = seek(newCase(r.Seed, index, false)); err != nil {
			return ResponsesOutcome{Invalid: err.Error()}
		}
		o.Found, o.Single = t != nil, t != nil && t.Single
	}
	for _, poor := range []bool{false, true} {
		for k, c := range r.Responses {
			if poor && !c.Policy.Lends() { // it plays as with reserve
				o.Runs = append(o.Runs, o.Runs[k])
				continue
			}
			w, v, err := newCase(r.Seed, index, poor).run(d.Name, respond.New(d.New, c.Policy))
			if err != nil {
				return ResponsesOutcome{Invalid: err.Error()}
			}
			o.Runs = append(o.Runs, runOf(w, v, t))
		}
	}
	return o
}

// seek finds who had no part in the case's first deadlock; nil if it has no cause.
func seek(c *Case) (*cause.Innocents, error) {
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

// runOf is the result of a run. t is nil if the cause is not known.
func runOf(w *sim.World, v *verdict.Verdict, t *cause.Innocents) ResponsesRun {
	r := ResponsesRun{Recurrences: v.Recurrences, Gone: v.Recovered || !v.Deadlock, Dropped: v.ResponseDropped + v.Policed, Lost: lost(w), Goodput: -1}
	for _, m := range v.Actions {
		count(&r.Turns, m.Action == detect.ActionLossyTurn.String())
	}
	for i, f := range v.Flows {
		r.Received += int(f.Received)
		count(&r.Policed, f.Policed)
		if t != nil && t.Flows[i] {
			dropped := int(f.Response + f.OverRate)
			count(&r.Innocents, f.Policed)
			count(&r.Hit, dropped > 0)
			r.InnocentDropped += dropped
			r.InnocentReceived += int(f.Received)
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
			for _, r := range NoRoom {
				n += int(s.Counters(p).Drops[r])
			}
		}
	})
	return n
}

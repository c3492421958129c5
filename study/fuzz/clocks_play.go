// Mode Clocks measures what the oracle says of logs that use several clocks: each node of a random
// case is put on one of two to four clocks, and the result is compared with that for the same logs
// by one clock.
//
//	New --> case --play--> logs --one clock--> truth -------------.
//	                             |                                     v
//	                             '----------> logs by several --> compare --> ClocksReport
//	                             (clocks_clock.go)    JudgeClocks, and a naive merge
//
// Read in this order: clocks_clock.go (what a clock shows), this file (a case),
// clocks_compare.go (what is wrong), clocks_report.go (many cases).
//
// The clocks are apart by up to ten hours, drift by up to what is assumed of clocks, and in
// a third of the cases one steps: forward by up to an hour, or back as after the machine
// was suspended. In a quarter of the cases findings at random take the place of those of the
// detector, so that all outcomes occur.
//
// Words: *wrong* is a finding or a deadlock of which several clocks say other than one;
// *undecided* is one of which several clocks say that they do not know. *Near* is a finding
// whose time is known to less than a hop.
//
// Invariant: the same case gives the same outcome, whatever else runs.

package fuzz

import (
	"slices"
	"sort"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/internal/stat"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/unit"
)

// ClocksOutcome is the result of a case.
type ClocksOutcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	Clocks  int
	Steps   bool // a clock stepped

	// Findings are all that were declared, Undecided those of which several clocks do not tell
	// whether they are true, and Wrong those that are judged other than by one clock, or have
	// a latency out of its bounds. Near are the findings of which the time is known to less
	// than a hop, and NearUndecided those of them that are undecided.
	Findings, Undecided, Wrong int
	Near, NearUndecided        int
	// Deadlocks are those that were a knot, and Missed those nobody declared, by one clock.
	// MissedFound of these are found to be missed by several. UndecidedDeadlocks are possible
	// ones of which several clocks do not know.
	Deadlocks, Missed, MissedFound, UndecidedDeadlocks int
	// WrongMissed is how many deadlocks are said to be missed that are not, or not to be
	// although they are.
	WrongMissed int
	// Typical, Worst and Unbounded are as in oracle.ClocksKnown; Hop is the longest time of a
	// pause over a usual link of the case.
	Typical, Worst, Hop unit.Time
	Unbounded           int
	// Naive is how many findings and missed deadlocks are judged wrong if clocks are taken to
	// be apart by what the fastest frames say, and the logs merged by that.
	Naive int
	// Why is what is wrong, for people.
	Why string
}

func (o ClocksOutcome) why() string { return o.Invalid }

// playClocks plays a case with a detector. Its logs then are put on several clocks.
func playClocks(r *Run, i int) (o ClocksOutcome) {
	defer recovered(&o, &o.Invalid)
	i = r.Part.Item(i)
	c := New(r.Seed, i, Modes[i%len(Modes)])
	f, logs, end, err := run(c, r.detector())
	if err != nil {
		return ClocksOutcome{Invalid: err.Error()}
	}
	return judgeClocks(f, logs, end, c.Lap(1), random(r.Seed, i))
}

// run plays a case and returns the logs of its nodes.
func run(c *Case, detector catalog.Detector) (*oracle.Fabric, []event.Log, unit.Time, error) {
	var logs logsOf
	w, plan, err := c.World(detector.Name, detector.New, sim.Options{Events: logs.add})
	if err != nil {
		return nil, nil, 0, err
	}
	if _, err := w.Play(); err != nil {
		return nil, nil, 0, err
	}
	f, err := verdict.Fabric(plan.Fabric, verdict.Buffers(plan))
	return f, logs.all, plan.Scenario.Duration, err
}

// logsOf are the logs of nodes, in the order of their first events.
type logsOf struct {
	all []event.Log
	of  map[unit.NodeID]int
}

func (l *logsOf) add(n event.Node, e event.Event) {
	if n.ID == 0 {
		return
	}
	k, known := l.of[n.ID]
	if !known {
		if l.of == nil {
			l.of = map[unit.NodeID]int{}
		}
		k = len(l.all)
		l.of[n.ID] = k
		l.all = append(l.all, event.Log{Node: n})
	}
	l.all[k].Events = append(l.all[k].Events, e)
}

// lateHops is for how many hops after a deadlock a declaration is late rather than false.
const lateHops = 32

func judgeClocks(f *oracle.Fabric, logs []event.Log, end, hop unit.Time, r *stat.Rand) (o ClocksOutcome) {
	late := lateHops * hop
	if r.Below(4) == 0 {
		guessFindings(logs, end, r)
	}
	truth, err := oracle.Judge(f, logs, end, late)
	if err != nil {
		return ClocksOutcome{Invalid: err.Error()}
	}
	n := 2 + r.Below(3)
	by, busy := make([]int, len(logs)), make([][]unit.Time, n)
	for i, l := range logs {
		by[i] = r.Below(n)
		for k := range l.Events {
			busy[by[i]] = append(busy[by[i]], l.Events[k].At)
		}
	}
	for i := range busy {
		slices.Sort(busy[i])
	}
	all := draw(r, n, busy, end)
	local := shown(logs, by, all)
	cl := oracle.Clocks{By: by, Reference: oracle.Reference(f, logs, by)}
	got, err := oracle.JudgeClocks(f, local, cl, all[cl.Reference].at(end), late)
	if err != nil {
		return ClocksOutcome{Invalid: err.Error()}
	}
	steps := slices.ContainsFunc(all, func(c clock) bool { return c.step != 0 })
	o = ClocksOutcome{Clocks: n, Steps: steps, Hop: hop, Findings: len(truth.Findings)}
	if k := got.Clocks; k != nil {
		o.Typical, o.Worst, o.Unbounded = k.Typical, k.Worst, k.Unbounded
	}

	o.compare(truth, got)
	if merged, err := naive(f, local, by, n, end, late); err == nil {
		o.Naive = differ(truth, merged)
	}
	return o
}

// guessFindings puts findings at random in the place of those of the detector, so that there are
// false, late and premature ones and missed deadlocks: what the oracle says of these has to
// be right too.
func guessFindings(logs []event.Log, end unit.Time, r *stat.Rand) {
	for i := range logs {
		l := &logs[i]
		l.Events = slices.DeleteFunc(l.Events, func(e event.Event) bool { return e.Type == event.Deadlock })
		held := slices.DeleteFunc(slices.Clone(l.Events), func(e event.Event) bool { return e.Type != event.Held })
		for n := r.Below(3); n > 0 && len(held) > 0; n-- {
			e := held[r.Below(len(held))]
			at := below(r, end)
			if r.Below(2) == 0 { // near something that happened
				at = min(end, e.At+below(r, end/20+1))
			}
			e = event.Event{Type: event.Deadlock, At: at, Port: e.Port, Priority: e.Priority, Out: e.Out, OutPriority: e.OutPriority}
			k := sort.Search(len(l.Events), func(k int) bool { return l.Events[k].At > at })
			l.Events = slices.Insert(l.Events, k, e)
		}
	}
}

package fuzz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Failure is a mistake of a detector.
type Failure string

// Failures, the worst first.
const (
	FalsePositive Failure = "false_positive" // declared a deadlock that never formed
	Premature     Failure = "premature"      // declared a deadlock that formed later
	FalseNegative Failure = "false_negative" // did not declare a deadlock
)

// Outcome is the judgement of a case.
type Outcome struct {
	// Invalid is why the case says nothing about the detector; then only Frames is set
	// too.
	Invalid string
	Frames  uint64 // frame-hops

	Knots []Knot
	// Declarations by their outcome.
	True, FalsePositives, Premature, Late int
	// Control is the number of frames that the detector cost: messages, and pauses
	// repeated before their refresh was due.
	Control int
	// State is the detector's own state at the end, of the switch that has most, in bytes.
	State int
}

// Knot is a deadlock that has to be declared: at some time it waited for nothing
// outside itself.
type Knot struct {
	oracle.Kind
	Onset     unit.Time
	Queues    int // that were ever in it
	Declarers int
	// Declared is when it was declared first, 0 if nobody did.
	Declared unit.Time
	// Latency is from the onset to the first declaration, in thousandths of a lap of
	// the declared loop.
	Latency int64
	// Missed: nobody declared it, although it was a knot for graceLaps.
	Missed bool
	// Young: nobody declared it, and it was a knot for less: it ended, began to depend on
	// another deadlock, or the run ended.
	Young bool
}

// Missed is the number of false negatives.
func (o *Outcome) Missed() int {
	return len(lists.Where(o.Knots, func(k Knot) bool { return k.Missed }))
}

// Failure is the worst failure of the outcome, "" if it has none.
func (o *Outcome) Failure() Failure {
	switch {
	case o.Invalid != "":
	case o.FalsePositives > 0:
		return FalsePositive
	case o.Premature > 0:
		return Premature
	case o.Missed() > 0:
		return FalseNegative
	}
	return ""
}

// graceLaps is how many laps a deadlock may be a knot before it counts as missed.
const graceLaps = 20

// Play simulates the case with the detector called name and judges it. A case that
// cannot be played, or panics, is Invalid.
func (c *Case) Play(name string, detector detect.Factory) (o Outcome) {
	defer recovered(&o, &o.Invalid)
	w, plan, sent, err := c.world(name, detector)
	if err != nil {
		return Outcome{Invalid: err.Error()}
	}
	v, err := w.Run()
	if err != nil {
		return Outcome{Invalid: err.Error()}
	}
	o.Frames, _ = w.Frames()
	if o.Invalid = cmp.Or(v.Invalid, lostOf(w, plan), overBudget(w)); o.Invalid != "" {
		return o
	}
	frames := o.Frames
	o = c.Judge(w.Result())
	o.Frames, o.Control, o.State = frames, sent.early+v.ControlMessages, v.DetectorBytesPerSwitch
	return o
}

// Judge is the judgement of what was declared in a run of the case.
func (c *Case) Judge(r *oracle.Result) Outcome {
	return Outcome{
		True: r.Count(oracle.TruePositive), FalsePositives: r.Count(oracle.FalsePositive),
		Premature: r.Count(oracle.Premature), Late: r.Count(oracle.Late), Knots: c.knots(r),
	}
}

// world builds the simulation of the case, and counts what the detector costs.
func (c *Case) world(name string, detector detect.Factory) (*sim.World, *scenario.Plan, *repeats, error) {
	sent := &repeats{every: c.Refresh, last: make(map[at]unit.Time)}
	w, plan, err := c.World(name, detector, sim.Options{Events: sent.see})
	return w, plan, sent, err
}

// Plan compiles the case with a detector called name, from its text.
func (c *Case) Plan(name string) (*scenario.Plan, error) {
	s, err := scenario.Parse(c.Name()+".yaml", c.Text(name, ""), scenario.Known{Detectors: []string{name}})
	if err != nil {
		return nil, err
	}
	return scenario.Compile(s)
}

// World builds the simulation of the case with a detector, from its text. Of opt the
// seed, the detectors and the slots are the case's own.
func (c *Case) World(name string, detector detect.Factory, opt sim.Options) (*sim.World, *scenario.Plan, error) {
	plan, err := c.Plan(name)
	if err != nil {
		return nil, nil, err
	}
	opt.Seed, opt.Detectors, opt.Slots = c.Wires, map[string]detect.Factory{name: detector}, c.slots()
	w, err := sim.New(plan, opt)
	return w, plan, err
}

// run plays the case with a detector. It is an error if the run is invalid.
func (c *Case) run(name string, detector detect.Factory) (*sim.World, *verdict.Verdict, error) {
	w, _, err := c.World(name, detector, sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	v, err := w.Run()
	if err == nil && v.Invalid != "" {
		err = errors.New(v.Invalid)
	}
	return w, v, err
}

// lossyQueue is what a lossy queue may hold, in bytes: the default of scenarios.
const lossyQueue = 256 << 10

// slots is enough for all priority groups full of the shortest frames that flows send, for as many
// lossy turns, and some for the wires.
func (c *Case) slots() int {
	shortest := c.full()
	for _, f := range c.Flows {
		shortest = min(shortest, f.Frame)
		if f.RC != nil {
			shortest = min(shortest, host.AckFrame)
		}
	}
	if len(c.Workloads) > 0 {
		shortest = min(shortest, host.AckFrame)
	}
	return 2*len(c.Links)*((c.Threshold+c.Headroom+lossyQueue)/shortest+1)*c.classes() + 8192
}

// repeats counts pauses that were repeated before their refresh was due.
type repeats struct {
	every unit.Time
	last  map[at]unit.Time // time of the last pause frame, by priority group
	early int
}

type at struct {
	node     unit.NodeID
	port     unit.Port
	priority unit.Priority
}

func (r *repeats) see(n event.Node, e event.Event) {
	if e.Type != event.RefreshSent && e.Type != event.PauseSent {
		return
	}
	b := at{n.ID, e.Port, e.Priority}
	if e.Type == event.RefreshSent && e.At < r.last[b]+r.every {
		r.early++
	}
	r.last[b] = e.At
}

// NoRoom are the reasons for which a lossless frame is lost for lack of buffer.
var NoRoom = []dataplane.Reason{dataplane.DropHeadroom, dataplane.DropNoSlot, dataplane.DropNoCopy}

// Lost returns which switch had no room for a lossless frame, "" if none. Losses on
// failed links do not count.
func Lost(w *sim.World) (why string) { return dropped(w, NoRoom...) }

// overBudget is which switch has dropped control frames as too many, "" if none: of its own
// no case has too many.
func overBudget(w *sim.World) (why string) { return dropped(w, dataplane.DropControlBudget) }

// dropped is which switch has dropped frames for one of these reasons, "" if none.
func dropped(w *sim.World, reasons ...dataplane.Reason) (why string) {
	w.EachSwitch(func(s *dataplane.Switch) {
		for p := range unit.Port(s.Ports()) {
			for _, r := range reasons {
				if n := s.Counters(p).Drops[r]; n > 0 && why == "" {
					why = fmt.Sprintf("%s dropped %s of port %d: %v", s.Config().Name, unit.Count(n, "frame"), p, r)
				}
			}
		}
	})
	return why
}

// knots returns the deadlocks that were a knot at some time.
func (c *Case) knots(r *oracle.Result) (knots []Knot) {
	laps := c.laps(r)
	for i, d := range r.Deadlocks {
		if !d.Knot {
			continue
		}
		k := Knot{Kind: d.Kind, Onset: d.From, Queues: len(d.Queues), Declarers: len(d.Declarers)}
		first := slices.IndexFunc(r.Findings, func(f oracle.Finding) bool { return f.Deadlock == i })
		switch {
		case first >= 0:
			f := r.Findings[first]
			k.Declared = f.At
			k.Latency = int64(f.Latency) * 1000 / int64(laps(f.Loop))
		case d.KnotFor >= graceLaps*laps(d.Queues)+c.lostLabels():
			k.Missed = true
		default:
			k.Young = true
		}
		knots = append(knots, k)
	}
	return knots
}

// lostLabels is the longest time that recovering from lost labels may take.
func (c *Case) lostLabels() unit.Time {
	if c.Mode == Usual || c.Mode == RDMA || c.Mode == Long {
		return 0
	}
	return 6 * c.Refresh
}

// Lap is the longest time of a lap over this number of links.
func (c *Case) Lap(links int) unit.Time { return unit.Time(links) * c.hop() }

// laps returns a function that gives the time of a lap over these queues.
func (c *Case) laps(r *oracle.Result) func([]oracle.Queue) unit.Time {
	hops := map[string]unit.Time{}
	for _, l := range c.Links {
		for _, name := range c.namesOf(l) {
			back := l.B + "--" + l.A + strings.TrimPrefix(name, l.A+"--"+l.B)
			hops[name], hops[back] = l.hop(c.full()), l.hop(c.full())
		}
	}
	return func(queues []oracle.Queue) (lap unit.Time) {
		for _, q := range queues {
			lap += hops[r.Fabric.LinkName(q.NodePort)]
		}
		return max(lap, 1)
	}
}

// String is a one-line summary of the outcome.
func (o *Outcome) String() string {
	if o.Invalid != "" {
		return "invalid: " + o.Invalid
	}
	return fmt.Sprintf("%s, %d missed; declared %d true, %d false, %d premature, %d late",
		unit.Count(len(o.Knots), "deadlock"), o.Missed(), o.True, o.FalsePositives, o.Premature, o.Late)
}

// Comment is the text at the head of a failure's file; o is the outcome of c, and
// shrunk says that Shrink has made c smaller.
func (c *Case) Comment(detector string, o *Outcome, shrunk bool) string {
	how := ""
	if shrunk {
		how = " It was made smaller while it failed in this way."
	}
	return fmt.Sprintf("%s (%s): %s of detector %s.%s\n%v.\n\n  softswitch sim run FILE --seed %d\n",
		c.Name(), c.Shape, o.Failure(), detector, how, o, c.Wires)
}

package fuzz

import (
	"errors"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// watch sees what happens in a run up to its first deadlock and the declaration of it.
type watch struct {
	c     *Case
	plan  *scenario.Plan
	world *sim.World

	xoffs []xoff
	// paused is when each queue was last paused.
	paused map[oracle.Queue]unit.Time

	onset    unit.Time // of the first deadlock, 0 if there is none yet
	loop     []oracle.Queue
	flooded  bool
	declared unit.Time // when a detector first declared it, 0 if none has yet
	declarer oracle.PG
	answered bool // the declarer has said why
}

// xoff is a priority group that went XOFF, and the flows that waited in the queue in which it
// had most bytes then.
type xoff struct {
	at    unit.Time
	pg    oracle.PG
	flows []detect.FlowID
}

// patience is how many laps a run goes on with a deadlock that nobody declares, and
// afterwards how many after a declaration for which nobody says why.
const (
	patience   = 20
	afterwards = 8
)

// playNamed plays a case with a detector until its first deadlock has been declared, and
// explained. With onlyOnset it ends with that deadlock's onset.
func playNamed(c *Case, name string, detector detect.Factory, onlyOnset bool) (*watch, *oracle.Result, error) {
	h := &watch{c: c, paused: map[oracle.Queue]unit.Time{}}
	var err error
	h.world, h.plan, err = c.World(name, detector, sim.Options{Events: h.see, Settled: func(at unit.Time, s *oracle.Stuck) bool {
		return h.settled(at, s, onlyOnset)
	}})
	if err != nil {
		return nil, nil, err
	}
	r, err := h.world.Play()
	if why := Lost(h.world); err == nil && why != "" {
		err = errors.New(why)
	}
	return h, r, err
}

func (h *watch) settled(at unit.Time, s *oracle.Stuck, onlyOnset bool) bool {
	if h.onset == 0 {
		if s.Empty() {
			return true
		}
		h.onset = at
		for _, c := range s.Components {
			if c.Knot {
				h.loop = append(h.loop, c.Queues...)
				h.flooded = h.flooded || c.Flooded
			}
		}
	}
	lap := h.c.Lap(len(h.loop))
	switch {
	case onlyOnset:
		return false
	case h.declared > 0:
		return at < h.declared+afterwards*lap && !h.answered
	}
	return at < h.onset+patience*lap
}

func (h *watch) see(n event.Node, e event.Event) {
	pg := oracle.PG{NodePort: unit.NodePort{Node: n.ID, Port: e.Port}, Priority: e.Priority}
	queue := oracle.Queue{NodePort: unit.NodePort{Node: n.ID, Port: e.Out}, Priority: e.OutPriority}
	switch e.Type {
	case event.XOFF:
		h.xoffs = append(h.xoffs, xoff{e.At, pg, h.behind(n.Name, detect.PG{Port: e.Port, Priority: e.Priority}, e.Out)})
	case event.Paused:
		h.paused[queue] = e.At
	case event.Deadlock:
		if h.declared == 0 && h.inLoop(queue) {
			h.declared, h.declarer = e.At, pg
		}
	case event.Cause:
		h.answered = h.answered || h.declared > 0 && pg == h.declarer
	}
}

// inLoop reports whether q is on a cycle of the first deadlock as it is now: of a
// component that has a queue of it.
func (h *watch) inLoop(q oracle.Queue) bool {
	return slices.ContainsFunc(h.world.Stuck().Components, func(c oracle.Component) bool {
		return slices.Contains(c.Queues, q) && meet(c.Queues, h.loop)
	})
}

// behind are the flows in the queue in which a priority group has most bytes, out if it has none.
func (h *watch) behind(name string, b detect.PG, out unit.Port) (ids []detect.FlowID) {
	sw := h.world.Switch(name)
	view, most := sw.View(), 0
	for p := range unit.Port(sw.Ports()) {
		if held := view.Held(b, detect.Queue{Port: p, Priority: b.Priority}); held > most {
			most, out = held, p
		}
	}
	return flowIDs(view.Flows(nil, detect.Queue{Port: out, Priority: b.Priority}))
}

func flowIDs(flows []detect.Flow) []detect.FlowID {
	return lists.Map(flows, func(f detect.Flow) detect.FlowID { return f.ID })
}

// waiting are the flows of the last XOFF of a priority group up to at.
func (h *watch) waiting(b oracle.PG, at unit.Time) []string {
	for _, x := range slices.Backward(h.xoffs) {
		if x.pg == b && x.at <= at {
			return h.flowNames(x.flows)
		}
	}
	return nil
}

// finding is the first declaration of the first deadlock, nil if there is none.
func (h *watch) finding(r *oracle.Result) *oracle.Finding {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Outcome == oracle.TruePositive && meet(r.Deadlocks[f.Deadlock].Queues, h.loop) {
			return f
		}
	}
	return nil
}

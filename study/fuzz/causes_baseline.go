package fuzz

import (
	"slices"

	"softswitch/detect"
	"softswitch/oracle"
	"softswitch/study/cause"
	"softswitch/unit"
)

// Baselines are answers that need no detector: what somebody would say who looks at the
// pauses up to the deadlock; and, as what nobody can do better than, who has played the same run
// again with each suspect treated.
const (
	FirstPause  = "first pause"         // the first priority group that went XOFF, or host that paused
	LongestHost = "longest-paused host" // the host that had paused its switch for longest
	Victim      = "victim only"         // the flows in the loop's queue that was paused last
	Whole       = "all in the loop"     // the flows in all its queues
	Earliest    = "earliest source"     // the oldest source of the chronology; then the others
	Tried       = "by trying"           // a set that prevents it and from which nothing can be left out; nothing if none does
)

// Baselines are all of them.
var Baselines = []string{FirstPause, LongestHost, Victim, Whole, Earliest, Tried}

// baseline is the answer of one; h and r are of a run without a detector up to the
// deadlock that is judged.
func (h *watch) baseline(name string, r *oracle.Result, j *judgeNamed) ([]Answer, error) {
	switch name {
	case FirstPause:
		return h.firstPause(r), nil
	case LongestHost:
		return h.longestHost(r), nil
	case Victim:
		return h.victim(r), nil
	case Whole:
		return h.wholeLoop(r), nil
	case Earliest:
		return h.sources(r, j.cause), nil
	}
	return h.tried(r, j)
}

// tried is the set, then each of its hosts, and its flows.
func (h *watch) tried(r *oracle.Result, j *judgeNamed) (all []Answer, err error) {
	singles, err := j.singles()
	if err != nil {
		return nil, err
	}
	least, err := j.cause.Least(cause.InTurn, singles)
	if least == nil || err != nil {
		return nil, err
	}
	for _, name := range least.Hosts {
		all = append(all, hostAnswer(r, h.home(r, name)))
	}
	if len(least.Flows) > 0 {
		all = append(all, Answer{Type: Switch, Flows: least.Flows})
	}
	all[0].Set = &least.Treatment
	if least.Size() > 1 {
		all[0].Type = detect.CauseSeveral.String()
	}
	return all, nil
}

// home is the port of the switch that a host is at.
func (h *watch) home(r *oracle.Result, host string) unit.NodePort {
	i, _ := h.plan.Fabric.Node(host)
	at, _ := r.Fabric.Far(unit.NodePort{Node: h.plan.Fabric.Nodes[i].ID})
	return at
}

func hostAnswer(r *oracle.Result, at unit.NodePort) Answer {
	return Answer{Type: detect.CauseHost.String(), At: at, Host: hostAt(r.Fabric, at)}
}

func (h *watch) pgAnswer(x xoff) Answer {
	return Answer{Type: Switch, At: x.pg.NodePort, Flows: h.flowNames(x.flows)}
}

func (h *watch) firstPause(r *oracle.Result) []Answer {
	switch {
	case len(r.HostPauses) > 0 && (len(h.xoffs) == 0 || r.HostPauses[0].From < h.xoffs[0].at):
		return []Answer{hostAnswer(r, r.HostPauses[0].Queue.NodePort)}
	case len(h.xoffs) > 0:
		return []Answer{h.pgAnswer(h.xoffs[0])}
	}
	return nil
}

func (h *watch) longestHost(r *oracle.Result) []Answer {
	total := map[unit.NodePort]unit.Time{}
	var longest unit.NodePort
	for _, p := range r.HostPauses {
		at := p.Queue.NodePort
		total[at] += p.To - p.From
		if longest.IsZero() || total[at] > total[longest] {
			longest = at
		}
	}
	if longest.IsZero() {
		return nil
	}
	return []Answer{hostAnswer(r, longest)}
}

func (h *watch) victim(r *oracle.Result) []Answer {
	last := h.loop[0]
	for _, q := range h.loop {
		if h.paused[q] > h.paused[last] {
			last = q
		}
	}
	return []Answer{{Type: Switch, At: last.NodePort, Flows: h.flowNames(h.flowsIn(r, last)), OnLoop: true}}
}

func (h *watch) wholeLoop(r *oracle.Result) []Answer {
	var flows []detect.FlowID
	for _, q := range h.loop {
		flows = withAll(flows, h.flowsIn(r, q))
	}
	return []Answer{{Type: Switch, At: h.loop[0].NodePort, Flows: h.flowNames(flows), OnLoop: true}}
}

// flowsIn are the flows that wait in a queue now.
func (h *watch) flowsIn(r *oracle.Result, q oracle.Queue) []detect.FlowID {
	sw := h.world.Switch(r.Fabric.Name(q.Node))
	return flowIDs(sw.View().Flows(nil, detect.Queue{Port: q.Port, Priority: q.Priority}))
}

// sources are the sources of the chronology, oldest first.
func (h *watch) sources(r *oracle.Result, c *cause.Case) (all []Answer) {
	for _, i := range c.Chronology.Sources {
		p := c.Chronology.Periods[i]
		if p.Host {
			all = append(all, hostAnswer(r, h.home(r, p.Node)))
			continue
		}
		i := slices.IndexFunc(h.xoffs, func(x xoff) bool {
			return x.at == p.From && x.pg.Priority == p.Priority && r.Fabric.PortName(x.pg.NodePort) == p.Node+":"+p.Port
		})
		if i >= 0 {
			a := h.pgAnswer(h.xoffs[i])
			a.OnLoop = p.OnLoop
			all = append(all, a)
		}
	}
	return all
}

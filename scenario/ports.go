package scenario

import (
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/topo"
	"softswitch/unit"
)

// PriorityAt is the priority at an end of what a host sends in priority c: there a host has that of the frame,
// and a switch takes it from the tag, which hosts do not send, or from the DSCP.
func (s *Scenario) PriorityAt(c unit.Priority, e topo.End) unit.Priority {
	own := s.port(e)
	switch trust := own.Trust; {
	case s.Fabric.Nodes[e.Node].Kind != topo.Switch:
		return c
	case trust == "pcp" || trust == "" && s.Trust == "pcp":
		return 0
	}
	if to, ok := own.DSCPMap[int(host.DSCP(c))]; ok {
		return unit.Priority(to)
	}
	return c
}

// LossyAt is the first port by which the frames of flow i come in and are lossy, once all permanent
// failures have happened; false if they are lossless on the whole way, or everywhere lossy.
func (p *Plan) LossyAt(i int) (e topo.End, ok bool) {
	lossless, lossy := false, false
	for _, at := range p.ingresses(i) {
		switch is := slices.Contains(p.Scenario.LosslessAt(at), int(p.Scenario.PriorityAt(p.Scenario.Flows[i].Priority, at))); {
		case is:
			lossless = true
		case !lossy:
			e, lossy = at, true
		}
	}
	return e, lossless && lossy
}

// Lossless reports whether the frames of flow i are lossless at every port by which they come in. Where
// prevention changes their priority it is that with which they are sent that counts.
func (p *Plan) Lossless(i int) bool {
	if p.Scenario.Ports == nil {
		return slices.Contains(p.Scenario.PFC.Lossless, int(p.Scenario.Flows[i].Priority))
	}
	return !slices.ContainsFunc(p.ingresses(i), func(at topo.End) bool {
		return !slices.Contains(p.Scenario.LosslessAt(at), int(p.Scenario.PriorityAt(p.Scenario.Flows[i].Priority, at)))
	})
}

// ingresses are the ports by which the frames of flow i come in, that of its receiver the last.
func (p *Plan) ingresses(i int) (ends []topo.End) {
	path := &p.Flows[i]
	for _, h := range path.Hops {
		ends = append(ends, topo.End{Node: h.Node, Port: h.In})
	}
	if n := len(path.Hops); path.Err == nil && n > 0 {
		last := path.Hops[n-1]
		ends = append(ends, p.Fabric.Nodes[last.Node].Ports[last.Out].Peer)
	}
	return ends
}

// warnPaths tells of flows whose frames are lossless on a part of their way only, those of one port in one
// line.
func (p *Plan) warnPaths(doc *strictyaml.Doc) (lines []string) {
	if p.Scenario.Ports == nil {
		return nil
	}
	type place struct {
		e topo.End
		c unit.Priority
	}
	var leave lists.Groups[place, string] // names of flows
	for i, f := range p.Scenario.Flows {
		if e, ok := p.LossyAt(i); ok {
			leave.Add(place{e, p.Scenario.PriorityAt(f.Priority, e)}, f.Name)
		}
	}
	for _, at := range leave.Keys {
		flows := leave.Of[at]
		who := "flow " + flows[0]
		if more := len(flows) - 1; more > 0 {
			who = fmt.Sprintf("flow %s and %s", flows[0], unit.Count(more, "more flow"))
		}
		n := p.Fabric.Nodes[at.e.Node]
		lines = append(lines, doc.At("topology.ports", fmt.Sprintf("%s: priority %d is lossy at %s %s, where frames can be dropped, and lossless on another part of the way",
			who, at.c, n.Name, n.Ports[at.e.Port].Name)).String())
	}
	return lines
}

// OwnClasses reports whether a port tells priorities in another way than others.
func (s *Scenario) OwnClasses() bool {
	own := func(p Port) bool { return p.Trust != "" || p.DSCPMap != nil }
	return slices.ContainsFunc(s.Ports, func(l Ends[Port]) bool { return own(l.A) || own(l.B) })
}

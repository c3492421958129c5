package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// Ports with lossless priorities of their own, with PFC in one direction, and with maps of their own.

// Port is what the port of At has of its own that leads to To; nobody changes its lists.
type Port struct {
	At, To   string
	Lossless []int // nil for those of other ports
	PFC      string
	Maps     bool // priority From is taken for Into
	From     int
	Into     int
}

// ports draws, for some links, one more lossless priority or one less, at both ends or at one; for
// others that an end sends pauses or honours them only, or honours those of all priorities, or that it takes a priority for another.
func (m *maker) ports() {
	more := m.between(5, 7)
	often := pick(m, 2, 4, 10)
	for _, l := range m.Links {
		ends := []Port{{At: l.A, To: l.B}, {At: l.B, To: l.A}}
		if m.one(3) {
			ends = ends[:1]
		}
		if m.one(often) {
			own := append(slices.Clone(m.Lossless), more)
			if m.one(2) {
				own = slices.Delete(own, 0, 1)
			}
			for i := range ends {
				ends[i].Lossless = own
			}
		}
		if m.one(2 * often) {
			ends[0].PFC = pick(m, config.PFCTx, config.PFCRx, config.PFCAsymmetric)
		}
		if m.one(3*often) && slices.Contains(m.Switches, ends[0].At) {
			ends[0].Maps, ends[0].From = true, pick(m, m.Lossless...)
			ends[0].Into = pick(m, append([]int{0, more}, m.Lossless...)...)
		}
		m.Ports = append(m.Ports, lists.Where(ends, func(p Port) bool { return p.Lossless != nil || p.PFC != "" || p.Maps })...)
	}
	for _, e := range m.Events {
		if e.Do == "storm" { // by a host that may
			m.Ports = slices.DeleteFunc(m.Ports, func(p Port) bool { return p.At == e.Node })
		}
	}
	for i := range m.Flows {
		if m.one(4) {
			m.Flows[i].Priority = more
		}
	}
}

// writePorts writes the key of ports.
func (c *Case) writePorts(b *strings.Builder) {
	head := "  ports:\n"
	for _, p := range c.Ports {
		link := p.At + "--" + p.To
		if slices.ContainsFunc(c.Links, func(l Link) bool { return l.A == p.To && l.B == p.At }) {
			link = p.To + "--" + p.At
		}
		fmt.Fprintf(b, "%s    - {link: %s, at: %s", head, link, p.At)
		if p.Lossless != nil {
			fmt.Fprintf(b, ", lossless: %s", list(p.Lossless))
		}
		if p.PFC != "" {
			fmt.Fprintf(b, ", pfc: %s", p.PFC)
		}
		if p.Maps {
			fmt.Fprintf(b, ", dscp_map: {%d: %d}", host.DSCP(unit.Priority(p.From)), p.Into)
		}
		b.WriteString("}\n")
		head = ""
	}
}

// dropPorts removes the ports of links that are gone.
func (c *Case) dropPorts() {
	c.Ports = slices.DeleteFunc(c.Ports, func(p Port) bool {
		return !slices.ContainsFunc(c.Links, func(l Link) bool { return l.A == p.At && l.B == p.To || l.B == p.At && l.A == p.To })
	})
}

// classes is how many priorities are lossless at some port at most.
func (c *Case) classes() int {
	if len(c.Ports) > 0 {
		return len(c.Lossless) + 1
	}
	return len(c.Lossless)
}

// lostOf is Lost of a plan: where a port cannot stop what its far end sends, it is no fault that there is
// no room.
func lostOf(w *sim.World, plan *scenario.Plan) (why string) {
	s := plan.Scenario
	if s.Ports == nil {
		return Lost(w)
	}
	w.EachSwitch(func(sw *dataplane.Switch) {
		node, _ := s.Fabric.Node(sw.Config().Name)
		for p := range unit.Port(sw.Ports()) {
			for c, n := range sw.Counters(p).HeadroomLost {
				if n > 0 && why == "" && stops(s, topo.End{Node: node, Port: p}, unit.Priority(c)) {
					why = fmt.Sprintf("%s dropped %s of port %d, priority %d: %v", sw.Config().Name, unit.Count(n, "frame"), p, c, dataplane.DropHeadroom)
				}
			}
		}
	})
	if why != "" {
		return why
	}
	return dropped(w, dataplane.DropNoSlot, dataplane.DropNoCopy)
}

// stops reports whether a port stops all that its far end sends and that comes in priority c: its pauses
// are honoured, and what is sent in another priority does not become c by a map.
func stops(s *scenario.Scenario, e topo.End, c unit.Priority) bool {
	return s.Pauses(e, c) && !s.OwnClasses()
}

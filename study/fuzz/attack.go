package fuzz

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/itsyhdr"
	"softswitch/link/forge"
	"softswitch/link/impair"
	"softswitch/topo"
	"softswitch/unit"
)

// attack puts control frames on wires that nobody of the fabric has sent: from strangers, who
// hear and send on links between switches, and from hosts, which say what switches say. Who
// attacks knows the fabric: numbers, ports, addresses and formats, but no key.
func (m *maker) attack() {
	links := m.trunks()
	for range m.between(20, 150) {
		e := Event{At: m.ticks(0, 800)}
		if len(links) == 0 || m.one(4) {
			h := pick(m, m.Hosts...)
			e.Link, e.Node = m.home[h]+"--"+h, h
			if m.one(4) { // what its switch has told it
				m.replay(&e)
				e.Node, e.Back = m.home[h], true
			} else {
				m.forge(&e, h)
			}
		} else {
			l := pick(m, links...)
			e.Link, e.Node = l.name(), pick(m, l.A, l.B)
			if m.one(2) {
				m.replay(&e)
			} else {
				m.forge(&e, e.Node)
			}
		}
		m.Events = append(m.Events, e)
	}
}

// trunks are the links between switches.
func (m *maker) trunks() []Link {
	return lists.Where(m.Links, func(l Link) bool { return m.home[l.A] == "" && m.home[l.B] == "" })
}

// replay makes e replay an earlier control frame, sometimes the other way, or with a bit inverted.
func (m *maker) replay(e *Event) {
	e.Do, e.Nth = "replay", m.between(1, pick(m, 1, 4, 20, impair.TapeMax))
	switch m.rng.IntN(3) {
	case 0:
		e.Back = true
	case 1:
		e.Flip = m.between(1, 8*itsyhdr.MessageLen)
	}
}

// forge makes a control frame as if it came from a node.
func (m *maker) forge(e *Event, from string) {
	e.Do = "forge"
	ports := lists.Map(m.Switches, func(s string) int { return len(m.ends(s)) })
	f := forge.Fabric{Lossless: m.Lossless, Quanta: uint16(m.Quanta), Ports: ports}
	e.Frame = f.Frame(m.rng, m.address(from))
}

// ends are the links of a node, in the order of its ports.
func (m *maker) ends(node string) []Link {
	return lists.Where(m.Links, func(l Link) bool { return l.A == node || l.B == node })
}

// address is that of a port of a node.
func (m *maker) address(node string) unit.MAC {
	n := slices.Index(m.Switches, node)
	if n < 0 {
		n = len(m.Switches) + slices.Index(m.Hosts, node)
	}
	return unit.MAC(topo.PortMAC(n, m.rng.IntN(max(1, len(m.ends(node))))))
}

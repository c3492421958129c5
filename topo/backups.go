package topo

import (
	"slices"

	"softswitch/unit"
)

// HasBackups reports whether some route has a Backup.
func (t *Table) HasBackups() bool {
	for s := range t.groups {
		for dst := range t.f.Subnets {
			if !t.Group(s, dst).Backup.Empty() {
				return true
			}
		}
	}
	return false
}

// WithoutBackups is t with no Backup in any group.
func (t *Table) WithoutBackups() *Table {
	all := &Table{f: t.f}
	for s, groups := range t.groups {
		all.index = append(all.index, slices.Clone(t.index[s]))
		groups = slices.Clone(groups)
		for i := range groups {
			groups[i].Backup = unit.PortSet{}
		}
		all.groups = append(all.groups, groups)
	}
	return all
}

// ValleyFree reports whether no frame that t's Ports send down, to a switch of a lower level, is sent up
// by the Ports of the switch there, whatever links are down. levels are those of the switches.
func (t *Table) ValleyFree(levels []int) bool {
	for s := range t.groups {
		for dst := range t.f.Subnets {
			for down := t.Group(s, dst).Ports; !down.Empty(); down.Pop() {
				at := t.f.Nodes[s].Ports[down.First()].Peer.Node
				if levels[at] < levels[s] && t.leadsUp(at, dst, levels) {
					return false
				}
			}
		}
	}
	return true
}

// leadsUp reports whether a port of switch s towards dst leads to a higher level.
func (t *Table) leadsUp(s, dst int, levels []int) bool {
	for up := t.Group(s, dst).Ports; !up.Empty(); up.Pop() {
		if levels[t.f.Nodes[s].Ports[up.First()].Peer.Node] > levels[s] {
			return true
		}
	}
	return false
}

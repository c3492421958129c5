package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// LAG makes the link called Link one of several members that act as one.
type LAG struct {
	Link    string
	Members int
}

// names are the names of its members in a scenario file.
func (l LAG) names() []string {
	names := []string{l.Link}
	for n := 2; n <= l.Members; n++ {
		names = append(names, fmt.Sprintf("%s#%d", l.Link, n))
	}
	return names
}

// namesOf are the names of a link, or of the members that it is one of.
func (c *Case) namesOf(l Link) []string {
	for _, lag := range c.LAGs {
		if lag.Link == l.name() {
			return lag.names()
		}
	}
	return []string{l.name()}
}

// writeLAGs writes the key of a topology, nothing without LAGs.
func (c *Case) writeLAGs(b *strings.Builder) {
	head := "  lags:\n"
	for _, l := range c.LAGs {
		fmt.Fprintf(b, "%s    - {link: %s, members: %d}\n", head, l.Link, l.Members)
		head = ""
	}
}

// dropLAGs removes LAGs and what happens to their members, but for the link that stays.
func (c *Case) dropLAGs(is func(LAG) bool) {
	for _, l := range c.LAGs {
		if is(l) {
			c.dropMembers(l.names()[1:])
		}
	}
	c.LAGs = slices.DeleteFunc(c.LAGs, is)
}

// dropMembers removes what happens to these links.
func (c *Case) dropMembers(names []string) {
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return slices.Contains(names, e.Link) })
}

// lags makes LAGs of 2 to 4 members of a third of the links between switches, one at least, whose
// members fail and heal, and gives half of the flows further ones beside them, so that several members
// of a LAG have something to send.
func (m *maker) lags() {
	trunks := m.trunks()
	if len(trunks) == 0 {
		return
	}
	sure := m.rng.IntN(len(trunks))
	for i, l := range trunks {
		if i == sure || m.one(3) {
			m.LAGs = append(m.LAGs, LAG{Link: l.name(), Members: m.between(2, 4)})
		}
	}
	for _, l := range m.LAGs {
		if !m.one(2) {
			continue
		}
		for range m.between(1, l.Members) {
			link, at := pick(m, l.names()...), m.ticks(20, 300)
			m.Events = append(m.Events, Event{At: at, Do: "fail", Link: link})
			if !m.one(3) {
				m.Events = append(m.Events, Event{At: at + m.ticks(10, 200), Do: "heal", Link: link})
			}
		}
	}
	for _, f := range slices.Clone(m.Flows) {
		for range m.rng.IntN(2) * m.between(1, 3) {
			m.Flows = append(m.Flows, f)
		}
	}
	m.headroom() // of links that heal
}

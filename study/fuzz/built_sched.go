package fuzz

import (
	"fmt"
	"strings"
)

// schedulers draws how priorities share ports, of all switches and of some links or their ends, and
// lets some flows have company in other priorities.
func (m *maker) schedulers() {
	m.Sched = m.scheduler()
	for i := range m.Links {
		l := &m.Links[i]
		switch {
		case !m.one(3):
		case m.home[l.A] != "" || m.home[l.B] != "" || m.one(2):
			l.Sched = m.scheduler()
		default:
			l.Sched = "[" + m.scheduler() + ", " + m.scheduler() + "]"
		}
	}
	for _, f := range m.Flows[:len(m.Flows):len(m.Flows)] {
		if !m.one(2) {
			continue
		}
		if f.Priority = m.rng.IntN(8); m.one(2) {
			f.Priority = m.priority()
		}
		f.Frame = pick(m, m.full(), 1000, 300, 100)
		m.Flows = append(m.Flows, f)
	}
}

// scheduler is the type, and the weight, of some priorities.
func (m *maker) scheduler() string {
	var keys []string
	for c := range 8 {
		switch m.rng.IntN(4) {
		case 0:
			keys = append(keys, fmt.Sprintf("%d: {type: strict}", c))
		case 1, 2:
			keys = append(keys, fmt.Sprintf("%d: {type: dwrr, weight: %d}", c, pick(m, 1, 2, 5, 15, 100)))
		}
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

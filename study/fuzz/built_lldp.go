package fuzz

import (
	"softswitch/link/lldp"
	"softswitch/unit"
)

// speak lets all nodes speak LLDP: its frames take the wire for their time, and change nothing of
// what is judged. A case is shorter than the interval, so that frames of neighbours that are not
// there, or say other priorities than those that are, come in the midst of it: each new one is told
// of this end at once.
func (m *maker) speak() {
	m.LLDP = unit.Time(1+m.rng.IntN(30)) * unit.Second
	for i := range m.rng.IntN(20) {
		l := m.Links[m.rng.IntN(len(m.Links))]
		far := []string{l.A, l.B}[m.rng.IntN(2)]
		c := lldp.Config{
			Interval: m.LLDP, System: far, Port: "to-" + l.far(far), Chassis: 0x02fe00000000 + unit.MAC(m.rng.IntN(3)), MAC: 0x02fe00000100 + unit.MAC(i),
			DCBX: lldp.DCBX{PFC: lldp.NewPFC(unit.PrioritySet(m.rng.IntN(256))), RoCE: lldp.NewRoCE(unit.Priority(m.rng.IntN(unit.Priorities)), 1<<unit.Priorities-1)},
		}
		m.Events = append(m.Events, Event{At: unit.Time(m.rng.Int64N(int64(m.Duration))), Do: "forge", Link: l.name(), Node: far, Frame: lldp.New(c).Append(0, nil)})
	}
}

package fuzz

import (
	"slices"

	"softswitch/host"
	"softswitch/unit"
)

// traffic draws the flows: those that the shape asks for, some others, and bursts.
func (m *maker) traffic() {
	m.end = m.ticks(200, 800)
	forEver := m.one(6)
	for _, p := range m.pairs {
		if m.one(6) {
			continue
		}
		f := m.flow(p.from, p.to)
		if p.ttl > 0 {
			f.TTL = p.ttl
		}
		if m.one(4) { // a burst
			f.Start = m.ticks(0, 150)
			f.Stop = f.Start + m.ticks(20, 200)
		}
		if forEver && m.one(2) {
			f.Stop = 0
		}
		m.Flows = append(m.Flows, f)
	}
	m.others(m.between(0, 3))
	m.Flows = slices.DeleteFunc(m.Flows, func(f Flow) bool { return slices.Contains(m.Dead, f.From) })
	if len(m.Flows) == 0 {
		m.Flows = append(m.Flows, m.flow(m.Hosts[0], m.Hosts[len(m.Hosts)-1]))
	}
	m.deadHosts()
}

// others draws up to n flows between any hosts.
func (m *maker) others(n int) {
	for range n {
		if from, to := pick(m, m.Hosts...), pick(m, m.Hosts...); from != to {
			m.Flows = append(m.Flows, m.flow(from, to))
		}
	}
}

// flow is a flow that lasts to the end of the run.
func (m *maker) flow(from, to string) Flow {
	f := Flow{From: from, To: to, Priority: m.priority(), Stream: host.Stream{
		Frame: pick(m, m.full(), m.full(), m.full(), 1000, 600, 300), TTL: 64, Start: m.ticks(0, 30), Stop: m.end,
	}}
	if m.one(12) {
		f.Priority = 0 // lossy
	}
	if !m.one(3) {
		f.Rate = unit.FlowRate(m.rate) * unit.FlowRate(m.between(15, 100)) / 100
	}
	return f
}

// deadHosts makes some receivers dead, and silent. The sender of the first flow stays
// alive.
func (m *maker) deadHosts() {
	if len(m.Dead) == 0 && m.one(8) {
		m.FloodAll = !m.one(3)
		for _, f := range m.Flows {
			if m.one(3) && f.To != m.Flows[0].From && !slices.Contains(m.Dead, f.To) {
				m.Dead = append(m.Dead, f.To)
			}
		}
	}
	m.Flows = slices.DeleteFunc(m.Flows, func(f Flow) bool { return slices.Contains(m.Dead, f.From) })
}

// trouble draws what goes wrong: slow or storming hosts, failing links, stopped
// switches.
func (m *maker) trouble() {
	for range m.rng.IntN(3) {
		m.badHost(pick(m, m.Flows...).To)
	}
	if m.one(12) {
		m.badHost(pick(m, m.Hosts...))
	}
	if m.one(10) {
		m.failLink()
	}
	switch m.Mode {
	case Loss:
		m.ControlLoss = m.between(0, 30)
		for range m.between(0, 4) {
			l := pick(m, m.Links...)
			m.Events = append(m.Events, Event{At: m.ticks(0, 100), Do: "lose", Link: l.A + "--" + l.B, Node: pick(m, l.A, l.B), Nth: m.between(1, 6)})
		}
	case Expiry:
		m.stops()
		if m.one(15) {
			at, dead := m.ticks(50, 400), pick(m, m.Switches...)
			m.Events = slices.DeleteFunc(m.Events, func(e Event) bool { return e.Node == dead && e.At >= at })
			m.Events = append(m.Events, Event{At: at, Do: "kill", Node: dead})
		}
	}
}

// badHost makes a host slow, or storm, once or repeatedly.
func (m *maker) badHost(h string) {
	at, priority := m.ticks(0, 150), m.priority()
	switch m.rng.IntN(5) {
	case 0:
		m.Events = append(m.Events, Event{At: at, Do: "slow", Node: h, Rate: m.rate / unit.Rate(m.between(2, 50)), For: m.ticks(50, 400)})
	case 1: // for good
		m.Events = append(m.Events, Event{At: at, Do: "storm", Node: h, Priority: priority})
	case 2, 3: // on and off
		on, off := m.ticks(5, 60), m.ticks(2, 40)
		for range m.between(3, 25) {
			m.Events = append(m.Events, Event{At: at, Do: "storm", Node: h, Priority: priority, For: on})
			at += on + off
		}
	default:
		m.Events = append(m.Events, Event{At: at, Do: "storm", Node: h, Priority: priority, For: m.ticks(20, 400)})
	}
}

// failLink takes down a link between switches, mostly for a while.
func (m *maker) failLink() {
	trunks := m.trunks()
	if len(trunks) == 0 {
		return
	}
	link, at := pick(m, trunks...).name(), m.ticks(20, 300)
	m.Events = append(m.Events, Event{At: at, Do: "fail", Link: link})
	if !m.one(3) {
		m.Events = append(m.Events, Event{At: at + m.ticks(10, 200), Do: "heal", Link: link})
	}
}

// stops makes switches stop for a while, each at most twice.
func (m *maker) stops() {
	for range m.between(1, 6) {
		s := pick(m, m.Switches...)
		stops, free := 0, unit.Time(0)
		for _, e := range m.Events {
			if e.Node == s && e.Do == "continue" {
				stops++
				free = max(free, e.At)
			}
		}
		if stops == 2 {
			continue
		}
		at := free + m.ticks(20, 250)
		m.Events = append(m.Events, Event{At: at, Do: "stop", Node: s}, Event{At: at + m.ticks(2, 25), Do: "continue", Node: s})
	}
}

package fuzz

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Fabrics for plants, and how each disturbance is planted.

// quietShapes are the fabrics for what hosts and flows do.
var quietShapes = []shape{
	{"ring", 4, (*maker).ring},
	{"eight-switch", 2, (*maker).eightSwitch},
	{"eight-link", 2, (*maker).eightLink},
	{"split-arms", 2, (*maker).splitArms},
	{"leaf-spine", 4, (*maker).leafSpine},
	{"fat-tree", 4, (*maker).fatTree},
	{"graph", 4, (*maker).graph},
	{"dead-servers", 4, (*maker).deadServers},
}

// shapesFor are the fabrics in which a disturbance can be planted.
func shapesFor(kinds []Disturbance) []shape {
	switch kinds[0] {
	case RoutingLoop:
		return []shape{
			{"tree", 4, (*maker).plainTree},
			{"leaf-spine", 2, (*maker).leafSpine},
			{"fat-tree", 2, (*maker).fatTree},
			{"ring", 1, (*maker).ring},
			{"graph", 3, (*maker).graph},
		}
	case LinkFailure:
		return []shape{
			{"leaf-spine", 3, (*maker).leafSpine},
			{"fat-tree", 3, (*maker).fatTree},
			{"ring", 3, (*maker).ring},
			{"graph", 3, (*maker).graph},
		}
	case Flooding:
		return []shape{
			{"dead-servers", 6, (*maker).deadServers},
			{"leaf-spine", 1, (*maker).leafSpine},
			{"fat-tree", 1, (*maker).fatTree},
			{"ring", 2, (*maker).ring},
			{"graph", 2, (*maker).graph},
		}
	}
	return quietShapes
}

// kinds are the disturbances of a planting; a control has a fabric as if for a storm.
func (m *maker) kinds(p Planting) []Disturbance {
	several := []Disturbance{Storm, Slow, Chatter, EndedStorm, Incast, Hog}
	switch p {
	case Control:
		return []Disturbance{Storm}
	case Two:
		m.rng.Shuffle(len(several), func(i, j int) { several[i], several[j] = several[j], several[i] })
		return several[:2]
	}
	return []Disturbance{Disturbance(p)}
}

// quietFabric makes a fabric in which nothing misbehaves and flows never stop.
func (m *maker) quietFabric(kinds []Disturbance) {
	if kinds[0].OfHost() {
		m.Lossless = m.Lossless[:1] // pauses do harm in their own priority alone
	}
	m.shape(shapesFor(kinds))
	m.keepToArcs()
	m.Events = slices.DeleteFunc(m.Events, func(e Event) bool { return e.Do == "heal" })
	switch kinds[0] {
	case LinkFailure:
		m.detour()
	case Flooding:
		m.silentServer()
	}
	m.speeds()
	m.steadyTraffic()
	m.buffers()
	if kinds[0].OfHost() && !m.one(4) {
		m.resumeLate() // what waits for the host and what waits for the loop share a priority group
		m.limitXON()
	}
	m.sortEvents()
	m.Duration = m.locksBy() + 150*m.hop()
}

// disturbance is when a plant begins: it is drawn from this to twice this.
func (m *maker) disturbance() unit.Time { return 60 * m.tick }

// locksBy is until when a planted case has to deadlock; what is left of it is for a
// detector.
func (m *maker) locksBy() unit.Time { return 2*m.disturbance() + 250*m.tick + 30*m.hop() }

// sortEvents puts the events in order.
func (m *maker) sortEvents() {
	slices.SortStableFunc(m.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
}

// plainTree is 3 to 9 switches whose links form no loop.
func (m *maker) plainTree() {
	m.grow(m.switches("s", m.between(3, 9), 2))
	for range m.between(2, 6) {
		if from, to := pick(m, m.Hosts...), pick(m, m.Hosts...); m.home[from] != m.home[to] {
			m.pairs = append(m.pairs, pair{from: from, to: to})
		}
	}
}

// steadyTraffic draws flows that never stop: some of those that the shape asks for, and
// others. In half of all cases flows also begin while and after a plant does: to be new
// proves nothing.
func (m *maker) steadyTraffic() {
	m.rng.Shuffle(len(m.pairs), func(i, j int) { m.pairs[i], m.pairs[j] = m.pairs[j], m.pairs[i] })
	for i, p := range m.pairs {
		if i < 16 && !m.one(8) {
			m.Flows = append(m.Flows, m.flow(p.from, p.to))
		}
	}
	m.others(m.between(1, 4))
	silent := slices.Clone(m.Dead)
	if m.server != "" {
		silent = append(silent, m.server)
	}
	m.Flows = slices.DeleteFunc(m.Flows, func(f Flow) bool { return slices.Contains(silent, f.From) })
	come := m.one(2)
	for i := range m.Flows {
		f := &m.Flows[i]
		if come && m.one(2) {
			f.Start = m.ticks(0, 250)
		}
		f.Stop = 0
		line := unit.FlowRate(m.line(f.From))
		f.Rate = min(cmp.Or(f.Rate, line), line)
	}
}

// line is the rate of a host's link.
func (m *maker) line(host string) unit.Rate {
	if ends := m.ends(host); len(ends) > 0 {
		return ends[0].Rate
	}
	return m.rate
}

// slowDown slows all flows until the case does not deadlock with two seeds of the wires.
func (m *maker) slowDown() bool {
	if len(m.Flows) == 0 {
		return false
	}
	percent := pick(m, 100, 80, 60)
	for range slowMax {
		for i := range m.Flows {
			m.Flows[i].Rate = max(m.Flows[i].Rate*unit.FlowRate(percent)/100, 1000)
		}
		if m.free() {
			return true
		}
		percent = 92
	}
	return false
}

// add plants a disturbance. It returns false where there is nothing to plant.
func (m *maker) add(kind Disturbance) bool {
	n := len(m.Plants) + 1
	p := Plant{Kind: kind}
	at := m.disturbance() + m.ticks(0, 60)
	ok := true
	switch kind {
	case Storm, Slow, Chatter, EndedStorm:
		ok = m.addHost(&p, n, at)
	case Incast:
		ok = m.addIncast(&p, n, at)
	case Hog:
		ok = m.addHog(&p, n, at)
	case RoutingLoop:
		ok = m.addRoutingLoop(&p, n)
	case LinkFailure:
		p.Switches = [2]string{m.cut.from, m.cut.to}
		m.Events = append(m.Events, Event{At: at, Do: "fail", Link: m.cut.from + "--" + m.cut.to, Plant: n})
		ok = m.cut != arc{}
	case Flooding:
		p.Host = m.server
		m.Dead, m.FloodAll = append(m.Dead, m.server), true
		ok = m.server != ""
	}
	m.Plants = append(m.Plants, p)
	return ok
}

// addHost makes a host misbehave to which lossless frames go, each host once.
func (m *maker) addHost(p *Plant, n int, at unit.Time) bool {
	to := lists.Where(m.Flows, func(f Flow) bool {
		return slices.Contains(m.Lossless, f.Priority) && !slices.Contains(m.Dead, f.To) && !m.planted(f.To) && !slices.Contains(m.tried, f.To)
	})
	if len(to) == 0 {
		return false
	}
	f := pick(m, to...)
	p.Host, m.tried = f.To, append(m.tried, f.To)
	e := Event{At: at, Do: "storm", Node: f.To, Priority: f.Priority, Plant: n}
	switch p.Kind {
	case Slow:
		e.Do, e.Rate = "slow", m.rate/unit.Rate(m.between(2, 50))
	case EndedStorm:
		e.For = m.ticks(20, 300)
	case Chatter:
		on, off := m.ticks(5, 60), m.ticks(2, 40)
		e.For = on
		for e.At+on < m.locksBy() {
			m.Events = append(m.Events, e)
			e.At += on + off
		}
		return true
	}
	m.Events = append(m.Events, e)
	return true
}

// planted reports whether a host has a part in a plant.
func (c *Case) planted(host string) bool {
	return slices.ContainsFunc(c.Plants, func(p Plant) bool { return p.Host == host })
}

// addIncast makes several hosts begin to send to one.
func (m *maker) addIncast(p *Plant, n int, at unit.Time) bool {
	senders := lists.Where(m.Hosts, func(h string) bool { return !slices.Contains(m.Dead, h) && !m.planted(h) })
	m.rng.Shuffle(len(senders), func(i, j int) { senders[i], senders[j] = senders[j], senders[i] })
	if len(senders) < 3 {
		return false
	}
	p.Host, senders = senders[0], senders[1:]
	for _, h := range senders[:min(len(senders), m.between(2, 5))] {
		m.addFlow(n, h, p.Host, m.line(h)*unit.Rate(m.between(50, 100))/100, at+m.ticks(0, 5))
	}
	return true
}

// addHog makes one flow begin at line rate.
func (m *maker) addHog(p *Plant, n int, at unit.Time) bool {
	from, to := pick(m, m.Hosts...), pick(m, m.Hosts...)
	if len(m.pairs) > 0 && !m.one(3) {
		way := pick(m, m.pairs...)
		from, to = way.from, way.to
	}
	if m.home[from] == m.home[to] || slices.Contains(m.Dead, from) || slices.Contains(m.Dead, to) || m.planted(to) {
		return false
	}
	p.Host = to
	m.addFlow(n, from, to, 0, at)
	return true
}

func (m *maker) addFlow(n int, from, to string, rate unit.Rate, at unit.Time) {
	m.Flows = append(m.Flows, Flow{From: from, To: to, Priority: m.Lossless[0], Plant: n, Stream: host.Stream{Rate: unit.FlowRate(rate), Frame: m.full(), TTL: 64, Start: at}})
}

// addRoutingLoop makes the switch where a flow begins and a neighbour of it send what is for the flow's
// receiver to each other.
func (m *maker) addRoutingLoop(p *Plant, n int) bool {
	f := pick(m, m.Flows...)
	a, to := m.home[f.From], m.home[f.To]
	var next []string
	for _, l := range m.ends(a) {
		if far := l.far(a); far != to && m.home[far] == "" {
			next = append(next, far)
		}
	}
	if a == to || len(next) == 0 || !slices.Contains(m.Lossless, f.Priority) {
		return false
	}
	b := pick(m, next...)
	p.Switches, p.To = [2]string{a, b}, to
	m.Routes = slices.DeleteFunc(m.Routes, func(r Route) bool {
		replaced := r.To == to && (r.At == a || r.At == b)
		if replaced {
			p.instead = append(p.instead, r)
		}
		return replaced
	})
	m.Routes = append(m.Routes, Route{At: a, To: to, Next: b, Plant: n}, Route{At: b, To: to, Next: a, Plant: n})
	return true
}

// detour finds the link that will fail: where two links are to fail one of them; else a
// link that it adds from the first switch of a way along the arcs to the last one, and
// that is used while it is up.
func (m *maker) detour() {
	if len(m.Events) > 0 {
		i := m.rng.IntN(len(m.Events))
		for _, l := range m.Links {
			if l.name() == m.Events[i].Link {
				m.cut = arc{l.A, l.B}
			}
		}
		m.Events = slices.Delete(m.Events, i, i+1)
		for j := range m.Routes {
			if m.Routes[j].At == m.cut.from {
				m.Routes[j].Backup = true
			}
		}
		return
	}
	if len(m.pairs) == 0 {
		return
	}
	p := pick(m, m.pairs...)
	from, to := m.home[p.from], m.home[p.to]
	if m.wired[[2]string{from, to}] {
		return
	}
	m.cut = arc{from, to}
	m.link(from, to)
	for j := range m.Routes {
		if m.Routes[j].At == from && m.Routes[j].To == to {
			m.Routes[j].Backup = true
		}
	}
}

// silentServer finds the server that will be dead: one of those of the shape, which is
// alive at first; else it adds one.
func (m *maker) silentServer() {
	if len(m.Dead) > 0 {
		i := m.rng.IntN(len(m.Dead))
		m.server = m.Dead[i]
		m.Dead = slices.Delete(m.Dead, i, i+1)
		return
	}
	s := pick(m, lists.Where(m.Switches, func(s string) bool { return len(m.at[s]) > 0 })...)
	m.server = fmt.Sprintf("h-%s-server", s)
	m.Hosts = append(m.Hosts, m.server)
	m.home[m.server] = s
	m.link(s, m.server)
	for range m.between(1, 4) {
		if from := pick(m, m.Hosts...); m.home[from] != s {
			m.pairs = append([]pair{{from: from, to: m.server}}, m.pairs...)
		}
	}
}

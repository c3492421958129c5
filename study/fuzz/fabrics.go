package fuzz

import "fmt"

// Fabrics with up-down routing, until something goes wrong.

// tree is 3 to 9 switches whose links form no loop. It may have a routing loop: two
// neighbours that send the traffic for a third switch to each other.
func (m *maker) tree() {
	all := m.switches("s", m.between(3, 9), 2)
	parent := m.grow(all)
	if m.one(4) {
		return
	}
	a := pick(m, all[1:]...)
	b := parent[a]
	for _, dst := range all {
		if dst == a || dst == b || len(m.at[dst]) == 0 {
			continue
		}
		m.Routes = append(m.Routes, Route{At: a, To: dst, Next: b}, Route{At: b, To: dst, Next: a})
		for range m.between(1, 3) {
			from := pick(m, a, b)
			if len(m.at[from]) > 0 {
				m.pairs = append(m.pairs, pair{pick(m, m.at[from]...), pick(m, m.at[dst]...), m.between(4, 64)})
			}
		}
		return
	}
}

// leafSpine is 4 or 5 leaves and 2 or 3 spines. Two spines have lost their link to a
// leaf and bounce its traffic off another one, so that leaf0 > spine0 > leaf1 > spine1
// > leaf0 can become a cycle of waiting.
func (m *maker) leafSpine() {
	var leaves, spines []string
	for i := range m.between(4, 5) {
		leaves = append(leaves, m.sw(fmt.Sprintf("leaf%d", i), m.between(1, 2)))
	}
	for i := range m.between(2, 3) {
		spines = append(spines, m.sw(fmt.Sprintf("spine%d", i), 0))
		for _, l := range leaves {
			m.link(spines[i], l)
		}
	}
	m.bounces(spines[0], spines[1], leaves)
}

// fatTree is the part of a k=4 fat-tree that two failed links between core and
// aggregation affect: four pods with an aggregation switch each, and two cores.
func (m *maker) fatTree() {
	var aggs []string
	edges := map[string]string{}
	for p := range 4 {
		agg := m.sw(fmt.Sprintf("agg%d", p), 0)
		edges[agg] = m.sw(fmt.Sprintf("edge%d", p), m.between(1, 2))
		m.link(agg, edges[agg])
		if m.one(4) {
			m.link(agg, m.sw(fmt.Sprintf("edge%d-1", p), 1))
		}
		aggs = append(aggs, agg)
	}
	for i := range 2 {
		core := m.sw(fmt.Sprintf("core%d", i), 0)
		for _, a := range aggs {
			m.link(core, a)
		}
	}
	m.rng.Shuffle(len(aggs), func(i, j int) { aggs[i], aggs[j] = aggs[j], aggs[i] })
	for _, a := range aggs {
		m.at[a] = m.at[edges[a]]
	}
	m.bounces("core0", "core1", aggs)
	for i := range m.Routes {
		if e := edges[m.Routes[i].To]; e != "" {
			m.Routes[i].To = e
		}
	}
}

// bounces makes the loop x > low0 > y > low1 > x: x has lost its link to low2 and y to
// low3, and the traffic they have for them goes round. The hosts are on the switches of
// low or below them.
func (m *maker) bounces(x, y string, low []string) {
	a, b, lostX, lostY := low[0], low[1], low[2], low[3]
	m.Routes = append(m.Routes,
		Route{At: b, To: lostX, Next: x}, Route{At: x, To: lostX, Next: a, Backup: true}, Route{At: a, To: lostX, Next: y},
		Route{At: a, To: lostY, Next: y}, Route{At: y, To: lostY, Next: b, Backup: true}, Route{At: b, To: lostY, Next: x})
	for i := range m.Routes {
		if m.one(2) && m.Routes[i].Backup { // an override from the start
			m.Routes[i].Backup = false
		}
	}
	for _, cut := range []arc{{x, lostX}, {y, lostY}} {
		at := m.ticks(0, 40)
		m.Events = append(m.Events, Event{At: at, Do: "fail", Link: cut.from + "--" + cut.to})
		if m.one(10) {
			m.Events = append(m.Events, Event{At: at + m.ticks(100, 400), Do: "heal", Link: cut.from + "--" + cut.to})
		}
	}
	for range m.between(1, 2) {
		m.pairs = append(m.pairs, pair{from: pick(m, m.at[b]...), to: pick(m, m.at[lostX]...)}, pair{from: pick(m, m.at[a]...), to: pick(m, m.at[lostY]...)})
	}
	others := []string{a, b, lostX, lostY}
	for range m.between(1, 3) { // flows that share a link of the loop
		if from, to := pick(m, others...), pick(m, others...); from != to {
			m.pairs = append(m.pairs, pair{from: pick(m, m.at[from]...), to: pick(m, m.at[to]...)})
		}
	}
}

// deadServers is two leaves that are linked to two or three spines, and servers whose
// MAC entries have been lost: frames for them are flooded, upwards too (Guo et al.,
// section 4.2). Routing is up-down.
func (m *maker) deadServers() {
	t0, t1 := m.sw("t0", m.between(3, 5)), m.sw("t1", m.between(3, 5))
	la, lb := m.sw("la", 0), m.sw("lb", 0)
	for _, l := range []string{la, lb} {
		m.link(t0, l)
		m.link(t1, l)
	}
	m.Routes = append(m.Routes, Route{At: t0, To: t1, Next: la}, Route{At: t1, To: t0, Next: lb})
	m.FloodAll = true
	for _, way := range []arc{{t0, t1}, {t1, t0}} {
		from, to := m.at[way.from], m.at[way.to]
		dead := to[len(to)-1]
		m.Dead = append(m.Dead, dead)
		live := to[0]
		senders := from[:len(from)-1] // the last one is dead
		for _, h := range senders {
			m.pairs = append(m.pairs, pair{from: h, to: pick(m, dead, live, live)})
		}
		m.pairs = append(m.pairs, pair{from: senders[0], to: dead}, pair{from: senders[0], to: live})
		for _, h := range to[1 : len(to)-1] { // more traffic for the live one, from the switch beside it
			m.pairs = append(m.pairs, pair{from: h, to: live})
		}
	}
}

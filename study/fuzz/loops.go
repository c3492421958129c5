package fuzz

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
)

// Fabrics with loops in their routes: the switches on arcs send traffic for each other
// along arcs only.

// ring is 3 to 8 switches, clockwise.
func (m *maker) ring() {
	m.loop(m.switches("s", m.between(3, 8), 2))
}

// eightSwitch is two rings that share a switch, at which frames cross from one to the
// other.
func (m *maker) eightSwitch() { m.eights([2]int{3, 6}, [2]int{2, 5}) }

// eights is a ring, and one of the first of its switches and others. Of both the least and the most
// switches are given.
func (m *maker) eights(first, others [2]int) {
	a := m.switches("a", m.between(first[0], first[1]), 1)
	b := m.switches("b", m.between(others[0], others[1]), 1)
	m.loop(a)
	m.loop(append(b, a[0]))
}

// eightLink is two rings that share a link or two.
func (m *maker) eightLink() {
	shared := m.switches("s", m.between(2, 3), 1)
	a := m.switches("a", m.between(1, 4), 1)
	b := m.switches("b", m.between(1, 4), 1)
	m.loop(slices.Concat(shared, a))
	m.loop(slices.Concat(shared, b))
}

// splitArms is two or three paths from one switch to another and one path back, so that
// a priority group's bytes wait in several queues.
func (m *maker) splitArms() { m.arms(m.between(2, 3)) }

// arms are those of splitArms, with n switches on the path back.
func (m *maker) arms(n int) {
	back := m.switches("s", n, 1)
	for i := range m.between(2, 3) {
		arm := m.switches(fmt.Sprintf("arm%d-", i), m.between(1, 2), 1)
		m.loop(slices.Concat(back, arm))
	}
}

// graph is 3 to 10 randomly linked switches with one to three loops.
func (m *maker) graph() {
	all := m.switches("s", m.between(3, 10), 2)
	parent := m.grow(all)
	for range m.between(1, 5) {
		a, b := pick(m, all...), pick(m, all...)
		if a != b && !m.wired[[2]string{a, b}] {
			m.link(a, b)
			if len(m.arcs) == 0 || m.one(2) {
				m.loop(treeLoop(a, b, parent))
			}
		}
	}
	if len(m.arcs) == 0 { // still a tree: close it
		s := m.sw("t", 1)
		m.link(all[0], s)
		m.link(all[1], s)
		m.loop([]string{s, all[0], all[1]})
	}
}

// grow links all to a tree, and returns the parent of each but the first, which has none.
func (m *maker) grow(all []string) map[string]string {
	parent := map[string]string{}
	for i, s := range all[1:] {
		parent[s] = all[m.rng.IntN(i+1)]
		m.link(parent[s], s)
	}
	return parent
}

// treeLoop is the path in a tree from a to b; the link from b to a closes it.
func treeLoop(a, b string, parent map[string]string) (path []string) {
	for a != "" {
		path, a = append(path, a), parent[a]
	}
	var down []string
	for ; !slices.Contains(path, b); b = parent[b] {
		down = append(down, b)
	}
	slices.Reverse(down)
	return append(path[:slices.Index(path, b)+1], down...)
}

// switches adds n switches, named prefix and a number, with 1 to hosts hosts each; a
// few have none.
func (m *maker) switches(prefix string, n, hosts int) (names []string) {
	for i := range n {
		k := m.between(1, hosts)
		if i > 1 && m.one(8) {
			k = 0
		}
		names = append(names, m.sw(fmt.Sprintf("%s%d", prefix, i), k))
	}
	return names
}

// loop links the switches in a circle and makes its links arcs.
func (m *maker) loop(names []string) {
	for i, s := range names {
		next := names[(i+1)%len(names)]
		m.link(s, next)
		m.arcs = append(m.arcs, arc{s, next})
	}
}

// keepToArcs adds the routes along arcs, and the pairs of hosts whose frames take more
// than one of them.
func (m *maker) keepToArcs() {
	for _, dst := range m.onArcs() {
		if len(m.at[dst]) == 0 {
			continue
		}
		far := m.distances(dst)
		for _, s := range m.onArcs() {
			if s == dst || far[s] == 0 {
				continue
			}
			var next []string
			for _, a := range m.arcs {
				if a.from == s && (a.to == dst || far[a.to] > 0 && far[a.to] < far[s]) {
					next = append(next, a.to)
				}
			}
			m.Routes = append(m.Routes, Route{At: s, To: dst, Next: pick(m, next...)})
			if far[s] > 1 && len(m.at[s]) > 0 {
				m.pairs = append(m.pairs, pair{from: pick(m, m.at[s]...), to: pick(m, m.at[dst]...)})
			}
		}
	}
}

// floodJunction adds a dead host to the switch on arcs with the most outgoing ones:
// frames for it wait in several queues of the loops at once.
func (m *maker) floodJunction() {
	if len(m.arcs) == 0 || !m.one(4) {
		return
	}
	out, most := map[string]int{}, ""
	for _, a := range m.arcs {
		if out[a.from]++; out[a.from] > out[most] {
			most = a.from
		}
	}
	dead := fmt.Sprintf("h-%s-dead", most)
	if len(m.at[most]) == 0 { // it has no subnet, so no route leads to it
		return
	}
	m.Hosts = append(m.Hosts, dead)
	m.home[dead] = most
	m.link(most, dead)
	m.Dead, m.FloodAll = []string{dead}, !m.one(6)
	var senders []string
	for _, s := range m.onArcs() {
		if s != most {
			senders = append(senders, m.at[s]...)
		}
	}
	for range m.between(1, 4) {
		if len(senders) > 0 {
			m.pairs = append(m.pairs, pair{from: pick(m, senders...), to: dead})
		}
	}
}

// onArcs are the switches on arcs, in the order of the fabric.
func (m *maker) onArcs() []string {
	return lists.Where(m.Switches, func(s string) bool {
		return slices.ContainsFunc(m.arcs, func(a arc) bool { return a.from == s })
	})
}

// distances returns the number of arcs from each switch to dst; 0 for dst itself and
// for switches that cannot reach it.
func (m *maker) distances(dst string) map[string]int {
	far := map[string]int{}
	for work := []string{dst}; len(work) > 0; work = work[1:] {
		for _, a := range m.arcs {
			if a.to == work[0] && a.from != dst && far[a.from] == 0 {
				far[a.from] = far[work[0]] + 1
				work = append(work, a.from)
			}
		}
	}
	return far
}

package model

import "softswitch/unit"

// links is a set of links: of their queues, which are those that may wait for each other.
type links uint16

// facts is what is true at a switch as far as others' waiting depends on it.
type facts struct {
	ports [maxPorts]port
	units [maxPorts][maxUnits]links // of each priority group: where they wait
}

// truth is the stuck queues of a fabric at an instant, as package oracle defines them. A queue is
// named by its link.
type truth struct {
	stuck, core links
	parts       []part // the components of the core
}

// part is a component of the core.
type part struct {
	queues links
	knot   bool // it waits for nothing outside
	strong bool // it has a cycle of queues each of which alone holds the priority group that waits for it
}

// truth finds the largest set of stuck queues by taking away those that are not; at is what is
// true at each switch. With anyPeriod a pause counts whatever the period it is from.
func (pl *plan) truth(at func(unit.NodeID) *facts, anyPeriod bool) (t truth) {
	for l, k := range pl.Links {
		q, b := at(k.From.Node).ports[k.From.Port], at(k.To.Node).ports[k.To.Port]
		if q.state.has(isPaused) && b.state.has(isXOFF) && (anyPeriod || q.by == b.period) {
			t.stuck |= 1 << l
		}
	}
	if t.stuck == 0 {
		return t
	}
	var waits [maxLinks]*[maxUnits]links // of the priority group behind a link
	for l, k := range pl.Links {
		waits[l] = &at(k.To.Node).units[k.To.Port]
	}
	for removed := true; removed; {
		removed = false
		for l := range pl.Links {
			if t.stuck>>l&1 != 0 && !pl.stays(l, t.stuck, &waits) {
				t.stuck &^= 1 << l
				removed = true
			}
		}
	}
	if t.stuck != 0 {
		t.findParts(pl, &waits)
	}
	return t
}

// stays reports whether the priority group behind link l stays XOFF if nothing is left but what waits in the
// queues of in.
func (pl *plan) stays(l int, in links, waits *[maxLinks]*[maxUnits]links) bool {
	others := 0
	for m, k := range pl.Links {
		if m != l && k.To.Node == pl.Links[l].To.Node {
			others += unitsIn(waits[m], in)
		}
	}
	return unitsIn(waits[l], in) > pl.xon(others)
}

// beside are the queues in which units wait that share the pool of the priority group behind link l.
func (pl *plan) beside(l int, waits *[maxLinks]*[maxUnits]links) (all links) {
	for m, k := range pl.Links {
		if k.To.Node == pl.Links[l].To.Node {
			for _, w := range waits[m] {
				all |= w
			}
		}
	}
	return all
}

// unitsIn is how many units of a priority group wait in a queue of in.
func unitsIn(waits *[maxUnits]links, in links) (n int) {
	for _, w := range waits {
		if w&in != 0 {
			n++
		}
	}
	return n
}

// findParts finds the components of the core, from who reaches whom. A part that waits for nothing
// outside, and would not stay without what others keep of a pool, waits for these.
func (t *truth) findParts(pl *plan, waits *[maxLinks]*[maxUnits]links) {
	var leaning links
	for again := true; again; {
		again = false
		t.core, t.parts = 0, nil
		t.partsOf(pl, waits, leaning)
		for _, p := range t.parts {
			for l := range pl.Links {
				if p.knot && p.queues>>l&1 != 0 && leaning>>l&1 == 0 && !pl.stays(l, p.queues, waits) {
					leaning |= 1 << l
					again = true
				}
			}
		}
	}
}

// partsOf is findParts with those links whose priority groups wait for others of their pool.
func (t *truth) partsOf(pl *plan, waits *[maxLinks]*[maxUnits]links, leaning links) {
	var next, strong [maxLinks]links
	n := len(pl.Links)
	for l := range n {
		if t.stuck>>l&1 == 0 {
			continue
		}
		for _, w := range waits[l] {
			next[l] |= w & t.stuck
		}
		if leaning>>l&1 != 0 {
			next[l] |= pl.beside(l, waits) & t.stuck
		}
		for m := range n {
			if next[l]>>m&1 != 0 && unitsIn(waits[l], 1<<m) > xon {
				strong[l] |= 1 << m
			}
		}
	}
	far, farStrong := closure(n, next), closure(n, strong)
	for l := range n {
		if far[l]>>l&1 == 0 || t.core>>l&1 != 0 {
			continue
		}
		p := part{knot: true}
		for m := range n {
			if far[l]>>m&1 != 0 && far[m]>>l&1 != 0 {
				p.queues |= 1 << m
				p.strong = p.strong || farStrong[m]>>m&1 != 0
			}
		}
		for m := range n {
			if p.queues>>m&1 != 0 && next[m]&^p.queues != 0 {
				p.knot = false
			}
		}
		t.core |= p.queues
		t.parts = append(t.parts, p)
	}
}

// closure is who is reached from each, by one step or more.
func closure(n int, next [maxLinks]links) [maxLinks]links {
	for via := range n {
		for l := range n {
			if next[l]>>via&1 != 0 {
				next[l] |= next[via]
			}
		}
	}
	return next
}

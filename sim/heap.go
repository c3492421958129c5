package sim

import "softswitch/internal/unit"

// timers is one deadline per id, and the order in which they fire: by time, and
// at the same time by id. Ids are dense and known from the start, so that order
// is total and depends on nothing else. It is a 4-ary heap of ids with their
// positions; nothing in it is ever stale.
type timers struct {
	at   []unit.Time // by id; unit.Never: not in the heap
	pos  []int32     // by id: index in heap, if it is there
	heap []int32
}

func newTimers(n int) timers {
	t := timers{at: make([]unit.Time, n), pos: make([]int32, n), heap: make([]int32, 0, n)}
	for i := range t.at {
		t.at[i] = unit.Never
	}
	return t
}

// set moves id's deadline to at; unit.Never takes it out.
func (t *timers) set(id int32, at unit.Time) {
	was := t.at[id]
	if was == at {
		return
	}
	t.at[id] = at
	switch {
	case was == unit.Never:
		t.pos[id] = int32(len(t.heap))
		t.heap = append(t.heap, id)
		t.up(t.pos[id])
	case at == unit.Never:
		i, last := t.pos[id], int32(len(t.heap)-1)
		moved := t.heap[last]
		t.heap = t.heap[:last]
		if i != last {
			t.heap[i], t.pos[moved] = moved, i
			t.down(i)
			t.up(t.pos[moved])
		}
	case at < was:
		t.up(t.pos[id])
	default:
		t.down(t.pos[id])
	}
}

// first is the id that fires next, and when; ok is false if none does.
func (t *timers) first() (id int32, at unit.Time, ok bool) {
	if len(t.heap) == 0 {
		return 0, 0, false
	}
	id = t.heap[0]
	return id, t.at[id], true
}

func (t *timers) less(a, b int32) bool {
	return t.at[a] < t.at[b] || t.at[a] == t.at[b] && a < b
}

func (t *timers) up(i int32) {
	id := t.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !t.less(id, t.heap[parent]) {
			break
		}
		t.heap[i] = t.heap[parent]
		t.pos[t.heap[i]] = i
		i = parent
	}
	t.heap[i], t.pos[id] = id, i
}

func (t *timers) down(i int32) {
	id := t.heap[i]
	n := int32(len(t.heap))
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		best := child
		for c := child + 1; c < min(child+4, n); c++ {
			if t.less(t.heap[c], t.heap[best]) {
				best = c
			}
		}
		if !t.less(t.heap[best], id) {
			break
		}
		t.heap[i] = t.heap[best]
		t.pos[t.heap[i]] = i
		i = best
	}
	t.heap[i], t.pos[id] = id, i
}

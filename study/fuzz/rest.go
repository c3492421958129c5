// Modes truth-* compare the oracle, and a detector, with what moves. A simulation is
// deterministic: a case is played, and for an instant t it is played again from its start with
// every source stopped after t, until nothing has moved for so long that nothing ever will.
//
//	New --> Case --play--> what the oracle says of t, what was declared --.
//	          |                                                          v
//	          '--still(plan, t), play again--> rest: what never moves --> compare --> TruthReport
//
// Read in this order: this file (what rests), rest_trail.go (whether two runs are one), rest_play.go (the
// second run), rest_compare.go (what
// is wrong), rest_case.go (the kinds of cases), rest_report.go (many cases), rest_run.go (its files).
//
// Words: a queue *rests* from t on if it has frames at t, sends none after t and has them at the
// end. A priority group rests if it sends no resume after t. The *end* is when no data frame has
// begun to leave any port for long enough that every pause which nobody repeats is over, and
// everything that was due has been done (restful).
//
// Invariants:
//   - its own judge: this file knows no threshold, no XON, no period and no oracle. It looks at
//     frames that leave, at frames that are there, and at pauses that are active;
//   - the same past: both runs are equal up to t, event by event and frame by frame.
//
// What it does not do: it knows nothing of a wait that lasts only because sources keep sending.

package fuzz

import (
	"cmp"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/pfcframe"
	"softswitch/topo"
	"softswitch/unit"
)

// restQueue is an egress queue of a switch or a host, or a priority group, by its port and priority.
type restQueue struct {
	unit.NodePort
	Priority unit.Priority
}

func compareRest(a, b restQueue) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Priority, b.Priority))
}

// rest watches a run whose sources stop after an instant.
type rest struct {
	fabric *topo.Fabric
	ids    map[unit.NodeID]int // index of a node
	dead   map[unit.NodeID]bool
	at     unit.Time
	quiet  unit.Time // how long nothing moves at the end

	past   trail
	last   unit.Time // when a data frame has begun to leave a port for the last time
	opened unit.Time // when what was declared was flushed for the last time, 0 for never
	over   bool      // nothing moved for as long as quiet

	before   map[restQueue]bool      // queues with frames at the instant
	sent     map[restQueue]unit.Time // when a queue sent a frame for the last time, after the instant
	resumed  map[restQueue]unit.Time // when a group sent a resume for the last time, after the instant
	hosts    map[restQueue]bool      // queues of hosts that are paused now
	declared map[restQueue]bool      // queues at which a deadlock was declared

	// At the end, in order of node, port, priority: queues with frames; queues that are paused and lead
	// to a switch; and which queues hold bytes of the group for which such a queue waits.
	left, paused []restQueue
	waits        map[restQueue][]restQueue
}

func newRest(f *topo.Fabric, at, quiet unit.Time) *rest {
	r := &rest{
		fabric: f, ids: map[unit.NodeID]int{}, dead: map[unit.NodeID]bool{}, at: at, quiet: quiet,
		before: map[restQueue]bool{}, sent: map[restQueue]unit.Time{}, resumed: map[restQueue]unit.Time{},
		hosts: map[restQueue]bool{}, declared: map[restQueue]bool{}, waits: map[restQueue][]restQueue{},
	}
	for i, n := range f.Nodes {
		r.ids[n.ID] = i
	}
	return r
}

// isHost reports whether a node is one; a node that is outside the fabric is none.
func (r *rest) isHost(n unit.NodeID) bool {
	i, known := r.ids[n]
	return known && r.fabric.Nodes[i].Kind == topo.Host
}

// down is the group at the far end of a queue's link, and whether it is a switch's.
func (r *rest) down(q restQueue) (restQueue, bool) {
	ports := r.fabric.Nodes[r.ids[q.Node]].Ports
	if int(q.Port) >= len(ports) {
		return restQueue{}, false
	}
	peer := ports[q.Port].Peer
	far := r.fabric.Nodes[peer.Node]
	return restQueue{unit.NodePort{Node: far.ID, Port: unit.Port(peer.Port)}, q.Priority}, far.Kind == topo.Switch
}

// see takes an event of a node.
func (r *rest) see(n event.Node, e event.Event) {
	if e.At <= r.at {
		r.past.event(n, e)
	}
	out := restQueue{unit.NodePort{Node: n.ID, Port: e.Out}, e.OutPriority}
	switch e.Type {
	case event.Paused:
		r.hosts[out] = r.isHost(n.ID)
	case event.Resumed, event.Expired:
		r.hosts[out] = false
	case event.ResumeSent:
		if e.At > r.at {
			r.resumed[restQueue{unit.NodePort{Node: n.ID, Port: e.Port}, e.Priority}] = e.At
		}
	case event.Deadlock:
		r.declared[out] = true
		if r.opened > 0 {
			r.opened = max(r.opened, e.At)
		}
	}
}

// leaves takes a frame that begins to leave a port.
func (r *rest) leaves(now unit.Time, n event.Node, p unit.Port, f *buffer.Frame) {
	if now <= r.at {
		r.past.sent(now, n, p, f)
	}
	switch {
	case f.Control || pfcframe.IsMACControl(f.Data):
		return
	case now > r.at && !r.isHost(n.ID):
		r.sent[restQueue{unit.NodePort{Node: n.ID, Port: p}, f.OutPriority}] = now
	}
	r.last = now
}

// restful reports whether nothing has moved for so long by now that nothing will.
func (r *rest) restful(now unit.Time) bool {
	r.over = now > max(r.last, r.at, r.opened)+r.quiet
	return r.over
}

// instant looks at a switch after everything that happens up to the instant.
func (r *rest) instant(s *dataplane.Switch) {
	r.each(s, func(q restQueue, first *buffer.Frame, _ bool) {
		if first != nil {
			r.before[q] = true
		}
	})
}

// end looks at a switch at the end.
func (r *rest) end(s *dataplane.Switch) {
	r.each(s, func(q restQueue, first *buffer.Frame, paused bool) {
		if first != nil {
			r.left = append(r.left, q)
		}
		if _, toSwitch := r.down(q); paused && toSwitch {
			r.paused = append(r.paused, q)
		}
		for f := first; f != nil; f = f.Next() {
			b := restQueue{unit.NodePort{Node: q.Node, Port: f.In}, f.InPriority}
			if !slices.Contains(r.waits[b], q) {
				r.waits[b] = append(r.waits[b], q)
			}
		}
	})
}

// endOfHosts looks at the hosts, and puts all in order.
func (r *rest) endOfHosts() {
	for _, n := range r.fabric.Nodes {
		for p := range n.Ports {
			for c := range unit.Priority(unit.Priorities) {
				q := restQueue{unit.NodePort{Node: n.ID, Port: unit.Port(p)}, c}
				if n.Kind == topo.Host && r.hosts[q] {
					r.paused = append(r.paused, q)
				}
			}
		}
	}
	slices.SortFunc(r.left, compareRest)
	slices.SortFunc(r.paused, compareRest)
}

// each calls do for the lossless queues of a switch, with the first of their frames.
func (r *rest) each(s *dataplane.Switch, do func(q restQueue, first *buffer.Frame, paused bool)) {
	if r.dead[s.Config().ID] {
		return
	}
	for p := range unit.Port(s.Ports()) {
		for c := range unit.Priority(unit.Priorities) {
			if s.MMU().Lossless(c) {
				do(restQueue{unit.NodePort{Node: s.Config().ID, Port: p}, c}, s.Queue(p, c).Head(), s.QueuePaused(p, c))
			}
		}
	}
}

// isPaused reports whether a queue is paused at the end, and isLeft whether it has frames then.
func (r *rest) isPaused(q restQueue) bool { return isOf(q, r.paused) }
func (r *rest) isLeft(q restQueue) bool   { return isOf(q, r.left) }

// isOf reports whether a queue is one of those in order.
func isOf(q restQueue, all []restQueue) bool {
	_, is := slices.BinarySearchFunc(all, q, compareRest)
	return is
}

// rests reports whether a queue has rested since the instant, or since its last frame, which it
// sent at most this long after the instant.
func (r *rest) rests(q restQueue, within unit.Time) bool {
	return r.isLeft(q) && (r.before[q] || within > 0) && r.sent[q] <= r.at+within
}

// groupRests is the same of a group.
func (r *rest) groupRests(b restQueue, within unit.Time) bool { return r.resumed[b] <= r.at+within }

// restless are the queues that have frames at the end and yet do not wait for a switch: none, or it
// is not the end.
func (r *rest) restless() []restQueue {
	return lists.Where(r.left, func(q restQueue) bool { return !r.isPaused(q) })
}

// knots are the sets of queues each of which waits for all others of its set and for no queue
// outside it, at the end.
func (r *rest) knots() (knots [][]restQueue) {
	reach := map[restQueue][]restQueue{}
	for _, q := range r.left {
		reach[q] = r.reach(q)
	}
	for _, q := range r.left {
		all := reach[q]
		knot := len(all) > 0 && all[0] == q && !slices.ContainsFunc(all, func(to restQueue) bool { return !slices.Contains(reach[to], q) })
		if knot { // it is the first of its knot, and none that it waits for waits for less
			knots = append(knots, all)
		}
	}
	return knots
}

// reach are the queues with frames for which a queue waits, directly or not, in order.
func (r *rest) reach(q restQueue) (all []restQueue) {
	seen := map[restQueue]bool{}
	for work := []restQueue{q}; len(work) > 0; work = work[1:] {
		if !r.isPaused(work[0]) {
			continue
		}
		group, _ := r.down(work[0])
		for _, next := range r.waits[group] {
			if !seen[next] {
				seen[next] = true
				all, work = append(all, next), append(work, next)
			}
		}
	}
	slices.SortFunc(all, compareRest)
	return all
}

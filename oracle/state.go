package oracle

import (
	"fmt"
	"math"
	"slices"

	"softswitch/unit"
)

// State is what is true in a fabric at one instant: which priority group is XOFF in which
// period, which queue is paused by which period, and which bytes of a priority group wait in
// which queues. A Replay fills it from logs; a simulator may fill it directly.
//
// Facts may come in any order: bytes may be set for a priority group that is not XOFF or a
// queue that is not paused; they have no effect until both are.
//
// Invariants, which the setters keep:
//   - closed has exactly the queues for which isClosed holds: what it reads changes in pause, SetXOFF
//     and SetXON alone, and each of them calls update;
//   - unless changed is set, or mayBeStuck holds of a queue of came, S* of last is that of the facts. A
//     setter may set changed for nothing, which costs time; not to set it where S* can differ would be a
//     wrong judgement.
//
// A State uses memory only for nodes with facts. It is not safe for concurrent use.
type State struct {
	fabric *Fabric
	nodes  []*facts // by slot; nil before the first fact
	// closed are the queues that meet conditions 1 and 2 of a stuck set and do not lead
	// to a host, in no particular order.
	closed  []Queue
	last    *Stuck  // Stuck's last result
	changed bool    // since then, so that the result may be another
	came    []Queue // that were closed since then: another result may be by them
	graph   graph   // scratch
}

// facts are those of one node, by port x unit.Priorities + priority.
type facts struct {
	pgs    []pgFacts
	queues []queueFacts
}

// pgFacts are what was said of a priority group last, in bytes. period is that of the last XOFF, and means
// nothing while xoff is false. xon is the number at or below which the priority group resumes; where it
// shares a pool that changes with what others hold, and is computed again from outside, extra and held.
//
// Invariant: no two holds have the same ports, priority and flooded; setHeld and forget see to it.
type pgFacts struct {
	xoff    bool
	period  uint8
	xon     int
	outside int // bytes outside the headroom, if some are in it; else allOutside
	extra   int
	held    []hold
}

// allOutside is more than any priority group holds: events count bytes in 32 bits. It stands for "nothing is
// in the headroom", so that min(bytes, outside) is right in either case.
const allOutside = math.MaxInt32

// hold is the bytes of a priority group in frames that wait in exactly these queues. A frame that was flooded
// to several queues is charged once and released with its last copy, so it holds its priority group as long
// as one copy waits: it is one hold of several ports, not several holds.
type hold struct {
	ports    unit.PortSet
	priority unit.Priority
	bytes    int
	flooded  bool // set by SetFlooded
}

// queueFacts are whether a pause is active at a queue, and from which period of its priority group: period,
// or any if anyPeriod is set. closed is kept by State.update.
type queueFacts struct {
	paused, anyPeriod bool
	period            uint8
	closed            int32 // index in State.closed + 1, 0 if it is not there
}

// NewState is a fabric in which nothing is XOFF, paused or held.
func NewState(f *Fabric) *State {
	return &State{fabric: f, nodes: make([]*facts, len(f.nodes)), last: nothing}
}

// SetXOFF records that b is XOFF in this period, and resumes at xon bytes or fewer. Its upstream, if
// an older period pauses it, is not stuck by it: the resume of that period is still on the wire.
// updateUp is first, because touch asks whether the upstream is closed.
func (s *State) SetXOFF(b PG, period uint8, xon int) {
	f := s.pg(b)
	f.xoff, f.period, f.xon = true, period, xon
	s.updateUp(b)
	s.touch(b)
}

// SetLimit records that b resumes at xon bytes or fewer. A dynamic threshold moves this limit while b
// is XOFF.
func (s *State) SetLimit(b PG, xon int) {
	if f := s.pg(b); f.xon != xon {
		f.xon = xon
		s.touch(b)
	}
}

// SetHeadroom records that b has inside bytes in its headroom, and outside bytes outside it. Only of a
// node with Rules does that matter: bytes in a headroom use nothing of the pool, and are released first.
func (s *State) SetHeadroom(b PG, inside, outside int) {
	if inside == 0 {
		outside = allOutside
	}
	s.pg(b).outside = outside
	s.touch(b)
}

// SetExtra records that the limit of b, of a node with Rules, is raised by this many bytes.
// Elsewhere the switch reports the new XON itself, by a Held event for each queue.
func (s *State) SetExtra(b PG, bytes int) {
	s.pg(b).extra = bytes
	s.touch(b)
}

// SetXON records that b is not XOFF. What it holds is kept: where a pool is shared it still uses the
// pool, and may keep others waiting.
func (s *State) SetXON(b PG) {
	s.pg(b).xoff = false
	s.updateUp(b)
}

// SetPaused records that a pause from this XOFF period of the far end is active at q.
func (s *State) SetPaused(q Queue, period uint8) {
	s.pause(q, queueFacts{paused: true, period: period})
}

// SetPausedAnyPeriod records that a pause of unknown period is active at q, as from a device that
// sends plain PFC. It counts as one of the present period, so a resume that is still on the wire is
// not noticed.
func (s *State) SetPausedAnyPeriod(q Queue) { s.pause(q, queueFacts{paused: true, anyPeriod: true}) }

// SetResumed records that no pause is active at q.
func (s *State) SetResumed(q Queue) { s.pause(q, queueFacts{}) }

// SetHeld records that the frames of b that wait in the queues of exactly these ports, in this
// priority, have this many bytes in total. It replaces what was said of these ports before: bytes are
// told as they are, not as they change. A frame to one receiver has one port; a flooded
// frame, counted once, has one for each copy that has not begun to leave. With 0 bytes
// there are no such frames.
func (s *State) SetHeld(b PG, out unit.PortSet, priority unit.Priority, bytes int) {
	s.setHeld(b, hold{out, priority, bytes, false})
}

// SetFlooded is SetHeld for frames that were flooded: a deadlock that involves them is
// marked Flooded, even when only one copy of each is left.
func (s *State) SetFlooded(b PG, out unit.PortSet, priority unit.Priority, bytes int) {
	s.setHeld(b, hold{out, priority, bytes, true})
}

// setHeld keeps one hold for each set of ports, and none of 0 bytes. Their order has no meaning: the
// last one takes the place of one that goes.
func (s *State) setHeld(b PG, now hold) {
	f, bytes := s.pg(b), now.bytes
	for i := range f.held {
		if h := &f.held[i]; h.ports == now.ports && h.priority == now.priority && h.flooded == now.flooded {
			if bytes > h.bytes || s.fabric.sharesPool(b.Node) {
				s.touch(b)
			} else {
				s.freed()
			}
			h.bytes = bytes
			if bytes == 0 {
				f.held[i] = f.held[len(f.held)-1]
				f.held = f.held[:len(f.held)-1]
			}
			return
		}
	}
	if bytes != 0 {
		s.touch(b)
		f.held = append(f.held, now)
	}
}

// ForgetPG discards all facts about the bytes of b that wait in queues. Where a pool is shared they
// used it, and kept others waiting, whether the upstream of b is closed or not.
func (s *State) ForgetPG(b PG) {
	f := s.pg(b)
	f.held = f.held[:0]
	if q, wired := s.fabric.Up(b); s.fabric.sharesPool(b.Node) || wired && s.queue(q).closed != 0 {
		s.freed()
	}
}

// ForgetQueue discards all facts about the bytes in q. A flooded frame goes on waiting by its other
// copies.
func (s *State) ForgetQueue(q Queue) {
	if s.queue(q).closed != 0 {
		s.freed()
	}
	for i := range s.node(q.Node).pgs {
		s.node(q.Node).pgs[i].forget(q)
	}
}

// ForgetNode discards all facts about the priority groups and queues of a node, as one that restarted
// has none.
func (s *State) ForgetNode(id unit.NodeID) {
	for i := range s.node(id).pgs {
		np, priority := unit.NodePort{Node: id, Port: unit.Port(i / unit.Priorities)}, unit.Priority(i%unit.Priorities)
		s.SetXON(PG{np, priority})
		s.SetHeadroom(PG{np, priority}, 0, 0)
		s.SetExtra(PG{np, priority}, 0)
		s.ForgetPG(PG{np, priority})
		s.SetResumed(Queue{np, priority})
	}
}

// forget removes q from the holds, and adds up holds that have become equal: of frames to q and to
// another queue only the other is left, and such frames may be there already.
func (f *pgFacts) forget(q Queue) {
	kept := f.held[:0]
	for _, h := range f.held {
		if h.priority == q.Priority {
			h.ports.Remove(q.Port)
		}
		like := slices.IndexFunc(kept, func(k hold) bool { return k.ports == h.ports && k.priority == h.priority && k.flooded == h.flooded })
		switch {
		case h.ports.Empty():
		case like >= 0:
			kept[like].bytes += h.bytes
		default:
			kept = append(kept, h)
		}
	}
	f.held = kept
}

// pause replaces the facts about q; its place in closed is not one of them, and stays update's.
func (s *State) pause(q Queue, now queueFacts) {
	f := s.queue(q)
	now.closed = f.closed
	*f = now
	s.update(q)
}

// updateUp is update for the queue that b pauses, if it is wired: no other depends on b's period.
func (s *State) updateUp(b PG) {
	if q, wired := s.fabric.Up(b); wired {
		s.update(q)
	}
}

// update adds q to closed or removes it, by conditions 1 and 2. The last one takes the place of one
// that goes, so that a pause costs the same however many queues are closed; Stuck sorts closed only when
// something is stuck.
func (s *State) update(q Queue) {
	f := s.queue(q)
	switch now := s.isClosed(q); {
	case now && f.closed == 0:
		s.came = append(s.came, q)
		s.closed = append(s.closed, q)
		f.closed = int32(len(s.closed))
	case !now && f.closed != 0:
		s.freed()
		last := s.closed[len(s.closed)-1]
		s.closed[f.closed-1] = last
		s.queue(last).closed = f.closed
		s.closed = s.closed[:len(s.closed)-1]
		f.closed = 0
	}
}

// touch notes a changed fact about b's bytes: it matters only while b's upstream queue
// is closed, or that of another priority group of the same pool may be. Which one is not looked up: that any
// queue is closed at all is reason enough to compute again. A queue that becomes closed later sets
// changed itself.
func (s *State) touch(b PG) {
	if s.fabric.sharesPool(b.Node) {
		s.changed = s.changed || len(s.closed) > 0
		return
	}
	if q, wired := s.fabric.Up(b); wired && s.queue(q).closed != 0 {
		s.changed = true
	}
}

// freed notes that a queue is closed no more or holds less. That makes no other queue
// stuck, so as long as none was, and none opened by itself, there is nothing to compute: condition 3
// only becomes harder to meet with fewer bytes in fewer queues, and a pool that is emptier.
func (s *State) freed() { s.changed = s.changed || s.last != nothing }

// mayBeStuck reports whether queue q, which came, can be a reason that queues are stuck. Where none was
// and no pool is shared, q has to wait and to be waited for: its priority group has bytes in a closed queue,
// and q has bytes of a priority group for which a closed queue waits.
//
// Let S be a stuck set now. Some q of it came, or S was stuck before, for since then bytes changed only
// of priority groups whose upstream was open, and came later, or changed is set. Of those of S that came one
// is waited for by a queue of S, or S without them would be stuck, or empty; and not empty, since each waits
// for a queue of S, which then had come too and is waited for. It waits for a queue of S as all do. A
// priority group with an XON below 0 holds its queue without any bytes.
func (s *State) mayBeStuck(q Queue) bool {
	if s.last != nothing || s.fabric.pools {
		return true
	}
	down, _ := s.fabric.Down(q)
	f := s.pg(down)
	if f.xon < 0 {
		return true
	}
	waits := slices.ContainsFunc(f.held, func(h hold) bool {
		for ports := h.ports; !ports.Empty(); ports.Pop() {
			if at := (unit.NodePort{Node: down.Node, Port: ports.First()}); s.fabric.has(at) && s.queue(Queue{at, h.priority}).closed != 0 {
				return true
			}
		}
		return false
	})
	return waits && slices.ContainsFunc(s.closed, func(p Queue) bool {
		b, _ := s.fabric.Down(p)
		return b.Node == q.Node && slices.ContainsFunc(s.pg(b).held, func(h hold) bool { return h.priority == q.Priority && h.ports.Has(q.Port) })
	})
}

// isClosed reports conditions 1 and 2 of a stuck set, and that q leads to a switch. Periods are only
// compared for being equal, as they have 8 bits and come round again: a pause would have to be 256
// periods old to pass for a present one.
func (s *State) isClosed(q Queue) bool {
	down, wired := s.fabric.Down(q)
	if !wired || s.fabric.node(down.Node).Host {
		return false
	}
	p, b := s.queue(q), s.pg(down)
	return p.paused && b.xoff && (p.anyPeriod || p.period == b.period)
}

func (s *State) pg(b PG) *pgFacts {
	n, i := s.at(b.NodePort, b.Priority)
	return &n.pgs[i]
}

func (s *State) queue(q Queue) *queueFacts {
	n, i := s.at(q.NodePort, q.Priority)
	return &n.queues[i]
}

// at is a node's facts, and at which index in them those of a port and priority are. It panics on a port that
// the fabric does not have. Events are checked before they become facts (Fabric.checkEntry), so it is a
// mistake of the program, never of a log.
func (s *State) at(np unit.NodePort, priority unit.Priority) (*facts, int) {
	i := int(np.Port)*unit.Priorities + int(priority)
	if int(np.Node) < len(s.fabric.slot) && priority < unit.Priorities {
		if slot := s.fabric.slot[np.Node]; slot != 0 {
			if n := s.nodes[slot-1]; n != nil && i < len(n.pgs) {
				return n, i
			}
		}
	}
	if !s.fabric.has(np) || priority >= unit.Priorities {
		panic(fmt.Sprintf("oracle: fact about port %v, priority %d: %v", np, priority, s.fabric.check(np)))
	}
	return s.node(np.Node), i
}

// node makes the facts of a node when the first one is set or asked for. outside begins as allOutside,
// since a switch logs when a headroom comes into use: before that it is empty.
func (s *State) node(id unit.NodeID) *facts {
	slot := s.fabric.slot[id] - 1
	if s.nodes[slot] == nil {
		n := len(s.fabric.nodes[slot].Ports) * unit.Priorities
		s.nodes[slot] = &facts{make([]pgFacts, n), make([]queueFacts, n)}
		for i := range s.nodes[slot].pgs {
			s.nodes[slot].pgs[i].outside = allOutside
		}
	}
	return s.nodes[slot]
}

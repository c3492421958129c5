package detecttest

import "softswitch/unit"

// Stuck is the largest set of queues that can never transmit again, in the order
// of switches and ports: each is paused by the current XOFF period of the priority group
// at its far end, and that priority group has more than XON bytes in queues of the set. It
// is empty if and only if there is no deadlock at this instant.
func (f *Fabric) Stuck() []unit.NodePort {
	in := map[unit.NodePort]bool{}
	for _, s := range f.switches {
		for p := range s.ports {
			if s.pausedForGood(unit.Port(p)) {
				in[unit.NodePort{Node: s.id, Port: unit.Port(p)}] = true
			}
		}
	}
	for f.eliminate(in) {
	}
	return f.inOrder(in)
}

// pausedForGood: the active pause at queue p belongs to the current XOFF period of a
// switch's priority group.
func (s *Switch) pausedForGood(p unit.Port) bool {
	q := &s.ports[p]
	if !q.paused || q.peer == nil {
		return false
	}
	b := &q.peer.ports[q.peerPort]
	if q.peer.id == s.fabric.Liar {
		return true
	}
	return b.xoff && b.period == q.pausedBy
}

// eliminate removes the queues whose priority group will fall to XON even if the rest of the set
// never moves, and reports whether it removed any.
func (f *Fabric) eliminate(in map[unit.NodePort]bool) bool {
	removed := false
	for _, at := range f.inOrder(in) {
		q := f.port(at)
		if q.peer.id == f.Liar {
			continue
		}
		waits := 0
		for out, bytes := range q.peer.held[q.peerPort] {
			if in[unit.NodePort{Node: q.peer.id, Port: unit.Port(out)}] {
				waits += bytes
			}
		}
		if waits <= f.XON {
			delete(in, at)
			removed = true
		}
	}
	return removed
}

func (f *Fabric) port(at unit.NodePort) *port {
	for _, s := range f.switches {
		if s.id == at.Node {
			return &s.ports[at.Port]
		}
	}
	return nil
}

func (f *Fabric) inOrder(in map[unit.NodePort]bool) []unit.NodePort {
	var all []unit.NodePort
	for _, s := range f.switches {
		for p := range s.ports {
			if at := (unit.NodePort{Node: s.id, Port: unit.Port(p)}); in[at] {
				all = append(all, at)
			}
		}
	}
	return all
}

package sim

import "softswitch/unit"

// start brings up every link and starts every host, at time 0.
func (w *World) start() {
	for i := range w.nodes {
		n := &w.nodes[i]
		for p := n.first; p < n.first+n.ports; p++ {
			if w.ports[p].peer >= 0 {
				w.ports[p].up = true
				n.machine.SetLink(0, w.ports[p].n, true)
			}
		}
		if n.host != nil {
			n.host.Start(0)
		}
		w.work(int32(i))
	}
	w.timer.set(w.timelineID(), w.nextStep())
}

// watchEvents is the number of events between calls of Options.Watch: some
// milliseconds.
const watchEvents = 1 << 14

// step handles the next event if it is due by end, and reports whether it was.
func (w *World) step(end unit.Time) bool {
	id, at, ok := w.timer.first()
	if at > w.now {
		w.settle()
	}
	if !ok || at > end || w.err != nil || w.over {
		return false
	}
	w.now = at
	if w.events%watchEvents == 0 {
		if w.err = w.opt.watch(at); w.err != nil {
			return false
		}
	}
	w.events++
	if id == w.timelineID() {
		w.timeline()
		w.timer.set(id, w.nextStep())
		return true
	}
	p := id / 2
	n := &w.nodes[w.ports[p].node]
	switch {
	case n.dead:
		w.lose(id)
	case n.stopped:
		n.overdue = append(n.overdue, id)
		w.timer.set(id, unit.Never)
	case id&1 == 0:
		w.send(p)
	default:
		w.receive(p)
	}
	return true
}

// settle shows Options.Settled what the present time has come to.
func (w *World) settle() {
	if w.opt.Settled != nil && w.settled < w.now && !w.over {
		w.settled = w.now
		w.over = !w.opt.Settled(w.now, w.Stuck())
	}
}

// receive hands the frame that has arrived to its node.
func (w *World) receive(p int32) {
	q := &w.ports[p]
	n := &w.nodes[q.node]
	f := q.in.pop().f
	w.timer.set(recvID(p), max(w.now, q.in.next())) // what arrived while the node was stopped is due now
	w.frames++
	n.machine.Parse(f)
	w.one[0] = f
	n.machine.Receive(w.now, q.n, w.one[:])
	w.work(q.node)
}

// send returns a transmitted frame to its machine and sends the next one.
func (w *World) send(p int32) {
	q := &w.ports[p]
	if q.sending != nil && w.now >= q.sentAt {
		w.one[0], q.sending = q.sending, nil
		w.nodes[q.node].machine.Sent(w.now, q.n, w.one[:])
	}
	w.pump(p)
	w.work(q.node)
}

// pump asks a port's machine for the next frame, unless the port is still transmitting.
func (w *World) pump(p int32) {
	q := &w.ports[p]
	m := w.nodes[q.node].machine
	if q.sending != nil {
		// Nothing can leave, but pauses may expire or need a refresh.
		_, next := m.Transmit(w.now, q.n, nil)
		w.timer.set(sendID(p), max(w.now+1, min(next, q.sentAt)))
		return
	}
	n, next := m.Transmit(w.now, q.n, w.one[:])
	if n == 0 {
		w.timer.set(sendID(p), next)
		return
	}
	q.sending = w.one[0]
	q.sentAt = w.now + q.rate.FrameTime(q.sending.Len)
	if w.opt.Sent != nil {
		w.opt.Sent(w.now, w.nodes[q.node].name, q.n, q.sending)
	}
	w.carry(q, q.sending, q.sentAt)
	w.timer.set(sendID(p), min(max(next, w.now), q.sentAt))
}

// work transmits on the ports of a node that have become ready, in port order, and
// passes on the node's events.
func (w *World) work(i int32) {
	n := &w.nodes[i]
	for {
		ready, ev := n.machine.Work(w.log.buf[:0])
		w.log.buf = ev
		w.log.add(w, i, ev)
		pumped := false
		for ; ready != 0; ready &= ready - 1 {
			if q := n.first + int32(ready.First()); w.ports[q].sending == nil {
				w.pump(q)
				pumped = true
			}
		}
		if !pumped {
			return
		}
	}
}

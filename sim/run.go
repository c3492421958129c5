package sim

import (
	"iter"

	"softswitch/dataplane"
	"softswitch/unit"
)

// start brings up every link and starts every host, at time 0.
func (w *World) start() {
	w.due = w.nextStep()
	w.each(func(d *partition) {
		for _, i := range d.mine {
			d.key = i
			d.start(i)
		}
	})
	w.windowEnds()
}

// start brings up the links of a node, and starts it if it is a host.
func (d *partition) start(i int32) {
	n := &d.nodes[i]
	for p := n.first; p < n.first+n.ports; p++ {
		if d.ports[p].peer >= 0 {
			d.ports[p].up = true
			n.machine.SetLink(0, d.ports[p].n, true)
		}
	}
	if n.host != nil {
		n.host.Start(0)
	}
	d.work(i)
}

// watchEvents is the number of events between calls of Options.Watch: some
// milliseconds.
const watchEvents = 1 << 14

// step handles what happens next if it is due by end, and reports whether it was. The
// whole fabric is one partition.
func (w *World) step(end unit.Time) bool {
	d := &w.partitions[0]
	id, at, _ := d.timer.first()
	now := min(at, w.due)
	if now > w.now {
		w.settle()
	}
	if now > end || d.err != nil || w.over || d.events >= w.watched && !w.watch(now) {
		return false
	}
	if w.now = now; w.due < at {
		w.timeline()
	} else {
		d.step(id, at)
	}
	return true
}

// watch calls Options.Watch, and reports whether the run goes on.
func (w *World) watch(now unit.Time) bool {
	d := &w.partitions[0]
	w.watched = d.events + watchEvents
	d.fail(w.opt.watch(now))
	return d.err == nil
}

// settle shows Options.Settled the stuck set after everything that happens at the present time.
func (w *World) settle() {
	if w.opt.Settled != nil && w.settled < w.now && !w.over {
		w.settled = w.now
		w.over = !w.opt.Settled(w.now, w.Stuck())
	}
}

// step handles the first of the partition's timers, id, which fires at the time at.
func (d *partition) step(id int32, at unit.Time) {
	if at > d.now {
		d.now, d.key = at, 0
	}
	d.key = max(d.key, id)
	d.events++
	p := id / 2
	n := &d.nodes[d.ports[p].node]
	switch {
	case n.dead:
		d.lose(id)
	case n.stopped:
		n.overdue = append(n.overdue, id)
		d.timer.set(id, unit.Never)
	case id&1 == 0:
		d.send(p)
	default:
		d.receive(p)
	}
}

// receive hands the frame that has arrived to its node.
func (d *partition) receive(p int32) {
	q := &d.ports[p]
	n := &d.nodes[q.node]
	f := q.in.pop().f
	d.timer.set(recvID(p), max(d.now, q.in.next())) // what arrived while the node was stopped is due now
	d.frames++
	f.In = q.n
	n.machine.Parse(f)
	d.one[0] = f
	n.machine.Receive(d.now, q.n, d.one[:])
	d.work(q.node)
}

// send returns a transmitted frame to its machine and sends the next one.
func (d *partition) send(p int32) {
	q := &d.ports[p]
	if q.sending != nil && d.now >= q.sentAt {
		d.one[0], q.sending = q.sending, nil
		d.nodes[q.node].machine.Sent(d.now, q.n, d.one[:])
	}
	d.pump(p)
	d.work(q.node)
}

// pump asks a port's machine for the next frame, unless the port is still transmitting.
func (d *partition) pump(p int32) {
	q := &d.ports[p]
	n := &d.nodes[q.node]
	if q.sending != nil {
		// Nothing can leave, but pauses may expire or need a refresh.
		_, next := n.machine.Transmit(d.now, q.n, nil)
		d.timer.set(sendID(p), max(d.now+1, min(next, q.sentAt)))
		return
	}
	sent, next := n.machine.Transmit(d.now, q.n, d.one[:])
	if sent == 0 {
		d.timer.set(sendID(p), next)
		return
	}
	q.sending = d.one[0]
	q.sentAt = d.now + q.rate.FrameTime(q.sending.Len)
	if d.w.opt.Sent != nil {
		d.w.opt.Sent(d.now, n.name, q.n, q.sending)
	}
	d.carry(q, q.sending, q.sentAt)
	d.timer.set(sendID(p), min(max(next, d.now), q.sentAt))
}

// work transmits on the ports of a node that have become ready, in port order, and
// passes on the node's events.
func (d *partition) work(i int32) {
	n := &d.nodes[i]
	for {
		ready, ev := n.machine.Work(d.buf[:0])
		if len(ev) > 0 {
			d.buf = ev
			d.record(i, ev)
		}
		pumped := false
		for ; !ready.Empty(); ready.Pop() {
			if q := n.first + int32(ready.First()); d.ports[q].sending == nil {
				d.pump(q)
				pumped = true
			}
		}
		if !pumped {
			return
		}
	}
}

// play runs the world up to end, and calls Options.Sample at the times it asked for.
func (w *World) play(end unit.Time) {
	if w.opt.Sample != nil {
		for at := range w.opt.SampleAt {
			if at > end {
				break
			}
			for w.step(at) {
			}
			w.opt.Sample(at, w)
		}
	}
	if len(w.partitions) > 1 {
		w.windows(end)
		return
	}
	for w.step(end) {
	}
}

// Every is the multiples of d, which is above 0.
func Every(d unit.Time) iter.Seq[unit.Time] {
	return func(yield func(unit.Time) bool) {
		for at := d; yield(at); at += d {
		}
	}
}

// Switch is the switch called name, to be read while a sample is taken; nil if there is
// no such switch.
func (w *World) Switch(name string) *dataplane.Switch {
	i, ok := w.plan.Fabric.Node(name)
	if !ok {
		return nil
	}
	return w.nodes[i].sw
}

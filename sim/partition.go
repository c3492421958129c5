package sim

import (
	"cmp"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/topo"
	"softswitch/unit"
)

// partition is some of the nodes, with their ports and all that changes while they are
// played. A frame takes at least World.ahead from one partition to another, so that for
// a window of this length none depends on what the others do in it: they may be played at
// once (conservative parallel simulation; the delay of the links is the look-ahead).
//
//	window k          partition 0 --.        .--> window k+1 of partition 0
//	(no longer than   partition 1 --+--out---+--> window k+1 of partition 1
//	 World.ahead)     partition 2 --'   |    '--> window k+1 of partition 2
//	                                records, put in order --> recorder
type partition struct {
	w     *World
	n     int
	mine  []int32 // its nodes, in the order of the fabric
	nodes []node  // of all partitions
	ports []port
	now   unit.Time
	key   int32 // the greatest id of the timers handled at this time: see windowEnds
	pool  *buffer.Pool
	timer timers
	one   [1]*buffer.Frame // a batch of one, for calls of a machine
	buf   []event.Event

	frames uint64 // that arrived at a node
	events uint64 // timers that fired, and scheduled events in partition 0
	err    error

	log log

	// Only where there are several:
	out     [2][]mailbox // by World.set and partition: frames of this window, and of the one before
	soonest unit.Time    // arrival, at the soonest, of the frames in this window's mailboxes
}

// crossing is a frame that goes to another partition.
type crossing struct {
	to        int32 // port
	n         int32 // its length
	kept      int32 // how many bytes of it are in the mailbox
	at, took  unit.Time
	overtaken bool // see impair.Fate
}

// mailbox is what one partition sent to another in a window.
type mailbox struct {
	crossings []crossing
	bytes     []byte
}

// log is what the nodes of a partition said in a window, in order.
type log struct {
	records []record
	events  []event.Event
	held    flooded
	read    int // records that were passed on
}

// record is what a node said at one time, and where in a log it ends.
type record struct {
	at           unit.Time
	key, node    int32
	events, held int
}

// flooded are priority groups that hold flooded frames, and what they hold.
type flooded struct {
	pgs   []floodedPG
	holds []dataplane.Holds
}

type floodedPG struct {
	oracle.PG
	holds int // where its holds end
}

// divide makes the partitions. Switches take turns, so that each partition has as much to
// do, and a host is where its switch is.
func (w *World) divide() {
	count := min(w.opt.Partitions, w.plan.Fabric.Switches())
	if count < 1 || w.opt.Sample != nil || w.opt.Settled != nil || w.opt.Dropped != nil || w.opt.Sent != nil {
		count = 1
	}
	w.ahead = unit.Never
	for _, l := range w.plan.Links {
		w.ahead = min(w.ahead, l.Delay)
	}
	if w.ahead == 0 {
		count = 1
	}
	w.partitions, w.alone = make([]partition, count), count == 1
	ports := make([]int, count)
	for i := range w.nodes {
		f, s := &w.plan.Fabric.Nodes[i], i
		if f.Kind == topo.Host && len(f.Ports) > 0 {
			s = f.Ports[0].Peer.Node
		}
		d := &w.partitions[s%count]
		d.mine = append(d.mine, int32(i))
		w.nodes[i].part = d
		ports[s%count] += len(f.Ports)
	}
	for i := range w.partitions {
		d := &w.partitions[i]
		d.w, d.n, d.nodes, d.ports = w, i, w.nodes, w.ports
		d.pool = buffer.NewPool(0, w.opt.Slots, w.opt.Slots, w.keep)
		d.timer = newTimers(timersOf(len(w.ports)), timersOf(ports[i]))
		d.soonest = unit.Never
		d.out = [2][]mailbox{make([]mailbox, count), make([]mailbox, count)}
	}
}

// partOf is the partition of a port.
func (w *World) partOf(p *port) *partition { return w.nodes[p.node].part }

// each calls do for every partition, at once if it may.
func (w *World) each(do func(d *partition)) {
	w.opt.each(len(w.partitions), func(i int) { do(&w.partitions[i]) })
}

// fail notes the first error of a partition, which ends the run.
func (d *partition) fail(err error) { d.err = cmp.Or(d.err, err) }

// failed is the error of the first partition that has one.
func (w *World) failed() error {
	for i := range w.partitions {
		if err := w.partitions[i].err; err != nil {
			return err
		}
	}
	return nil
}

// windows plays several partitions up to end, window by window.
func (w *World) windows(end unit.Time) {
	for {
		at := unit.Never
		for i := range w.partitions {
			d := &w.partitions[i]
			_, first, _ := d.timer.first()
			at = min(at, first, d.soonest)
		}
		now := min(at, w.due)
		if now > end || w.failed() != nil || !w.watch(now) {
			return
		}
		w.now = now
		if w.due < at {
			for i := range w.partitions { // a link that fails loses what is on its way
				w.partitions[i].collect()
			}
			w.alone = true
			w.timeline()
			w.alone = false
		} else {
			last := min(end, w.due, at+w.ahead-1)
			w.each(func(d *partition) { d.window(last) })
		}
		w.windowEnds()
	}
}

// window plays what happens in the partition up to a time.
func (d *partition) window(last unit.Time) {
	d.collect()
	d.key = 0
	for d.err == nil {
		id, at, _ := d.timer.first()
		if at > last {
			return
		}
		d.step(id, at)
	}
}

// cross leaves a frame for another partition.
func (d *partition) cross(there *partition, x crossing, data []byte) {
	box := &d.out[d.w.set][there.n]
	x.kept = int32(len(data))
	box.crossings, box.bytes = append(box.crossings, x), append(box.bytes, data...)
	d.soonest = min(d.soonest, x.at)
}

// collect takes over what the other partitions sent in the window before.
func (d *partition) collect() {
	for i := range d.w.partitions {
		box := &d.w.partitions[i].out[1-d.w.set][d.n]
		data := box.bytes
		for _, x := range box.crossings {
			d.arrive(&x, data[:x.kept])
			data = data[x.kept:]
		}
		box.crossings, box.bytes = box.crossings[:0], box.bytes[:0]
	}
	d.soonest = unit.Never
}

// windowEnds passes on what the nodes said in a window, in the order in which one
// partition alone would have: by time, and at one time by id. But a timer that was set for
// the present fires, whatever its id, before those of the other partitions, which are all
// greater than the id that set it: hence partition.key.
func (w *World) windowEnds() {
	if w.alone {
		return
	}
	w.set = 1 - w.set
	for {
		var next *log
		for i := range w.partitions {
			l := &w.partitions[i].log
			if l.read < len(l.records) && (next == nil || l.records[l.read].before(&next.records[next.read])) {
				next = l
			}
		}
		if next == nil {
			break
		}
		w.log.next(w, next)
	}
	for i := range w.partitions {
		l := &w.partitions[i].log
		*l = log{records: l.records[:0], events: l.events[:0], held: l.held.empty()}
	}
}

func (r *record) before(s *record) bool { return r.at < s.at || r.at == s.at && r.key < s.key }

// next passes on the next record of a log.
func (r *recorder) next(w *World, l *log) {
	var from record // where the record begins
	if l.read > 0 {
		from = l.records[l.read-1]
	}
	to := l.records[l.read]
	held := flooded{l.held.pgs[:to.held], l.held.holds}
	r.add(w, to.node, l.events[from.events:to.events], &held, from.held)
	l.read++
}

// record passes on the events of a node, or keeps them until the window ends, if other
// partitions may be played now.
func (d *partition) record(node int32, events []event.Event) {
	l := &d.log
	if d.w.alone {
		l.held = l.held.empty()
		l.held.add(&d.nodes[node], events)
		d.w.log.add(d.w, node, events, &l.held, 0)
		return
	}
	l.events = append(l.events, events...)
	l.held.add(&d.nodes[node], events)
	l.records = append(l.records, record{d.now, d.key, node, len(l.events), len(l.held.pgs)})
}

func (f *flooded) empty() flooded { return flooded{f.pgs[:0], f.holds[:0]} }

// add appends what the priority groups that these events are about hold, if flooded frames wait
// in the switch, or did until an action took out the last one.
func (f *flooded) add(n *node, events []event.Event) {
	sw := n.sw
	if sw == nil {
		return
	}
	was := n.flooded
	if n.flooded = sw.HasFlooded(); !was && !n.flooded {
		return
	}
	for i := range events {
		e := &events[i]
		b := detect.PG{Port: e.Port, Priority: e.Priority}
		if on, _ := sw.MMU().XOFF(b.Port, b.Priority); e.Type != event.Held || !on && !sw.MMU().Shares() {
			continue
		}
		f.holds = sw.AppendHolds(f.holds, b)
		of := oracle.PG{NodePort: unit.NodePort{Node: sw.Config().ID, Port: b.Port}, Priority: b.Priority}
		f.pgs = append(f.pgs, floodedPG{of, len(f.holds)})
	}
}

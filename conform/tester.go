package conform

import (
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Tester plays scripts: a machine with a port for each of the profile's. A driver that runs switches, live
// or simulated, runs it too.
type Tester struct {
	task  *Task
	pool  *buffer.Pool
	keep  int
	ports []side

	script *Script
	number uint16 // of the script: frames of others are strays
	began  unit.Time
	rec    *Record
	ready  unit.PortSet
	wrong  error

	streams   []sender
	trains    []runner
	receivers []taker
}

// side is a port of the tester.
type side struct {
	paused  [unit.Priorities]struct{ since, until unit.Time } // by the DUT
	replies [][]byte
	flight  []flown // what Transmit lent, in order
	intro   unit.Time
	free    unit.Time // the wire is idle from then on
}

// flown is what a lent frame is.
type flown struct {
	kind     int8   // of the constants below
	script   uint16 // that it is of
	index    int
	quanta   uint16
	priority unit.Priority
	at       unit.Time
}

const (
	flownOther int8 = iota
	flownStream
	flownTrain
	flownReceiver
)

// sender is a stream at work.
type sender struct {
	*Stream
	header header
	every  []unit.Time // between two frames, by the length of the first
	due    unit.Time   // of the next, on the driver's clock
	seq    uint64
}

// runner is a train at work.
type runner struct {
	*Train
	n    uint64
	due  unit.Time
	last bool // has been sent, or there is none
}

// taker is a receiver at work, for one priority.
type taker struct {
	*Receiver
	index    int
	priority unit.Priority
	fill     int64 // what waits, in bits x ns/s
	at       unit.Time
	told     bool
	due      unit.Time // of the next repetition
}

// TesterConfig is what a Tester is made of.
type TesterConfig struct {
	Task *Task
	// Pool, unless nil, is used instead of a pool of its own.
	Pool *buffer.Pool
	// Keep bounds how many bytes of a stream's frame are built, as a simulation has it; 0 is all.
	Keep int
	// Batch is the most frames that the driver lends and transmits at once.
	Batch int
}

// NewTester makes a tester that is idle.
func NewTester(c TesterConfig) *Tester {
	t := &Tester{task: c.Task, pool: c.Pool, keep: c.Keep, ports: make([]side, len(c.Task.Profile.Ports))}
	if t.pool == nil {
		n := (len(t.ports) + 1) * c.Batch * 4
		t.pool = buffer.NewPool(n, n, 0, buffer.SlotBytes(c.Task.MaxFrame()+ether.VLANLen))
	}
	if t.keep == 0 {
		t.keep = 1 << 20
	}
	return t
}

// Begin begins a script at now.
func (t *Tester) Begin(now unit.Time, s *Script) {
	t.script, t.began, t.wrong = s, now, nil
	t.number++
	t.rec = &Record{
		Streams: make([]StreamRecord, len(s.Streams)), Trains: make([]TrainRecord, len(s.Trains)), Receivers: make([]TrainRecord, len(s.Receivers)),
		Others: make([]uint64, len(t.ports)),
	}
	t.streams, t.trains, t.receivers = nil, nil, nil
	for i, f := range s.Streams {
		t.rec.Streams[i] = StreamRecord{Name: f.Name, Astray: make([]uint64, len(t.ports))}
		t.streams = append(t.streams, t.sender(i, f))
	}
	for i, f := range s.Trains {
		t.rec.Trains[i].Name = f.Name
		r := runner{Train: f, due: now + f.Start, last: f.Last == nil}
		if f.At != nil {
			r.due = now + f.At[0]
		}
		t.trains = append(t.trains, r)
	}
	for i, r := range s.Receivers {
		t.rec.Receivers[i].Name = r.Name
		for set := r.Set; set != 0; set &= set - 1 {
			t.receivers = append(t.receivers, taker{Receiver: r, index: i, priority: set.First(), at: r.Start})
		}
	}
	for p := range t.ports {
		t.ports[p].intro = unit.Never
		if !s.Strangers {
			t.ports[p].intro = now + unit.Time(p)*unit.Millisecond
		}
		t.ready.Add(unit.Port(p))
	}
}

// sender prepares a stream.
func (t *Tester) sender(i int, f *Stream) sender {
	s := sender{Stream: f, header: t.header(f.From, f.To, f.Priority)}
	s.header.tos = uint8(f.DSCP)<<2 | f.ECN
	s.header.srcPort = uint16(49152 + i%16384)
	if f.Src != 0 {
		s.header.src = f.Src
	}
	if f.Dst != 0 {
		s.header.dst = f.Dst
	}
	for _, n := range f.Lengths {
		s.every = append(s.every, f.Rate.FrameTime(n))
	}
	s.due = t.open(&s, t.began+f.Start)
	return s
}

// header is that of frames from station to station.
func (t *Tester) header(from, to int, c unit.Priority) header {
	p := t.task.Profile
	h := header{
		dst: StationMAC(to), src: StationMAC(from), tagged: p.Trust != "dscp", priority: c,
		srcIP: p.Ports[from].Address, dstIP: p.Ports[to].Address, srcPort: 49151,
	}
	if p.Forwarding == "routed" {
		h.dst = p.Ports[from].GatewayMAC
	}
	if dscp, ok := p.CodePoint(c); ok {
		h.tos = dscp << 2
	}
	return h
}

// open is the first time from at on when the stream sends; unit.Never if it does not any more.
func (f *Stream) open(at unit.Time) unit.Time {
	if at >= f.Stop {
		return unit.Never
	}
	if f.Only == nil {
		return at
	}
	for _, w := range f.Only {
		if at < w.To {
			return max(at, w.From)
		}
	}
	return unit.Never
}

// Over reports whether the script has been played: all was sent, nothing is missing, and no pause of the
// DUT is in force that the next script would begin with; or there was time enough for that.
func (t *Tester) Over(now unit.Time) bool {
	if t.wrong != nil {
		return true
	}
	if now < t.began+t.script.End {
		return false
	}
	// The next trial begins with no pause of the DUT: those of one that takes none back have to run out.
	for p := range t.ports {
		longest := t.task.Quanta(p, 65535)
		for _, z := range t.ports[p].paused {
			if z.until > now && now < t.began+t.script.End+longest {
				return false
			}
		}
	}
	if now >= t.began+t.script.End+t.script.Drain {
		return true
	}
	for i := range t.rec.Streams {
		if t.rec.Streams[i].Lost() > 0 {
			return false
		}
	}
	for p := range t.ports {
		for c := range t.ports[p].paused {
			if t.ports[p].paused[c].until > now {
				return false
			}
		}
	}
	return true
}

// Finish ends the script and returns what came of it. It fails if more came back than a tester can keep.
func (t *Tester) Finish(now unit.Time) (*Record, error) {
	for p := range t.ports { // the driver may hear a frame before it says that it left
		for _, w := range t.ports[p].flight {
			t.left(w, now)
		}
	}
	r := t.rec
	r.End = now - t.began
	t.streams, t.trains, t.receivers = nil, nil, nil
	t.script = nil
	return r, t.wrong
}

// Ports implements dataplane.Machine.
func (t *Tester) Ports() int { return len(t.ports) }

// SetMAC implements live.Machine: stations have addresses of their own, whatever the interface has.
func (t *Tester) SetMAC(unit.Port, unit.MAC) {}

// Lend implements dataplane.Machine.
func (t *Tester) Lend(_ unit.Port, dst []*buffer.Frame) {
	for i := range dst {
		if dst[i] == nil {
			if dst[i] = t.pool.Get(); dst[i] == nil {
				panic("conform: no slot to read into: the driver holds more than a batch")
			}
		}
	}
}

// Portion implements dataplane.Machine.
func (t *Tester) Portion(_ unit.Port, fs []*buffer.Frame) int { return len(fs) }

// Parse implements dataplane.Machine.
func (t *Tester) Parse(*buffer.Frame) {}

// Urgent implements dataplane.Machine.
func (t *Tester) Urgent() unit.PortSet { return unit.PortSet{} }

// Work implements dataplane.Machine.
func (t *Tester) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	ready := t.ready
	t.ready = unit.PortSet{}
	return ready, ev
}

// SetLink implements dataplane.Machine.
func (t *Tester) SetLink(now unit.Time, p unit.Port, up bool) {
	if up {
		t.ready.Add(p)
	}
	if t.script != nil {
		at := now - t.began
		t.rec.Links = append(t.rec.Links, LinkChange{int(p), up, Span{at, at}})
	}
}

// ReceiveAt implements live.StampedMachine.
func (t *Tester) ReceiveAt(_ unit.Time, in unit.Port, fs []*buffer.Frame, at []unit.Time) {
	for i, f := range fs {
		t.receive(Span{at[i], at[i]}, int(in), f)
		t.pool.Put(f)
	}
}

// Receive implements dataplane.Machine.
func (t *Tester) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	for _, f := range fs {
		t.receive(Span{now, now}, int(in), f)
		t.pool.Put(f)
	}
}

func (t *Tester) receive(at Span, in int, f *buffer.Frame) {
	now, b := at.Hi, f.Data
	if n, ok := readNumbered(b, f.Len); ok {
		t.arrived(at, in, f.Len, n)
	} else if _, _, _, marked := mark(b); marked || pfcframe.IsMACControl(b) {
		t.control(at, in, b, f.Len)
	} else if t.asked(in, b) {
		t.ready.Add(unit.Port(in))
	} else if t.script != nil {
		t.rec.Others[in]++
	}
	if t.settle(now, in) {
		t.ready.Add(unit.Port(in))
	}
}

// relative is a time on the script's clock.
func (t *Tester) relative(at Span) Span { return at.Plus(-t.began) }

// arrived counts a frame of a stream.
func (t *Tester) arrived(at Span, in, n int, f numbered) {
	i := int(f.flow & 0xffff)
	if t.script == nil || f.flow>>16 != uint32(t.number) || i >= len(t.streams) {
		return // of an introduction, or of a script that is over
	}
	s, r := &t.streams[i], &t.rec.Streams[i]
	if f.seq >= r.Sent { // somebody else made it
		t.rec.Others[in]++
		return
	}
	if in != s.To && !s.Anywhere {
		r.Astray[in]++
		return
	}
	if w := int(f.seq / 64); w >= len(r.have) {
		r.have = append(r.have, make([]uint64, w+1-len(r.have)+len(r.have)/2)...)
	}
	if r.have[f.seq/64]>>(f.seq%64)&1 != 0 {
		r.Twice++
		return
	}
	r.have[f.seq/64] |= 1 << (f.seq % 64)
	r.Came++
	if f.seq < r.last {
		r.Behind++
	}
	r.last = max(r.last, f.seq+1)
	if f.ce {
		r.Marked++
	}
	if !f.whole(s.Payload) {
		r.Damaged++
	}
	if !s.Tally {
		a := Arrival{Seq: f.seq, At: t.relative(at), CE: f.ce}
		if s.Anywhere {
			a.Port = in
		}
		r.Arrivals = append(r.Arrivals, a)
	}
	t.take(at.Hi, in, s.Priority, n)
}

// seenMost is how many control frames a record has room for.
const seenMost = 1 << 18

// seenBytes is how much of a control frame is kept.
const seenBytes = 128

// control takes a control frame of the DUT, or one of the tester's that it let out again.
func (t *Tester) control(at Span, in int, b []byte, n int) {
	own := IsStation(ether.Src(b))
	script, _, _, marked := mark(b)
	if t.script != nil && (!marked || script == t.number) {
		if len(t.rec.Seen) == seenMost {
			t.wrong = fmt.Errorf("port %s: the DUT has sent %d control frames within %v: it floods the tester", t.task.Profile.Ports[in].Name, seenMost, at.Hi-t.began)
			return
		}
		t.rec.Seen = append(t.rec.Seen, Seen{Port: in, At: t.relative(at), Frame: slices.Clone(b[:min(len(b), seenBytes)]), Len: n, Own: own || marked})
	}
	if own || marked {
		return
	}
	f, _, err := pfcframe.Parse(b)
	if err != nil {
		return
	}
	for set := f.Enable; set != 0; set &= set - 1 {
		z := &t.ports[in].paused[set.First()]
		if until := at.Hi + t.task.Quanta(in, f.Quanta[set.First()]); z.until > at.Hi {
			z.until = until
		} else {
			z.since, z.until = at.Hi, until
		}
	}
	t.ready.Add(unit.Port(in))
}

// asked answers an ARP request for the address of a port's station; false of any other frame.
func (t *Tester) asked(in int, b []byte) bool {
	typ, off, _, _, ok := ether.Layer(b)
	if !ok || typ != ether.TypeARP {
		return false
	}
	a := ether.ARP(b[off:])
	mine := t.task.Profile.Ports[in].Address
	if !a.Valid() || a.Op() != ether.ARPRequest || a.TargetIP() != uint32(mine) || mine == 0 {
		return false
	}
	r := make([]byte, ether.MinLen)
	ether.SetAddresses(r, a.SenderMAC(), StationMAC(in))
	r[12], r[13] = ether.TypeARP>>8, ether.TypeARP&0xff
	ether.PutARP(r[ether.HeaderLen:], ether.ARPReply, StationMAC(in), uint32(mine), a.SenderMAC(), a.SenderIP())
	t.ports[in].replies = append(t.ports[in].replies, r)
	return true
}

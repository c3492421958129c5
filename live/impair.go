package live

import (
	"sync"
	"sync/atomic"

	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/link/impair"
	"softswitch/unit"
)

// heldMax is how many bytes can be on their way on a wire with a delay; it loses more.
const heldMax = 32 << 20

// grid is what a wire's extra delays are rounded down to, so that frames of one burst
// share a wake-up.
const grid = 100 * unit.Microsecond

// stage stands between a port and its link: it keeps frames for as long as the wire takes,
// and loses, repeats and reorders them as package impair decides. While the wire has no
// faults and carries nothing, frames go past it.
type stage struct {
	seed, stream uint64
	started      impair.Faults // those that the node was started with

	mu     sync.Mutex
	faults impair.Faults  // guarded by mu: as ordered last
	orders []func(*stage) // guarded by mu: the holder of tx.mu carries them out, before the next frame
	news   atomic.Bool    // there are orders

	lost, duplicated, overtaken atomic.Uint64
	held                        atomic.Int64

	// Guarded by the port's tx.mu:
	on    bool // frames go through the stage
	wire  impair.Wire
	tape  *impair.Tape
	ring  []flight // frames on their way, in order of due; its length is a power of two, or 0
	head  int
	n     int
	bytes int       // of those
	last  unit.Time // due of the youngest that keeps its place: nothing overtakes it
	retry unit.Time // the link was busy: not before this
	batch [][]byte  // for deliver
}

// flight is a frame on its way. The ring keeps the memory of those that have left.
type flight struct {
	due  unit.Time
	data []byte
}

func (s *stage) init(p Port) {
	s.seed, s.stream, s.started, s.faults = p.Seed, p.Stream, p.Wire, p.Wire
	s.wire.Faults = p.Wire
	s.on = p.Wire.Any()
}

// Impair has the wire from a port do this to frames from now on.
func (n *Node) Impair(p unit.Port, f impair.Faults) {
	n.order(p, func(s *stage) { s.wire.Faults = f }, &f)
}

// Lose has the wire from a port lose the nth control frame from now on.
func (n *Node) Lose(p unit.Port, nth int) {
	n.order(p, func(s *stage) { s.wire.Lose(nth) }, nil)
}

// Forge puts a frame on the wire from a port, as if the machine had sent it. The frame
// belongs to the node from then on.
func (n *Node) Forge(p unit.Port, frame []byte) {
	n.order(p, func(s *stage) { s.put(timer.Now(), frame, s.wire.Carry(s.seed, s.stream)) }, nil)
}

// Tape keeps the control frames that go into the wire from a port, for Taped.
func (n *Node) Tape(p unit.Port) {
	n.order(p, func(s *stage) { s.tape = &impair.Tape{} }, nil)
}

// Taped is the nth last control frame that went into the wire from a port since Tape, with a
// bit inverted, as impair.Tape has it; nil if there is none.
func (n *Node) Taped(p unit.Port, nth, flip int) []byte {
	frame := make(chan []byte, 1)
	n.order(p, func(s *stage) {
		if s.tape == nil {
			frame <- nil
			return
		}
		frame <- s.tape.Last(nth, flip)
	}, nil)
	select {
	case f := <-frame:
		return f
	case <-n.ended:
		return nil
	}
}

// Wire is the state of the wire from a port.
func (n *Node) Wire(p unit.Port) impair.State {
	s := &n.ports[p].tx.stage
	s.mu.Lock()
	f := s.faults
	s.mu.Unlock()
	return impair.State{Faults: f, Lost: s.lost.Load(), Duplicated: s.duplicated.Load(), Overtaken: s.overtaken.Load(), Held: s.held.Load(), Changed: f != s.started}
}

// order leaves something for the next holder of the port's tx.mu to do with its stage, and has one
// come. f, unless it is nil, is what the faults are then.
func (n *Node) order(p unit.Port, do func(*stage), f *impair.Faults) {
	s := &n.ports[p].tx.stage
	s.mu.Lock()
	s.orders = append(s.orders, do)
	if f != nil {
		s.faults = *f
	}
	s.mu.Unlock()
	s.news.Store(true)
	n.kickAll(p.Set())
}

// obey carries out orders. Preconditions: the port's tx.mu is held.
func (s *stage) obey() {
	if !s.news.Load() {
		return
	}
	s.news.Store(false) // before the look: who comes after it sets it again
	s.mu.Lock()
	orders := s.orders
	s.orders = nil
	s.mu.Unlock()
	for _, do := range orders {
		do(s)
	}
	s.on = s.n > 0 || s.wire.Faults.Any() || s.wire.Losing() || s.tape != nil
}

// cut takes all frames off the wire. Preconditions: as obey.
func (s *stage) cut() {
	s.head, s.n, s.bytes, s.last = 0, 0, 0, 0
	s.held.Store(0)
}

// send puts frames on the wire. Preconditions: as obey.
func (s *stage) send(now unit.Time, frames [][]byte) {
	for _, f := range frames {
		if s.tape != nil {
			s.tape.See(f)
		}
		s.put(now, f, s.wire.Send(f, s.seed, s.stream))
	}
}

func (s *stage) put(now unit.Time, frame []byte, fate impair.Fate) {
	if fate.Copies == 0 || s.bytes+fate.Copies*len(frame) > heldMax {
		s.lost.Add(1)
		return
	}
	due := now + s.wire.Faults.Delay + fate.Extra/grid*grid
	if fate.Overtaken {
		s.overtaken.Add(1)
	} else {
		due = max(due, s.last)
		s.last = due
	}
	s.duplicated.Add(uint64(fate.Copies - 1))
	for range fate.Copies {
		s.push(due, frame)
	}
}

// push puts a copy of a frame behind those that are due no later.
func (s *stage) push(due unit.Time, frame []byte) {
	if s.n == len(s.ring) {
		ring := make([]flight, max(64, 2*len(s.ring)))
		for i := range s.n {
			ring[i] = *s.at(i)
		}
		s.ring, s.head = ring, 0
	}
	x := flight{due, append(s.at(s.n).data[:0], frame...)}
	i := s.n
	for ; i > 0 && s.at(i-1).due > due; i-- {
		*s.at(i) = *s.at(i - 1)
	}
	*s.at(i) = x
	s.n++
	s.bytes += len(frame)
	s.held.Add(1)
}

func (s *stage) at(i int) *flight { return &s.ring[(s.head+i)&(len(s.ring)-1)] }

// due is the frames that are due, at most a batch, until the next push.
func (s *stage) due(now unit.Time) [][]byte {
	s.batch = s.batch[:0]
	for i := 0; i < min(s.n, Batch) && s.at(i).due <= now; i++ {
		s.batch = append(s.batch, s.at(i).data)
	}
	return s.batch
}

// done takes the first n frames off the wire.
func (s *stage) done(n int) {
	for i := range n {
		s.bytes -= len(s.at(i).data)
	}
	s.head = (s.head + n) & (len(s.ring) - 1)
	s.n -= n
	s.held.Add(int64(-n))
	s.on = s.n > 0 || s.wire.Faults.Any() || s.wire.Losing() || s.tape != nil
}

// next is when there is something to deliver, unit.Never if the wire is empty.
func (s *stage) next() unit.Time {
	if s.n == 0 {
		return unit.Never
	}
	return max(s.at(0).due, s.retry)
}

// deliver hands the link what has reached the end of the wire. Preconditions: p.tx.mu is
// held.
func (p *port) deliver(now unit.Time) {
	s := &p.tx.stage
	for {
		frames := s.due(now)
		if len(frames) == 0 {
			return
		}
		n, busy := p.offer(frames)
		s.done(n)
		if busy {
			s.retry = now + busyRetry
			return
		}
	}
}

// cutWire loses the frames on the wire from a port whose link went down.
func (p *port) cutWire() {
	p.node.order(p.n, func(s *stage) { p.lose(s.n, link.ErrDown); s.cut() }, nil)
}

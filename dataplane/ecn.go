package dataplane

import (
	"fmt"
	"math/bits"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// This file marks frames with Congestion Experienced (RFC 3168) as they leave a queue, so
// that their senders slow down before anybody has to be paused. Only IPv4 frames of senders
// that say so (ECT) are marked.

// ECN is which frames to mark, and when: RED and Phantom are each on or off.
type ECN struct {
	Priorities unit.PrioritySet // of the queue; none: nothing is marked
	RED        RED
	Phantom    Phantom
	// Seed is of RED's coin.
	Seed uint64
}

// RED marks by the bytes that a frame leaves behind in its queue: none up to Kmin, all above
// Kmax, and between them a share that rises from 0 to Pmax percent (Floyd and Jacobson,
// "Random Early Detection Gateways for Congestion Avoidance", 1993, by the instantaneous
// queue as in DCTCP and DCQCN). Off if Kmax is 0.
type RED struct{ Kmin, Kmax, Pmax int }

// Phantom marks by a counter of bytes on the wire that drains at Drain percent of the
// port's rate, before any queue has grown: all frames that leave it above Mark bytes
// (Alizadeh et al., "Less Is More: Trading a Little Bandwidth for Ultra-Low Latency in the
// Data Center", HULL, NSDI 2012). A port whose rate is unlimited has unit.NominalRate. Off
// if Drain is 0.
type Phantom struct{ Drain, Mark int }

func (e *ECN) check() error {
	switch r, p := e.RED, e.Phantom; {
	case r.Kmin < 0 || r.Kmax < r.Kmin || r.Kmax > maxQueue:
		return fmt.Errorf("ecn: kmin %d and kmax %d; valid: 0 <= kmin <= kmax <= %d", r.Kmin, r.Kmax, maxQueue)
	case r.Kmax > 0 && (r.Pmax < 1 || r.Pmax > 100):
		return fmt.Errorf("ecn: pmax %d; valid: 1 to 100 percent", r.Pmax)
	case p.Drain < 0 || p.Drain > 100:
		return fmt.Errorf("ecn: a phantom queue that drains at %d percent; valid: 1 to 100", p.Drain)
	case p.Mark < 0 || p.Mark > maxQueue:
		return fmt.Errorf("ecn: a phantom queue that marks at %d bytes; valid: 0 to %d", p.Mark, maxQueue)
	}
	return nil
}

// maxQueue bounds thresholds, so that what is computed with them fits 64 bits.
const maxQueue = 1 << 30

// marker is the state of marking.
type marker struct {
	ECN
	coin   stat.Rand
	queues []phantomQueue // by port and priority; nil without a phantom queue
}

func newMarker(e ECN, ports int) marker {
	m := marker{ECN: e, coin: stat.Rand(e.Seed)}
	if e.Priorities != 0 && e.Phantom.Drain > 0 {
		m.queues = make([]phantomQueue, ports*unit.Priorities)
	}
	return m
}

// mark marks a frame that was taken from queue (out, c), if marking applies. A phantom queue
// counts every frame. A flooded frame shares its bytes with copies that may be on a wire:
// only the last copy left can be marked.
func (s *Switch) mark(out unit.Port, c unit.Priority, f *buffer.Frame) {
	m, p := &s.marker, &s.ports[out]
	over := false
	// Before anything is asked of the frame: the counter models the load of the line, and frames
	// that cannot be marked load it too.
	if m.queues != nil {
		q := &m.queues[int(out)*unit.Priorities+int(c)]
		over = q.pass(s.now, p.cfg.Rate, m.Phantom.Drain, f.Len+unit.WireOverhead) > int64(m.Phantom.Mark)
	}
	if !isIPv4(f) || s.pool.Shared(f) {
		return
	}
	ip := ether.IPv4(f.Data[f.Info.L3:])
	// early is asked last: it may draw, and does so only for a frame that a mark would change and
	// that nothing else marks. So one seed marks the same frames in every run.
	if ecn := ip.ECN(); ecn == ether.NotECT || ecn == ether.CE || !over && !m.early(p.queues[c].Bytes()) {
		return
	}
	setTOS(ip, ip[1]|ether.CE)
	p.count.Marked[c]++
}

// early reports whether RED marks a frame that leaves this many bytes behind. It draws a
// random number only where chance decides.
func (m *marker) early(left int) bool {
	switch r := m.RED; {
	case r.Kmax == 0 || left <= r.Kmin:
		return false
	case left > r.Kmax:
		return true
	default: // 24 bits of chance x 100 x 2^30 is below 2^61
		return m.coin.Next()>>40*100*uint64(r.Kmax-r.Kmin) < uint64(r.Pmax)*uint64(left-r.Kmin)<<24
	}
}

// phantomQueue is a counter that drains. The zero value is empty.
type phantomQueue struct {
	at    unit.Time // of the last frame
	bytes int64
	part  uint64 // of a byte that has also drained, in 1/phantomParts
}

// phantomParts is the number of parts of a byte: bits x percent x nanoseconds per second.
const phantomParts = 8 * 100 * uint64(unit.Second)

// pass counts n bytes at now, and returns how many there are then.
func (q *phantomQueue) pass(now unit.Time, rate unit.Rate, drain, n int) int64 {
	if rate == 0 {
		rate = unit.NominalRate
	}
	hi, lo := bits.Mul64(uint64(rate)*uint64(drain), uint64(now-q.at))
	lo, carry := bits.Add64(lo, q.part, 0)
	q.at = now
	// bits.Div64 panics if hi is not below the divisor: then more has drained than any counter
	// holds.
	if hi += carry; hi >= phantomParts {
		q.bytes, q.part = 0, 0
	} else if gone, part := bits.Div64(hi, lo, phantomParts); gone >= uint64(q.bytes) {
		q.bytes, q.part = 0, 0
	} else {
		q.bytes, q.part = q.bytes-int64(gone), part
	}
	q.bytes += int64(n)
	return q.bytes
}

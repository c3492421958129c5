// Package unit gives every number of the switch its own type, so that a port
// is never taken for a priority nor a byte count for a time.
//
// Read in this order: Time, Rate, Port and Priority (this file), address.go (MAC, Addr, Prefix), text.go (how
// rates and times are written).
//
// It holds values and their texts only: no clock, no wire format, no configuration.
package unit

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Time is a point on, or a span of, the machine's clock in nanoseconds: live it
// is CLOCK_MONOTONIC, in a simulation it starts at zero. The zero value is the
// clock's origin.
type Time int64

// Never is later than every deadline.
const Never Time = math.MaxInt64

// Spans of time.
const (
	Nanosecond  Time = 1
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// NextTick is the first multiple of g after t, or t itself if g is 0: deadlines that
// need not be exact fall together, and one wake-up serves them all.
func NextTick(t, g Time) Time {
	if g == 0 {
		return t
	}
	return (t/g + 1) * g
}

// Rate is a link's or a flow's speed in bits per second; 0 means unlimited.
type Rate int64

// NominalRate is the speed at which pause quanta are counted on a port whose
// rate is unlimited.
const NominalRate Rate = 10_000_000_000

// WireOverhead is what a frame occupies on an Ethernet in addition to the bytes that a
// packet socket sees: preamble and start delimiter 8, FCS 4, interpacket gap 12.
const WireOverhead = 24

// FrameTime is how long a frame of n bytes (without FCS) occupies the wire:
// (n + WireOverhead) x 8 / rate, rounded up. 1514 bytes at 100 Mbit/s take
// 123,040 ns. It is 0 at an unlimited rate.
func (r Rate) FrameTime(n int) Time {
	if r <= 0 {
		return 0
	}
	return Time((int64(n+WireOverhead)*8*int64(Second) + int64(r) - 1) / int64(r))
}

// QuantaTime is how long q pause quanta last: q x 512 bit times (IEEE 802.3
// 31B.2). 65535 quanta are 335.5 ms at 100 Mbit/s and 3.36 ms at 10 Gbit/s.
func (r Rate) QuantaTime(q uint16) Time {
	if r <= 0 {
		r = NominalRate
	}
	// 65535 x 512 x 1e9 is below 2^55.
	return Time(int64(q) * 512 * int64(Second) / int64(r))
}

// Port is a port's index in its switch, 0 to MaxPorts-1. On the wire it takes
// an octet.
type Port uint16

// MaxPorts bounds a switch. Chosen: 256, what an octet of the wire can tell apart; chips have
// up to 512 ports (Broadcom Tomahawk 5 at 100 Gbit/s), and simulators of fabrics end at 256.
const MaxPorts = 256

// NoPort is no port at all.
const NoPort Port = 0xffff

// Priority is an 802.1p priority, and so the one by which PFC pauses, 0 to 7.
type Priority uint8

// Priorities is the number of priorities of a port.
const Priorities = 8

// NodeID names a switch or a host in a fabric. 0 is no node.
type NodeID uint16

// NodePort is a port of a node, as ITSY's {S, P}. The zero value is none.
type NodePort struct {
	Node NodeID
	Port Port
}

// IsZero reports whether np names no port.
func (np NodePort) IsZero() bool { return np == NodePort{} }

func (np NodePort) String() string { return fmt.Sprintf("%d.%d", np.Node, np.Port) }

// PrioritySet is a set of priorities, one bit each, as in a PFC class-enable vector.
type PrioritySet uint8

// Has reports whether c is in the set.
func (s PrioritySet) Has(c Priority) bool { return s>>(c&7)&1 != 0 }

// Add puts c into the set.
func (s *PrioritySet) Add(c Priority) { *s |= 1 << (c & 7) }

// First is the lowest priority of the set, which is not empty.
func (s PrioritySet) First() Priority { return Priority(bits.TrailingZeros8(uint8(s))) }

// String is the priorities: "3, 4", or "none".
func (s PrioritySet) String() string {
	if s == 0 {
		return "none"
	}
	text := strconv.Itoa(int(s.First()))
	for rest := s & (s - 1); rest != 0; rest &= rest - 1 {
		text += ", " + strconv.Itoa(int(rest.First()))
	}
	return text
}

// Len is the number of priorities in the set.
func (s PrioritySet) Len() int { return bits.OnesCount8(uint8(s)) }

// List is its priorities, ascending.
func (s PrioritySet) List() []int {
	list := []int{}
	for ; s != 0; s &= s - 1 {
		list = append(list, int(s.First()))
	}
	return list
}

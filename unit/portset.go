package unit

import (
	"fmt"
	"math/bits"
	"strings"
)

// PortSet is a set of ports of one switch, one bit each. The zero value is empty, and == compares.
//
// It has four fields and not an array: the compiler keeps these in registers.
type PortSet struct{ w0, w1, w2, w3 uint64 }

// Set is the set of p alone.
func (p Port) Set() (s PortSet) {
	s.Add(p)
	return s
}

// PortsOf is the set of these ports.
func PortsOf(ps ...Port) (s PortSet) {
	for _, p := range ps {
		s.Add(p)
	}
	return s
}

// PortsBelow is the set of the first n ports.
func PortsBelow(n int) PortSet {
	return PortSet{below(n), below(n - 64), below(n - 128), below(n - 192)}
}

// below is a word with its lowest n bits set, all if n is above 63, none if it is below 1.
func below(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return ^uint64(0) >> max(0, 64-n)
}

// Most switches have no more than 64 ports, whose bits are in the first word alone. Of the other words of
// each set below one has the port: a shift by 64 and more leaves nothing, and one by less than 0 is one by
// much more.

// Add puts p into the set.
func (s *PortSet) Add(p Port) {
	if p < 64 {
		s.w0 |= 1 << p
		return
	}
	s.w1 |= 1 << (p - 64)
	s.w2 |= 1 << (p - 128)
	s.w3 |= 1 << (p - 192)
}

// Remove takes p out of the set.
func (s *PortSet) Remove(p Port) {
	if p < 64 {
		s.w0 &^= 1 << p
		return
	}
	s.w1 &^= 1 << (p - 64)
	s.w2 &^= 1 << (p - 128)
	s.w3 &^= 1 << (p - 192)
}

// Has reports whether p is in the set; NoPort is in none.
func (s PortSet) Has(p Port) bool {
	if p < 64 {
		return s.w0>>p&1 != 0
	}
	return (s.w1>>(p-64)|s.w2>>(p-128)|s.w3>>(p-192))&1 != 0
}

// Empty reports whether no port is in the set.
func (s PortSet) Empty() bool { return s.w0|s.w1|s.w2|s.w3 == 0 }

// Len is the number of ports in the set.
func (s PortSet) Len() int {
	return bits.OnesCount64(s.w0) + bits.OnesCount64(s.w1) + bits.OnesCount64(s.w2) + bits.OnesCount64(s.w3)
}

// First is the lowest port of the set, NoPort if it is empty.
func (s PortSet) First() Port {
	switch {
	case s.w0 != 0:
		return Port(bits.TrailingZeros64(s.w0))
	case s.w1 != 0:
		return Port(64 + bits.TrailingZeros64(s.w1))
	case s.w2 != 0:
		return Port(128 + bits.TrailingZeros64(s.w2))
	case s.w3 != 0:
		return Port(192 + bits.TrailingZeros64(s.w3))
	}
	return NoPort
}

// Last is the highest port of a set that is not empty.
func (s PortSet) Last() Port {
	switch {
	case s.w3 != 0:
		return Port(191 + bits.Len64(s.w3))
	case s.w2 != 0:
		return Port(127 + bits.Len64(s.w2))
	case s.w1 != 0:
		return Port(63 + bits.Len64(s.w1))
	}
	return Port(bits.Len64(s.w0) - 1)
}

// Pop takes the lowest port out of the set; out of an empty set it takes none.
func (s *PortSet) Pop() {
	switch {
	case s.w0 != 0:
		s.w0 &= s.w0 - 1
	case s.w1 != 0:
		s.w1 &= s.w1 - 1
	case s.w2 != 0:
		s.w2 &= s.w2 - 1
	case s.w3 != 0:
		s.w3 &= s.w3 - 1
	}
}

// Nth is the n-th lowest port of the set, n counted from 0 and below Len.
func (s PortSet) Nth(n int) Port {
	for ; n > 0; n-- {
		s.Pop()
	}
	return s.First()
}

// Or is the ports of either set.
func (s PortSet) Or(t PortSet) PortSet {
	return PortSet{s.w0 | t.w0, s.w1 | t.w1, s.w2 | t.w2, s.w3 | t.w3}
}

// And is the ports of both sets.
func (s PortSet) And(t PortSet) PortSet {
	return PortSet{s.w0 & t.w0, s.w1 & t.w1, s.w2 & t.w2, s.w3 & t.w3}
}

// Without is the ports of s that are not in t.
func (s PortSet) Without(t PortSet) PortSet {
	return PortSet{s.w0 &^ t.w0, s.w1 &^ t.w1, s.w2 &^ t.w2, s.w3 &^ t.w3}
}

// String is the ports in order: "{0 1 7}".
func (s PortSet) String() string {
	var ports []Port
	for ; !s.Empty(); s.Pop() {
		ports = append(ports, s.First())
	}
	return strings.Trim(strings.Replace(fmt.Sprint(ports), "[", "{", 1), "]") + "}"
}

// Words are the set as bits, port 0 the lowest of the first word.
func (s PortSet) Words() [MaxPorts / 64]uint64 { return [...]uint64{s.w0, s.w1, s.w2, s.w3} }

// PortsOfWords is the set that has these words.
func PortsOfWords(w [MaxPorts / 64]uint64) PortSet { return PortSet{w[0], w[1], w[2], w[3]} }

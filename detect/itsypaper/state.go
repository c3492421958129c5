package itsypaper

import (
	"math/bits"
	"slices"
	"unsafe"

	"softswitch/unit"
)

// state is all that the detector remembers. For n ports it takes n x ceil(n/8)
// bytes of traffic mapping, 7 bytes a port and a fixed part: 88 B for 4 ports,
// 1016 B for 64.
type state struct {
	rows   []byte  // traffic mapping: rowBytes for each egress port, bit i for ingress i
	slots  []slot  // by port: the label stored there, and flags
	trails []trail // by port: how the stored label came; outlives the label
	seqs   []uint8 // by port: Seq of the newest episode that this switch began in the port's name
	// ingress is, by ingress port, what its next pause carries: what is stored at
	// an egress port (its number), carryOwn or carryNothing; and the flag reported.
	ingress []uint8
	fixed
}

// fixed is the part of the state that does not grow with the ports.
type fixed struct {
	pausing portBits // ports that pause their upstream

	// displaced remembers labels that a later one pushed out of a slot, so that
	// labels which chase each other round a loop are known when they come back.
	displaced displacedLabels

	// takeovers remembers for which trigger this middle switch began an episode.
	takeovers takeovers

	budget budget
}

// portBits is a set of MaxPorts ports, one bit each.
type portBits uint64

func (s *portBits) add(p unit.Port)     { *s |= 1 << p }
func (s *portBits) remove(p unit.Port)  { *s &^= 1 << p }
func (s portBits) has(p unit.Port) bool { return s>>p&1 != 0 }
func (s portBits) ports() unit.PortSet  { return unit.PortsOfWords([4]uint64{uint64(s)}) }

// What the next pause of an ingress port carries if not a stored label.
const (
	carryOwn     = 64 // this switch's own id: it is the initial trigger
	carryNothing = 65

	reported = 0x80 // the port's newest episode has been reported
)

// slot is a stored label, the port's RESUME tag r_p (bit 0) and the round of the
// last check of the label that went on from here (bits 1 and 2), 0 if none did.
type slot uint32

const (
	resumed     slot = 1 << 0
	checkShift       = 1
	checkRounds slot = 3 << checkShift

	slotFlags = resumed | checkRounds
)

func (s slot) label() label      { return label(s &^ slotFlags) }
func (s slot) checkRound() uint8 { return uint8(s & checkRounds >> checkShift) }

// carry sets what the next pause of i carries.
func (s *state) carry(i unit.Port, what uint8) { s.ingress[i] = s.ingress[i]&reported | what }

// carried is what the next pause of i carries.
func (s *state) carried(i unit.Port) uint8 { return s.ingress[i] &^ reported }

func newState(ports int) state {
	s := state{
		rows:    make([]byte, ports*rowBytes(ports)),
		slots:   make([]slot, ports),
		trails:  make([]trail, ports),
		seqs:    make([]uint8, ports),
		ingress: make([]uint8, ports),
	}
	for i := range s.ingress {
		s.ingress[i] = carryNothing
	}
	return s
}

// size is what the state takes in bytes. The references to it (slice headers) and
// to the switch (two interfaces) are not counted: they are no state.
func (s *state) size() int {
	return len(s.rows) +
		len(s.slots)*int(unsafe.Sizeof(slot(0))) +
		len(s.trails)*int(unsafe.Sizeof(trail(0))) +
		len(s.seqs) + len(s.ingress) +
		int(unsafe.Sizeof(s.fixed))
}

func (s *state) ports() int { return len(s.slots) }

func rowBytes(ports int) int { return (ports + 7) / 8 }

// row is the traffic mapping of egress e.
func (s *state) row(e unit.Port) []byte {
	n := rowBytes(s.ports())
	return s.rows[int(e)*n : int(e)*n+n]
}

func (s *state) addTraffic(i, e unit.Port) { s.row(e)[i/8] |= 1 << (i % 8) }

func (s *state) clearTraffic(e unit.Port) { clear(s.row(e)) }

// traffic is the set xi_e: the ports whose frames wait, or waited since e was
// last empty, in egress e.
func (s *state) traffic(e unit.Port) unit.PortSet {
	var xi unit.PortSet
	for k, b := range s.row(e) {
		for ; b != 0; b &= b - 1 {
			xi.Add(unit.Port(8*k + bits.TrailingZeros8(b)))
		}
	}
	return xi
}

// put stores l at p as the latest label, and remembers the one that it displaces.
func (s *state) put(p unit.Port, l label, way trail) {
	old := s.slots[p].label()
	if old == l && s.trails[p] == way {
		return
	}
	if old != 0 && old != l {
		s.displaced.add(p, old, s.trails[p])
	}
	s.slots[p] = s.slots[p]&resumed | slot(l)
	s.trails[p] = way
}

// known reports whether p stores l, or stored it until other labels displaced it,
// and how l came then.
func (s *state) known(p unit.Port, l label) (trail, bool) {
	if s.slots[p].label() == l {
		return s.trails[p], true
	}
	return s.displaced.find(p, l)
}

// forget removes every label that reached p.
func (s *state) forget(p unit.Port) {
	s.slots[p] &= resumed
	s.displaced.forget(p)
}

// begin makes seq the newest episode of port i.
func (s *state) begin(i unit.Port, seq uint8) {
	if s.seqs[i] != seq {
		s.seqs[i] = seq
		s.ingress[i] &^= reported
	}
}

// displacedLabels are (port, label, trail), the newest first; label 0 is a free
// place.
type displacedLabels struct {
	labels [5]label
	ports  [5]uint8 // a port is below MaxPorts
	trails [5]trail
}

// add puts an entry in front, in the place of an older one for the same label at p,
// else of a free one, else of the oldest.
func (r *displacedLabels) add(p unit.Port, l label, way trail) {
	k := r.index(p, l)
	if k < 0 {
		k = slices.Index(r.labels[:], 0)
	}
	if k < 0 {
		k = len(r.labels) - 1
	}
	copy(r.labels[1:k+1], r.labels[:k])
	copy(r.ports[1:k+1], r.ports[:k])
	copy(r.trails[1:k+1], r.trails[:k])
	r.labels[0], r.ports[0], r.trails[0] = l, uint8(p), way
}

func (r *displacedLabels) find(p unit.Port, l label) (trail, bool) {
	if k := r.index(p, l); k >= 0 {
		return r.trails[k], true
	}
	return 0, false
}

func (r *displacedLabels) forget(p unit.Port) {
	for k := range r.labels {
		if unit.Port(r.ports[k]) == p {
			r.labels[k] = 0
		}
	}
}

func (r *displacedLabels) index(p unit.Port, l label) int {
	for k := range r.labels {
		if r.labels[k] == l && unit.Port(r.ports[k]) == p {
			return k
		}
	}
	return -1
}

// takeovers are (own port, trigger), packed as 6, 14 and 6 bits, the newest first;
// 0 is a free place.
type takeovers [3]uint32

func (r *takeovers) set(i unit.Port, trigger unit.NodePort) {
	k := r.index(i)
	if k < 0 {
		k = slices.Index(r[:], 0)
	}
	if k < 0 {
		k = len(r) - 1
	}
	copy(r[1:k+1], r[:k])
	r[0] = uint32(i)<<20 | uint32(trigger.Node)<<6 | uint32(trigger.Port)
}

// of is the trigger for which i's newest episode was begun, zero if i is no
// middle switch's port or the entry was overwritten.
func (r *takeovers) of(i unit.Port) unit.NodePort {
	if k := r.index(i); k >= 0 {
		e := r[k]
		return unit.NodePort{Node: unit.NodeID(e >> 6 & MaxNode), Port: unit.Port(e & 0x3f)}
	}
	return unit.NodePort{}
}

func (r *takeovers) forget(i unit.Port) {
	if k := r.index(i); k >= 0 {
		r[k] = 0
	}
}

func (r *takeovers) index(i unit.Port) int {
	return slices.IndexFunc(r[:], func(e uint32) bool { return e != 0 && unit.Port(e>>20) == i })
}

// budget counts the messages of one millisecond or so (2^20 ns). It is the last
// bound: where more labels chase each other than displacedLabels holds, each lives
// for HopLimit links, and they would double at every fork until then.
type budget struct {
	window uint16 // of the clock, in units of 2^20 ns
	sent   uint16
}

// messagesPerPort is how many messages a switch sends for each of its ports in one
// window. At 84 octets on the wire this is 11 Mbit/s a port.
const messagesPerPort = 16

// at begins a new window if now is in one.
func (g *budget) at(now unit.Time) {
	if w := uint16(now >> 20); w != g.window {
		*g = budget{window: w}
	}
}

// take reports whether a switch of that many ports may send one more.
func (g *budget) take(ports int) bool {
	if int(g.sent) >= ports*messagesPerPort {
		return false
	}
	g.sent++
	return true
}

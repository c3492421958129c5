package itsypaper

import (
	"unsafe"

	"softswitch/internal/unit"
)

// state is all that the detector remembers. For n ports it takes n x ceil(n/8)
// bytes of traffic mapping, 7 bytes a port and a fixed part: 88 B for 4 ports,
// 1016 B for 64.
type state struct {
	rows   []byte  // traffic mapping: rowBytes for each egress port, bit i for ingress i
	slots  []slot  // by port: the label stored there, and flags
	trails []trail // by port: how the stored label came; outlives the label
	seqs   []uint8 // by port: Seq of the newest episode that this switch began in the port's name
	owed   []uint8 // by ingress port: what its next pause carries; an egress port or one of the two below
	fixed
}

// fixed is the part of the state that does not grow with the ports.
type fixed struct {
	pausing unit.PortSet // ports that pause their upstream

	// displaced remembers labels that a later one pushed out of a slot, so that
	// labels which chase each other round a loop are known when they come back.
	displaced displacedLabels

	// takeovers remembers for which trigger this middle switch began an episode.
	takeovers takeovers
}

// What the next pause of an ingress port carries if not a stored label.
const (
	owesOwn     = 0x80 // this switch's own id: it is the initial trigger
	owesNothing = 0xff
)

// slot is a label and three flags of the port it is stored at.
type slot uint32

const (
	resumed  slot = 1 << 0 // r_p, the RESUME tag
	checked  slot = 1 << 1 // a check of the stored label has passed
	reported slot = 1 << 2 // the port's own newest episode has been reported

	slotFlags = resumed | checked | reported
)

func (s slot) label() label { return label(s &^ slotFlags) }

func newState(ports int) state {
	s := state{
		rows:   make([]byte, ports*rowBytes(ports)),
		slots:  make([]slot, ports),
		trails: make([]trail, ports),
		seqs:   make([]uint8, ports),
		owed:   make([]uint8, ports),
	}
	for i := range s.owed {
		s.owed[i] = owesNothing
	}
	return s
}

// size is what the state takes in bytes. The references to it (slice headers) and
// to the switch (two interfaces) are not counted: they are no state.
func (s *state) size() int {
	return len(s.rows) +
		len(s.slots)*int(unsafe.Sizeof(slot(0))) +
		len(s.trails)*int(unsafe.Sizeof(trail(0))) +
		len(s.seqs) + len(s.owed) +
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
		xi |= unit.PortSet(b) << (8 * k)
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
	s.slots[p] = s.slots[p]&(resumed|reported) | slot(l)
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

// forget removes every label that came to p.
func (s *state) forget(p unit.Port) {
	s.slots[p] &= resumed | reported
	s.displaced.forget(p)
}

// begin makes seq the newest episode of port i.
func (s *state) begin(i unit.Port, seq uint8) {
	if s.seqs[i] != seq {
		s.seqs[i] = seq
		s.slots[i] &^= reported
	}
}

// displacedLabels is a ring of (port, label, trail); label 0 is a free place.
type displacedLabels struct {
	labels [5]label
	ports  [5]unit.Port
	trails [5]trail
	next   uint8
}

// add takes the place of an older entry for the same label at p, else the oldest.
func (r *displacedLabels) add(p unit.Port, l label, way trail) {
	k := r.index(p, l)
	if k < 0 {
		k = int(r.next)
		r.next = (r.next + 1) % uint8(len(r.labels))
	}
	r.labels[k], r.ports[k], r.trails[k] = l, p, way
}

func (r *displacedLabels) find(p unit.Port, l label) (trail, bool) {
	if k := r.index(p, l); k >= 0 {
		return r.trails[k], true
	}
	return 0, false
}

func (r *displacedLabels) forget(p unit.Port) {
	for k := range r.labels {
		if r.ports[k] == p {
			r.labels[k] = 0
		}
	}
}

func (r *displacedLabels) index(p unit.Port, l label) int {
	for k := range r.labels {
		if r.labels[k] == l && r.ports[k] == p {
			return k
		}
	}
	return -1
}

// takeovers is a ring of (own port, trigger), packed as 6, 14 and 6 bits; 0 is a
// free place.
type takeovers struct {
	entries [4]uint32
	next    uint8
}

func (r *takeovers) set(i unit.Port, trigger unit.NodePort) {
	k := r.index(i)
	if k < 0 {
		k = int(r.next)
		r.next = (r.next + 1) % uint8(len(r.entries))
	}
	r.entries[k] = uint32(i)<<20 | uint32(trigger.Node)<<6 | uint32(trigger.Port)
}

// of is the trigger for which i's newest episode was begun, zero if i is no
// middle switch's port or the entry was overwritten.
func (r *takeovers) of(i unit.Port) unit.NodePort {
	if k := r.index(i); k >= 0 {
		e := r.entries[k]
		return unit.NodePort{Node: unit.NodeID(e >> 6 & maxNode), Port: unit.Port(e & 0x3f)}
	}
	return unit.NodePort{}
}

func (r *takeovers) forget(i unit.Port) {
	if k := r.index(i); k >= 0 {
		r.entries[k] = 0
	}
}

func (r *takeovers) index(i unit.Port) int {
	for k, e := range r.entries {
		if e != 0 && unit.Port(e>>20) == i {
			return k
		}
	}
	return -1
}

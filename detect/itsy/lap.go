package itsy

import (
	"encoding/binary"

	"softswitch/detect"
	"softswitch/unit"
)

// lap is the message that goes round a declared loop, downstream, and collects why it
// formed: evidence of every switch about its bucket on the loop and the turn that this
// takes to the loop's next queue. Its length does not depend on the loop.
//
// docs/format/itsy.md has its bytes.
type lap struct {
	class unit.Priority
	owner unit.NodePort // whose bucket was declared
	rank  uint16        // of its label
	hops  uint8

	least   turn              // that the fewest flows take
	most    turn              // that most take
	through detect.CauseFlows // that take every turn so far
	flooded struct {
		turns uint8 // that flooded frames alone hold
		turn        // the first of them, with the flooded flows of all of them
	}
	detour struct { // round the link that went down last, of those that frames on the loop avoid
		at    unit.NodePort // zero: there is none
		age   uint32        // us since it went down
		flows detect.CauseFlows
	}
	eldest uint32             // us: how long ago the eldest flow of those on the loop began, as far as is known
	young  [youngMax]young    // of those on the loop; those that are used come first
	hosts  [hostsMax]hostPart // those that are used come first
}

// turn is a way through a switch on the loop, and who takes it.
type turn struct {
	at    unit.NodePort // the egress
	in    unit.Port
	count uint8 // of flows; 255: that many or more
	flows detect.CauseFlows
}

// hostPart is the part of a host in the buckets of the loop that name it as their trigger:
// how many those are, and how much of their bytes waited for it at XOFF, in 255ths of a
// bucket: of the one with most, and of all. No field of an honest lap overflows: it sees lapMax + 1 = 65 turns
// at most, of 255 each.
type hostPart struct {
	trigger trigger
	buckets uint8
	most    uint8
	sum     uint16
}

// youngMax and hostsMax are how many flows and hosts a lap has room for. Chosen: twice the causes
// that a diagnosis names (detect.CausesMax); each costs 20 or 7 octets of the lap.
const (
	youngMax = 8
	hostsMax = 8
)

// addHost adds a bucket that names the host t with this strength.
func (l *lap) addHost(t trigger, strength uint8) {
	for i := range l.hosts {
		h := &l.hosts[i]
		if h.trigger != t && h.trigger != 0 {
			continue
		}
		h.trigger = t
		h.buckets++
		h.most = max(h.most, strength)
		h.sum += uint16(strength)
		return
	}
}

// Octets of laps and quests: the head that both have, and their parts (docs/format/itsy.md). A lap has 417,
// which is below what one message may carry (detect.PayloadMax, 512).
const (
	subtype   = 3
	version   = 1
	kindLap   = 1
	kindQuest = 2

	headLen  = 13
	flowsLen = 4 * detect.CauseFlowsMax
	turnLen  = 5 + flowsLen
	youngLen = 20
	hostLen  = 7
	lapLen   = headLen + 1 + 3*turnLen + flowsLen + 1 + 7 + flowsLen + 4 + youngMax*youngLen + hostsMax*hostLen
)

// writer puts a message together.
type writer struct{ b []byte }

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *writer) u24(v uint32) { w.b = append(w.b, uint8(v>>16), uint8(v>>8), uint8(v)) }
func (w *writer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }

func (w *writer) port(np unit.NodePort) {
	w.u16(uint16(np.Node))
	w.u8(uint8(np.Port))
}

func (w *writer) flows(s *detect.CauseFlows) {
	for _, f := range s {
		w.u32(uint32(f))
	}
}

func (w *writer) turn(t *turn) {
	w.port(t.at)
	w.u8(uint8(t.in))
	w.u8(t.count)
	w.flows(&t.flows)
}

// head is what every message of n octets begins with: an organisationally specific TLV as
// the one of package itsyhdr, of another subtype.
func (w *writer) head(n int, kind uint8, class unit.Priority, flags uint8, owner unit.NodePort, rank uint16) {
	w.u16(uint16(127<<9 | (n - 2)))
	w.u24(0x024954)
	w.u8(subtype)
	w.u8(version<<4 | kind)
	w.u8(uint8(class)<<5 | flags)
	w.port(owner)
	w.u16(rank)
}

// reader takes a message apart that is long enough. bad says that a value makes no sense.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) u8() (v uint8) {
	v, r.b = r.b[0], r.b[1:]
	return v
}

func (r *reader) u16() (v uint16) {
	v, r.b = binary.BigEndian.Uint16(r.b), r.b[2:]
	return v
}

func (r *reader) u24() uint32 { return uint32(r.u8())<<16 | uint32(r.u16()) }

func (r *reader) u32() (v uint32) {
	v, r.b = binary.BigEndian.Uint32(r.b), r.b[4:]
	return v
}

func (r *reader) portNumber() unit.Port {
	p := unit.Port(r.u8())
	r.bad = r.bad || p >= unit.MaxPorts
	return p
}

func (r *reader) port() unit.NodePort {
	return unit.NodePort{Node: unit.NodeID(r.u16()), Port: r.portNumber()}
}

func (r *reader) flows() (s detect.CauseFlows) {
	for i := range s {
		s[i] = detect.FlowID(r.u32())
		r.bad = r.bad || i > 0 && s[i] != 0 && s[i-1] == 0
	}
	return s
}

func (r *reader) turn() turn {
	return turn{at: r.port(), in: r.portNumber(), count: r.u8(), flows: r.flows()}
}

func (r *reader) trigger() trigger {
	t := trigger(r.u24())
	r.bad = r.bad || t >= triggerHost<<1
	return t
}

// head reads what every message begins with. ok is false if b is none of n octets and this
// kind.
func head(b []byte, n int, kind uint8) (r reader, class unit.Priority, flags uint8, owner unit.NodePort, rank uint16, ok bool) {
	if len(b) < n {
		return r, 0, 0, owner, 0, false
	}
	r.b = b[:n]
	if r.u16() != uint16(127<<9|(n-2)) || r.u24() != 0x024954 || r.u8() != subtype || r.u8() != version<<4|kind {
		return r, 0, 0, owner, 0, false
	}
	flags = r.u8()
	owner, rank = r.port(), r.u16()
	return r, unit.Priority(flags >> 5), flags & 0x1f, owner, rank, owner.Node != 0
}

// append appends the octets of the lap.
func (l *lap) append(b []byte) []byte {
	w := writer{b}
	w.head(lapLen, kindLap, l.class, 0, l.owner, l.rank)
	w.u8(l.hops)
	w.turn(&l.least)
	w.turn(&l.most)
	w.flows(&l.through)
	w.u8(l.flooded.turns)
	w.turn(&l.flooded.turn)
	w.port(l.detour.at)
	w.u32(l.detour.age)
	w.flows(&l.detour.flows)
	w.u32(l.eldest)
	for _, y := range l.young {
		w.u32(uint32(y.flow))
		w.u32(y.age)
		w.u32(y.bytes)
		w.port(y.at)
		w.u8(uint8(y.in))
		w.u32(y.most)
	}
	for _, h := range l.hosts {
		w.u24(uint32(h.trigger))
		w.u8(h.buckets)
		w.u8(h.most)
		w.u16(h.sum)
	}
	return w.b
}

// parseLap takes a lap apart. ok is false if it is none, or not as append writes it.
func parseLap(b []byte) (l lap, ok bool) {
	r, class, flags, owner, rank, ok := head(b, lapLen, kindLap)
	if !ok || flags != 0 {
		return lap{}, false
	}
	l = lap{class: class, owner: owner, rank: rank, hops: r.u8(), least: r.turn(), most: r.turn(), through: r.flows()}
	l.flooded.turns, l.flooded.turn = r.u8(), r.turn()
	l.detour.at, l.detour.age, l.detour.flows = r.port(), r.u32(), r.flows()
	l.eldest = r.u32()
	for i := range l.young {
		y := young{detect.FlowID(r.u32()), r.u32(), r.u32(), r.port(), r.portNumber(), r.u32()}
		r.bad = r.bad || y.flow == 0 && y != young{} || i > 0 && y.flow != 0 && l.young[i-1].flow == 0
		l.young[i] = y
	}
	for i := range l.hosts {
		h := hostPart{r.trigger(), r.u8(), r.u8(), r.u16()}
		r.bad = r.bad || h.trigger == 0 && h != hostPart{} || h.trigger != 0 && (!h.trigger.isHost() || i > 0 && l.hosts[i-1].trigger == 0)
		l.hosts[i] = h
	}
	return l, !r.bad
}

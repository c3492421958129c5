package itsy

import (
	"softswitch/detect"
	"softswitch/unit"
)

// lap is the message that goes round a declared loop, downstream, and collects why it
// formed: evidence of every switch about its priority group on the loop and the turn that this
// takes to the loop's next queue. Its length does not depend on the loop.
//
// docs/format/itsy.md has its bytes.
type lap struct {
	priority unit.Priority
	owner    unit.NodePort // whose priority group was declared
	rank     uint16        // of its label
	hops     uint8

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

// hostPart is the part of a host in the priority groups of the loop that name it as their trigger:
// how many those are, and how much of their bytes waited for it at XOFF, in 255ths of a
// priority group: of the one with most, and of all. No field of an honest lap overflows: it sees lapMax + 1 =
// 65 turns at most, of 255 each.
type hostPart struct {
	trigger trigger
	pgs     uint8
	most    uint8
	sum     uint16
}

// youngMax and hostsMax are how many flows and hosts a lap has room for. Chosen: twice the causes
// that a diagnosis names (detect.CausesMax); each costs 20 or 7 octets of the lap.
const (
	youngMax = 8
	hostsMax = 8
)

// addHost adds a priority group that names the host t with this strength.
func (l *lap) addHost(t trigger, strength uint8) {
	for i := range l.hosts {
		h := &l.hosts[i]
		if h.trigger != t && h.trigger != 0 {
			continue
		}
		h.trigger = t
		h.pgs++
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

// codec goes through the parts of a message: it appends them to b or, if it reads, takes them from b,
// which is long enough. bad says that what was read makes no sense.
type codec struct {
	b     []byte
	reads bool
	bad   bool
}

// number is a part of this many octets, the highest first.
func number[T ~uint8 | ~uint16 | ~uint32](c *codec, octets int, v *T) {
	if !c.reads {
		for i := range octets {
			c.b = append(c.b, uint8(*v>>(8*(octets-1-i))))
		}
		return
	}
	all := uint32(0)
	for _, octet := range c.b[:octets] {
		all = all<<8 | uint32(octet)
	}
	*v, c.b = T(all), c.b[octets:]
}

func (c *codec) portNumber(p *unit.Port) {
	number(c, 1, p)
}

func (c *codec) port(np *unit.NodePort) {
	number(c, 2, &np.Node)
	c.portNumber(&np.Port)
}

func (c *codec) flows(s *detect.CauseFlows) {
	for i := range s {
		number(c, 4, &s[i])
		c.bad = c.bad || i > 0 && s[i] != 0 && s[i-1] == 0
	}
}

func (c *codec) turn(t *turn) {
	c.port(&t.at)
	c.portNumber(&t.in)
	number(c, 1, &t.count)
	c.flows(&t.flows)
}

// head is what every message of n octets begins with: an organisationally specific TLV as
// the one of package itsyhdr, of another subtype. One that is read is bad if it is none of n octets
// and this kind.
func (c *codec) head(n int, kind uint8, priority *unit.Priority, flags *uint8, owner *unit.NodePort, rank *uint16) {
	for _, want := range [...]struct {
		octets int
		is     uint32
	}{{2, 127<<9 | uint32(n-2)}, {3, 0x024954}, {1, subtype}, {1, version<<4 | uint32(kind)}} {
		is := want.is
		number(c, want.octets, &is)
		c.bad = c.bad || is != want.is
	}
	both := uint8(*priority)<<5 | *flags
	number(c, 1, &both)
	*priority, *flags = unit.Priority(both>>5), both&0x1f
	c.port(owner)
	number(c, 2, rank)
	c.bad = c.bad || owner.Node == 0
}

// octets goes through the parts of the lap.
func (l *lap) octets(c *codec) {
	flags := uint8(0)
	c.head(lapLen, kindLap, &l.priority, &flags, &l.owner, &l.rank)
	if c.bad = c.bad || flags != 0; c.bad && c.reads {
		return
	}
	number(c, 1, &l.hops)
	c.turn(&l.least)
	c.turn(&l.most)
	c.flows(&l.through)
	number(c, 1, &l.flooded.turns)
	c.turn(&l.flooded.turn)
	c.port(&l.detour.at)
	number(c, 4, &l.detour.age)
	c.flows(&l.detour.flows)
	number(c, 4, &l.eldest)
	for i := range l.young {
		y := &l.young[i]
		number(c, 4, &y.flow)
		number(c, 4, &y.age)
		number(c, 4, &y.bytes)
		c.port(&y.at)
		c.portNumber(&y.in)
		number(c, 4, &y.most)
		c.bad = c.bad || y.flow == 0 && *y != young{} || i > 0 && y.flow != 0 && l.young[i-1].flow == 0
	}
	for i := range l.hosts {
		h := &l.hosts[i]
		at := h.trigger.at() // on the wire it is not said that it is a host, which all are
		c.port(&at)
		h.trigger = newTrigger(at, true)
		number(c, 1, &h.pgs)
		number(c, 1, &h.most)
		number(c, 2, &h.sum)
		c.bad = c.bad || h.trigger == 0 && *h != hostPart{} || i > 0 && h.trigger != 0 && l.hosts[i-1].trigger == 0
	}
}

// append appends the octets of the lap.
func (l *lap) append(b []byte) []byte {
	c := codec{b: b}
	l.octets(&c)
	return c.b
}

// parseLap takes a lap apart. ok is false if it is none, or not as append writes it.
func parseLap(b []byte) (l lap, ok bool) {
	if len(b) < lapLen {
		return lap{}, false
	}
	c := codec{b: b[:lapLen], reads: true}
	l.octets(&c)
	return l, !c.bad
}

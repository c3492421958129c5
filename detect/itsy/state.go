package itsy

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/unit"
)

// class is all that is remembered of one lossless class: for n ports 272 bytes a
// port and a fixed part. Buckets and queues are named by their ports.
type class struct {
	lab []label   // by queue: what the last pause said; 0 while no pause is in force
	in  []ingress // by bucket
	out []egress  // by queue: how it came to be as full as it is
	fixed
}

// fixed is the part of a class that does not grow with the ports.
type fixed struct {
	// Queues at which a pause is in force: those that lead to switches, those that
	// lead to hosts.
	paused, stopped unit.PortSet

	// Buckets, of those that pause a switch.
	xoff      unit.PortSet // XOFF
	announced unit.PortSet // XOFF, and a pause frame has left
	proved    unit.PortSet // that frame's label had F
	settled   unit.PortSet // and D
	blocked   unit.PortSet // XOFF, and would stay so if nothing were left but what waits in paused queues that lead to switches
	done      unit.PortSet // blocked, and has declared a deadlock: counts as free for all others
	outdone   unit.PortSet // of those, which have seen a greater label since
	freed     unit.PortSet // XOFF, and was blocked until a pause ended, or its own may have lapsed
	suspect   unit.PortSet // its label came home: verifies when it is due, or checks again
	trusting  unit.PortSet // blocked, and has put off what it would do for a deadlock that others declared

	unanswered unit.PortSet // blocked, and its last verification has not ended

	undiagnosed unit.PortSet // declared, and not diagnosed yet
	askUntil    unit.Time    // for how long no other bucket asks
	found       lap          // the lap that it has from its loop

	slots [slotCount]slot

	clock  uint16    // the highest rank seen
	asking unit.Port // the bucket that asks about the trigger that its lap named
	id     unit.Priority
	index  int // among the lossless classes
}

// ingress is what is remembered of a bucket.
type ingress struct {
	// own is the rank of its newest label, and min that of the oldest one of this
	// XOFF: any of them that comes home has been on its way while the bucket was XOFF.
	// 0 is none.
	own, min uint16
	// due is when the bucket acts by itself, in hops modulo 65536; it counts while the
	// bucket is blocked.
	due   uint16
	tries uint8 // how often it has done so in vain
	blame
	burst trigger // who is to blame for what comes in since it was released, back to back

	// checked is the rank of the label whose check the bucket handed on last, and when that
	// was, in hops.
	checked, checkedAt uint16

	next unit.Time // when the next frame of the burst has to be there

	declared unit.Port // the queue at which it declared a deadlock last
	lap      uint16    // the rank that the lap about its declaration has
	// asks are the verifications that came in by the port and do not lie back a hop each, as
	// of asked, in hops.
	asks  uint8
	asked uint16
}

// newClass makes the class that is number index of so many lossless ones.
func newClass(id unit.Priority, ports, index, classes int) *class {
	c := &class{lab: make([]label, ports), in: make([]ingress, ports), out: make([]egress, ports), fixed: fixed{id: id, index: index, asking: unit.NoPort}}
	for k := range c.slots {
		c.slots[k].of = make([]classPart, classes)
	}
	return c
}

// size is what the class takes in bytes. Slice headers are not counted.
func (c *class) size() int {
	ports := int(unsafe.Sizeof(label(0)) + unsafe.Sizeof(ingress{}) + unsafe.Sizeof(egress{}))
	parts := len(c.slots) * len(c.slots[0].of) * int(unsafe.Sizeof(classPart{}))
	return len(c.lab)*ports + int(unsafe.Sizeof(c.fixed)) + parts
}

func (c *class) bucket(i unit.Port) detect.Bucket { return detect.Bucket{Port: i, Class: c.id} }
func (c *class) queue(p unit.Port) detect.Queue   { return detect.Queue{Port: p, Class: c.id} }

// has reports whether rank is that of a label that the bucket minted in this XOFF.
func (n *ingress) has(rank uint16) bool {
	return n.min != 0 && !before(rank, n.min) && !before(n.own, rank)
}

// mayAsk reports whether another verification may begin here that comes in by the port: asksMax
// at once, and one each hop after that. A neighbour that begins them without end is not passed
// on without end.
func (n *ingress) mayAsk(hops uint16) bool {
	n.asks -= uint8(min(uint16(n.asks), hops-n.asked))
	n.asked = hops
	if n.asks == asksMax {
		return false
	}
	n.asks++
	return true
}

// mayCheck reports whether a check of the label of this rank may be handed on: not if one was
// a moment ago. A check of a label that goes round a loop would go on with it for as long.
func (n *ingress) mayCheck(rank, hops uint16) bool {
	if n.checked == rank && hops-n.checkedAt < checkHops/2 {
		return false
	}
	n.checked, n.checkedAt = rank, hops
	return true
}

// see keeps the clock above every rank that comes in.
func (c *class) see(rank uint16) {
	if rank != 0 && (c.clock == 0 || before(c.clock, rank)) {
		c.clock = rank
	}
}

// forget drops what belongs to the XOFF of bucket i that has ended.
func (c *class) forget(i unit.Port) {
	n := &c.in[i]
	n.own, n.min, n.tries = 0, 0, 0
	c.announced.Remove(i)
	c.proved.Remove(i)
	c.settled.Remove(i)
	c.freed.Remove(i)
	c.unblock(i)
}

// unblock drops what belongs to bucket i being blocked.
func (c *class) unblock(i unit.Port) {
	c.blocked.Remove(i)
	c.undo(i)
	c.suspect.Remove(i)
	c.trusting.Remove(i)
	c.unanswered.Remove(i)
}

// undo: what bucket i has declared is over.
func (c *class) undo(i unit.Port) {
	c.done.Remove(i)
	c.outdone.Remove(i)
}

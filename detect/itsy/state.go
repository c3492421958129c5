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
	blocked   unit.PortSet // XOFF, with more than XON bytes in paused queues that lead to switches
	done      unit.PortSet // blocked, and has declared a deadlock: counts as free for all others
	outdone   unit.PortSet // of those, which have seen a greater label since
	freed     unit.PortSet // XOFF, and published another's label until the pause that brought it ended
	suspect   unit.PortSet // its label came home: verifies when it is due, or checks again

	undiagnosed unit.PortSet // declared, and not diagnosed yet
	asking      unit.Port    // the bucket that asks about the trigger that its lap named
	askUntil    unit.Time    // for how long nobody else asks
	found       lap          // the lap that it has from its loop

	slots [slotCount]slot

	clock uint16 // the highest rank seen
	id    unit.Priority
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
	burst trigger   // who is to blame for what comes in since it was released, back to back
	next  unit.Time // when the next frame of the burst has to be there

	lap      uint16    // the rank that the lap about its declaration has
	declared unit.Port // the queue that it was declared at
}

func newClass(id unit.Priority, ports int) *class {
	return &class{lab: make([]label, ports), in: make([]ingress, ports), out: make([]egress, ports), fixed: fixed{id: id, asking: unit.NoPort}}
}

// size is what the class takes in bytes. Slice headers are not counted.
func (c *class) size() int {
	ports := int(unsafe.Sizeof(label(0)) + unsafe.Sizeof(ingress{}) + unsafe.Sizeof(egress{}))
	return len(c.lab)*ports + int(unsafe.Sizeof(c.fixed))
}

func (c *class) bucket(i unit.Port) detect.Bucket { return detect.Bucket{Port: i, Class: c.id} }
func (c *class) queue(p unit.Port) detect.Queue   { return detect.Queue{Port: p, Class: c.id} }

// has reports whether rank is that of a label that the bucket minted in this XOFF.
func (n *ingress) has(rank uint16) bool {
	return n.min != 0 && !before(rank, n.min) && !before(n.own, rank)
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
}

// undo: what bucket i has declared is over.
func (c *class) undo(i unit.Port) {
	c.done.Remove(i)
	c.outdone.Remove(i)
}

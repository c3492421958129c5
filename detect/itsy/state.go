package itsy

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/unit"
)

// priority is all that is remembered of one lossless priority: for n ports 272 bytes a
// port and a fixed part. Priority groups and queues are named by their ports.
//
// Invariant: lab[p] is 0 unless p is in paused. Pause and Resume change both together.
type priority struct {
	lab []label   // by queue: what the last pause said; 0 while no pause is active
	in  []ingress // by priority group
	out []egress  // by queue: how it became as full as it is
	fixed
}

// fixed is the part of a priority that does not grow with the ports.
type fixed struct {
	// Queues at which a pause is active: those that lead to switches, those that lead to
	// hosts.
	paused, stopped unit.PortSet

	// Priority groups, of those that pause a switch. Invariants, kept by forget, unblock and undo: announced,
	// freed and blocked are part of xoff; proved and settled of announced; done, suspect, trusting, unanswered and live
	// of blocked; outdone of done.
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
	live       unit.PortSet // blocked, and its last verification found that something which it waits for moves: its labels are withheld

	// The diagnosis outlives the wait: XON does not end it, and a lap that comes home late is explained.
	undiagnosed unit.PortSet // declared, and not diagnosed yet
	askUntil    unit.Time    // for how long no other priority group asks
	found       lap          // the lap that it has from its loop

	slots [slotCount]slot

	// Labels and verifications take their ranks from one clock, so that no two of a priority group have the same
	// id.
	clock  uint16    // the highest rank seen
	asking unit.Port // the priority group that asks about the trigger that its lap named
	id     unit.Priority
	index  int // among the lossless priorities
}

// ingress is what is remembered of a priority group.
type ingress struct {
	// own is the rank of its newest label, and min that of the oldest one of this
	// XOFF: any of them that comes home has been on its way while the priority group was XOFF.
	// 0 is none. They stay when the priority group is XOFF but not blocked for a while: the proof asks of an
	// owner that it was XOFF all the time, no more. XON and a lapse of its pause end them (forget).
	own, min uint16
	// due is when the priority group acts by itself, in hops modulo 65536; it counts while the
	// priority group is blocked. No wait is as long as 32768 hops (maxTries), so the sign of due less now says
	// whether it is over.
	due   uint16
	tries uint8 // how often it has done so in vain
	// unended is how many verifications before the last one did not end, modulo 256. It counts while the
	// priority group is in unanswered. Each second one that does not end is waited for twice as long as the first,
	// each fourth four times, and so on: whatever a loop takes, no more than a constant times the logarithm of it
	// is lost to shorter waits (Luby, Sinclair and Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993).
	unended uint8
	blame
	burst trigger // who is to blame for what comes in since it was released, back to back

	// checked is the rank of the label whose check the priority group handed on last, and when that
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

// newPriority makes the priority with this index among priorities lossless ones.
func newPriority(id unit.Priority, ports, index, priorities int) *priority {
	c := &priority{lab: make([]label, ports), in: make([]ingress, ports), out: make([]egress, ports), fixed: fixed{id: id, index: index, asking: unit.NoPort}}
	for k := range c.slots {
		c.slots[k].of = make([]priorityPart, priorities)
	}
	return c
}

// size is what the priority takes in bytes. Slice headers are not counted.
func (c *priority) size() int {
	ports := int(unsafe.Sizeof(label{}) + unsafe.Sizeof(ingress{}) + unsafe.Sizeof(egress{}))
	parts := len(c.slots) * len(c.slots[0].of) * int(unsafe.Sizeof(priorityPart{}))
	return len(c.lab)*ports + int(unsafe.Sizeof(c.fixed)) + parts
}

func (c *priority) pg(i unit.Port) detect.PG       { return detect.PG{Port: i, Priority: c.id} }
func (c *priority) queue(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: c.id} }

// has reports whether rank is that of a label that the priority group minted in this XOFF.
func (n *ingress) has(rank uint16) bool {
	return n.min != 0 && !before(rank, n.min) && !before(n.own, rank)
}

// mayAsk reports whether another verification may begin here that comes in by the port: asksMax
// at once, and one each hop after that. A neighbour that begins them without end is not passed
// on without end. A query that finds no slot counts too: it has cost as much work.
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
// a moment ago. A check of a label that goes round a loop would go on with it for as long. Half of the
// time between two checks of an owner leaves room for one that was sent late and another that was not. The
// owner is not compared: of two checks of the same rank one may be lost, and its owner checks again.
func (n *ingress) mayCheck(rank, hops uint16) bool {
	if n.checked == rank && hops-n.checkedAt < checkHops/2 {
		return false
	}
	n.checked, n.checkedAt = rank, hops
	return true
}

// see keeps the clock at or above every rank that came in with a pause: what mint makes is greater than
// anything that its priority group could have published, or a new wait would stay hidden.
func (c *priority) see(rank uint16) {
	if rank != 0 && (c.clock == 0 || before(c.clock, rank)) {
		c.clock = rank
	}
}

// forget drops what belongs to the XOFF of priority group i that has ended.
func (c *priority) forget(i unit.Port) {
	n := &c.in[i]
	// A label from before this may come home in the next XOFF. The upstream could send in between, and a loop
	// would be declared that was open then (TestMutants, "labels outlive XON").
	n.own, n.min, n.tries = 0, 0, 0
	c.announced.Remove(i)
	c.proved.Remove(i)
	c.settled.Remove(i)
	c.freed.Remove(i)
	c.unblock(i)
}

// unblock drops what belongs to priority group i being blocked. Its labels stay valid: see ingress.own.
func (c *priority) unblock(i unit.Port) {
	c.blocked.Remove(i)
	c.undo(i)
	c.suspect.Remove(i)
	c.trusting.Remove(i)
	c.unanswered.Remove(i)
	c.live.Remove(i)
}

// undo: what priority group i has declared is over.
func (c *priority) undo(i unit.Port) {
	c.done.Remove(i)
	c.outdone.Remove(i)
}

package itsy

import (
	"softswitch/detect"
	"softswitch/unit"
)

// quest is the message that asks the bucket which is a trigger what is queued there. It goes
// round the loop until a bucket that waits for the trigger, then downstream the way that
// the trigger came upstream; the answer comes back by the same way.
//
// docs/format/itsy.md has its bytes.
type quest struct {
	class unit.Priority
	owner unit.NodePort // whose bucket was declared
	rank  uint16        // of its label
	about trigger
	left  bool  // it has left the loop
	hops  uint8 // that it has come, and path the buckets that sent it on
	path  [questMax]unit.Port

	answered bool
	at       unit.NodePort     // the queue that is asked for too much; zero: none is known
	onLoop   bool              // it is the loop's
	flows    detect.CauseFlows // that wait there
}

// questMax is how far a quest goes, in hops.
const questMax = 64

const questLen = headLen + 3 + 1 + questMax + 3 + flowsLen

// Flags of a quest.
const (
	questLeft     = 1
	questAnswered = 2
	questOnLoop   = 4
)

func (q *quest) append(b []byte) []byte {
	flags := uint8(0)
	for i, on := range [...]bool{q.left, q.answered, q.onLoop} {
		if on {
			flags |= 1 << i
		}
	}
	w := writer{b}
	w.head(questLen, kindQuest, q.class, flags, q.owner, q.rank)
	w.u24(uint32(q.about))
	w.u8(q.hops)
	for _, p := range q.path {
		w.u8(uint8(p))
	}
	w.port(q.at)
	w.flows(&q.flows)
	return w.b
}

// parseQuest takes a quest apart. ok is false if it is none, or not as append writes it.
func parseQuest(b []byte) (q quest, ok bool) {
	r, class, flags, owner, rank, ok := head(b, questLen, kindQuest)
	if !ok || flags > questLeft|questAnswered|questOnLoop {
		return quest{}, false
	}
	q = quest{class: class, owner: owner, rank: rank, about: r.trigger(), hops: r.u8()}
	q.left, q.answered, q.onLoop = flags&questLeft != 0, flags&questAnswered != 0, flags&questOnLoop != 0
	for i := range q.path {
		q.path[i] = r.portNumber()
	}
	q.at, q.flows = r.port(), r.flows()
	return q, !r.bad && q.hops <= questMax && q.about != 0
}

// ask sends a quest about t, which buckets of the loop of bucket i wait for.
func (d *detector) ask(now unit.Time, c *class, i unit.Port, t trigger) {
	d.passOn(now, c, i, &quest{class: c.id, owner: d.at(i), rank: c.in[i].lap, about: t})
}

// takeQuest takes a quest that came in by port p: on its way downstream it asks the bucket of
// p; its answer is for the bucket that sent it on.
func (d *detector) takeQuest(now unit.Time, c *class, p unit.Port, q *quest) {
	switch {
	case !q.answered:
		d.passOn(now, c, p, q)
	case q.hops < questMax && int(q.path[q.hops]) < len(c.in):
		d.handBack(c, q.path[q.hops], q)
	}
}

// passOn answers a quest that asks bucket i, or sends it on downstream.
func (d *detector) passOn(now unit.Time, c *class, i unit.Port, q *quest) {
	n := &c.in[i]
	next := d.onward(c, i, newLabel(q.rank, q.owner), 0)
	switch {
	case q.about == d.own(i):
		d.answer(c, i, next, q)
		return
	case n.via != unit.NoPort && (n.pauser == q.about || n.trigger == q.about):
		q.left = q.left || n.via != next
		next = n.via
	case q.left:
		return
	}
	if next == unit.NoPort || q.hops == questMax || d.view.FacesHost(next) {
		return
	}
	q.path[q.hops] = i
	q.hops++
	d.act.SendFrame(next, q.append(d.frame[:0]))
}

// answer answers a quest about bucket i, from which the loop, if i is on it, goes on by next.
func (d *detector) answer(c *class, i, next unit.Port, q *quest) {
	q.answered = true
	if p := c.in[i].full; p != unit.NoPort {
		q.at, q.onLoop = d.at(p), !q.left && p == next
		d.flows = d.view.Flows(d.flows[:0], c.queue(p))
		for _, f := range d.flows {
			if !q.flows.Has(f.ID) {
				q.flows.Add(f.ID)
			}
		}
	}
	d.handBack(c, i, q)
}

// handBack takes an answer from bucket i upstream, to who sent the quest on; at its owner
// the diagnosis ends.
func (d *detector) handBack(c *class, i unit.Port, q *quest) {
	if q.hops > 0 {
		q.hops--
		d.act.SendFrame(i, q.append(d.frame[:0]))
		return
	}
	if q.owner == d.at(i) && c.asking == i && c.in[i].lap == q.rank {
		d.explain(c, i, &c.found, q)
	}
}

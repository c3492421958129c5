package itsy

import (
	"softswitch/detect"
	"softswitch/unit"
)

// quest is the message that follows a flow and asks where it meets the flows that began with
// it. It goes round the loop until a switch that the flow came by, then the way of the flow
// to the port that faces its host; the answer comes back by the same way.
//
// docs/format/itsy.md has its bytes.
type quest struct {
	priority unit.Priority
	owner    unit.NodePort // whose priority group was declared
	rank     uint16        // of its label
	about    detect.FlowID

	eldest uint32 // us: as of the lap
	left   bool   // it has left the loop
	hops   uint8  // that it has come, and path the priority groups that sent it on
	path   [questMax]unit.Port

	answered bool
	at       unit.NodePort     // the queue where most flows began with it; zero: none is known
	onLoop   bool              // it is the loop's
	flows    detect.CauseFlows // that began there with it, itself among them
}

// questMax is how far a quest goes, in hops. Chosen: as far as a lap. Its path is in the message, so that no
// switch has to remember a quest that passed.
const questMax = 64

const questLen = headLen + 4 + 4 + 1 + questMax + 3 + flowsLen

// octets goes through the parts of the quest.
func (q *quest) octets(c *codec) {
	set, flags := [...]*bool{&q.left, &q.answered, &q.onLoop}, uint8(0) // by bit
	for i, on := range set {
		if *on {
			flags |= 1 << i
		}
	}
	c.head(questLen, kindQuest, &q.priority, &flags, &q.owner, &q.rank)
	if c.bad = c.bad || flags >= 1<<len(set); c.bad && c.reads {
		return
	}
	for i, on := range set {
		*on = flags>>i&1 != 0
	}
	number(c, 4, &q.about)
	number(c, 4, &q.eldest)
	number(c, 1, &q.hops)
	for i := range q.path {
		c.portNumber(&q.path[i])
	}
	c.port(&q.at)
	c.flows(&q.flows)
	c.bad = c.bad || q.hops > questMax || q.about == 0
}

func (q *quest) append(b []byte) []byte {
	c := codec{b: b}
	q.octets(&c)
	return c.b
}

// parseQuest takes a quest apart. ok is false if it is none, or not as append writes it.
func parseQuest(b []byte) (q quest, ok bool) {
	if len(b) < questLen {
		return quest{}, false
	}
	c := codec{b: b[:questLen], reads: true}
	q.octets(&c)
	return q, !c.bad
}

// takeQuest takes a quest that comes in by port p: on its way downstream it asks the switch;
// its answer is for the priority group that sent it on. A neighbour may have made up the path: it has to name
// a port of this switch, and an answer that comes from nowhere ends after questMax hops.
func (d *detector) takeQuest(now unit.Time, c *priority, p unit.Port, q *quest) {
	switch {
	case !q.answered:
		d.passOn(now, c, p, q)
	case q.hops < questMax && int(q.path[q.hops]) < len(c.in):
		d.handBack(c, q.path[q.hops], q)
	}
}

// passOn adds what is known of its flow to a quest that has reached priority group i, and sends it
// on: by the queue in which the flow began last, else on round the loop. Where there is no
// way on it is answered.
func (d *detector) passOn(now unit.Time, c *priority, i unit.Port, q *quest) {
	next := unit.NoPort
	if !q.left {
		next = d.onward(c, i, newLabel(q.rank, q.owner), 0)
	}
	if p := c.whereLast(now, q.about); p != unit.NoPort {
		d.meet(now, c, p, !q.left && p == next, q)
		q.left = q.left || p != next
		next = p
	}
	home := q.hops > 0 && q.owner == d.at(i)
	if home || next == unit.NoPort || q.hops == questMax || d.view.FacesHost(next) {
		q.answered = true
		d.handBack(c, i, q)
		return
	}
	q.path[q.hops] = i
	q.hops++
	d.act.SendFrame(next, q.append(d.frame[:0]))
}

// whereLast is the queue in which the flow began last, unit.NoPort if that is not known.
func (c *priority) whereLast(now unit.Time, f detect.FlowID) unit.Port {
	at, least := unit.NoPort, unit.Never
	for p := range c.out {
		if age, ok := c.out[p].age(now, f); ok && age < least {
			at, least = unit.Port(p), age
		}
	}
	return at
}

// meet takes queue p for the answer if no more flows began with the quest's in those before
// it. A flow that began alone is asked for where it was met first.
func (d *detector) meet(now unit.Time, c *priority, p unit.Port, onLoop bool, q *quest) {
	var flows detect.CauseFlows
	c.out[p].with(now, q.about, q.eldest, &flows)
	if n := flows.Len(); n > q.flows.Len() || n > 1 && n == q.flows.Len() {
		q.at, q.onLoop, q.flows = d.at(p), onLoop, flows
	}
}

// handBack takes an answer from priority group i upstream, to who sent the quest on; at its owner
// the diagnosis ends.
func (d *detector) handBack(c *priority, i unit.Port, q *quest) {
	if q.hops > 0 {
		q.hops--
		d.act.SendFrame(i, q.append(d.frame[:0]))
		return
	}
	if q.owner == d.at(i) && c.asking == i && c.in[i].lap == q.rank {
		d.explain(c, i, &c.found, q)
	}
}

package dataplane

import (
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/unit"
)

// controlQueue is the control frames that a port has to send, in order: at most one pause
// a priority, and messages. A pause is a reminder without content; a message is complete.
// Invariants: pauses has exactly the priorities with a reminder in the ring; items leave in the
// order in which they were put in, so that no message overtakes the pause that was asked for
// before it. Nothing leaves it but by pop and clear.
type controlQueue struct {
	pauses unit.PrioritySet // priorities with a reminder in the ring
	ring   []controlItem
	head   int
	n      int
}

// controlItem is a message, or the reminder of a pause for msg.Priority.
type controlItem struct {
	isPause bool
	isHello bool
	isRate  bool // the reminder of a rate of msg.Priority; see gentle.go
	msg     itsyhdr.TLV
	payload string     // of a message that is no TLV; "" otherwise
	hello   auth.Hello // if isHello
}

// clear empties the queue. The ring stays, for the next time that the link is up.
func (q *controlQueue) clear() { q.pauses, q.head, q.n = 0, 0, 0 }

// pause reminds of a pause for c; one reminder is enough.
func (q *controlQueue) pause(c unit.Priority) {
	if q.pauses.Has(c) {
		return
	}
	q.pauses.Add(c)
	q.push(controlItem{isPause: true, msg: itsyhdr.TLV{Priority: c}})
}

// message appends a message; false if messagesMax wait already. Reminders do not count: no number
// of messages keeps a pause out.
func (q *controlQueue) message(it controlItem) bool {
	if q.n-q.pauses.Len() >= messagesMax {
		return false
	}
	q.push(it)
	return true
}

func (q *controlQueue) push(it controlItem) {
	if q.n == len(q.ring) {
		// Grows with what waits, messagesMax messages and 8 reminders at most.
		ring := make([]controlItem, max(16, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = it
	q.n++
}

// pop takes the oldest; n must not be 0.
func (q *controlQueue) pop() controlItem {
	it := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	// From here on a change of the priority group needs a frame of its own.
	if it.isPause {
		q.pauses &^= 1 << it.msg.Priority
	}
	return it
}

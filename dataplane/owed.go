package dataplane

import (
	"math/bits"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// owed is what a port owes its far end, in order: at most one pause a class, and
// messages. A pause is a reminder without content; a message is complete.
type owed struct {
	pauses unit.ClassSet // classes with a reminder in the ring
	ring   []owedItem
	head   int
	n      int
}

// owedItem is a message, or the reminder of a pause for msg.Class.
type owedItem struct {
	isPause bool
	msg     itsyhdr.TLV
	payload string // of a message that is no TLV; "" otherwise
}

// clear forgets everything that is owed.
func (o *owed) clear() { o.pauses, o.head, o.n = 0, 0, 0 }

// pause reminds of a pause for c; one reminder is enough.
func (o *owed) pause(c unit.Priority) {
	if o.pauses.Has(c) {
		return
	}
	o.pauses.Add(c)
	o.push(owedItem{isPause: true, msg: itsyhdr.TLV{Class: c}})
}

// message appends a message; false if messagesMax wait already.
func (o *owed) message(it owedItem) bool {
	if o.n-o.pauses.Len() >= messagesMax {
		return false
	}
	o.push(it)
	return true
}

func (o *owed) push(it owedItem) {
	if o.n == len(o.ring) {
		// Grows with what waits, messagesMax messages and 8 reminders at most.
		ring := make([]owedItem, max(16, 2*len(o.ring)))
		for i := range o.n {
			ring[i] = o.ring[(o.head+i)%len(o.ring)]
		}
		o.ring, o.head = ring, 0
	}
	o.ring[(o.head+o.n)%len(o.ring)] = it
	o.n++
}

// pop takes the oldest; n must not be 0.
func (o *owed) pop() owedItem {
	it := o.ring[o.head]
	o.head = (o.head + 1) % len(o.ring)
	o.n--
	if it.isPause {
		o.pauses &^= 1 << it.msg.Class
	}
	return it
}

// first is the lowest class of a set that is not empty.
func first(set unit.ClassSet) unit.Priority {
	return unit.Priority(bits.TrailingZeros8(uint8(set)))
}

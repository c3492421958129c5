package dataplane

import "softswitch/unit"

// A queue that has frames, is not paused and does not send, because others always do, starves. That is
// no deadlock: it goes on when the others have nothing more to send. What is measured is the
// longest time from when another one was sent first until it sent, was paused or was empty.

// pass notes that the queues of set have to wait while another one sends.
func (p *port) pass(now unit.Time, set unit.PrioritySet) {
	for over := p.passed &^ set; over != 0; over &= over - 1 {
		p.waited(now, over.First())
	}
	for begins := set &^ p.passed; begins != 0; begins &= begins - 1 {
		p.since[begins.First()] = now
	}
	p.passed = set
}

// waitEnds ends the wait of c, if it waits: it is paused or empty now.
func (p *port) waitEnds(now unit.Time, c unit.Priority) {
	if p.passed.Has(c) {
		p.waited(now, c)
		p.passed &^= 1 << c
	}
}

func (p *port) waited(now unit.Time, c unit.Priority) {
	p.count.Starved[c] = max(p.count.Starved[c], now-p.since[c])
}

// WaitingOf is by priority for how long others have kept a queue of port n from sending, 0 if none does.
func WaitingOf(s *Switch, n unit.Port) (waiting [unit.Priorities]unit.Time) {
	p := &s.ports[n]
	for set := p.passed; set != 0; set &= set - 1 {
		c := set.First()
		waiting[c] = s.now - p.since[c]
	}
	return waiting
}

// StarvedOf is by priority the longest time that others kept a queue of port n from sending, those that last
// as long as they have lasted.
func StarvedOf(s *Switch, n unit.Port) (longest [unit.Priorities]unit.Time) {
	longest = s.ports[n].count.Starved
	for c, waits := range WaitingOf(s, n) {
		longest[c] = max(longest[c], waits)
	}
	return longest
}

package dataplane

import (
	"softswitch/detect"
	"softswitch/unit"
)

// A host that pauses a priority without end (a storm) stops all traffic to it, and in time everybody
// whose frames wait behind that. So the time for which a host may pause is bounded: each priority for
// Config.StormBudget, which refills stormShare times as fast as it is used while the queue may
// send. A slow receiver, which releases its queue a hundredth of the time, stays within it. Beyond
// it the host is contained: its pauses are not honoured, and its queue is lossy, until it has sent
// no pause for the length of the budget.

// stormShare is how many times longer a host may pause than not, for ever: 99 parts of a
// hundred, as a slow receiver does that releases its queue for a hundredth of the time. Chosen;
// see docs/security.md.
const stormShare = 99

// storm is what a host has used of its budget for a priority. free counts only while the queue is
// not paused, heard only while the host is contained.
type storm struct {
	used  unit.Time // of the budget, when the active pause began or the last one ended
	free  unit.Time // since when the queue is not paused
	heard unit.Time // when the last pause came, of a host that is contained
}

// begins: a pause is active from now on.
func (b *storm) begins(now unit.Time) {
	// Compared before it is multiplied: idle may be years, and idle x stormShare would overflow.
	if idle := now - b.free; idle < b.used/stormShare {
		b.used -= idle * stormShare
	} else {
		b.used = 0
	}
}

// ends: the active pause ended after the time lasted.
func (b *storm) ends(now, lasted unit.Time) { b.used, b.free = b.used+lasted, now }

// contain contains the host at port out in the priorities in which it is over its budget,
// releases it where it has been quiet, and returns when to look again. Preconditions: there is
// a budget.
func (s *Switch) contain(out unit.Port) (next unit.Time) {
	p := &s.ports[out]
	next = unit.Never
	for set := p.paused; set != 0; set &= set - 1 {
		c := set.First()
		// used is what had been used when this pause began, so the budget ends the rest of it
		// after since.
		at := p.pauses[c].since + max(0, s.cfg.StormBudget-p.storms[c].used)
		if at > s.now {
			next = min(next, at)
			continue
		}
		q := detect.Queue{Port: out, Priority: c}
		p.acted.contained.Add(c)
		p.storms[c].heard = s.now
		// As with actions: the priority first, then the log, then the end of the pause (unpause).
		s.note(detect.ActionContain, noPG, q, 0)
		s.unpause(q)
		next = min(next, s.now+s.cfg.StormBudget)
	}
	for set := p.acted.contained; set != 0; set &= set - 1 {
		c := set.First()
		if quiet := p.storms[c].heard + s.cfg.StormBudget; quiet > s.now {
			next = min(next, quiet)
			continue
		}
		s.release(detect.Queue{Port: out, Priority: c})
	}
	return next
}

// SetStormBudget changes for how long hosts may pause; 0 is for ever. It releases those who are
// contained: they are judged again by the new budget, from now on.
func (s *Switch) SetStormBudget(now, budget unit.Time) {
	s.now, s.cfg.StormBudget = now, budget
	for out := range s.ports {
		p := &s.ports[out]
		for set := p.acted.contained; set != 0; set &= set - 1 {
			s.release(detect.Queue{Port: unit.Port(out), Priority: set.First()})
		}
		s.ready.Add(unit.Port(out))
	}
}

// release ends the containment of the host behind q, which starts again with all of its budget.
func (s *Switch) release(q detect.Queue) {
	p := &s.ports[q.Port]
	p.acted.contained &^= 1 << q.Priority
	p.storms[q.Priority] = storm{free: s.now}
	s.note(detect.ActionRelease, noPG, q, 0)
}

// Loop Breaker, of "Unlocking Credit Loop Deadlocks" (Shpiner,
// Zahavi, Zdornov, Anker, Kadosh), section 3.2: switches that suspect a deadlock elect
// one among themselves, which sends the loop's flows another way and pushes some of
// their frames out in spite of the pause.
//
//	     upstream                   this switch                       downstream
//
//	election (SPUID) --> in    replace what is greater    out --> election, every period,
//	                           at all suspected queues             while out is suspected
//
//	own SPUID home:            Report, Avoid(in, out), Force(MTU)
//	again, while it is stuck:  Force(2 MTU), Force(3 MTU), ...
//
// Detection and election (3.2.1). A queue that a Monitor suspects draws a random
// SPUID and sends it downstream at once and in every period. A smaller one that comes
// in replaces those of all suspected queues that are greater; the port by which a
// queue's own one comes home is the loop's ingress, and its switch is the master.
//
// Rerouting (3.2.2). The master keeps what comes in at that ingress from the suspected
// egress, where the route has another port. This is never undone: the paper has the
// network not lock on the same loop again, and names no time after which it may. A
// queue draws an SPUID only if everything in it that came from other switches has
// another port; if not, it passes on the SPUIDs that come, each once a period unless it
// has passed on a smaller one.
//
// Traffic release (3.2.3). Frames that wait in the queue cannot be moved to another.
// The master sends them in spite of the pause, an MTU first and one MTU more each time
// that its SPUID comes home while nothing else moves. The next switch may have no room for
// them: what is lost there is the price that the paper names.
//
// Read in this order: this file (the state and the events), elect.go (messages, and what a master
// does).
//
// Invariants:
//   - one period, one step: a master pushes at most once a period and queue;
//   - falling SPUIDs: between two samples a queue sends, apart from what is due, only ever
//     smaller ones, so that messages die out;
//   - own queue, own SPUID: only a queue that still sends the SPUID that it drew makes
//     its switch a master by it;
//   - an SPUID by which the switch was master, and that is over, is a replay when it comes
//     again: it is dropped, and counted by the switch.
//
// What it does not do, as the paper does not. It asks for no proof that the ingress
// feeds the queue: an SPUID may come home over ports that do not wait for each other,
// and make a master where there is no deadlock. SPUIDs go downstream, so everyone who
// is stuck behind a loop sends its own into it; if the smallest is not drawn on the
// loop, no one on the loop gets its own back, and the loop stays. Nothing tells one who
// has adopted an SPUID that its owner has gone. A forged SPUID that is small does the
// same. And a loop on which no queue has an alternative is not broken at all.

package shpiner

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/unit"
)

// LoopBreakerName is the system's name in scenario files and verdicts.
const LoopBreakerName = "loopbreaker"

// lbReplaysMax is how many SPUIDs are remembered by which the switch was master.
const lbReplaysMax = 16

// loopBreaker is Loop Breaker at one switch.
type loopBreaker struct {
	system[lbQueue]
	over     [lbReplaysMax]uint32 // SPUIDs of masters that were; a ring
	overNext int
	frame    [ElectionLen]byte // a message that is being built
}

// lbQueue is what is remembered of an egress queue while it is suspected.
type lbQueue struct {
	spuid   uint32       // that it sends; 0: it passes on what comes
	passed  uint32       // the smallest that it has passed on in this period, 0 for none
	own     bool         // spuid was drawn here
	refused bool         // it was logged that nothing has another way
	from    unit.PortSet // ingress ports for which the switch is master
	stuck   unit.PortSet // of those, with nothing to be rerouted
	steps   int          // that pushed frames out
	next    unit.Time    // when to push again at the earliest
}

// NewLoopBreaker is the Factory of Loop Breaker.
func NewLoopBreaker(v detect.View, a detect.Actions) detect.Detector {
	return &loopBreaker{system: newSystem[lbQueue](v, a)}
}

func (s *loopBreaker) Name() string { return LoopBreakerName }

func (s *loopBreaker) Deadline() unit.Time { return s.monitor.Due() }

// Tick is the end of a period: each queue that is still suspected sends.
func (s *loopBreaker) Tick(now unit.Time) {
	s.monitor.Sample(now)
	for c, k := range s.priorities.lossless() {
		suspects := s.monitor.Suspects(c)
		for set := k.suspects.Without(suspects); !set.Empty(); set.Pop() {
			s.clear(k, detect.Queue{Port: set.First(), Priority: c})
		}
		k.suspects = suspects
		for set := suspects; !set.Empty(); set.Pop() {
			s.send(k, detect.Queue{Port: set.First(), Priority: c})
		}
	}
}

// clear forgets q, which moves again.
func (s *loopBreaker) clear(k *perPriority[lbQueue], q detect.Queue) {
	e := &k.queues[q.Port]
	s.retire(e)
	if e.steps > 0 {
		s.act.Force(detect.PG{Port: e.from.First(), Priority: q.Priority}, q, 0)
	}
	*e = lbQueue{}
}

// retire remembers the SPUID of e, which e will not send any more, if the switch was
// master by it.
func (s *loopBreaker) retire(e *lbQueue) {
	if e.own && !e.from.Empty() {
		s.over[s.overNext] = e.spuid
		s.overNext = (s.overNext + 1) % lbReplaysMax
	}
}

// StateBytes is the size of all that the system remembers.
func (s *loopBreaker) StateBytes() int { return s.size() + int(unsafe.Sizeof(s.over)) }

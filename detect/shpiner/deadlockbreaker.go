// Deadlock Breaker, of "Unlocking Credit Loop Deadlocks"
// (Shpiner, Zahavi, Zdornov, Anker, Kadosh), section 3.3: a message walks round a
// suspected loop and back to its start, and then once more, and on that second lap
// every switch makes room for the loop's frames, and for these alone, for some time.
//
//	     upstream                      this switch                      downstream
//
//	detection: path --> in    add (SPUID, out); out suspected,    out --> detection: path
//	                          and holds frames of in
//
//	with an own SPUID:        Report; from here on: release
//
//	release: path  --> in     Restrict(in, out), Extra(in)        out --> release: path
//	                          until the time is over                      index + 1
//
// Detection. A queue that a Monitor suspects sends, at once and in every period,
// a path that begins with itself. A switch that gets a path adds one of its suspected queues that hold frames
// of the port by which it came, a random one if there are several. A switch that finds itself in the path has
// found a loop: from its own hop on. What lies before is a way that leads into the loop.
//
// Release. The switch that found the loop is the first hop of the second lap. At each
// hop the egress sends only frames of the loop's ingress, and the ingress priority group is given the extra
// threshold that makes it resume, and an MTU more: Charged - XON + MTU. So no frame is lost and none is
// pushed: the pauses end, hop by hop. The paper leaves the time to the operator; here it is 32 hops
// (detect.View.Hop). Then both are taken back, and if the loop locks again, all of this begins again.
//
// Read in this order: this file (the state and the events), walk.go (the first lap),
// release.go (the second lap, and its end).
//
// Invariants:
//   - lossless: an action is room in the shared pool or an order among frames;
//     where the pool has too little, nothing is done;
//   - one release a priority group and queue: while one is active, others change nothing;
//   - each ends: what was restricted is freed and extra thresholds end when their time is over;
//   - a nonce is released once: a release that was seen before is dropped, and counted by
//     the switch.
//
// What it does not do, as the paper does not. It does not remove the loop, which locks
// again while the flows last; it moves it on. It handles one loop through a priority group or a
// queue at a time. Every switch of a loop finds it by its own messages: those that do
// at nearly the same time all report it, though the release of the first has ended the
// deadlock when the others do. And the second lap trusts the first: a loop that was
// false, because what was seen hop by hop was never true at once, is released as well.

package shpiner

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/unit"
)

// DeadlockBreakerName is the system's name in scenario files and verdicts.
const DeadlockBreakerName = "deadlockbreaker"

// releaseHops is how long a release is active, in hops.
const releaseHops = 32

// dbReplaysMax is how many releases are remembered by their nonces.
const dbReplaysMax = 64

// deadlockBreaker is Deadlock Breaker at one switch.
type deadlockBreaker struct {
	system[dbQueue]
	released [unit.Priorities]dbReleased
	ends     unit.Time            // when the next release ends; Never if none is active
	seen     [dbReplaysMax]uint32 // nonces of releases; a ring
	seenNext int
	frame    [detect.PayloadMax]byte // a message that is being built
	hops     [MaxHops]Hop            // of a message that is being read
}

// dbReleased is at which queues of a priority a release is active, and of which priority groups.
type dbReleased struct{ queues, borrowers unit.PortSet }

// dbQueue is what is remembered of an egress queue.
type dbQueue struct {
	spuid    uint32    // of its last suspicion, 0 for none yet
	reported bool      // a loop through it was found in this suspicion
	ingress  unit.Port // of the active release
	until    unit.Time // its end
}

// NewDeadlockBreaker is the Factory of Deadlock Breaker.
func NewDeadlockBreaker(v detect.View, a detect.Actions) detect.Detector {
	return &deadlockBreaker{system: newSystem[dbQueue](v, a), ends: unit.Never}
}

func (s *deadlockBreaker) Name() string { return DeadlockBreakerName }

func (s *deadlockBreaker) Deadline() unit.Time { return min(s.monitor.Due(), s.ends) }

// Tick is the end of a release, or of a period.
func (s *deadlockBreaker) Tick(now unit.Time) {
	if s.ends <= now {
		s.endReleases(now)
	}
	if s.monitor.Due() <= now {
		s.sample(now)
	}
}

// sample makes every suspected queue send, with a new SPUID if it was not suspected
// before.
func (s *deadlockBreaker) sample(now unit.Time) {
	s.monitor.Sample(now)
	for c, k := range s.priorities.lossless() {
		before := k.suspects
		k.suspects = s.monitor.Suspects(c)
		for set := k.suspects; !set.Empty(); set.Pop() {
			p := set.First()
			if !before.Has(p) {
				k.queues[p].spuid, k.queues[p].reported = s.random.ID(), false
			}
			s.begin(k, detect.Queue{Port: p, Priority: c})
		}
	}
}

// StateBytes is the size of all that the system remembers.
func (s *deadlockBreaker) StateBytes() int {
	return s.size() + int(unsafe.Sizeof(s.seen)) + s.view.Lossless().Len()*int(unsafe.Sizeof(dbReleased{}))
}

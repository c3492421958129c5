package deadlockbreaker

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/detect/clcm"
	"softswitch/detect/stall"
	"softswitch/internal/splitmix"
	"softswitch/unit"
)

// Name is the system's name in scenario files and verdicts.
const Name = "deadlockbreaker"

// releaseHops is how long a release is in force, in hops.
const releaseHops = 32

// replaysMax is how many releases are remembered by their nonces.
const replaysMax = 64

// system is Deadlock Breaker at one switch.
type system struct {
	detect.None // what it has no use for: pauses, labels, ITSY's messages
	view        detect.View
	act         detect.Actions
	monitor     *stall.Monitor
	random      splitmix.Rand
	classes     [unit.Priorities]*class
	ends        unit.Time          // when the next release ends; Never if none is in force
	seen        [replaysMax]uint32 // nonces of releases; a ring
	seenNext    int
	frame       [detect.PayloadMax]byte // a message that is being built
	hops        [clcm.MaxHops]clcm.Hop  // of a message that is being read
}

// class is what is remembered of a lossless class.
type class struct {
	queues    []queue      // by port
	suspects  unit.PortSet // at the last sample
	released  unit.PortSet // queues at which a release is in force
	borrowers unit.PortSet // buckets of which one is in force
}

// queue is what is remembered of an egress queue.
type queue struct {
	spuid    uint32    // of its last suspicion, 0 for none yet
	reported bool      // a loop through it was found in this suspicion
	ingress  unit.Port // of the release in force
	until    unit.Time // its end
}

// New is the Factory of Deadlock Breaker.
func New(v detect.View, a detect.Actions) detect.Detector {
	s := &system{view: v, act: a, monitor: stall.NewMonitor(v), random: splitmix.Rand(v.Self()) << 32, ends: unit.Never}
	for c := range unit.Priority(unit.Priorities) {
		if v.Lossless().Has(c) {
			s.classes[c] = &class{queues: make([]queue, v.Ports())}
		}
	}
	return s
}

func (s *system) Name() string { return Name }

// Enqueue: there is something to sample.
func (s *system) Enqueue(now unit.Time, _ detect.Bucket, _ detect.Queue, _ detect.FlowID, _ int) {
	s.monitor.Queued(now)
}

func (s *system) Deadline() unit.Time { return min(s.monitor.Due(), s.ends) }

// Tick is the end of a release, or of a period.
func (s *system) Tick(now unit.Time) {
	if s.ends <= now {
		s.endReleases(now)
	}
	if s.monitor.Due() <= now {
		s.sample(now)
	}
}

// sample lets whoever is suspected send, with a new SPUID if it was not before.
func (s *system) sample(now unit.Time) {
	s.monitor.Sample(now)
	for c, k := range s.classes {
		if k == nil {
			continue
		}
		before := k.suspects
		k.suspects = s.monitor.Suspects(unit.Priority(c))
		for set := k.suspects; set != 0; set &= set - 1 {
			p := set.First()
			if !before.Has(p) {
				k.queues[p].spuid, k.queues[p].reported = s.random.ID(), false
			}
			s.begin(k, detect.Queue{Port: p, Class: unit.Priority(c)})
		}
	}
}

// StateBytes is the size of all that the system remembers.
func (s *system) StateBytes() int {
	n := s.monitor.StateBytes() + int(unsafe.Sizeof(s.seen)+unsafe.Sizeof(s.random))
	for _, k := range s.classes {
		if k != nil {
			n += int(unsafe.Sizeof(*k)) + len(k.queues)*int(unsafe.Sizeof(queue{}))
		}
	}
	return n
}

package loopbreaker

import (
	"unsafe"

	"softswitch/detect"
	"softswitch/detect/clcm"
	"softswitch/detect/stall"
	"softswitch/internal/splitmix"
	"softswitch/unit"
)

// Name is the system's name in scenario files and verdicts.
const Name = "loopbreaker"

// replaysMax is how many SPUIDs are remembered by which the switch was master.
const replaysMax = 16

// system is Loop Breaker at one switch.
type system struct {
	detect.None // what it has no use for: pauses, labels, ITSY's messages
	view        detect.View
	act         detect.Actions
	monitor     *stall.Monitor
	random      splitmix.Rand
	classes     [unit.Priorities]*class
	over        [replaysMax]uint32 // SPUIDs of masters that were; a ring
	overNext    int
	frame       [clcm.ElectionLen]byte // a message that is being built
}

// class is what is remembered of a lossless class.
type class struct {
	queues   []queue      // by port
	suspects unit.PortSet // that have state in queues
}

// queue is what is remembered of an egress queue while it is suspected.
type queue struct {
	spuid   uint32       // that it sends; 0: it passes on what comes
	passed  uint32       // the smallest that it has passed on in this period, 0 for none
	own     bool         // spuid was drawn here
	refused bool         // it was logged that nothing has another way
	from    unit.PortSet // ingress ports for which the switch is master
	stuck   unit.PortSet // of those, with nothing to be rerouted
	steps   int          // that pushed frames out
	next    unit.Time    // when to push again at the earliest
}

// New is the Factory of Loop Breaker.
func New(v detect.View, a detect.Actions) detect.Detector {
	s := &system{view: v, act: a, monitor: stall.NewMonitor(v), random: splitmix.Rand(v.Self()) << 32}
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

func (s *system) Deadline() unit.Time { return s.monitor.Due() }

// Tick is the end of a period: whoever is still suspected sends.
func (s *system) Tick(now unit.Time) {
	s.monitor.Sample(now)
	for c, k := range s.classes {
		if k == nil {
			continue
		}
		suspects := s.monitor.Suspects(unit.Priority(c))
		for set := k.suspects &^ suspects; set != 0; set &= set - 1 {
			s.clear(k, detect.Queue{Port: set.First(), Class: unit.Priority(c)})
		}
		k.suspects = suspects
		for set := suspects; set != 0; set &= set - 1 {
			s.send(k, detect.Queue{Port: set.First(), Class: unit.Priority(c)})
		}
	}
}

// clear forgets q, which moves again.
func (s *system) clear(k *class, q detect.Queue) {
	e := &k.queues[q.Port]
	s.retire(e)
	if e.steps > 0 {
		s.act.Force(detect.Bucket{Port: e.from.First(), Class: q.Class}, q, 0)
	}
	*e = queue{}
}

// retire remembers the SPUID of e, which e will not send any more, if the switch was
// master by it.
func (s *system) retire(e *queue) {
	if e.own && e.from != 0 {
		s.over[s.overNext] = e.spuid
		s.overNext = (s.overNext + 1) % replaysMax
	}
}

// StateBytes is the size of all that the system remembers.
func (s *system) StateBytes() int {
	n := s.monitor.StateBytes() + int(unsafe.Sizeof(s.over)+unsafe.Sizeof(s.random))
	for _, k := range s.classes {
		if k != nil {
			n += int(unsafe.Sizeof(*k)) + len(k.queues)*int(unsafe.Sizeof(queue{}))
		}
	}
	return n
}

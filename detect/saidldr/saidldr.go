package saidldr

import (
	"fmt"
	"unsafe"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Name in scenario files and verdicts.
const Name = "sai-dldr"

// Config is the two intervals, which SAI has in milliseconds and by traffic class. Here
// they are the same for all classes.
type Config struct {
	Detection unit.Time // SAI_SWITCH_ATTR_PFC_TC_DLD_INTERVAL
	Recovery  unit.Time // SAI_SWITCH_ATTR_PFC_TC_DLR_INTERVAL
}

// Default is 200 ms each.
func Default() Config {
	return Config{Detection: 200 * unit.Millisecond, Recovery: 200 * unit.Millisecond}
}

// New makes the detector with the default intervals; it is a detect.Factory.
func New(v detect.View, a detect.Actions) detect.Detector { return newDLDR(Default(), v, a) }

// Factory makes detectors with these intervals. It panics if one is not above 0.
func (c Config) Factory() detect.Factory {
	if c.Detection <= 0 || c.Recovery <= 0 {
		panic(fmt.Sprintf("saidldr: detection interval of %d ns, recovery interval of %d ns: want above 0", c.Detection, c.Recovery))
	}
	return func(v detect.View, a detect.Actions) detect.Detector { return newDLDR(c, v, a) }
}

type dldr struct {
	detect.None
	cfg    Config
	view   detect.View
	act    detect.Actions
	next   unit.Time                // no timer runs out before
	queues [unit.Priorities][]queue // by class and port; nil for a lossy class
}

// queue is what is known of one queue.
type queue struct {
	timer      unit.Time // when it is detected or, in recovery, restored; unit.Never if it is not paused
	recovering bool
}

// newDLDR allocates all its state and nothing later.
func newDLDR(c Config, v detect.View, a detect.Actions) *dldr {
	d := &dldr{cfg: c, view: v, act: a, next: unit.Never}
	for set := v.Lossless(); set != 0; set &= set - 1 {
		of := make([]queue, v.Ports())
		for p := range of {
			of[p].timer = unit.Never
		}
		d.queues[set.First()] = of
	}
	return d
}

// Name is Name.
func (d *dldr) Name() string { return Name }

// StateBytes is the size of what is kept of all queues.
func (d *dldr) StateBytes() (n int) {
	for _, of := range d.queues {
		n += len(of) * int(unsafe.Sizeof(queue{}))
	}
	return n
}

// Pause starts the timer of a queue that was not paused.
func (d *dldr) Pause(now unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	if fresh {
		d.start(q, now+d.cfg.Detection)
	}
}

// Resume stops the timer, unless it is that of the recovery, which ends the pause itself.
func (d *dldr) Resume(_ unit.Time, q detect.Queue, _ bool) {
	if s := d.of(q); !s.recovering {
		s.timer = unit.Never
	}
}

// Deadline is when the first timer may run out.
func (d *dldr) Deadline() unit.Time { return d.next }

// Tick detects and restores the queues whose timer has run out.
func (d *dldr) Tick(now unit.Time) {
	d.next = unit.Never
	for class, of := range d.queues {
		for port := range of {
			q := detect.Queue{Port: unit.Port(port), Class: unit.Priority(class)}
			switch s := &of[port]; {
			case s.timer > now:
				d.next = min(d.next, s.timer)
			case s.recovering:
				s.recovering, s.timer = false, unit.Never
				d.act.Flush(q, false)
			default:
				s.recovering = true
				d.start(q, now+d.cfg.Recovery)
				d.act.Report(detect.Finding{Bucket: detect.Largest(d.view, q), Queue: q})
				d.act.Flush(q, true)
			}
		}
	}
}

func (d *dldr) start(q detect.Queue, until unit.Time) {
	d.of(q).timer = until
	d.next = min(d.next, until)
}

func (d *dldr) of(q detect.Queue) *queue { return &d.queues[q.Class][q.Port] }

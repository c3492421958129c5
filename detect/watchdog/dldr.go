// SAI's DLDR is the PFC deadlock detection and recovery (DLDR) that SAI, the
// Switch Abstraction Interface, asks of a switch chip: a timer for each lossless queue,
// and nothing else. A queue that is XOFF for longer than the detection interval is
// assumed to be in a deadlock. Then, for the recovery interval, it honours no pause and
// all its packets are dropped, those that wait and those that come; and it is normal
// again, without a look at whether that helped.
//
//	 paused      resumed  paused                        still paused: the next pause frame
//	---+-----------+--------+-------------------+---------------+--------------> time
//	   |  not long enough   | detection         | recovery      |
//	                                            Report, Flush   Flush ends
//
// The words are those of SAI's headers, inc/saiswitch.h and inc/saiport.h:
// SAI_SWITCH_ATTR_PFC_TC_DLD_INTERVAL ("in XOFF state for more than this duration"),
// SAI_PORT_ATTR_PFC_TC_DLR_INTERVAL ("will run for this amount of time and then normal
// state will resume"; a deadlock that is still there is detected again after the
// detection interval) and SAI_SWITCH_ATTR_PFC_DLR_PACKET_ACTION, by default drop, of
// "buffered and incoming packets on queue". SAI has no default intervals. Here they are
// those of `pfcwd start_default`, which SONiC hands to the chip where its watchdog is the
// chip's (doc/pfcwd/pfc_hardware_recovery_hld.md): 200 ms each.
//
// Read in this order: Config, New, Pause and Resume, Tick.
//
// Invariants:
//   - a queue is detected only if one pause, or several with no gap, was active for all of
//     the detection interval;
//   - a queue in recovery is restored when the recovery interval is over, whatever came;
//   - the state is one time and one bit for each queue.
//
// What it gets wrong, because a timer is all it has: it knows neither bytes nor loops,
// so an empty queue in front of a host that pauses is a deadlock too, and so is every
// victim; a pause that flickers is none, though nothing may get through; the queues of a
// loop time out one after another, and each is emptied though the first may have been
// enough; and the same flows may close the loop again once the queues are back.
//
// Where it differs from a chip: the timer is exact, where a chip counts in steps of 1, 10
// or 100 ms (SAI_PORT_ATTR_PFC_TC_DLD_TIMER_INTERVAL).
//
// What it does not do: it sends nothing and hears no labels, and it has no action forward.

package watchdog

import (
	"fmt"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// DLDRName is the detector's name in scenario files and verdicts.
const DLDRName = "sai-dldr"

// DLDRConfig is the two intervals, which SAI has in milliseconds and by traffic class. Here
// they are the same for all priorities.
type DLDRConfig struct {
	Detection unit.Time // SAI_SWITCH_ATTR_PFC_TC_DLD_INTERVAL
	Recovery  unit.Time // SAI_SWITCH_ATTR_PFC_TC_DLR_INTERVAL
}

// DefaultDLDR is 200 ms each.
func DefaultDLDR() DLDRConfig {
	return DLDRConfig{Detection: 200 * unit.Millisecond, Recovery: 200 * unit.Millisecond}
}

// NewDLDR makes the detector with the default intervals; it is a detect.Factory.
func NewDLDR(v detect.View, a detect.Actions) detect.Detector { return newDLDR(DefaultDLDR(), v, a) }

// Factory makes detectors with these intervals. It panics if one is not above 0.
func (c DLDRConfig) Factory() detect.Factory {
	if c.Detection <= 0 || c.Recovery <= 0 {
		panic(fmt.Sprintf("saidldr: detection interval of %d ns, recovery interval of %d ns: want above 0", c.Detection, c.Recovery))
	}
	return func(v detect.View, a detect.Actions) detect.Detector { return newDLDR(c, v, a) }
}

type dldr struct {
	detect.None
	cfg    DLDRConfig
	view   detect.View
	act    detect.Actions
	next   unit.Time // no timer runs out before
	queues perQueue[dldrQueue]
}

// dldrQueue is what is known of one queue.
type dldrQueue struct {
	timer      unit.Time // when it is detected or, in recovery, restored; unit.Never if it is not paused
	recovering bool
}

// newDLDR allocates all its state and nothing later.
func newDLDR(c DLDRConfig, v detect.View, a detect.Actions) *dldr {
	return &dldr{cfg: c, view: v, act: a, next: unit.Never, queues: newPerQueue(v, dldrQueue{timer: unit.Never})}
}

func (d *dldr) Name() string { return DLDRName }

// StateBytes is the size of what is kept of all queues.
func (d *dldr) StateBytes() int { return d.queues.size() }

// Pause starts the timer of a queue that was not paused.
func (d *dldr) Pause(now unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	if fresh {
		d.start(q, now+d.cfg.Detection)
	}
}

// Resume stops the timer, unless it is that of the recovery, which ends the pause itself.
func (d *dldr) Resume(_ unit.Time, q detect.Queue, _ bool) {
	if s := d.queues.of(q); !s.recovering {
		s.timer = unit.Never
	}
}

// Deadline is when the first timer may run out.
func (d *dldr) Deadline() unit.Time { return d.next }

// Tick detects and restores the queues whose timer has run out.
func (d *dldr) Tick(now unit.Time) {
	d.next = unit.Never
	for priority, of := range d.queues {
		for port := range of {
			q := detect.Queue{Port: unit.Port(port), Priority: unit.Priority(priority)}
			switch s := &of[port]; {
			case s.timer > now:
				d.next = min(d.next, s.timer)
			case s.recovering:
				s.recovering, s.timer = false, unit.Never
				d.act.Flush(q, false)
			default:
				s.recovering = true
				d.start(q, now+d.cfg.Recovery)
				d.act.Report(detect.Finding{PG: detect.Largest(d.view, q), Queue: q})
				d.act.Flush(q, true)
			}
		}
	}
}

func (d *dldr) start(q detect.Queue, until unit.Time) {
	d.queues.of(q).timer = until
	d.next = min(d.next, until)
}

// What both systems of "Unlocking Credit Loop Deadlocks" (Shpiner
// et al.) begin with: which egress queues are suspected of a deadlock (section 3.2.1).
//
//	every period:  bytes left, backlog  -->  Monitor  -->  suspects of each priority
//
// A queue is suspected when, for the whole of the suspect time, no byte left it and
// some waited in it. The paper leaves that time to the operator: "hundreds of
// milliseconds" is usual, it says; in its own simulation a loop that locks at 80 us is
// resolved at 120 us. Here both times are in hops (detect.View.Hop), which is a few
// microseconds in a simulated fabric and more than half a millisecond live: a
// sample every 4 hops, suspected after 4 samples.
//
// Invariants:
//   - a queue is suspected only if a sample of this instant found it so;
//   - a byte that leaves ends the suspicion at the next sample, unless it was pushed out
//     in spite of a pause and Discount was told so.
//
// What it does not do: it samples no queue that leads to a host or whose link is down.
// No credit loop passes these, and no message would come back from there.

package shpiner

import (
	"softswitch/detect"
	"softswitch/unit"
)

// Times in hops.
const (
	PeriodHops  = 4 // from a sample to the next
	SuspectHops = 4 * PeriodHops
)

const samples = SuspectHops / PeriodHops

// Monitor samples the queues of one switch. Make it with NewMonitor.
type Monitor struct {
	view       detect.View
	period     unit.Time
	due        unit.Time
	priorities priorities[stallQueue]
}

// stallQueue is what is remembered of an egress queue.
type stallQueue struct {
	left   uint64 // at the last sample that found it moving
	pushed uint64 // bytes that may have left since and prove nothing
	stuck  int    // samples in a row that found it stuck
}

// NewMonitor is a Monitor that has seen nothing.
func NewMonitor(v detect.View) *Monitor {
	return &Monitor{view: v, period: PeriodHops * v.Hop(), due: unit.Never, priorities: newPriorities[stallQueue](v)}
}

// Period is the time from a sample to the next.
func (m *Monitor) Period() unit.Time { return m.period }

// Queued says that a frame was queued: there is something to sample from now on.
func (m *Monitor) Queued(now unit.Time) {
	if m.due == unit.Never {
		m.due = now + m.period
	}
}

// Due is when to call Sample, unit.Never while nothing waits.
func (m *Monitor) Due() unit.Time { return m.due }

// Sample looks at all queues, and sets when to look again.
func (m *Monitor) Sample(now unit.Time) {
	waiting := false
	for c, k := range m.priorities.lossless() {
		k.suspects = unit.PortSet{}
		for p := range k.queues {
			q := detect.Queue{Port: unit.Port(p), Priority: c}
			k.queues[p].sample(m.view, q)
			waiting = waiting || m.view.Backlog(q) > 0
			if k.queues[p].stuck >= samples {
				k.suspects.Add(q.Port)
			}
		}
	}
	if m.due = unit.Never; waiting {
		m.due = now + m.period
	}
}

func (k *stallQueue) sample(v detect.View, q detect.Queue) {
	left := v.Left(q)
	if left > k.left+k.pushed || v.Backlog(q) == 0 || v.FacesHost(q.Port) || !v.LinkUp(q.Port) {
		*k = stallQueue{left: left}
		return
	}
	k.stuck = min(k.stuck+1, samples)
}

// Suspects are the ports whose queues of priority c the last sample suspected; none of a
// priority that is not lossless.
func (m *Monitor) Suspects(c unit.Priority) unit.PortSet {
	if k := m.priorities[c]; k != nil {
		return k.suspects
	}
	return unit.PortSet{}
}

// Discount says that up to this many bytes will leave q, whose priority is lossless, and
// prove nothing: they are pushed out in spite of a pause.
func (m *Monitor) Discount(q detect.Queue, bytes int) {
	m.priorities[q.Priority].queues[q.Port].pushed += uint64(bytes)
}

// StateBytes is the size of the Monitor's state.
func (m *Monitor) StateBytes() int { return m.priorities.size() }

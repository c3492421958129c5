package shpiner

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// alone is a Monitor as a system that does nothing but sample.
type alone struct {
	detect.None
	*Monitor
}

func (a alone) Enqueue(now unit.Time, _ detect.PG, _ detect.Queue, _ detect.FlowID, _ int) {
	a.Queued(now)
}
func (a alone) Deadline() unit.Time { return a.Due() }
func (a alone) Tick(now unit.Time)  { a.Sample(now) }
func (a alone) StateBytes() int     { return a.Monitor.StateBytes() }

// stallScript is a switch with a Monitor, which has no messages.
type stallScript struct {
	*script[struct{}]
	*Monitor
}

func newStallScript(t *testing.T) (sc stallScript) {
	sc.script = newScript[struct{}](t, func(v detect.View, _ detect.Actions) detect.Detector {
		sc.Monitor = NewMonitor(v)
		return alone{Monitor: sc.Monitor}
	}, nil, nil)
	return sc
}

func (sc stallScript) want(at unit.Time, ports ...unit.Port) {
	sc.Helper()
	sc.To(at)
	var want unit.PortSet
	for _, p := range ports {
		want.Add(p)
	}
	if got := sc.Suspects(priority); got != want {
		sc.Errorf("at %d us ports %b are suspected, want %b", at/unit.Microsecond, got, want)
	}
}

// Section 3.2.1: zero throughput and a queue that is not empty, for the whole time.
func TestStuckForTheWholeTime(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 1000)
	sc.want(whole - 1)
	sc.want(whole, p)
	sc.want(10*whole, p)
}

func TestThroughputEndsSuspicion(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 1000)
	sc.want(whole, p)
	sc.Leave(b, p, 1)
	sc.want(whole + period)
	sc.want(2 * whole)
	sc.want(2*whole+period, p)
}

func TestOneByteBeforeTheTimeIsOver(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 1000)
	sc.want(whole - 1)
	sc.Leave(b, p, 1)
	sc.want(whole)
	sc.want(2*whole - 1)
	sc.want(2*whole, p)
}

func TestEmptyQueueIsNotSuspected(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 1000)
	sc.want(whole, p)
	sc.Leave(b, p, 1000)
	sc.want(2 * whole)
	if due := sc.Due(); due != unit.Never {
		t.Errorf("nothing waits, and the next sample is at %d, want never", due)
	}
	sc.Enqueue(p, p2, 1)
	sc.want(3*whole, p2)
}

// Pushed bytes prove nothing; one more does.
func TestDiscount(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 10_000)
	sc.want(whole, p)
	sc.Discount(detect.Queue{Port: p, Priority: priority}, 3000)
	sc.Leave(b, p, 3000)
	sc.want(whole+period, p)
	sc.Leave(b, p, 1)
	sc.want(whole + 2*period)
}

// A queue towards a host or with its link down is nobody's loop.
func TestHostsAndDeadLinks(t *testing.T) {
	sc := newStallScript(t)
	sc.Down.Add(p2)
	for out := range detecttest.RingPorts {
		sc.Enqueue(b, out, 1000)
	}
	sc.want(whole, b, p)
	sc.Down.Remove(p2)
	sc.want(2*whole-period, b, p)
	sc.want(2*whole, b, p, p2)
}

func TestOtherPrioritiesHaveNoSuspects(t *testing.T) {
	sc := newStallScript(t)
	sc.Enqueue(b, p, 1000)
	sc.want(whole, p)
	for c := range unit.Priority(unit.Priorities) {
		if got := sc.Suspects(c); c != priority && !got.Empty() {
			t.Errorf("priority %d: %b, want none", c, got)
		}
	}
}

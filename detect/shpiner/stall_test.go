package shpiner_test

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/shpiner"
	"softswitch/unit"
)

const (
	stallClass = shpiner.Class
	period     = shpiner.PeriodHops * shpiner.HopTime
	whole      = shpiner.SuspectHops * shpiner.HopTime
)

// alone is a Monitor as a system that does nothing but sample.
type alone struct {
	detect.None
	*shpiner.Monitor
}

func (a alone) Enqueue(now unit.Time, _ detect.Bucket, _ detect.Queue, _ detect.FlowID, _ int) {
	a.Queued(now)
}
func (a alone) Deadline() unit.Time { return a.Due() }
func (a alone) Tick(now unit.Time)  { a.Sample(now) }
func (a alone) StateBytes() int     { return a.Monitor.StateBytes() }

type script struct {
	*testing.T
	*shpiner.Switch
	*shpiner.Monitor
}

func newScript(t *testing.T) script {
	var m *shpiner.Monitor
	s := shpiner.NewSwitch(func(v detect.View, _ detect.Actions) detect.Detector {
		m = shpiner.NewMonitor(v)
		return alone{Monitor: m}
	}, 1, 4)
	return script{t, s, m}
}

func (sc script) want(at unit.Time, ports ...unit.Port) {
	sc.Helper()
	sc.To(at)
	var want unit.PortSet
	for _, p := range ports {
		want.Add(p)
	}
	if got := sc.Suspects(stallClass); got != want {
		sc.Errorf("at %d us ports %b are suspected, want %b", at/unit.Microsecond, got, want)
	}
}

// Section 3.2.1: zero throughput and a queue that is not empty, for the whole time.
func TestStuckForTheWholeTime(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 1000)
	sc.want(whole - 1)
	sc.want(whole, 1)
	sc.want(10*whole, 1)
}

func TestThroughputEndsSuspicion(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 1000)
	sc.want(whole, 1)
	sc.Leave(0, 1, 1)
	sc.want(whole + period)
	sc.want(2 * whole)
	sc.want(2*whole+period, 1)
}

func TestOneByteBeforeTheTimeIsOver(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 1000)
	sc.want(whole - 1)
	sc.Leave(0, 1, 1)
	sc.want(whole)
	sc.want(2*whole - 1)
	sc.want(2*whole, 1)
}

func TestEmptyQueueIsNotSuspected(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 1000)
	sc.want(whole, 1)
	sc.Leave(0, 1, 1000)
	sc.want(2 * whole)
	if due := sc.Due(); due != unit.Never {
		t.Errorf("nothing waits, and the next sample is at %d, want never", due)
	}
	sc.Hold(2, 3, 1)
	sc.want(3*whole, 3)
}

// Pushed bytes prove nothing; one more does.
func TestDiscount(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 10_000)
	sc.want(whole, 1)
	sc.Discount(detect.Queue{Port: 1, Class: stallClass}, 3000)
	sc.Leave(0, 1, 3000)
	sc.want(whole+period, 1)
	sc.Leave(0, 1, 1)
	sc.want(whole + 2*period)
}

// A queue towards a host or with its link down is nobody's loop.
func TestHostsAndDeadLinks(t *testing.T) {
	sc := newScript(t)
	sc.Hosts.Add(1)
	sc.Down.Add(2)
	for p := range unit.Port(4) {
		sc.Hold(0, p, 1000)
	}
	sc.want(whole, 0, 3)
	sc.Down.Remove(2)
	sc.want(2*whole-period, 0, 3)
	sc.want(2*whole, 0, 2, 3)
}

func TestOtherClassesHaveNoSuspects(t *testing.T) {
	sc := newScript(t)
	sc.Hold(0, 1, 1000)
	sc.want(whole, 1)
	for c := range unit.Priority(unit.Priorities) {
		if got := sc.Suspects(c); c != stallClass && got != 0 {
			t.Errorf("class %d: %b, want none", c, got)
		}
	}
}

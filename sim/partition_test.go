package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/internal/progress"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// Windows longer than the links' delay would be another simulation: the test of the traces
// sees it.
func TestWindowsThatAreTooLong(t *testing.T) {
	p := plan(t, permutation("300us"))
	want := run(t, p, 7, nil)
	for factor, same := range map[unit.Time]bool{1: true, 20: false} {
		tr := newTracer()
		w, err := New(p, Options{Seed: 7, Detectors: detectors, Events: tr.event, Partitions: 3})
		if err != nil {
			t.Fatal(err)
		}
		w.ahead *= factor
		_, err = w.Play() // the oracle may see that times go back
		if got := fmt.Sprintf("%x", tr.sum.Sum(nil)); (err == nil && got == want.trace) != same {
			t.Errorf("%d times the delay: %v, trace %.8s, alone %v", factor, err, got, want)
		}
	}
}

// What reads the whole fabric while it is played, and links without a delay, need one
// partition.
func TestOnePartition(t *testing.T) {
	for _, c := range []struct {
		delay  string
		sample func(unit.Time, *World)
		want   int
	}{
		{"10us", nil, 2},
		{"10us", func(unit.Time, *World) {}, 1},
		{"0us", nil, 1},
	} {
		p := plan(t, strings.Replace(pair(""), "delay: 10us", "delay: "+c.delay, 1))
		w, err := New(p, Options{Detectors: detectors, Partitions: 3, Sample: c.sample, SampleAt: Every(unit.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(w.partitions); got != c.want {
			t.Errorf("delay %s, sampled %v: %d partitions, want %d", c.delay, c.sample != nil, got, c.want)
		}
	}
}

// started is a world that has begun, and whose log the oracle replays.
func started(t *testing.T, p *scenario.Plan, opt Options) *World {
	t.Helper()
	w, err := New(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	f, err := verdict.Fabric(p.Fabric, verdict.Buffers(p))
	if err != nil {
		t.Fatal(err)
	}
	w.log = recorder{replay: oracle.NewReplay(f)}
	w.start()
	return w
}

// TestLastFloodedFrame: where an action takes out the last flooded frame of a switch, the oracle is told what
// is left of its priority group, as it was told of the frame.
func TestLastFloodedFrame(t *testing.T) {
	p := plan(t, `
name: flooded
topology:
  switches: [s1, s2]
  hosts: [h1, h2, h3, h4]
  links: [s1--h1, s1--h2, s1--s2, s2--h3, s2--h4]
  rate: 1Gbit/s
  delay: 1us
dead: [h3]
flows:
  - {name: A, from: h1, to: h3, rate: line, frame: 1000, start: 50us, stop: 55us}
  - {name: B, from: h2, to: h4, rate: line, start: 150us}
events:
  - {at: 10us, do: storm, host: h4, priority: 3, for: 5ms}
duration: 5ms
`)
	act := map[unit.NodeID]detect.Actions{}
	spy := func(v detect.View, a detect.Actions) detect.Detector {
		act[v.Self()] = a
		return detect.NewNone(v, a)
	}
	w := started(t, p, Options{Detectors: map[string]detect.Factory{"itsy": spy}})
	s2, _ := p.Fabric.Node("s2")
	n := &w.nodes[s2]
	b, q := detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 2, Priority: 3}
	xoff := func() bool { on, _ := n.sw.MMU().XOFF(b.Port, b.Priority); return on }
	play := func(until func() bool) {
		t.Helper()
		for !until() {
			if !w.step(p.Scenario.Duration) {
				t.Fatal("the run is over")
			}
		}
	}
	play(xoff)
	if !n.sw.HasFlooded() {
		t.Fatal("no flooded frame waits")
	}
	act[n.name.ID].Force(b, q, 1) // the first frame, which is the one of A
	n.part.work(int32(s2))
	play(func() bool { return !n.sw.HasFlooded() })
	told := n.part.log.held
	want := []dataplane.Holds{{Ports: q.Port.Set(), Priority: 3, Bytes: n.sw.MMU().Held(b.Port, b.Priority, q.Port, q.Priority)}}
	if !xoff() || len(told.pgs) != 1 || told.pgs[0].Port != b.Port || !slices.Equal(told.holds, want) {
		t.Errorf("XOFF %v; told of %v: %+v, want %+v", xoff(), told.pgs, told.holds, want)
	}
}

// An error in a partition, or of whoever watches, ends the run with it.
func TestPartitionFails(t *testing.T) {
	calls := 0
	watch := func(unit.Time) error {
		if calls++; calls < 100 {
			return nil
		}
		return errors.New("seen enough")
	}
	const few = slotsMargin + 50
	for want, opt := range map[string]Options{fmt.Sprintf("than %d slots hold", few): {Slots: few}, "seen enough": {Watch: watch}} {
		opt.Detectors, opt.Partitions, opt.Each = detectors, 4, progress.AtOnce
		w, err := New(plan(t, ring), opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

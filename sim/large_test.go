package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/internal/progress"
	"softswitch/internal/testkit"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// A fabric that is made as a large one is the fabric that a scenario makes: the
// same flows give the same trace, in any number of partitions.
func TestLargeIsTheSame(t *testing.T) {
	p := plan(t, permutation("200us"))
	want := run(t, p, 1, nil)
	l := Large{
		Name: "permutation", Fabric: p.Fabric, Detector: p.Scenario.Detector, Duration: p.Scenario.Duration,
		Link: scenario.LinkSpeed{Rate: 40e9, Faults: impair.Faults{Delay: unit.Microsecond}}, Switch: p.Switches[0].Build(detect.NewNone, 1, 0),
	}
	for _, f := range p.Scenario.Flows {
		l.Flows = append(l.Flows, LargeFlow{From: f.From, To: f.To, Priority: f.Priority})
	}
	l.Switch.Subnets, l.Switch.Routes, l.Switch.ARP, l.Switch.MAC = nil, nil, nil, nil
	for n := 1; n < 4; n++ {
		tr := newTracer()
		w, err := NewLarge(l, Options{Seed: 1, Detectors: detectors, Events: tr.event, Partitions: n, Each: progress.AtOnce})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Play(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", tr.sum.Sum(nil)); got != want.trace || tr.lines < 100 {
			t.Errorf("%d partitions: %d events, trace %s; want %d, %s", n, tr.lines, got, want.lines, want.trace)
		}
		if frames, events := w.Frames(); frames != want.frames || events != want.events {
			t.Errorf("%d partitions: %d frame-hops, %d events; want %d, %d", n, frames, events, want.frames, want.events)
		}
	}
}

// TestSharesOfRoutes: a switch of a random fabric has the same routes, in the same order, however many shares of
// the subnets are computed at once, detours included.
func TestSharesOfRoutes(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f, err := topo.Jellyfish(20, 4, 2, seed)
	if err != nil {
		t.Fatal(err)
	}
	l := Large{Fabric: f}
	for range 40 {
		flow := LargeFlow{From: 20 + r.IntN(40), To: 20 + r.IntN(40)}
		at := f.Nodes[flow.From].Ports[0].Peer.Node
		for range r.IntN(4) {
			flow.Via = append(flow.Via, at)
			at = f.Nodes[at].Ports[2+r.IntN(4)].Peer.Node
		}
		l.Flows = append(l.Flows, flow)
	}
	all := func(partitions int) string {
		shares, err := l.routes(&Options{Partitions: partitions, Each: progress.AtOnce})
		if err != nil {
			t.Fatal(err)
		}
		routes := make([][]dataplane.Route, f.Switches())
		for s := range routes {
			for _, share := range shares {
				routes[s] = append(routes[s], share[s]...)
			}
		}
		return fmt.Sprint(routes)
	}
	want := all(1)
	for n := 2; n < 50; n += 1 + r.IntN(8) {
		if got := all(n); got != want {
			t.Errorf("in %d shares:\n%s\nin one:\n%s", n, got, want)
		}
	}
}

// Watch ends a large fabric while it is built: at its routes, and at any of its machines.
func TestLargeIsWatched(t *testing.T) {
	f, err := topo.Ring(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Switch{Name: "any", ID: 1, Ports: []config.Port{{Rate: 1e9}}}
	c.Fill()
	l := Large{
		Name: "ring", Fabric: f, Detector: "none", Duration: unit.Millisecond,
		Link: scenario.LinkSpeed{Rate: 1e9, Faults: impair.Faults{Delay: unit.Microsecond}}, Switch: c.Build(detect.NewNone, 1, 0),
		Flows: []LargeFlow{{From: 5, To: 7, Priority: 3}, {From: 6, To: 8, Priority: 3}},
	}
	ended := errors.New("ended")
	for n := 1; ; n++ {
		calls := 0
		_, err := NewLarge(l, Options{Detectors: detectors, Watch: func(unit.Time) error {
			if calls++; calls == n {
				return ended
			}
			return nil
		}})
		if err == nil {
			// Two destinations, five switches and five hosts.
			if calls != 12 {
				t.Errorf("%d calls, want 12", calls)
			}
			return
		}
		if !errors.Is(err, ended) || calls != n {
			t.Fatalf("ended at call %d: %v after %d", n, err, calls)
		}
	}
}

// A flow goes by Via, whatever is shorter; a Via that is not linked is refused.
func TestLargeVia(t *testing.T) {
	f, err := topo.Ring(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	node := func(name string) int {
		i, _ := f.Node(name)
		return i
	}
	c := config.Switch{Name: "any", ID: 1, Ports: []config.Port{{Rate: 1e9}}}
	c.Fill()
	l := Large{
		Name: "ring", Fabric: f, Detector: "none", Duration: unit.Millisecond,
		Link: scenario.LinkSpeed{Rate: 1e9, Faults: impair.Faults{Delay: unit.Microsecond}}, Switch: c.Build(detect.NewNone, 1, 0),
		Flows: []LargeFlow{{From: node("h1-0"), To: node("h2-0"), Priority: 3, Via: []int{node("s1"), node("s5"), node("s4"), node("s3"), node("s2")}}},
	}
	w, err := NewLarge(l, Options{Detectors: detectors})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Play(); err != nil {
		t.Fatal(err)
	}
	for _, hop := range [][2]string{{"s1", "s5"}, {"s5", "s4"}, {"s4", "s3"}, {"s3", "s2"}, {"s2", "h2-0"}} {
		if n := w.counters(t, hop[0], hop[1]).TxFrames[3]; n < 70 {
			t.Errorf("%s sent %d frames to %s", hop[0], n, hop[1])
		}
	}
	l.Flows[0].Via = []int{node("s1"), node("s3"), node("s2")}
	if _, err := NewLarge(l, Options{Detectors: detectors}); err == nil || !strings.Contains(err.Error(), "s1 has no link to s3") {
		t.Errorf("%v; want that s1 has no link to s3", err)
	}
}

package fuzz

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// drained is a run in which nobody has sent for long.
type drained struct {
	deadlock bool // at the end, as the oracle has it
	residue  int  // bytes in priority groups at the end
	stopped  int  // queues of switches that have frames all the while that they are watched, at the end, and send none
	lost     int  // lossless frames for which there was no room
}

// drain plays a plan and watches its end.
func drain(t *testing.T, p *scenario.Plan, seed uint64, slots int, watch unit.Time) (d drained) {
	t.Helper()
	waits := map[restQueue]bool{}
	from := p.Scenario.Duration - watch
	look := func(s *dataplane.Switch, see func(restQueue)) {
		for p := range unit.Port(s.Ports()) {
			for c := range unit.Priority(unit.Priorities) {
				if s.Queue(p, c).Head() != nil {
					see(restQueue{unit.NodePort{Node: s.Config().ID, Port: p}, c})
				}
			}
		}
	}
	w, err := sim.New(p, sim.Options{
		Seed: seed, Detectors: map[string]detect.Factory{"none": detect.NewNone}, Slots: slots,
		SampleAt: iter.Seq[unit.Time](func(yield func(unit.Time) bool) { yield(from) }),
		Sample: func(_ unit.Time, w *sim.World) {
			w.EachSwitch(func(s *dataplane.Switch) { look(s, func(q restQueue) { waits[q] = true }) })
		},
		Sent: func(now unit.Time, n event.Node, p unit.Port, f *buffer.Frame) {
			if now > from && !f.Control {
				delete(waits, restQueue{unit.NodePort{Node: n.ID, Port: p}, f.OutPriority})
			}
		},
		Dropped: func(_ *buffer.Frame, why dataplane.Reason) {
			if slices.Contains(NoRoom, why) {
				d.lost++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	d.deadlock = !w.Result().History.At(p.Scenario.Duration).Empty()
	w.EachSwitch(func(s *dataplane.Switch) {
		look(s, func(q restQueue) {
			if waits[q] {
				d.stopped++
			}
		})
		for p := range unit.Port(s.Ports()) {
			for c := range unit.Priority(unit.Priorities) {
				bytes, _ := s.MMU().Bytes(p, c)
				d.residue += bytes
			}
		}
	})
	return d
}

// changed is the plan of the case with something changed.
func (c *Case) changed(t *testing.T, change func(*scenario.Scenario)) *scenario.Plan {
	t.Helper()
	s, err := scenario.Parse(c.Name()+".yaml", c.Text("none", ""), scenario.Known{Detectors: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatalf("%s: %v", c.Name(), err)
	}
	return p
}

// roomForRates gives the priority groups of a scenario room for rates to fall: XOFF is above the headroom.
func roomForRates(s *scenario.Scenario) {
	most := 0
	for _, l := range s.Fabric.Links {
		for _, e := range []topo.End{l.A, l.B} {
			if s.Fabric.Nodes[e.Node].Kind == topo.Switch {
				most = max(most, s.XOFF(e))
			}
		}
	}
	s.Buffer.Size += most + 4*full
}

// In random fabrics, many of which lock with pauses and the same buffers, no queue of a switch is stopped for good
// with rates: each sends in the time of a frame at the lowest rate. That is all that Gentle Flow Control promises:
// what is left of a case seconds after its sources have stopped is counted, and so is what was lost, as
// docs/systems.md has it. Where the lowest rate is as good as 0, queues stand as with pauses.
func TestGentleFlowControl(t *testing.T) {
	seed := testkit.Seed(t)
	n := testkit.Sized(20, 200)
	const lowest, watch = 800_000, 20 * unit.Millisecond // a frame of 1514 bytes takes 15 ms
	locks, crawl, saved, losing, lost, stand := 0, 0, 0, 0, 0, 0
	for i := range n {
		c := New(seed, i, Usual)
		drains(c)
		c.Duration += 2 * watch
		play := func(lowest unit.Rate) drained {
			return drain(t, c.changed(t, func(s *scenario.Scenario) {
				roomForRates(s)
				if lowest > 0 {
					s.Prevention = &scenario.Prevention{GFC: &config.GFC{Lowest: lowest}}
				}
			}), c.Wires, 3*c.slots(), watch)
		}
		pauses, rates := play(0), play(lowest)
		if pauses.lost > 0 || pauses.deadlock != (pauses.stopped > 0) {
			t.Errorf("seed %d, case %d, pauses: %+v\n%s", seed, i, pauses, c.Text("none", ""))
		}
		if rates.deadlock || rates.stopped > 0 {
			t.Errorf("seed %d, case %d, rates: %+v\n%s", seed, i, rates, c.Text("none", ""))
		}
		if lost += rates.lost; rates.lost > 0 {
			losing++
		}
		if rates.residue > 0 && !pauses.deadlock {
			t.Errorf("seed %d, case %d: %d bytes stay with rates, and none with pauses\n%s", seed, i, rates.residue, c.Text("none", ""))
		}
		if !pauses.deadlock {
			continue
		}
		locks++
		if rates.residue == 0 {
			saved++
			continue
		}
		crawl++
		if play(1).stopped > 0 {
			stand++
		}
	}
	t.Logf("seed %d: of %d cases %d lock with pauses; with rates %d of these drain and %d crawl, %d frames are lost in %d cases; with a lowest rate of 1 bit/s %d of those that crawl stand", seed, n, locks, saved, crawl, lost, losing, stand)
	if locks*10 < n || saved == 0 || stand == 0 {
		t.Errorf("seed %d: %d lock, %d drain with rates, %d stand without a lowest rate: that shows little", seed, locks, saved, stand)
	}
}

// randomRing is a random scenario on a ring of switches, all of whose flows go one way round.
func randomRing(r *rand.Rand) string {
	n := 3 + r.IntN(6)
	var routes, flows strings.Builder
	for at := range n {
		for to := range n {
			if to != at && to != (at+n-1)%n || n == 3 && to != at {
				fmt.Fprintf(&routes, "  - {at: s%d, to: s%d, ports: [s%d]}\n", at+1, to+1, (at+1)%n+1)
			}
		}
	}
	hosts := 1 + r.IntN(2)
	for at := range n {
		for h := range hosts {
			to, rate := (at+1+r.IntN(max(1, n-2)))%n, "line"
			if r.IntN(4) == 0 {
				rate = fmt.Sprintf("%dMbit/s", 1000+r.IntN(9000))
			}
			fmt.Fprintf(&flows, "  - {name: f%d-%d, from: h%d-%d, to: h%d-%d, rate: %s, frame: %d, start: %dns, stop: 1ms}\n",
				at, h, at+1, h, to+1, r.IntN(hosts), rate, 200+r.IntN(1300), 10_000+r.IntN(50_000))
		}
	}
	offset := 1 + r.IntN(4096)
	return fmt.Sprintf("name: ring\ndetector: none\ntopology: {ring: {switches: %d, hosts_per_switch: %d}, rate: 10Gbit/s, delay: %dns}\nbuffer: {pool: 1000000000, xon_offset: %d}\nroutes:\n%sflows:\n%sduration: 30ms\n",
		n, hosts, 100+r.IntN(2000), offset, routes.String(), flows.String())
}

// Random rings, all of whose frames go one way round: with bubble injection none locks, nothing is lost and all
// arrives. With the same buffers and without it some lock, and so they do where it finds room at all times.
func TestBubbleInjection(t *testing.T) {
	seed := testkit.Seed(t)
	n := testkit.Sized(20, 200)
	locks, again := 0, 0
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		text := randomRing(r)
		play := func(spoil func(*scenario.Plan)) drained {
			s, err := scenario.Parse("ring.yaml", []byte(text), scenario.Known{Detectors: []string{"none"}})
			if err != nil {
				t.Fatalf("seed %d, case %d: %v\n%s", seed, i, err, text)
			}
			if err := s.Prevent("bubble-injection"); err != nil {
				if strings.Contains(err.Error(), "close no cycle") {
					return drained{}
				}
				t.Fatalf("seed %d, case %d: %v\n%s", seed, i, err, text)
			}
			p, err := scenario.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			spoil(p)
			return drain(t, p, seed+uint64(i), 0, 10*unit.Millisecond)
		}
		if d := play(func(*scenario.Plan) {}); d != (drained{}) {
			t.Errorf("seed %d, case %d: %+v\n%s", seed, i, d, text)
		}
		if play(func(p *scenario.Plan) {
			for i := range p.Switches {
				p.Switches[i].Rings = nil
			}
		}).deadlock {
			locks++
		}
		if play(func(p *scenario.Plan) {
			for i := range p.Switches {
				for j := range p.Switches[i].Rings {
					p.Switches[i].Rings[j].Room = 1 << 30
				}
			}
		}).deadlock {
			again++
		}
	}
	t.Logf("seed %d: of %d rings %d lock without bubble injection, %d with room at all times", seed, n, locks, again)
	if locks*10 < n || again != locks {
		t.Errorf("seed %d: %d of %d lock without, %d with room at all times; want a tenth, and as many", seed, locks, n, again)
	}
}

package fuzz

import (
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// heldTruth takes the facts of the whole fabric out of the switches, at every event,
// and computes the stuck set from nothing.
type heldTruth struct {
	world   *sim.World
	fabric  *oracle.Fabric
	periods map[oracle.Queue]event.Event // the last pause of each queue
	hosts   []oracle.Queue               // queues of hosts that are paused, as hosts tell it
	at      []unit.Time
	stuck   [][]oracle.Queue
}

func (x *heldTruth) see(n event.Node, e event.Event) {
	q := oracle.Queue{NodePort: unit.NodePort{Node: n.ID, Port: e.Out}, Priority: e.OutPriority}
	switch host := len(n.Ports) == 1 && n.Ports[0] == "eth0"; {
	case e.Type == event.Paused && host:
		x.hosts = append(x.hosts, q)
	case e.Type == event.Paused:
		x.periods[q] = e
	case host && (e.Type == event.Resumed || e.Type == event.Expired):
		x.hosts = slices.DeleteFunc(x.hosts, func(h oracle.Queue) bool { return h == q })
	}
	if k := len(x.at); k == 0 || x.at[k-1] != e.At {
		x.at, x.stuck = append(x.at, e.At), append(x.stuck, nil)
	}
	s := oracle.NewState(x.fabric)
	for _, q := range x.hosts {
		s.SetPausedAnyPeriod(q)
	}
	x.world.EachSwitch(func(sw *dataplane.Switch) { x.tell(s, sw) })
	x.stuck[len(x.stuck)-1] = s.Stuck().Queues
}

// tell sets the facts of one switch.
func (x *heldTruth) tell(s *oracle.State, sw *dataplane.Switch) {
	at := func(p unit.Port) unit.NodePort { return unit.NodePort{Node: sw.Config().ID, Port: p} }
	frames := map[*buffer.Frame]unit.PortSet{}
	var order []*buffer.Frame
	for p := range unit.Port(sw.Ports()) {
		for c := range unit.Priority(unit.Priorities) {
			if on, period := sw.MMU().XOFF(p, c); on {
				s.SetXOFF(oracle.PG{NodePort: at(p), Priority: c}, period, sw.MMU().XON(p, c))
			}
			q := oracle.Queue{NodePort: at(p), Priority: c}
			if sw.QueuePaused(p, c) {
				s.SetPaused(q, x.periods[q].Period)
				if !x.periods[q].HasPeriod {
					s.SetPausedAnyPeriod(q)
				}
			}
			if !sw.MMU().Lossless(c) {
				continue
			}
			for f := sw.Queue(p, c).Head(); f != nil; f = f.Next() {
				if frames[f.Orig()].Empty() {
					order = append(order, f)
				}
				frames[f.Orig()] = frames[f.Orig()].Or(p.Set())
			}
		}
	}
	type group struct {
		b        oracle.PG
		ports    unit.PortSet
		priority unit.Priority
	}
	sums := map[group]int{}
	for _, f := range order {
		g := group{oracle.PG{NodePort: at(f.In), Priority: f.InPriority}, frames[f.Orig()], f.OutPriority}
		sums[g] += f.Len
		s.SetHeld(g.b, g.ports, g.priority, sums[g])
	}
}

// What the recorder makes of events is what is true: with flooded frames each of
// them holds its priority group once, in whatever queues its copies wait.
func TestFloodedTruth(t *testing.T) {
	const seed = 21
	cases, deadlocks, shared := 0, 0, 0
	for i := 800; cases < testkit.Sized(6, 30); i++ {
		c := New(seed, i, Usual)
		if len(c.Dead) == 0 || !c.FloodAll || !strings.HasSuffix(c.Dead[0], "-dead") || len(c.Flows) > 24 {
			continue
		}
		cases++
		mix(c)
		c.cut(min(c.Duration, 500*c.Links[0].hop(full)))
		s, err := scenario.Parse("x.yaml", c.Text("none", ""), scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		fabric, err := verdict.Fabric(plan.Fabric, verdict.Buffers(plan))
		if err != nil {
			t.Fatal(err)
		}
		x := &heldTruth{fabric: fabric, periods: map[oracle.Queue]event.Event{}}
		x.world, err = sim.New(plan, sim.Options{
			Seed: c.Wires, Slots: c.slots(), Events: x.see, Detectors: map[string]detect.Factory{"none": detect.NewNone},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.world.Run(); err != nil {
			t.Fatal(err)
		}
		r := x.world.Result()
		for k, want := range x.stuck {
			if got := r.History.At(x.at[k]).Queues; !slices.Equal(got, want) {
				t.Fatalf("seed %d, case %d at %d ns: the oracle says %v, the switches %v\n%s", seed, i, x.at[k], got, want, c.Text("none", ""))
			}
		}
		for _, d := range r.Deadlocks {
			deadlocks++
			if d.Flooded {
				shared++
			}
		}
	}
	t.Logf("%d cases, %d deadlocks, %d with flooded frames", cases, deadlocks, shared)
	if shared*15 < cases*2 {
		t.Errorf("flooded frames take part in %d of %d deadlocks", shared, deadlocks)
	}
}

// mix lets every sender of flooded frames send as much to a host beside the dead
// one that is paused on and off, so that priority groups hold both, and lets priority groups resume
// soon: then counting a frame twice makes a difference.
func mix(c *Case) {
	c.XONOffset = 400
	beside := strings.TrimSuffix(c.Dead[0], "dead") + "0"
	for _, f := range slices.Clone(c.Flows) {
		if f.To == c.Dead[0] && f.From != beside {
			f.To, f.Rate = beside, 0
			c.Flows = append(c.Flows, f)
		}
	}
	tick := c.Links[0].Rate.FrameTime(full)
	for at := 30 * tick; at < 300*tick; at += 30 * tick {
		c.Events = append(c.Events, Event{At: at, Do: "storm", Node: beside, Priority: c.Lossless[0], For: 25 * tick})
	}
}

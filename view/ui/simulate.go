package ui

import (
	"fmt"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/link"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/observe"
)

// samples is how many states a simulated run is shown in: a minute at ten a second.
const samples = 600

// Simulate plays a plan in virtual time and publishes it as a whole; opt.Sample is not to
// be set.
func Simulate(plan *scenario.Plan, opt sim.Options, stream *Stream) (*verdict.Verdict, error) {
	w, err := planWiring(plan)
	if err != nil {
		return nil, err
	}
	every := max(1, plan.Scenario.Duration/samples)
	s := plan.Scenario
	stream.Begin(Topology{
		Title: s.Name, Description: s.Description, World: "simulation", Detector: s.Detector, Response: s.Response,
		Shape: w.layOut(), Nodes: w.nodes, Links: w.links, Interval: ms(every),
	})
	var world *sim.World
	m := newModel(w, func() *oracle.Stuck { return world.Stuck() }, 0)
	also := opt.Events
	opt.Events = func(n event.Node, e event.Event) {
		if also != nil {
			also(n, e)
		}
		if e.At > m.now {
			m.settle()
		}
		m.add(oracle.Entry{Node: n.ID, Event: &e})
	}
	opt.SampleEvery = every
	opt.Sample = func(now unit.Time, world *sim.World) {
		m.settle()
		countAll(m, world, now)
		stream.Publish(m.state(now))
	}
	if world, err = sim.New(plan, opt); err != nil {
		return nil, err
	}
	return world.Run()
}

// planWiring is the wiring of a plan.
func planWiring(plan *scenario.Plan) (*wiring, error) {
	if n := len(plan.Fabric.Nodes); n > nodesMax {
		return nil, fmt.Errorf("ui: %d nodes: the page draws at most %d", n, nodesMax)
	}
	var wires []wire
	for _, l := range plan.Links {
		wires = append(wires, wire{l.A.Name, l.A.Iface, l.B.Name, l.B.Iface})
	}
	return newWiring(plan.Switches, plan.Hosts, wires)
}

func countAll(m *model, world *sim.World, now unit.Time) {
	i := 0
	world.EachSwitch(func(s *dataplane.Switch) {
		snap := observe.TakeSwitch(s, nil)
		m.count(i, now, &snap)
		i++
	})
	world.EachHost(func(h *host.Host) {
		snap := observe.TakeHost(h, link.Stats{})
		m.sent(i, &snap)
		i++
	})
}

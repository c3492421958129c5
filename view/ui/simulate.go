package ui

import (
	"slices"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Simulate plays a plan in virtual time and publishes it as a whole; opt.Sample is not to
// be set. It plays it twice: the first run tells when something happens.
func Simulate(plan *scenario.Plan, opt sim.Options, stream *Stream) (*verdict.Verdict, error) {
	w, err := planWiring(plan)
	if err != nil {
		return nil, err
	}
	s := plan.Scenario
	first, opt := both(opt, s.Duration)
	at, err := instants(plan, first, w)
	if err != nil {
		return nil, err
	}
	stream.Begin(Topology{
		Title: s.Name, Description: s.Description, World: "simulation", Detector: s.Detector, Response: s.Response,
		Layout: w.layOut(), Nodes: w.nodes, Links: w.links, Ends: w.ends(), LAGs: w.lags, Interval: ms(s.Duration / evenStates),
	})
	return publish(plan, opt, w, at, stream)
}

// both makes the two runs of a simulation look like one to opt.Watch.
func both(opt sim.Options, duration unit.Time) (first, second sim.Options) {
	first, second = sim.Options{Seed: opt.Seed, Detectors: opt.Detectors, Slots: opt.Slots}, opt
	if watch := opt.Watch; watch != nil {
		first.Watch = func(now unit.Time) error { return watch(now / 2) }
		second.Watch = func(now unit.Time) error { return watch((duration + now) / 2) }
	}
	return first, second
}

// publish plays a plan and publishes its state at each of these instants.
func publish(plan *scenario.Plan, opt sim.Options, w *wiring, at []unit.Time, stream *Stream) (*verdict.Verdict, error) {
	m := newModel(w, nil, 0)
	m.window = plan.Scenario.Duration / evenStates
	m.lingers = 10 * m.window
	opt.SampleAt = slices.Values(at)
	opt.Sample = func(now unit.Time, world *sim.World) {
		m.settle()
		countAll(m, world, now)
		stream.Publish(m.state(now))
	}
	world, err := m.simulation(plan, opt, func() {})
	if err != nil {
		return nil, err
	}
	return world.Run()
}

// simulation is one that m follows; settled is called as each of its instants is over.
func (m *model) simulation(plan *scenario.Plan, opt sim.Options, settled func()) (*sim.World, error) {
	also := opt.Events
	opt.Events = func(n event.Node, e event.Event) {
		if also != nil {
			also(n, e)
		}
		if e.At > m.now {
			m.settle()
			settled()
		}
		m.add(oracle.Entry{Node: n.ID, Event: &e})
	}
	world, err := sim.New(plan, opt)
	if err == nil {
		m.truth = world.Stuck
	}
	return world, err
}

// planWiring is the wiring of a plan.
func planWiring(plan *scenario.Plan) (*wiring, error) {
	wires := lists.Map(plan.Links, func(l scenario.Link) wire { return wire{l.A.Name, l.A.Iface, l.B.Name, l.B.Iface} })
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
		snap := observe.TakeHost(h, nil)
		m.sent(i, &snap)
		i++
	})
}

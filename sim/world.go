package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/respond"
	"softswitch/event"
	"softswitch/host"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/topo"
	"softswitch/unit"
)

// keep is how many bytes of a frame a simulation carries: all headers, and the
// payload of a flow's frame. Lengths are counted in full.
const keep = 64

// Options of a simulation.
type Options struct {
	Seed uint64
	// Detectors by name; the scenario names one of them.
	Detectors map[string]detect.Factory
	// Slots bounds the frames that are in the fabric at once, in buffers and on
	// wires; 0 is 4194304. Memory is used for as many as there are.
	Slots int
	// Events, unless it is nil, is given every event in order.
	Events func(node event.Node, e event.Event)
	// Sample, unless it is nil, is shown the world after all that happens up to each
	// multiple of SampleEvery, which is above 0. It must change nothing.
	Sample      func(now unit.Time, w *World)
	SampleEvery unit.Time
	// Watch, unless it is nil, is told now and then which time it is. Its error ends the
	// run, which returns it.
	Watch func(now unit.Time) error
}

// World is a fabric in virtual time. New makes one, Run runs it once.
type World struct {
	plan  *scenario.Plan
	opt   Options
	now   unit.Time
	pool  *buffer.Pool
	nodes []node
	ports []port // of all nodes, in the order of the nodes
	timer timers
	delay unit.Time // of the slowest wire between switches, at most
	steps int       // of the time line that were done
	log   recorder
	one   [1]*buffer.Frame // a batch, for calls of a machine
	err   error            // why the run cannot go on

	frames uint64 // that arrived at a node
	events uint64 // timers that fired
}

// node is a switch or a host.
type node struct {
	machine dataplane.Machine
	sw      *dataplane.Switch // nil for a host
	host    *host.Host        // nil for a switch
	first   int32             // index of its port 0 in World.ports
	ports   int32
	stopped bool // it does nothing; what is due waits
	dead    bool // it does nothing any more; what arrives is lost
	name    event.Node
	overdue []int32 // timers that fired while it was stopped
}

// port is a port of a node: what it sends, and what is on the wire towards it.
type port struct {
	node  int32
	n     unit.Port
	peer  int32 // index of the far end; -1 for none
	rate  unit.Rate
	delay unit.Time
	up    bool

	lent    *buffer.Frame // the frame that is being sent, until sentAt
	sentAt  unit.Time
	in      fifo       // frames on their way to this port
	wire    *rand.Rand // see World.draw; nil until it is needed
	control int        // control frames that the far end has sent so far
	losses  []int      // of those, which are lost
	faults  WireFaults
}

// WireFaults are what a wire does to frames besides delaying them, in both
// directions.
type WireFaults struct {
	// Jitter is added to the delay, evenly from 0 to Jitter.
	Jitter unit.Time
	// ControlLoss is how many of 1000 control frames are lost.
	ControlLoss int
}

// Timers: per port one for what it sends and one for what arrives, then one for
// the time line.
func sendID(p int32) int32 { return 2 * p }
func recvID(p int32) int32 { return 2*p + 1 }

func (w *World) timelineID() int32 { return int32(2 * len(w.ports)) }

// timersOf is the number of timers of a fabric with so many ports.
func timersOf(ports int) int { return 2*ports + 1 }

// Refuse says what of a plan cannot be played in virtual time, nil if nothing.
func Refuse(plan *scenario.Plan) error {
	for i, l := range plan.Fabric.Links {
		if plan.Links[i].Rate <= 0 {
			return fmt.Errorf("sim: link %s: its rate is unlimited, and in virtual time frames would leave for ever without time going on; give it a rate", l.Name)
		}
	}
	ports := 2 * len(plan.Fabric.Links)
	clock := timers{bits: idBits(timersOf(ports))}
	if d := plan.Scenario.Duration; d >= clock.limit() {
		return fmt.Errorf("sim: duration %s; valid: below %s for a fabric of %d ports", config.FormatTime(d), config.FormatTime(clock.limit()), ports)
	}
	return nil
}

// New makes a world of a plan. The error is that of Refuse, or names a detector that
// is not given.
func New(plan *scenario.Plan, opt Options) (*World, error) {
	return assemble(plan, opt, planned(plan))
}

// planned are the parts of a plan.
func planned(plan *scenario.Plan) parts {
	n := len(plan.Switches)
	return parts{
		sw:   func(i int, f detect.Factory) dataplane.Config { return plan.Switches[i].Build(f, 1, 0) },
		host: func(i int) host.Config { return plan.Hosts[i-n].Build(1, 0) },
	}
}

// parts are the configurations of the nodes of a plan, by index in its Fabric.
type parts struct {
	sw    func(i int, f detect.Factory) dataplane.Config
	host  func(i int) host.Config
	order []int // in which the machines are made; nil is that of the fabric
}

// assemble makes a world of a plan, whose own configurations of nodes it leaves
// alone.
func assemble(plan *scenario.Plan, opt Options, of parts) (*World, error) {
	if err := Refuse(plan); err != nil {
		return nil, err
	}
	s := plan.Scenario
	factory := opt.Detectors[s.Detector]
	if factory == nil {
		return nil, fmt.Errorf("sim: detector %q: not one of those given", s.Detector)
	}
	policy, err := respond.Parse(s.Response)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	factory = respond.New(factory, policy)
	if opt.Slots == 0 {
		opt.Slots = 4 << 20
	}
	w := &World{plan: plan, opt: opt}
	for _, l := range plan.Links {
		if nodes := plan.Fabric.Nodes; nodes[l.A.Node].Kind == topo.Switch && nodes[l.B.Node].Kind == topo.Switch {
			w.delay = max(w.delay, l.Delay+l.Jitter)
		}
	}
	w.pool = buffer.NewGrowingPool(opt.Slots, opt.Slots, keep)
	w.layOut()
	for i := range w.nodes {
		if of.order != nil {
			i = of.order[i]
		}
		var err error
		if plan.Fabric.Nodes[i].Kind == topo.Switch {
			err = w.addSwitch(i, of.sw(i, factory))
		} else {
			err = w.addHost(i, of.host(i))
		}
		if err != nil {
			return nil, err
		}
	}
	for i, l := range plan.Fabric.Links {
		w.addLink(i, l)
	}
	w.timer = newTimers(timersOf(len(w.ports)))
	return w, nil
}

// layOut numbers the ports.
func (w *World) layOut() {
	w.nodes = make([]node, len(w.plan.Fabric.Nodes))
	for i, n := range w.plan.Fabric.Nodes {
		w.nodes[i] = node{first: int32(len(w.ports)), ports: int32(len(n.Ports)), name: event.Node{ID: n.ID, Name: n.Name}}
		for j, p := range n.Ports {
			w.nodes[i].name.Ports = append(w.nodes[i].name.Ports, p.Name)
			w.ports = append(w.ports, port{node: int32(i), n: unit.Port(j), peer: -1})
		}
	}
}

func (w *World) addSwitch(i int, cfg dataplane.Config) error {
	cfg.Pool, cfg.Delay = w.pool, w.delay
	sw, err := dataplane.NewSwitch(cfg)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	w.nodes[i].sw, w.nodes[i].machine = sw, sw
	return nil
}

func (w *World) addHost(i int, cfg host.Config) error {
	cfg.Pool, cfg.Keep = w.pool, keep
	h, err := host.New(cfg)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	w.nodes[i].host, w.nodes[i].machine = h, h
	return nil
}

func (w *World) addLink(i int, l topo.Link) {
	a, b := w.portOf(l.A), w.portOf(l.B)
	speed := w.plan.Links[i].LinkSpeed
	for _, ends := range [2][2]int32{{a, b}, {b, a}} {
		p := &w.ports[ends[0]]
		p.peer, p.rate, p.delay = ends[1], speed.Rate, speed.Delay
		p.faults = WireFaults{Jitter: speed.Jitter, ControlLoss: speed.ControlLoss}
	}
}

func (w *World) portOf(e topo.End) int32 { return w.nodes[e.Node].first + int32(e.Port) }

// SetWire changes the faults of a wire from now on.
func (w *World) SetWire(link int, f WireFaults) {
	l := w.plan.Fabric.Links[link]
	w.ports[w.portOf(l.A)].faults = f
	w.ports[w.portOf(l.B)].faults = f
}

// loses reports whether the n-th control frame towards p is to be lost.
func (w *World) loses(p *port, n int) bool {
	if i := slices.Index(p.losses, n); i >= 0 {
		p.losses = slices.Delete(p.losses, i, i+1)
		return true
	}
	return p.faults.ControlLoss > 0 && w.draw(p).IntN(1000) < p.faults.ControlLoss
}

// draw is the random numbers of the wire towards p: a stream of its own for each
// direction of each wire.
func (w *World) draw(p *port) *rand.Rand {
	if p.wire == nil {
		p.wire = rand.New(rand.NewPCG(w.opt.Seed, uint64(p.node+1)<<8|uint64(p.n)))
	}
	return p.wire
}

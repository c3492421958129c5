package sim

import (
	"fmt"
	"iter"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/respond"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/stat"
	"softswitch/link/auth"
	"softswitch/link/impair"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// keep is how many bytes of a frame a simulation carries: all headers, and the record of a
// flow's frame; keepRC, where there are reliable connections. Lengths still count in full.
const (
	keep   = 64
	keepRC = 96
)

// Options are the settings of a simulation.
type Options struct {
	Seed uint64
	// Detectors by name; the scenario selects one of them.
	Detectors map[string]detect.Factory
	// Slots bounds the number of frames in each partition at once, in buffers and on wires;
	// 0 means 4194304. Memory is only used for frames that exist.
	Slots int
	// Events, unless nil, is called with every event in order.
	Events func(node event.Node, e event.Event)
	// Sample, unless nil, is called with the world after everything that happens up to
	// each time of SampleAt, which ascend: Every(d), for instance. It must only read.
	Sample   func(now unit.Time, w *World)
	SampleAt iter.Seq[unit.Time]
	// Settled, unless nil, is called with S* after everything that happens at one time,
	// for each such time in order. Once it returns false the run is over.
	Settled func(at unit.Time, stuck *oracle.Stuck) bool
	// Dropped, unless nil, is called with every frame that a switch drops, and why. It
	// must only read.
	Dropped func(f *buffer.Frame, why dataplane.Reason)
	// Sent, unless nil, is called with every frame that begins to leave a port, and of which
	// only the beginning is kept. It must only read.
	Sent func(now unit.Time, node event.Node, p unit.Port, f *buffer.Frame)
	// Watch, unless nil, is called at the start and then now and then, with the virtual
	// time. If it fails, the run ends with its error. NewLarge calls it too, with time 0.
	Watch func(now unit.Time) error
	// Partitions is into how many parts, for as many processors, the nodes are divided; 0
	// means 1. There is one part whatever it says with Sample, Settled, Dropped or Sent, and
	// where a link has no delay. The result is the same for any number.
	Partitions int
	// Each calls do for each i below n, at once or one after the other, and returns when all
	// are done. Nil means one after the other.
	Each func(n int, do func(i int))
}

func (o *Options) watch(now unit.Time) error {
	if o.Watch == nil {
		return nil
	}
	return o.Watch(now)
}

func (o *Options) each(n int, do func(i int)) {
	if o.Each != nil && n > 1 {
		o.Each(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// World is a fabric in virtual time. New makes one, Run runs it once.
type World struct {
	plan       *scenario.Plan
	opt        Options
	now        unit.Time
	keep       int // bytes of a frame
	nodes      []node
	ports      []port // of all nodes, in node order
	partitions []partition
	alone      bool      // no two partitions are played at once now
	ahead      unit.Time // no frame is sooner than this in another partition
	delay      unit.Time // the longest of any wire between switches
	steps      int       // scheduled events that are done
	due        unit.Time // when the next one is, unit.Never if there is none
	log        recorder
	over       bool // Options.Settled has ended the run

	settled unit.Time // the last time that Options.Settled was told of, -1 at first
	watched uint64    // events of partition 0 at which Options.Watch is called next
	set     int       // which of partition.out is written to
}

// node is a switch or a host.
type node struct {
	part    *partition
	machine dataplane.Machine
	sw      *dataplane.Switch // nil for a host
	host    *host.Host        // nil for a switch
	first   int32             // index of its port 0 in World.ports
	ports   int32
	stopped bool // does nothing; what is due waits
	dead    bool // does nothing ever again; what arrives is lost
	flooded bool // flooded frames waited in it when it said something last
	name    event.Node
	overdue []int32 // timers that fired while it was stopped
}

// port is a port of a node: what it sends, and what is on the wire towards it. It is as long as two
// cache lines, its padding included, since each hop of a frame reads the ports at both its ends: with
// four lines a simulation takes two per cent longer.
type port struct {
	node  int32
	peer  int32 // index of the far end; -1 if there is no link
	n     unit.Port
	up    bool
	rate  unit.Rate
	delay unit.Time

	sending *buffer.Frame // the frame being transmitted, until sentAt
	sentAt  unit.Time
	in      fifo         // frames on their way to this port
	wire    *impair.Wire // from this port, nil if nothing ever happens to a frame on it
	tape    *impair.Tape // of it, if something is replayed
	_       [16]byte
}

// Each port has two timers, one for sending and one for arrivals.
func sendID(p int32) int32 { return 2 * p }
func recvID(p int32) int32 { return 2*p + 1 }

// timersOf is the number of timers of this many ports.
func timersOf(ports int) int { return 2 * ports }

// Refuse returns why a plan cannot be played in virtual time, nil if it can.
func Refuse(plan *scenario.Plan) error {
	for i, l := range plan.Fabric.Links {
		if plan.Links[i].Rate <= 0 {
			return fmt.Errorf("sim: link %s: its rate is unlimited, and in virtual time frames would leave for ever without time going on; give it a rate", l.Name)
		}
	}
	for i, f := range plan.Scenario.Flows {
		if end := plan.Scenario.ProgramEnd(&plan.Scenario.Flows[i]); end != "" {
			return fmt.Errorf("sim: flow %s: key %s is a host of nics, whose programs do not run in virtual time; play it in a lab", f.Name, end)
		}
	}
	ports := 2 * len(plan.Fabric.Links)
	clock := timers{bits: idBits(timersOf(ports))}
	if d := plan.Scenario.Duration; d >= clock.limit() {
		return fmt.Errorf("sim: duration %s; valid: below %s for a fabric of %d ports", d, clock.limit(), ports)
	}
	return nil
}

// New builds the world of a plan, with the starts of flows that Options.Seed draws. It fails as Refuse does, and if the scenario names a
// detector that Options.Detectors lacks.
func New(plan *scenario.Plan, opt Options) (*World, error) {
	plan = plan.Drawn(opt.Seed)
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
	sw      func(i int, f detect.Factory) dataplane.Config
	host    func(i int) host.Config
	order   []int // in which to make the machines of one partition; nil is that of the fabric
	watched bool  // call Options.Watch for each machine, or for some at a time
}

// assemble builds the world of a plan from these parts; it does not change the plan.
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
	factory = respond.New(s.Watchdog.Timed(factory), policy)
	if opt.Slots == 0 {
		opt.Slots = 4 << 20
	}
	w := &World{plan: plan, opt: opt, settled: -1, due: unit.Never}
	for _, l := range plan.Links {
		if nodes := plan.Fabric.Nodes; nodes[l.A.Node].Kind == topo.Switch && nodes[l.B.Node].Kind == topo.Switch {
			w.delay = max(w.delay, l.Delay+l.Jitter)
		}
	}
	w.keep = keep
	if slices.ContainsFunc(s.Flows, func(f scenario.Flow) bool { return f.RC != nil }) {
		w.keep = keepRC
	}
	w.layOut()
	w.divide()
	if err := w.addNodes(factory, of); err != nil {
		return nil, err
	}
	for i, l := range plan.Fabric.Links {
		w.addLink(i, l)
	}
	for _, e := range plan.Events {
		if e.Do == scenario.Replay {
			w.ports[w.endOf(e)].tape = &impair.Tape{}
		}
	}
	return w, nil
}

// layOut numbers the ports.
func (w *World) layOut() {
	w.nodes = make([]node, len(w.plan.Fabric.Nodes))
	w.ports = make([]port, 0, 2*len(w.plan.Fabric.Links))
	for i, n := range w.plan.Fabric.Nodes {
		w.nodes[i] = node{first: int32(len(w.ports)), ports: int32(len(n.Ports)), name: event.Node{ID: n.ID, Name: n.Name, Ports: make([]string, 0, len(n.Ports))}}
		for j, p := range n.Ports {
			w.nodes[i].name.Ports = append(w.nodes[i].name.Ports, p.Name)
			w.ports = append(w.ports, port{node: int32(i), n: unit.Port(j), peer: -1})
		}
	}
}

// addNodes makes the machines, those of each partition in its order.
func (w *World) addNodes(factory detect.Factory, of parts) error {
	chunk := 1 // nodes of a partition between two calls of Options.Watch
	if len(w.partitions) > 1 {
		chunk = 64
	}
	for done, more := 0, true; more; done += chunk {
		if of.watched {
			if err := w.opt.watch(0); err != nil {
				return err
			}
		}
		w.each(func(d *partition) {
			for _, i := range d.mine[min(done, len(d.mine)):min(done+chunk, len(d.mine))] {
				if of.order != nil {
					i = int32(of.order[i])
				}
				if w.plan.Fabric.Nodes[i].Kind == topo.Switch {
					d.fail(w.addSwitch(int(i), of.sw(int(i), factory)))
				} else {
					d.fail(w.addHost(int(i), of.host(int(i))))
				}
			}
		})
		more = false
		for i := range w.partitions {
			more = more || done+chunk < len(w.partitions[i].mine)
		}
		if err := w.failed(); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) addSwitch(i int, cfg dataplane.Config) error {
	cfg.Pool, cfg.Delay, cfg.Dropped = w.nodes[i].part.pool, w.delay, w.opt.Dropped
	cfg.ECN.Seed = stat.Mix(cfg.ECN.Seed + w.opt.Seed)
	for p := range cfg.Ports {
		if a := cfg.Ports[p].Auth; a != nil {
			a.Keys, a.First = []auth.Key{keyOfWorld(w.opt.Seed)}, firstCounter
		}
	}
	sw, err := dataplane.NewSwitch(cfg)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	w.nodes[i].sw, w.nodes[i].machine = sw, sw
	return nil
}

// firstCounter is that of each end of an authenticated link: some time of a clock.
const firstCounter = 1_700_000_000 * uint64(unit.Second)

// keyOfWorld is the key of all links of a simulation.
func keyOfWorld(seed uint64) (k auth.Key) {
	r := stat.Rand(seed)
	for i := range k {
		k[i] = byte(r.Below(256))
	}
	return k
}

func (w *World) addHost(i int, cfg host.Config) error {
	cfg.Pool, cfg.Keep = w.nodes[i].part.pool, w.keep
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
		if wire := (impair.Wire{Faults: speed.Faults}); !wire.Faultless() {
			p.wire = &wire
		}
	}
}

func (w *World) portOf(e topo.End) int32 { return w.nodes[e.Node].first + int32(e.Port) }

// stream names the random numbers of the wire from p after the end to which it goes.
func (w *World) stream(p *port) uint64 {
	far := &w.ports[p.peer]
	return impair.Stream(int(far.node), far.n)
}

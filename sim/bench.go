package sim

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/link/impair"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Bench is machines of any kind and the wires between them in virtual time, without a scenario:
// nothing is planned, and nothing is judged. Its caller plays it piece by piece, and changes it in
// between.
type Bench struct{ w *World }

// BenchConfig is what a Bench is made of.
type BenchConfig struct {
	Machines []BenchMachine
	Wires    []BenchWire
	// Pool is the slots of all machines and wires: each machine was made with it.
	Pool *buffer.Pool
	Seed uint64
	// Events, unless nil, is called with every event in order.
	Events func(machine string, e event.Event)
	// Watch, unless nil, is called now and then, with the virtual time. If it fails, Play ends with its
	// error.
	Watch func(now unit.Time) error
}

// BenchMachine is a machine with its name.
type BenchMachine struct {
	Name    string
	Machine dataplane.Machine
}

// BenchWire is a wire between two ports.
type BenchWire struct {
	A, B BenchPort
	Rate unit.Rate // above 0
	impair.Faults
}

// BenchPort is a port of a machine, by the index of the machine in BenchConfig.
type BenchPort struct {
	Machine int
	Port    unit.Port
}

// NewBench wires the machines. All links are up at time 0. It fails if a wire is attached to a port
// that is not there or has a wire, or has no rate.
func NewBench(c BenchConfig) (*Bench, error) {
	w := &World{
		plan:    &scenario.Plan{Scenario: &scenario.Scenario{}, Fabric: &topo.Fabric{}},
		opt:     Options{Seed: c.Seed, Slots: c.Pool.Slots(), Watch: c.Watch},
		settled: -1, due: unit.Never, alone: true,
	}
	if c.Events != nil {
		w.log.sink = func(n event.Node, e event.Event) { c.Events(n.Name, e) }
	}
	w.partitions = make([]partition, 1)
	for i, m := range c.Machines {
		w.nodes = append(w.nodes, node{part: &w.partitions[0], machine: m.Machine, first: int32(len(w.ports)), ports: int32(m.Machine.Ports()), name: event.Node{Name: m.Name}})
		w.partitions[0].mine = append(w.partitions[0].mine, int32(i))
		for p := range unit.Port(m.Machine.Ports()) {
			w.ports = append(w.ports, port{node: int32(i), n: p, peer: -1})
		}
	}
	b := &Bench{w: w}
	for i, l := range c.Wires {
		if err := b.wire(l); err != nil {
			return nil, fmt.Errorf("sim: wire %d: %w", i, err)
		}
	}
	d := &w.partitions[0]
	d.w, d.nodes, d.ports, d.pool = w, w.nodes, w.ports, c.Pool
	d.timer = newTimers(timersOf(len(w.ports)), timersOf(len(w.ports)))
	d.soonest = unit.Never
	w.start()
	return b, nil
}

func (b *Bench) wire(l BenchWire) error {
	if l.Rate <= 0 {
		return fmt.Errorf("its rate is unlimited, and in virtual time frames would leave for ever without time going on; give it a rate")
	}
	var ends [2]int32
	for i, e := range []BenchPort{l.A, l.B} {
		if e.Machine < 0 || e.Machine >= len(b.w.nodes) || int32(e.Port) >= b.w.nodes[e.Machine].ports {
			return fmt.Errorf("port %d of machine %d: there is none", e.Port, e.Machine)
		}
		ends[i] = b.w.nodes[e.Machine].first + int32(e.Port)
		if b.w.ports[ends[i]].peer >= 0 {
			return fmt.Errorf("port %d of %s has a wire already", e.Port, b.w.nodes[e.Machine].name.Name)
		}
		b.w.ports[ends[i]].rate, b.w.ports[ends[i]].delay = l.Rate, l.Delay
		if wire := (impair.Wire{Faults: l.Faults}); !wire.Faultless() {
			b.w.ports[ends[i]].wire = &wire
		}
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("both its ends are port %d of %s", l.A.Port, b.w.nodes[l.A.Machine].name.Name)
	}
	b.w.ports[ends[0]].peer, b.w.ports[ends[1]].peer = ends[1], ends[0]
	return nil
}

// Play plays all that happens up to a time, which is the present one then.
func (b *Bench) Play(until unit.Time) error {
	for b.w.step(until) {
	}
	if err := b.w.failed(); err != nil {
		return err
	}
	b.w.now, b.w.partitions[0].now = until, until
	return nil
}

// Now is the present time.
func (b *Bench) Now() unit.Time { return b.w.now }

// Do calls fn, which may change a machine from outside, and then sends what the machine has to send.
func (b *Bench) Do(machine int, fn func(now unit.Time)) {
	fn(b.w.now)
	b.w.partitions[0].work(int32(machine))
}

// SetLink brings the wire at a port up or down. Frames on a wire that goes down are lost.
func (b *Bench) SetLink(at BenchPort, up bool) {
	e := b.w.nodes[at.Machine].first + int32(at.Port)
	b.w.setEnds([2]int32{e, b.w.ports[e].peer}, up)
}

// Frames is the number of frame-hops so far.
func (b *Bench) Frames() uint64 { return b.w.partitions[0].frames }

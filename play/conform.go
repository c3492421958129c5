package play

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"

	"softswitch/buffer"
	"softswitch/conform"
	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/watchdog"
	"softswitch/event"
	"softswitch/internal/progress"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/sim"
	"softswitch/unit"
)

//go:embed conform_self.yaml
var conformSelf []byte

// ConformSelf is the profile of softswitch's own switch. Its ports are wired to rings, too, which
// virtual time can do for each case; a lab has one switch, and the file no ring.
func ConformSelf() *conform.Profile {
	p, err := conform.Load("conform_self.yaml", conformSelf)
	if err != nil {
		panic(err) // it is in the program
	}
	var names []string
	for _, q := range p.Ports {
		names = append(names, q.Name)
	}
	p.Rings = []conform.Ring{{Kind: conform.Instances, Of: names}, {Kind: conform.Loops, Of: names}}
	return p
}

// ConformOptions are the settings of a conformance test.
type ConformOptions struct {
	Profile *conform.Profile
	Cases   []*conform.Case
	Seed    uint64
	// Switch, unless nil, changes the DUT's configuration in what a profile leaves open.
	Switch func(*config.Switch)
	// Wrap, unless nil, puts something between the DUT and its wires: a planted defect.
	Wrap func(dataplane.Machine) dataplane.Machine
	// Commands says that commands of the profile may run.
	Commands bool
	// Dir, unless "", is where the records of cases go that failed or are undecided, with the profile.
	Dir string
	// Soak is for how long the cases of a soak are played; 0: they are not.
	Soak unit.Time
	// Judged, unless nil, is called with each case that has ended.
	Judged func(conform.Outcome)
	// Draw says that the report is to be a page.
	Draw bool
	// Events, unless nil, is called with every event of the DUTs in order.
	Events func(machine string, e event.Event)
}

// keepConform is how many bytes of a stream's frame a simulation carries.
const keepConform = 128

// conformStep is how often a simulation looks whether a trial is over.
const conformStep = unit.Millisecond

// conformSlots is how many frames there can be in buffers and on wires at once.
const conformSlots = 1 << 18

// ConformSim tests softswitch's own switch, made as the profile promises it, in virtual time.
func ConformSim(ctx context.Context, opt ConformOptions, out io.Writer) (*conform.Report, error) {
	task := &conform.Task{Profile: opt.Profile, Seed: opt.Seed, Soak: opt.Soak, Tiny: true}
	session := conform.NewSession(task, opt.Cases)
	judged, failed := opt.saving(task)
	session.Judged, session.Draw = judged, opt.Draw
	work := progress.New(ctx, out, "cases", int64(session.Total()))
	defer work.Close()
	watch := func(unit.Time) error { return work.Set(int64(session.Played())) }
	w, err := newConformWorld(task, opt, watch)
	if err != nil {
		return nil, err
	}
	for script := session.Next(); script != nil; script = session.Next() {
		w := w
		if c, _ := session.Case(); c.Ring != "" { // a ring may lock for good: a new one each time
			if w, err = newRingWorld(task, opt, task.Ring(c.Ring), watch); err != nil {
				return nil, err
			}
		}
		r, err := w.play(script)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			session.Fault(err)
		default:
			session.Add(r)
		}
	}
	return session.Report(), failed()
}

// conformWorld is a tester and a DUT in virtual time, or several.
type conformWorld struct {
	bench   *sim.Bench
	tester  *conform.Tester
	pool    *buffer.Pool
	duts    []*dataplane.Switch
	config  sim.BenchConfig
	profile *conform.Profile
}

// conformTester is the machine of a conformWorld that is the tester. DUTs follow.
const conformTester = 0

// newConformWorld is a DUT with a port for each of the tester's.
func newConformWorld(task *conform.Task, opt ConformOptions, watch func(unit.Time) error) (*conformWorld, error) {
	w := conformTable(task, opt, watch)
	dut, err := w.add(opt, ConformSwitch(opt.Profile))
	if err != nil {
		return nil, err
	}
	for i, p := range opt.Profile.Ports {
		w.wire(sim.BenchPort{Machine: conformTester, Port: unit.Port(i)}, sim.BenchPort{Machine: dut, Port: unit.Port(i)}, p.Speed, opt)
	}
	w.bench, err = sim.NewBench(w.config)
	return w, err
}

// conformTable is a world with no DUT yet, and no wires.
func conformTable(task *conform.Task, opt ConformOptions, watch func(unit.Time) error) *conformWorld {
	w := &conformWorld{pool: buffer.NewPool(0, conformSlots, conformSlots, keepConform), profile: opt.Profile}
	w.tester = conform.NewTester(conform.TesterConfig{Task: task, Pool: w.pool, Keep: keepConform, Batch: 1})
	w.config = sim.BenchConfig{Machines: []sim.BenchMachine{{Name: "tester", Machine: w.tester}}, Pool: w.pool, Seed: opt.Seed, Watch: watch, Events: opt.Events}
	return w
}

// add adds a DUT, and returns the number of its machine.
func (w *conformWorld) add(opt ConformOptions, cfg config.Switch) (machine int, err error) {
	if opt.Switch != nil {
		opt.Switch(&cfg)
	}
	built := cfg.Build(cfg.Watchdog.Timed(catalog.Factories()[cfg.Detector]), 1, 0)
	built.Pool = w.pool
	dut, err := dataplane.NewSwitch(built)
	if err != nil {
		return 0, fmt.Errorf("conform: %w", err)
	}
	m := dataplane.Machine(dut)
	if opt.Wrap != nil {
		m = opt.Wrap(m)
	}
	w.duts = append(w.duts, dut)
	w.config.Machines = append(w.config.Machines, sim.BenchMachine{Name: cfg.Name, Machine: m})
	return len(w.config.Machines) - 1, nil
}

// wire joins two ports.
func (w *conformWorld) wire(a, b sim.BenchPort, rate unit.Rate, opt ConformOptions) {
	l := sim.BenchWire{A: a, B: b, Rate: rate}
	l.Delay = opt.Profile.Buffer.Delay
	w.config.Wires = append(w.config.Wires, l)
}

// play plays a script.
func (w *conformWorld) play(s *conform.Script) (*conform.Record, error) {
	b, began := w.bench, w.bench.Now()
	b.Do(conformTester, func(now unit.Time) { w.tester.Begin(now, s) })
	acts := slices.SortedStableFunc(slices.Values(s.Acts), func(x, y conform.Act) int { return int(x.At - y.At) })
	var readings []conform.Reading
	for _, a := range acts {
		if err := b.Play(began + a.At); err != nil {
			return nil, err
		}
		switch a.Do {
		case conform.LinkDown, conform.LinkUp:
			b.SetLink(sim.BenchPort{Machine: conformTester, Port: unit.Port(a.Port)}, a.Do == conform.LinkUp)
		case conform.ReadCounters:
			dut := observe.TakeSwitch(w.duts[0], nil)
			now, err := countersOf(w.profile, &dut)
			if err != nil {
				return nil, err
			}
			readings = append(readings, readAt(now, conform.Span{Lo: a.At, Hi: a.At})...)
		}
	}
	for until := began + s.End; ; until += conformStep {
		if err := b.Play(until); err != nil {
			return nil, err
		}
		if w.tester.Over(b.Now()) {
			break
		}
	}
	r, err := w.tester.Finish(b.Now())
	r.Readings = readings
	return r, err
}

// subnetOf is that of a port of a DUT that routes.
func subnetOf(q conform.Port) unit.Prefix {
	return unit.Prefix{Prefix: netip.PrefixFrom(q.Gateway.Netip(), 24).Masked()}
}

// ConformSwitch is the configuration of a switch that keeps what a profile promises.
func ConformSwitch(p *conform.Profile) config.Switch {
	known := func(k conform.Known, otherwise int) *int {
		if k.Is {
			otherwise = k.N
		}
		return &otherwise
	}
	s := config.Switch{Name: p.Name, ID: 1, MTU: max(p.MTU, config.DefaultMTU), Trust: p.Trust, DSCPMap: maps.Clone(p.DSCP)}
	if p.Trust == "both" {
		s.Trust = "dscp"
	}
	for i, q := range p.Ports {
		mac := q.MAC
		if mac == 0 {
			mac = unit.MAC(0x02_00_00_00_00_01 + i)
		}
		s.Ports = append(s.Ports, config.Port{Name: dutPort(q), MAC: mac, Peer: "host", Rate: q.Speed})
		if p.Forwarding == "routed" {
			s.Subnets = append(s.Subnets, config.Subnet{Prefix: subnetOf(q), Gateway: q.Gateway, Ports: []int{i}, GatewayMAC: q.GatewayMAC})
			s.ARP = append(s.ARP, config.ARP{IP: q.Address, MAC: conform.StationMAC(i)})
			s.MAC = append(s.MAC, config.MAC{MAC: conform.StationMAC(i), Port: i})
		}
	}
	s.PFC.Lossless = p.LosslessSet().List()
	s.PFC.Quanta = *known(p.PFC.Quanta, 65535)
	if p.PFC.Pause8023 == "honour" {
		s.PFC.Pause = "heed"
	}
	never := unit.Time(0)
	s.PFC.StormBudget = &never
	switch w := p.Watchdog; {
	case w == nil:
	case w.Contain > 0:
		s.PFC.StormBudget = &w.Contain
	default:
		s.Detector = map[string]string{"drop": watchdog.Name, "forward": watchdog.NameForward, "alert": watchdog.NameAlert}[w.Action]
		s.Watchdog = &config.Watchdog{Detection: &w.Detect, Restoration: &w.Restore, Poll: &w.Poll}
	}
	s.Sched = scheduler(p)
	if len(p.ECN) > 0 {
		s.ECN = &config.ECN{}
		for _, c := range slices.Sorted(maps.Keys(p.ECN)) {
			m := p.ECN[c]
			s.ECN.Priorities = append(s.ECN.Priorities, c)
			s.ECN.RED = &config.RED{Kmin: &m.Min, Kmax: m.Max, Pmax: int(m.Percent())}
		}
	}
	if p.Buffer.Pool.Is {
		size, own := p.Buffer.Pool.N, 0
		s.Buffer.HeadroomPool = &config.HeadroomPool{Size: &size, Port: &own}
	}
	s.Fill()
	xoff := *known(p.Buffer.XOFF, s.Buffer.Size+*s.Buffer.StaticTh)
	s.Buffer.Size = min(s.Buffer.Size, xoff)
	*s.Buffer.StaticTh = xoff - s.Buffer.Size
	s.Buffer.XONOffset = known(conform.Known{N: xoff - p.Buffer.XON.N, Is: p.Buffer.XON.Is}, *s.Buffer.XONOffset)
	s.Buffer.XOFF = known(p.Buffer.Headroom, *s.Buffer.XOFF)
	s.Buffer.Cell = *known(p.Buffer.Cell, 0)
	return s
}

// scheduler is how the priorities of a profile share a port.
func scheduler(p *conform.Profile) config.Scheds {
	all := config.Scheds{}
	for c, s := range p.Scheduler {
		if s.Strict {
			all[c] = config.Sched{Type: "strict"}
		} else {
			all[c] = config.Sched{Type: "dwrr", Weight: s.DWRR}
		}
	}
	return all
}

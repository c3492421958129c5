package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/internal/strictyaml"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// MaxWitnesses is for how many shapes of a report, the likeliest, witnesses are looked for.
const MaxWitnesses = 20

// Witnesses looks for a witness of the example of each of the first shapes of a report: a scenario of the
// same fabric, with other flows if need be, in which it deadlocks when it is played. It
// writes those that it finds into the folder dir, and draws a progress bar on out. data is
// the content of the scenario file.
func (k *Checked) Witnesses(ctx context.Context, data []byte, dir string, out io.Writer) error {
	shapes := k.Report.Shapes[:min(len(k.Report.Shapes), MaxWitnesses)]
	return k.witnesses(ctx, data, dir, lists.Map(shapes, func(s Shape) int { return s.Example }), out)
}

// witnesses looks for a witness of each of the cycles with these numbers.
func (k *Checked) witnesses(ctx context.Context, data []byte, dir string, numbers []int, out io.Writer) error {
	if err := safefile.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	searches := lists.Map(numbers, func(n int) search { return k.search(data, &k.Report.Cycles[n-1]) })
	err := progress.Each(ctx, out, "witnesses", len(searches), k.workers, func(i int) error { return searches[i].run(ctx) })
	if err != nil {
		return err
	}
	for i, n := range numbers {
		w := &Witness{Tries: searches[i].tries}
		k.Report.Cycles[n-1].Witness = w
		if text := searches[i].found; text != "" {
			w.File, w.Onset = filepath.Join(dir, fmt.Sprintf("%s-cycle%d.yaml", k.Report.Scenario, n)), searches[i].onset
			if err := safefile.WriteFile(w.File, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// search is the search for a witness.
type search struct {
	plan    *scenario.Plan
	cycle   *Cycle
	fabric  string   // the part of the file that is kept: all that builds the fabric
	routes  []string // lines of it
	fill    unit.Time
	options []option

	tries int
	found string // text of the witness
	onset unit.Time
}

// option is traffic that may close the cycle, and what fails.
type option struct {
	own    string // lines of the scenario file: the traffic that is its own
	flows  []scenario.Flow
	events []string // lines of a scenario file
	length unit.Time
	// starves says that strict queues keep others from sending, which a scenario has to expect.
	starves bool
}

// fabricKeys are the keys of a scenario file that a witness has as they are, in addition to routes.
var fabricKeys = []string{"topology", "buffer", "pfc", "trust", "dead", "flood", "prevention"}

// trafficKeys are those of its traffic.
var trafficKeys = []string{"flows", "workload", "congestion"}

// search prepares the search for a witness of a cycle.
func (k *Checked) search(data []byte, cy *Cycle) search {
	s := search{plan: k.plan, cycle: cy, fabric: strictyaml.Cut(data, fabricKeys...), routes: append(k.routes(), k.converged(cy)...), fill: fillTime(k.plan)}
	sc := k.plan.Scenario
	down := k.failures(cy)
	if len(cy.Flows) > 0 {
		if k.checker.Own(cy) { // the file itself
			s.options = append(s.options, option{own: strictyaml.Cut(data, append(trafficKeys, "events")...), length: sc.Duration})
		}
		always := slices.Clone(sc.Flows) // at line rate and for ever
		for i := range always {
			always[i].Rate, always[i].Start, always[i].Stop = 0, s.fill, 0
		}
		s.options = append(s.options,
			option{own: strictyaml.Cut(data, trafficKeys...), events: down, length: sc.Duration},
			option{flows: always, events: down, length: lengths * s.fill})
	}
	first := len(k.limited())
	most := cy.mostMembers()
	one, two := k.checker.Ways(cy, most, first), k.checker.Ways(cy, 2*most, first)
	for _, v := range []struct {
		ways    []Way
		frame   int
		stagger unit.Time
		slow    bool
	}{
		{ways: one, frame: 1000},
		{ways: one, frame: 1500, stagger: s.fill},
		{ways: two, frame: 1000},
		{ways: two, frame: 500, stagger: s.fill / 3},
		{ways: one, frame: 1000, slow: true},
		{ways: two, frame: 1500, slow: true},
	} {
		flows := k.limited()
		for i, w := range v.ways {
			for range spread(most) {
				flows = append(flows, scenario.Flow{
					Name: fmt.Sprintf("witness%d", len(flows)-first+1), From: w.From, To: w.To, NIC: w.NIC, ToNIC: w.ToNIC, Priority: w.Priority, Via: w.Via,
					Stream: host.Stream{Frame: v.frame, TTL: w.TTL, Start: s.fill + unit.Time(i)*v.stagger},
				})
			}
		}
		o := option{flows: flows, events: down, length: lengths * s.fill}
		if v.slow {
			o.events = append(slices.Clone(down), k.slow(v.ways, s.fill)...)
		}
		s.options = append(s.options, o)
	}
	return s
}

// mostMembers is how many links the widest hop has: 1 without LAGs.
func (c *Cycle) mostMembers() int {
	most := 1
	for _, h := range c.Hops {
		most = max(most, h.Members)
	}
	return most
}

// spread is how many flows take a way where LAGs have up to so many members: some for each pair of members
// of two LAGs, since a flow takes those that its hash chooses.
func spread(members int) int {
	if members == 1 {
		return 1
	}
	return 2 * members * members
}

// lengths is how long a witness is played, in times that it takes to fill a buffer.
const lengths = 200

// fillTime is how long the slowest link between switches takes to fill a priority group,
// and a pause to take effect.
func fillTime(p *scenario.Plan) (worst unit.Time) {
	bytes := p.Scenario.Buffer.Size + *p.Scenario.Buffer.XOFF
	if p.Scenario.Buffer.StaticTh != nil {
		bytes += *p.Scenario.Buffer.StaticTh
	} else {
		bytes += p.Scenario.Buffer.Pool / 8
	}
	for i, l := range p.Fabric.Links {
		if s := p.Links[i]; p.Fabric.Nodes[l.A.Node].Kind == topo.Switch && p.Fabric.Nodes[l.B.Node].Kind == topo.Switch {
			worst = max(worst, s.Rate.FrameTime(bytes)+4*s.Longest())
		}
	}
	return max(worst, unit.Microsecond)
}

// failures are the events that make fail what a cycle takes, at once.
func (k *Checked) failures(cy *Cycle) []string {
	return lists.Map(k.checker.Down(cy), func(l int) string {
		return fmt.Sprintf("  - {at: 0s, do: fail, link: %q}\n", k.plan.Fabric.Links[l].Name)
	})
}

// slow are the events by which the receivers take little, for some time.
func (k *Checked) slow(ways []Way, fill unit.Time) (events []string) {
	done := map[int]bool{}
	for _, w := range ways {
		if done[w.To] {
			continue
		}
		done[w.To] = true
		h := k.plan.Fabric.Nodes[w.To]
		rate := max(k.plan.Links[h.Ports[0].Link].Rate/10, 1)
		events = append(events, fmt.Sprintf("  - {at: %s, do: slow, host: %s, rate: %s, for: %s}\n", span(2*fill), h.Name, rate, span(20*fill)))
	}
	return events
}

// limited are the flows that the file's prevention names, so that it can be kept.
func (k *Checked) limited() (flows []scenario.Flow) {
	if v := k.plan.Scenario.Prevention; v != nil {
		done := map[int]bool{}
		for _, l := range v.Limits {
			if l.Flow != scenario.AnyFlow && !done[l.Flow] {
				done[l.Flow] = true
				flows = append(flows, k.plan.Scenario.Flows[l.Flow])
			}
		}
	}
	return flows
}

// routes are the file's routes, those of its flows' paths among them, as lines of a scenario
// file.
func (k *Checked) routes() (lines []string) {
	for _, o := range k.plan.Scenario.Routes {
		for _, to := range o.To {
			more := ""
			if !o.Ports.Empty() {
				more += ", ports: " + k.names(o.At, o.Ports)
			}
			if !o.Backup.Empty() || o.NoBackup {
				more += ", backup: " + k.names(o.At, o.Backup)
			}
			lines = append(lines, k.routeLine(o.At, to, more))
		}
	}
	return lines
}

// converged are lines of the routes that a protocol comes to in the first failures of a cycle: a run keeps
// those that it begins with.
func (k *Checked) converged(cy *Cycle) (lines []string) {
	c := k.checker
	down := c.Down(cy)
	c.setLinks(down, false)
	defer c.setLinks(down, true)
	for d := range c.dests {
		for s := range c.switches {
			if g, moved := c.routing.route(int32(s), d); moved && !g.Ports.Empty() {
				lines = append(lines, k.routeLine(s, d, ", ports: "+k.names(s, g.Ports)))
			}
		}
	}
	return lines
}

// routeLine is a line of a route, with its ports and backup.
func (k *Checked) routeLine(at, to int, more string) string {
	f := k.plan.Fabric
	return fmt.Sprintf("  - {at: %s, to: %s/%d%s}\n", f.Nodes[at].Name, f.Subnets[to].Addr, f.Subnets[to].Bits, more)
}

// names are the switches that ports of a switch lead to.
func (k *Checked) names(at int, ports unit.PortSet) string {
	f := k.plan.Fabric
	var names []string
	for j, p := range f.Nodes[at].Ports {
		if name := f.Nodes[p.Peer.Node].Name; ports.Has(unit.Port(j)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// list writes a list with its key, nothing for an empty one.
func list(b *strings.Builder, key string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s:\n", key)
	}
	for _, l := range lines {
		b.WriteString(l)
	}
}

// line is a flow as a scenario file of this length has it. What is later than that is at its
// end.
func (s *search) line(f scenario.Flow, length unit.Time) string {
	name := func(node int) string { return s.plan.Fabric.Nodes[node].Name }
	more := ""
	if f.Stop > 0 && f.Stop < length {
		more += ", stop: " + span(f.Stop)
	}
	if len(f.Via) > 0 {
		more += ", via: [" + strings.Join(lists.Map(f.Via, name), ", ") + "]"
	}
	nodes := s.plan.Fabric.Nodes
	if f.NIC != unit.NoPort && len(nodes[f.From].Ports) > 1 {
		more += fmt.Sprintf(", nic: %d", f.NIC)
	}
	if len(nodes[f.To].Ports) > 1 && !nodes[f.To].Shared {
		more += fmt.Sprintf(", to_nic: %d", f.ToNIC)
	}
	return fmt.Sprintf("  - {name: %q, from: %s, to: %s, priority: %d, rate: %s, frame: %d, ttl: %d, start: %s%s}\n",
		f.Name, name(f.From), name(f.To), f.Priority, f.Rate, f.Frame, f.TTL, span(min(f.Start, length-1)), more)
}

func span(t unit.Time) string { return strings.ReplaceAll(t.String(), "µ", "u") }

// run plays one option after the other until one deadlocks in the cycle.
func (s *search) run(ctx context.Context) error {
	for _, o := range s.options {
		plan, err := s.compile(&o)
		onset, ok := unit.Time(0), false
		if err == nil {
			s.tries++
			onset, ok, err = s.play(ctx, plan)
		}
		if err != nil {
			return fmt.Errorf("a witness of %s: %w", s.plan.Scenario.Name, err)
		}
		if ok {
			if o.length == lengths*s.fill { // leave time for detectors to find it, and for responses
				o.length = min(o.length, onset+lengths/2*s.fill)
			}
			if o.starves, err = s.starves(ctx, &o); err != nil {
				return fmt.Errorf("a witness of %s: %w", s.plan.Scenario.Name, err)
			}
			s.found, s.onset = s.text(&o), onset
			return nil
		}
	}
	return nil
}

// compile makes a plan of an option. Flows that cannot go the way they should go where
// they go.
func (s *search) compile(o *option) (*scenario.Plan, error) {
	plan, err := s.compileAsIs(o)
	if err == nil {
		return plan, nil
	}
	o.flows = slices.Clone(o.flows)
	for i := range o.flows {
		o.flows[i].Via = nil
	}
	return s.compileAsIs(o)
}

func (s *search) compileAsIs(o *option) (*scenario.Plan, error) {
	return load.Plan("witness", []byte(s.text(o)), load.Instead{Detector: "none"})
}

// text is the scenario file of an option.
func (s *search) text(o *option) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A deadlock that the fabric of %s allows:\n#\n", s.plan.Scenario.Name)
	for _, h := range s.cycle.Hops {
		fmt.Fprintf(&b, "#   %s, priority %d\n", h.Link, h.Priority)
	}
	fmt.Fprintf(&b, "name: %s-witness\n\n%s", s.plan.Scenario.Name, s.fabric)
	list(&b, "routes", s.routes)
	b.WriteString("\n" + o.own)
	list(&b, "flows", lists.Map(o.flows, func(f scenario.Flow) string { return s.line(f, o.length) }))
	list(&b, "events", o.events)
	fmt.Fprintf(&b, "\nduration: %s\n\nexpect:\n  deadlock: true\n  lossless_lost: any # on links that fail, and of routing loops\n", span(o.length))
	if o.starves {
		b.WriteString("  starved: true # by queues of strict priority\n")
	}
	return b.String()
}

// starves plays an option to its end, and reports whether queues of strict priority keep one from sending.
func (s *search) starves(ctx context.Context, o *option) (bool, error) {
	plan, err := s.compile(o)
	if err != nil {
		return false, err
	}
	v, err := sim.Play(plan, sim.Options{
		Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}, Watch: func(unit.Time) error { return ctx.Err() },
	})
	if err != nil {
		return false, err
	}
	return len(v.Starved) > 0, nil
}

// errOnset ends a simulation that has deadlocked.
var errOnset = errors.New("the cycle is stuck")

// play simulates a plan until the cycle is stuck, or to its end.
func (s *search) play(ctx context.Context, plan *scenario.Plan) (onset unit.Time, ok bool, err error) {
	_, err = sim.Play(plan, sim.Options{
		Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}, SampleAt: sim.Every(max(s.fill/4, 1)),
		Sample: func(now unit.Time, w *sim.World) {
			stuck := w.Stuck()
			closed := func(h Hop) bool { // of a LAG by any member
				return slices.ContainsFunc(h.Queues, func(at unit.NodePort) bool {
					return stuck.InCore(oracle.Queue{NodePort: at, Priority: unit.Priority(h.Priority)})
				})
			}
			if !ok && !slices.ContainsFunc(s.cycle.Hops, func(h Hop) bool { return !closed(h) }) {
				onset, ok = now, true
			}
		},
		Watch: func(unit.Time) error {
			if ok {
				return errOnset
			}
			return ctx.Err()
		},
	})
	if err != nil && !errors.Is(err, errOnset) {
		return 0, false, err
	}
	return onset, ok, nil
}

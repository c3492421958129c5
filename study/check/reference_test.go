package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// fabrics is how many random fabrics are held against the reference.
var fabrics = testkit.Sized(400, 2000)

// TestReference: the checker, which walks little of a case anew and looks for shortest
// cycles, finds in random fabrics what a plain recomputation of every case does, which
// lists every simple cycle: the same cases have cycles; every cycle found is one, and of
// no case of fewer failures; every edge of a new cycle that is a shortest one through it
// has one of that length; and the same for the flows. Every second fabric has hosts with several NICs, LAGs
// and routes of a protocol, which finds others after each failure.
func TestReference(t *testing.T) {
	seed := testkit.Seed(t)
	with, cycles, cases, flows, hidden, wide, moved := 0, 0, 0, 0, 0, 0, 0
	for i := range fabrics {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		text := randomFabric(rng)
		if i%2 == 1 {
			text = widened(rng, text)
		}
		c := randomChecker(t, i, text, i%2 == 1)
		if c == nil {
			continue
		}
		h := &held{c: c, ref: newReference(c.plan, c.priorities), results: resultsOf(c, 2)}
		h.check()
		if h.fault != "" {
			t.Fatalf("fabric %d: %s\n%s", i, h.fault, text)
		}
		cases += len(h.results)
		cycles += h.cycles
		flows += h.flows
		hidden += h.hidden
		if h.cycles > 0 {
			with++
			wide += i % 2
		}
		moved += h.ref.moved
	}
	t.Logf("%d tables of a protocol differ; %d fabrics with wide hosts, LAGs or a protocol have cycles", moved, wide)
	if wide < fabrics/16 || moved < fabrics {
		t.Errorf("%d wide fabrics with a cycle, %d tables that a protocol changes: too few to tell", wide, moved)
	}
	t.Logf("%d cases; %d fabrics with %d cycles; %d closed by flows; %d cases in which a longer cycle is new and no shortest one", cases, with, cycles, flows, hidden)
	if with < fabrics/4 || flows < fabrics/10 {
		t.Errorf("%d fabrics with a cycle, %d cycles of flows: too few to tell", with, flows)
	}
}

// held holds results against the reference.
type held struct {
	c                     *Checker
	ref                   *reference
	results               []*Result
	fault                 string
	cycles, flows, hidden int
}

func (h *held) faultf(format string, args ...any) {
	if h.fault == "" {
		h.fault = fmt.Sprintf(format, args...)
	}
}

func (h *held) check() {
	for i, r := range h.results {
		k := h.c.Case(i)
		name := fmt.Sprintf("%v %v", k.Kind, h.c.Name(k))
		h.hosts(name, k, r)
		for _, priority := range h.c.flowPriorities() {
			h.ofFlows(name, k, r, priority)
		}
	}
}

// hosts compares what hosts could close.
func (h *held) hosts(name string, k Case, r *Result) {
	edges := h.ref.oneOfEachLAG(h.ref.hostEdges(k.Links), k.Links)
	all := simpleCycles(edges)
	if r.Cyclic != (len(all) > 0) {
		h.faultf("%s: cyclic %v, and the reference has %d cycles: %v", name, r.Cyclic, len(all), all)
		return
	}
	old := func(cycle []hop) bool {
		return slices.ContainsFunc(h.fewer(k), func(e edgeSet) bool { return e.has(cycle) })
	}
	var got [][]hop
	for _, f := range r.cycles {
		if f.priorities != 0 {
			continue
		}
		cycle := h.hopsOf(f.edges, h.c.priorities)
		got = append(got, cycle)
		if !edges.has(cycle) || !isSimple(cycle) || old(cycle) {
			h.faultf("%s: %v is no new cycle", name, cycle)
		}
	}
	h.cycles += len(got)
	h.compare(name, all, got, old)
	if len(got) == 0 && slices.ContainsFunc(all, func(c []hop) bool { return !old(c) }) {
		h.hidden++
	}
}

// compare requires, for each edge on a cycle all of whose shortest ones are new, one of
// them in got.
func (h *held) compare(name string, all, got [][]hop, old func([]hop) bool) {
	shortest := map[turn][][]hop{}
	for _, cycle := range all {
		for i, a := range cycle {
			e := turn{a, cycle[(i+1)%len(cycle)]}
			switch best := shortest[e]; {
			case best == nil || len(cycle) < len(best[0]):
				shortest[e] = [][]hop{cycle}
			case len(cycle) == len(best[0]):
				shortest[e] = append(best, cycle)
			}
		}
	}
	for e, best := range shortest {
		if slices.ContainsFunc(best, old) {
			continue
		}
		if !slices.ContainsFunc(got, func(c []hop) bool { return len(c) == len(best[0]) && turns(c)[e] }) {
			h.faultf("%s: no cycle of %d hops through %v: %v, of %v", name, len(best[0]), e, got, best)
		}
	}
}

// ofFlows compares what the flows close in a priority.
func (h *held) ofFlows(name string, k Case, r *Result, priority unit.Priority) {
	closed := func(links []int) edgeSet { return h.ref.flowEdges(links, priority, h.c.alike) }
	edges := closed(k.Links)
	all := simpleCycles(edges)
	var fewer []edgeSet
	for _, links := range h.subsets(k) {
		fewer = append(fewer, closed(links))
	}
	old := func(cycle []hop) bool {
		return slices.ContainsFunc(fewer, func(e edgeSet) bool { return e.has(cycle) })
	}
	priorities := h.c.priorities
	if h.c.alike {
		priorities = []unit.Priority{priority}
	}
	var got [][]hop
	for _, f := range r.cycles {
		if f.priorities == 0 || h.c.alike && !f.priorities.Has(priority) {
			continue
		}
		cycle := h.hopsOf(f.edges, priorities)
		got = append(got, cycle)
		if !edges.has(cycle) || !isSimple(cycle) {
			h.faultf("%s: the flows of priority %d do not close %v", name, priority, cycle)
		}
	}
	h.flows += len(got)
	h.compare(name+", flows", all, got, old)
}

// fewer are the edges of the cases of fewer failures.
func (h *held) fewer(k Case) (all []edgeSet) {
	for _, links := range h.subsets(k) {
		all = append(all, h.ref.hostEdges(links))
	}
	return all
}

// subsets are what fails in the cases that count as fewer failures than k. A link to a host with an address at
// each of its links is no case.
func (h *held) subsets(k Case) [][]int {
	switch k.Kind {
	case NoFailure:
		return nil
	case LinkFailure, FileFailure:
		return [][]int{{}}
	}
	all := [][]int{{}}
	for _, l := range k.Links {
		if slices.Contains(h.c.links, l) {
			all = append(all, []int{l})
		}
	}
	return all
}

// hopsOf are the hops of a cycle of edges.
func (h *held) hopsOf(edges []edge, priorities []unit.Priority) (cycle []hop) {
	for _, e := range edges {
		n := h.c.tail(e)
		cycle = append(cycle, hop{h.c.linkName(n), priorities[h.c.priorityOf(n)]})
	}
	return cycle
}

// hop is a hop by its name.
type hop struct {
	link     string
	priority unit.Priority
}

type turn struct{ from, to hop }

// edgeSet is a set of edges.
type edgeSet map[turn]bool

func (e edgeSet) has(cycle []hop) bool {
	for t := range turns(cycle) {
		if !e[t] {
			return false
		}
	}
	return true
}

// turns are the edges of a cycle.
func turns(cycle []hop) map[turn]bool {
	all := map[turn]bool{}
	for i, a := range cycle {
		all[turn{a, cycle[(i+1)%len(cycle)]}] = true
	}
	return all
}

func isSimple(cycle []hop) bool { return len(turns(cycle)) == len(cycle) && len(cycle) > 1 }

// simpleCycles are all of them, by depth-first search from their least hop.
func simpleCycles(edges edgeSet) (all [][]hop) {
	next := map[hop][]hop{}
	for e := range edges {
		next[e.from] = append(next[e.from], e.to)
	}
	less := func(a, b hop) int {
		return strings.Compare(fmt.Sprint(a.link, " ", a.priority), fmt.Sprint(b.link, " ", b.priority))
	}
	var path []hop
	var visit func(root, at hop)
	visit = func(root, at hop) {
		path = append(path, at)
		for _, to := range next[at] {
			switch {
			case to == root:
				all = append(all, slices.Clone(path))
			case less(to, root) > 0 && !slices.Contains(path, to):
				visit(root, to)
			}
		}
		path = path[:len(path)-1]
	}
	for root := range next {
		visit(root, root)
	}
	return all
}

// reference recomputes a case from the plan's table of routes and rules, or from routes that it computes
// itself, for each pair of NICs, priority and TTL.
type reference struct {
	plan       *scenario.Plan
	priorities []unit.Priority // that hosts send in
	ttl        int
	dead       map[int]bool
	memo       map[string]edgeSet
	tables     map[string]*topo.Table
	moved      int // tables that are not that of no failure
}

func newReference(plan *scenario.Plan, priorities []unit.Priority) *reference {
	r := &reference{plan: plan, priorities: priorities, ttl: 64, dead: map[int]bool{}, memo: map[string]edgeSet{}, tables: map[string]*topo.Table{}}
	for _, f := range plan.Scenario.Flows {
		r.ttl = max(r.ttl, f.TTL)
	}
	for _, h := range plan.Scenario.Dead {
		r.dead[h] = true
	}
	return r
}

// table is the routes with these links down.
func (r *reference) table(down []int) *topo.Table {
	f := r.plan.Fabric
	if f.Routing.Protocol == topo.Backups {
		return r.plan.Table
	}
	key := fmt.Sprint(down)
	if t := r.tables[key]; t != nil {
		return t
	}
	t, differs := topo.NewTable(f), false
	for d := range f.Subnets {
		for s, ports := range r.told(d, down) {
			g := topo.Group{Ports: ports}
			for _, o := range r.plan.Scenario.Routes {
				if o.At == s && slices.Contains(o.To, d) && !o.Ports.Empty() {
					g = topo.Group{Ports: o.Ports, Backup: g.Backup.Without(o.Ports)}
				}
				if o.At == s && slices.Contains(o.To, d) && (!o.Backup.Empty() || o.NoBackup) {
					g = topo.Group{Ports: g.Ports.Without(o.Backup), Backup: o.Backup}
				}
			}
			t.Set(s, d, g)
			differs = differs || g != r.plan.Table.Group(s, d)
		}
	}
	if differs {
		r.moved++
	}
	r.tables[key] = t
	return t
}

// path is a way to a subnet, as a switch tells its neighbours: its switches, the owner last, and the ports
// at which it was told, from the owner on, which order ways of one length.
type path struct{ switches, told []int }

// told are the ports of each switch for a subnet, told from switch to switch until nothing changes. A switch
// takes no way with its own AS number, which with IGP is its own alone.
func (r *reference) told(d int, down []int) []unit.PortSet {
	f := r.plan.Fabric
	as := make([]int, f.Switches())
	for s := range as {
		as[s] = s
	}
	if shared := f.Routing.SharedAS; f.Routing.Protocol == topo.BGP {
		if shared == nil {
			shared = topo.SharedAS(f)
		}
		for _, group := range shared {
			for _, s := range group {
				as[s] = group[0]
			}
		}
	}
	best, owner := make([]*path, len(as)), make([]bool, len(as))
	for i, o := range f.Subnets[d].Owners() {
		owner[o.Switch] = !r.up(o.Switch, o.Ports, down).Empty()
		if owner[o.Switch] {
			best[o.Switch] = &path{[]int{o.Switch}, []int{i}}
		}
	}
	takes := func(s int, p topo.Port) *path {
		if p.Peer.Node >= len(as) || slices.Contains(down, p.Link) {
			return nil
		}
		by := best[p.Peer.Node]
		if by == nil || slices.ContainsFunc(by.switches, func(x int) bool { return as[x] == as[s] }) {
			return nil
		}
		return by
	}
	for changed := true; changed; {
		changed = false
		next := slices.Clone(best)
		for s := range best {
			if owner[s] {
				continue
			}
			next[s] = nil
			for _, p := range f.Nodes[s].Ports {
				by := takes(s, p)
				if by == nil {
					continue
				}
				way := &path{append([]int{s}, by.switches...), append(slices.Clone(by.told), int(p.Peer.Port))}
				if old := next[s]; old == nil || len(way.told) < len(old.told) || len(way.told) == len(old.told) && slices.Compare(way.told, old.told) < 0 {
					next[s] = way
				}
			}
			changed = changed || (next[s] == nil) != (best[s] == nil) || next[s] != nil && !slices.Equal(next[s].told, best[s].told)
		}
		best = next
	}
	ports := make([]unit.PortSet, len(as))
	for s := range ports {
		for j, p := range f.Nodes[s].Ports {
			if by := takes(s, p); best[s] != nil && !owner[s] && by != nil && len(by.told) == len(best[s].told)-1 {
				ports[s].Add(unit.Port(j))
			}
		}
	}
	return ports
}

// up are those of ports of switch s whose links are not down.
func (r *reference) up(s int, set unit.PortSet, down []int) (left unit.PortSet) {
	for j, p := range r.plan.Fabric.Nodes[s].Ports {
		if set.Has(unit.Port(j)) && !slices.Contains(down, p.Link) {
			left.Add(unit.Port(j))
		}
	}
	return left
}

// oneOfEachLAG are those of edges that take the lowest member of each LAG that is up.
func (r *reference) oneOfEachLAG(edges edgeSet, down []int) edgeSet {
	f := r.plan.Fabric
	other := map[string]bool{} // names of links, in both directions
	for _, lag := range f.LAGs {
		up := slices.DeleteFunc(slices.Clone(lag.Links), func(l int) bool { return slices.Contains(down, l) })
		for _, l := range up[min(1, len(up)):] {
			other[r.name(f.Links[l].A)], other[r.name(f.Links[l].B)] = true, true
		}
	}
	left := edgeSet{}
	for e := range edges {
		if !other[e.from.link] && !other[e.to.link] {
			left[e] = true
		}
	}
	return left
}

// priority is the priority in which a frame leaves switch s with a TTL.
func (r *reference) priority(s int, c unit.Priority, in, out unit.Port, ttl int) unit.Priority {
	v := r.plan.Scenario.Prevention
	lossless := r.plan.Scenario.PFC.Lossless
	switch {
	case v == nil || !slices.Contains(lossless, int(c)):
		return c
	case v.TTLBand > 0:
		for i := len(lossless) - 1; i > 0; i-- {
			if ttl <= v.TTLBand*(len(lossless)-i) {
				return unit.Priority(lossless[i])
			}
		}
		return unit.Priority(lossless[0])
	case v.Tags > 0:
		return r.plan.Tagging.Rules[s].Priority(c, in, out)
	}
	return c
}

// at is where a frame is: it came to a switch by a port, in a priority and with a TTL.
type at struct {
	s        int
	in       unit.Port
	priority unit.Priority
	ttl      int
}

// hostEdges are the edges of all pairs of NICs with these links down.
func (r *reference) hostEdges(down []int) edgeSet {
	key := fmt.Sprint(down)
	if e := r.memo[key]; e != nil {
		return e
	}
	f := r.plan.Fabric
	edges := edgeSet{}
	for dst := f.Switches(); dst < len(f.Nodes); dst++ {
		for nic := range f.Nodes[dst].Ports {
			seen := map[at]bool{}
			for src := f.Switches(); src < len(f.Nodes); src++ {
				if !r.dead[src] {
					r.walkFrom(src, topo.End{Node: dst, Port: unit.Port(nic)}, down, seen, edges)
				}
			}
		}
	}
	r.memo[key] = edges
	return edges
}

// walkFrom walks from all NICs of a host.
func (r *reference) walkFrom(src int, dst topo.End, down []int, seen map[at]bool, edges edgeSet) {
	for _, up := range r.plan.Fabric.Nodes[src].Ports {
		if slices.Contains(down, up.Link) {
			continue
		}
		for _, c := range r.priorities {
			for ttl := r.ttl; ttl > 0; ttl-- {
				r.walk(at{up.Peer.Node, up.Peer.Port, c, ttl}, dst, down, seen, edges)
				if v := r.plan.Scenario.Prevention; v == nil || v.TTLBand == 0 {
					break
				}
			}
		}
	}
}

func (r *reference) walk(x at, dst topo.End, down []int, seen map[at]bool, edges edgeSet) {
	if seen[x] || x.ttl <= 1 {
		return
	}
	seen[x] = true
	f := r.plan.Fabric
	outs, flooded := r.ways(x, dst, down)
	for ; !outs.Empty(); outs.Pop() {
		out := outs.First()
		priority := r.priority(x.s, x.priority, x.in, out, x.ttl-1)
		if !r.turn(x, out, priority, edges) {
			continue
		}
		if p := f.Nodes[x.s].Ports[out].Peer; !flooded {
			r.walk(at{p.Node, p.Port, priority, x.ttl - 1}, dst, down, seen, edges)
		}
	}
}

// turn adds the edge of a frame that leaves by out in priority, and reports whether it goes
// on to a switch in a lossless priority.
func (r *reference) turn(x at, out unit.Port, priority unit.Priority, edges edgeSet) bool {
	f := r.plan.Fabric
	if f.Nodes[x.s].Ports[out].Peer.Node >= f.Switches() || !slices.Contains(r.plan.Scenario.PFC.Lossless, int(priority)) {
		return false
	}
	if from := f.Nodes[x.s].Ports[x.in].Peer; from.Node < f.Switches() {
		edges[turn{hop{r.name(from), x.priority}, hop{r.name(topo.End{Node: x.s, Port: out}), priority}}] = true
	}
	return true
}

// name is the link by which a node sends out of a port.
func (r *reference) name(e topo.End) string {
	f := r.plan.Fabric
	l := f.Links[f.Nodes[e.Node].Ports[e.Port].Link]
	if l.A == e {
		return l.Name
	}
	a, b, _ := strings.Cut(l.Name, "--")
	b, nth, twice := strings.Cut(b, "#")
	if twice {
		nth = "#" + nth
	}
	return b + "--" + a + nth
}

// arrives reports whether a frame at switch s is where it goes: dst leads there, and its link is up if other
// switches lead to it too.
func (r *reference) arrives(s int, dst topo.End, down []int) bool {
	f := r.plan.Fabric
	for _, p := range f.Nodes[dst.Node].Ports {
		if f.Nodes[dst.Node].Shared && p.Peer.Node == s && !slices.Contains(down, p.Link) {
			return true
		}
	}
	return !f.Nodes[dst.Node].Shared && f.Nodes[dst.Node].Ports[dst.Port].Peer.Node == s
}

func (r *reference) ways(x at, dst topo.End, down []int) (outs unit.PortSet, flooded bool) {
	f := r.plan.Fabric
	d := f.SubnetAt(dst.Node, dst.Port)
	if r.arrives(x.s, dst, down) {
		v := r.plan.Scenario.Prevention
		if !r.dead[dst.Node] || v != nil && v.NoFlood {
			return unit.PortSet{}, false
		}
		outs, _ = f.Subnets[d].OwnedBy(x.s)
		if r.plan.Scenario.FloodAll {
			outs = unit.PortsBelow(len(f.Nodes[x.s].Ports))
		}
		return r.up(x.s, outs, down).Without(f.Nodes[x.s].LAG(x.in)), true
	}
	g := r.table(down).Group(x.s, d)
	if outs = r.up(x.s, g.Ports, down); outs.Empty() {
		outs = r.up(x.s, g.Backup, down)
	}
	if outs.Has(x.in) && outs.Len() > 1 {
		if outs = outs.Without(f.Nodes[x.s].LAG(x.in)); outs.Empty() {
			outs.Add(x.in)
		}
	}
	return outs, false
}

// flowEdges are the edges of the flows with these links down: those of a priority, unless
// priorities are not alike.
func (r *reference) flowEdges(down []int, priority unit.Priority, alike bool) edgeSet {
	edges := edgeSet{}
	for i, flow := range r.plan.Scenario.Flows {
		if slices.Contains(r.plan.Scenario.PFC.Lossless, int(flow.Priority)) && (!alike || flow.Priority == priority) {
			r.follow(flow, r.plan.Hash(i), down, edges)
		}
	}
	return edges
}

// follow adds the edges of a flow with a hash.
func (r *reference) follow(flow scenario.Flow, hash uint32, down []int, edges edgeSet) {
	f := r.plan.Fabric
	from, dst := &f.Nodes[flow.From], topo.End{Node: flow.To, Port: flow.ToNIC}
	nic := flow.NIC
	if nic == unit.NoPort {
		var up unit.PortSet
		for j, p := range from.Ports {
			if !slices.Contains(down, p.Link) {
				up.Add(unit.Port(j))
			}
		}
		nic = host.ChooseNIC(hash, from.ID, len(from.Ports), up)
	}
	if slices.Contains(down, from.Ports[nic].Link) {
		return
	}
	x := at{from.Ports[nic].Peer.Node, from.Ports[nic].Peer.Port, flow.Priority, flow.TTL}
	for x.ttl > 1 {
		if outs, flooded := r.ways(x, dst, down); flooded || outs.Empty() {
			for ; !outs.Empty(); outs.Pop() {
				r.turn(x, outs.First(), r.priority(x.s, x.priority, x.in, outs.First(), x.ttl-1), edges)
			}
			return
		}
		out := r.table(down).Route(x.s, f.SubnetAt(dst.Node, dst.Port), x.in, hash, func(l int) bool { return slices.Contains(down, l) })
		priority := r.priority(x.s, x.priority, x.in, out, x.ttl-1)
		if !r.turn(x, out, priority, edges) {
			return
		}
		p := f.Nodes[x.s].Ports[out].Peer
		x = at{p.Node, p.Port, priority, x.ttl - 1}
	}
}

// widened is a random fabric with more NICs of its hosts, LAGs, and a protocol.
func widened(rng *rand.Rand, text string) string {
	one := func(of int) bool { return rng.IntN(of) == 0 }
	list := func(key string) []string {
		_, rest, _ := strings.Cut(text, "  "+key+": [")
		all, _, _ := strings.Cut(rest, "]")
		return strings.Split(all, ", ")
	}
	switches, links := list("switches"), list("links")
	var more, shared, lags []string
	for _, h := range list("hosts") {
		first := slices.IndexFunc(links, func(l string) bool { return strings.HasPrefix(l, h+"--") })
		at := strings.TrimPrefix(links[first], h+"--")
		if next := switches[rng.IntN(len(switches))]; one(2) && next != at {
			more = append(more, h+"--"+next)
			if one(2) && !strings.Contains(text, "dead: ["+h+"]") {
				shared = append(shared, h)
			}
		}
	}
	for _, l := range links {
		a, b, _ := strings.Cut(l, "--")
		if !strings.HasPrefix(a, "s") || !one(4) || strings.Count(strings.Join(links, " ")+" ", l+" ")+strings.Count(strings.Join(links, " ")+" ", b+"--"+a+" ") > 1 {
			continue
		}
		lags = append(lags, fmt.Sprintf("{link: %s, members: 2}", l))
	}
	key := "  shared_address: [" + strings.Join(shared, ", ") + "]\n  lags: [" + strings.Join(lags, ", ") + "]\n"
	switch routing := []string{"backups", "igp", "bgp"}[rng.IntN(3)]; {
	case routing == "bgp" && one(2):
		key += fmt.Sprintf("  routing: bgp\n  shared_as: [[%s, %s]]\n", switches[0], switches[1+rng.IntN(len(switches)-1)])
	default:
		key += "  routing: " + routing + "\n"
	}
	text = strings.Replace(text, "  links: [", "  links: ["+strings.Join(append(more, ""), ", "), 1)
	return strings.Replace(text, "  rate:", key+"  rate:", 1)
}

// randomFabric is a scenario file: a few switches, with routes of their own, dead hosts,
// flows, failures and preventions.
func randomFabric(rng *rand.Rand) string {
	var b strings.Builder
	one := func(of int) bool { return rng.IntN(of) == 0 }
	levels := one(4)
	var names, links, hosts []string
	near := map[string][]string{}
	link := func(x, y string) {
		links = append(links, x+"--"+y)
		near[x], near[y] = append(near[x], y), append(near[y], x)
	}
	if levels {
		leaves := 2 + rng.IntN(3)
		for i := range leaves + 2 {
			names = append(names, fmt.Sprintf("s%d", i))
		}
		for i := range leaves {
			for _, spine := range names[leaves:] {
				link(names[i], spine)
			}
		}
		for i := range leaves {
			hosts = append(hosts, fmt.Sprintf("h%d", i))
			links = append(links, fmt.Sprintf("h%d--s%d", i, i))
		}
	} else {
		for i := range 3 + rng.IntN(3) {
			names = append(names, fmt.Sprintf("s%d", i))
			if i > 0 {
				link(names[i], names[rng.IntN(i)])
			}
		}
		for range 1 + rng.IntN(4) {
			if x, y := names[rng.IntN(len(names))], names[rng.IntN(len(names))]; x != y {
				link(x, y)
			}
		}
		for i, s := range names {
			for range rng.IntN(3) {
				h := fmt.Sprintf("h%d-%d", i, len(hosts))
				hosts = append(hosts, h)
				links = append(links, h+"--"+s)
			}
		}
		for len(hosts) < 2 {
			h := fmt.Sprintf("x%d", len(hosts))
			hosts = append(hosts, h)
			links = append(links, h+"--"+names[len(hosts)])
		}
	}
	fmt.Fprintf(&b, "name: random\nduration: 1s\ntopology:\n  switches: [%s]\n  hosts: [%s]\n  links: [%s]\n  rate: 1Gbit/s\n",
		strings.Join(names, ", "), strings.Join(hosts, ", "), strings.Join(links, ", "))
	head := "routes:\n"
	for range rng.IntN(6) {
		at := names[rng.IntN(len(names))]
		to := hosts[rng.IntN(len(hosts))]
		next := near[at][rng.IntN(len(near[at]))]
		if slices.Contains(links, to+"--"+at) {
			continue
		}
		fmt.Fprintf(&b, "%s  - {at: %s, to: %s, %s: [%s]}\n", head, at, to, []string{"ports", "ports", "backup"}[rng.IntN(3)], next)
		head = ""
	}
	dead := map[string]bool{}
	if one(4) {
		dead[hosts[rng.IntN(len(hosts))]] = true
		fmt.Fprintf(&b, "dead: [%s]\nflood: %s\n", slices.Collect(maps.Keys(dead))[0], []string{"all", "hosts"}[rng.IntN(2)])
	}
	head = "flows:\n"
	for i := range rng.IntN(7) {
		from, to := hosts[rng.IntN(len(hosts))], hosts[rng.IntN(len(hosts))]
		if from == to || dead[from] {
			continue
		}
		fmt.Fprintf(&b, "%s  - {name: F%d, from: %s, to: %s, priority: %d, ttl: %d}\n", head, i, from, to, []int{3, 3, 3, 4, 0}[rng.IntN(5)], []int{64, 64, 3, 5}[rng.IntN(4)])
		head = ""
	}
	head = "events:\n"
	for i := range rng.IntN(3) {
		fmt.Fprintf(&b, "%s  - {at: %dms, do: fail, link: %s}\n", head, i, links[rng.IntN(len(links))])
		head = ""
	}
	switch {
	case one(3) && levels:
		fmt.Fprintf(&b, "prevention: {tagger: {lossless: %d}}\n", 1+rng.IntN(2))
	case one(8):
		fmt.Fprintf(&b, "prevention: {ttl_band: %d}\n", 2+rng.IntN(30))
	case one(8):
		fmt.Fprintf(&b, "prevention: {no_flood: true}\n")
	}
	return b.String()
}

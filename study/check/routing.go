package check

import (
	"slices"

	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// routing is the routes that a protocol has come to in a case, where they are not those of no failure less
// the ports that are down. Before it has, frames are dropped that have no port left, which adds no waiting.
type routing struct {
	router *topo.Router
	uses   [][]int32 // by link: the destinations of which a route takes it, or that it leads to, ascending
	static map[[2]int][]*scenario.Override
	own    []bool // by destination: the file says routes to it
	odd    []bool // by destination: its routes may change where every switch keeps a port

	moved  []bool    // by destination: some switch has another route
	fewer  []bool    // by destination that is moved: no switch that frames come to has a port more
	index  [][]int32 // by destination and switch: index in groups, -1 for the route of no failure
	groups []topo.Group

	reached []bool // by switch
	queue   []int32
}

// newRouting prepares the routing of a plan; it is nil if the switches have no protocol.
func newRouting(plan *scenario.Plan) *routing {
	f := plan.Fabric
	if f.Routing.Protocol == topo.Backups {
		return nil
	}
	r := &routing{uses: make([][]int32, len(f.Links)), static: map[[2]int][]*scenario.Override{}, own: make([]bool, len(f.Subnets)), odd: make([]bool, len(f.Subnets))}
	for i := range plan.Scenario.Routes {
		o := &plan.Scenario.Routes[i]
		for _, d := range o.To {
			r.static[[2]int{o.At, d}] = append(r.static[[2]int{o.At, d}], o)
			r.own[d], r.odd[d] = true, true
			r.use(f, o.At, d, o.Ports.Or(o.Backup))
		}
	}
	r = r.clone(f)
	for d := range f.Subnets {
		for _, o := range f.Subnets[d].Owners() {
			r.use(f, o.Switch, d, o.Ports)
		}
		r.router.Aim(d)
		r.odd[d] = r.odd[d] || !r.router.Uniform()
		for s := range f.Switches() {
			r.use(f, s, d, r.router.Group(s).Ports)
		}
	}
	for l, dests := range r.uses {
		slices.Sort(dests)
		r.uses[l] = slices.Compact(dests)
	}
	return r
}

func (r *routing) use(f *topo.Fabric, s, d int, ports unit.PortSet) {
	for ; !ports.Empty(); ports.Pop() {
		l := f.Nodes[s].Ports[ports.First()].Link
		r.uses[l] = append(r.uses[l], int32(d))
	}
}

// clone is a routing for another checker.
func (r *routing) clone(f *topo.Fabric) *routing {
	if r == nil {
		return nil
	}
	return &routing{
		router: topo.NewRouter(f), uses: r.uses, static: r.static, own: r.own, odd: r.odd,
		moved: make([]bool, len(f.Subnets)), fewer: make([]bool, len(f.Subnets)), index: make([][]int32, len(f.Subnets)),
		reached: make([]bool, f.Switches()),
	}
}

// converge finds the routes with these links down, and no others.
func (c *Checker) converge(links []int) {
	r := c.routing
	if r == nil {
		return
	}
	var dests []int32
	for _, l := range links {
		r.router.SetLink(l, false)
		dests = append(dests, r.uses[l]...)
	}
	slices.Sort(dests)
	for _, d := range slices.Compact(dests) {
		if c.shifts(links, int(d)) {
			c.reroute(int(d))
		}
	}
	for _, l := range links {
		r.router.SetLink(l, true)
	}
}

// reroute notes the routes to destination d that are others than those of no failure.
func (c *Checker) reroute(d int) {
	r := c.routing
	r.router.Aim(d)
	for s := range c.switches {
		g, was := r.router.Group(s), c.plan.Table.Group(s, d)
		for _, o := range r.static[[2]int{s, d}] {
			g = o.Of(g)
		}
		if g == was || c.active(s, g) == c.active(s, was) {
			continue
		}
		if !r.moved[d] {
			r.moved[d] = true
			r.index[d] = append(r.index[d][:0], slices.Repeat([]int32{-1}, len(c.switches))...)
		}
		r.index[d][s] = int32(len(r.groups))
		r.groups = append(r.groups, g)
	}
	r.fewer[d] = r.moved[d] && !c.adds(d)
}

// active are the ports of a route of switch s that serve.
func (c *Checker) active(s int, g topo.Group) unit.PortSet {
	if c.touched[s] == 0 {
		if g.Ports.Empty() {
			return g.Backup
		}
		return g.Ports
	}
	var up unit.PortSet
	for j, p := range c.plan.Fabric.Nodes[s].Ports {
		if !c.down[p.Link] {
			up.Add(unit.Port(j))
		}
	}
	if ports := g.Ports.And(up); !ports.Empty() {
		return ports
	}
	return g.Backup.And(up)
}

// heal takes the routes of no failure again.
func (r *routing) heal() {
	if r != nil {
		clear(r.moved)
		r.groups = r.groups[:0]
	}
}

// isMoved reports whether some switch has another route to destination d than while nothing fails.
func (r *routing) isMoved(d int) bool { return r != nil && r.moved[d] }

// growsNone reports whether frames for destination d take no edge that they do not take while nothing fails.
func (r *routing) growsNone(d int) bool { return r != nil && !r.own[d] && (!r.moved[d] || r.fewer[d]) }

// route is the route of switch s to destination d, if it is another than while nothing fails.
func (r *routing) route(s int32, d int) (g topo.Group, moved bool) {
	if !r.isMoved(d) || r.index[d][s] < 0 {
		return g, false
	}
	return r.groups[r.index[d][s]], true
}

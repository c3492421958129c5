package check

import (
	"cmp"
	"slices"

	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Removal takes the port Out from the route of switch At to the subnet To, from its ports
// and its backup. Of a LAG it takes all ports; Out is the first.
type Removal struct {
	At, To int
	Out    unit.Port
}

// Cuts are, for each turn of a cycle of this checker's report, removals that together take
// the turn away, in the first of its failures: of each route by which frames take it, or of
// the one by which they reach the switch, so that no frames are lost while nothing fails,
// if one of the two can be spared.
func (c *Checker) Cuts(cy *Cycle) [][]Removal {
	edges := cy.merged.edges
	cuts := make([][]Removal, len(edges))
	c.eachWalk(cy, func(d int, all []edge) {
		for j, e := range edges {
			if !slices.Contains(all, e) {
				continue
			}
			n := c.tail(e)
			from := c.ports[c.portOf(n).peer]
			r := Removal{At: int(from.sw), To: d, Out: c.firstOfLAG(from.sw, from.n)}
			if own := c.removal(d, e); c.portOf(n).sw != c.dests[d].owner && (c.Spare(own) || !c.Spare(r)) {
				r = own
			}
			cuts[j] = append(cuts[j], r)
		}
	})
	return cuts
}

// Spare reports whether a removal is of a backup's port.
func (c *Checker) Spare(r Removal) bool { return c.plan.Table.Group(r.At, r.To).Backup.Has(r.Out) }

// Steps are removals of which every set that breaks a cycle has one: of the steps of one
// way to each of its turns.
func (c *Checker) Steps(cy *Cycle) (steps []Removal) {
	edges := cy.merged.edges
	done := make([]bool, len(edges))
	add := func(r Removal) {
		outs := r.Out.Set()
		if g := c.plan.Table.Group(r.At, r.To); g.Backup.Has(r.Out) {
			outs = outs.Or(g.Ports) // other ports may be up where these are not
		}
		for ; !outs.Empty(); outs.Pop() {
			if r.Out = c.firstOfLAG(int32(r.At), outs.First()); !slices.Contains(steps, r) {
				steps = append(steps, r)
			}
		}
	}
	c.eachWalk(cy, func(d int, all []edge) {
		for j, e := range edges {
			if done[j] || !slices.Contains(all, e) {
				continue
			}
			done[j] = true
			if c.portOf(c.tail(e)).sw != c.dests[d].owner {
				add(c.removal(d, e))
			}
			n := c.tail(e)
			for ; c.walker.start[n] < 0; n = c.tail(c.walker.via[n]) {
				add(c.removal(d, c.walker.via[n]))
			}
			first := c.ports[c.portOf(n).peer]
			add(Removal{At: int(first.sw), To: d, Out: c.firstOfLAG(first.sw, first.n)})
		}
	})
	return steps
}

// eachWalk walks every destination in the first failures of a cycle.
func (c *Checker) eachWalk(cy *Cycle, fn func(d int, all []edge)) {
	k := c.Case(cy.merged.cases[0])
	c.setLinks(k.Links, false)
	for d := range c.dests {
		fn(d, c.walk(d, nil))
	}
	c.setLinks(k.Links, true)
}

// removal takes edge e from the routes to destination d.
func (c *Checker) removal(d int, e edge) Removal {
	at := c.portOf(c.tail(e)).sw
	return Removal{At: int(at), To: d, Out: c.firstOfLAG(at, unit.Port(int(e)/len(c.priorities)%c.width))}
}

// Overrides are the routes of a plan after removals, in the order of switches and subnets.
// A route that loses its last port is as it would be without the file's routes, or else
// uses its backup. ok is false if one is left without a port.
func Overrides(plan *scenario.Plan, computed *topo.Table, removals []Removal) (all []scenario.Override, ok bool) {
	sorted := slices.Clone(removals)
	slices.SortFunc(sorted, func(a, b Removal) int { return cmp.Or(a.At-b.At, a.To-b.To) })
	for i := 0; i < len(sorted); {
		at, to := sorted[i].At, sorted[i].To
		var out unit.PortSet
		for ; i < len(sorted) && sorted[i].At == at && sorted[i].To == to; i++ {
			out = out.Or(plan.Fabric.Nodes[at].LAG(sorted[i].Out))
		}
		g := plan.Table.Group(at, to)
		o := scenario.Override{At: at, To: []int{to}, Ports: g.Ports.Without(out), Backup: g.Backup.Without(out)}
		if o.Ports.Empty() {
			o.Ports = computed.Group(at, to).Ports.Without(out)
		}
		if o.Ports.Empty() {
			o.Ports = o.Backup
		}
		o.Backup = o.Backup.Without(o.Ports)
		o.NoBackup = o.Backup.Empty()
		if o.Ports.Empty() {
			return nil, false
		}
		all = append(all, o)
	}
	return all, true
}

// Delivers reports, by subnet, whether frames for it arrive while nothing fails, from
// every host that may send.
func (c *Checker) Delivers() []bool {
	all := make([]bool, len(c.dests))
	for d, to := range c.dests {
		all[d] = c.delivers(d, to)
	}
	return all
}

func (c *Checker) delivers(d int, to dest) bool {
	if len(c.priorities) == 0 {
		return true
	}
	edges := c.walk(d, nil)
	ends := func(s int32, in unit.Port, priority int) bool {
		outs, _ := c.switches[s].Ways(in, to.addr, c.priorities[priority])
		return s != to.owner && outs.Empty()
	}
	for s, ports := range c.from {
		if slices.ContainsFunc(ports, func(in unit.Port) bool { return ends(int32(s), in, 0) }) {
			return false
		}
	}
	if slices.ContainsFunc(c.walker.queue, func(n node) bool { return ends(c.portOf(n).sw, c.portOf(n).n, c.priorityOf(n)) }) {
		return false
	}
	edges = slices.DeleteFunc(edges, func(e edge) bool { return c.portOf(c.tail(e)).sw == to.owner })
	slices.Sort(edges)
	c.g.build(c, edges)
	return c.g.comps == 0
}

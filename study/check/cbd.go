// Package check finds the cyclic buffer dependencies (CBD) of a scenario: what could lock
// its fabric, before it happens (Hu et al., "Deadlocks in Datacenter Networks", section 2).
//
// The buffers are hops: the frames of one priority on one direction of a link between two
// switches. What a switch receives by it is charged to one priority group, and the pauses
// of that group stop the one queue that sends into it; so a hop is both. It waits for
// another if a frame can come by the one and leave by the other. A cycle of hops that wait
// for one another can fill and then never empty.
//
//	             routes, backups,      every host to every subnet,
//	plan ------> flooding, priorities --> or the flows of the file  --> edges between hops
//	  |          (dataplane.Ways)                                          |
//	  '--> cases: no failure, the file's own, every link, every            v
//	       switch, every pair of links                     strongly connected components,
//	                                                       shortest cycle through each edge
//	                                                                       |
//	             Report <-- which flows or hosts close it <-- cycles by the fewest failures
//
// Read in this order: Checker (this file), table.go (what switches say while nothing fails), walk.go
// (where frames can go), cases.go (what fails), check.go (one case), change.go (how little of it is walked
// again), routing.go (the routes of a protocol), pairs.go and shifts.go (which two links need no check of the
// whole fabric), graph.go (components and shortest cycles), shortest.go (how little of it is searched again),
// merge.go (the cycles of all cases), report.go, explain.go (who takes the turns of a cycle); then ways.go
// (how a cycle could be closed) and cure.go (which routes make it); last run.go, witness.go and cures.go,
// which check on all processors, play what was found, and try what breaks it.
//
// Invariants:
//   - the switch's own word: by which ports and in which priority a frame leaves is asked of
//     a dataplane.Switch with the plan's configuration, links down as in the case; of one with all
//     links up once, before the first case;
//   - only what can be: an edge is one that frames of some host that may send, for some
//     subnet, take on their way; of a flow of the file, those that its hash chooses;
//   - one answer: the same plan has the same report, however many cases are checked at
//     once.
//
// What it does not do: it does not say
// whether there is enough traffic to fill a cycle; it does not look at the moments in which
// frames of the routes before a failure meet those of the routes after it.
package check

import (
	"errors"
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// usualTTL is the TTL of what hosts send, unless a flow of the file has a greater one.
const usualTTL = 64

// Checker holds a plan's switches and what frames can do in them. It is changed by
// checking; Clone makes one for another goroutine.
type Checker struct {
	plan     *scenario.Plan
	switches []*dataplane.Switch
	events   []event.Event // of switches, for nobody

	// priorities are the lossless priorities that are told apart. If no switch changes the priority
	// of a frame they are all alike, and the first one stands for all.
	priorities []unit.Priority
	alike      bool
	idle       []bool // by group: the hop stops nobody (ports.go); nil if there is none
	group      []node // by node: the hop of its group (ports.go); nil if each is its own
	lossless   []unit.Priority
	index      [unit.Priorities]int8 // in priorities, -1 for a lossy priority
	bands      bool                  // the priority of a frame follows its TTL
	ttl        int

	first   []int32 // by switch: the number of its port 0
	ports   []port
	width   int // the most ports of a switch
	dests   []dest
	from    [][]unit.Port // by switch: its ports to hosts that may send
	links   []int         // that fail, by index in the fabric: between switches, and of hosts with one address at several
	indexOf []int         // by link of the fabric: its index in links, -1 for one that does not fail

	between int // of links: between switches

	file [][]int // links that are down together by the file's events

	supposed []int // links that are down in every case (Suppose)

	table  table
	counts []int32 // by edge: by how many destinations there is one
	flows  []flow

	known known

	routing *routing // nil where the switches have no protocol
	down    []bool   // by link: it is down
	touched []int32  // by switch: how many of its links are down
	walker  walker
	change  change
	g       graph
	kept    distinct // of hostCycles
	marked  []bool   // by edge: it is one of those that are looked at
	did     did
}

// did is what a checker has done, beside the searches of its graph: a measure that no processor changes.
type did struct {
	walks     int // of a destination
	questions int // to a switch, by which ports frames leave
}

// port is a port of a switch, among those of all.
type port struct {
	sw   int32
	n    unit.Port
	peer int32 // number of the far end, -1 for a host
	link int32
}

// dest is a subnet that frames are for.
type dest struct {
	owner int32  // -1 if there are several: each may send on what is for a host to which its link is down
	addr  uint32 // of a host there
	dead  uint32 // of a host there whose frames are flooded, 0 for none
	hosts []int  // of a subnet with several owners
}

// flow is a flow of the file.
type flow struct {
	priority unit.Priority
	hash     uint32
	edges    []edge // while nothing fails
	hops     []int32
}

// node is a hop: the port that it comes in by, and its priority.
type node = int32

// edge is a hop and the port and priority in which its frames may go on.
type edge int32

// limits of what is checked.
const (
	maxWalk = 40_000_000 // ports times priorities times subnets
	maxEdge = 1 << 27
)

// Refuse says why a scenario is too large to check, before its routes are computed; nil
// if it is not.
func Refuse(s *scenario.Scenario) error {
	f := s.Fabric
	if len(f.Subnets) == 0 {
		return errors.New("no hosts: nobody can send")
	}
	ports, width := 0, 0
	for i := range f.Switches() {
		ports += len(f.Nodes[i].Ports)
		width = max(width, len(f.Nodes[i].Ports))
	}
	priorities := 1
	if tellsPriorities(s) {
		priorities = len(toldApart(s))
	}
	if n := ports * priorities * len(f.Subnets); n > maxWalk {
		return fmt.Errorf("%d switches with %d ports, %d subnets: %d ports times lossless priorities that differ times subnets; at most %d can be checked",
			f.Switches(), ports, len(f.Subnets), n, maxWalk)
	}
	if n := ports * priorities * priorities * width; n > maxEdge {
		return fmt.Errorf("%d switches with %d ports: %d turns; at most %d can be checked", f.Switches(), ports, n, maxEdge)
	}
	return nil
}

func tellsPriorities(s *scenario.Scenario) bool {
	return s.Ports != nil || s.Prevention != nil && (s.Prevention.Tags > 0 || s.Prevention.TTLBand > 0)
}

// New prepares a plan that Refuse does not refuse. The plan is not changed. step, unless it
// is nil, is called for each subnet of the fabric; its error ends the work.
func New(plan *scenario.Plan, step func() error) (*Checker, error) {
	s := plan.Scenario
	c := &Checker{plan: plan, alike: !tellsPriorities(s), ttl: usualTTL, bands: s.Prevention != nil && s.Prevention.TTLBand > 0}
	for _, f := range s.Flows {
		c.ttl = max(c.ttl, f.TTL)
	}
	c.number()
	for i := range c.index {
		c.index[i] = -1
	}
	for _, p := range s.Lossless() {
		c.lossless = append(c.lossless, unit.Priority(p))
	}
	for _, p := range toldApart(s) {
		if c.alike {
			c.index[p] = 0
			c.priorities = c.lossless[:1]
			continue
		}
		c.index[p] = int8(len(c.priorities))
		c.priorities = append(c.priorities, unit.Priority(p))
	}
	if err := c.makeSwitches(); err != nil {
		return nil, err
	}
	c.findGroups()
	c.file = fileFailures(plan)
	if err := c.prepare(step); err != nil {
		return nil, err
	}
	return c, nil
}

// number numbers the ports of switches, and finds out who may send where to.
func (c *Checker) number() {
	f := c.plan.Fabric
	n := f.Switches()
	dead := make([]bool, len(f.Nodes))
	for _, h := range c.plan.Scenario.Dead {
		dead[h] = true
	}
	c.first, c.from = make([]int32, n), make([][]unit.Port, n)
	for s := range n {
		c.first[s] = int32(len(c.ports))
		c.width = max(c.width, len(f.Nodes[s].Ports))
		for j, p := range f.Nodes[s].Ports {
			c.ports = append(c.ports, port{sw: int32(s), n: unit.Port(j), peer: -1, link: int32(p.Link)})
			if p.Peer.Node >= n && !dead[p.Peer.Node] {
				c.from[s] = append(c.from[s], unit.Port(j))
			}
		}
	}
	for l, link := range f.Links {
		if link.A.Node < n && link.B.Node < n {
			a, b := c.portNumber(link.A.Node, link.A.Port), c.portNumber(link.B.Node, link.B.Port)
			c.ports[a].peer, c.ports[b].peer = b, a
			c.links = append(c.links, l)
			c.between++
			continue
		}
		if h := max(link.A.Node, link.B.Node); f.Nodes[h].Shared {
			c.links = append(c.links, l)
		}
	}
	c.indexLinks()
	for _, sub := range f.Subnets {
		d := dest{owner: int32(sub.Switch), addr: uint32(sub.Gateway + 1)}
		if len(sub.Others) > 0 {
			d.owner = -1
			for ports := sub.Ports; !ports.Empty(); ports.Pop() {
				d.hosts = append(d.hosts, f.Nodes[sub.Switch].Ports[ports.First()].Peer.Node)
			}
		}
		for ports := sub.Ports; !ports.Empty(); ports.Pop() {
			if h := f.Nodes[sub.Switch].Ports[ports.First()].Peer.Node; dead[h] {
				d.dead = uint32(f.Nodes[h].Addr)
			}
		}
		c.dests = append(c.dests, d)
	}
}

func (c *Checker) portNumber(sw int, p unit.Port) int32 { return c.first[sw] + int32(p) }

// makeSwitches makes the switches of the plan, with all links up. They forward nothing
// and share an empty pool.
func (c *Checker) makeSwitches() error {
	pool := buffer.NewPool(0, 1, 1, 64)
	c.switches = make([]*dataplane.Switch, len(c.plan.Switches))
	for i := range c.plan.Switches {
		cfg := c.plan.Switches[i].Build(nil, 1, 0)
		cfg.Pool = pool
		sw, err := dataplane.NewSwitch(cfg)
		if err != nil {
			return err
		}
		c.switches[i] = sw
		for p := range cfg.Ports {
			sw.SetLink(0, unit.Port(p), true)
		}
		_, c.events = sw.Work(c.events[:0])
	}
	return nil
}

// prepare computes the edges while nothing fails.
func (c *Checker) prepare(step func() error) error {
	nodes := len(c.ports) * len(c.priorities)
	c.counts = make([]int32, nodes*c.width*len(c.priorities))
	c.makeRoom()
	c.routing = newRouting(c.plan)
	c.table = newTable(len(c.dests))
	if len(c.priorities) == 0 {
		return nil
	}
	for d := range c.dests {
		c.fill(d)
		c.eachEdge(d, func(e edge) { c.counts[e]++ })
		if step == nil {
			continue
		}
		if err := step(); err != nil {
			return err
		}
	}
	for i := range c.plan.Scenario.Flows {
		f := flow{priority: c.plan.Scenario.Flows[i].Priority, hash: c.plan.Hash(i)}
		if c.plan.Scenario.Trust == "pcp" && c.group == nil {
			f.priority = 0 // hosts send frames without a tag
		}
		c.flows = append(c.flows, f)
		c.flows[i].edges, c.flows[i].hops = c.follow(i)
	}
	return nil
}

// makeRoom makes what a checker changes in every case.
func (c *Checker) makeRoom() {
	nodes := len(c.ports) * len(c.priorities)
	c.down, c.touched = make([]bool, len(c.plan.Fabric.Links)), make([]int32, len(c.switches))
	c.walker, c.change = newWalker(nodes), newChange(len(c.dests))
	c.g = graph{index: make([]int32, nodes)}
	c.marked = make([]bool, len(c.counts))
	c.kept = distinct{}
}

// indexLinks finds links by the fabric's index.
func (c *Checker) indexLinks() {
	c.indexOf = slices.Repeat([]int{-1}, len(c.plan.Fabric.Links))
	for i, l := range c.links {
		c.indexOf[l] = i
	}
}

// Clone is a checker of the same plan that knows what c knows.
func (c *Checker) Clone() (*Checker, error) {
	d := *c
	d.events, d.did = nil, did{}
	d.counts = slices.Clone(c.counts)
	d.makeRoom()
	d.routing = c.routing.clone(c.plan.Fabric)
	return &d, d.makeSwitches()
}

// setLinks sets links down at both ends, and routes to what a protocol finds without them; or all of them up
// again.
func (c *Checker) setLinks(links []int, up bool) {
	for _, l := range links {
		c.down[l] = !up
		link := c.plan.Fabric.Links[l]
		for _, end := range [2]topo.End{link.A, link.B} {
			if end.Node >= len(c.switches) {
				continue
			}
			if up {
				c.touched[end.Node]--
			} else {
				c.touched[end.Node]++
			}
			c.switches[end.Node].SetLink(0, end.Port, up)
			_, c.events = c.switches[end.Node].Work(c.events[:0])
		}
	}
	if up {
		c.routing.heal()
	} else {
		c.converge(links)
	}
}

func (c *Checker) node(port int32, priority int) node {
	return port*int32(len(c.priorities)) + int32(priority)
}

func (c *Checker) portOf(n node) *port { return &c.ports[n/int32(len(c.priorities))] }

func (c *Checker) priorityOf(n node) int { return int(n) % len(c.priorities) }

func (c *Checker) edge(n node, out unit.Port, priority int) edge {
	return edge((int(n)*c.width+int(out))*len(c.priorities) + priority)
}

func (c *Checker) tail(e edge) node { return node(int(e) / (c.width * len(c.priorities))) }

func (c *Checker) head(e edge) node {
	at := c.portOf(c.tail(e))
	out := int32(int(e) / len(c.priorities) % c.width)
	return c.node(c.ports[c.first[at.sw]+out].peer, int(e)%len(c.priorities))
}

// out is the port by which the frames of an edge leave the switch where they turn.
func (c *Checker) out(e edge) unit.Port { return unit.Port(int(e) / len(c.priorities) % c.width) }

package ui

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
	"softswitch/view/drawing"
)

// nodesMax is the most nodes that a page can show legibly, and a browser draw five times
// a second.
const nodesMax = 400

// wire is a link by the names of its ends' nodes and interfaces.
type wire struct{ aNode, aIface, bNode, bIface string }

// flow is what the page knows of a flow: its number, by which its receiver counts it, and the index
// of that host among nodes, -1 if it is none of them.
type flow struct {
	name   string
	number uint32
	to     int
}

// wiring is a fabric by its nodes' configurations: the numbers that events use, and the
// indices that the page uses.
type wiring struct {
	fabric   *oracle.Fabric
	switches []config.Switch
	hosts    []config.Host
	nodes    []Node
	links    []Link
	lags     [][]int // of links that act as one: their indices
	ids      []unit.NodeID
	index    map[unit.NodeID]int
	ports    map[unit.NodePort]int // the direction that leaves a port
	far      []unit.NodePort       // by direction: the port that it ends at
	rates    []unit.Rate           // by direction
	flows    map[detect.FlowID]flow
}

// newWiring wires nodes. The error names a node without a number or a link whose end is not
// there.
func newWiring(switches []config.Switch, hosts []config.Host, wires []wire) (*wiring, error) {
	if n := len(switches) + len(hosts); n > nodesMax {
		return nil, fmt.Errorf("ui: %d nodes: the page draws at most %d", n, nodesMax)
	}
	w := &wiring{switches: switches, hosts: hosts, index: map[unit.NodeID]int{}, ports: map[unit.NodePort]int{}, flows: map[detect.FlowID]flow{}}
	var nodes []oracle.Node
	byName, rates := map[string]unit.NodePort{}, map[unit.NodePort]unit.Rate{} // the names are "node iface"
	add := func(name, kind string, id uint16, ports []config.Port, rules []buffer.Rule) {
		n := oracle.Node{ID: unit.NodeID(id), Name: name, Host: kind == "host", Rules: rules}
		for i, p := range ports {
			n.Ports = append(n.Ports, p.Name)
			at := unit.NodePort{Node: n.ID, Port: unit.Port(i)}
			byName[name+" "+p.Name], rates[at] = at, p.Rate
		}
		w.index[n.ID] = len(w.nodes)
		w.ids = append(w.ids, n.ID)
		w.nodes = append(w.nodes, Node{Name: name, Kind: kind, Ports: slices.Repeat([]int{-1}, len(ports))})
		nodes = append(nodes, n)
	}
	for _, s := range switches {
		add(s.Name, "switch", s.ID, s.Ports, verdict.Rules(s.BuildBuffer()))
	}
	hostAt := map[unit.Addr]int{} // among nodes
	for _, h := range hosts {
		add(h.Name, "host", h.ID, h.Ports(), nil)
		for _, n := range h.All() {
			hostAt[n.Address.IP] = len(w.nodes) - 1
		}
	}
	for _, h := range hosts {
		for _, f := range h.Flows {
			to, known := hostAt[f.To]
			if !known {
				to = -1
			}
			w.flows[h.FlowID(f)] = flow{f.Name, f.Number, to}
		}
	}
	var links []oracle.Link
	for _, x := range wires {
		a, okA := byName[x.aNode+" "+x.aIface]
		b, okB := byName[x.bNode+" "+x.bIface]
		if !okA || !okB {
			return nil, fmt.Errorf("ui: link %s:%s to %s:%s: an end is no port of its node's configuration", x.aNode, x.aIface, x.bNode, x.bIface)
		}
		links = append(links, oracle.Link{A: a, B: b})
		d, na, nb := 2*len(w.links), w.index[a.Node], w.index[b.Node]
		w.ports[a], w.ports[b] = d, d+1
		w.far = append(w.far, b, a)
		w.nodes[na].Ports[a.Port], w.nodes[nb].Ports[b.Port] = d, d+1
		w.rates = append(w.rates, rates[a], rates[b])
		w.links = append(w.links, Link{A: na, B: nb, Rate: int64(rates[a])})
	}
	var err error
	if w.fabric, err = oracle.NewFabric(nodes, links); err != nil {
		return nil, fmt.Errorf("ui: %w", err)
	}
	for i := range w.links {
		w.links[i].Name = w.fabric.LinkName(w.far[2*i+1])
	}
	w.findLAGs()
	return w, nil
}

// findLAGs finds the links that act as one, by the switches at both ends.
func (w *wiring) findLAGs() {
	for _, s := range w.switches {
		for _, lag := range s.LAGs {
			var links []int
			for _, p := range lag.Ports {
				if d, ok := w.ports[unit.NodePort{Node: unit.NodeID(s.ID), Port: unit.Port(p)}]; ok {
					links = append(links, d/2)
				}
			}
			theirs := slices.ContainsFunc(w.lags, func(l []int) bool { return len(links) > 0 && slices.Contains(l, links[0]) })
			if len(links) > 1 && !theirs { // else the far end has it
				w.lags = append(w.lags, links)
			}
		}
	}
}

// from and to are the nodes of a direction, by index.
func (w *wiring) from(dir int) int { return w.index[w.far[dir^1].Node] }
func (w *wiring) to(dir int) int   { return w.index[w.far[dir].Node] }

// queue is a queue as the page has it; ok is false if its port has no link.
func (w *wiring) queue(q oracle.Queue) (at At, ok bool) {
	d, ok := w.ports[q.NodePort]
	return At{d, int(q.Priority)}, ok
}

func (w *wiring) queues(all []oracle.Queue) (at []At) {
	for _, q := range all {
		if a, ok := w.queue(q); ok {
			at = append(at, a)
		}
	}
	return at
}

// arrow is a direction in words: "core0 → agg2-0", "h1 eth1 → leaf1" of a host with several NICs, and
// "s1 → s2#2" of the second link between two nodes.
func (w *wiring) arrow(dir int) string {
	_, nth, several := strings.Cut(w.links[dir/2].Name, "#")
	if several {
		nth = "#" + nth
	}
	return w.nicText(dir) + " → " + w.nicText(dir^1) + nth
}

// nicText is the node that a direction leaves, with the NIC if it is a host with several.
func (w *wiring) nicText(dir int) string {
	n := &w.nodes[w.from(dir)]
	if n.Kind == "host" && len(n.Ports) > 1 {
		near := w.far[dir^1]
		return n.Name + " " + w.hosts[w.index[near.Node]-len(w.switches)].Ports()[near.Port].Name
	}
	return n.Name
}

// linkText is a link by name, with the NIC of a host that has several: "leaf0--h1 (h1 eth0)", and with the
// LAG of which it is a member: "s1--s2#2 (one of 3 of a LAG)".
func (w *wiring) linkText(link int) string {
	name := w.links[link].Name
	for _, dir := range []int{2 * link, 2*link + 1} {
		if nic := w.nicText(dir); nic != w.nodes[w.from(dir)].Name {
			name += " (" + nic + ")"
		}
	}
	for _, lag := range w.lags {
		if slices.Contains(lag, link) {
			name += fmt.Sprintf(" (one of %d of a LAG)", len(lag))
		}
	}
	return name
}

// layOut places the nodes and the ends of the links: see [drawing.Placement.Place].
func (w *wiring) layOut() Layout {
	d := drawing.NewPlacement(len(w.switches), len(w.nodes), w.pairs()).Place()
	for i, p := range d.At {
		w.nodes[i].X, w.nodes[i].Y = p.X, p.Y
	}
	for i, e := range d.Ends {
		l := &w.links[i]
		l.X1, l.Y1, l.X2, l.Y2 = e[0].X, e[0].Y, e[1].X, e[1].Y
	}
	return Layout{d.Shape, d.Switch, d.Host}
}

// pairs are the ends of the links.
func (w *wiring) pairs() [][2]int {
	return lists.Map(w.links, func(l Link) [2]int { return [2]int{l.A, l.B} })
}

// limits are where the priority group of a switch's port goes XOFF and how much it can
// hold, while this many bytes of the switch's shared pool are taken.
func (w *wiring) limits(node int, port unit.Port, shared int) (xoff, most int) {
	s := &w.switches[node]
	b := &s.Buffer
	static := 0
	switch {
	case s.Ports[port].StaticTh != nil:
		static = *s.Ports[port].StaticTh
	case b.DynamicTh != nil:
		static = scale(max(0, b.Pool-shared), *b.DynamicTh)
	case b.StaticTh != nil:
		static = *b.StaticTh
	}
	xoff = b.Size + static
	return xoff, xoff + *b.XOFF
}

// scale is n times 2 to the power.
func scale(n, power int) int {
	if power >= 0 {
		return n << power
	}
	return n >> -power
}

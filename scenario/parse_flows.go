package scenario

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// flows returns the flows of a file; of an entry with several hosts or a count there come
// several. Paths become routes of s.
func (p *parser) flows(s *Scenario, flows []fileFlow) (out []Flow) {
	seen := map[string]int{}
	ways := p.waysOf(s.Routes)
	for i, f := range flows {
		path := fmt.Sprintf("flows[%d]", i)
		if f.Name == "" {
			p.Faultf(path+".name", "missing: a flow has a name")
		}
		all := p.entry(path, f)
		if len(out)+len(all) > MaxFlows {
			p.Faultf(path, "%d flows with those before it: a scenario has at most %d", len(out)+len(all), MaxFlows)
			return out
		}
		for _, flow := range all {
			if first, ok := seen[flow.Name]; ok && flow.Name != "" {
				p.Faultf(path+".name", "%q is flow %d already", flow.Name, first)
			}
			seen[flow.Name] = i
			p.way(ways, s, path, f, flow)
		}
		for _, flow := range all {
			if p.warnFast(s, path+".rate", flow.From, flow.NIC, unit.Rate(flow.Rate)+flow.RateSpread) {
				break // one of the entry says it
			}
		}
		out = append(out, all...)
	}
	return out
}

// warnFast warns of a rate that is more than the link of a host has, and reports whether it does.
func (p *parser) warnFast(s *Scenario, path string, host int, nic unit.Port, rate unit.Rate) bool {
	if p.fabric == nil {
		return false
	}
	has := unit.Rate(0)
	for i, port := range p.fabric.Nodes[host].Ports {
		if nic == unit.NoPort || nic == unit.Port(i) {
			has = max(has, s.Links[port.Link].Rate)
		}
	}
	if has == 0 || rate <= has {
		return false
	}
	text := fmt.Sprintf("%s is more than the link of %s has, which is %s", rate, p.fabric.Nodes[host].Name, has)
	s.Warnings = append(s.Warnings, p.At(path, text).String())
	return true
}

// oneLine refuses a name that would end a line of a verdict, or steer the terminal that shows it.
func (p *parser) oneLine(path, name string) {
	if strings.ContainsFunc(name, unicode.IsControl) {
		p.Faultf(path, "%q has a control character, such as the end of a line: a name has none", name)
	}
}

// entry returns the flows of one entry.
func (p *parser) entry(path string, f fileFlow) (flows []Flow) {
	common := p.flow(path, f)
	common.To, _ = p.node(path+".to", f.To, "host")
	from := f.From
	if len(from) == 0 {
		from = []string{""}
	}
	seen := map[string]bool{}
	for i, name := range from {
		key, flow := p.element(path+".from", i), common
		listed := key != path+".from"
		at, ok := p.node(key, name, "host")
		flow.From = at
		if ok && seen[name] {
			p.Faultf(key, "%q is in the list already", name)
		}
		seen[name] = true
		if ok && f.To == name {
			p.Faultf(path+".to", "%q is where the flow comes from: it goes to another host", f.To)
		}
		if listed {
			flow.Name += "-" + name
		}
		if f.Count == nil {
			flows = append(flows, flow)
			continue
		}
		for n := range p.within(path+".count", *f.Count, 1, MaxFlows) {
			one := flow
			one.Name += fmt.Sprintf("-%d", n+1)
			if flows = append(flows, one); len(flows) > MaxFlows { // its fault is the caller's
				return flows
			}
		}
	}
	return flows
}

// checkQPNs adds the faults of queue pairs that two flows have at a host.
func (p *parser) checkQPNs(s *Scenario) {
	if p.fabric == nil {
		return
	}
	at := make([][]config.QPN, len(p.fabric.Nodes))
	for i, f := range s.Flows {
		if f.RC == nil {
			continue
		}
		from, to := f.RC.QPNs(uint32(i))
		at[f.From] = append(at[f.From], config.QPN{Number: from, Path: f.at, Key: ".rc.qpn", Given: f.RC.QPN != nil, Flow: "flow " + f.Name})
		at[f.To] = append(at[f.To], config.QPN{Number: to, Path: f.at, Key: ".rc.to_qpn", Given: f.RC.ToQPN != nil, Flow: "flow " + f.Name})
	}
	for i, qpns := range at {
		config.CheckQPNs(p.Doc, p.fabric.Nodes[i].Name, qpns)
	}
}

// element is the key of element i of a list of which a single element may stand without
// brackets.
func (p *parser) element(path string, i int) string {
	if key := fmt.Sprintf("%s[%d]", path, i); p.Has(key) {
		return key
	}
	return path
}

// flow returns what the flows of an entry have in common, apart from where they go.
func (p *parser) flow(path string, f fileFlow) Flow {
	p.oneLine(path+".name", f.Name)
	if f.Transport == "rc" && f.RC == nil {
		f.RC = &host.RC{}
	}
	if p.Given(path + ".frame") {
		config.CheckFrame(p.Doc, path+".frame", f.Frame, p.mtu)
	}
	schema.Fill(&f)
	p.withinEnd(path+".stop", f.Stop)
	p.checkStart(path+".start", f.Start)
	config.CheckRC(p.Doc, path, f.Transport == "rc", f.RC, p.mtu)
	f.Stream.Start, f.Stream.Rate = f.Start.at, f.Rate.middle
	if f.Rate.spread > 0 && f.Rate.spread >= unit.Rate(f.Rate.middle) {
		p.Faultf(path+".rate", "%s may be 0; use less than %s behind the ±", f.Rate, f.Rate.middle)
	}
	flow := Flow{Name: f.Name, at: path, NIC: named(f.NIC), ToNIC: named(f.ToNIC), Priority: unit.Priority(*f.Priority), Jitter: f.Start.spread, RateSpread: f.Rate.spread, Stream: f.Stream}
	if f.Transport == "rc" {
		if flow.Frame = host.FrameOf(f.RC.PathMTU); p.Given(path + ".frame") {
			p.Faultf(path+".frame", "%d: frames of a flow of transport rc are as long as rc.path_mtu makes them; leave it out", f.Frame)
		}
	}
	if flow.Stop != 0 && flow.Stop <= flow.Start+flow.Jitter {
		p.Faultf(path+".stop", "%s is not after start %s; use a later time, or leave it out for never", f.Stop, f.Start)
	}
	for j, name := range f.Via {
		if v, ok := p.node(fmt.Sprintf("%s.via[%d]", path, j), name, "switch"); ok {
			flow.Via = append(flow.Via, v)
		}
	}
	if len(f.Via) > 0 && len(f.Path) > 0 {
		p.Faultf(path+".via", "there is path too, which is the whole way: write one of the two")
	}
	return flow
}

// turn is where a switch decides: by its own number and the subnet.
type turn struct{ at, dst int }

// way is the ports by which a switch forwards to a subnet, and the key that says so.
type way struct {
	ports unit.PortSet
	by    string
}

// waysOf are the ways that routes give.
func (p *parser) waysOf(routes []Override) map[turn]way {
	ways := map[turn]way{}
	for i, o := range routes {
		for _, dst := range o.To {
			if !o.Ports.Empty() {
				ways[turn{o.At, dst}] = way{o.Ports, fmt.Sprintf("routes[%d]", i)}
			}
		}
	}
	return ways
}

// way makes routes of s of the path of a flow, as far as ways do not have them.
func (p *parser) way(ways map[turn]way, s *Scenario, path string, f fileFlow, flow Flow) {
	if len(f.Path) == 0 || p.fabric == nil || p.Faulty(path) {
		return
	}
	var hops []int
	seen := map[int]bool{}
	for j, name := range f.Path {
		key := fmt.Sprintf("%s.path[%d]", path, j)
		at, ok := p.node(key, name, "switch")
		if !ok {
			return
		}
		if seen[at] {
			p.Faultf(key, "%q is on the path already: it would send the frames round the same way again", name)
			return
		}
		seen[at] = true
		hops = append(hops, at)
	}
	for _, end := range []struct{ host, i int }{{flow.From, 0}, {flow.To, len(hops) - 1}} {
		h := p.fabric.Nodes[end.host]
		if !slices.ContainsFunc(h.Ports, func(p topo.Port) bool { return p.Peer.Node == hops[end.i] }) {
			at := lists.Map(h.Ports, func(port topo.Port) string { return p.fabric.Nodes[port.Peer.Node].Name })
			p.Faultf(fmt.Sprintf("%s.path[%d]", path, end.i), "%q is not the switch of %s, which is %s", f.Path[end.i], h.Name, strings.Join(at, " or "))
			return
		}
	}
	last := slices.IndexFunc(p.fabric.Nodes[flow.To].Ports, func(port topo.Port) bool { return port.Peer.Node == hops[len(hops)-1] })
	dst := p.fabric.SubnetAt(flow.To, unit.Port(last))
	for j, at := range hops[:len(hops)-1] {
		key := fmt.Sprintf("%s.path[%d]", path, j+1)
		ports := p.neighbour(key, f.Path[j+1], at)
		have, ok := ways[turn{at, dst}]
		switch {
		case ports.Empty():
			return
		case !ok:
			ways[turn{at, dst}] = way{ports, path + ".path"}
			s.Routes = append(s.Routes, Override{At: at, To: []int{dst}, Ports: ports})
		case have.ports != ports:
			p.Faultf(key, "%s sends what is for the subnet of %s by %s already, as %s says: a switch has one way to a subnet",
				f.Path[j], p.fabric.Nodes[flow.To].Name, p.peersAt(at, have.ports), have.by)
			return
		}
	}
}

// peersAt names the switches that ports of switch at lead to.
func (p *parser) peersAt(at int, ports unit.PortSet) string {
	peer := func(j int) string { return p.fabric.Nodes[p.fabric.Nodes[at].Ports[j].Peer.Node].Name }
	return strings.Join(lists.Map(list(ports), peer), ", ")
}

func or(n *int, def int) int {
	if n == nil {
		return def
	}
	return *n
}

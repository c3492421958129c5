package scenario

import (
	"fmt"
	"maps"
	"slices"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// filePort is the ports at the ends of links. A missing key is as for other ports.
type filePort struct {
	// Link, or a list of links.
	Link strictyaml.Some[string] `yaml:"link" schema:"link,required"`
	// At is the node whose ports these are, if they are not those at both ends. Of a host with several
	// NICs it is the NIC at Link.
	At string `yaml:"at" schema:"node"`
	// Lossless overrides pfc.lossless: the priorities whose frames are lossless if they come in by
	// the port, and in which it sends and honours pauses.
	Lossless *[]int `yaml:"lossless" schema:"0..7"`
	// PFC is what the port does with pauses of these priorities: "both" (default), send and honour them;
	// "tx", send them and ignore those that come; "rx", honour them and send none; or "asymmetric", send
	// them and honour those of all priorities, lossy ones too, as SONiC's pfc_asym.
	PFC string `yaml:"pfc" schema:"both|tx|rx|asymmetric"`
	// Trust and DSCPMap are how a switch tells the priority of what comes in by the port: Trust
	// overrides the scenario's, and DSCPMap has priorities of single code points, which else are
	// DSCP / 8. A host sends priority 3 with 26, and others with 8 x priority.
	Trust   string      `yaml:"trust" schema:"dscp|pcp"`
	DSCPMap map[int]int `yaml:"dscp_map" schema:"0..7,keys=0..63"`
	// XOFF, StaticTh and XONOffset override those of buffer at a switch.
	XOFF      *int `yaml:"xoff" schema:"0..1073741824"`
	StaticTh  *int `yaml:"static_th" schema:"0..1073741824"`
	XONOffset *int `yaml:"xon_offset" schema:"0..1073741824"`
}

// Port is what a port has of its own; what is nil or empty is as at other ports.
type Port struct {
	Lossless                  *[]int
	PFC, Trust                string
	DSCPMap                   map[int]int
	Sched                     config.Scheds
	XOFF, StaticTh, XONOffset *int

	key string // of the file, that has XOFF
}

// port is what the port of an end has of its own.
func (s *Scenario) port(e topo.End) Port { return s.Ports.at(s.Fabric, e) }

// put gives c what is p's own.
func (p *Port) put(c *config.Port) {
	c.Lossless, c.PFC, c.Trust, c.DSCPMap, c.Sched, c.StaticTh, c.XONOffset = p.Lossless, p.PFC, p.Trust, p.DSCPMap, p.Sched, p.StaticTh, p.XONOffset
}

// LosslessAt is the lossless priorities of the port of an end.
func (s *Scenario) LosslessAt(e topo.End) []int {
	if own := s.port(e).Lossless; own != nil {
		return *own
	}
	return s.PFC.Lossless
}

// Lossless is the priorities that are lossless at some port, in the order of pfc.lossless, then
// ascending.
func (s *Scenario) Lossless() []int {
	if s.Ports == nil {
		return s.PFC.Lossless
	}
	var at unit.PrioritySet
	for _, l := range s.Fabric.Links {
		for _, e := range [2]topo.End{l.A, l.B} {
			for _, c := range s.LosslessAt(e) {
				if c >= 0 && c < unit.Priorities { // others are faults of their own
					at.Add(unit.Priority(c))
				}
			}
		}
	}
	all := lists.Where(s.PFC.Lossless, func(c int) bool { return c < 0 || c >= unit.Priorities || at.Has(unit.Priority(c)) })
	for c := range unit.Priorities {
		if at.Has(unit.Priority(c)) && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// Pauses reports whether the port of end e stops its far end by pauses of priority c: it sends them,
// and the far end honours them.
func (s *Scenario) Pauses(e topo.End, c unit.Priority) bool {
	far := s.Fabric.Nodes[e.Node].Ports[e.Port].Peer
	return s.sends(e, c) && config.Honours(s.port(far).PFC, s.LosslessAt(far), c)
}

// ports reads what ports have of their own.
func (p *parser) ports(s *Scenario, ports []filePort) PerEnd[Port] {
	if len(ports) == 0 {
		return nil
	}
	all := make(PerEnd[Port], len(p.fabric.Links))
	for i, f := range ports {
		path := fmt.Sprintf("topology.ports[%d]", i)
		if f.Lossless != nil {
			p.priorities(path+".lossless", *f.Lossless)
		}
		for _, dscp := range slices.Sorted(maps.Keys(f.DSCPMap)) {
			at := fmt.Sprintf("%s.dscp_map.%d", path, dscp)
			p.Within(at, dscp, 0, 63)
			p.Within(at, f.DSCPMap[dscp], 0, unit.Priorities-1)
		}
		for j, name := range f.Link {
			at := path + ".link"
			if len(f.Link) > 1 {
				at = fmt.Sprintf("%s[%d]", at, j)
			}
			l, ok := p.link(at, name)
			if !ok {
				continue
			}
			link := p.fabric.Links[l]
			ends := []topo.End{link.A, link.B}
			if f.At != "" {
				ends = lists.Where(ends, func(e topo.End) bool { return p.fabric.Nodes[e.Node].Name == f.At })
			}
			if len(ends) == 0 {
				p.Choice(path+".at", f.At, []string{p.fabric.Nodes[link.A.Node].Name, p.fabric.Nodes[link.B.Node].Name})
			}
			for _, e := range ends {
				p.port(path, f, e, all.of(p.fabric, e))
			}
		}
	}
	return all
}

// priorities checks that no priority is in a list twice.
func (p *parser) priorities(path string, list []int) {
	for i, c := range list {
		if slices.Contains(list[:i], c) {
			p.Faultf(fmt.Sprintf("%s[%d]", path, i), "priority %d is in the list already", c)
		}
	}
}

// port gives the port of end e what f says.
func (p *parser) port(path string, f filePort, e topo.End, to *Port) {
	n := p.fabric.Nodes[e.Node]
	if n.Kind != topo.Switch {
		for _, key := range []string{"trust", "dscp_map", "xoff", "static_th", "xon_offset"} {
			if p.Given(path+"."+key) && f.At != "" {
				p.Faultf(path+"."+key, "%s is a host, and the key is of a switch's port", n.Name)
			}
		}
		f.Trust, f.DSCPMap, f.XOFF, f.StaticTh, f.XONOffset = "", nil, nil, nil, nil
	}
	if f.Lossless != nil {
		to.Lossless = f.Lossless
	}
	if f.PFC != "" {
		to.PFC = f.PFC
	}
	if f.Trust != "" {
		to.Trust = f.Trust
	}
	if f.DSCPMap != nil {
		to.DSCPMap = f.DSCPMap
	}
	if f.XOFF != nil {
		to.XOFF, to.key = f.XOFF, path
	}
	if f.StaticTh != nil {
		to.StaticTh = f.StaticTh
	}
	if f.XONOffset != nil {
		to.XONOffset = f.XONOffset
	}
}

// checkStorm checks that the host of a storm, by one of the NICs that storm, sends pauses of its priority.
func (p *parser) checkStorm(s *Scenario, path string, e Event) {
	if s.Ports == nil || !slices.Contains(p.lossless, int(e.Priority)) {
		return
	}
	var lossless unit.PrioritySet // at these NICs
	sends := false
	for i := range s.Fabric.Nodes[e.Node].Ports {
		if at := (topo.End{Node: e.Node, Port: unit.Port(i)}); e.AtNIC(at.Port) {
			for _, c := range s.LosslessAt(at) {
				lossless.Add(unit.Priority(c))
			}
			sends = sends || s.sends(at, e.Priority)
		}
	}
	switch name := s.Fabric.Nodes[e.Node].Name; {
	case !lossless.Has(e.Priority):
		p.Faultf(path+".priority", "priority %d is lossy at the port of %s; use one of %v, or add it in topology.ports", e.Priority, name, lossless.List())
	case !sends:
		p.Faultf(path+".host", "%s sends no pauses: pfc of its port is rx in topology.ports; use both or tx there", name)
	}
}

// sends reports whether the port of end e sends pauses of priority c.
func (s *Scenario) sends(e topo.End, c unit.Priority) bool {
	return slices.Contains(s.LosslessAt(e), int(c)) && s.port(e).PFC != config.PFCRx
}

// checkPorts checks ports with settings of their own against the rest of s, and warns of what comes of
// them.
func (p *parser) checkPorts(s *Scenario) {
	if s.Ports == nil || p.Err() != nil {
		return
	}
	if v := s.Prevention; v != nil {
		own := func(is func(Port) bool) bool {
			return slices.ContainsFunc(s.Ports, func(l Ends[Port]) bool { return is(l.A) || is(l.B) })
		}
		if why := s.lossyForPrevention(); why != "" {
			p.Faultf("topology.ports", "%s", why)
		}
		if (v.Tags > 0 || v.TTLBand > 0 || v.NoFlood) && s.OwnClasses() {
			p.Faultf("topology.ports", "ports have trust or dscp_map of their own, and prevention marks frames for the next switch: it needs the same ones at all ports")
		}
		if v.Thresholds != nil && own(func(p Port) bool { return p.StaticTh != nil || p.XONOffset != nil }) {
			p.Faultf("topology.ports", "static_th or xon_offset, and prevention.thresholds gives them by position: write one of the two")
		}
	}
	p.warnOneSided(s)
}

// warnOneSided tells of ends of links at which priorities are lossless, and that cannot stop the far end
// in them.
func (p *parser) warnOneSided(s *Scenario) {
	var alike lists.Groups[string, string]
	for i, l := range s.Fabric.Links {
		for _, e := range [2]topo.End{l.A, l.B} {
			alone := lists.Where(s.LosslessAt(e), func(c int) bool { return !s.Pauses(e, unit.Priority(c)) })
			if len(alone) > 0 {
				far := s.Fabric.Nodes[e.Node].Ports[e.Port].Peer.Node
				alike.Add(fmt.Sprint(alone), fmt.Sprintf("%s's end of %s, and %s", s.Fabric.Nodes[e.Node].Name, s.Fabric.Links[i].Name, p.cannot(s, e, s.Fabric.Nodes[far].Name)))
			}
		}
	}
	for _, list := range alike.Keys {
		at, more := alike.Of[list], ""
		if n := len(at) - 1; n > 0 {
			more = "; " + unit.Count(n, "more port") + " like it"
		}
		s.Warnings = append(s.Warnings, p.At("topology.ports", fmt.Sprintf("priorities %s are lossless at %s%s: lossless frames can be lost", list, at[0], more)).String())
	}
}

// cannot says why end e does not stop its far end, which is called far.
func (p *parser) cannot(s *Scenario, e topo.End, far string) string {
	if s.port(e).PFC == config.PFCRx {
		return "it sends no pauses (pfc is rx)"
	}
	return far + " ignores its pauses of them"
}

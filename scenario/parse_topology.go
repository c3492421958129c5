package scenario

import (
	"errors"
	"fmt"
	"strings"

	"softswitch/scenario/config"
	"softswitch/topo"
	"softswitch/unit"
)

// maxK limits a scenario's fat-tree so that every host has a number.
const maxK = 48

// topology builds the fabric, nil if it cannot, and the speeds of its links.
func (p *parser) topology(t fileTopology) (*topo.Fabric, []LinkSpeed) {
	def := p.speed("topology", fileOverride{Rate: t.Rate, Delay: t.Delay, Jitter: t.Jitter, ControlLoss: t.ControlLoss}, LinkSpeed{})
	if t.Rate == "" {
		p.Faultf("topology.rate", `missing: write a rate such as "100Mbit/s", or "0" for unlimited`)
	}
	f := p.build(t)
	if f == nil {
		return nil, []LinkSpeed{def}
	}
	p.fabric, p.names = f, nil
	for _, n := range f.Nodes {
		p.names = append(p.names, topo.ExplicitNode{Name: n.Name, Kind: n.Kind})
	}
	links := make([]LinkSpeed, len(f.Links))
	for i := range links {
		links[i] = def
	}
	for i, o := range t.Overrides {
		path := fmt.Sprintf("topology.overrides[%d]", i)
		speed := p.speed(path, o, def)
		if l, ok := p.link(path+".link", o.Link); ok {
			links[l] = speed
		}
	}
	return f, links
}

// speed is def overridden by o.
func (p *parser) speed(path string, o fileOverride, def LinkSpeed) LinkSpeed {
	if o.Rate != "" {
		r, err := config.ParseRate(o.Rate)
		if err != nil {
			p.Faultf(path+".rate", "%v", err)
		}
		def.Rate = r
	}
	for _, d := range []struct {
		key, text string
		to        *unit.Time
	}{{".delay", o.Delay, &def.Delay}, {".jitter", o.Jitter, &def.Jitter}} {
		if d.text == "" {
			continue
		}
		t, ok := p.time(path+d.key, d.text)
		if ok && t > unit.Second {
			p.Faultf(path+d.key, "%q: at most 1s", d.text)
		}
		*d.to = t
	}
	if o.ControlLoss != nil {
		if def.ControlLoss = *o.ControlLoss; def.ControlLoss < 0 || def.ControlLoss > 1000 {
			p.Faultf(path+".control_loss_per_mille", "%d: valid: 0 to 1000", def.ControlLoss)
		}
	}
	return def
}

func (p *parser) build(t fileTopology) *topo.Fabric {
	explicit := len(t.Switches)+len(t.Hosts)+len(t.Links) > 0
	given := 0
	for _, is := range []bool{t.FatTree != nil, t.Ring != nil, explicit} {
		if is {
			given++
		}
	}
	if given == 0 && (p.Faulty("topology.fattree") || p.Faulty("topology.ring")) {
		return nil // what is wrong with it has been told
	}
	if given != 1 {
		const valid = "fattree: {k: 4}, ring: {switches: 4, hosts_per_switch: 1}, or switches, hosts and links"
		if given == 0 {
			p.Faultf("topology", "no fabric: write one of "+valid)
		} else {
			p.Faultf("topology", "%d fabrics: write one of "+valid, given)
		}
		return nil
	}
	if explicit {
		return p.explicit(t)
	}
	var f *topo.Fabric
	var err error
	if t.FatTree != nil {
		if t.FatTree.K > maxK {
			p.Faultf("topology.fattree", "k = %d: at most %d, so that every host has a number", t.FatTree.K, maxK)
			return nil
		}
		f, err = topo.FatTree(t.FatTree.K)
		p.fault("topology.fattree", err)
	} else {
		f, err = topo.Ring(t.Ring.Switches, t.Ring.Hosts)
		p.fault("topology.ring", err)
	}
	return f
}

func (p *parser) fault(path string, err error) {
	if err != nil {
		p.Faultf(path, "%v", err)
	}
}

// explicit builds a fabric of named nodes. A fault of a node or a link is reported at
// its line of the file.
func (p *parser) explicit(t fileTopology) *topo.Fabric {
	var links [][2]string
	for _, s := range t.Switches {
		p.names = append(p.names, topo.ExplicitNode{Name: s, Kind: topo.Switch})
	}
	for _, h := range t.Hosts {
		p.names = append(p.names, topo.ExplicitNode{Name: h, Kind: topo.Host})
	}
	whole := true
	for i, l := range t.Links {
		a, b, ok := strings.Cut(l, "--")
		if !ok {
			p.Faultf(fmt.Sprintf("topology.links[%d]", i), `%q: write a link as two nodes with "--" between, such as "s1--s2"`, l)
			whole = false
		}
		links = append(links, [2]string{a, b})
	}
	if !whole {
		return nil
	}
	f, err := topo.Explicit(p.names, links)
	var faults topo.Faults
	errors.As(err, &faults)
	for _, fault := range faults {
		path := fmt.Sprintf("topology.switches[%d]", fault.Index)
		if fault.Link {
			path = fmt.Sprintf("topology.links[%d]", fault.Index)
		} else if n := len(t.Switches); fault.Index >= n {
			path = fmt.Sprintf("topology.hosts[%d]", fault.Index-n)
		}
		p.Faultf(path, "%s", fault.Text)
	}
	return f
}

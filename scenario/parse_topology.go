package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// maxK limits a scenario's fat-tree so that every host has a number.
const maxK = 48

// topology builds the fabric, nil if it cannot, and the speeds of its links.
func (p *parser) topology(t fileTopology) (*topo.Fabric, []LinkSpeed) {
	def := p.speed("topology", "", t.fileLink, LinkSpeed{})
	if !p.Given("topology.rate") {
		p.Faultf("topology.rate", `missing: write a rate such as "100Mbit/s"`)
	}
	def.Rate = cmp.Or(def.Rate, unit.NominalRate) // by which the other keys are judged
	f := p.build(t)
	if f == nil {
		return nil, []LinkSpeed{def}
	}
	p.fabric = f
	p.names = lists.Map(f.Nodes, func(n topo.Node) topo.ExplicitNode { return topo.ExplicitNode{Name: n.Name, Kind: n.Kind} })
	f.Routing = p.routing(t)
	links := slices.Repeat([]LinkSpeed{def}, len(f.Links))
	for i, o := range t.Overrides {
		path := fmt.Sprintf("topology.overrides[%d]", i)
		speed := p.speed(path, o.Link, o.fileLink, def)
		if l, ok := p.link(path+".link", o.Link); ok {
			links[l] = speed
		}
	}
	p.lagRates(f, links)
	return f, links
}

// auth is how each link is authenticated.
func (p *parser) auth(all auth.Mode, overrides []fileOverride) PerEnd[auth.Mode] {
	modes := make(PerEnd[auth.Mode], len(p.fabric.Links))
	isHost := func(l topo.Link) bool {
		return p.fabric.Nodes[l.A.Node].Kind != topo.Switch || p.fabric.Nodes[l.B.Node].Kind != topo.Switch
	}
	for i, l := range p.fabric.Links {
		if !isHost(l) {
			modes[i] = Ends[auth.Mode]{all, all}
		}
	}
	for i, o := range overrides {
		path := fmt.Sprintf("topology.overrides[%d].auth", i)
		l, ok := p.fabric.Link(o.Link)
		switch {
		case len(o.Auth) == 0 || !ok:
		case isHost(p.fabric.Links[l]):
			p.Faultf(path, "link %s leads to a host, which says nothing but pauses; links between switches have auth", o.Link)
		case len(o.Auth) > 2:
			p.Faultf(path, "%d modes; write one, or one for each end", len(o.Auth))
		default:
			modes[l] = Ends[auth.Mode]{o.Auth[0], o.Auth[len(o.Auth)-1]}
		}
	}
	return modes
}

// speed is def overridden by o, of a link or, without a name, of all.
func (p *parser) speed(path, link string, o fileLink, def LinkSpeed) LinkSpeed {
	if p.Given(path + ".rate") {
		if o.Rate == 0 {
			links := "links"
			if link != "" {
				links = "link " + link
			}
			p.Faultf(path+".rate", `%s: %s without a rate: a pause has no length there, and no headroom is enough; write a rate such as "100Mbit/s"`, o.Rate, links)
		}
		def.Rate = cmp.Or(o.Rate, unit.NominalRate)
	}
	if p.Given(path + ".delay") {
		def.Delay, def.DelaySpread = o.Delay.at, o.Delay.spread
		switch {
		case def.DelaySpread > def.Delay:
			p.Faultf(path+".delay", "%s may be less than 0s; use at most %s behind the ±", o.Delay, def.Delay)
		case def.Delay+def.DelaySpread > unit.Second:
			p.Faultf(path+".delay", "%s: at most 1s", o.Delay)
		}
	}
	if p.Given(path + ".jitter") {
		if def.Jitter = o.Jitter; o.Jitter > unit.Second {
			p.Faultf(path+".jitter", "%s: at most 1s", o.Jitter)
		}
	}
	if p.Given(path + ".cable") {
		if p.Given(path + ".delay") {
			p.Faultf(path+".cable", "%s, and delay is %s: write one of the two", o.Cable, o.Delay)
		}
		def.Delay, def.DelaySpread = unit.Time(o.Cable), 0
	}
	if o.ControlLoss != nil {
		def.ControlLoss = *o.ControlLoss
	}
	for _, s := range []struct {
		key  string
		from config.Share
		to   *int
	}{{".loss", o.Loss, &def.Loss}, {".duplicate", o.Duplicate, &def.Duplicate}, {".reorder", o.Reorder, &def.Reorder}} {
		if p.Given(path + s.key) {
			*s.to = int(s.from)
		}
	}
	if def.Reorder > 0 && def.Delay == 0 {
		p.Faultf(path+".reorder", "%s of the frames take twice the delay, which is 0; give the link a delay", config.Share(def.Reorder))
	}
	return def
}

func (p *parser) build(t fileTopology) *topo.Fabric {
	type builder struct {
		key  string
		make func() (*topo.Fabric, error)
	}
	var given []builder
	faulty := false
	may := func(key string, is bool, make func() (*topo.Fabric, error)) {
		switch {
		case p.Faulty("topology." + key):
			faulty = true
		case is:
			given = append(given, builder{key, make})
		}
	}
	may("fattree", t.FatTree != nil, func() (*topo.Fabric, error) {
		if t.FatTree.K > maxK {
			return nil, fmt.Errorf("k = %d: at most %d, so that every host has a number", t.FatTree.K, maxK)
		}
		return topo.FatTree(t.FatTree.K)
	})
	may("ring", t.Ring != nil, func() (*topo.Fabric, error) { return topo.Ring(t.Ring.Switches, t.Ring.Hosts) })
	may("leafspine", t.LeafSpine != nil, func() (*topo.Fabric, error) {
		if t.LeafSpine.DualHomed {
			return topo.DualHomed(t.LeafSpine.Leaves, t.LeafSpine.Spines, t.LeafSpine.Hosts)
		}
		return topo.LeafSpine(t.LeafSpine.Leaves, t.LeafSpine.Spines, t.LeafSpine.Hosts)
	})
	may("rails", t.Rails != nil, func() (*topo.Fabric, error) { return topo.Rails(t.Rails.Rails, t.Rails.Spines, t.Rails.Hosts) })
	may("jellyfish", t.Jellyfish != nil, func() (*topo.Fabric, error) {
		j := t.Jellyfish
		return topo.Jellyfish(j.Switches, j.Degree, j.Hosts, uint64(j.Seed))
	})
	may("dragonfly", t.Dragonfly != nil, func() (*topo.Fabric, error) {
		d := t.Dragonfly
		return topo.Dragonfly(d.Groups, d.Routers, d.Hosts, d.GlobalLinks)
	})
	may("links", len(t.Switches)+len(t.Hosts)+len(t.Links) > 0, nil)
	switch {
	case len(given) == 0 && faulty: // what is wrong with it has been told
		return nil
	case len(given) != 1:
		text := "no fabric"
		if len(given) > 1 {
			text = unit.Count(len(given), "fabric")
		}
		p.Faultf("topology", "%s: write one of fattree, ring, leafspine, rails, jellyfish, dragonfly, such as fattree: {k: 4}, or switches, hosts and links", text)
		return nil
	}
	var f *topo.Fabric
	if given[0].make == nil {
		f = p.explicit(t)
	} else {
		var err error
		f, err = given[0].make()
		p.Fault("topology."+given[0].key, err)
	}
	if given[0].make != nil && len(t.SharedAddress) > 0 {
		p.Faultf("topology.shared_address", "%s: it is of a fabric that is written as switches, hosts and links", strings.Join(t.SharedAddress, ", "))
	}
	if f == nil {
		return nil
	}
	return p.aggregate(p.rewire(f, t.Rewire), t.LAGs)
}

// converging warns of failures after which a protocol would find other routes, which a run does not.
func (p *parser) converging(s *Scenario) {
	if p.fabric == nil || p.fabric.Routing.Protocol == topo.Backups {
		return
	}
	for _, e := range s.Events {
		if e.Do == Fail || e.Do == Flap || e.Do == Kill {
			s.Warnings = append(s.Warnings, p.At("topology.routing", fmt.Sprintf("a run keeps the routes of %s that it begins with: what has no port left after a failure is lost; with routing: backups another way is taken", p.fabric.Routing.Protocol)).String())
			return
		}
	}
}

// routing is what the switches know their routes from.
func (p *parser) routing(t fileTopology) (r topo.Routing) {
	r.Protocol = topo.Protocol(max(0, slices.Index(topo.Protocols, t.Routing)))
	if len(t.SharedAS) > 0 && r.Protocol != topo.BGP {
		p.Faultf("topology.shared_as", "AS numbers are of routing: bgp; this is %s", r.Protocol)
		return r
	}
	taken := map[int]int{}
	for i, names := range t.SharedAS {
		var group []int
		for j, name := range names {
			path := fmt.Sprintf("topology.shared_as[%d][%d]", i, j)
			s, ok := p.node(path, name, "switch")
			if !ok {
				continue
			}
			if other, twice := taken[s]; twice {
				p.Faultf(path, "%s is in topology.shared_as[%d] too: a switch has one AS number", name, other)
				continue
			}
			taken[s] = i
			group = append(group, s)
		}
		if len(group) > 0 {
			r.SharedAS = append(r.SharedAS, group)
		}
	}
	if p.Given("topology.shared_as") && r.SharedAS == nil {
		r.SharedAS = [][]int{} // every switch has a number of its own
	}
	return r
}

// rewire returns f with other links, nil if they cannot be.
func (p *parser) rewire(f *topo.Fabric, list []fileRewire) *topo.Fabric {
	var changes []topo.Change
	good := true
	for i, r := range list {
		path := fmt.Sprintf("topology.rewire[%d]", i)
		c := topo.Change{Remove: r.Remove, Add: r.Add}
		given := 0
		for _, is := range []bool{r.Remove != "", r.Add != "", r.Swap != nil} {
			if is {
				given++
			}
		}
		switch {
		case p.Faulty(path):
			good = false
		case given != 1:
			good = false
			p.Faultf(path, "%d changes: write one of remove: s1--s2, add: s1--s2, or swap: [s1--s2, s3--s4]", given)
		case r.Swap != nil && len(r.Swap) != 2:
			good = false
			p.Faultf(path+".swap", "%d links: write two, such as [s1--s2, s3--s4], which become s1--s4 and s3--s2", len(r.Swap))
		case r.Swap != nil:
			c.Swap = [2]string(r.Swap)
		}
		changes = append(changes, c)
	}
	if !good || len(changes) == 0 {
		return f
	}
	rewired, err := topo.Rewire(f, changes)
	var at *topo.ChangeError
	if errors.As(err, &at) {
		p.Faultf(fmt.Sprintf("topology.rewire[%d]", at.Index), "%s", at.Text)
		return f
	}
	return rewired
}

// explicit builds a fabric of named nodes. A fault of a node or a link is reported at
// its line of the file.
func (p *parser) explicit(t fileTopology) *topo.Fabric {
	for i, h := range t.SharedAddress {
		if !slices.Contains(t.Hosts, h) {
			p.Faultf(fmt.Sprintf("topology.shared_address[%d]", i), "no host of the list hosts is called %q%s", h, strictyaml.DidYouMean(h, t.Hosts))
		}
	}
	var links [][2]string
	for _, s := range t.Switches {
		p.names = append(p.names, topo.ExplicitNode{Name: s, Kind: topo.Switch})
	}
	for _, h := range t.Hosts {
		p.names = append(p.names, topo.ExplicitNode{Name: h, Kind: topo.Host, Shared: slices.Contains(t.SharedAddress, h)})
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

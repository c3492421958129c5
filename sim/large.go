package sim

import (
	"fmt"
	"net/netip"
	"slices"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Large is a fabric of thousands of switches with a few flows. Its world is built from
// the graph itself, without a configuration text per node. All switches and hosts run
// as machines; only routes to subnets that receive no traffic are left out, because
// full routing tables on all switches would grow with the square of the fabric.
type Large struct {
	Name     string
	Fabric   *topo.Fabric
	Link     scenario.LinkSpeed // of every link
	Detector string
	Flows    []LargeFlow
	Duration unit.Time
	// Switch is what all switches have in common; names, numbers, ports, subnets and
	// routes are filled in per switch.
	Switch dataplane.Config
}

// LargeFlow is a flow of full frames at line rate from one host to another.
type LargeFlow struct {
	From, To int // nodes
	Priority unit.Priority
	Start    unit.Time
	// Via, unless empty, is a path of switches from that of From to that of To. They
	// send everything for To's subnet along it.
	Via []int
}

// NewLarge builds the world of l. It fails if a flow's Via has no link between two of
// its switches, if Options.Watch fails, and for the same reasons as New.
func NewLarge(l Large, opt Options) (*World, error) {
	routes, err := l.routes(&opt)
	if err != nil {
		return nil, err
	}
	flows := l.flows()
	s := &scenario.Scenario{Name: l.Name, Fabric: l.Fabric, MTU: l.Switch.MaxFrame - ether.HeaderLen, Detector: l.Detector, Response: "none", Duration: l.Duration}
	p := &scenario.Plan{Scenario: s, Fabric: l.Fabric, Links: make([]scenario.Link, len(l.Fabric.Links))}
	for i := range p.Links {
		p.Links[i].LinkSpeed = l.Link
	}
	return assemble(p, opt, parts{
		watched: true,
		sw: func(i int, f detect.Factory) dataplane.Config {
			c := l.config(i)
			c.Detector = f
			for _, share := range routes {
				c.Routes = append(c.Routes, share[i]...)
			}
			return c
		},
		host: func(i int) host.Config {
			c := l.hostConfig(i)
			c.Flows = flows[i]
			return c
		},
	})
}

// routes returns each switch's routes to the subnets that flows go to: those to a share of the subnets for
// each partition, by switch. It fails if Options.Watch does.
func (l *Large) routes(opt *Options) ([][][]dataplane.Route, error) {
	f := l.Fabric
	via := make(map[int]map[int]unit.Port) // by subnet and switch
	var dsts []int
	for i, flow := range l.Flows {
		dst := f.SubnetOf(flow.To)
		dsts = append(dsts, dst)
		if via[dst] == nil {
			via[dst] = make(map[int]unit.Port)
		}
		for j := 1; j < len(flow.Via); j++ {
			out := portTo(f, flow.Via[j-1], flow.Via[j])
			if out == unit.NoPort {
				return nil, fmt.Errorf("sim: flow %d: %s has no link to %s", i, f.Nodes[flow.Via[j-1]].Name, f.Nodes[flow.Via[j]].Name)
			}
			via[dst][flow.Via[j-1]] = out
		}
	}
	slices.Sort(dsts)
	dsts = slices.Compact(dsts)
	shares := make([][][]dataplane.Route, max(1, opt.Partitions))
	var err error
	opt.each(len(shares), func(k int) {
		routes, mine := make([][]dataplane.Route, f.Switches()), dsts[len(dsts)*k/len(shares):len(dsts)*(k+1)/len(shares)]
		for s := range routes {
			routes[s] = make([]dataplane.Route, 0, len(mine))
		}
		topo.EachGroup(f, mine, func(s, dst int, g topo.Group) bool {
			if s == 0 && k == 0 { // one watches for all
				err = opt.watch(0)
			}
			if out, ok := via[dst][s]; ok {
				g = topo.Group{Ports: out.Set()}
			}
			if !g.Ports.Empty() {
				routes[s] = append(routes[s], dataplane.Route{Prefix: prefixOf(f.Subnets[dst]), Ports: g.Ports, Backup: g.Backup})
			}
			return k > 0 || err == nil
		})
		shares[k] = routes
	})
	return shares, err
}

// flows returns the flows of each host, by node, in the order of Flows.
func (l *Large) flows() map[int][]host.Flow {
	flows := make(map[int][]host.Flow)
	for i, flow := range l.Flows {
		flows[flow.From] = append(flows[flow.From], host.Flow{
			Number: uint32(i), Name: fmt.Sprintf("F%d", i), To: l.Fabric.Nodes[flow.To].Addr.Netip(), SrcPort: uint16(49152 + i%16384),
			Priority: flow.Priority, Stream: host.Stream{Frame: l.Switch.MaxFrame, TTL: 64, Start: flow.Start},
		})
	}
	return flows
}

func (l *Large) config(i int) dataplane.Config {
	f, c := l.Fabric, l.Switch
	n := &f.Nodes[i]
	c.ID, c.Name, c.HashSeed, c.Batch = n.ID, n.Name, uint32(n.ID), 1
	c.Ports = make([]dataplane.PortConfig, len(n.Ports))
	for j, p := range n.Ports {
		peer := &f.Nodes[p.Peer.Node]
		c.Ports[j] = dataplane.PortConfig{
			Name: p.Name, MAC: p.MAC, PeerMAC: peer.Ports[p.Peer.Port].MAC,
			FacesHost: peer.Kind == topo.Host, Rate: l.Link.Rate,
		}
	}
	k := f.SubnetOf(i)
	if k < 0 {
		return c
	}
	sub := f.Subnets[k]
	c.Subnets = []dataplane.Subnet{{Prefix: prefixOf(sub), Gateway: sub.Gateway.Netip(), Ports: sub.Ports}}
	for set := sub.Ports; !set.Empty(); set.Remove(set.First()) {
		h := &f.Nodes[n.Ports[set.First()].Peer.Node]
		mac := h.Ports[0].MAC
		c.ARP = append(c.ARP, dataplane.Neighbour{IP: h.Addr.Netip(), MAC: mac})
		c.MAC = append(c.MAC, dataplane.Station{MAC: mac, Port: set.First()})
	}
	return c
}

func (l *Large) hostConfig(i int) host.Config {
	n := &l.Fabric.Nodes[i]
	return host.Config{
		ID: n.ID, Name: n.Name,
		NIC: host.NIC{
			MAC: n.Ports[0].MAC, GatewayMAC: l.Fabric.GatewayMAC(i, 0), Address: n.Addr.Netip(),
			Rate: l.Link.Rate, Lossless: l.Switch.Buffer.Lossless,
		},
		Quanta: l.Switch.Quanta, Refresh: l.Switch.Refresh, RxBuffer: 128 << 10, Batch: 1, MaxFrame: l.Switch.MaxFrame, SlotBytes: keep,
	}
}

// portTo is the first port of node a that leads to node b, unit.NoPort if there is no
// link.
func portTo(f *topo.Fabric, a, b int) unit.Port {
	j := slices.IndexFunc(f.Nodes[a].Ports, func(p topo.Port) bool { return p.Peer.Node == b })
	if j < 0 {
		return unit.NoPort
	}
	return unit.Port(j)
}

func prefixOf(s topo.Subnet) netip.Prefix { return netip.PrefixFrom(s.Addr.Netip(), s.Bits) }

package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/topo/tagger"
	"softswitch/unit"
)

// Plan is a scenario ready to be played.
type Plan struct {
	Scenario *Scenario
	Fabric   *topo.Fabric
	Table    *topo.Table // with the scenario's overrides
	// Switches and Hosts are the configurations of the nodes in the order of Fabric,
	// switches first. Defaults are filled in, and Live has no more. Routes share their
	// lists of ports: do not change them.
	Switches []config.Switch
	Hosts    []config.Host
	Links    []Link // by link of Fabric
	Flows    []Path // by flow of Scenario
	// Tagging is the rules of Tagger, nil without it.
	Tagging *tagger.Tagging
	// Events is what happens to the fabric, in order of time: fail, heal, kill, stop,
	// continue, lose and forge. A flap has become a fail and a heal. What happens to
	// hosts is in their Acts.
	Events []Event
	// Warnings are those of Scenario, and what the paths of flows have to be warned of.
	Warnings []string
	// Seed is that by which Drawn drew, and Drawings what it drew; 0 and nil if it drew nothing.
	Seed     uint64
	Drawings []Drawing
	levels   []int // of switches, for thresholds by position

	prefixes []unit.Prefix          // of subnets
	lists    map[unit.PortSet][]int // the members of each port set, see list
	from, to [][]int                // by node: the flows from it, and to it
	taken    map[conversation]bool  // by flows so far
	fewest   map[string]int         // switches on the way of flows with Via, see path
}

// Link is a link to be made.
type Link struct {
	Name string
	A, B LinkEnd
	LinkSpeed
}

// conversation is what the source port of a flow has to be unlike others in.
type conversation struct {
	from, to int
	srcPort  uint16
}

// LinkEnd is one end of a link.
type LinkEnd struct {
	Node  int
	Name  string // of the node
	Iface string
	MAC   unit.MAC
}

// Path is the path of a flow once all permanent link failures have happened.
type Path struct {
	Number  uint32 // of the flow, its index: every frame carries it
	SrcPort uint16
	// Hops is the switches in order. Err says why the flow does not arrive from the
	// last of them; nil if it does.
	Hops []topo.Hop
	Err  error
}

// Source ports of flows, from the dynamic range (RFC 6335, section 6).
const (
	firstSrcPort = 49152
	lastSrcPort  = 65535
)

// Compile computes the Plan of s. The error, a strictyaml.Faults, names the flows whose
// Via no source port leads through, and the overrides that leave a backup without
// ports.
func Compile(s *Scenario) (*Plan, error) {
	p := &Plan{
		Scenario: s, Fabric: s.Fabric, Table: topo.NewTable(s.Fabric), lists: map[unit.PortSet][]int{},
		from: make([][]int, len(s.Fabric.Nodes)), to: make([][]int, len(s.Fabric.Nodes)), taken: map[conversation]bool{}, fewest: map[string]int{},
	}
	p.prefixes = lists.Map(s.Fabric.Subnets, prefix)
	doc := s.doc
	if doc == nil {
		doc = strictyaml.NewDoc(s.Name)
	}
	for i, o := range s.Routes {
		if dst, ok := p.override(o); !ok {
			doc.Faultf(fmt.Sprintf("routes[%d].backup", i), "no port to %s is left beside the backup; name one in ports", p.prefixes[dst])
		}
	}
	failed := failedForGood(s)
	for i, f := range s.Flows {
		path, err := p.path(uint32(i), f, failed)
		if err != nil {
			doc.Faultf(s.key(i)+".via", "%v", err)
		}
		p.Flows = append(p.Flows, path)
		p.from[f.From], p.to[f.To] = append(p.from[f.From], i), append(p.to[f.To], i)
		p.taken[conversation{f.From, f.To, path.SrcPort}] = true
	}
	p.tag(doc)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	n := s.Fabric.Switches()
	for i := range n {
		p.Switches = append(p.Switches, p.switchConfig(i))
	}
	p.injects(doc)
	p.checkSwitches(doc)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	for i := range s.Fabric.Links {
		p.Links = append(p.Links, p.link(i))
	}
	for i := n; i < len(s.Fabric.Nodes); i++ {
		p.Hosts = append(p.Hosts, p.hostConfig(i))
	}
	p.timeLine()
	p.Warnings = append(slices.Clip(s.Warnings), p.warnPaths(doc)...)
	return p, nil
}

// Of is what o makes of a computed group. A port that it adds to Ports is removed from
// Backup, and the other way round.
func (o *Override) Of(g topo.Group) topo.Group {
	if !o.Ports.Empty() {
		g.Ports = o.Ports
		g.Backup = g.Backup.Without(o.Ports)
	}
	if !o.Backup.Empty() || o.NoBackup {
		g.Backup = o.Backup
		g.Ports = g.Ports.Without(o.Backup)
	}
	return g
}

// override replaces computed groups. It returns false, and the subnet, if a group would
// be left with a backup only.
func (p *Plan) override(o Override) (dst int, ok bool) {
	for _, dst := range o.To {
		g := o.Of(p.Table.Group(o.At, dst))
		if g.Ports.Empty() {
			return dst, false
		}
		p.Table.Set(o.At, dst, g)
	}
	return 0, true
}

// failedForGood reports the links that are down at the end of the scenario.
func failedForGood(s *Scenario) func(link int) bool {
	down := make([]bool, len(s.Fabric.Links))
	for _, e := range s.Events {
		switch e.Do {
		case Fail:
			down[e.Link] = true
		case Heal, Flap:
			down[e.Link] = false
		}
	}
	return func(link int) bool { return down[link] }
}

// path finds the flow's source port. Without Via it is the first one tried. With Via it
// is the first one that no flow between the two hosts has and whose path visits Via in no
// more switches than the flow would pass with all links up, or else the first of those
// with the shortest path. The search starts at a different port for each flow, so that
// flows without Via spread. What it finds out is kept for further flows of the same entry
// of the file: how many switches the shortest path has, -1 if there is none.
func (p *Plan) path(number uint32, f Flow, failed func(int) bool) (Path, error) {
	const ports = lastSrcPort - firstSrcPort + 1
	if len(f.Via) == 0 {
		path := p.route(f, uint16(firstSrcPort+number%ports), failed)
		path.Number = number
		return path, nil
	}
	enough := len(p.route(f, firstSrcPort, func(int) bool { return false }).Hops)
	entry := fmt.Sprint(f.at, f.From, f.NIC, f.ToNIC)
	if n, ok := p.fewest[entry]; ok && f.at != "" {
		if n < 0 {
			return Path{}, errors.New("as for the flow before it")
		}
		enough = max(enough, n)
	}
	ways := map[string]bool{}
	var best Path
	for i := range uint32(ports) {
		srcPort := uint16(firstSrcPort + (number+i)%ports)
		if p.taken[conversation{f.From, f.To, srcPort}] {
			continue
		}
		path := p.route(f, srcPort, failed)
		path.Number = number
		if path.Err == nil && visits(path.Hops, f.Via) && (best.Hops == nil || len(path.Hops) < len(best.Hops)) {
			if best = path; len(best.Hops) <= enough {
				break
			}
		}
		if best.Hops == nil && len(ways) < 4 {
			ways[p.Fabric.String(path.Hops)] = true
		}
	}
	if best.Hops == nil {
		p.fewest[entry] = -1
		return Path{}, p.noWay(f, slices.Sorted(maps.Keys(ways)))
	}
	p.fewest[entry] = len(best.Hops)
	return best, nil
}

// Hash is the hash of flow i's addresses and ports, by which switches identify it.
func (p *Plan) Hash(i int) uint32 {
	f := p.Scenario.Flows[i]
	return p.hash(f, p.Flows[i].SrcPort)
}

// HashAs is the hash of a flow without Via, if it has this number in a scenario.
func (p *Plan) HashAs(f Flow, number int) uint32 {
	const ports = lastSrcPort - firstSrcPort + 1
	return p.hash(f, uint16(firstSrcPort+number%ports))
}

// hash is that of frames of f with this source port.
func (p *Plan) hash(f Flow, srcPort uint16) uint32 {
	from, to := p.Scenario.Addresses(&f)
	return uint32(config.LimitFlow{From: from, To: to, SrcPort: srcPort}.ID())
}

func (p *Plan) route(f Flow, srcPort uint16, failed func(int) bool) Path {
	hops, err := p.Table.Path(p.fromEnd(f, srcPort, failed), topo.End{Node: f.To, Port: f.ToNIC}, p.hash(f, srcPort), f.TTL, failed)
	return Path{SrcPort: srcPort, Hops: hops, Err: err}
}

func (p *Plan) noWay(f Flow, ways []string) error {
	via := lists.Map(f.Via, func(v int) string { return p.Fabric.Nodes[v].Name })
	return fmt.Errorf("no path of flow %q visits [%s] in this order, whatever its source port, once the links have failed that fail for good; paths that it takes: %s (the key routes gives it others)",
		f.Name, strings.Join(via, ", "), strings.Join(ways, "; "))
}

// visits reports whether the hops pass through the switches via in this order.
func visits(hops []topo.Hop, via []int) bool {
	for _, h := range hops {
		if len(via) > 0 && h.Node == via[0] {
			via = via[1:]
		}
	}
	return len(via) == 0
}

// routerIDs is 198.18.0.0/16, of the block for benchmarks of routers in labs (RFC 2544, appendix
// C.2.2): each switch has the address of its ID. Subnets are of 10.0.0.0/8.
const routerIDs = 198<<24 | 18<<16

func (p *Plan) switchConfig(i int) config.Switch {
	n := p.Fabric.Nodes[i]
	s := config.Switch{
		Name: n.Name, ID: uint16(n.ID), MTU: p.Scenario.MTU,
		Trust: p.Scenario.Trust, Sched: p.Scenario.Sched, Buffer: p.Scenario.Buffer, PFC: p.Scenario.PFC,
		Detector: p.Scenario.Detector, Watchdog: p.Scenario.Watchdog, Response: p.Scenario.Response, LLDP: p.Scenario.LLDP,
	}
	for j := range n.Ports {
		s.Ports = append(s.Ports, p.port(i, j))
	}
	for j, ports := range n.LAGs {
		s.LAGs = append(s.LAGs, config.LAG{Name: fmt.Sprintf("PortChannel%d", j+1), Ports: p.list(ports)})
	}
	routes := make([]config.Route, 0, len(p.Fabric.Subnets))
	for dst, sub := range p.Fabric.Subnets {
		if ports, own := sub.OwnedBy(i); own {
			p.connect(&s, i, dst, ports)
			continue
		}
		if g := p.Table.Group(i, dst); !g.Ports.Empty() {
			routes = append(routes, config.Route{Prefix: p.prefixes[dst], Ports: p.list(g.Ports), Backup: p.list(g.Backup)})
		}
	}
	if len(routes) > 0 {
		s.Routes = routes
	}
	if len(s.Subnets)+len(s.Routes) > 0 {
		s.RouterID = routerIDs + unit.Addr(n.ID)
	}
	p.prevent(&s, i)
	if c := p.Scenario.Congestion; c.marks() {
		s.ECN = &config.ECN{Priorities: c.marking, RED: c.ECN, Phantom: c.Phantom}
	}
	s.Fill()
	return s
}

// checkSwitches checks the configurations of switches for what depends on a switch's position, or on the
// rest of what a port has.
func (p *Plan) checkSwitches(doc *strictyaml.Doc) {
	key := ""
	switch {
	case p.Scenario.Prevention != nil:
		key = "prevention"
	case p.Scenario.Ports != nil:
		key = "topology.ports"
	default:
		return
	}
	for i := range p.Switches {
		_, err := p.Switches[i].Check(p.Switches[i].Name)
		var faults strictyaml.Faults
		if errors.As(err, &faults) { // only the first one: other ports and switches repeat it
			doc.Faultf(key, "%v", faults[0])
			return
		}
	}
}

func (p *Plan) port(i, j int) config.Port {
	port := p.Fabric.Nodes[i].Ports[j]
	peer := p.Fabric.Nodes[port.Peer.Node]
	c := config.Port{
		Name: port.Name, MAC: port.MAC, Peer: peer.Kind.String(),
		Rate: p.Scenario.Links[port.Link].Rate,
	}
	end := topo.End{Node: i, Port: unit.Port(j)}
	if n := p.Scenario.headroom(end); n > 0 && p.Fabric.Nodes[i].Kind == topo.Switch {
		c.XOFF = &n
	}
	own := p.Scenario.port(end)
	own.put(&c)
	if c.Auth = p.Scenario.Auth.at(p.Fabric, end); c.Auth != auth.Off {
		c.Link = p.Fabric.Links[port.Link].Name
	}
	if peer.Kind == topo.Switch {
		c.PeerMAC = peer.Ports[port.Peer.Port].MAC
	}
	return c
}

// connect gives s, switch at, a subnet of its own and the hosts in it, which are at these ports.
func (p *Plan) connect(s *config.Switch, at, dst int, ports unit.PortSet) {
	sub := p.Fabric.Subnets[dst]
	net := config.Subnet{Prefix: prefix(sub), Gateway: sub.Gateway, Ports: list(ports)}
	if p.Scenario.FloodAll {
		all := unit.PortsBelow(len(p.Fabric.Nodes[at].Ports))
		net.Flood = list(all.Without(ports))
	}
	if len(sub.Others) > 0 {
		net.Backup = list(p.Table.Group(at, dst).Backup)
		net.GatewayMAC = p.Fabric.Nodes[sub.Switch].Ports[sub.Ports.First()].MAC
	}
	s.Subnets = append(s.Subnets, net)
	for _, j := range list(ports) {
		peer := p.Fabric.Nodes[at].Ports[j].Peer
		i, port := peer.Node, p.Fabric.Nodes[peer.Node].Ports[peer.Port]
		mac := port.MAC
		s.ARP = append(s.ARP, config.ARP{IP: port.Addr, MAC: mac})
		if !slices.Contains(p.Scenario.Dead, i) {
			s.MAC = append(s.MAC, config.MAC{MAC: mac, Port: j})
		}
	}
}

func prefix(s topo.Subnet) unit.Prefix {
	return unit.Prefix{Prefix: netip.PrefixFrom(s.Addr.Netip(), s.Bits)}
}

// list returns the members of set, sharing one slice per set: a large fat-tree has
// millions of routes but only hundreds of sets.
func (p *Plan) list(set unit.PortSet) []int {
	ports, ok := p.lists[set]
	if !ok {
		ports = list(set)
		p.lists[set] = ports
	}
	return ports
}

func list(set unit.PortSet) (ports []int) {
	for ; !set.Empty(); set.Remove(set.First()) {
		ports = append(ports, int(set.First()))
	}
	return ports
}

// rxBuffer is the receive buffer of a host: what the link of its that needs most asks for.
func (s *Scenario) rxBuffer(node int) (n int) {
	for port := range s.Fabric.Nodes[node].Ports {
		n = max(n, cmp.Or(s.headroom(topo.End{Node: node, Port: unit.Port(port)}), s.RxBuffer))
	}
	return n
}

func (p *Plan) hostConfig(i int) config.Host {
	n := p.Fabric.Nodes[i]
	h := config.Host{Name: n.Name, ID: uint16(n.ID), MTU: p.Scenario.MTU, PFC: p.Scenario.PFC, LLDP: p.Scenario.LLDP}
	for j, port := range n.Ports {
		at := unit.Port(j)
		sub := p.Fabric.Subnets[p.Fabric.SubnetAt(i, at)]
		h.NICs = append(h.NICs, config.NIC{
			Port: p.port(i, j), Address: unit.Interface{IP: port.Addr, Bits: uint8(sub.Bits)}, Gateway: sub.Gateway, GatewayMAC: p.Fabric.GatewayMAC(i, at),
		})
	}
	h.RxBuffer = p.Scenario.rxBuffer(i)
	if len(h.NICs) == 1 {
		one := h.NICs[0]
		h.Port, h.Address, h.Gateway, h.GatewayMAC, h.NICs = one.Port, one.Address, one.Gateway, one.GatewayMAC, nil
	}
	if n := p.Scenario.Buffer.Slack; n != nil {
		h.RxSlack = *n
	}
	h.Bin = p.Scenario.Bin()
	if p.Scenario.HasNIC(i) {
		h.Programs = p.programs(i)
		h.Fill()
		return h
	}
	h.Flows = lists.Map(p.from[i], func(j int) config.Flow { return p.flow(j) })
	for _, j := range p.to[i] {
		if f := p.Scenario.Flows[j]; f.RC != nil {
			from, _ := p.Scenario.Addresses(&f)
			answers := f.ToNIC
			if n.Shared {
				answers = unit.NoPort
			}
			peer := config.Peer{
				Number: p.Flows[j].Number, From: from, NIC: p.number(f.To, answers), SrcPort: p.Flows[j].SrcPort, Priority: int(f.Priority), TTL: f.TTL,
			}
			if of := (host.PeerRC{Recovery: f.RC.Recovery, Message: f.RC.Message, Fixed: f.RC.Fixed}); of != (host.PeerRC{Message: f.RC.Message}) {
				peer.RC = &of
			}
			h.Peers = append(h.Peers, peer)
		}
	}
	if k := p.Scenario.Congestion; k != nil && k.Control != "none" && (len(h.Peers) > 0 || slices.ContainsFunc(h.Flows, func(f config.Flow) bool { return f.RC != nil })) {
		h.Congestion = &config.Congestion{Control: k.Control, Profile: k.Profile, CNPPriority: k.CNPPriority, TimesSlower: k.TimesSlower}
	}
	h.Acts = p.acts(i)
	h.Fill()
	return h
}

// programs are the flows of host i that agree with a program.
func (p *Plan) programs(i int) (flows []config.ProgramFlow) {
	for _, j := range append(slices.Clone(p.from[i]), p.to[i]...) {
		f := p.Scenario.Flows[j]
		if f.RC == nil || f.RC.Handshake == "" || p.Scenario.HasPrograms(i) {
			continue
		}
		from, to := p.Scenario.Addresses(&f)
		c := config.ProgramFlow{Number: p.Flows[j].Number, Name: f.Name, Peer: to, Sends: f.From == i, Priority: int(f.Priority), Stream: f.Stream}
		if !c.Sends {
			c.Peer = from
		}
		c.Frame = config.DefaultFrame
		flows = append(flows, c)
	}
	return flows
}

func (p *Plan) flow(i int) config.Flow {
	f, path := p.Scenario.Flows[i], p.Flows[i]
	_, to := p.Scenario.Addresses(&f)
	c := config.Flow{
		Number: path.Number, Name: f.Name, To: to, NIC: p.number(f.From, f.NIC), SrcPort: path.SrcPort, Priority: int(f.Priority), Stream: f.Stream,
	}
	if f.RC != nil {
		c.Transport, c.Frame = "rc", config.DefaultFrame
	}
	if f.RC != nil && f.RC.Recovery == host.Selective && f.RC.InFlight == 0 {
		rc := *f.RC
		rc.InFlight = p.InFlight(i)
		c.RC = &rc
	}
	return c
}

// acts returns the misbehaviours of host i. One with a For is followed by a return to
// normal, which ends all misbehaviours of the NICs that it is of.
func (p *Plan) acts(i int) (acts []config.Act) {
	add := func(at unit.Time, a config.Act) {
		a.At = at
		acts = append(acts, a)
	}
	for _, e := range p.Scenario.Events {
		if e.Node != i {
			continue
		}
		nic := p.number(i, e.NIC)
		switch e.Do {
		case Storm:
			add(e.At, config.Act{Do: "storm", NIC: nic, Priority: int(e.Priority)})
		case Slow:
			add(e.At, config.Act{Do: "slow", NIC: nic, Rate: e.Rate})
		case Normal:
			add(e.At, config.Act{Do: "normal", NIC: nic})
		}
		if e.For > 0 && (e.Do == Storm || e.Do == Slow) {
			add(e.At+e.For, config.Act{Do: "normal", NIC: nic})
		}
	}
	slices.SortStableFunc(acts, func(a, b config.Act) int { return cmp.Compare(a.At, b.At) })
	return acts
}

func (p *Plan) link(i int) Link {
	l := p.Fabric.Links[i]
	return Link{Name: l.Name, A: p.linkEnd(l.A), B: p.linkEnd(l.B), LinkSpeed: p.Scenario.Links[i]}
}

func (p *Plan) linkEnd(e topo.End) LinkEnd {
	n := p.Fabric.Nodes[e.Node]
	port := n.Ports[e.Port]
	return LinkEnd{Node: e.Node, Name: n.Name, Iface: port.Name, MAC: port.MAC}
}

// timeLine fills Events.
func (p *Plan) timeLine() {
	for _, e := range p.Scenario.Events {
		switch e.Do {
		case Storm, Slow, Normal:
		case Flap:
			p.Events = append(p.Events, Event{At: e.At, Do: Fail, Link: e.Link}, Event{At: e.At + e.For, Do: Heal, Link: e.Link})
		default:
			p.Events = append(p.Events, e)
		}
	}
	slices.SortStableFunc(p.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
}

// WithSlack is p with n bytes of slack in every switch and host, see config.Buffer. The
// scenario stays as it is, and what is not changed is shared with p.
func (p *Plan) WithSlack(n int) *Plan {
	q := *p
	q.Switches, q.Hosts = slices.Clone(p.Switches), slices.Clone(p.Hosts)
	for i := range q.Switches {
		q.Switches[i].Buffer.Slack = &n
	}
	for i := range q.Hosts {
		q.Hosts[i].RxSlack = n
	}
	return &q
}

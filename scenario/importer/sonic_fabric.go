package importer

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/topo"
	"softswitch/unit"
)

// end is a port of a switch.
type end struct {
	at   *configDB
	port string
}

func (e end) String() string { return e.at.name + " " + quoted(e.port) }

// sonicLink is a link between two switches, or between a switch and a host.
type sonicLink struct {
	a, b  end // b.at is nil for a host
	host  string
	speed int // in Mbit/s
	cable int // in metres, 0 if no end says it
}

// sonicFabric is the links, and what their hosts are.
type sonicFabric struct {
	links  []sonicLink
	lags   []string
	hosts  []string   // by name, each once
	shared []string   // of hosts, those with one address at all their links
	as     [][]string // switches with one AS number
}

// switches are the types of devices that are no hosts (sonic-device_neighbor_metadata).
var switches = []string{"ToRRouter", "LeafRouter", "SpineRouter", "UpperSpineRouter", "LowerSpineRouter", "UpperRegionalHub", "FabricSpineRouter", "RegionalHub", "AZNGHub", "CoreRouter", "BackEndToRRouter", "BackEndLeafRouter", "MiniPop", "BmcMgmtToRRouter", "MgmtToRRouter"}

// mostNICs is how many links a host of a scenario has at most.
const mostNICs = 16

// fabric finds the links that both ends agree about, and the hosts.
func (r *sonicReader) fabric() (f sonicFabric) {
	r.subnetLinks()
	var down, named []string // ports whose links are left out, and all that have one
	for _, c := range r.configs {
		for _, port := range r.linked(c) {
			named = append(named, end{c, port}.String())
			if !c.up(port) {
				down = append(down, r.tellDown(c, port))
				continue
			}
			l := sonicLink{a: end{c, port}}
			if !r.far(&l) {
				continue
			}
			if l.speed = r.speed(c, port); l.b.at != nil && !r.agree(&l) {
				continue
			}
			f.links = append(f.links, l)
		}
	}
	r.refuseNone(f.links, named, down)
	f.links = r.largest(f.links)
	r.nameHosts(&f)
	r.tooMany(f.links)
	f.as = r.shareAS(f.links)
	return f
}

// linked are the ports of a switch that have a link: those of DEVICE_NEIGHBOR, and those to servers of
// which it says nothing: members of a VLAN, ports with an address where addresses tell of links, and of a switch
// alone all that are up.
func (r *sonicReader) linked(c *configDB) (ports []string) {
	for _, port := range c.keys("DEVICE_NEIGHBOR") {
		if !c.has("PORT", port) {
			r.faultf(c, quoted("DEVICE_NEIGHBOR|"+port), "PORT has no %s; it has %s", quoted(port), sonicSpan(c.keys("PORT")))
			continue
		}
		ports = append(ports, port)
	}
	if len(r.configs) > 1 && len(r.others("DEVICE_NEIGHBOR")) == 0 {
		return nil // refuseNone tells of it
	}
	members := map[string]bool{}
	for _, key := range c.keys("VLAN_MEMBER") {
		_, member, _ := strings.Cut(key, "|")
		members[member] = true
	}
	for _, key := range c.keys("PORTCHANNEL_MEMBER") {
		channel, port, _ := strings.Cut(key, "|")
		members[port] = members[port] || members[channel]
	}
	for _, port := range c.keys("PORT") {
		switch {
		case c.has("DEVICE_NEIGHBOR", port) || !c.up(port):
		case members[port] || c.routed[port] || len(r.configs) == 1:
			ports = append(ports, port)
		default:
			r.tellAt(end{c, port}.String(), "it is up, and DEVICE_NEIGHBOR has nothing of it: it has no link")
		}
	}
	return ports
}

// others are the switches whose file has a table.
func (r *sonicReader) others(name string) []*configDB {
	return lists.Where(r.configs, func(c *configDB) bool { return len(c.keys(name)) > 0 })
}

// refuseNone is a fault where no link is left.
func (r *sonicReader) refuseNone(links []sonicLink, named, down []string) {
	if len(links) > 0 || len(r.faults) > 0 || len(r.configs) == 0 {
		return
	}
	first := r.configs[0]
	switch {
	case len(down) > 0:
		r.faultf(first, "PORT", "no link is left: %s; so it is at %d of %d ports with a link, and a port of SONiC is down unless admin_status is \"up\"", down[0], len(down), len(named))
	case len(r.configs) > 1 && len(r.others("DEVICE_NEIGHBOR")) == 0:
		r.faultf(first, "DEVICE_NEIGHBOR", "it is missing, as in the other files, and no two switches have addresses of one subnet in INTERFACE or PORTCHANNEL_INTERFACE: nothing says which switch is linked to which")
	default:
		r.faultf(first, "PORT", "no link is left: no port is up, or has a DEVICE_NEIGHBOR")
	}
}

// up reports whether a port is up, and the PortChannel that it is in. A port is down in SONiC unless
// something else is said.
func (c *configDB) up(port string) bool {
	return strings.EqualFold(c.field("PORT", port, "admin_status"), "up") &&
		!strings.EqualFold(c.field("PORTCHANNEL", c.channels[port], "admin_status"), "down")
}

// tellDown tells of a port that is down, and returns what it tells.
func (r *sonicReader) tellDown(c *configDB, port string) string {
	what := "its admin_status is " + quoted(c.field("PORT", port, "admin_status"))
	switch c.field("PORT", port, "admin_status") {
	case "":
		what = "it has no admin_status, so that it is down in SONiC"
	case "up":
		what = "the admin_status of its PortChannel is down"
	}
	at := end{c, port}.String()
	r.tellAt(at, "%s: its link is left out", what)
	return at + ": " + what
}

// far finds what a link leads to: a switch that has a file, or a host. False if it is a fault, or
// counted from its other end.
func (r *sonicReader) far(l *sonicLink) bool {
	c, port := l.a.at, l.a.port
	far := c.field("DEVICE_NEIGHBOR", port, "name")
	place := quoted("DEVICE_NEIGHBOR|" + port)
	if other := r.byName[far]; other != nil {
		l.b = end{other, c.field("DEVICE_NEIGHBOR", port, "port")}
		return r.back(l, place)
	}
	kind := cmp.Or(c.field("DEVICE_NEIGHBOR_METADATA", far, "type"), c.field("DEVICE_NEIGHBOR", port, "type"))
	switch router := slices.Contains(switches, kind); {
	case !c.has("DEVICE_NEIGHBOR", port):
		l.host = r.hostOf(l.a)
		r.tellAt(l.a.String(), "DEVICE_NEIGHBOR does not say where it leads: to a host")
	case router && len(r.configs) > 1:
		r.faultf(c, place, "it leads to %s, a %s, and there is no %s.json", quoted(far), kind, quoted(far))
		return false
	case !topo.ValidName(far):
		l.host = r.hostOf(l.a)
		r.tellAt(l.a.String(), "it leads to %q, which is %s here", cut(far), l.host)
	default:
		l.host = far
		if router {
			r.tellAt(l.a.String(), "it leads to a %s, of which there is no file: it is a host here", kind)
		}
	}
	return true
}

// hostOf is a name for the host at a port, of which there is none.
func (r *sonicReader) hostOf(e end) string {
	if name := e.at.name + "-" + e.port; topo.ValidName(name) {
		return name
	}
	return fmt.Sprintf("host%d-%d", slices.Index(r.configs, e.at), slices.Index(e.at.keys("PORT"), e.port))
}

// back checks that the other end of l leads back, and finds its port, which may be written by its alias.
// False if l is counted from there, or is a fault.
func (r *sonicReader) back(l *sonicLink, place string) bool {
	c, other := l.a.at, l.b.at
	l.b.port = other.portOf(l.b.port)
	theirs := l.b.port
	back := end{r.byName[other.field("DEVICE_NEIGHBOR", theirs, "name")], other.field("DEVICE_NEIGHBOR", theirs, "port")}
	switch {
	case theirs == "":
		r.faultf(c, place, "it leads to %s and has no port", other.name)
	case !other.has("PORT", theirs):
		r.faultf(c, place, "it leads to %s, whose PORT has no %s; it has %s", l.b, quoted(theirs), sonicSpan(other.keys("PORT")))
	case !other.has("DEVICE_NEIGHBOR", theirs):
		r.faultf(c, place, "it leads to %s, and %s.json has no %s", l.b, other.file, quoted("DEVICE_NEIGHBOR|"+theirs))
	case back.at != c || c.portOf(back.port) != l.a.port:
		r.faultf(c, place, "it leads to %s, which by %s.json leads to %s %s", l.b, other.file, quoted(other.field("DEVICE_NEIGHBOR", theirs, "name")), quoted(back.port))
	case l.a == l.b:
		r.faultf(c, place, "it leads to itself")
	case !other.up(theirs):
		return false // told of at the other end
	default:
		return compareNames(c.name, other.name) < 0 || c == other && compareNames(l.a.port, theirs) < 0
	}
	return false
}

// portOf is the port that is written by its name, or by its alias.
func (c *configDB) portOf(name string) string {
	if !c.has("PORT", name) {
		return cmp.Or(c.aliases[name], name)
	}
	return name
}

// agree checks that both ends of l have its speed.
func (r *sonicReader) agree(l *sonicLink) bool {
	if ours, theirs := l.a.at.field("PORT", l.a.port, "speed"), l.b.at.field("PORT", l.b.port, "speed"); ours != theirs {
		r.faultf(l.a.at, quoted("PORT|"+l.a.port), "speed is %q, and that of %s, to which it leads, %q", cut(ours), l.b, cut(theirs))
		return false
	}
	return true
}

// speed is a port's speed in Mbit/s.
func (r *sonicReader) speed(c *configDB, port string) int {
	text := c.field("PORT", port, "speed")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 10_000_000 {
		r.faultf(c, quoted("PORT|"+port), "speed is %q; want Mbit/s, such as \"100000\"", cut(text))
	}
	return n
}

// largest is the links of the largest part of a fabric, by its switches, and of several the first. The others
// are left out, and so are switches without a link.
func (r *sonicReader) largest(links []sonicLink) []sonicLink {
	part := map[string]int{} // by name; a host can join switches too
	beside := map[string][]string{}
	for _, l := range links {
		a, b := l.a.at.name, l.host
		if l.b.at != nil {
			b = l.b.at.name
		}
		beside[a], beside[b] = append(beside[a], b), append(beside[b], a)
	}
	size := []int{0}
	for _, c := range r.configs {
		if part[c.name] > 0 || len(beside[c.name]) == 0 {
			continue
		}
		size = append(size, 0)
		for next := []string{c.name}; len(next) > 0; next = next[1:] {
			if part[next[0]] > 0 {
				continue
			}
			if part[next[0]] = len(size) - 1; r.byName[next[0]] != nil {
				size[len(size)-1]++
			}
			next = append(next, beside[next[0]]...)
		}
	}
	most := slices.Index(size, slices.Max(size))
	if len(links) == 0 || size[most] == len(r.configs) {
		return links
	}
	for _, c := range r.configs {
		if part[c.name] != most {
			r.tellAt(c.name, "it is not linked to most of the other switches, and left out")
		}
	}
	r.configs = lists.Where(r.configs, func(c *configDB) bool { return part[c.name] == most })
	return lists.Where(links, func(l sonicLink) bool { return part[l.a.at.name] == most })
}

// nameHosts lists the hosts. One with several links has a NIC for each.
func (r *sonicReader) nameHosts(f *sonicFabric) {
	var of lists.Groups[string, int] // links by host
	for i, l := range f.links {
		if l.host != "" {
			of.Add(l.host, i)
		}
	}
	for _, name := range of.Keys {
		links := of.Of[name]
		if len(links) > mostNICs {
			r.tell("%s has %s, and a host up to %d: it is a host for each, %s-1 and so on", name, unit.Count(len(links), "link"), mostNICs, name)
			for n, i := range links {
				f.links[i].host = fmt.Sprintf("%s-%d", name, n+1)
				f.hosts = append(f.hosts, f.links[i].host)
			}
			continue
		}
		f.hosts = append(f.hosts, name)
		ends := lists.Map(links, func(i int) end { return f.links[i].a })
		switch {
		case len(links) == 1:
		case len(lists.Once(ends, func(e end) []*configDB { return []*configDB{e.at} })) < len(links):
			r.tell("%s has %s, some of them to one switch: each is a NIC with an address of its own", name, unit.Count(len(links), "link"))
		case apart(ends):
			r.tell("%s has %s in different subnets, by VLAN_INTERFACE: each is a NIC with an address of its own", name, unit.Count(len(links), "link"))
		default:
			f.shared = append(f.shared, name)
			r.tell("%s has %s, to different switches: it is a host with a NIC for each, and one address", name, unit.Count(len(links), "link"))
		}
	}
}

// apart reports whether no two of the ports are in one subnet.
func apart(ends []end) bool {
	var all []netip.Prefix
	for _, e := range ends {
		subnets := e.subnets()
		for _, p := range subnets {
			if slices.Contains(all, p) {
				return false
			}
		}
		if len(subnets) == 0 {
			return false
		}
		all = append(all, subnets...)
	}
	return true
}

// subnets are those of the VLANs that a port is in.
func (e end) subnets() (all []netip.Prefix) {
	for _, key := range e.at.keys("VLAN_INTERFACE") {
		vlan, address, _ := strings.Cut(key, "|")
		if p, err := netip.ParsePrefix(address); err == nil && e.at.has("VLAN_MEMBER", vlan+"|"+e.port) {
			all = append(all, p.Masked())
		}
	}
	return all
}

// tooMany are the switches with more links than one of a scenario has.
func (r *sonicReader) tooMany(links []sonicLink) {
	count := map[*configDB]int{}
	for _, l := range links {
		for _, e := range l.ends() {
			count[e.at]++
		}
	}
	for _, c := range r.configs {
		if count[c] > maxPorts {
			r.faultf(c, "PORT", "%d ports with a link; a switch of a scenario has at most %d", count[c], maxPorts)
		}
	}
}

// shareAS finds the switches with one bgp_asn, of those that lead on to others.
func (r *sonicReader) shareAS(links []sonicLink) (as [][]string) {
	edge := map[*configDB]bool{}
	asn := func(c *configDB) string { return c.field("DEVICE_METADATA", "localhost", "bgp_asn") }
	for _, l := range links {
		if l.b.at == nil {
			edge[l.a.at] = true
			continue
		}
		if n := asn(l.a.at); n != "" && !strings.EqualFold(n, "none") && n == asn(l.b.at) {
			r.tell("%s and %s, which are linked, have the same bgp_asn: AS numbers are those of a Clos here, by tier", l.a.at.name, l.b.at.name)
			return nil
		}
	}
	var by lists.Groups[string, string]
	for _, c := range r.configs {
		if asn(c) == "" || strings.EqualFold(asn(c), "none") {
			return nil
		}
		if !edge[c] {
			by.Add(asn(c), c.name)
		}
	}
	for _, n := range by.Keys {
		if len(by.Of[n]) > 1 {
			as = append(as, by.Of[n])
		}
	}
	return as
}

// knownPorts finds the ports that the keys of tables name and PORT does not have. A key is ports with
// commas between, and may go on after "|"; "global" is the switch.
func (r *sonicReader) knownPorts(c *configDB) {
	if len(c.keys("PORT")) == 0 {
		r.faultf(c, "PORT", "it is missing; want the ports of the switch with their speed and admin_status")
		r.broken = true
		return
	}
	for _, name := range []string{"PORT_QOS_MAP", "BUFFER_PG"} {
		for _, key := range c.keys(name) {
			ports, _, _ := strings.Cut(key, "|")
			for _, port := range strings.Split(ports, ",") {
				if port != "global" && !c.has("PORT", port) {
					r.faultf(c, quoted(name+"|"+key), "PORT has no %s; it has %s", quoted(port), sonicSpan(c.keys("PORT")))
				}
			}
		}
	}
	for _, name := range []string{"CABLE_LENGTH", "QUEUE", "PFC_WD", "VLAN_MEMBER"} {
		for _, key := range c.keys(name) {
			ports := c.fieldsOf(name, key)
			if name != "CABLE_LENGTH" {
				what, _, _ := cutLast(key, "|")
				if name == "VLAN_MEMBER" {
					_, what, _ = strings.Cut(key, "|")
				}
				ports = strings.Split(what, ",")
			}
			for _, port := range ports {
				if port != "GLOBAL" && !c.has("PORT", port) && !c.has("PORTCHANNEL", port) {
					r.tellAt(c.name+" "+quoted(port), "%s has it, and PORT has not: it is not used", name)
				}
			}
		}
	}
}

// sonicSpan lists names, in full up to eight.
func sonicSpan(names []string) string { return span(lists.Map(names, quoted)) }

package importer

import (
	"net/netip"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// routed is a port, or a PortChannel, with an address.
type routed struct {
	end
	place string // of the address, for faults: the table and the key
}

// interfaceTables have the addresses of ports and PortChannels.
var interfaceTables = []string{"INTERFACE", "PORTCHANNEL_INTERFACE"}

// subnetLinks gives switches of which no file has DEVICE_NEIGHBOR the neighbours that their addresses tell of:
// two ports of different switches that are in one subnet are linked. Subnets of VLANs and of loopbacks make no
// links. A port whose subnet no other switch has, or more than one, leads to a host.
func (r *sonicReader) subnetLinks() {
	if len(r.configs) < 2 || len(r.others("DEVICE_NEIGHBOR")) > 0 {
		for _, name := range interfaceTables {
			for _, c := range r.others(name) {
				r.keep(outcome{isIdle, addresses}, quoted(name), c.file+".json")
			}
		}
		return
	}
	subnets := r.interfaces()
	for _, subnet := range subnets.Keys {
		at := subnets.Of[subnet]
		names := sonicSpan(lists.Map(at, func(p routed) string { return p.at.name + " " + p.port }))
		switch two := subnet.Addr().BitLen()-subnet.Bits() <= 2; {
		case len(at) == 2 && at[0].at != at[1].at:
			r.join(subnet, at[0], at[1])
		case len(at) > 1 && two:
			r.faultf(at[0].at, at[0].place, "%s is a link, which has two ends at different switches, and it is the subnet of %s", subnet, names)
		case len(at) > 1:
			r.tell("%s is the subnet of %s: what joins them is in no file, and each leads to a host", subnet, names)
		}
	}
	linked := 0
	for _, c := range r.configs {
		c.order["DEVICE_NEIGHBOR"] = keysOf(c.tables["DEVICE_NEIGHBOR"])
		linked += len(c.keys("DEVICE_NEIGHBOR"))
	}
	if linked == 0 {
		return
	}
	r.tell("No file has DEVICE_NEIGHBOR: links are from subnets of INTERFACE and PORTCHANNEL_INTERFACE, of which two switches have an address")
	for _, subnet := range subnets.Keys {
		for _, p := range subnets.Of[subnet] {
			for _, port := range p.members() {
				p.at.routed[port] = true
			}
		}
	}
}

// interfaces are the ports and PortChannels with an address, by its subnet.
func (r *sonicReader) interfaces() (subnets lists.Groups[netip.Prefix, routed]) {
	for _, c := range r.configs {
		for _, name := range interfaceTables {
			for _, key := range c.keys(name) {
				port, address, keyed := strings.Cut(key, "|")
				if !keyed {
					continue // the interface itself
				}
				place := quoted(name + "|" + key)
				p, err := netip.ParsePrefix(strings.TrimSpace(address))
				switch {
				case err != nil:
					r.faultf(c, place, "%q is no address with its length, such as 10.0.0.0/31", cut(address))
				case !c.has("PORT", port) && !c.has("PORTCHANNEL", port):
					r.tellAt(c.name+" "+quoted(port), "%s has it, and PORT has not: it is not used", name)
				case p.IsSingleIP() || p.Addr().IsLinkLocalUnicast():
				default:
					subnets.Add(p.Masked(), routed{end{c, port}, place})
				}
			}
		}
	}
	for _, subnet := range subnets.Keys { // a port with several addresses in a subnet is in it once
		subnets.Of[subnet] = slices.CompactFunc(subnets.Of[subnet], func(a, b routed) bool { return a.end == b.end })
	}
	return subnets
}

// members are the ports of a PortChannel, or the port itself.
func (p *routed) members() (ports []string) {
	if p.at.has("PORT", p.port) {
		return []string{p.port}
	}
	for _, port := range p.at.keys("PORT") {
		if p.at.channels[port] == p.port {
			ports = append(ports, port)
		}
	}
	return ports
}

// join links two ports, or the members of two PortChannels, in their order.
func (r *sonicReader) join(subnet netip.Prefix, a, b routed) {
	ours, theirs := a.members(), b.members()
	if len(ours) != len(theirs) || len(ours) == 0 {
		r.faultf(a.at, a.place, "%s has %s, and %s, which is in its subnet, %d: they are to be as many", a.end, unit.Count(len(ours), "port"), b.end, len(theirs))
		return
	}
	for i := range ours {
		if r.neighbour(a, ours[i], b, theirs[i]) {
			r.neighbour(b, theirs[i], a, ours[i])
		}
	}
	switch {
	case len(ours) > 1:
		r.tellAt(a.String()+" and "+b.String(), "they have one subnet: the first member of one is linked to the first of the other, and so on")
	case subnet.Addr().BitLen()-subnet.Bits() > 2:
		r.tellAt(a.String()+" and "+b.String(), "their subnet has room for more than two addresses, and no third port has one: it is taken for a link")
	}
}

// neighbour notes that a port of a leads to one of b. False if it is a fault, as another address says otherwise.
func (r *sonicReader) neighbour(a routed, port string, b routed, theirs string) bool {
	rows := a.at.tables["DEVICE_NEIGHBOR"]
	if rows == nil {
		rows = table{}
		a.at.tables["DEVICE_NEIGHBOR"] = rows
	}
	if row := rows[port]; row != nil && (row["name"] != b.at.name || row["port"] != theirs) {
		r.faultf(a.at, a.place, "by it %s leads to %s, and by another address to %s %s", end{a.at, port}, end{b.at, theirs}, row["name"], quoted(row["port"]))
		return false
	}
	rows[port] = map[string]string{"name": b.at.name, "port": theirs}
	return true
}

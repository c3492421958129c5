package dataplane

import (
	"net/netip"
	"slices"

	"softswitch/unit"
)

// fib is the forwarding table: longest prefix first, one hash look-up a prefix
// length that occurs.
type fib struct {
	entries []fibEntry
	byLen   [33]map[uint32]int32
	lengths []uint8 // those that occur, longest first
	subnets []Subnet
	recent  [64]recentRoute // by a few bits of the address
}

// recentRoute is what lookup last found for an address. Entries do not move, and no prefix is
// added after newFIB, so it stays right; what changes in an entry (active) is read through the
// pointer.
type recentRoute struct {
	ip    uint32
	entry *fibEntry // nil: nothing yet
}

// fibEntry is a connected subnet or an ECMP group.
type fibEntry struct {
	subnet          int32  // index, -1 for a group
	gateway         uint32 // of a subnet: the switch's own address
	primary, backup unit.PortSet
	active          unit.PortSet // primary ports that are up, else backup ports that are; of a subnet the latter
	served          bool         // a primary port has been up
	rerouted        bool         // since then the backup has taken over
	prefix          netip.Prefix
}

func newFIB(c Config) fib {
	f := fib{subnets: c.Subnets, entries: make([]fibEntry, 0, len(c.Subnets)+len(c.Routes))}
	for i, s := range c.Subnets {
		f.add(fibEntry{subnet: int32(i), gateway: addr32(s.Gateway), backup: s.Backup, prefix: s.Prefix})
	}
	for _, r := range c.Routes {
		f.add(fibEntry{subnet: -1, primary: r.Ports, backup: r.Backup, prefix: r.Prefix})
	}
	for n := 32; n >= 0; n-- {
		if f.byLen[n] != nil {
			f.lengths = append(f.lengths, uint8(n))
		}
	}
	return f
}

// add enters e; the first of two equal prefixes stays, so that a connected subnet
// wins over a route.
func (f *fib) add(e fibEntry) {
	n := e.prefix.Bits()
	if f.byLen[n] == nil {
		f.byLen[n] = make(map[uint32]int32)
	}
	key := addr32(e.prefix.Masked().Addr())
	if _, taken := f.byLen[n][key]; !taken {
		f.byLen[n][key] = int32(len(f.entries))
	}
	f.entries = append(f.entries, e)
}

// lookup finds the entry with the longest prefix of ip, nil if there is none.
func (f *fib) lookup(ip uint32) *fibEntry {
	// Six bits of the address, folded from three places: hosts of a subnet differ in the lowest,
	// subnets in higher ones. A frame costs a comparison instead of a look-up for each prefix
	// length.
	r := &f.recent[(ip^ip>>6^ip>>12)%uint32(len(f.recent))]
	if r.ip == ip && r.entry != nil {
		return r.entry
	}
	for _, n := range f.lengths {
		if i, ok := f.byLen[n][ip&mask(int(n))]; ok {
			*r = recentRoute{ip, &f.entries[i]}
			return r.entry
		}
	}
	return nil
}

// setLinks recomputes which ports serve each group, and calls rerouted for each
// group that falls back on its backup.
func (f *fib) setLinks(up unit.PortSet, rerouted func(route int, out unit.Port)) {
	route := -1
	for i := range f.entries {
		e := &f.entries[i]
		if e.subnet >= 0 {
			e.active = e.backup.And(up)
			continue
		}
		route++
		// served: a group that has had no primary port yet has not failed. Links come up one by
		// one, and a backup that is up first is no reroute. rerouted makes it one event for each
		// failure.
		if e.active = e.primary.And(up); !e.active.Empty() {
			e.served, e.rerouted = true, false
			continue
		}
		e.active = e.backup.And(up)
		if !e.active.Empty() && e.served && !e.rerouted {
			e.rerouted = true
			rerouted(route, e.active.First())
		}
	}
}

// ways are the ports of the group by which a frame that came by in may leave: those that
// are up, but not in nor another member of its LAG; in, if there is no other neighbour (split
// horizon); nor one of avoid, unless there is no other. lag is the ports of in's LAG, or in alone.
func (e *fibEntry) ways(in unit.Port, lag, avoid unit.PortSet) unit.PortSet {
	set := e.active
	if set.Has(in) && set.Len() > 1 {
		if set = set.Without(lag); set.Empty() {
			return in.Set()
		}
	}
	// Avoid is a wish (detect.Control): where no other port is left, the frame takes this one.
	if rest := set.Without(avoid); !rest.Empty() {
		set = rest
	}
	return set
}

// subnetOf is the connected subnet that a port is in, -1 for none.
func (f *fib) subnetOf(p unit.Port) int {
	return slices.IndexFunc(f.subnets, func(s Subnet) bool { return s.Ports.Has(p) })
}

// addr32 is an IPv4 address as a number, its first octet the most significant.
func addr32(a netip.Addr) uint32 { return uint32(unit.AddrOf(a)) }

// mask is the netmask of a prefix length; of 0 it is 0, since Go shifts out all 32 bits.
func mask(bits int) uint32 { return ^uint32(0) << (32 - bits) }

func contains(p netip.Prefix, ip uint32) bool { return ip&mask(p.Bits()) == addr32(p.Masked().Addr()) }

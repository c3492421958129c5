package dataplane

import (
	"encoding/binary"
	"net/netip"

	"softswitch/internal/ether"
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

// recentRoute is what lookup last found for an address. Entries do not move, so it
// stays right.
type recentRoute struct {
	ip    uint32
	entry *fibEntry // nil: nothing yet
}

// fibEntry is a connected subnet or an ECMP group.
type fibEntry struct {
	subnet          int32 // index, -1 for a group
	primary, backup unit.PortSet
	active          unit.PortSet // primary ports that are up, else backup ports that are
	served          bool         // a primary port has been up
	rerouted        bool         // since then the backup has taken over
	prefix          netip.Prefix
}

func newFIB(c Config) fib {
	f := fib{subnets: c.Subnets}
	for i, s := range c.Subnets {
		f.add(fibEntry{subnet: int32(i), prefix: s.Prefix})
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
			continue
		}
		route++
		if e.active = e.primary & up; e.active != 0 {
			e.served, e.rerouted = true, false
			continue
		}
		e.active = e.backup & up
		if e.active != 0 && e.served && !e.rerouted {
			e.rerouted = true
			rerouted(route, e.active.First())
		}
	}
}

// pick chooses a port of the group by a flow's hash, but not the one by which the
// frame came, unless that is the only one (split horizon), nor one of avoid, unless
// there is no other. unit.NoPort if no port of the group is up.
func (e *fibEntry) pick(in unit.Port, hash, seed uint32, avoid unit.PortSet) unit.Port {
	set := e.active
	if set.Has(in) && set.Len() > 1 {
		set.Remove(in)
	}
	if rest := set &^ avoid; rest != 0 {
		set = rest
	}
	switch n := set.Len(); n {
	case 0:
		return unit.NoPort
	case 1:
		return set.First()
	default:
		return set.Nth(ether.Pick(hash, seed, n))
	}
}

// subnetOf is the connected subnet that a port is in, -1 for none.
func (f *fib) subnetOf(p unit.Port) int {
	for i, s := range f.subnets {
		if s.Ports.Has(p) {
			return i
		}
	}
	return -1
}

// Sizes and times of the tables.
const (
	macTableMax = 8192
	arpTableMax = 8192
	macAge      = 300 * unit.Second // IEEE 802.1Q, 8.8.3: the recommended ageing time
	arpRetry    = unit.Second
)

// macTable tells by which port a station is reached. Entries that were learned age.
type macTable struct {
	index   map[ether.MAC]int32
	entries []macEntry
}

type macEntry struct {
	mac    ether.MAC
	seen   unit.Time
	port   unit.Port
	static bool
}

func newMACTable(static []Station) macTable {
	t := macTable{index: make(map[ether.MAC]int32)}
	for _, s := range static {
		t.index[s.MAC] = int32(len(t.entries))
		t.entries = append(t.entries, macEntry{mac: s.MAC, port: s.Port, static: true})
	}
	return t
}

// learn notes that mac was seen at in; false if the table is full of younger
// entries. Groups are never learned, static entries never moved.
func (t *macTable) learn(now unit.Time, mac ether.MAC, in unit.Port) bool {
	if i, ok := t.index[mac]; ok {
		if e := &t.entries[i]; !e.static {
			e.seen, e.port = now, in
		}
		return true
	}
	if mac.IsGroup() {
		return true
	}
	if len(t.entries) < macTableMax {
		t.index[mac] = int32(len(t.entries))
		t.entries = append(t.entries, macEntry{mac: mac, seen: now, port: in})
		return true
	}
	for i := range t.entries {
		e := &t.entries[i]
		if !e.static && e.seen+macAge < now {
			delete(t.index, e.mac)
			*e = macEntry{mac: mac, seen: now, port: in}
			t.index[mac] = int32(i)
			return true
		}
	}
	return false
}

// forget forgets the stations that were learned at a port.
func (t *macTable) forget(p unit.Port) {
	for i := range t.entries {
		if e := &t.entries[i]; e.port == p && !e.static {
			e.seen = -macAge - 1
		}
	}
}

// lookup finds the port of a station that was seen within macAge.
func (t *macTable) lookup(now unit.Time, mac ether.MAC) (unit.Port, bool) {
	i, ok := t.index[mac]
	if !ok {
		return 0, false
	}
	e := &t.entries[i]
	if !e.static && e.seen+macAge < now {
		return 0, false
	}
	return e.port, true
}

// arpTable tells the MAC of a neighbour.
type arpTable struct {
	macs   map[uint32]ether.MAC
	static map[uint32]bool
	asked  map[uint32]unit.Time
	forgot unit.Time // when asked was last cleared
}

func newARPTable(static []Neighbour) arpTable {
	t := arpTable{macs: make(map[uint32]ether.MAC), static: make(map[uint32]bool), asked: make(map[uint32]unit.Time)}
	for _, n := range static {
		t.macs[addr32(n.IP)], t.static[addr32(n.IP)] = n.MAC, true
	}
	return t
}

// learn notes a neighbour's address; false if the table is full. Static entries
// stay.
func (t *arpTable) learn(ip uint32, mac ether.MAC) bool {
	if _, ok := t.macs[ip]; !ok && len(t.macs) >= arpTableMax {
		return false
	}
	if !t.static[ip] {
		t.macs[ip] = mac
	}
	delete(t.asked, ip)
	return true
}

func (t *arpTable) lookup(ip uint32) (ether.MAC, bool) {
	m, ok := t.macs[ip]
	return m, ok
}

// mayAsk reports whether a request for ip may be sent now, and notes that it was.
// A table full of neighbours that never answered is forgotten once an arpRetry.
func (t *arpTable) mayAsk(now unit.Time, ip uint32) bool {
	last, ok := t.asked[ip]
	if ok && now-last < arpRetry {
		return false
	}
	if !ok && len(t.asked) >= arpTableMax {
		if now-t.forgot < arpRetry {
			return false
		}
		clear(t.asked)
		t.forgot = now
	}
	t.asked[ip] = now
	return true
}

func addr32(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func mask(bits int) uint32 { return ^uint32(0) << (32 - bits) }

func contains(p netip.Prefix, ip uint32) bool { return ip&mask(p.Bits()) == addr32(p.Masked().Addr()) }

package dataplane

import (
	"cmp"
	"net/netip"
	"slices"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// What a switch tells of its tables and its pauses, to read between calls: copies
// that the caller owns.

// MACEntry is a station that the switch knows.
type MACEntry struct {
	MAC    unit.MAC
	Port   unit.Port
	Static bool
}

// MACEntries are the stations known at now, by address and port. Those that have aged are not.
func (s *Switch) MACEntries(now unit.Time) (entries []MACEntry) {
	for i := range s.macs.entries {
		if e := &s.macs.entries[i]; !s.macs.aged(e, now) {
			entries = append(entries, MACEntry{MAC: e.mac, Port: e.port, Static: e.static})
		}
	}
	slices.SortFunc(entries, func(a, b MACEntry) int {
		return cmp.Or(cmp.Compare(a.MAC, b.MAC), cmp.Compare(a.Port, b.Port))
	})
	return entries
}

// ARPEntry is a neighbour that the switch knows.
type ARPEntry struct {
	Neighbour
	Port   unit.Port // by which frames for it leave; unit.NoPort if they are flooded
	Static bool
}

// ARPEntries are the neighbours known at now, by IP address. Those that have aged are not.
func (s *Switch) ARPEntries(now unit.Time) (entries []ARPEntry) {
	for i := range s.arps.entries {
		e := &s.arps.entries[i]
		if s.arps.aged(e, now) {
			continue
		}
		n := ARPEntry{Neighbour{IP: unit.Addr(e.key).Netip(), MAC: e.mac}, unit.NoPort, e.static}
		if r := s.fib.lookup(uint32(e.key)); r != nil && r.subnet >= 0 {
			// Not the port at which the entry was learned: frames go where the MAC table says,
			// which may know better, or nothing.
			n.Port, _ = s.macs.lookup(now, int(r.subnet), e.mac)
		}
		entries = append(entries, n)
	}
	slices.SortFunc(entries, func(a, b ARPEntry) int { return a.IP.Compare(b.IP) })
	return entries
}

// RouteEntry is a forwarding entry: a connected subnet, whose frames are bridged among
// Ports, or an ECMP group.
type RouteEntry struct {
	Prefix        netip.Prefix
	Connected     bool
	Ports, Backup unit.PortSet
	Active        unit.PortSet // of a group: those that frames leave by now
}

// RouteEntries are the forwarding entries in the order of the configuration, connected
// subnets first.
func (s *Switch) RouteEntries() (entries []RouteEntry) {
	for i, e := range s.fib.entries {
		if s.fib.byLen[e.prefix.Bits()][addr32(e.prefix.Masked().Addr())] != int32(i) {
			continue // another one of the same prefix comes before it
		}
		r := RouteEntry{Prefix: e.prefix, Ports: e.primary, Backup: e.backup, Active: e.active}
		if e.subnet >= 0 {
			r.Connected, r.Ports = true, s.fib.subnets[e.subnet].Ports
			r.Active = r.Ports.And(s.up)
		}
		entries = append(entries, r)
	}
	return entries
}

// PausedSince is when the active pause at a queue began; ok is false if there is none.
func (s *Switch) PausedSince(p unit.Port, c unit.Priority) (at unit.Time, ok bool) {
	return s.ports[p].pauses[c].since, s.ports[p].paused.Has(c)
}

// Labels are, in, the label of the latest pause frame for queue (p, c), if that is paused, and, out, that
// of the latest pause or resume frame for priority group (p, c). Of frames that carried none, and if
// there was no frame, its kind is itsyhdr.KindPeriod.
func (s *Switch) Labels(p unit.Port, c unit.Priority) (in, out itsyhdr.TLV) {
	if s.ports[p].paused.Has(c) {
		in = s.ports[p].pauses[c].label
	}
	return in, s.ports[p].announced[c].label
}

package dataplane

import (
	"softswitch/unit"
)

const (
	// Chosen: what a switch learns has a bound, of which a port gets half at most (shares).
	macTableMax = 8192
	macAge      = 300 * unit.Second // IEEE 802.1Q, 8.8.3: the recommended ageing time
)

// macTable tells by which port a station is reached.
type macTable struct{ learnedTable }

// newMACTable makes the table with its static entries. subnetOf says in which subnet a port is.
func newMACTable(static []Station, subnetOf func(unit.Port) int) macTable {
	t := macTable{newLearnedTable(macTableMax, macAge)}
	for _, s := range static {
		t.add(learnedEntry{key: stationKey(subnetOf(s.Port), s.MAC), mac: s.MAC, port: s.Port, static: true})
	}
	return t
}

// stationKey is the key of a station. Entries are by VLAN (IEEE 802.1Q, 8.8), and a subnet is
// one here: a station of another one that has the same address is another station. The subnet
// of a switch that bridges all ports is -1.
func stationKey(subnet int, mac unit.MAC) uint64 { return uint64(subnet+1)<<48 | uint64(mac) }

// lookup finds the port of a station of a subnet that was seen within macAge.
func (t *macTable) lookup(now unit.Time, subnet int, mac unit.MAC) (unit.Port, bool) {
	e := t.learnedTable.lookup(now, stationKey(subnet, mac))
	if e == nil {
		return unit.NoPort, false
	}
	return e.port, true
}

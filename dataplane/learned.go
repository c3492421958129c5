package dataplane

import (
	"softswitch/unit"
)

// learnedSweep is how many entries are looked at for age with each new one. More than one, so
// that aged entries go faster than new ones come, and few, so that a new station costs the same
// whatever the table holds.
const learnedSweep = 2

// learnedTable is what was learned of neighbours, by a key. Entries that were learned age,
// and are taken out as new ones come: a full table costs no more than another. Invariants: index
// has exactly the keys of entries; shares[p] is the number of entries, static ones apart, that
// were learned at p. An aged entry may be there still: lookup does not return it, and refresh
// makes it young.
type learnedTable struct {
	max     int
	age     unit.Time
	index   map[uint64]int32
	recent  [16]int32 // by the last bits of a key: where in entries it was found last
	entries []learnedEntry
	shares  shares
	hand    int // the entry whose age is looked at next
}

type learnedEntry struct {
	key    uint64
	mac    unit.MAC
	seen   unit.Time
	port   unit.Port // where it was learned
	static bool
}

func newLearnedTable(most int, age unit.Time) learnedTable {
	return learnedTable{max: most, age: age, index: make(map[uint64]int32)}
}

// aged reports whether e is out of date. Static entries never are.
func (t *learnedTable) aged(e *learnedEntry, now unit.Time) bool {
	return !e.static && e.seen+t.age < now
}

// refresh notes that the neighbour of key was heard at in as mac, and reports whether it has
// an entry. Static ones stay as they are.
func (t *learnedTable) refresh(now unit.Time, key uint64, mac unit.MAC, in unit.Port) bool {
	i, ok := t.find(key)
	if !ok {
		return false
	}
	if e := &t.entries[i]; !e.static {
		if e.port != in {
			t.shares.move(e.port, in)
		}
		e.mac, e.seen, e.port = mac, now, in
	}
	return true
}

// learn enters a neighbour that has no entry and was heard at in; false if there is no room
// for it.
func (t *learnedTable) learn(now unit.Time, key uint64, mac unit.MAC, in unit.Port) bool {
	t.sweep(now)
	if !t.shares.room(in, t.max-len(t.entries)) {
		return false
	}
	t.shares[in]++
	t.add(learnedEntry{key: key, mac: mac, seen: now, port: in})
	return true
}

// lookup finds the entry of a neighbour, nil if there is none or it has aged.
func (t *learnedTable) lookup(now unit.Time, key uint64) *learnedEntry {
	i, ok := t.find(key)
	if !ok || t.aged(&t.entries[i], now) {
		return nil
	}
	return &t.entries[i]
}

// find is where the entry of a key is. Frames of a batch are of few neighbours: most are where
// the last one was found.
func (t *learnedTable) find(key uint64) (i int32, ok bool) {
	// What recent says may be out of date, since remove moves entries. The key of the entry
	// decides.
	last := &t.recent[key%16]
	if i = *last; int(i) < len(t.entries) && t.entries[i].key == key {
		return i, true
	}
	if i, ok = t.index[key]; ok {
		*last = i
	}
	return i, ok
}

func (t *learnedTable) add(e learnedEntry) {
	t.index[e.key] = int32(len(t.entries))
	t.entries = append(t.entries, e)
}

// sweep takes out what has aged of the next learnedSweep entries.
func (t *learnedTable) sweep(now unit.Time) {
	for range min(learnedSweep, len(t.entries)) {
		if t.hand >= len(t.entries) {
			t.hand = 0
		}
		if t.aged(&t.entries[t.hand], now) {
			t.remove(t.hand)
		} else {
			t.hand++
		}
	}
}

// remove takes entry i out; the last one takes its place.
func (t *learnedTable) remove(i int) {
	// The order of the last three lines is for i == last, where the moved entry is the one that
	// goes. In a sweep the hand stays: the entry that has moved to i has not been looked at.
	gone, last := t.entries[i], len(t.entries)-1
	t.shares[gone.port]--
	t.entries[i] = t.entries[last]
	t.index[t.entries[i].key] = int32(i)
	delete(t.index, gone.key)
	t.entries = t.entries[:last]
}

// forget forgets the neighbours that were learned at a port.
func (t *learnedTable) forget(p unit.Port) {
	// From the end: what remove moves down has been looked at.
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e := &t.entries[i]; e.port == p && !e.static {
			t.remove(i)
		}
	}
}

// shares counts the entries of a table that were learned at each port.
type shares [unit.MaxPorts]int32

// room reports whether an entry may be learned at p when this many are free: a port may
// hold as many as it leaves free, so that a station that makes up addresses leaves room
// for those of all other ports.
func (n *shares) room(p unit.Port, free int) bool { return int(n[p]) < free }

func (n *shares) move(from, to unit.Port) {
	n[from]--
	n[to]++
}

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

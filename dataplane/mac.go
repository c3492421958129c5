package dataplane

import (
	"softswitch/internal/ether"
	"softswitch/unit"
)

const (
	macTableMax = 8192
	macAge      = 300 * unit.Second // IEEE 802.1Q, 8.8.3: the recommended ageing time
	macSweep    = 2                 // entries that are looked at for age with each new station
)

// macTable tells by which port a station is reached. Entries that were learned age,
// and are taken out as new stations come: a full table costs no more than another.
type macTable struct {
	index   map[ether.MAC]int32
	recent  [16]int32 // by the last bits of an address: where in entries it was found last
	entries []macEntry
	learned shares
	hand    int // the entry whose age is looked at next
}

type macEntry struct {
	mac    ether.MAC
	seen   unit.Time
	port   unit.Port
	static bool
}

func (e *macEntry) aged(now unit.Time) bool { return !e.static && e.seen+macAge < now }

func newMACTable(static []Station) macTable {
	t := macTable{index: make(map[ether.MAC]int32)}
	for _, s := range static {
		t.add(macEntry{mac: s.MAC, port: s.Port, static: true})
	}
	return t
}

// refresh notes that mac was seen at in, and reports whether it has an entry. Static ones
// are never moved.
func (t *macTable) refresh(now unit.Time, mac ether.MAC, in unit.Port) bool {
	i, ok := t.find(mac)
	if !ok {
		return false
	}
	if e := &t.entries[i]; !e.static {
		if e.port != in {
			t.learned.move(e.port, in)
		}
		e.seen, e.port = now, in
	}
	return true
}

// learn enters mac, which has no entry and was seen at in; false if there is no room for it.
func (t *macTable) learn(now unit.Time, mac ether.MAC, in unit.Port) bool {
	t.sweep(now)
	if !t.learned.room(in, macTableMax-len(t.entries)) {
		return false
	}
	t.learned[in]++
	t.add(macEntry{mac: mac, seen: now, port: in})
	return true
}

// find is the entry of a station. Frames of a batch are of few stations: most are where the
// last one was found.
func (t *macTable) find(mac ether.MAC) (i int32, ok bool) {
	last := &t.recent[mac%16]
	if i = *last; int(i) < len(t.entries) && t.entries[i].mac == mac {
		return i, true
	}
	if i, ok = t.index[mac]; ok {
		*last = i
	}
	return i, ok
}

func (t *macTable) add(e macEntry) {
	t.index[e.mac] = int32(len(t.entries))
	t.entries = append(t.entries, e)
}

// sweep takes out what has aged of the next macSweep entries.
func (t *macTable) sweep(now unit.Time) {
	for range min(macSweep, len(t.entries)) {
		if t.hand >= len(t.entries) {
			t.hand = 0
		}
		if t.entries[t.hand].aged(now) {
			t.remove(t.hand)
		} else {
			t.hand++
		}
	}
}

// remove takes entry i out; the last one takes its place.
func (t *macTable) remove(i int) {
	gone, last := t.entries[i], len(t.entries)-1
	t.learned[gone.port]--
	t.entries[i] = t.entries[last]
	t.index[t.entries[i].mac] = int32(i)
	delete(t.index, gone.mac)
	t.entries = t.entries[:last]
}

// forget forgets the stations that were learned at a port.
func (t *macTable) forget(p unit.Port) {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e := &t.entries[i]; e.port == p && !e.static {
			t.remove(i)
		}
	}
}

// lookup finds the port of a station that was seen within macAge.
func (t *macTable) lookup(now unit.Time, mac ether.MAC) (unit.Port, bool) {
	i, ok := t.find(mac)
	if !ok || t.entries[i].aged(now) {
		return 0, false
	}
	return t.entries[i].port, true
}

// shares counts the entries of a table that were learned at each port.
type shares [unit.MaxPorts]int32

// room reports whether an entry may be learned at p when so many are free: a port may
// have as many as it leaves free, so that a station that makes up addresses leaves room
// for those of all other ports.
func (n *shares) room(p unit.Port, free int) bool { return int(n[p]) < free }

func (n *shares) move(from, to unit.Port) {
	n[from]--
	n[to]++
}

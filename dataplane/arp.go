package dataplane

import (
	"softswitch/internal/ether"
	"softswitch/unit"
)

const (
	arpTableMax = 8192
	arpRetry    = unit.Second
)

// arpTable tells the MAC of a neighbour.
type arpTable struct {
	entries map[uint32]arpEntry
	learned shares
	asked   map[uint32]unit.Time
	forgot  unit.Time // when asked was last cleared
}

type arpEntry struct {
	mac    ether.MAC
	port   unit.Port // where it was learned
	static bool
}

func newARPTable(static []Neighbour) arpTable {
	t := arpTable{entries: make(map[uint32]arpEntry), asked: make(map[uint32]unit.Time)}
	for _, n := range static {
		t.entries[addr32(n.IP)] = arpEntry{mac: n.MAC, static: true}
	}
	return t
}

// learn notes that the neighbour ip, heard at in, has the address mac; false if there
// is no room for it. Static entries stay.
func (t *arpTable) learn(ip uint32, mac ether.MAC, in unit.Port) bool {
	e, known := t.entries[ip]
	switch {
	case e.static:
		return true
	case known:
		t.learned.move(e.port, in)
	case !t.learned.room(in, arpTableMax-len(t.entries)):
		return false
	default:
		t.learned[in]++
	}
	t.entries[ip] = arpEntry{mac: mac, port: in}
	delete(t.asked, ip)
	return true
}

func (t *arpTable) lookup(ip uint32) (ether.MAC, bool) {
	e, ok := t.entries[ip]
	return e.mac, ok
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

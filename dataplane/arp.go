package dataplane

import (
	"softswitch/unit"
)

const (
	// arpTableMax is chosen, as macTableMax is. A request a second for an address (arpRetry) is
	// the most that RFC 1122, 2.3.2.1, recommends.
	arpTableMax = 8192
	arpRetry    = unit.Second
	// arpSilence is for how long a neighbour that does not answer counts as silent. Chosen, as
	// long as arpRenew: who asks for it much later asks for the first time.
	arpSilence = 60 * unit.Second
	// arpAge is for how long a neighbour is believed to have the address that it said. RFC 1122,
	// 2.3.2.1, leaves it open; four hours are usual for routers. It is far longer than macAge,
	// and that gap is where the flooding of Guo et al., section 4.2, comes from. An entry that
	// frames are sent to is asked for again in its last arpRenew.
	arpAge   = 4 * 3600 * unit.Second
	arpRenew = 60 * unit.Second
)

// arpTable tells the MAC of a neighbour, by its IP address. asked has, by address, when a request
// was sent last that nobody has answered.
type arpTable struct {
	learnedTable
	asked  map[uint32]unit.Time
	forgot unit.Time // when asked was last cleared
}

func newARPTable(static []Neighbour) arpTable {
	t := arpTable{learnedTable: newLearnedTable(arpTableMax, arpAge), asked: make(map[uint32]unit.Time)}
	for _, n := range static {
		t.add(learnedEntry{key: uint64(addr32(n.IP)), mac: n.MAC, static: true})
	}
	return t
}

// hear notes that the neighbour ip, heard at in, has the address mac; false if there is no
// room for it.
func (t *arpTable) hear(now unit.Time, ip uint32, mac unit.MAC, in unit.Port) bool {
	if !t.refresh(now, uint64(ip), mac, in) && !t.learn(now, uint64(ip), mac, in) {
		return false
	}
	// Answered: silence is counted from scratch.
	delete(t.asked, ip)
	return true
}

// lookup finds the address of a neighbour; renew says that it is time to ask for it again.
func (t *arpTable) lookup(now unit.Time, ip uint32) (mac unit.MAC, renew, ok bool) {
	e := t.learnedTable.lookup(now, uint64(ip))
	if e == nil {
		return 0, false, false
	}
	return e.mac, !e.static && e.seen+arpAge-arpRenew < now, true
}

// mayAsk reports whether a request for ip may be sent now; silent says that one was sent within
// an arpSilence and not answered within an arpRetry.
func (t *arpTable) mayAsk(now unit.Time, ip uint32) (may, silent bool) {
	last, ok := t.asked[ip]
	if !ok {
		return len(t.asked) < arpTableMax || now-t.forgot >= arpRetry, false
	}
	return now-last >= arpRetry, now-last >= arpRetry && now-last < arpSilence
}

// ask notes that a request for ip is sent. A table full of neighbours that never answered is
// forgotten, once an arpRetry. Preconditions: mayAsk says that it may be sent.
func (t *arpTable) ask(now unit.Time, ip uint32) {
	if _, ok := t.asked[ip]; !ok && len(t.asked) >= arpTableMax {
		clear(t.asked)
		t.forgot = now
	}
	t.asked[ip] = now
}

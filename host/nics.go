package host

import (
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/pacer"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// nic is what each NIC of a host has of its own. What is of flows and connections is the host's.
type nic struct {
	NIC
	n     unit.Port
	up    bool
	turn  int  // index of the flow from which on the next that leaves by it is looked for
	wasUp bool // its link has been up
	wire  pacer.Wire
	lldp  *lldp.Agent // nil if it does not speak LLDP

	paused      unit.PrioritySet
	pausedUntil [unit.Priorities]unit.Time // of priorities in paused
	rx          [unit.Priorities]rxBuffer
	drain       unit.Rate        // of each of them; 0: at once
	storming    unit.PrioritySet // paused whatever rx holds
	toSend      unit.PrioritySet // priorities for which to send a pause or resume frame

	owing  [unit.Priorities]list // of peers to answer
	owed   unit.PrioritySet      // priorities of which owing has some
	notify list                  // of peers to send a CNP

	count   Counters
	carried Carried

	// For what a late driver leaves out:
	next unit.Time                  // what Transmit named last
	open [unit.Priorities]unit.Time // since when a priority not in paused may send
}

// Carried is the frames of flows, and of connections, that a NIC sent and received.
type Carried struct {
	TxFrames uint64 `json:"tx_frames"`
	TxBytes  uint64 `json:"tx_bytes"`
	RxFrames uint64 `json:"rx_frames"`
	RxBytes  uint64 `json:"rx_bytes"`
}

// NICState is one of a host's NICs. Arrays are by priority.
type NICState struct {
	Up bool `json:"up"`
	Carried
	Counters Counters `json:"counters"`
	// RxBuffer is what the receive buffer holds, in bytes, since a frame came or something was sent last.
	RxBuffer [unit.Priorities]int `json:"rx_buffer"`
	// Drain is the rate of a NIC that is slow, 0 of others; Storming are the priorities that it pauses
	// without end, nil for none.
	Drain    unit.Rate `json:"drain_bps,omitempty"`
	Storming []int     `json:"storming,omitempty"`
}

// NICs reports the state of each NIC.
func (h *Host) NICs() []NICState {
	out := make([]NICState, len(h.nics))
	for i := range h.nics {
		n := &h.nics[i]
		out[i] = NICState{Up: n.up, Carried: n.carried, Counters: n.count, Drain: n.drain}
		if n.storming != 0 {
			out[i].Storming = n.storming.List()
		}
		for c := range n.rx {
			out[i].RxBuffer[c] = int(n.rx[c].fill / (8 * bit))
		}
	}
	return out
}

// Counters reports the host's counters, those of all NICs added up; since when it is paused is that of
// the first that is.
func (h *Host) Counters() *Counters {
	if len(h.nics) == 1 {
		return &h.nics[0].count
	}
	sum := &Counters{}
	for i := range h.nics {
		sum.add(&h.nics[i].count)
	}
	return sum
}

func (k *Counters) add(n *Counters) {
	for c := range unit.Priorities {
		k.RxPause[c] += n.RxPause[c]
		k.RxResume[c] += n.RxResume[c]
		k.TxPause[c] += n.TxPause[c]
		k.TxResume[c] += n.TxResume[c]
		k.TxRefresh[c] += n.TxRefresh[c]
		k.PausedTime[c] += n.PausedTime[c]
		if since := n.PausedSince[c]; since > 0 && (k.PausedSince[c] == 0 || since < k.PausedSince[c]) {
			k.PausedSince[c] = since
		}
		k.OverflowOf[c] += n.OverflowOf[c]
		k.FlowsFull[c] += n.FlowsFull[c]
	}
	k.RxPause8023 += n.RxPause8023
	k.Overflow += n.Overflow
	k.Other += n.Other
	k.Bad += n.Bad
	k.Long += n.Long
	k.LinkDown += n.LinkDown
	k.RC.Malformed += n.RC.Malformed
	k.RC.ICRC += n.RC.ICRC
	k.RC.UnknownQP += n.RC.UnknownQP
}

// ChooseNIC is the NIC by which a host with this number sends a flow, of n NICs with one address: one by
// the hash of its 5-tuple, or, if the link of that is down and that of another is up, one of these.
func ChooseNIC(hash uint32, id unit.NodeID, n int, up unit.PortSet) unit.Port {
	first := unit.Port(ether.Pick(hash, uint32(id), n))
	if up.Has(first) || up.Empty() {
		return first
	}
	return up.Nth(ether.Pick(hash, uint32(id), up.Len()))
}

// place gives each flow and each peer its NIC, as links are now.
func (h *Host) place() {
	if len(h.nics) == 1 {
		return
	}
	var up unit.PortSet
	for i := range h.nics {
		if h.nics[i].up {
			up.Add(unit.Port(i))
		}
	}
	from := addr32(h.cfg.Address)
	choose := func(named unit.Port, to uint32, srcPort uint16) unit.Port {
		if named != unit.NoPort {
			return named
		}
		return ChooseNIC(ether.FlowHash(from, to, ether.ProtoUDP, srcPort, Port), h.cfg.ID, len(h.nics), up)
	}
	for i := range h.flows {
		s := &h.flows[i]
		if n := choose(s.NIC, addr32(s.To), s.SrcPort); n != s.nic {
			s.nic = n
			if h.started {
				s.moves++
			}
		}
	}
	for k := range h.peers {
		p := &h.peers[k]
		if n := choose(p.NIC, addr32(p.From), p.SrcPort); n != p.nic {
			h.movePeer(int32(k), n)
		}
	}
	h.wakeAll()
}

// movePeer makes n the NIC by which peer k is answered, also for what it is owed already.
func (h *Host) movePeer(k int32, n unit.Port) {
	p := &h.peers[k]
	old := &h.nics[p.nic]
	owed, noted := p.in[inOwing].queued, p.in[inNotify].queued
	if owed {
		h.takeOut(&old.owing[p.Priority], inOwing, k)
		if old.owing[p.Priority].head == 0 {
			old.owed &^= 1 << p.Priority
		}
	}
	if noted {
		h.takeOut(&old.notify, inNotify, k)
	}
	p.nic = n
	if owed {
		h.owe(k)
	}
	if noted {
		h.push(&h.nics[n].notify, inNotify, k)
	}
}

// takeOut takes peer k out of the list, which has it.
func (h *Host) takeOut(q *list, which int, k int32) {
	var rest []int32
	for q.head != 0 {
		if i := q.head - 1; i != k {
			rest = append(rest, i)
		}
		h.shift(q, which)
	}
	for _, i := range rest {
		h.push(q, which, i)
	}
}

// wake makes the port of a NIC ready.
func (h *Host) wake(n *nic) { h.ready.Add(n.n) }

func (h *Host) wakeAll() { h.ready = unit.PortsBelow(len(h.nics)) }

// eventAt is event at a NIC.
func (h *Host) eventAt(n *nic, e event.Event) {
	e.Port = n.n
	h.event(e)
}

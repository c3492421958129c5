package roce

import "cmp"

// Responder is the receiving side of a connection. The zero value has received nothing of life 0.
type Responder struct {
	life     Life
	first    uint32 // PSN of its first packet
	blank    bool   // it has begun no life
	stranger uint32 // PSN of a packet of a life that it has not begun, if strange
	strange  bool
	expected uint64   // sequence number
	messages uint64   // that are complete
	inside   bool     // a message
	naked    bool     // the packet that is expected was asked for
	ack      bool     // to be sent
	nak      Syndrome // to be sent, 0 for none
	Count    Received
}

// Received counts what came.
type Received struct {
	Packets    uint64 `json:"packets"`      // taken, in order
	Bytes      uint64 `json:"bytes"`        // of payload taken
	Duplicates uint64 `json:"duplicates"`   // of packets taken before
	OutOfOrder uint64 `json:"out_of_order"` // dropped behind a gap
	Outside    uint64 `json:"outside"`      // dropped: a PSN far from the one expected
	Invalid    uint64 `json:"invalid"`      // dropped: not what may follow within a message
	// AccessErrors were dropped: of another R_Key, or an address or length outside of the memory.
	AccessErrors uint64 `json:"access_errors,omitzero"`
}

// Memory is what a far end may write to. A nil key or address is any.
type Memory struct {
	RKey    *uint32
	Address *uint64
	Length  uint64 // in octets from Address on, no bound without one
}

// takes reports whether the write that begins with h is to this memory.
func (m *Memory) takes(h *Header) bool {
	if m.RKey != nil && h.RKey != *m.RKey {
		return false
	}
	n := uint64(h.Length)
	return m.Address == nil || n <= m.Length && h.Address >= *m.Address && h.Address-*m.Address <= m.Length-n
}

// Messages is how many are complete.
func (r *Responder) Messages() uint64 { return r.messages }

// Expect begins a life that is told by no packet, whose first packet has this PSN.
func (r *Responder) Expect(psn uint32) {
	*r = Responder{expected: uint64(psn), first: psn, Count: r.Count}
}

// Forget ends the present life: until another begins nothing is taken.
func (r *Responder) Forget() { *r = Responder{blank: true, Count: r.Count} }

// Knows reports whether a data packet is of the life that is present; began says that it is
// the first of another, which is present then. A packet of a life that has not begun is dropped,
// and its requester is told. Only the first packet of a message says what life it is of; the
// others are of the present one.
func (r *Responder) Knows(h *Header, of Life) (knows, began bool) {
	switch {
	case !h.Opcode.hasRETH() && !r.blank, h.Opcode.hasRETH() && of == r.life && !r.blank:
		return true, false
	case h.Opcode.hasRETH() && h.PSN == of.FirstPSN():
		*r = Responder{life: of, first: h.PSN, expected: uint64(h.PSN), Count: r.Count}
		return true, true
	}
	r.Count.Outside++
	r.strange, r.stranger = true, h.PSN
	return false, false
}

// Number is which packet of the present life one is by its PSN, from 0; ok is false if the PSN is far from
// the one expected.
func (r *Responder) Number(h *Header) (n uint64, ok bool) {
	ahead := int64(int32((h.PSN-uint32(r.expected))<<8) >> 8)
	first := int64(r.first)
	at := int64(r.expected) + ahead
	if ahead > outstanding || ahead < -outstanding || at < first {
		return 0, false
	}
	return uint64(at - first), true
}

// Receive takes a data packet with a payload of this many octets, whose message goes to m; nil is
// memory without bounds. took says that it was the one expected: its payload is the next of its
// message.
func (r *Responder) Receive(h *Header, payload int, m *Memory) (took bool) {
	ahead := int32((h.PSN-uint32(r.expected))<<8) >> 8
	switch {
	case ahead > outstanding || ahead < -outstanding:
		r.Count.Outside++
		return false
	case ahead > 0:
		r.Count.OutOfOrder++
		if !r.naked {
			r.naked, r.nak = true, cmp.Or(r.nak, SequenceError)
		}
		return false
	case ahead < 0:
		r.Count.Duplicates++
		r.ack = r.ack || h.AckReq
		return false
	case r.inside == h.Opcode.Begins():
		r.Count.Invalid++
		r.nak = InvalidError
		return false
	case h.Opcode.hasRETH() && m != nil && !m.takes(h):
		r.Count.AccessErrors++
		r.naked, r.nak = true, AccessError
		return false
	}
	r.expected++
	r.Count.Packets++
	r.Count.Bytes += uint64(payload)
	r.inside = !h.Opcode.Ends()
	if !r.inside {
		r.messages++
	}
	r.naked, r.nak = false, 0
	r.ack = r.ack || h.AckReq
	return true
}

// Owes reports whether there is an answer to send.
func (r *Responder) Owes() bool { return r.ack || r.nak != 0 || r.strange }

// Answer takes the answer to send now: PSN, syndrome and MSN of an acknowledgement. It
// speaks of all that was received until now.
func (r *Responder) Answer() Header {
	if r.strange {
		r.strange = false
		return Header{Opcode: Acknowledge, Syndrome: OperationalError, PSN: r.stranger, MSN: uint32(r.messages) & PSNMask}
	}
	h := Header{Opcode: Acknowledge, Syndrome: Acked, PSN: uint32(r.expected-1) & PSNMask, MSN: uint32(r.messages) & PSNMask}
	if r.nak != 0 {
		h.Syndrome, h.PSN = r.nak, uint32(r.expected)&PSNMask
	}
	r.ack, r.nak = false, 0
	return h
}

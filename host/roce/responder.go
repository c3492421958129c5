package roce

import "cmp"

// Responder is the receiving side of a connection. The zero value has received nothing of life 0.
type Responder struct {
	// Selective has it keep what comes behind a gap, and say what it keeps, as a selective requester
	// understands it. Set it before anything comes.
	Selective bool

	kept     kept
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

// anew makes it the responder is, with its own ways and counts.
func (r *Responder) anew(is Responder) {
	is.Selective, is.Count, is.kept.packets = r.Selective, r.Count, r.kept.packets
	*r = is
}

// Received counts what came.
type Received struct {
	Packets    uint64 `json:"packets"`      // taken, in order
	Bytes      uint64 `json:"bytes"`        // of payload taken
	Duplicates uint64 `json:"duplicates"`   // of packets taken before
	OutOfOrder uint64 `json:"out_of_order"` // dropped behind a gap
	// Kept came behind a gap and were kept: of Packets, once the gap was filled.
	Kept    uint64 `json:"kept,omitzero"`
	Outside uint64 `json:"outside"` // dropped: a PSN far from the one expected
	Invalid uint64 `json:"invalid"` // dropped: not what may follow within a message
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
	r.anew(Responder{expected: uint64(psn), first: psn})
}

// Forget ends the present life: until another begins nothing is taken.
func (r *Responder) Forget() { r.anew(Responder{blank: true}) }

// Knows reports whether a data packet is of the life that is present; began says that it is
// the first of another, which is present then. A packet of a life that has not begun is dropped,
// and its requester is told. Only the first packet of a message says what life it is of; the
// others are of the present one.
func (r *Responder) Knows(h *Header, of Life) (knows, began bool) {
	switch {
	case !h.Opcode.hasRETH() && !r.blank, h.Opcode.hasRETH() && of == r.life && !r.blank:
		return true, false
	case h.Opcode.hasRETH() && h.PSN == of.FirstPSN():
		r.anew(Responder{life: of, first: h.PSN, expected: uint64(h.PSN)})
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
// memory without bounds. took says that its payload is of use: it was the one expected, and is the
// next of its message, or it was kept and will be.
func (r *Responder) Receive(h *Header, payload int, m *Memory) (took bool) {
	ahead := int32((h.PSN-uint32(r.expected))<<8) >> 8
	switch {
	case ahead > outstanding || ahead < -outstanding:
		r.Count.Outside++
		return false
	case ahead > 0 && r.Selective:
		return r.keep(h, payload, uint64(ahead))
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
	case !r.take(h, payload, m):
		return false
	}
	r.naked, r.nak = false, 0
	r.ack = r.ack || h.AckReq
	r.release(m)
	return true
}

// take takes the packet that is expected, if it is valid and m takes it.
func (r *Responder) take(h *Header, payload int, m *Memory) bool {
	switch {
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
	return true
}

// Owes reports whether there is an answer to send.
func (r *Responder) Owes() bool { return r.ack || r.nak != 0 || r.strange }

// Answer takes the answer to send now: PSN, syndrome and MSN of an acknowledgement, and what is
// kept behind a gap. It speaks of all that was received until now.
func (r *Responder) Answer() Header {
	if r.strange {
		r.strange = false
		return Header{Opcode: Acknowledge, Syndrome: OperationalError, PSN: r.stranger, MSN: uint32(r.messages) & PSNMask}
	}
	h := Header{Opcode: Acknowledge, Syndrome: Acked, PSN: uint32(r.expected-1) & PSNMask, MSN: uint32(r.messages) & PSNMask}
	switch {
	case r.nak != 0:
		h.Syndrome, h.PSN = r.nak, uint32(r.expected)&PSNMask
	case r.kept.came != Sack{}:
		h.Opcode, h.Sack = SelectiveAcknowledge, r.kept.came
	}
	r.ack, r.nak = false, 0
	return h
}

package roce

import (
	"encoding/binary"
	"errors"
)

// Opcode is the operation of a packet; its upper three bits are the transport.
type Opcode uint8

// Opcodes of a reliable connection (volume 1, table 38), and the congestion notification
// (annex A17.9.3).
const (
	SendFirst   Opcode = 0x00
	SendMiddle  Opcode = 0x01
	SendLast    Opcode = 0x02
	SendOnly    Opcode = 0x04
	WriteFirst  Opcode = 0x06
	WriteMiddle Opcode = 0x07
	WriteLast   Opcode = 0x08
	WriteOnly   Opcode = 0x0a
	Acknowledge Opcode = 0x11
	Congestion  Opcode = 0x81
)

// IsData reports whether a packet carries part of a message.
func (o Opcode) IsData() bool {
	return o <= SendLast || o == SendOnly || o >= WriteFirst && o <= WriteLast || o == WriteOnly
}

// Begins reports whether it carries the first part of one.
func (o Opcode) Begins() bool { return o.hasRETH() || o == SendFirst || o == SendOnly }

// Ends reports whether it carries the last part of one.
func (o Opcode) Ends() bool {
	return o == WriteLast || o == WriteOnly || o == SendLast || o == SendOnly
}

// hasRETH reports whether a RETH follows the BTH: at the beginning of a write.
func (o Opcode) hasRETH() bool { return o == WriteFirst || o == WriteOnly }

// Write is the opcode of a packet of an RDMA write, by where it stands in its message.
func Write(first, last bool) Opcode {
	switch {
	case first && last:
		return WriteOnly
	case first:
		return WriteFirst
	case last:
		return WriteLast
	}
	return WriteMiddle
}

// Syndrome is the first octet of an AETH (volume 1, table 45).
type Syndrome uint8

// Syndromes that are sent here. The lower five bits of Acked would be credits, and all
// ones say that there is no end-to-end flow control.
const (
	Acked         Syndrome = 0x1f
	SequenceError Syndrome = 0x60
	InvalidError  Syndrome = 0x61 // NAK: invalid request
	// OperationalError is "NAK: remote operational error". A responder answers with it a packet of a life
	// that it has not begun.
	OperationalError Syndrome = 0x63
)

// Kind is what the AETH says, whatever its credits or its timer are.
func (s Syndrome) Kind() Syndrome {
	if s>>5 == 0 {
		return Acked
	}
	return s
}

func (s Syndrome) valid() bool { return s>>5 == 0 || s>>5 == 1 || s>>5 == 3 && s&31 <= 4 }

// Header is the headers of a packet. RETH and AETH count only where the Opcode has them.
type Header struct {
	Opcode Opcode
	AckReq bool
	BECN   bool   // of a Congestion packet
	Pad    uint8  // octets of the payload that fill up its last four
	DestQP uint32 // 24 bits
	PSN    uint32 // 24 bits

	// RETH: where a write goes.
	Address uint64
	RKey    uint32
	Length  uint32 // of the whole message

	// AETH.
	Syndrome Syndrome
	MSN      uint32 // 24 bits: messages that the responder has completed
}

// Port is the UDP destination port of all packets.
const Port = 4791

// Sizes in octets.
const (
	BTHLen    = 12
	RETHLen   = 16
	AETHLen   = 4
	ICRCLen   = 4
	notifyLen = 16 // zeros after the BTH of a Congestion packet
)

// PSNMask is the bits of a packet sequence number, QPMask of a queue pair's.
const (
	PSNMask = 1<<24 - 1
	QPMask  = 1<<24 - 1
)

const pkey = 0xffff // the default partition

// Len is the length of a packet's headers in octets, the zeros of a Congestion packet
// among them.
func (o Opcode) Len() int {
	switch {
	case o.hasRETH():
		return BTHLen + RETHLen
	case o == Acknowledge:
		return BTHLen + AETHLen
	case o == Congestion:
		return BTHLen + notifyLen
	}
	return BTHLen
}

// Put writes the headers of a packet into b, which has at least Opcode.Len octets.
func (h *Header) Put(b []byte) {
	b[0] = uint8(h.Opcode)
	b[1] = h.Pad << 4 // no solicited event, no migration, transport version 0
	binary.BigEndian.PutUint16(b[2:], pkey)
	binary.BigEndian.PutUint32(b[4:], h.DestQP&QPMask)
	if h.BECN {
		b[4] |= 1 << 6
	}
	binary.BigEndian.PutUint32(b[8:], h.PSN&PSNMask)
	if h.AckReq {
		b[8] |= 1 << 7
	}
	switch b := b[BTHLen:]; {
	case h.Opcode.hasRETH():
		binary.BigEndian.PutUint64(b, h.Address)
		binary.BigEndian.PutUint32(b[8:], h.RKey)
		binary.BigEndian.PutUint32(b[12:], h.Length)
	case h.Opcode == Acknowledge:
		binary.BigEndian.PutUint32(b, h.MSN&PSNMask)
		b[0] = uint8(h.Syndrome)
	case h.Opcode == Congestion:
		clear(b[:notifyLen])
	}
}

// Reasons for which Parse refuses a packet, one value each, so that a caller can count by
// reason. They are returned as they are.
var (
	ErrShort    = errors.New("roce: shorter than its headers and ICRC")
	ErrVersion  = errors.New("roce: transport version is not 0")
	ErrOpcode   = errors.New("roce: opcode is not one of SEND, RDMA WRITE, ACKNOWLEDGE and CNP")
	ErrPad      = errors.New("roce: more padding than payload")
	ErrSyndrome = errors.New("roce: reserved AETH syndrome")
)

// Parse reads the headers of the packet that begins b and is n octets long, ICRC
// included: b may be only its beginning, with all headers. payload is how many octets of
// a message it carries, from h.Opcode.Len() on.
func Parse(b []byte, n int) (h Header, payload int, err error) {
	if len(b) < BTHLen || n < BTHLen+ICRCLen {
		return Header{}, 0, ErrShort
	}
	h.Opcode = Opcode(b[0])
	head := h.Opcode.Len()
	switch {
	case !h.Opcode.IsData() && h.Opcode != Acknowledge && h.Opcode != Congestion:
		return Header{}, 0, ErrOpcode
	case b[1]&15 != 0:
		return Header{}, 0, ErrVersion
	case len(b) < head || n < head+ICRCLen:
		return Header{}, 0, ErrShort
	}
	h.Pad = b[1] >> 4 & 3
	h.BECN = b[4]>>6&1 != 0
	h.DestQP = binary.BigEndian.Uint32(b[4:]) & QPMask
	h.AckReq = b[8]>>7 != 0
	h.PSN = binary.BigEndian.Uint32(b[8:]) & PSNMask
	payload = n - head - ICRCLen - int(h.Pad)
	if payload < 0 {
		return Header{}, 0, ErrPad
	}
	switch b := b[BTHLen:]; {
	case h.Opcode.hasRETH():
		h.Address, h.RKey, h.Length = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	case h.Opcode == Acknowledge:
		h.Syndrome, h.MSN = Syndrome(b[0]), binary.BigEndian.Uint32(b)&PSNMask
		if !h.Syndrome.valid() {
			return Header{}, 0, ErrSyndrome
		}
	}
	return h, payload, nil
}

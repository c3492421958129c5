package roce

import (
	"encoding/binary"
	"errors"

	"softswitch/unit"
)

// Opcode is the operation of a packet; its upper three bits are the transport.
type Opcode uint8

// Opcodes of a reliable connection (volume 1, table 38), the one datagram that connection
// management needs, and the congestion notification (annex A17.9.3).
const (
	SendFirst   Opcode = 0x00
	SendMiddle  Opcode = 0x01
	SendLast    Opcode = 0x02
	SendOnly    Opcode = 0x04
	WriteFirst  Opcode = 0x06
	WriteMiddle Opcode = 0x07
	WriteLast   Opcode = 0x08
	WriteOnly   Opcode = 0x0a
	ReadRequest Opcode = 0x0c
	ReadFirst   Opcode = 0x0d // of the response to a ReadRequest
	ReadMiddle  Opcode = 0x0e
	ReadLast    Opcode = 0x0f
	ReadOnly    Opcode = 0x10
	Acknowledge Opcode = 0x11
	Datagram    Opcode = 0x64 // a SEND of one packet over an unreliable datagram
	Congestion  Opcode = 0x81
)

// SelectiveAcknowledge is an Acknowledge of a selective connection, with a Sack. It is none of
// RoCEv2's opcodes, but of those that table 38 leaves to makers (0xc0 to 0xff): no NIC knows it.
const SelectiveAcknowledge Opcode = 0xd1

// IsData reports whether a packet carries part of a message that its sender sends or writes.
func (o Opcode) IsData() bool {
	return o <= SendLast || o == SendOnly || o >= WriteFirst && o <= WriteLast || o == WriteOnly
}

// IsWrite reports whether that message is written.
func (o Opcode) IsWrite() bool { return o >= WriteFirst && o <= WriteLast || o == WriteOnly }

// Begins reports whether it carries the first part of one.
func (o Opcode) Begins() bool {
	return o == WriteFirst || o == WriteOnly || o == SendFirst || o == SendOnly
}

// Ends reports whether it carries the last part of one.
func (o Opcode) Ends() bool {
	return o == WriteLast || o == WriteOnly || o == SendLast || o == SendOnly
}

// IsReadResponse reports whether it carries part of what a ReadRequest asked for.
func (o Opcode) IsReadResponse() bool { return o >= ReadFirst && o <= ReadOnly }

// valid reports whether it is one of those above.
func (o Opcode) valid() bool {
	return o.IsData() || o >= ReadRequest && o <= Acknowledge || o == Datagram || o == Congestion || o == SelectiveAcknowledge
}

// hasRETH reports whether a RETH follows the BTH: at the beginning of a write, and in a request to
// read.
func (o Opcode) hasRETH() bool { return o == WriteFirst || o == WriteOnly || o == ReadRequest }

// hasAETH reports whether an AETH follows the BTH: in acknowledgements, and at the beginning and the
// end of what is read.
func (o Opcode) hasAETH() bool {
	return o == Acknowledge || o == SelectiveAcknowledge || o == ReadFirst || o == ReadLast || o == ReadOnly
}

// Send is the opcode of a packet of a SEND, by where it stands in its message.
func Send(first, last bool) Opcode {
	switch {
	case first && last:
		return SendOnly
	case first:
		return SendFirst
	case last:
		return SendLast
	}
	return SendMiddle
}

// ReadResponse is the opcode of a packet of the response to a ReadRequest, by where it stands in it.
func ReadResponse(first, last bool) Opcode {
	switch {
	case first && last:
		return ReadOnly
	case first:
		return ReadFirst
	case last:
		return ReadLast
	}
	return ReadMiddle
}

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
	AccessError   Syndrome = 0x62 // NAK: remote access error
	// OperationalError is "NAK: remote operational error". A responder answers with it a packet of a life
	// that it has not begun.
	OperationalError Syndrome = 0x63
)

// NotReady is the lowest syndrome of an RNR NAK, whose lower five bits are the time to wait.
const NotReady Syndrome = 0x20

// IsNotReady reports whether it is an RNR NAK: the receiver has no room for a SEND yet.
func (s Syndrome) IsNotReady() bool { return s>>5 == 1 }

// NotReadyTime is how long an RNR NAK asks to wait before the packet is sent again (volume 1, table 46).
func (s Syndrome) NotReadyTime() unit.Time {
	code := s & 31
	switch code {
	case 0:
		return 655360 * unit.Microsecond
	case 1:
		return 10 * unit.Microsecond
	}
	// From 20 us on, each second code is twice the one two before.
	base := 20 * unit.Microsecond
	if code&1 != 0 {
		base = 30 * unit.Microsecond
	}
	return base << (code/2 - 1)
}

// Kind is what the AETH says, whatever its credits or its timer are.
func (s Syndrome) Kind() Syndrome {
	if s>>5 == 0 {
		return Acked
	}
	return s
}

func (s Syndrome) valid() bool { return s>>5 == 0 || s>>5 == 1 || s>>5 == 3 && s&31 <= 4 }

// Header is the headers of a packet. RETH, AETH, Sack and DETH count only where the Opcode has them.
type Header struct {
	Opcode Opcode
	AckReq bool
	BECN   bool   // of a Congestion packet
	Pad    uint8  // octets of the payload that fill up its last four
	DestQP uint32 // 24 bits
	PSN    uint32 // 24 bits

	// RETH: where a write goes, or what is read.
	Address uint64
	RKey    uint32
	Length  uint32 // of the whole message

	// AETH.
	Syndrome Syndrome
	MSN      uint32 // 24 bits: messages that the responder has completed

	// Sack is of a SelectiveAcknowledge: what came from the packet behind PSN on. That one did not.
	Sack Sack

	// DETH, of a Datagram.
	QKey  uint32
	SrcQP uint32 // 24 bits
}

// Port is the UDP destination port of all packets.
const Port = 4791

// Sizes in octets.
const (
	BTHLen    = 12
	RETHLen   = 16
	AETHLen   = 4
	DETHLen   = 8
	ICRCLen   = 4
	sackLen   = SackBits / 8
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
	case o == SelectiveAcknowledge:
		return BTHLen + AETHLen + sackLen
	case o.hasAETH():
		return BTHLen + AETHLen
	case o == Datagram:
		return BTHLen + DETHLen
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
	case h.Opcode.hasAETH():
		binary.BigEndian.PutUint32(b, h.MSN&PSNMask)
		b[0] = uint8(h.Syndrome)
		if h.Opcode == SelectiveAcknowledge {
			h.Sack.put(b[AETHLen:])
		}
	case h.Opcode == Datagram:
		binary.BigEndian.PutUint32(b, h.QKey)
		binary.BigEndian.PutUint32(b[4:], h.SrcQP&QPMask)
	case h.Opcode == Congestion:
		clear(b[:notifyLen])
	}
}

// Reasons for which Parse refuses a packet, one value each, so that a caller can count by
// reason. They are returned as they are.
var (
	ErrShort    = errors.New("roce: shorter than its headers and ICRC")
	ErrVersion  = errors.New("roce: transport version is not 0")
	ErrOpcode   = errors.New("roce: opcode is not one of SEND, RDMA WRITE and READ, ACKNOWLEDGE, UD SEND, CNP and 0xd1, the selective ACKNOWLEDGE")
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
	case !h.Opcode.valid():
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
	case h.Opcode == Datagram:
		h.QKey, h.SrcQP = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])&QPMask
	case h.Opcode.hasAETH():
		h.Syndrome, h.MSN = Syndrome(b[0]), binary.BigEndian.Uint32(b)&PSNMask
		if !h.Syndrome.valid() {
			return Header{}, 0, ErrSyndrome
		}
		if h.Opcode == SelectiveAcknowledge {
			h.Sack = parseSack(b[AETHLen:])
		}
	}
	return h, payload, nil
}

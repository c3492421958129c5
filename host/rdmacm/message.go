// Package rdmacm reads and writes the messages by which rdma_cm makes and ends reliable connections:
// those of InfiniBand's communication manager (InfiniBand Architecture volume 1, chapter 12; Linux
// include/rdma/ibta_vol1_c12.h), as management datagrams from queue pair 1 to queue pair 1.
//
//	active  REQ -->     passive
//	        <-- REP
//	        RTU -->
//	either  DREQ -->    the other
//	        <-- DREP
//
// Invariants:
//   - round trip: what Message.Text writes, Parse reads as the same;
//   - no panic: Parse takes any octets, and says what is wrong with them.
//
// What it does not do: it keeps no state of connections (package live/rdma does), and knows no
// alternate paths and no unreliable service.
package rdmacm

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Len is the length of a message in octets, QP the queue pair of both ends, QKey the key of it.
const (
	Len  = 256
	QP   = 1
	QKey = 0x80010000
)

// Kind is the attribute of a message.
type Kind uint16

// Kinds of message.
const (
	REQ  Kind = 0x10
	MRA  Kind = 0x11 // wait for longer
	REJ  Kind = 0x12
	REP  Kind = 0x13
	RTU  Kind = 0x14
	DREQ Kind = 0x15
	DREP Kind = 0x16
)

func (k Kind) String() string {
	if k < REQ || k > DREP {
		return fmt.Sprintf("attribute %#x", uint16(k))
	}
	return [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"}[k-REQ]
}

// Reason is why a connection is refused (volume 1, table 109).
type Reason uint16

// Reasons.
const (
	NoResources Reason = 3
	NoService   Reason = 8
	Consumer    Reason = 28 // the program does not want it
)

// Error says it in words: a refusal is an error to who asked.
func (r Reason) Error() string {
	switch r {
	case NoResources:
		return "it has too many (reason 3)"
	case NoService:
		return "nobody listens on that port (reason 8)"
	case Consumer:
		return "the program refused it (reason 28)"
	}
	return fmt.Sprintf("reason %d", uint16(r))
}

// Message is a message. Which fields count depends on its kind.
type Message struct {
	Kind
	Transaction uint64
	// LocalID is the sender's number of the connection, RemoteID the receiver's; a REQ has no RemoteID.
	LocalID, RemoteID uint32

	// REQ and REP.
	QPN     uint32 // the sender's queue pair
	PSN     uint32 // with which the receiver is to begin (volume 1, 12.7.31)
	Takes   uint8  // READs that the sender takes at a time ("responder resources")
	Reads   uint8  // READs that it will have under way ("initiator depth")
	Private []byte // what the program adds, up to 56 octets of a REQ and 196 of a REP

	// REQ alone.
	Port         uint16 // that the receiver listens on, in the port space of TCP
	MTU          int    // path MTU in octets
	From, To     netip.Addr
	FromPort     uint16
	TrafficClass uint8

	// REJ alone.
	Reason Reason

	// DREQ alone: the receiver's queue pair.
	RemoteQPN uint32
}

// Offsets in octets: of the message behind the header of the datagram, and of what a program adds.
const (
	headerLen     = 24
	requestText   = 140 // Private of a REQ, behind the header of rdma_cm
	addressingLen = 36
	replyText     = 36
	privateREQ    = 92 - addressingLen
	privateREP    = 196
)

// tcpSpace is the service IDs of rdma_cm's port space of TCP: a prefix, and the port in the last 16 bits.
const tcpSpace = 0x01_06_0000

// What is said of paths and patience. Times are 4.096 us x 2^n.
const (
	responseTime = 20 // of messages: 4.3 s
	ackTime      = 14 // of packets: 67 ms
	retries      = 7
	cmRetries    = 15
	noLID        = 0xffff
	hopLimit     = 64
	rate         = 3 // 10 Gbit/s
	pkey         = 0xffff
)

// Text is the message in Len octets.
func (m *Message) Text() []byte {
	b := make([]byte, Len)
	b[0], b[1], b[2], b[3] = 1, 7, 2, 3 // MAD version, class communication management, its version, method Send
	be := binary.BigEndian
	be.PutUint64(b[8:], m.Transaction)
	be.PutUint16(b[16:], uint16(m.Kind))
	t := b[headerLen:]
	be.PutUint32(t, m.LocalID)
	if m.Kind != REQ {
		be.PutUint32(t[4:], m.RemoteID)
	}
	switch m.Kind {
	case REQ:
		m.putRequest(t)
	case REP:
		be.PutUint32(t[12:], m.QPN<<8)
		be.PutUint32(t[20:], m.PSN<<8)
		t[24], t[25], t[26], t[27] = m.Takes, m.Reads, ackTime<<3, retries<<5
		copy(t[28:], guid(m.LocalID))
		copy(t[replyText:replyText+privateREP], m.Private)
	case REJ:
		be.PutUint16(t[10:], uint16(m.Reason))
	case DREQ:
		be.PutUint32(t[8:], m.RemoteQPN<<8)
	}
	return b
}

func (m *Message) putRequest(t []byte) {
	be := binary.BigEndian
	be.PutUint64(t[8:], tcpSpace|uint64(m.Port))
	copy(t[16:], guid(m.LocalID))
	be.PutUint32(t[32:], m.QPN<<8|uint32(m.Takes))
	be.PutUint32(t[36:], uint32(m.Reads))
	t[43] = responseTime << 3
	be.PutUint32(t[44:], m.PSN<<8)
	t[47] = responseTime<<3 | retries
	be.PutUint16(t[48:], pkey)
	t[50] = mtuCode(m.MTU)<<4 | retries // of RNR NAKs
	t[51] = cmRetries << 4
	be.PutUint16(t[52:], noLID)
	be.PutUint16(t[54:], noLID)
	from, to := m.From.As16(), m.To.As16()
	copy(t[56:], from[:])
	copy(t[72:], to[:])
	t[91], t[92], t[93], t[95] = rate, m.TrafficClass, hopLimit, ackTime<<3
	p := t[requestText:]
	p[1] = 4 << 4 // IPv4
	be.PutUint16(p[2:], m.FromPort)
	from4, to4 := m.From.As4(), m.To.As4()
	copy(p[16:], from4[:])
	copy(p[32:], to4[:])
	copy(p[addressingLen:addressingLen+privateREQ], m.Private)
}

// guid is the number of this end's device, which nobody asks for.
func guid(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{2, 0, 0, 0xff}, id)
}

func mtuCode(mtu int) uint8 {
	code := uint8(1)
	for m := 256; m < mtu; m *= 2 {
		code++
	}
	return code
}

// Parse reads a message. Private shares its octets with b.
func Parse(b []byte) (m Message, err error) {
	be := binary.BigEndian
	switch {
	case len(b) != Len:
		return m, fmt.Errorf("rdmacm: datagram of %d octets; valid: %d", len(b), Len)
	case b[0] != 1 || b[1] != 7 || b[2] != 2 || b[3] != 3:
		return m, fmt.Errorf("rdmacm: version %d, class %#x of version %d, method %d; valid: 1, 0x7 of 2, 3", b[0], b[1], b[2], b[3])
	}
	m.Kind, m.Transaction = Kind(be.Uint16(b[16:])), be.Uint64(b[8:])
	t := b[headerLen:]
	m.LocalID = be.Uint32(t)
	if m.Kind != REQ {
		m.RemoteID = be.Uint32(t[4:])
	}
	switch m.Kind {
	case REQ:
		return m, m.parseRequest(t)
	case REP:
		m.QPN, m.PSN = be.Uint32(t[12:])>>8, be.Uint32(t[20:])>>8
		m.Takes, m.Reads = t[24], t[25]
		m.Private = t[replyText : replyText+privateREP]
	case REJ:
		m.Reason = Reason(be.Uint16(t[10:]))
	case DREQ:
		m.RemoteQPN = be.Uint32(t[8:]) >> 8
	case MRA, RTU, DREP:
	default:
		return m, fmt.Errorf("rdmacm: %s; valid: REQ 0x10 to DREP 0x16", m.Kind)
	}
	return m, nil
}

func (m *Message) parseRequest(t []byte) error {
	be := binary.BigEndian
	p := t[requestText:]
	code := t[50] >> 4
	switch service := be.Uint64(t[8:]); {
	case service&^0xffff != tcpSpace:
		return fmt.Errorf("rdmacm: service %#x; valid: %#x to %#x", service, tcpSpace, tcpSpace|0xffff)
	case t[43]>>1&3 != 0:
		return fmt.Errorf("rdmacm: service type %d; valid: 0, a reliable connection", t[43]>>1&3)
	case code < 1 || code > 5:
		return fmt.Errorf("rdmacm: path MTU %d; valid: 1 for 256 octets to 5 for 4096", code)
	case p[0] != 0 || p[1]>>4 != 4:
		return fmt.Errorf("rdmacm: addresses of version %d, IP version %d; valid: 0, 4", p[0], p[1]>>4)
	}
	m.Port = uint16(be.Uint64(t[8:]))
	m.QPN, m.Takes, m.Reads = be.Uint32(t[32:])>>8, t[35], t[39]
	m.PSN, m.MTU = be.Uint32(t[44:])>>8, 128<<code
	m.FromPort, m.TrafficClass = be.Uint16(p[2:]), t[92]
	m.From = netip.AddrFrom4([4]byte(p[16:20]))
	m.To = netip.AddrFrom4([4]byte(p[32:36]))
	m.Private = p[addressingLen : addressingLen+privateREQ]
	return nil
}

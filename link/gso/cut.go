package gso

import (
	"encoding/binary"
	"errors"
	"fmt"

	"softswitch/internal/ether"
)

// ErrFrame says that a frame is not what its header says.
var ErrFrame = errors.New("gso: bad frame")

// Cutter cuts one frame of the stack at a time into frames of a wire. The zero value has
// none.
type Cutter struct {
	head header
	l    layout
	f    []byte // the stack's frame; nil if all of it was cut
	at   int    // in f: what is cut next
	n    int    // of frames cut
	// of its headers
	seq uint32
	id  uint16
}

// Start begins to cut b: a header and a frame, which must not change until the last
// Next. The error says why it cannot be cut; it is ErrFrame.
func (c *Cutter) Start(b []byte) error {
	c.f = nil
	if len(b) < HeaderLen {
		return fmt.Errorf("%w: %d bytes, shorter than its header of %d", ErrFrame, len(b), HeaderLen)
	}
	c.head = readHeader(b)
	f := b[HeaderLen:]
	switch c.head.kind {
	case plain:
		if c.head.flags&needsChecksum != 0 && int(c.head.sumStart)+int(c.head.sumOffset)+2 > len(f) {
			return fmt.Errorf("%w: a checksum at %d + %d of %d bytes", ErrFrame, c.head.sumStart, c.head.sumOffset, len(f))
		}
		c.at = 0
	case tcp4, tcp4 | withCWR, tcp6, tcp6 | withCWR:
		l, ok := layoutOf(f)
		if !ok || l.v6 != (c.head.kind&^withCWR == tcp6) || c.head.size == 0 || len(f) == l.payload || len(f)-l.ip > maxIP {
			return fmt.Errorf("%w: %d bytes are not the TCP segment, of type %d and cut every %d bytes, that its header names", ErrFrame, len(f), c.head.kind, c.head.size)
		}
		c.l, c.at = l, l.payload
		c.seq = binary.BigEndian.Uint32(f[l.l4+tcpSeq:])
		c.id = binary.BigEndian.Uint16(f[l.ip+4:])
	case udp:
		l, ok := layoutOfUDP(f)
		if !ok || c.head.size == 0 || len(f) == l.payload || len(f)-l.ip > maxIP {
			return fmt.Errorf("%w: %d bytes are not the datagrams, of type %d and cut every %d bytes, that its header names", ErrFrame, len(f), c.head.kind, c.head.size)
		}
		c.l, c.at = l, l.payload
		c.id = binary.BigEndian.Uint16(f[l.ip+4:])
	default:
		return fmt.Errorf("%w: its segmentation type is %d; valid: %d (none), %d and %d (TCP), %d (UDP)", ErrFrame, c.head.kind, plain, tcp4, tcp6, udp)
	}
	c.f, c.n = f, 0
	return nil
}

// More reports whether Next has another frame.
func (c *Cutter) More() bool { return c.f != nil }

// Next writes the next frame to the front of buf, whatever its length was, and returns
// it; ok is false, and the frame is lost, if the capacity of buf is less than the frame.
// Precondition: More.
func (c *Cutter) Next(buf []byte) (frame []byte, ok bool) {
	if c.head.kind == plain {
		return c.whole(buf)
	}
	f, l := c.f, c.l
	payload := f[c.at:min(c.at+int(c.head.size), len(f))]
	first, last := c.n == 0, c.at+len(payload) == len(f)
	offset := c.at - l.payload
	c.n++
	c.at += len(payload)
	if last {
		c.f = nil
	}
	total := l.payload + len(payload)
	if total > cap(buf) {
		return nil, false
	}
	buf = buf[:total]
	copy(buf, f[:l.payload])
	copy(buf[l.payload:], payload)
	if !l.v6 {
		binary.BigEndian.PutUint16(buf[l.ip+4:], c.id+uint16(c.n-1))
	}
	l.setLength(buf, total-l.ip)
	l4 := buf[l.l4:]
	if c.head.kind == udp {
		binary.BigEndian.PutUint16(l4[udpLength:], uint16(len(l4)))
		l4[udpSum], l4[udpSum+1] = 0, 0
		putSum(l4[udpSum:], ether.Sum(l.pseudo(buf, len(l4)), l4))
		return buf, true
	}
	binary.BigEndian.PutUint32(l4[tcpSeq:], c.seq+uint32(offset))
	if !last {
		l4[tcpFlags] &^= fin | psh
	}
	if !first && c.head.kind&withCWR != 0 {
		l4[tcpFlags] &^= cwr
	}
	l4[tcpSum], l4[tcpSum+1] = 0, 0
	binary.BigEndian.PutUint16(l4[tcpSum:], ^ether.Fold(ether.Sum(l.pseudo(buf, len(l4)), l4)))
	return buf, true
}

// whole is the frame as it is, with its checksum completed.
func (c *Cutter) whole(buf []byte) (frame []byte, ok bool) {
	f := c.f
	c.f = nil
	if len(f) > cap(buf) {
		return nil, false
	}
	buf = buf[:copy(buf[:len(f)], f)]
	if c.head.flags&needsChecksum != 0 {
		// The field holds the sum of the pseudo header.
		b := buf[c.head.sumStart:]
		putSum(b[c.head.sumOffset:], ether.Sum(0, b))
	}
	return buf, true
}

// putSum writes the checksum of what has this sum, not folded. 0 is written as 0xffff: the same to
// TCP; to UDP 0 says that there is none (RFC 768).
func putSum(b []byte, sum uint64) {
	s := ^ether.Fold(sum)
	if s == 0 {
		s = 0xffff
	}
	binary.BigEndian.PutUint16(b, s)
}

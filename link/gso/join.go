package gso

import (
	"bytes"
	"encoding/binary"

	"softswitch/internal/ether"
)

// Joiner joins frames of a wire. The zero value joins what a stack may take as one.
type Joiner struct {
	// Exact joins only what the kernel cuts into the same frames again, byte for byte, for
	// a wire: IPv4's identification counts up, and there is no tag.
	Exact bool
	// Longest is the longest frame that is joined to others, in bytes; 0 means any.
	Longest int

	head   [HeaderLen + maxHeaders]byte
	l      layout
	flags  byte   // of the first frame, less PSH
	size   int    // bytes of payload of the first frame
	next   uint32 // the sequence number that may follow
	id     uint16 // the identification that may follow, if Exact
	length int    // of the IP packet
}

// Join takes the first n frames of fs, at least one, that the kernel can take as one.
// What it is handed is head, and after it of each frame what begins at skip. head is valid
// until the next call. The frames are not changed.
func (j *Joiner) Join(fs [][]byte) (n int, head []byte, skip int) {
	clear(j.head[:HeaderLen])
	if !j.begin(fs[0]) {
		return 1, j.head[:HeaderLen], 0
	}
	n, pushed := 1, fs[0][j.l.l4+tcpFlags]&psh != 0
	for n < len(fs) && !pushed && len(fs[n-1])-j.l.payload == j.size && j.follows(fs[0], fs[n]) {
		pushed = fs[n][j.l.l4+tcpFlags]&psh != 0
		j.length += len(fs[n]) - j.l.payload
		j.next += uint32(len(fs[n]) - j.l.payload)
		j.id++
		n++
	}
	if n == 1 {
		return 1, j.head[:HeaderLen], 0
	}
	return n, j.joined(fs[0], pushed), j.l.payload
}

// begin reports whether other frames may be joined to f, and prepares for that.
func (j *Joiner) begin(f []byte) bool {
	l, ok := layoutOf(f)
	if !ok || len(f) == l.payload || l.length(f) != len(f)-l.ip {
		return false
	}
	if j.Exact && l.ip != ether.HeaderLen || j.Longest > 0 && len(f) > j.Longest {
		return false
	}
	const dontFragment = 0x4000
	p, tcp := f[l.ip:], f[l.l4:]
	if !l.v6 && (binary.BigEndian.Uint16(p[6:]) != dontFragment || ether.Checksum(p[:l.l4-l.ip]) != 0) {
		return false
	}
	if tcp[tcpFlags]&^(psh|ece) != ack || tcp[12]&15 != 0 || !l.sumIsRight(f) {
		return false
	}
	j.l, j.flags, j.size, j.length = l, tcp[tcpFlags]&^psh, len(f)-l.payload, len(f)-l.ip
	j.next = binary.BigEndian.Uint32(tcp[tcpSeq:]) + uint32(j.size)
	j.id = binary.BigEndian.Uint16(p[4:]) + 1
	return true
}

// follows reports whether f is what comes after the frames that were joined, of which
// first is the first.
func (j *Joiner) follows(first, f []byte) bool {
	l := j.l
	if len(f) <= l.payload || len(f)-l.payload > j.size || j.length+len(f)-l.payload > maxIP || !bytes.Equal(f[:l.ip], first[:l.ip]) {
		return false
	}
	a, b := first[l.ip:l.l4], f[l.ip:l.l4]
	if l.length(f) != len(f)-l.ip {
		return false
	}
	if l.v6 {
		if !bytes.Equal(a[:4], b[:4]) || !bytes.Equal(a[6:], b[6:]) {
			return false
		}
	} else if !bytes.Equal(a[:2], b[:2]) || !bytes.Equal(a[6:10], b[6:10]) || !bytes.Equal(a[12:], b[12:]) || ether.Checksum(b) != 0 ||
		j.Exact && binary.BigEndian.Uint16(b[4:]) != j.id {
		return false
	}
	s, t := first[l.l4:], f[l.l4:]
	return bytes.Equal(s[:tcpSeq], t[:tcpSeq]) && binary.BigEndian.Uint32(t[tcpSeq:]) == j.next &&
		bytes.Equal(s[tcpAck:tcpFlags], t[tcpAck:tcpFlags]) && t[tcpFlags]&^psh == j.flags &&
		bytes.Equal(s[tcpWindow:tcpSum], t[tcpWindow:tcpSum]) && bytes.Equal(s[tcpSum+2:l.payload-l.l4], t[tcpSum+2:l.payload-l.l4]) &&
		l.sumIsRight(f)
}

// joined are the headers of what was joined, behind the header for the kernel.
func (j *Joiner) joined(first []byte, pushed bool) []byte {
	l := j.l
	f := j.head[HeaderLen:][:l.payload]
	copy(f, first)
	l.setLength(f, j.length)
	tcp := f[l.l4:]
	if pushed {
		tcp[tcpFlags] |= psh
	}
	// The kernel completes the sum of the pseudo header, not inverted.
	binary.BigEndian.PutUint16(tcp[tcpSum:], ether.Fold(l.pseudo(f, l.ip+j.length-l.l4)))
	h := header{
		flags: needsChecksum, kind: tcp4, headers: uint16(l.payload), size: uint16(j.size),
		sumStart: uint16(l.l4), sumOffset: tcpSum,
	}
	if l.v6 {
		h.kind = tcp6
	}
	h.put(j.head[:])
	return j.head[:HeaderLen+l.payload]
}

// sumIsRight reports whether TCP's checksum is.
func (l layout) sumIsRight(f []byte) bool {
	return ether.Fold(ether.Sum(l.pseudo(f, len(f)-l.l4), f[l.l4:])) == 0xffff
}

// Package ibperf reads and writes what the programs of perftest (ib_write_bw, ib_send_bw,
// ib_read_bw) tell each other over TCP before and after a test. Versions from 5.70 on are
// understood.
//
//	version 16 | page 4 | cache line 4 | MTU 2 | lines 108 each | test | line, results 5 x 8 | line, "done"
//
// The client is first at each step, and the server answers with its own. With the option -R each is the
// message of a SEND, lines are binary, and there is no "done". The formats are those of perftest's
// src/perftest_communication.c and .h (KEY_PRINT_FMT_GID, struct pingpong_dest). ibv_rc_pingpong, on the same
// port, tells less (pingpong.go).
//
// Invariants:
//   - round trip: what Line.Text writes, ParseLine reads as the same;
//   - no panic: ParseLine and the others take any octets, and say what is wrong with them.
//
// What it does not do: it opens no connection. Package live/rdma does.
package ibperf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Port is the usual TCP port.
const Port = 18515

// Version is the version of the exchange that is written.
const Version = "6.06"

// Lengths in octets of what is exchanged.
const (
	VersionLen = 16
	NumberLen  = 4 // of the page and of the cache line
	MTULen     = 2
	LineLen    = 108
	ResultLen  = 8
	BinaryLen  = 56 // of a line, where the exchange is by SENDs
)

// Results is how many results follow the test.
const Results = 5

// The sizes that are told of this end: the other takes the greater of its own and these.
const (
	PageSize  = 4096
	CacheLine = 64
)

// Done ends the exchange.
const Done = "done\x00"

// A Line tells of a queue pair all that its far end has to know.
type Line struct {
	Reads   uint16 // READs that it takes at a time
	QPN     uint32
	PSN     uint32 // of the first packet that it sends
	RKey    uint32
	Address uint64
	GID     netip.Addr
}

// fields of a line: LID, reads, QPN, PSN, R_Key, address, sixteen octets of the GID, SRQN.
const fields = 6 + 16 + 1

// Text is the line in LineLen octets, the rest of which are zeros.
func (l Line) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%04x:%04x:%06x:%06x:%08x:%016x:", 0, l.Reads, l.QPN, l.PSN, l.RKey, l.Address)
	for _, o := range l.GID.As16() {
		fmt.Fprintf(&b, "%02x:", o)
	}
	fmt.Fprintf(&b, "%08x:", 0)
	return append([]byte(b.String()), make([]byte, LineLen-b.Len())...)
}

// Binary is the line in BinaryLen octets.
func (l Line) Binary() []byte {
	b := make([]byte, BinaryLen)
	be := binary.BigEndian
	be.PutUint32(b[4:], uint32(l.Reads))
	be.PutUint32(b[8:], l.QPN)
	be.PutUint32(b[12:], l.PSN)
	be.PutUint32(b[16:], l.RKey)
	be.PutUint64(b[24:], l.Address)
	gid := l.GID.As16()
	copy(b[32:], gid[:])
	return b
}

// ParseBinary reads a binary line.
func ParseBinary(b []byte) (Line, error) {
	if len(b) != BinaryLen {
		return Line{}, fmt.Errorf("perftest: line of %d octets; valid: %d", len(b), BinaryLen)
	}
	be := binary.BigEndian
	l := Line{
		Reads: uint16(min(be.Uint32(b[4:]), 1<<16-1)), QPN: be.Uint32(b[8:]), PSN: be.Uint32(b[12:]), RKey: be.Uint32(b[16:]),
		Address: be.Uint64(b[24:]), GID: netip.AddrFrom16([16]byte(b[32:48])),
	}
	if l.QPN >= 1<<24 || l.PSN >= 1<<24 {
		return l, fmt.Errorf("perftest: line with QPN %#x and PSN %#x; valid: up to 24 bits", l.QPN, l.PSN)
	}
	return l, nil
}

// BeginLen is how many octets IsLine looks at.
const BeginLen = 5

// IsLine reports whether octets begin a line, of perftest or of ibv_rc_pingpong, and not a version, a result or
// Done.
func IsLine(b []byte) bool { return len(b) >= BeginLen && b[BeginLen-1] == ':' }

// ParseLine reads a line.
func ParseLine(b []byte) (Line, error) {
	text, _, _ := bytes.Cut(b, []byte{0})
	f := strings.Split(strings.TrimSuffix(string(text), ":"), ":")
	if len(f) != fields {
		return Line{}, fmt.Errorf("perftest: line %q has %d fields; valid: %d, hexadecimal, with colons between them", text, len(f), fields)
	}
	var bad error
	number := func(i, bits int) uint64 {
		n, err := strconv.ParseUint(f[i], 16, bits)
		if err != nil && bad == nil {
			bad = fmt.Errorf("perftest: field %d of line %q: %q; valid: hexadecimal, up to %d bits", i+1, text, f[i], bits)
		}
		return n
	}
	l := Line{
		Reads: uint16(number(1, 16)), QPN: uint32(number(2, 24)), PSN: uint32(number(3, 24)),
		RKey: uint32(number(4, 32)), Address: number(5, 64),
	}
	var gid [16]byte
	for i := range gid {
		gid[i] = byte(number(6+i, 8))
	}
	l.GID = netip.AddrFrom16(gid)
	number(0, 16)
	number(fields-1, 32)
	return l, bad
}

// VersionText is Version in VersionLen octets.
func VersionText() []byte { return append([]byte(Version), make([]byte, VersionLen-len(Version))...) }

// oldest is the version from which on both ends' formats are the ones here.
const oldest = 5.70

// CheckVersion returns an error if the far end's version is not understood.
func CheckVersion(b []byte) error {
	text, _, _ := bytes.Cut(b, []byte{0})
	if v, err := strconv.ParseFloat(string(text), 32); err != nil || !(v >= oldest && v < 100) { // NaN is neither
		return fmt.Errorf("perftest: version %q of the far end; valid: %.2f or later", text, oldest)
	}
	return nil
}

// MTUText is a path MTU in MTULen octets: a digit, 1 for 256 to 5 for 4096.
func MTUText(mtu int) []byte {
	digit := byte('1')
	for m := 256; m < mtu; m *= 2 {
		digit++
	}
	return []byte{digit, 0}
}

// ParseMTU reads a path MTU.
func ParseMTU(b []byte) (int, error) {
	if len(b) != MTULen || b[0] < '1' || b[0] > '5' || b[1] != 0 {
		return 0, fmt.Errorf("perftest: MTU %q; valid: a digit, 1 for 256 octets to 5 for 4096, and a zero", b)
	}
	return 256 << (b[0] - '1'), nil
}

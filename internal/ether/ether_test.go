package ether

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// unhex reads bytes written as in a hex dump, blanks between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The datagram of the worked example that many texts on the Internet checksum
// share: UDP, TTL 64, 115 bytes, checksum b861.
const exampleHeader = "45 00 00 73 00 00 40 00 40 11 b8 61 c0 a8 00 01 c0 a8 00 c7"

func TestMAC(t *testing.T) {
	for _, tc := range []struct {
		bytes string
		mac   unit.MAC
		text  string
		group bool
	}{
		{"00 00 00 00 00 00", 0, "00:00:00:00:00:00", false},
		{"02 00 5e 10 00 ff", 0x02005e1000ff, "02:00:5e:10:00:ff", false},
		{"01 80 c2 00 00 01", 0x0180c2000001, "01:80:c2:00:00:01", true},
		{"ff ff ff ff ff ff", unit.Broadcast, "ff:ff:ff:ff:ff:ff", true},
		{"fe ff ff ff ff ff", 0xfeffffffffff, "fe:ff:ff:ff:ff:ff", false},
	} {
		b := unhex(t, tc.bytes)
		if got := ReadMAC(b); got != tc.mac {
			t.Errorf("ReadMAC(%s) = %012x, want %012x", tc.bytes, uint64(got), uint64(tc.mac))
		}
		if got := tc.mac.Bytes(); !bytes.Equal(got[:], b) {
			t.Errorf("%v.Bytes() = %x, want %s", tc.mac, got, tc.bytes)
		}
		if got := tc.mac.String(); got != tc.text {
			t.Errorf("String() = %q, want %q", got, tc.text)
		}
		if got := tc.mac.IsGroup(); got != tc.group {
			t.Errorf("%v.IsGroup() = %v, want %v", tc.mac, got, tc.group)
		}
	}
}

func TestSetAddresses(t *testing.T) {
	f := bytes.Repeat([]byte{0xaa}, 20)
	SetAddresses(f, 0x020000000001, 0x020000000002)
	want := unhex(t, "02 00 00 00 00 01  02 00 00 00 00 02  aa aa aa aa aa aa aa aa")
	if !bytes.Equal(f, want) {
		t.Errorf("SetAddresses left %x, want %x", f, want)
	}
	if Dst(f) != 0x020000000001 || Src(f) != 0x020000000002 {
		t.Errorf("Dst = %v, Src = %v", Dst(f), Src(f))
	}
}

func TestLayer(t *testing.T) {
	const macs = "02 00 00 00 00 01 02 00 00 00 00 02"
	for _, tc := range []struct {
		name, bytes string
		etherType   uint16
		off         int
		pcp         uint8
		tagged, ok  bool
	}{
		{"empty", "", 0, 0, 0, false, false},
		{"a byte short", macs + "08", 0, 0, 0, false, false},
		{"no payload", macs + "0800", TypeIPv4, 14, 0, false, true},
		{"ARP", macs + "0806 0001", TypeARP, 14, 0, false, true},
		{"tag cut off", macs + "8100 6000 08", 0, 0, 0, false, false},
		{"tag only", macs + "8100", 0, 0, 0, false, false},
		{"PCP 3, VLAN 10", macs + "8100 600a 0800", TypeIPv4, 18, 3, true, true},
		{"PCP 7, DEI, VLAN 4095", macs + "8100 ffff 88b5", 0x88b5, 18, 7, true, true},
		{"PCP 0, DEI", macs + "8100 1000 0800", TypeIPv4, 18, 0, true, true},
		{"second tag is payload", macs + "8100 2000 8100 4000 0800", TypeVLAN, 18, 1, true, true},
		{"802.1ad tag is no 802.1Q tag", macs + "88a8 6000 0800", 0x88a8, 14, 0, false, true},
	} {
		et, off, pcp, tagged, ok := Layer(unhex(t, tc.bytes))
		if et != tc.etherType || off != tc.off || pcp != tc.pcp || tagged != tc.tagged || ok != tc.ok {
			t.Errorf("%s: Layer = %04x, %d, %d, %v, %v; want %04x, %d, %d, %v, %v", tc.name, et, off, pcp, tagged, ok, tc.etherType, tc.off, tc.pcp, tc.tagged, tc.ok)
		}
	}
}

func TestIPv4Fields(t *testing.T) {
	p := IPv4(append(unhex(t, exampleHeader), make([]byte, 115-20)...))
	copy(p[20:], unhex(t, "12 b7 00 35"))
	p[1] = 26<<2 | 2
	if !p.Valid(len(p)) {
		t.Fatal("not Valid")
	}
	if p.HeaderLen() != 20 || p.TotalLen() != 115 || p.DSCP() != 26 || p.TTL() != 64 || p.Proto() != ProtoUDP {
		t.Errorf("header %d, total %d, DSCP %d, TTL %d, protocol %d; want 20, 115, 26, 64, 17", p.HeaderLen(), p.TotalLen(), p.DSCP(), p.TTL(), p.Proto())
	}
	if p.Src() != 0xc0a80001 || p.Dst() != 0xc0a800c7 {
		t.Errorf("src %08x, dst %08x", p.Src(), p.Dst())
	}
	if s, d := p.Ports(); s != 0x12b7 || d != 0x35 {
		t.Errorf("ports %d, %d; want 4791, 53", s, d)
	}
}

func TestIPv4Valid(t *testing.T) {
	whole := func(change func(p []byte)) IPv4 {
		p := append(unhex(t, exampleHeader), make([]byte, 95)...)
		change(p)
		return p
	}
	same := func([]byte) {}
	for _, tc := range []struct {
		name string
		p    IPv4
		n    int // on the wire
		want bool
	}{
		{"whole", whole(same), 115, true},
		{"with Ethernet padding", append(whole(same), 0, 0), 117, true},
		{"empty", nil, 0, false},
		{"19 bytes", whole(same)[:19], 19, false},
		{"19 bytes kept", whole(same)[:19], 115, false},
		{"version 6", whole(func(p []byte) { p[0] = 0x65 }), 115, false},
		{"header of 16 bytes", whole(func(p []byte) { p[0] = 0x44 }), 115, false},
		{"header of 60 bytes", whole(func(p []byte) { p[0] = 0x4f }), 115, true},
		{"header of 60 bytes, 59 kept", whole(func(p []byte) { p[0] = 0x4f })[:59], 115, false},
		{"header longer than the datagram", whole(func(p []byte) { p[0], p[3] = 0x4f, 59 }), 115, false},
		{"header alone", whole(func(p []byte) { p[3] = 20 }), 115, true},
		{"header alone kept", whole(same)[:20], 115, true},
		{"datagram longer than the frame", whole(func(p []byte) { p[3] = 116 }), 115, false},
		{"datagram longer than what was on the wire", whole(same), 114, false},
		{"length 0", whole(func(p []byte) { p[3] = 0 }), 115, false},
	} {
		if got := tc.p.Valid(tc.n); got != tc.want {
			t.Errorf("%s: Valid(%d) = %v, want %v", tc.name, tc.n, got, tc.want)
		}
	}
}

func TestPortsAreZeroWhereThereAreNone(t *testing.T) {
	for _, tc := range []struct {
		name     string
		proto    uint8
		fragment uint16
		cut      int
		fragTail bool
		want     bool // ports are read
	}{
		{"UDP", ProtoUDP, 0x4000, 28, false, true},
		{"TCP", ProtoTCP, 0, 28, false, true},
		{"ICMP", 1, 0, 28, false, false},
		{"first fragment", ProtoUDP, 0x2000, 28, false, false},
		{"later fragment", ProtoUDP, 0x2001, 28, true, false},
		{"last fragment", ProtoUDP, 0x0010, 28, true, false},
		{"cut after three bytes", ProtoUDP, 0, 23, false, false},
	} {
		p := make(IPv4, 28)
		PutIPv4(p, 0, 64, tc.proto, 28, 1, 2)
		binary.BigEndian.PutUint16(p[6:], tc.fragment)
		copy(p[20:], []byte{1, 2, 3, 4})
		if got := p.IsFragment(); got != tc.fragTail {
			t.Errorf("%s: IsFragment() = %v, want %v", tc.name, got, tc.fragTail)
		}
		s, d := p[:tc.cut].Ports()
		if got := s == 0x0102 && d == 0x0304; got != tc.want || !got && s|d != 0 {
			t.Errorf("%s: ports %04x, %04x; read: want %v", tc.name, s, d, tc.want)
		}
	}
}

func TestChecksum(t *testing.T) {
	header := unhex(t, exampleHeader)
	if got := Checksum(header); got != 0 {
		t.Errorf("checksum over a header with its checksum = %04x, want 0", got)
	}
	header[10], header[11] = 0, 0
	if got := Checksum(header); got != 0xb861 {
		t.Errorf("checksum = %04x, want b861", got)
	}
	// RFC 1071, section 3: the sum of these is ddf2.
	if got := Checksum(unhex(t, "00 01 f2 03 f4 f5 f6 f7")); got != 0xffff-0xddf2 {
		t.Errorf("RFC 1071 example = %04x, want %04x", got, 0xffff-0xddf2)
	}
	if got := Checksum([]byte{0x12, 0x34, 0x56}); got != 0xffff-(0x1234+0x5600) {
		t.Errorf("odd length = %04x", got)
	}
	if got := Checksum(nil); got != 0xffff {
		t.Errorf("of nothing = %04x, want ffff", got)
	}
}

// Random headers, with options and without: each is right with its checksum, and no longer when a
// word of it is another. 0000 and ffff are one number in this arithmetic.
func TestHasChecksum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p := make(IPv4, IPv4Len+4*rng.IntN(11))
		for i := range p {
			p[i] = byte(rng.Uint32() | -(rng.Uint32() & 1)) // many ones, many carries
		}
		p[0], p[10], p[11] = 0x40|byte(len(p)/4), 0, 0
		binary.BigEndian.PutUint16(p[10:], Checksum(p))
		if !p.HasChecksum() {
			t.Fatalf("% x: its own checksum is not taken", p)
		}
		at := 2 + 2*rng.IntN(len(p)/2-1) // the first word has the length of the header
		was, is := binary.BigEndian.Uint16(p[at:]), uint16(rng.Uint32())
		binary.BigEndian.PutUint16(p[at:], is)
		if want := was%0xffff == is%0xffff; p.HasChecksum() != want {
			t.Fatalf("% x: with %04x in place of %04x at %d its checksum is taken: %v", p, is, was, at, !want)
		}
	}
}

func TestPutIPv4(t *testing.T) {
	p := bytes.Repeat([]byte{0xff}, 24)
	PutIPv4(p, 0, 64, ProtoUDP, 115, 0xc0a80001, 0xc0a800c7)
	if want := unhex(t, exampleHeader+"ff ff ff ff"); !bytes.Equal(p, want) {
		t.Errorf("PutIPv4 wrote\n%x, want\n%x", p, want)
	}
}

// The reference model of DecrementTTL: lower the TTL, compute the checksum anew.
func decrementSlowly(p IPv4) {
	p[8]--
	p[10], p[11] = 0, 0
	binary.BigEndian.PutUint16(p[10:], Checksum(p[:p.HeaderLen()]))
}

func TestDecrementTTL(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	check := func(p IPv4) {
		t.Helper()
		slow := IPv4(bytes.Clone(p))
		decrementSlowly(slow)
		before := bytes.Clone(p)
		p.DecrementTTL()
		if !bytes.Equal(p, slow) {
			t.Fatalf("seed %d: header %x: DecrementTTL made %x, want %x", seed, before, []byte(p), []byte(slow))
		}
	}
	for ttl := 1; ttl <= 255; ttl++ {
		for range 500 {
			p := make(IPv4, 20+4*rng.IntN(11))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			p[0], p[8] = 0x40|byte(len(p)/4), byte(ttl)
			p[10], p[11] = 0, 0
			binary.BigEndian.PutUint16(p[10:], Checksum(p))
			check(p)
		}
	}
	// Every checksum that a header can have: the id makes up for the rest.
	for id := range 1 << 16 {
		p := make(IPv4, 20)
		PutIPv4(p, 0, 7, ProtoUDP, 100, 0x0a000001, 0x0a000002)
		binary.BigEndian.PutUint16(p[4:], uint16(id))
		p[10], p[11] = 0, 0
		binary.BigEndian.PutUint16(p[10:], Checksum(p))
		check(p)
	}
}

func TestARP(t *testing.T) {
	const request = "0001 0800 06 04 0001  02 00 00 00 00 01  0a 00 00 01  00 00 00 00 00 00  0a 00 00 02"
	a := ARP(bytes.Repeat([]byte{0xff}, ARPLen))
	PutARP(a, ARPRequest, 0x020000000001, 0x0a000001, 0, 0x0a000002)
	if want := unhex(t, request); !bytes.Equal(a, want) {
		t.Errorf("PutARP wrote\n%x, want\n%x", []byte(a), want)
	}
	if !a.Valid() || a.Op() != ARPRequest || a.SenderMAC() != 0x020000000001 || a.SenderIP() != 0x0a000001 || a.TargetIP() != 0x0a000002 {
		t.Errorf("read back: %v %d %v %08x %08x", a.Valid(), a.Op(), a.SenderMAC(), a.SenderIP(), a.TargetIP())
	}
	for name, change := range map[string]func(a ARP) ARP{
		"short":                 func(a ARP) ARP { return a[:ARPLen-1] },
		"empty":                 func(a ARP) ARP { return nil },
		"other hardware":        func(a ARP) ARP { a[1] = 6; return a },
		"other protocol":        func(a ARP) ARP { a[2] = 0x86; return a },
		"hardware address of 8": func(a ARP) ARP { a[4] = 8; return a },
		"protocol address of 6": func(a ARP) ARP { a[5] = 16; return a },
	} {
		if change(bytes.Clone(a)).Valid() {
			t.Errorf("%s: valid", name)
		}
	}
	if !append(a, make(ARP, 18)...).Valid() {
		t.Error("with Ethernet padding: not valid")
	}
}

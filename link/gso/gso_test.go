package gso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/ether"
	"softswitch/internal/testkit"
)

// tcp describes a TCP frame.
type tcp struct {
	v6      bool
	tags    int
	options int // bytes: a multiple of 4
	seq     uint32
	flags   byte
	payload []byte
}

// frame is the frame, with right checksums. All of a connection differ in seq, flags and
// payload only.
func (s tcp) frame() []byte {
	f := []byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01")
	for range s.tags {
		f = append(f, 0x81, 0x00, 0x60, 0x07)
	}
	n := tcpLen + s.options + len(s.payload)
	if s.v6 {
		f = append(f, 0x86, 0xdd, 0x66, 0x80, 0x12, 0x34)
		f = binary.BigEndian.AppendUint16(f, uint16(n))
		f = append(f, ether.ProtoTCP, 63)
		for i := range 32 {
			f = append(f, byte(0xfd-i))
		}
	} else {
		f = append(f, 0x08, 0x00)
		h := make([]byte, ether.IPv4Len)
		ether.PutIPv4(h, 26<<2, 63, ether.ProtoTCP, ether.IPv4Len+n, 0x0a640001, 0x0a640102)
		ether.SetID(h, 0xfffe)
		f = append(f, h...)
	}
	f = binary.BigEndian.AppendUint16(f, 5201)
	f = binary.BigEndian.AppendUint16(f, 40001)
	f = binary.BigEndian.AppendUint32(f, s.seq)
	f = binary.BigEndian.AppendUint32(f, 77)
	f = append(f, byte((tcpLen+s.options)/4)<<4, s.flags, 0x01, 0xf5, 0, 0, 0, 0)
	for i := range s.options {
		f = append(f, byte(i+1))
	}
	f = append(f, s.payload...)
	setSum(f)
	return f
}

// setSum writes the checksum of a TCP frame, the slow way.
func setSum(f []byte) {
	l, ok := layoutOf(f)
	if !ok {
		panic("no TCP frame")
	}
	t := f[l.l4:]
	t[tcpSum], t[tcpSum+1] = 0, 0
	binary.BigEndian.PutUint16(t[tcpSum:], ^slowSum(append(slowPseudo(f, l), t...)))
}

// slowPseudo is the pseudo header of a TCP frame, byte for byte.
func slowPseudo(f []byte, l layout) []byte {
	if l.v6 {
		p := bytes.Clone(f[l.ip+8 : l.ip+40])
		p = binary.BigEndian.AppendUint32(p, uint32(len(f)-l.l4))
		return append(p, 0, 0, 0, ether.ProtoTCP)
	}
	p := bytes.Clone(f[l.ip+12 : l.ip+20])
	p = append(p, 0, ether.ProtoTCP)
	return binary.BigEndian.AppendUint16(p, uint16(len(f)-l.l4))
}

// slowSum is the sum of 16-bit words, one after the other.
func slowSum(b []byte) uint16 {
	var sum uint32
	for i, x := range b {
		if i%2 == 0 {
			sum += uint32(x) << 8
		} else {
			sum += uint32(x)
		}
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}

// wantRightSums checks a frame's checksums, the slow way.
func wantRightSums(t testing.TB, f []byte) {
	t.Helper()
	l, ok := layoutOf(f)
	if !ok {
		t.Fatalf("no TCP frame: %x", f)
	}
	if !l.v6 && slowSum(f[l.ip:l.l4]) != 0xffff {
		t.Errorf("IPv4 checksum is wrong: %x", f[:l.payload])
	}
	if slowSum(append(slowPseudo(f, l), f[l.l4:]...)) != 0xffff {
		t.Errorf("TCP checksum is wrong: %x", f[:l.payload])
	}
}

// handed is what the stack hands over to be cut: the frame, to be cut every size bytes,
// with the sum of the pseudo header only.
func handed(s tcp, size int, kind uint8) []byte {
	f := s.frame()
	l, _ := layoutOf(f)
	binary.BigEndian.PutUint16(f[l.l4+tcpSum:], slowSum(slowPseudo(f, l)))
	if s.v6 {
		kind += tcp6 - tcp4
	}
	return behind(header{needsChecksum, kind, uint16(l.payload), uint16(size), uint16(l.l4), tcpSum}, f)
}

func behind(h header, f []byte) []byte {
	b := make([]byte, HeaderLen, HeaderLen+len(f))
	h.put(b)
	return append(b, f...)
}

// slowCut is what has to come of it: each frame built anew.
func slowCut(s tcp, size int, kind uint8) (fs [][]byte) {
	for at := 0; at < len(s.payload); at += size {
		one := s
		one.payload = s.payload[at:min(at+size, len(s.payload))]
		one.seq += uint32(at)
		if at+size < len(s.payload) {
			one.flags &^= fin | psh
		}
		if at > 0 && kind&withCWR != 0 {
			one.flags &^= cwr
		}
		f := one.frame()
		if l, _ := layoutOf(f); !l.v6 {
			ether.SetID(f[l.ip:l.l4], 0xfffe+uint16(at/size))
		}
		fs = append(fs, f)
	}
	return fs
}

// cutAll cuts what the stack handed over.
func cutAll(t testing.TB, b []byte) (fs [][]byte) {
	t.Helper()
	var c Cutter
	if err := c.Start(b); err != nil {
		t.Fatal(err)
	}
	for c.More() {
		f, ok := c.Next(make([]byte, 3, MaxFrame))
		if !ok {
			t.Fatal("a frame did not fit")
		}
		fs = append(fs, f)
	}
	return fs
}

func wantFrames(t testing.TB, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("frame %d of %d:\n got %x\nwant %x", i, len(got), got[i][:min(120, len(got[i]))], want[i][:min(120, len(want[i]))])
		}
	}
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// randomSegment is a segment of any shape that the stack hands over.
func randomSegment(r *rand.Rand) (s tcp, size int) {
	s = tcp{
		v6: r.IntN(2) == 0, tags: r.IntN(3), options: 4 * r.IntN(11), seq: r.Uint32(),
		flags: ack | byte(r.IntN(2))*psh | byte(r.IntN(2))*fin | byte(r.IntN(2))*cwr,
	}
	s.payload = random(r, 1+r.IntN(65_000))
	return s, 1 + r.IntN(9000)
}

// What is cut is, byte for byte, what is built frame by frame.
func TestCutIsAsBuilt(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		s, size := randomSegment(r)
		kind := uint8(tcp4)
		if s.flags&cwr != 0 && r.IntN(2) == 0 {
			kind |= withCWR
		}
		t.Logf("seed %d: %d bytes, cut every %d, IPv6 %v, %d tags, %d bytes of options, flags %#x, type %#x", seed, len(s.payload), size, s.v6, s.tags, s.options, s.flags, kind)
		got := cutAll(t, handed(s, size, kind))
		for _, f := range got {
			wantRightSums(t, f)
		}
		wantFrames(t, got, slowCut(s, size, kind))
	}
}

// A frame that is not to be cut passes as it is, with its checksum completed if asked.
func TestWhole(t *testing.T) {
	f := tcp{seq: 5, flags: ack, payload: []byte("hello")}.frame()
	wantFrames(t, cutAll(t, behind(header{}, f)), [][]byte{f})
	unfinished := bytes.Clone(f)
	l, _ := layoutOf(f)
	binary.BigEndian.PutUint16(unfinished[l.l4+tcpSum:], slowSum(slowPseudo(f, l)))
	wantFrames(t, cutAll(t, behind(header{flags: needsChecksum, sumStart: uint16(l.l4), sumOffset: tcpSum}, unfinished)), [][]byte{f})

	arp := make([]byte, 42)
	wantFrames(t, cutAll(t, behind(header{}, arp)), [][]byte{arp})

	// A UDP checksum that comes to zero is sent as 0xffff.
	zero := make([]byte, 50)
	binary.BigEndian.PutUint16(zero[40:], 0xffff)
	got := cutAll(t, behind(header{flags: needsChecksum, sumStart: 34, sumOffset: 6}, zero))[0]
	if !bytes.Equal(got[40:42], []byte{0xff, 0xff}) {
		t.Errorf("the checksum is %x, want ffff", got[40:42])
	}
}

// What cannot be cut is refused with the reason, and nothing is left to cut.
func TestBadFrames(t *testing.T) {
	s := tcp{flags: ack, payload: make([]byte, 3000)}
	good := handed(s, 1000, tcp4)
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	for name, b := range map[string][]byte{
		"empty":              nil,
		"no frame":           good[:HeaderLen],
		"short header":       good[:HeaderLen-1],
		"UDP":                change(HeaderLen+23, ether.ProtoUDP),
		"a fragment":         change(HeaderLen+20, 0x20),
		"IPv6 as IPv4":       change(1, tcp6),
		"TCP as UDP":         change(1, udp),
		"an unknown type":    change(1, 3),
		"cut every 0 bytes":  append(append(bytes.Clone(good[:4]), 0, 0), good[6:]...),
		"a long TCP header":  change(HeaderLen+46, 0xf0)[:HeaderLen+60],
		"a short TCP header": change(HeaderLen+46, 0x40),
		"without payload":    good[:HeaderLen+54],
		"a sum beyond it":    behind(header{flags: needsChecksum, sumStart: 40, sumOffset: 9}, make([]byte, 50)),
	} {
		var c Cutter
		if err := c.Start(b); !errors.Is(err, ErrFrame) || c.More() {
			t.Errorf("%s: error %v, more %v; want it refused", name, err, c.More())
		}
	}
	var c Cutter
	if err := c.Start(good); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Next(make([]byte, 0, 100)); ok {
		t.Error("a frame of 1054 bytes fits 100")
	}
	if f, ok := c.Next(make([]byte, 0, 1054)); !ok || len(f) != 1054 {
		t.Errorf("after one that did not fit: %d bytes, %v", len(f), ok)
	}
}

// joinAll joins the first frames, and returns what the kernel is handed.
func joinAll(j *Joiner, fs [][]byte) (n int, b []byte) {
	n, head, skip := j.Join(fs)
	b = bytes.Clone(head)
	for _, f := range fs[:n] {
		b = append(b, f[skip:]...)
	}
	return n, b
}

// What was cut is joined to what it was.
func TestJoinIsTheInverse(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	var j Joiner
	for range 300 {
		s, size := randomSegment(r)
		s.flags &^= fin | cwr
		if size >= len(s.payload) {
			continue
		}
		t.Logf("seed %d: %d bytes, cut every %d, IPv6 %v, %d tags, %d bytes of options, flags %#x", seed, len(s.payload), size, s.v6, s.tags, s.options, s.flags)
		want := handed(s, size, tcp4)
		fs := cutAll(t, want)
		before := cutAll(t, want)
		n, got := joinAll(&j, append(slices.Clone(fs), fs[0]))
		if n != len(fs) {
			t.Fatalf("%d of %d frames were joined", n, len(fs))
		}
		wantFrames(t, [][]byte{got}, [][]byte{want})
		wantFrames(t, fs, before)
	}
}

// Frames that differ in what the kernel would not see are not joined.
func TestNotJoined(t *testing.T) {
	const size = 1000
	at := func(i int) tcp {
		return tcp{seq: uint32(i * size), flags: ack, payload: bytes.Repeat([]byte{byte(i)}, size)}
	}
	edit := func(fn func(f []byte)) []byte {
		f := at(1).frame()
		fn(f)
		ip := f[14:34]
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], ether.Checksum(ip))
		setSum(f)
		return f
	}
	with := func(fn func(s *tcp)) []byte {
		s := at(1)
		fn(&s)
		return s.frame()
	}
	for _, tt := range []struct {
		name   string
		second []byte
	}{
		{"a gap", at(2).frame()},
		{"the same again", at(0).frame()},
		{"FIN", with(func(s *tcp) { s.flags |= fin })},
		{"CWR", with(func(s *tcp) { s.flags |= cwr })},
		{"ECE", with(func(s *tcp) { s.flags |= ece })},
		{"no ACK", with(func(s *tcp) { s.flags = 0 })},
		{"options", with(func(s *tcp) { s.options = 4; s.payload = s.payload[4:] })},
		{"a tag", with(func(s *tcp) { s.tags = 1 })},
		{"IPv6", with(func(s *tcp) { s.v6 = true })},
		{"no payload", with(func(s *tcp) { s.payload = nil })},
		{"longer", with(func(s *tcp) { s.payload = append(s.payload, 1) })},
		{"another station", edit(func(f []byte) { f[5]++ })},
		{"another DSCP", edit(func(f []byte) { f[15] ^= 0x20 })},
		{"CE", edit(func(f []byte) { f[15] |= 3 })},
		{"another TTL", edit(func(f []byte) { f[22]-- })},
		{"may be fragmented", edit(func(f []byte) { f[20] = 0 })},
		{"another source", edit(func(f []byte) { f[29]++ })},
		{"another destination", edit(func(f []byte) { f[33]++ })},
		{"another port", edit(func(f []byte) { f[35]++ })},
		{"another acknowledgement", edit(func(f []byte) { f[45]++ })},
		{"another window", edit(func(f []byte) { f[49]++ })},
		{"an urgent pointer", edit(func(f []byte) { f[53]++ })},
		{"a damaged byte", func() []byte { f := at(1).frame(); f[500]++; return f }()},
		{"a damaged IPv4 header", func() []byte { f := at(1).frame(); f[24]++; return f }()},
		{"cut off", at(1).frame()[:900]},
		{"padded", append(with(func(s *tcp) { s.payload = s.payload[:900] }), 0)},
		{"ARP", make([]byte, 60)},
		{"a byte", make([]byte, 1)},
	} {
		var j Joiner
		first := at(0).frame()
		for _, fs := range [][][]byte{{first, tt.second}, {tt.second, first}} {
			n, b := joinAll(&j, fs)
			if n != 1 || !bytes.Equal(b, behind(header{}, fs[0])) {
				t.Errorf("%s: %d frames are joined, behind %x", tt.name, n, b[:HeaderLen])
			}
		}
		if n, _ := joinAll(&j, [][]byte{first, at(1).frame(), tt.second}); n != 2 && tt.name != "a gap" {
			t.Errorf("%s, as the third: %d are joined, want 2", tt.name, n)
		}
	}

	var j Joiner
	short := with(func(s *tcp) { s.payload = s.payload[:10] })
	after := tcp{seq: size + 10, flags: ack, payload: make([]byte, 10)}.frame()
	if n, _ := joinAll(&j, [][]byte{at(0).frame(), short, after}); n != 2 {
		t.Errorf("%d are joined where the second is shorter, want 2", n)
	}
	push := with(func(s *tcp) { s.flags |= psh })
	if n, b := joinAll(&j, [][]byte{at(0).frame(), push, at(2).frame()}); n != 2 || b[HeaderLen+14+20+tcpFlags] != ack|psh {
		t.Errorf("%d are joined where the second is to be pushed, flags %#x; want 2, with PSH", n, b[HeaderLen+14+20+tcpFlags])
	}
	var many [][]byte
	for i := range 80 {
		many = append(many, at(i).frame())
	}
	if n, b := joinAll(&j, many); n != (65535-40)/size || len(b) > HeaderLen+MaxFrame {
		t.Errorf("%d frames of %d are joined, %d bytes; want what an IP packet holds", n, size, len(b))
	}
}

// What is to be cut again by the kernel has counted identifications, no tag, and frames
// that the wire carries.
func TestExact(t *testing.T) {
	s := tcp{flags: ack, payload: make([]byte, 5000)}
	fs := cutAll(t, handed(s, 1000, tcp4))
	for _, tt := range []struct {
		name string
		j    Joiner
		fs   [][]byte
		want int
	}{
		{"counted", Joiner{Exact: true, Longest: 1054}, fs, 5},
		{"too long", Joiner{Exact: true, Longest: 1053}, fs, 1},
		{"all of one identification", Joiner{Exact: true}, [][]byte{fs[0], withID(fs[1], 0xfffe), fs[2]}, 1},
		{"all of one identification, for a stack", Joiner{}, [][]byte{fs[0], withID(fs[1], 0xfffe), fs[2]}, 3},
		{"IPv6", Joiner{Exact: true}, cutAll(t, handed(tcp{v6: true, flags: ack, payload: s.payload}, 1000, tcp4)), 5},
		{"a tag", Joiner{Exact: true}, cutAll(t, handed(tcp{tags: 1, flags: ack, payload: s.payload}, 1000, tcp4)), 1},
	} {
		n, joined := joinAll(&tt.j, tt.fs)
		if n != tt.want {
			t.Errorf("%s: %d frames are joined, want %d", tt.name, n, tt.want)
		}
		if tt.j.Exact {
			wantFrames(t, cutAll(t, joined), tt.fs[:n])
		}
	}
}

// withID is an IPv4 frame with another identification.
func withID(f []byte, id uint16) []byte {
	f = bytes.Clone(f)
	ether.SetID(f[14:34], id)
	return f
}

func FuzzCut(f *testing.F) {
	f.Add(handed(tcp{flags: ack, payload: make([]byte, 3000)}, 1000, tcp4))
	f.Add(handed(tcp{v6: true, tags: 2, options: 12, flags: ack | fin, payload: make([]byte, 300)}, 7, tcp4))
	f.Add(behind(header{flags: needsChecksum, sumStart: 34, sumOffset: 6}, make([]byte, 60)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > HeaderLen+MaxFrame {
			return
		}
		before := bytes.Clone(b)
		var c Cutter
		if c.Start(b) != nil {
			if c.More() {
				t.Fatal("refused, and there is more")
			}
			return
		}
		cut, at := c.head.kind != plain, c.l.payload
		var payload []byte
		buf := make([]byte, 0, MaxFrame)
		for c.More() {
			f, ok := c.Next(buf)
			if !ok {
				t.Fatal("a frame did not fit")
			}
			if cut {
				wantRightSums(t, f)
				if len(f) > at+int(c.head.size) {
					t.Fatalf("a frame of %d bytes", len(f))
				}
				payload = append(payload, f[at:]...)
			}
		}
		if cut && !bytes.Equal(payload, b[HeaderLen+at:]) {
			t.Fatal("the payload is another")
		}
		if !bytes.Equal(b, before) {
			t.Fatal("the stack's frame was changed")
		}
	})
}

// What was joined is cut into the same frames again, but for the identification of IPv4.
func FuzzJoin(f *testing.F) {
	one := tcp{seq: 1, flags: ack, payload: make([]byte, 10)}
	two := tcp{seq: 11, flags: ack | psh, payload: make([]byte, 5)}
	f.Add(one.frame(), two.frame(), two.frame())
	one.v6, one.tags, two.v6, two.tags = true, 1, true, 1
	f.Add(one.frame(), two.frame(), one.frame())
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		fs := [][]byte{a, b, c}
		for _, f := range fs {
			if len(f) > 9230 {
				return
			}
			if _, ok := layoutOf(f); ok {
				setSum(f) // what is damaged is hardly ever right by chance
			}
		}
		var j Joiner
		n, joined := joinAll(&j, fs)
		if n == 1 {
			if !bytes.Equal(joined, behind(header{}, a)) {
				t.Fatal("a single frame is not as it was")
			}
			return
		}
		again := cutAll(t, joined)
		if len(again) != n {
			t.Fatalf("%d frames were joined, and are %d", n, len(again))
		}
		for i, f := range again {
			wantRightSums(t, f)
			want := bytes.Clone(fs[i])
			if l, _ := layoutOf(f); !l.v6 {
				copy(want[l.ip+4:l.ip+6], f[l.ip+4:])
				copy(want[l.ip+10:l.ip+12], f[l.ip+10:])
			}
			// 0 and 0xffff are the same checksum.
			l, _ := layoutOf(f)
			copy(want[l.l4+tcpSum:l.l4+tcpSum+2], f[l.l4+tcpSum:])
			if !bytes.Equal(f, want) {
				t.Fatalf("frame %d:\n got %x\nwant %x", i, f, want)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	s := tcp{flags: ack, payload: make([]byte, 60_000)}
	b := handed(s, 1448, tcp4)
	fs := cutAll(t, b)
	var c Cutter
	var j Joiner
	buf := make([]byte, 0, 2048)
	if n := testing.AllocsPerRun(10, func() {
		if err := c.Start(b); err != nil {
			t.Fatal(err)
		}
		for c.More() {
			c.Next(buf)
		}
		j.Join(fs)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// What a frame of 1514 bytes costs.
func BenchmarkCut(b *testing.B) {
	segment := handed(tcp{flags: ack, options: 12, payload: make([]byte, 44*1448)}, 1448, tcp4)
	buf := make([]byte, 0, 2048)
	var c Cutter
	for i := 0; i < b.N; i++ {
		if !c.More() {
			if err := c.Start(segment); err != nil {
				b.Fatal(err)
			}
		}
		c.Next(buf)
	}
}

func BenchmarkJoin(b *testing.B) {
	fs := cutAll(b, handed(tcp{flags: ack, options: 12, payload: make([]byte, 44*1448)}, 1448, tcp4))
	var j Joiner
	for i := 0; i < b.N; i += len(fs) {
		if n, _, _ := j.Join(fs); n != len(fs) {
			b.Fatal(fmt.Errorf("%d joined", n))
		}
	}
}

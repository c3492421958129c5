package pfcframe_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/pfcframe"
	"softswitch/unit"
)

var src = [6]byte{2, 0, 0, 0, 0, 1}

// priorities builds a Frame from src: quanta by priority.
func priorities(quanta map[unit.Priority]uint16) pfcframe.Frame {
	f := pfcframe.Frame{Src: src}
	for c, q := range quanta {
		f.Enable.Add(c)
		f.Quanta[c] = q
	}
	return f
}

// example is the frame of docs/format/pfc.md.
func example() pfcframe.Frame { return priorities(map[unit.Priority]uint16{3: 0xffff, 4: 0}) }

func put(f pfcframe.Frame) []byte {
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, f)
	return b
}

// unhex reads hexadecimal octets, blanks between them ignored.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatalf("bad hex %q: %v", s, err)
	}
	return b
}

// docExample reads the hex block of a format document; each line begins with its
// offset.
func docExample(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```hex\n")
	block, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 || strings.Contains(rest, "```hex\n") {
		t.Fatalf("%s: want exactly one ```hex block", file)
	}
	var b []byte
	for line := range strings.Lines(block) {
		off, octets, _ := strings.Cut(line, "  ")
		if want := fmt.Sprintf("%04x", len(b)); off != want {
			t.Fatalf("%s: line begins with offset %s, want %s", file, off, want)
		}
		b = append(b, unhex(t, octets)...)
	}
	return b
}

func TestDocument(t *testing.T) {
	if got, want := put(example()), docExample(t, "../docs/format/pfc.md"); !bytes.Equal(got, want) {
		t.Errorf("Put and docs/format/pfc.md differ:\n got %x\nwant %x", got, want)
	}
}

func TestBytes(t *testing.T) {
	const head = "0180c2000001 020000000001 8808 0101"
	pad := strings.Repeat("00", pfcframe.PadLen)
	for _, tt := range []struct {
		name string
		f    pfcframe.Frame
		want string
	}{
		{"no priority", priorities(nil), head + "0000" + strings.Repeat("0000", 8) + pad},
		{"priority 0", priorities(map[unit.Priority]uint16{0: 1}), head + "0001 0001" + strings.Repeat("0000", 7) + pad},
		{"priority 7", priorities(map[unit.Priority]uint16{7: 0x1234}), head + "0080" + strings.Repeat("0000", 7) + "1234" + pad},
		{"resume of priority 3", priorities(map[unit.Priority]uint16{3: 0}), head + "0008" + strings.Repeat("0000", 8) + pad},
		{
			"all priorities",
			priorities(map[unit.Priority]uint16{0: 0x100, 1: 0x101, 2: 0x102, 3: 0x103, 4: 0x104, 5: 0x105, 6: 0x106, 7: 0x107}),
			head + "00ff 0100 0101 0102 0103 0104 0105 0106 0107" + pad,
		},
		{
			"a timer whose priority is not enabled",
			pfcframe.Frame{Src: src, Quanta: [8]uint16{2: 0xabcd}},
			head + "0000 0000 0000 abcd 0000 0000 0000 0000 0000" + pad,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := unhex(t, tt.want)
			if got := put(tt.f); !bytes.Equal(got, want) {
				t.Errorf("Put:\n got %x\nwant %x", got, want)
			}
			f, _, err := pfcframe.Parse(want)
			if err != nil || f != tt.f {
				t.Errorf("Parse = %+v, %v, want %+v", f, err, tt.f)
			}
		})
	}
}

func TestPadding(t *testing.T) {
	b := bytes.Repeat([]byte{0xee}, 100)
	pad := pfcframe.Put(b, example())
	if len(pad) != pfcframe.PadLen || cap(pad) != pfcframe.PadLen {
		t.Fatalf("Put's padding has length %d and capacity %d, want %d", len(pad), cap(pad), pfcframe.PadLen)
	}
	if !bytes.Equal(pad, make([]byte, pfcframe.PadLen)) {
		t.Errorf("Put's padding is %x, want zero", pad)
	}
	if b[pfcframe.Len] != 0xee {
		t.Error("Put wrote behind the frame")
	}
	for i := range pad {
		pad[i] = byte(i + 1)
	}
	_, got, err := pfcframe.Parse(b[:pfcframe.Len])
	if err != nil || &got[0] != &b[pfcframe.PadOffset] || !bytes.Equal(got, pad) || cap(got) != pfcframe.PadLen {
		t.Errorf("Parse's padding is %x, %v, want the frame's own %x", got, err, pad)
	}
}

func TestRefused(t *testing.T) {
	set := func(off int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], v); return b }
	}
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   error
	}{
		{"empty", func(b []byte) []byte { return nil }, pfcframe.ErrShort},
		{"cut before the opcode ends", func(b []byte) []byte { return b[:15] }, pfcframe.ErrShort},
		{"cut after the opcode", func(b []byte) []byte { return b[:16] }, pfcframe.ErrShort},
		{"no padding", func(b []byte) []byte { return b[:34] }, pfcframe.ErrShort},
		{"one byte missing", func(b []byte) []byte { return b[:59] }, pfcframe.ErrShort},
		{"one byte too many", func(b []byte) []byte { return append(b, 0) }, pfcframe.ErrLong},
		{"1514 bytes", func(b []byte) []byte { return append(b, make([]byte, 1454)...) }, pfcframe.ErrLong},
		{"unicast address", set(0, 2, 0, 0, 0, 0, 9), pfcframe.ErrAddress},
		{"neighbouring group address", set(5, 2), pfcframe.ErrAddress},
		{"broadcast", set(0, 255, 255, 255, 255, 255, 255), pfcframe.ErrAddress},
		{"EtherType IPv4", set(12, 8, 0), pfcframe.ErrEtherType},
		{"802.1Q tag", set(12, 0x81, 0), pfcframe.ErrEtherType},
		{"opcode 0x0101 swapped for 0x1001", set(14, 0x10, 1), pfcframe.ErrOpcode},
		{"opcode 0", set(14, 0, 0), pfcframe.ErrOpcode},
		{"opcode of EPON", set(14, 0, 2), pfcframe.ErrOpcode},
		{"opcode PAUSE", set(14, 0, 1), pfcframe.ErrPause},
		{"lowest reserved bit", set(16, 0x01), pfcframe.ErrReserved},
		{"highest reserved bit", set(16, 0x80), pfcframe.ErrReserved},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.damage(put(example()))
			f, pad, err := pfcframe.Parse(b)
			if err != tt.want {
				t.Errorf("Parse: error %v, want %v", err, tt.want)
			}
			if tt.want == pfcframe.ErrReserved {
				if f != example() || len(pad) != pfcframe.PadLen {
					t.Errorf("Parse = %+v with %d octets of padding, want the frame without its reserved bits", f, len(pad))
				}
			} else if f != (pfcframe.Frame{}) || pad != nil {
				t.Errorf("Parse = %+v, %x beside its error, want zero", f, pad)
			}
		})
	}
}

func TestPause(t *testing.T) {
	frame := func(dst, opcode, quanta string, zeros int) []byte {
		return unhex(t, dst+"020000000001 8808"+opcode+quanta+strings.Repeat("00", zeros))
	}
	for _, tt := range []struct {
		name   string
		b      []byte
		quanta uint16
		err    error
	}{
		{"group address", frame("0180c2000001", "0001", "ffff", 42), 0xffff, nil},
		{"station's address", frame("020000000009", "0001", "0010", 42), 16, nil},
		{"resume", frame("0180c2000001", "0001", "0000", 42), 0, nil},
		{"another group", frame("0180c2000002", "0001", "ffff", 42), 0, pfcframe.ErrAddress},
		{"PFC", put(example()), 0, pfcframe.ErrOpcode},
		{"truncated", frame("0180c2000001", "0001", "ffff", 41), 0, pfcframe.ErrShort},
		{"before the quanta", frame("0180c2000001", "0001", "", 0), 0, pfcframe.ErrShort},
		{"oversized", frame("0180c2000001", "0001", "ffff", 43), 0, pfcframe.ErrLong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, quanta, err := pfcframe.ParsePause(tt.b)
			if quanta != tt.quanta || err != tt.err {
				t.Errorf("ParsePause = %d, %v, want %d, %v", quanta, err, tt.quanta, tt.err)
			}
			if err == nil && from != src {
				t.Errorf("ParsePause: sender %x, want %x", from, src)
			}
		})
	}
}

// A frame of any length is what a MAC that pads it would send, for both kinds of frame.
func TestPad(t *testing.T) {
	whole, pause := put(example()), unhex(t, "0180c2000001 020000000001 8808 0001 1234"+strings.Repeat("00", 42))
	for n := range 70 {
		b := append(put(example()), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)[:n:n]
		padded := pfcframe.Pad(bytes.Clone(b))
		if n < 18 || n >= pfcframe.Len {
			if !bytes.Equal(padded, b) {
				t.Errorf("%d bytes: Pad changes them to %x", n, padded)
			}
			continue
		}
		want := example()
		if n < 26 { // the timer of priority 3 is at 24
			want.Quanta[3] &= 0xff00
		}
		if n < 25 {
			want.Quanta[3] = 0
		}
		f, pad, err := pfcframe.Parse(padded)
		if err != nil || f != want || !bytes.Equal(pad, make([]byte, pfcframe.PadLen)) {
			t.Errorf("%d bytes: padded they are %+v, %x, %v; want %+v and zeros", n, f, pad, err, want)
		}
		if _, quanta, err := pfcframe.ParsePause(pfcframe.Pad(bytes.Clone(pause[:n]))); err != nil || quanta != 0x1234 {
			t.Errorf("PAUSE of %d bytes: %#x quanta, %v; want 0x1234", n, quanta, err)
		}
	}
	if got := pfcframe.Pad(whole[:34]); &got[0] != &whole[0] {
		t.Error("Pad moves a frame that has room for its padding")
	}
}

func TestIsMACControl(t *testing.T) {
	good := put(example())
	forged := bytes.Clone(good)
	copy(forged, "\x02\x00\x00\x00\x00\x09")
	tagged := bytes.Clone(good)
	binary.BigEndian.PutUint16(tagged[12:], 0x8100)
	data := bytes.Clone(forged)
	binary.BigEndian.PutUint16(data[12:], 0x0800)
	for _, tt := range []struct {
		name string
		b    []byte
		want bool
	}{
		{"PFC", good, true},
		{"MAC Control to a unicast address", forged, true},
		{"the group address, tagged", tagged, true},
		{"only the group address", good[:6], true},
		{"data", data, false},
		{"cut within the address", good[:5], false},
		{"cut within the EtherType", forged[:13], false},
		{"empty", nil, false},
	} {
		if got := pfcframe.IsMACControl(tt.b); got != tt.want {
			t.Errorf("%s: IsMACControl = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPutPanics(t *testing.T) {
	defer func() {
		if msg := fmt.Sprint(recover()); !strings.Contains(msg, "59 bytes") {
			t.Errorf("Put into 59 bytes: panic %q, want one that names the length", msg)
		}
	}()
	pfcframe.Put(make([]byte, 59, 100), example())
}

// slowPut is Put written the plain way.
func slowPut(f pfcframe.Frame) []byte {
	var b bytes.Buffer
	for _, field := range []any{
		[]byte("\x01\x80\xc2\x00\x00\x01"), f.Src, uint16(0x8808), uint16(0x0101),
		uint8(0), uint8(f.Enable), f.Quanta,
		[26]byte{},
	} {
		if err := binary.Write(&b, binary.BigEndian, field); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func TestSlowTwin(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		f := pfcframe.Frame{Enable: unit.PrioritySet(r.Uint32())}
		binary.BigEndian.PutUint32(f.Src[2:], r.Uint32())
		for c := range f.Quanta {
			f.Quanta[c] = uint16(r.Uint32())
		}
		b := put(f)
		if want := slowPut(f); !bytes.Equal(b, want) {
			t.Fatalf("seed %d: Put(%+v):\n got %x\nwant %x", seed, f, b, want)
		}
		if got, _, err := pfcframe.Parse(b); err != nil || got != f {
			t.Fatalf("seed %d: Parse(Put(f)) = %+v, %v, want %+v", seed, got, err, f)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	b, f := put(example()), example()
	pause := put(example())
	pause[15] = 1
	short := b[:20]
	var sum int
	allocs := testing.AllocsPerRun(1000, func() {
		pad := pfcframe.Put(pfcframe.Pad(b[:34]), f)
		g, _, err := pfcframe.Parse(b)
		_, _, bad := pfcframe.Parse(short)
		_, quanta, _ := pfcframe.ParsePause(pause)
		if err != nil || bad == nil || !pfcframe.IsMACControl(b) {
			t.Fatal("wrong result")
		}
		sum += len(pad) + int(g.Enable) + int(quanta)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

func FuzzParse(f *testing.F) {
	good := put(example())
	f.Add(good)
	f.Add(good[:34])
	f.Add(append(bytes.Clone(good), 0))
	pause := bytes.Clone(good)
	pause[15] = 1
	f.Add(pause)
	reserved := bytes.Clone(good)
	reserved[16] = 0x80
	f.Add(reserved)
	f.Add([]byte{})
	reasons := []error{
		pfcframe.ErrEtherType, pfcframe.ErrPause, pfcframe.ErrOpcode, pfcframe.ErrAddress,
		pfcframe.ErrShort, pfcframe.ErrLong, pfcframe.ErrReserved,
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if padded := pfcframe.Pad(bytes.Clone(b)); !bytes.HasPrefix(padded, b) || len(padded) > max(len(b), pfcframe.Len) {
			t.Errorf("Pad(%x) is %x", b, padded)
		}
		_, _, errPause := pfcframe.ParsePause(b)
		fr, pad, err := pfcframe.Parse(b)
		if err == nil || errPause == nil {
			if !pfcframe.IsMACControl(b) {
				t.Errorf("%x is parsed but not MAC Control", b)
			}
		}
		if err != nil {
			known := false
			for _, r := range reasons {
				known = known || errors.Is(err, r)
			}
			if !known {
				t.Errorf("Parse(%x): error %v has no sentinel", b, err)
			}
			return
		}
		if errPause == nil {
			t.Errorf("%x is both PFC and PAUSE", b)
		}
		again := make([]byte, pfcframe.Len)
		copy(pfcframe.Put(again, fr), pad)
		if !bytes.Equal(again, b) {
			t.Errorf("Put(Parse(b)):\n got %x\nwant %x", again, b)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	buf, f := make([]byte, pfcframe.Len), example()
	b.ReportAllocs()
	for b.Loop() {
		pfcframe.Put(buf, f)
	}
}

func BenchmarkParse(b *testing.B) {
	buf := put(example())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := pfcframe.Parse(buf); err != nil {
			b.Fatal(err)
		}
	}
}

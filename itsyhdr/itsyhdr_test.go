package itsyhdr_test

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
	"softswitch/itsyhdr"
	"softswitch/unit"
)

var src = [6]byte{2, 0, 0, 0, 0, 5}

// example is the TLV of docs/format/itsy.md.
var example = itsyhdr.TLV{
	Kind: itsyhdr.KindLabel, Priority: 3, Flags: 1, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9,
	Trigger: unit.NodePort{Node: 7, Port: 1}, Hops: 3, Period: 12,
}

func put(t itsyhdr.TLV) []byte {
	b := make([]byte, itsyhdr.Len)
	itsyhdr.Put(b, t)
	return b
}

func putMessage(t itsyhdr.TLV) []byte {
	b := make([]byte, itsyhdr.MessageLen)
	itsyhdr.PutMessage(b, src, t)
	return b
}

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
	want := docExample(t, "../docs/format/itsy.md")
	if got := putMessage(example); !bytes.Equal(got, want) {
		t.Fatalf("PutMessage and docs/format/itsy.md differ:\n got %x\nwant %x", got, want)
	}
	if got := put(example); !bytes.Equal(got, want[14:40]) {
		t.Errorf("Put and the message's TLV differ:\n got %x\nwant %x", got, want[14:40])
	}
}

func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name string
		tlv  itsyhdr.TLV
		want string
	}{
		{"zero value", itsyhdr.TLV{}, "fe18 024954 01 10 00 000000 0000 000000 00 00 0000000000000000"},
		{"only a period", itsyhdr.TLV{Priority: 4, Period: 255}, "fe18 024954 01 10 80 000000 0000 000000 00 ff 0000000000000000"},
		{
			"every bit that may be set",
			itsyhdr.TLV{
				Kind: itsyhdr.KindLabel, Priority: 7, Flags: 31, Initiator: unit.NodePort{Node: 0xffff, Port: 63}, Seq: 0xffff,
				Trigger: unit.NodePort{Node: 0xffff, Port: 63}, Hops: 255, Period: 255, Auth: 1<<64 - 1,
			},
			"fe18 024954 01 13 ff ffff3f ffff ffff3f ff ff ffffffffffffffff",
		},
		{
			"every field another",
			itsyhdr.TLV{
				Kind: itsyhdr.KindTemporalCheck, Priority: 5, Flags: 2, Initiator: unit.NodePort{Node: 0x0102, Port: 3}, Seq: 0x0405,
				Trigger: unit.NodePort{Node: 0x0607, Port: 8}, Hops: 9, Period: 10, Auth: 0x1112131415161718,
			},
			"fe18 024954 01 12 a2 010203 0405 060708 09 0a 1112131415161718",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := unhex(t, tt.want)
			if got := put(tt.tlv); !bytes.Equal(got, want) {
				t.Errorf("Put:\n got %x\nwant %x", got, want)
			}
			if got, err := itsyhdr.Parse(want); err != nil || got != tt.tlv {
				t.Errorf("Parse = %+v, %v, want %+v", got, err, tt.tlv)
			}
		})
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
		{"no padding", func(b []byte) []byte { return nil }, itsyhdr.ErrShort},
		{"one octet missing", func(b []byte) []byte { return b[:25] }, itsyhdr.ErrShort},
		{"all zero", func(b []byte) []byte { clear(b); return b }, itsyhdr.ErrNone},
		{"all zero but the last octet", func(b []byte) []byte { clear(b); b[25] = 1; return b }, itsyhdr.ErrType},
		{"all ones", func(b []byte) []byte { return bytes.Repeat([]byte{255}, 26) }, itsyhdr.ErrLength},
		{"type 126", set(0, 126<<1), itsyhdr.ErrType},
		{"length 23", set(1, 23), itsyhdr.ErrLength},
		{"length 24 + 256", set(0, 0xff), itsyhdr.ErrLength},
		{"OUI of IEEE 802.1", set(2, 0x00, 0x80, 0xc2), itsyhdr.ErrOUI},
		{"last octet of the OUI", set(4, 0x55), itsyhdr.ErrOUI},
		{"subtype 2", set(5, 2), itsyhdr.ErrSubtype},
		{"version 0", set(6, 0x03), itsyhdr.ErrVersion},
		{"version 2", set(6, 0x23), itsyhdr.ErrVersion},
		{"kind 15", set(6, 0x1f), itsyhdr.ErrKind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tlv, err := itsyhdr.Parse(tt.damage(put(example)))
			if err != tt.want || tlv != (itsyhdr.TLV{}) {
				t.Errorf("Parse = %+v, %v, want zero, %v", tlv, err, tt.want)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	b := bytes.Repeat([]byte{0xee}, 100)
	itsyhdr.PutMessage(b, src, example)
	if !bytes.Equal(b[40:60], make([]byte, 20)) || b[60] != 0xee {
		t.Errorf("behind the TLV lies %x, want 20 zeros and nothing overwritten", b[40:61])
	}
	b = b[:60]
	b[59] = 1 // ignored when received
	from, tlv, err := itsyhdr.ParseMessage(b)
	if err != nil || from != src || tlv != example {
		t.Errorf("ParseMessage = %x, %+v, %v, want %x, %+v", from, tlv, err, src, example)
	}
}

func TestMessageRefused(t *testing.T) {
	set := func(off int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[off] = v; return b }
	}
	for _, tt := range []struct {
		name    string
		damage  func([]byte) []byte
		message bool // it is still told as a message, and not forwarded
		want    error
	}{
		{"empty", func(b []byte) []byte { return nil }, false, itsyhdr.ErrShort},
		{"cut in the header", func(b []byte) []byte { return b[:13] }, false, itsyhdr.ErrShort},
		{"only the header", func(b []byte) []byte { return b[:14] }, true, itsyhdr.ErrShort},
		{"cut behind the TLV", func(b []byte) []byte { return b[:40] }, true, itsyhdr.ErrShort},
		{"one byte too many", func(b []byte) []byte { return append(b, 0) }, true, itsyhdr.ErrLong},
		{"to a station", set(0, 0), false, itsyhdr.ErrNotMessage},
		{"to the PFC address", set(5, 1), false, itsyhdr.ErrNotMessage},
		{"experimental EtherType 2", set(13, 0xb6), false, itsyhdr.ErrNotMessage},
		{"no TLV", func(b []byte) []byte { clear(b[14:40]); return b }, true, itsyhdr.ErrNone},
		{"another OUI", set(16, 9), true, itsyhdr.ErrOUI},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.damage(putMessage(example))
			if got := itsyhdr.IsMessage(b); got != tt.message {
				t.Errorf("IsMessage = %v, want %v", got, tt.message)
			}
			from, tlv, err := itsyhdr.ParseMessage(b)
			if err != tt.want || from != [6]byte{} || tlv != (itsyhdr.TLV{}) {
				t.Errorf("ParseMessage = %x, %+v, %v, want zero, %v", from, tlv, err, tt.want)
			}
		})
	}
}

func TestPutPanics(t *testing.T) {
	for _, tt := range []struct {
		name string
		put  func()
		want string
	}{
		{"TLV into 25 octets", func() { itsyhdr.Put(make([]byte, 25, 99), example) }, "25 octets"},
		{"message into 59 bytes", func() { itsyhdr.PutMessage(make([]byte, 59, 99), src, example) }, "59 bytes"},
		{"priority 8", func() { put(itsyhdr.TLV{Priority: 8}) }, "Priority:8"},
		{"flags 32", func() { put(itsyhdr.TLV{Flags: 32}) }, "Flags:32"},
		{"kind 15", func() { put(itsyhdr.TLV{Kind: 15}) }, "kind(15)"},
		{"no port", func() { put(itsyhdr.TLV{Trigger: unit.NodePort{Node: 1, Port: unit.NoPort}}) }, "Trigger:1.65535"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if msg := fmt.Sprint(recover()); !strings.Contains(msg, tt.want) {
					t.Errorf("panic %q, want one that names %q", msg, tt.want)
				}
			}()
			tt.put()
		})
	}
}

func TestString(t *testing.T) {
	authentic := example
	authentic.Auth = 0xabc
	for _, tt := range []struct {
		tlv  itsyhdr.TLV
		want string
	}{
		{itsyhdr.TLV{}, "period priority 0 period 0"},
		{itsyhdr.TLV{Priority: 3, Period: 7}, "period priority 3 period 7"},
		{example, "label priority 3 from 5.2 seq 9 trigger 7.1 period 12 flags 0x01"},
		{authentic, "label priority 3 from 5.2 seq 9 trigger 7.1 period 12 flags 0x01 auth 0000000000000abc"},
		{itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Period: 12}, "no label priority 3 period 12"},
		{itsyhdr.TLV{Kind: itsyhdr.KindLabel, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 1, Trigger: unit.NodePort{Node: 7, Port: 1}, Hops: 224, Flags: itsyhdr.FlagHost}, "label priority 0 from 5.2 seq 1 trigger 7.1 host's share 88 % period 0 flags 0x08"},
		{itsyhdr.TLV{Kind: itsyhdr.KindChecking, Initiator: unit.NodePort{Node: 1}}, "checking priority 0 from 1.0 seq 0 hops 0 period 0"},
		{itsyhdr.TLV{Kind: 15}, "kind(15) priority 0 from 0.0 seq 0 hops 0 period 0"},
	} {
		if got := tt.tlv.String(); got != tt.want {
			t.Errorf("String() = %q, want %q", got, tt.want)
		}
	}
}

// slowPut is Put written the plain way.
func slowPut(t itsyhdr.TLV) []byte {
	var b bytes.Buffer
	for _, field := range []any{
		uint8(127<<1 | 24>>8), uint8(24), uint8(0x02), uint8(0x49), uint8(0x54), uint8(1),
		1*16 + uint8(t.Kind), uint8(t.Priority)*32 + t.Flags, t.Initiator.Node, uint8(t.Initiator.Port), t.Seq, t.Trigger.Node, uint8(t.Trigger.Port), t.Hops, t.Period, t.Auth,
	} {
		if err := binary.Write(&b, binary.BigEndian, field); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func randomTLV(r *rand.Rand) itsyhdr.TLV {
	return itsyhdr.TLV{
		Kind: itsyhdr.Kind(r.IntN(15)), Priority: unit.Priority(r.IntN(8)), Flags: uint8(r.IntN(32)),
		Initiator: unit.NodePort{Node: unit.NodeID(r.Uint32()), Port: unit.Port(r.IntN(unit.MaxPorts))}, Seq: uint16(r.Uint32()),
		Trigger: unit.NodePort{Node: unit.NodeID(r.Uint32()), Port: unit.Port(r.IntN(unit.MaxPorts))}, Hops: uint8(r.Uint32()),
		Period: uint8(r.Uint32()), Auth: r.Uint64(),
	}
}

func TestSlowTwin(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		tlv := randomTLV(r)
		b := put(tlv)
		if want := slowPut(tlv); !bytes.Equal(b, want) {
			t.Fatalf("seed %d: Put(%+v):\n got %x\nwant %x", seed, tlv, b, want)
		}
		if got, err := itsyhdr.Parse(b); err != nil || got != tlv {
			t.Fatalf("seed %d: Parse(Put(t)) = %+v, %v, want %+v", seed, got, err, tlv)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	b, m := put(example), putMessage(example)
	zero := make([]byte, itsyhdr.Len)
	allocs := testing.AllocsPerRun(1000, func() {
		itsyhdr.Put(b, example)
		itsyhdr.PutMessage(m, src, example)
		_, err := itsyhdr.Parse(b)
		_, none := itsyhdr.Parse(zero)
		_, _, errMessage := itsyhdr.ParseMessage(m)
		if err != nil || none == nil || errMessage != nil || !itsyhdr.IsMessage(m) {
			t.Fatal("wrong result")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

var reasons = []error{
	itsyhdr.ErrNone, itsyhdr.ErrShort, itsyhdr.ErrType, itsyhdr.ErrLength, itsyhdr.ErrOUI, itsyhdr.ErrSubtype,
	itsyhdr.ErrVersion, itsyhdr.ErrKind, itsyhdr.ErrNotMessage, itsyhdr.ErrLong,
}

func known(err error) bool {
	for _, r := range reasons {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}

func FuzzParse(f *testing.F) {
	f.Add(put(example))
	f.Add(put(itsyhdr.TLV{}))
	f.Add(make([]byte, itsyhdr.Len))
	f.Add(put(example)[:25])
	f.Fuzz(func(t *testing.T, b []byte) {
		tlv, err := itsyhdr.Parse(b)
		if err != nil {
			if !known(err) {
				t.Errorf("Parse(%x): error %v has no sentinel", b, err)
			}
			return
		}
		if again := put(tlv); !bytes.Equal(again, b[:itsyhdr.Len]) {
			t.Errorf("Put(Parse(b)):\n got %x\nwant %x", again, b)
		}
		if tlv.String() == "" {
			t.Error("String() is empty")
		}
	})
}

func FuzzParseMessage(f *testing.F) {
	f.Add(putMessage(example))
	f.Add(putMessage(itsyhdr.TLV{})[:40])
	f.Add(append(putMessage(example), 0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		from, tlv, err := itsyhdr.ParseMessage(b)
		if err != nil {
			if !known(err) {
				t.Errorf("ParseMessage(%x): error %v has no sentinel", b, err)
			}
			return
		}
		if !itsyhdr.IsMessage(b) {
			t.Errorf("%x is parsed but no message", b)
		}
		again := make([]byte, itsyhdr.MessageLen)
		itsyhdr.PutMessage(again, from, tlv)
		copy(again[40:], b[40:])
		if !bytes.Equal(again, b) {
			t.Errorf("PutMessage(ParseMessage(b)):\n got %x\nwant %x", again, b)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	buf := put(example)
	b.ReportAllocs()
	for b.Loop() {
		itsyhdr.Put(buf, example)
	}
}

func BenchmarkParse(b *testing.B) {
	buf := put(example)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := itsyhdr.Parse(buf); err != nil {
			b.Fatal(err)
		}
	}
}

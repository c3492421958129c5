package decode_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/link/decode"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// form is how a capture has a frame.
type form struct {
	Order     string // of octets: "little", "big"
	File      string // "pcap", "pcap in ns", "pcapng"
	Link      uint16
	Behind    string // the frame: "nothing", "no padding", "FCS", and where its length is said "FCS of file", "FCS of packet"
	OtherTail bool   // an FCS whose length is said is not the frame's CRC
}

func anyForm(r *rand.Rand) form {
	of := func(words ...string) string { return words[r.IntN(len(words))] }
	f := form{
		Order: of("little", "big"), File: of("pcap", "pcap in ns", "pcapng"), Link: []uint16{1, 113, 276}[r.IntN(3)],
		Behind: of("nothing", "no padding"), OtherTail: r.IntN(2) == 0,
	}
	if f.Link == 1 { // a cooked packet has none
		f.Behind = of("nothing", "no padding", "FCS", "FCS of file", "FCS of packet")
	}
	if f.Behind == "FCS of packet" {
		f.File = "pcapng"
	}
	return f
}

// anyControl is a PFC frame, a PAUSE or a message, with up to two tags.
func anyControl(r *rand.Rand) []byte {
	b := make([]byte, pfcframe.Len)
	label := tlv
	label.Seq, label.Priority = uint16(r.Uint32()), unit.Priority(r.IntN(unit.Priorities))
	switch r.IntN(4) {
	case 0:
		b = message()
	case 1:
		b = pause(uint16(r.Uint32()))
	default:
		f := pfcframe.Frame{Src: src, Enable: unit.PrioritySet(r.Uint32())}
		for c := range f.Quanta {
			f.Quanta[c] = uint16(r.Uint32()) * uint16(r.IntN(2))
		}
		pad := pfcframe.Put(b, f)
		if r.IntN(2) == 0 {
			itsyhdr.Put(pad, label)
		}
	}
	for range r.IntN(3) {
		b = tagged(b, []uint16{0x8100, 0x88a8}[r.IntN(2)], uint16(r.Uint32()))
	}
	return b
}

// write makes a capture of frame in the form f; at is its time.
func (f form) write(frame []byte, at time.Time) []byte {
	b := bytes.Clone(frame)
	fcs := 0
	switch f.Behind {
	case "no padding":
		b = unpad(b)
	case "FCS", "FCS of file", "FCS of packet":
		b, fcs = withFCS(b), 4
		if f.OtherTail && f.Behind != "FCS" {
			b[len(b)-1]++
		}
	}
	switch sll, sll2 := cooked(b, 2, 1); f.Link {
	case 113:
		b = sll
	case 276:
		b = sll2
	}
	var o order = binary.LittleEndian
	if f.Order == "big" {
		o = binary.BigEndian
	}
	if f.Behind == "FCS" {
		fcs = 0
	}
	if f.File == "pcapng" {
		return f.writeNg(o, b, fcs, at)
	}
	return f.writePcap(o, b, fcs, at)
}

type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (f form) writePcap(o order, b []byte, fcs int, at time.Time) []byte {
	magic, fraction := uint32(0xa1b2c3d4), at.Nanosecond()/1000
	if f.File == "pcap in ns" {
		magic, fraction = 0xa1b23c4d, at.Nanosecond()
	}
	link := uint32(f.Link)
	if fcs > 0 {
		link |= 1<<26 | uint32(fcs)/2<<28
	}
	file := o.AppendUint16(o.AppendUint16(o.AppendUint32(nil, magic), 2), 4)
	for _, w := range []uint32{0, 0, 65535, link, uint32(at.Unix()), uint32(fraction), uint32(len(b)), uint32(len(b))} {
		file = o.AppendUint32(file, w)
	}
	return append(file, b...)
}

func (f form) writeNg(o order, b []byte, fcs int, at time.Time) []byte {
	block := func(typ uint32, body []byte) []byte {
		n := uint32(len(body) + 12)
		return o.AppendUint32(append(o.AppendUint32(o.AppendUint32(nil, typ), n), body...), n)
	}
	option := func(code uint16, value ...byte) []byte {
		head := o.AppendUint16(o.AppendUint16(nil, code), uint16(len(value)))
		return append(append(head, value...), make([]byte, -len(value)&3)...)
	}
	section := o.AppendUint64(o.AppendUint16(o.AppendUint16(o.AppendUint32(nil, 0x1a2b3c4d), 1), 0), 1<<64-1)
	iface := append(o.AppendUint32(o.AppendUint16(o.AppendUint16(nil, f.Link), 0), 0), option(9, 9)...)
	ns := uint64(at.UnixNano())
	packet := o.AppendUint32(o.AppendUint32(o.AppendUint32(nil, 0), uint32(ns>>32)), uint32(ns))
	packet = append(o.AppendUint32(o.AppendUint32(packet, uint32(len(b))), uint32(len(b))), b...)
	packet = append(packet, make([]byte, -len(b)&3)...)
	switch {
	case fcs > 0 && f.Behind == "FCS of packet":
		packet = append(packet, option(2, o.AppendUint32(nil, uint32(fcs)<<5)...)...)
	case fcs > 0:
		iface = append(iface, option(13, byte(fcs*8))...)
	}
	return join(block(0x0a0d0d0a, section), block(1, iface), block(6, packet))
}

// unpad takes the zeros behind the timers away, as far as there are only such.
func unpad(b []byte) []byte {
	end := pfcframe.PadOffset + len(b) - pfcframe.Len
	if len(bytes.Trim(b[end:], "\x00")) > 0 || bytes.HasPrefix(b, []byte(itsyhdr.MessageAddress)) {
		return b
	}
	return b[:end]
}

// The form of a capture is nothing that a frame says.
func TestForms(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		frame, f := anyControl(r), anyForm(r)
		at := start.Add(time.Duration(r.IntN(1e9)))
		got := record(t, f.write(frame, at))
		whole := record(t, form{Order: "little", File: "pcap in ns", Link: 1, Behind: "nothing"}.write(frame, at))
		if f.File == "pcap" {
			at = at.Truncate(time.Microsecond)
		}
		if wantTime := at.Format("2006-01-02T15:04:05.000000000Z"); got.Time != wantTime {
			t.Fatalf("seed %d: %+v: time %s, want %s", seed, f, got.Time, wantTime)
		}
		got.Time, got.Interface = whole.Time, whole.Interface
		if !reflect.DeepEqual(got, whole) {
			t.Fatalf("seed %d: % x as %+v:\n got %+v\nwant %+v", seed, frame, f, got, whole)
		}
	}
}

// record is the only one of a file.
func record(t *testing.T, file []byte) (rec decode.Record) {
	t.Helper()
	out, err := run(file, decode.Options{JSON: true})
	must(t, err)
	if strings.Count(out, "\n") != 1 {
		t.Fatalf("%d lines of one frame:\n%s\nof % x", strings.Count(out, "\n"), out, file)
	}
	must(t, json.Unmarshal([]byte(out), &rec))
	return rec
}

package decode_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/decode"
	"softswitch/pfcframe"
	"softswitch/unit"
)

var (
	start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	src   = [6]byte{2, 0, 0, 0, 0, 1}
	tlv   = itsyhdr.TLV{
		Kind: itsyhdr.KindChecking, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9,
		Trigger: unit.NodePort{Node: 7, Port: 1}, Hops: 3, Period: 12,
	}
)

// pfc pauses priority 3 and resumes priority 4; fill may write into its padding.
func pfc(fill func(pad []byte)) []byte {
	b := make([]byte, pfcframe.Len)
	pad := pfcframe.Put(b, pfcframe.Frame{Src: src, Enable: 0x18, Quanta: [8]uint16{3: 0xffff}})
	if fill != nil {
		fill(pad)
	}
	return b
}

func withTLV(pad []byte) { itsyhdr.Put(pad, tlv) }

func message() []byte {
	b := make([]byte, itsyhdr.MessageLen)
	itsyhdr.PutMessage(b, src, tlv)
	return b
}

func pause(quanta uint16) []byte {
	b := pfc(nil)
	clear(b[14:])
	binary.BigEndian.PutUint16(b[14:], 1)
	binary.BigEndian.PutUint16(b[16:], quanta)
	return b
}

func data() []byte {
	b := make([]byte, 100)
	copy(b, "\x02\x00\x00\x00\x00\x09\x02\x00\x00\x00\x00\x01\x08\x00")
	return b
}

// tagged puts an 802.1Q tag into frame.
func tagged(frame []byte, tpid, tci uint16) []byte {
	b := append([]byte{}, frame[:12]...)
	b = binary.BigEndian.AppendUint16(b, tpid)
	b = binary.BigEndian.AppendUint16(b, tci)
	return append(b, frame[12:]...)
}

// set returns b with v at off.
func set(b []byte, off int, v ...byte) []byte {
	copy(b[off:], v)
	return b
}

func info(i int, b []byte) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{Timestamp: start.Add(time.Duration(i) * time.Microsecond), CaptureLength: len(b), Length: len(b)}
}

// pcap is a capture in microseconds, one frame each.
func pcap(t testing.TB, frames ...[]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	must(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
	for i, b := range frames {
		must(t, w.WritePacket(info(i, b), b))
	}
	return file.Bytes()
}

// pcapng has frames on the interfaces eth0, eth1, ... in turn, of the given link
// types.
func pcapng(t testing.TB, links []layers.LinkType, frames ...[]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	var w *pcapgo.NgWriter
	for i, l := range links {
		in := pcapgo.NgInterface{Name: fmt.Sprintf("eth%d", i), LinkType: l, TimestampResolution: 9}
		if i > 0 {
			_, err := w.AddInterface(in)
			must(t, err)
			continue
		}
		var err error
		w, err = pcapgo.NewNgWriterInterface(&file, in, pcapgo.NgWriterOptions{})
		must(t, err)
	}
	for i, b := range frames {
		ci := info(i, b)
		ci.InterfaceIndex = i % len(links)
		must(t, w.WritePacket(ci, b))
	}
	must(t, w.Flush())
	return file.Bytes()
}

var ethernet = []layers.LinkType{layers.LinkTypeEthernet}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run decodes file and returns its lines.
func run(file []byte, opt decode.Options) (string, error) {
	var out strings.Builder
	err := decode.Decode(bytes.NewReader(file), &out, opt)
	return out.String(), err
}

// want compares line by line.
func want(t *testing.T, got string, lines ...string) {
	t.Helper()
	if w := strings.Join(lines, "\n") + "\n"; got != w {
		t.Errorf("got\n%swant\n%s", got, w)
	}
}

func TestText(t *testing.T) {
	out, err := run(pcap(t,
		pfc(nil), pfc(withTLV), data(), pause(0x1234), pause(0), message(),
		set(pfc(nil), 16, 0, 0), pfc(func(pad []byte) { pad[3] = 7 }),
	), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"2 07:08:09.000001000 02:00:00:00:00:01 PFC 3:65535 4:resume; checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"4 07:08:09.000003000 02:00:00:00:00:01 802.3x PAUSE 4660",
		"5 07:08:09.000004000 02:00:00:00:00:01 802.3x PAUSE resume",
		"6 07:08:09.000005000 02:00:00:00:00:01 ITSY message checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"7 07:08:09.000006000 02:00:00:00:00:01 PFC of no priority",
		"8 07:08:09.000007000 02:00:00:00:00:01 PFC 3:65535 4:resume; padding is no ITSY TLV: itsyhdr: wrong TLV type; want 127; it begins with 00 00 00 07 00 00 00 00",
		"8 frames: 4 PFC, 2 802.3x PAUSE, 1 ITSY message, 0 malformed, 1 other; 1 PFC with padding that is no ITSY TLV",
	)
}

func TestJSON(t *testing.T) {
	authentic := func(pad []byte) { a := tlv; a.Auth = 0xabc; itsyhdr.Put(pad, a) }
	out, err := run(pcapng(t, ethernet, data(), pfc(authentic), pause(0), set(message(), 16, 9), tagged(message(), 0x8100, 0x6005)),
		decode.Options{JSON: true})
	must(t, err)
	const itsy = `{"kind":"checking","priority":3,"flags":0,"initiator":{"node":5,"port":2},"seq":9,"trigger":{"node":7,"port":1},"hops":3,"period":12`
	const where = `"interface":"eth0","src":"02:00:00:00:00:01"`
	want(
		t, out,
		`{"frame":2,"time":"2024-05-06T07:08:09.000001000Z",`+where+`,"kind":"pfc","priorities":[{"priority":3,"quanta":65535},{"priority":4,"quanta":0}],"itsy":`+itsy+`,"auth":"0000000000000abc"}}`,
		`{"frame":3,"time":"2024-05-06T07:08:09.000002000Z",`+where+`,"kind":"pause","quanta":0}`,
		`{"frame":4,"time":"2024-05-06T07:08:09.000003000Z",`+where+`,"kind":"malformed","reason":"itsyhdr: wrong OUI; want 02-49-54; it begins with fe 18 09 49 54 01 11 60"}`,
		`{"frame":5,"time":"2024-05-06T07:08:09.000004000Z",`+where+`,"vlan":[{"id":5,"priority":3}],"kind":"itsy","itsy":`+itsy+`}}`,
	)
	for line := range strings.Lines(out) {
		var rec decode.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Errorf("%s does not read back: %v", line, err)
		}
	}
}

func TestInterfacesAndLinkTypes(t *testing.T) {
	links := []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeIEEE80211Radio, layers.LinkTypeEthernet, layers.LinkTypePPP}
	out, err := run(pcapng(t, links, pfc(nil), pfc(nil), pause(1), pfc(nil), data(), data()), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 eth0 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"3 07:08:09.000002000 eth2 02:00:00:00:00:01 802.3x PAUSE 1",
		"6 frames: 1 PFC, 1 802.3x PAUSE, 0 ITSY messages, 0 malformed, 4 other; 1 of link type 9, which is not read; 2 of link type 127, which is not read",
	)
}

// A capture without a frame that can be read is refused as a pcap of its link type is.
func TestUnreadLinkTypes(t *testing.T) {
	const refusal = "decode: link type 9; valid: 1 (Ethernet), 113 (Linux cooked, SLL), 276 (SLL2)"
	file := pcapng(t, []layers.LinkType{layers.LinkTypeIEEE80211Radio, layers.LinkTypePPP}, data(), data(), data())
	for _, opt := range []decode.Options{{}, {JSON: true}} {
		if _, err := run(file, opt); err == nil || err.Error() != refusal {
			t.Errorf("%+v: error %v, want %q", opt, err, refusal)
		}
	}
}

func TestTagged(t *testing.T) {
	short := tagged(pfc(nil), 0x8100, 0x8064)[:60] // of the minimum size with its tag
	out, err := run(pcap(t,
		tagged(pfc(withTLV), 0x8100, 0x8064), short, tagged(tagged(message(), 0x8100, 10), 0x88a8, 0xe014),
		tagged(data(), 0x8100, 1), tagged(pfc(nil), 0x8100, 0)[:59],
	), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 vlan 100 priority 4 PFC 3:65535 4:resume; checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"2 07:08:09.000001000 02:00:00:00:00:01 vlan 100 priority 4 PFC 3:65535 4:resume",
		"3 07:08:09.000002000 02:00:00:00:00:01 vlan 20 priority 7 vlan 10 priority 0 ITSY message checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"5 07:08:09.000004000 02:00:00:00:00:01 vlan 0 priority 0 PFC 3:65535 4:resume",
		"5 frames: 3 PFC, 0 802.3x PAUSE, 1 ITSY message, 0 malformed, 1 other",
	)
}

func TestMalformed(t *testing.T) {
	short := func(payload string) []byte { return append(message()[:14:14], payload...) }
	for _, tt := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"cut in the class-enable vector", pfc(nil)[:17], "pfcframe: frame is shorter than 60 bytes; it has 17 bytes"},
		{"shorter than a header", pfc(nil)[:12], "pfcframe: frame is shorter than 60 bytes; it has 12 bytes"},
		{"oversized", append(pfc(nil), 0, 0, 0, 0), "pfcframe: frame is longer than 60 bytes; it has 64 bytes"},
		{"opcode", set(pfc(nil), 14, 0, 2), "pfcframe: unknown opcode; want PFC (0x0101) or PAUSE (0x0001); it is 0x0002"},
		{"address", set(pfc(nil), 0, 2, 0, 0, 0, 0, 9), "pfcframe: wrong destination address; want 01:80:c2:00:00:01; it is 02:00:00:00:00:09"},
		{"EtherType", set(pfc(nil), 12, 8, 6), "pfcframe: EtherType is not MAC Control (0x8808); it is 0x0806"},
		{"opcode with a bit too many", set(pfc(nil), 14, 0x81, 1), "pfcframe: unknown opcode; want PFC (0x0101) or PAUSE (0x0001); it is 0x8101"},
		{"MACsec to the group address", set(pfc(nil), 12, 0x88, 0xe5), "pfcframe: EtherType is not MAC Control (0x8808); it is 0x88e5"},
		{"reserved bits", set(pfc(nil), 16, 0x80), "pfcframe: reserved bits set in the upper octet of the class-enable vector; want 0; it is 0x80"},
		{"PAUSE cut in its quanta", pause(1)[:17], "pfcframe: frame is shorter than 60 bytes; it has 17 bytes"},
		{"a wrong FCS", set(withFCS(pfc(nil)), 63, 0), "pfcframe: frame is longer than 60 bytes; it has 64 bytes"},
		{"message without TLV", set(message(), 14, make([]byte, 26)...), "itsyhdr: no TLV: the padding is all zero; it begins with 00 00 00 00 00 00 00 00"},
		{"message of another version", set(message(), 20, 0x21), "itsyhdr: unknown version; want 1; it begins with fe 18 02 49 54 01 21 60"},
		{"short message", message()[:50], "itsyhdr: truncated; want 26 octets for a TLV, 60 bytes for a message frame; it has 50 bytes"},
		{"CLCM cut behind its subtype", short("\xfe\x05\x02\x49\x54\x02\x11"), "clcm: truncated; want 12 octets for an election, 14 and 5 a hop for a path; it begins with fe 05 02 49 54 02 11"},
		{"lap cut behind its subtype", short("\xfe\x05\x02\x49\x54\x03"), "itsy: not a lap or quest as the detector writes it; it begins with fe 05 02 49 54 03"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := run(pcap(t, tt.frame), decode.Options{})
			must(t, err)
			want(
				t, out,
				"1 07:08:09.000000000 02:00:00:00:00:01 MALFORMED: "+tt.want,
				"1 frame: 0 PFC, 0 802.3x PAUSE, 0 ITSY messages, 1 malformed, 0 other",
			)
		})
	}
}

// linkOf puts a last word into the header of a pcap file.
func linkOf(file []byte, word uint32) []byte {
	binary.LittleEndian.PutUint32(file[20:], word)
	return file
}

// withFCS adds the frame check sequence.
func withFCS(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// What was captured where it is sent has no padding yet.
func TestUnpadded(t *testing.T) {
	out, err := run(pcap(t, pfc(nil)[:34], pfc(nil)[:26], pfc(nil)[:18], pause(0x1234)[:18], pfc(withTLV)[:40]), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"2 07:08:09.000001000 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"3 07:08:09.000002000 02:00:00:00:00:01 PFC 3:resume 4:resume",
		"4 07:08:09.000003000 02:00:00:00:00:01 802.3x PAUSE 4660",
		"5 07:08:09.000004000 02:00:00:00:00:01 PFC 3:65535 4:resume; padding is no ITSY TLV: itsyhdr: unknown version; want 1; it begins with fe 18 02 49 54 01 00 00",
		"5 frames: 4 PFC, 1 802.3x PAUSE, 0 ITSY messages, 0 malformed, 0 other; 1 PFC with padding that is no ITSY TLV",
	)
}

// A frame check sequence is known by its value, with or without tags, or by what the capture
// says of its length, and that may be right where only the frame itself was kept.
func TestFCS(t *testing.T) {
	lines := []string{
		"1 07:08:09.000000000 02:00:00:00:00:01 PFC 3:65535 4:resume; checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"2 07:08:09.000001000 02:00:00:00:00:01 ITSY message checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"3 07:08:09.000002000 02:00:00:00:00:01 vlan 100 priority 4 PFC 3:65535 4:resume",
		"4 frames: 2 PFC, 0 802.3x PAUSE, 1 ITSY message, 0 malformed, 1 other",
	}
	frames := [][]byte{withFCS(pfc(withTLV)), withFCS(message()), withFCS(tagged(pfc(nil), 0x8100, 0x8064)), withFCS(data())}
	out, err := run(pcap(t, frames...), decode.Options{})
	must(t, err)
	want(t, out, lines...)
	for _, b := range frames {
		b[len(b)-1]++ // the capture says it, whatever its value
	}
	out, err = run(linkOf(pcap(t, frames...), 0x24000001), decode.Options{})
	must(t, err)
	want(t, out, lines...)

	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	must(t, w.WriteFileHeader(60, layers.LinkTypeEthernet))
	ci := info(0, frames[0])
	ci.CaptureLength = 60
	must(t, w.WritePacket(ci, frames[0][:60]))
	out, err = run(linkOf(file.Bytes(), 0x24000001), decode.Options{})
	must(t, err)
	want(t, out, lines[0], "1 frame: 1 PFC, 0 802.3x PAUSE, 0 ITSY messages, 0 malformed, 0 other")
}

// A pcapng says the length of an FCS for an interface, in bits or octets, and for a packet, which
// counts more.
func TestFCSOfPcapng(t *testing.T) {
	frame := set(withFCS(pfc(withTLV)), 60, 0xde, 0xad, 0xbe, 0xef) // no CRC: only the capture tells
	of := func(length uint32) []byte { return block(1, join(ifaceBody, words(9|1<<16, 9, 13|1<<16, length, 0))) }
	packet := func(options ...uint32) []byte {
		return block(6, join(words(0, 0, 1, 64, 64), frame, words(options...)))
	}
	for _, tt := range []struct {
		name string
		file []byte
		read bool
	}{
		{"nobody says it", join(section, iface, packet()), false},
		{"interface, in bits", join(section, of(32), packet()), true},
		{"interface, in octets", join(section, of(4), packet()), true},
		{"interface says 0", join(section, of(0), packet()), false},
		{"packet", join(section, iface, packet(2|4<<16, 4<<5, 0)), true},
		{"packet, with a flag beside it that nobody has defined", join(section, iface, packet(2|4<<16, 4<<5|1<<9, 0)), true},
		{"packet and interface", join(section, of(16), packet(2|4<<16, 4<<5, 0)), true},
		{"packet does not know, interface does", join(section, of(32), packet(2|4<<16, 1, 0)), true},
		{"another interface", join(section, iface, of(32), packet()), false},
		{"interface of a section before", join(section, of(32), section, iface, packet()), false},
		{"option of a wrong length", join(section, block(1, join(ifaceBody, words(13|4<<16, 32, 0))), packet()), false},
	} {
		out, err := run(tt.file, decode.Options{})
		if read := strings.Contains(out, "PFC 3:65535 4:resume; checking priority 3 from 5.2"); read != tt.read || err != nil {
			t.Errorf("%s: error %v and\n%swant the frame read: %v", tt.name, err, out, tt.read)
		}
	}
}

// cooked is a frame as Linux's "any" has it, in both versions: of a kind (2 group, 4 sent),
// by hardware of a kind (1 Ethernet).
func cooked(frame []byte, kind, hardware byte) (sll, sll2 []byte) {
	sll = append([]byte{0, kind, 0, hardware, 0, 6}, frame[6:12]...)
	sll = append(sll, 0, 0, frame[12], frame[13])
	sll2 = append([]byte{frame[12], frame[13], 0, 0, 0, 0, 0, 7, 0, hardware, kind, 6}, frame[6:12]...)
	sll2 = append(sll2, 0, 0)
	return append(sll, frame[14:]...), append(sll2, frame[14:]...)
}

// Of a capture on "any" the destination is what the kind of packet and the EtherType say.
func TestCooked(t *testing.T) {
	var sll, sll2 [][]byte
	for _, c := range []struct {
		frame          []byte
		kind, hardware byte
	}{{pfc(withTLV), 2, 1}, {message(), 4, 1}, {pause(9)[:18], 0, 1}, {pfc(nil), 0, 1}, {pfc(nil), 2, 24}, {data(), 0, 1}} {
		a, b := cooked(c.frame, c.kind, c.hardware)
		sll, sll2 = append(sll, a), append(sll2, b)
	}
	sll, sll2 = append(sll, sll[0][:15]), append(sll2, sll2[0][:19])
	lines := func(iface string) []string {
		return []string{
			"1 07:08:09.000000000" + iface + " 02:00:00:00:00:01 PFC 3:65535 4:resume; checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
			"2 07:08:09.000001000" + iface + " 02:00:00:00:00:01 ITSY message checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
			"3 07:08:09.000002000" + iface + " 02:00:00:00:00:01 802.3x PAUSE 9",
			"4 07:08:09.000003000" + iface + " 02:00:00:00:00:01 MALFORMED: pfcframe: wrong destination address; want 01:80:c2:00:00:01; it is 00:00:00:00:00:00",
			"7 frames: 1 PFC, 1 802.3x PAUSE, 1 ITSY message, 1 malformed, 3 other",
		}
	}
	out, err := run(linkOf(pcap(t, sll...), 113), decode.Options{})
	must(t, err)
	want(t, out, lines("")...)
	out, err = run(linkOf(pcap(t, sll2...), 276), decode.Options{})
	must(t, err)
	want(t, out, lines(" if7")...)
	out, err = run(pcapng(t, []layers.LinkType{layers.LinkTypeLinuxSLL}, sll...), decode.Options{})
	must(t, err)
	want(t, out, lines(" eth0")...)
}

// What a snapshot length cuts off behind the timers is not missed; the rest is no frame.
func TestSnapped(t *testing.T) {
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	must(t, w.WriteFileHeader(60, layers.LinkTypeEthernet))
	for i, cut := range []struct {
		frame []byte
		kept  int
	}{
		{pfc(withTLV), 59},
		{pfc(nil), 34},
		{pfc(nil), 33},
		{tagged(pfc(nil), 0x8100, 0x8064), 38},
		{pause(7), 18},
		{pause(7), 17},
		{set(pfc(nil), 16, 1), 40},
		{append(pfc(nil), 0), 60},
		{message(), 40},
	} {
		ci := info(i, cut.frame)
		ci.CaptureLength = cut.kept
		must(t, w.WritePacket(ci, cut.frame[:cut.kept]))
	}
	const from = " 02:00:00:00:00:01 "
	out, err := run(file.Bytes(), decode.Options{Keys: auth.Keys{}})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000"+from+"PFC 3:65535 4:resume; only 59 of its 60 bytes were captured",
		"2 07:08:09.000001000"+from+"PFC 3:65535 4:resume; only 34 of its 60 bytes were captured",
		"3 07:08:09.000002000"+from+"MALFORMED: only 33 of its 60 bytes were captured",
		"4 07:08:09.000003000"+from+"vlan 100 priority 4 PFC 3:65535 4:resume; only 38 of its 64 bytes were captured",
		"5 07:08:09.000004000"+from+"802.3x PAUSE 7; only 18 of its 60 bytes were captured",
		"6 07:08:09.000005000"+from+"MALFORMED: only 17 of its 60 bytes were captured",
		"7 07:08:09.000006000"+from+"MALFORMED: pfcframe: reserved bits set in the upper octet of the class-enable vector; want 0; it is 0x01",
		"8 07:08:09.000007000"+from+"MALFORMED: only 60 of its 61 bytes were captured",
		"9 07:08:09.000008000"+from+"MALFORMED: only 40 of its 60 bytes were captured",
		"9 frames: 3 PFC, 1 802.3x PAUSE, 0 ITSY messages, 5 malformed, 0 other",
	)
	out, err = run(file.Bytes(), decode.Options{JSON: true})
	must(t, err)
	if first, _, _ := strings.Cut(out, "\n"); !strings.HasSuffix(first, `"quanta":0}],"captured":59}`) {
		t.Errorf("JSON of the first is %s, want that 59 octets of it were captured", first)
	}
}

// A jumbo frame is one among others.
func TestJumboFrame(t *testing.T) {
	jumbo := append(data(), make([]byte, 9130)...)
	lines := []string{
		"2 07:08:09.000001000%s 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"3 frames: 1 PFC, 0 802.3x PAUSE, 0 ITSY messages, 0 malformed, 2 other",
	}
	for name, file := range map[string][]byte{"": pcap(t, jumbo, pfc(nil), jumbo), " eth0": pcapng(t, ethernet, jumbo, pfc(nil), jumbo)} {
		out, err := run(file, decode.Options{})
		must(t, err)
		want(t, out, fmt.Sprintf(lines[0], name), lines[1])
	}
}

func TestShortFrameIsOther(t *testing.T) {
	out, err := run(pcap(t, []byte{1, 2, 3}, data()[:13]), decode.Options{})
	must(t, err)
	want(t, out, "2 frames: 0 PFC, 0 802.3x PAUSE, 0 ITSY messages, 0 malformed, 2 other")
}

func TestNoCapture(t *testing.T) {
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "decode: the input is empty"},
		{"one byte", []byte{0xa1}, "decode: not a capture: it begins with a1; want pcap"},
		{"text", []byte("no capture"), "decode: not a capture: it begins with 6e 6f 20 63; want pcap"},
		{"gzip", []byte{0x1f, 0x8b, 8, 0, 0, 0}, "decode: not a capture: it begins with 1f 8b 08 00; want pcap"},
		{"half a pcap header", pcap(t)[:20], "decode: in the pcap header: the capture is cut short here"},
		{"half a pcapng header", pcapng(t, ethernet)[:10], "decode: in the pcapng header: the capture is cut short here"},
		{"pcap of version 3", set(pcap(t), 4, 3), "decode: in the pcap header: "},
		{"pcap of radio", linkOf(pcap(t), 127), "decode: link type 127; valid: 1 (Ethernet), 113 (Linux cooked, SLL), 276 (SLL2)"},
		{"pcap of PROFIBUS, 256 + 1", linkOf(pcap(t), 257), "decode: link type 257; valid: 1 (Ethernet)"},
		{"the same, with the length of an FCS", linkOf(pcap(t), 0x24000101), "decode: link type 257; valid: 1 (Ethernet)"},
	} {
		for _, opt := range []decode.Options{{}, {JSON: true}} {
			out, err := run(tt.file, opt)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || out != "" {
				t.Errorf("%s, %+v: error %v and output %q, want an error beginning with %q and no output", tt.name, opt, err, out, tt.want)
			}
		}
	}
}

// TestCutShort cuts captures of two frames at every byte: only at the end of a
// packet is the result no error, and whole packets before the cut are printed.
func TestCutShort(t *testing.T) {
	for _, tt := range []struct {
		name string
		file func(frames ...[]byte) []byte
	}{
		{"pcap", func(frames ...[]byte) []byte { return pcap(t, frames...) }},
		{"pcapng", func(frames ...[]byte) []byte { return pcapng(t, ethernet, frames...) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ends := map[int]int{} // where a file may end -> packets
			for n := range 3 {
				ends[len(tt.file([][]byte{pfc(nil), message()}[:n]...))] = n
			}
			whole := tt.file(pfc(nil), message())
			packets := 0
			for cut := len(tt.file()); cut <= len(whole); cut++ {
				n, clean := ends[cut]
				if clean {
					packets = n
				}
				out, err := run(whole[:cut], decode.Options{JSON: true})
				wantErr := fmt.Sprintf("decode: packet %d: the capture is cut short here", packets+1)
				if clean != (err == nil) || err != nil && err.Error() != wantErr {
					t.Fatalf("cut at %d of %d: error %v, want %q: %v", cut, len(whole), err, wantErr, !clean)
				}
				if got := strings.Count(out, "\n"); got != packets {
					t.Fatalf("cut at %d of %d: %d lines, want %d", cut, len(whole), got, packets)
				}
			}
		})
	}
}

func TestCutShortSummary(t *testing.T) {
	file := pcap(t, pfc(nil), data(), message())
	out, err := run(file[:len(file)-1], decode.Options{})
	if err == nil || err.Error() != "decode: packet 3: the capture is cut short here" {
		t.Errorf("error %v, want one that names packet 3", err)
	}
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"2 frames: 1 PFC, 0 802.3x PAUSE, 0 ITSY messages, 0 malformed, 1 other",
	)
}

// block builds a little-endian pcapng block.
func block(typ uint32, body []byte) []byte {
	n := uint32(len(body) + 12)
	b := binary.LittleEndian.AppendUint32(nil, typ)
	b = binary.LittleEndian.AppendUint32(b, n)
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, n)
}

func words(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// Blocks of a plain capture: a section, and an Ethernet interface without options
// or limit.
var (
	section   = block(0x0a0d0d0a, words(0x1a2b3c4d, 1, 0xffffffff, 0xffffffff))
	ifaceBody = words(1, 0)
	iface     = block(1, ifaceBody)
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestDamagedPcapng(t *testing.T) {
	lie := func(b []byte, length uint32) []byte {
		b = bytes.Clone(b)
		binary.LittleEndian.PutUint32(b[4:], length)
		return b
	}
	enhanced := func(captured uint32) []byte {
		return block(6, append(words(0, 0, 0, captured, captured), pfc(nil)...))
	}
	const lengths = "the lengths of a pcapng block and of what it holds do not fit into each other"
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"byte order", join(set(bytes.Clone(section), 8, 9)), "in the pcapng header: a pcapng section has byte-order magic 09 3c 2b 1a"},
		{"version", join(set(bytes.Clone(section), 12, 9)), "in the pcapng header: "},
		{"no interface", join(section, enhanced(60)), "packet 1: Interface id 0 not present"},
		{"length 0", join(section, lie(iface, 0)), "packet 1: a pcapng block of type 0x1 says it has 0 bytes"},
		{"length of 4 GB", join(section, lie(iface, 0xfffffffc)), "packet 1: a pcapng block of type 0x1 says it has 4294967292 bytes"},
		{"odd length", join(section, lie(iface, 21)), "packet 1: a pcapng block of type 0x1 says it has 21 bytes"},
		{"two lengths", join(section, set(bytes.Clone(iface), 16, 24)), "packet 1: a pcapng block of type 0x1 says it has 20 bytes at its start and 24 at its end"},
		{"empty interface", join(section, block(1, nil)), "packet 1: " + lengths},
		{"captured length", join(section, iface, enhanced(61)), "packet 1: " + lengths},
		{"captured length of 4 GB", join(section, iface, enhanced(60), enhanced(1<<32-1)), "packet 2: " + lengths},
		{"simple packet", join(section, iface, block(3, append(words(64), pfc(nil)...))), "packet 1: " + lengths},
		{"option overruns", join(section, block(1, join(ifaceBody, words(2|100<<16)))), "packet 1: " + lengths},
		{"option overruns statistics", join(section, iface, block(5, words(0, 0, 0, 4|8<<16, 0))), "packet 1: " + lengths},
		{"end of options with a length", join(section, block(1, join(ifaceBody, words(4<<16, 0)))), "packet 1: End of Options must be zero length"},
		{"resolution 2^-64", join(section, block(1, join(ifaceBody, words(9|1<<16, 0xc0)))), "packet 1: Timestamp resolution 2^-64 is too high"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(tt.file, decode.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), "decode: "+tt.want) {
				t.Errorf("error %v, want one beginning with %q", err, "decode: "+tt.want)
			}
		})
	}
}

// TestOtherPcapng reads what NgWriter does not write: simple packets, which have no
// time, an interface without a name, a name that is no word, and a foreign block.
func TestOtherPcapng(t *testing.T) {
	named := block(1, join(ifaceBody, words(2|3<<16), []byte("a\nb\x00"), words(0)))
	out, err := run(join(
		section, iface, block(3, append(words(60), pfc(nil)...)), block(0xbad, words(1, 2, 3)),
		named, block(6, append(words(1, 0, 1, 60, 60), message()...)),
	), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 - if0 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"2 00:00:00.000001000 a?b 02:00:00:00:00:01 ITSY message checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12",
		"2 frames: 1 PFC, 0 802.3x PAUSE, 1 ITSY message, 0 malformed, 0 other",
	)
}

// TestBigEndian reads a section in the other byte order, after one in ours.
func TestBigEndian(t *testing.T) {
	swap := func(b []byte) []byte { // each word
		b = bytes.Clone(b)
		for i := 0; i < len(b); i += 4 {
			binary.BigEndian.PutUint32(b[i:], binary.LittleEndian.Uint32(b[i:]))
		}
		return b
	}
	other := swap(block(0x0a0d0d0a, words(0x1a2b3c4d, 1<<16, 0xffffffff, 0xffffffff)))
	packet := swap(block(6, append(words(0, 0, 2, 60, 60), swap(pause(1))...)))
	out, err := run(join(section, iface, block(6, append(words(0, 0, 1, 60, 60), pfc(nil)...)), other, swap(block(1, words(1<<16, 0))), packet), decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 00:00:00.000001000 if0 02:00:00:00:00:01 PFC 3:65535 4:resume",
		"2 00:00:00.000002000 if0 02:00:00:00:00:01 802.3x PAUSE 1",
		"2 frames: 1 PFC, 1 802.3x PAUSE, 0 ITSY messages, 0 malformed, 0 other",
	)
}

// TestLive: each frame's line is there before the next frame is written.
func TestLive(t *testing.T) {
	for name, file := range map[string]func(n int) []byte{
		"pcap":   func(n int) []byte { return pcap(t, [][]byte{pfc(nil), pause(1), message()}[:n]...) },
		"pcapng": func(n int) []byte { return pcapng(t, ethernet, [][]byte{pfc(nil), pause(1), message()}[:n]...) },
	} {
		t.Run(name, func(t *testing.T) {
			in, feed := io.Pipe()
			lines, out := io.Pipe()
			done := make(chan error, 1)
			go func() {
				err := decode.Decode(in, out, decode.Options{JSON: true})
				out.CloseWithError(io.EOF)
				done <- err
			}()
			records := json.NewDecoder(lines)
			sent := 0
			for n := 1; n <= 3; n++ {
				part := file(n)
				_, err := feed.Write(part[sent:])
				must(t, err)
				sent = len(part)
				var rec decode.Record
				must(t, records.Decode(&rec))
				if rec.Frame != n {
					t.Errorf("line of frame %d, want %d", rec.Frame, n)
				}
			}
			feed.Close()
			must(t, <-done)
		})
	}
}

type refuser struct{ err error }

func (r refuser) Write([]byte) (int, error) { return 0, r.err }

func TestWriteError(t *testing.T) {
	full := errors.New("disk full")
	for _, file := range [][]byte{pcap(t, pfc(nil), pfc(nil)), pcap(t)} {
		if err := decode.Decode(bytes.NewReader(file), refuser{full}, decode.Options{}); !errors.Is(err, full) {
			t.Errorf("error %v, want the writer's", err)
		}
	}
}

func TestReadError(t *testing.T) {
	gone := errors.New("disk gone")
	failing := func(file []byte) io.Reader { return io.MultiReader(bytes.NewReader(file), brokenReader{gone}) }
	for _, file := range [][]byte{nil, pcap(t, pfc(nil)), pcapng(t, ethernet, pfc(nil))} {
		if err := decode.Decode(failing(file), io.Discard, decode.Options{}); !errors.Is(err, gone) {
			t.Errorf("after %d bytes: error %v, want the reader's", len(file), err)
		}
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// FuzzDecode: whatever the file, no panic, every printed line whole, and the same
// frames in both forms.
func FuzzDecode(f *testing.F) {
	sll, sll2 := cooked(pfc(withTLV), 2, 1)
	f.Add(linkOf(pcap(f, sll, sll[:17], pause(1)[:18]), 113))
	f.Add(linkOf(pcap(f, sll2, sll2[:21]), 276))
	f.Add(linkOf(pcap(f, withFCS(pfc(nil)), pfc(nil)[:3]), 0x24000001))
	f.Add(join(section, block(1, join(ifaceBody, words(13|1<<16, 32, 0))), block(6, join(words(0, 0, 1, 64, 64), withFCS(pfc(nil)), words(2|4<<16, 4<<5, 0)))))
	f.Add(pcap(f, pfc(withTLV), tagged(message(), 0x8100, 7), pause(3), data()))
	f.Add(pcapng(f, ethernet, pfc(withTLV), message()[:50]))
	f.Add(join(section, iface, block(3, append(words(60), pfc(nil)...)), block(5, words(0, 0, 0))))
	f.Fuzz(func(t *testing.T, file []byte) {
		text, errText := run(file, decode.Options{})
		lines, errJSON := run(file, decode.Options{JSON: true})
		if fmt.Sprint(errText) != fmt.Sprint(errJSON) {
			t.Errorf("text: error %v, JSON: %v", errText, errJSON)
		}
		if n := strings.Count(lines, "\n"); text != "" && strings.Count(text, "\n") != n+1 {
			t.Errorf("%d lines of JSON, and of text\n%s", n, text)
		}
		for line := range strings.Lines(lines) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %s", line)
			}
		}
	})
}

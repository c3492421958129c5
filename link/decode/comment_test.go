package decode_test

import (
	"testing"

	"softswitch/detect/shpiner"
	"softswitch/itsyhdr"
	"softswitch/link/decode"
)

// credit is a message frame with a Credit Loop Control Message.
func credit(payload []byte) []byte {
	b := message()
	clear(b[14:])
	return append(b[:14], append(payload, b[14+len(payload):]...)...)
}

var (
	election = shpiner.AppendElection(nil, shpiner.Election{Priority: 3, SPUID: 0xdeadbeef})
	release  = shpiner.AppendPath(nil, shpiner.Path{
		Phase: shpiner.Release, Priority: 3, Nonce: 0x01020304, Index: 1,
		Hops: []shpiner.Hop{{SPUID: 0x0a0b0c0d, Egress: 2}, {SPUID: 7, Egress: 63}},
	})
	detection = shpiner.AppendPath(nil, shpiner.Path{Priority: 5, Nonce: 9, Index: 1, Hops: []shpiner.Hop{{SPUID: 1}}})
)

func TestComment(t *testing.T) {
	for _, tt := range []struct {
		frame []byte
		want  string
	}{
		{pfc(nil), "PFC: pause 3, resume 4"},
		{pfc(withTLV), "ITSY: pause 3, resume 4; " + tlv.String()},
		{set(pfc(nil), 17, 0), "PFC: of no priority"},
		{set(pfc(nil), 40, 1), "PFC: pause 3, resume 4; padding: itsyhdr: wrong TLV type; want 127"},
		{pfc(nil)[:30], "PFC: pause 3, resume 4"},
		{pfc(nil)[:17], "pfcframe: frame is shorter than 60 bytes"},
		{pause(7), "802.3x PAUSE"},
		{message(), "ITSY message: " + tlv.String()},
		{set(message(), 20, 0x23), "itsyhdr: unknown version; want 1"},
		{credit(election), "CLCM: election priority 3 SPUID deadbeef"},
		{credit(release), "CLCM: release priority 3 nonce 01020304 hop 1 of 2"},
		{credit(detection), "CLCM: detection priority 5 nonce 00000009 hops 1"},
		{set(credit(release), 26, 2), "clcm: index beyond the path; want the number of hops for a detection, less for a release"},
		{credit(itsyhdr.Rate{Priority: 3, Stage: 2}.Append(nil)), "GFC: rate priority 3 stage 2"},
		{lap(), "ITSY message: lap priority 3 from 5.2 rank 9 hops 3"},
		{set(quest(), 35, 65), "itsy: not a lap or quest as the detector writes it"},
		{data(), ""},
		{nil, ""},
	} {
		if got := decode.Comment(tt.frame); got != tt.want {
			t.Errorf("%x\n got %q\nwant %q", tt.frame, got, tt.want)
		}
	}
}

// lap and quest are these messages with nothing collected; docs/format/itsy.md has their octets.
func lap() []byte {
	return diagnosis(417, 1, 3<<5, 3)
}

func quest() []byte {
	return diagnosis(121, 2, 3<<5|2, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0, 2) // answered; about this flow
}

// diagnosis is a message of n octets from 5.2, rank 9, that begins with rest after its head.
func diagnosis(n int, kind, priorityFlags uint8, rest ...byte) []byte {
	payload := append([]byte{0xfe | uint8((n-2)>>8), uint8(n - 2), 0x02, 0x49, 0x54, 3, 1<<4 | kind, priorityFlags, 0, 5, 2, 0, 9}, rest...)
	return append(message()[:14], append(payload, make([]byte, n-len(payload))...)...)
}

func TestDiagnosis(t *testing.T) {
	file := pcap(t, lap(), quest(), set(lap(), 22, 0, 0))
	out, err := run(file, decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 ITSY message lap priority 3 from 5.2 rank 9 hops 3",
		"2 07:08:09.000001000 02:00:00:00:00:01 ITSY message quest priority 3 from 5.2 rank 9 about flow 0a0b0c0d hops 2, answered",
		"3 07:08:09.000002000 02:00:00:00:00:01 MALFORMED: itsy: not a lap or quest as the detector writes it; it begins with ff 9f 02 49 54 03 11 60",
		"3 frames: 0 PFC, 0 802.3x PAUSE, 2 ITSY messages, 1 malformed, 0 other",
	)
	out, err = run(file, decode.Options{JSON: true})
	must(t, err)
	want(
		t, out,
		`{"frame":1,"time":"2024-05-06T07:08:09.000000000Z","src":"02:00:00:00:00:01","kind":"diagnosis","diagnosis":{"kind":"lap","priority":3,"owner":{"node":5,"port":2},"rank":9,"hops":3}}`,
		`{"frame":2,"time":"2024-05-06T07:08:09.000001000Z","src":"02:00:00:00:00:01","kind":"diagnosis","diagnosis":{"kind":"quest","priority":3,"owner":{"node":5,"port":2},"rank":9,"hops":2,"about":168496141,"answered":true}}`,
		`{"frame":3,"time":"2024-05-06T07:08:09.000002000Z","src":"02:00:00:00:00:01","kind":"malformed","reason":"itsy: not a lap or quest as the detector writes it; it begins with ff 9f 02 49 54 03 11 60"}`,
	)
}

func TestCLCM(t *testing.T) {
	file := pcap(t, credit(election), credit(release), set(credit(election), 22, 0, 0, 0, 0))
	out, err := run(file, decode.Options{})
	must(t, err)
	want(
		t, out,
		"1 07:08:09.000000000 02:00:00:00:00:01 CLCM election priority 3 SPUID deadbeef",
		"2 07:08:09.000001000 02:00:00:00:00:01 CLCM release priority 3 nonce 01020304 hop 1 of 2",
		"3 07:08:09.000002000 02:00:00:00:00:01 MALFORMED: clcm: SPUID 0; want 1 or more; it begins with fe 0a 02 49 54 02 11 60",
		"3 frames: 0 PFC, 0 802.3x PAUSE, 0 ITSY messages, 1 malformed, 0 other; 2 CLCM",
	)
	out, err = run(file, decode.Options{JSON: true})
	must(t, err)
	want(
		t, out,
		`{"frame":1,"time":"2024-05-06T07:08:09.000000000Z","src":"02:00:00:00:00:01","kind":"clcm","clcm":{"kind":"election","priority":3,"spuid":"deadbeef"}}`,
		`{"frame":2,"time":"2024-05-06T07:08:09.000001000Z","src":"02:00:00:00:00:01","kind":"clcm","clcm":{"kind":"release","priority":3,"nonce":"01020304","index":1,"hops":[{"spuid":"0a0b0c0d","egress":2},{"spuid":"00000007","egress":63}]}}`,
		`{"frame":3,"time":"2024-05-06T07:08:09.000002000Z","src":"02:00:00:00:00:01","kind":"malformed","reason":"clcm: SPUID 0; want 1 or more; it begins with fe 0a 02 49 54 02 11 60"}`,
	)
}

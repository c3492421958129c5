package decode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"softswitch/link/decode"
	"softswitch/unit"
)

// TestNames: the names that the user has given are shown, but of a port whose interface the capture
// describes it is the interface's.
func TestNames(t *testing.T) {
	opt := decode.Options{Names: []decode.PortName{
		{Number: unit.NodePort{Node: 5, Port: 2}, MAC: 0x020000050002, Name: "s5:to-s7"},
		{Number: unit.NodePort{Node: 7, Port: 1}, MAC: 0x020000000001, Name: "s7:to-s5"},
		{MAC: 0x020000090000, Name: "h9:eth0"},
	}}
	host := pfc(nil)
	copy(host[6:], "\x02\x00\x00\x09\x00\x00")
	const head = " 07:08:09.00000"
	out, err := run(pcap(t, pfc(withTLV), message(), host, lap(), quest()), opt)
	must(t, err)
	want(
		t, out,
		"1"+head+"0000 s7:to-s5 PFC 3:65535 4:resume; checking priority 3 from s5:to-s7 (5.2) seq 9 trigger s7:to-s5 (7.1) hops 3 period 12",
		"2"+head+"1000 s7:to-s5 ITSY message checking priority 3 from s5:to-s7 (5.2) seq 9 trigger s7:to-s5 (7.1) hops 3 period 12",
		"3"+head+"2000 h9:eth0 PFC 3:65535 4:resume",
		"4"+head+"3000 s7:to-s5 ITSY message lap priority 3 from s5:to-s7 (5.2) rank 9 hops 3",
		"5"+head+"4000 s7:to-s5 ITSY message quest priority 3 from s5:to-s7 (5.2) rank 9 about flow 0a0b0c0d hops 2, answered",
		"5 frames: 2 PFC, 0 802.3x PAUSE, 3 ITSY messages, 0 malformed, 0 other",
	)

	described := block(1, join(ifaceBody, words(2|3<<16), []byte("a:b\x00"), words(3|15<<16), []byte("switch 5 port 2\x00"), words(0)))
	file := join(section, described, block(6, append(words(0, 0, 1, 60, 60), message()...)))
	for _, tt := range []struct {
		opt       decode.Options
		initiator string
		src       string
		trigger   string
	}{{decode.Options{}, "a:b", "", ""}, {opt, "a:b", "s7:to-s5", "s7:to-s5"}} {
		tt.opt.JSON = true
		out, err := run(file, tt.opt)
		must(t, err)
		var rec decode.Record
		must(t, json.Unmarshal([]byte(out), &rec))
		if rec.ITSY.Initiator.Name != tt.initiator || rec.ITSY.Trigger.Name != tt.trigger || rec.SrcName != tt.src {
			t.Errorf("with %d names: %s", len(tt.opt.Names), strings.TrimSpace(out))
		}
	}
}

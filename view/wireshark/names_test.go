package wireshark_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/itsyhdr"
	"softswitch/link/decode"
	"softswitch/link/pcapng"
	"softswitch/unit"
	"softswitch/view/wireshark"
)

// TestNames: a capture without names has those of the file in the preferences, also of who sends; what the
// capture itself says comes before.
func TestNames(t *testing.T) {
	var said strings.Builder
	dir := t.TempDir()
	err := wireshark.WriteNames(dir, "scenarios/ring.yaml", []decode.PortName{
		{Number: unit.NodePort{Node: 5, Port: 2}, MAC: 0x020000000005, Name: "s5:to-s6"},
		{Number: unit.NodePort{Node: 7, Port: 1}, MAC: 0x020000000007, Name: "s7:to-s5"},
		{MAC: 0x020000000009, Name: "h9:eth0"},
	}, &said)
	if err != nil {
		t.Fatal(err)
	}
	names := filepath.Join(dir, "ring.names")
	if !strings.Contains(said.String(), "-o itsy.names:"+names+"\n") {
		t.Errorf("it is not told how to choose it: %s", &said)
	}
	label := itsyhdr.TLV{
		Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9, Trigger: unit.NodePort{Node: 7, Port: 1}, Period: 12,
	}
	host, stranger := pfc(8, nil), pfc(8, nil)
	copy(host[6:], []byte{2, 0, 0, 0, 0, 9})
	copy(stranger[6:], []byte{2, 0, 0, 0, 0, 0x0a})
	other := message(tlv(label))
	copy(other, "\x02\x00\x00\x00\x00\x09") // none of ours
	text := strings.NewReplacer("from 5.2", "from %s (5.2)", "trigger 7.1", "trigger s7:to-s5 (7.1)").Replace(label.String())
	frames := []frame{
		{pcapng.Packet{Data: pfc(8, tlv(label))}, "s5:to-s6\t" + pauseInfo + text},
		{pcapng.Packet{Data: message(tlv(label))}, "s5:to-s6\t" + text},
		{pcapng.Packet{Data: host}, "h9:eth0\t" + strings.TrimSuffix(pauseInfo, "; ")},
		{pcapng.Packet{Data: stranger}, "\t" + strings.TrimSuffix(pauseInfo, "; ")},
		{pcapng.Packet{Data: other}, "\tLocal Experimental Ethertype 1"},
	}
	fields := []string{"-o itsy.names:" + names, "itsy.sender", "_ws.col.Info"}
	for name, in := range map[string]pcapng.Interface{
		"s5:to-s6":      {Name: "to-s6"}, // the file's
		"core0:to-agg0": {Name: "core0:to-agg0", Description: "switch 5 port 2"},
	} {
		these := slices.Clone(frames)
		for i := range these {
			these[i].want = strings.Replace(these[i].want, "%s", name, 1)
		}
		wantLines(t, tshark(t, writeCaptureOn(t, in, these), fields...), these)
	}
}

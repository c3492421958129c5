package wireshark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/link/decode"
	"softswitch/link/pcapng"
	"softswitch/unit"
	"softswitch/view/wireshark"
)

// TestMissingFiles: a file that a preference names and that cannot be read is reported.
func TestMissingFiles(t *testing.T) {
	testkit.Need(t, "tshark")
	file := writeCapture(t, []frame{{Packet: pcapng.Packet{Data: pfc(8, tlv(itsyhdr.TLV{Priority: 3}))}}})
	for _, preference := range []string{"itsy.names", "itsy.keys"} {
		cmd := exec.Command("tshark", "-X", "lua_script:itsy.lua", "-o", preference+":/nonexistent", "-r", file)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "itsy: /nonexistent: No such file or directory") || !strings.Contains(string(out), "period priority 3") {
			t.Errorf("%s: %v: %s", preference, err, out)
		}
	}
}

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
		wantLines(t, tshark(t, writeCaptureOn(t, []pcapng.Interface{in}, these), fields...), these)
	}
}

// TestNamesOfInterfaces: a pause without a label, such as a host's, tells the name of its interface.
func TestNamesOfInterfaces(t *testing.T) {
	interfaces := []pcapng.Interface{{Name: "s5:to-s7", Description: "switch 5 port 2"}, {Name: "s7:to-h9", Description: "switch 7 port 1"}}
	label := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9, Trigger: unit.NodePort{Node: 7, Port: 1}}
	text := strings.NewReplacer("5.2", "s5:to-s7 (5.2)", "7.1", "s7:to-h9 (7.1)").Replace(label.String())
	frames := []frame{
		{pcapng.Packet{Interface: 1, Data: pfc(8, nil)}, strings.TrimSuffix(pauseInfo, "; ")},
		{pcapng.Packet{Data: pfc(8, tlv(label))}, pauseInfo + text},
	}
	wantLines(t, tshark(t, writeCaptureOn(t, interfaces, frames), "_ws.col.Info"), frames)
}

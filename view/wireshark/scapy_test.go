package wireshark_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScapy: frames that scapy made, from the documents of the formats alone, are shown as
// scapy meant them, and those that it damaged are marked.
func TestScapy(t *testing.T) {
	const python = "/usr/bin/python3"
	seed := rand.Uint32()
	t.Logf("seed %d", seed)
	file := filepath.Join(t.TempDir(), "scapy.pcap")
	cmd := exec.Command(python, "testdata/frames.py", file, fmt.Sprint(seed))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(stderr.String(), "No module named 'scapy'") {
		t.Skipf("%s has no scapy (Debian package python3-scapy): %v", python, err)
	}
	if err != nil {
		t.Fatalf("scapy: %v: %s", err, &stderr)
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	got := tshark(
		t, file, "_ws.col.Protocol", "itsy.kind", "itsy.priority", "itsy.initiator.node", "itsy.initiator.port", "itsy.seq",
		"itsy.trigger.node", "itsy.trigger.port", "itsy.hops", "itsy.period", "itsy.malformed", "clcm.malformed", "clcm.spuid", "_ws.malformed",
	)
	if len(got) != len(want) || len(want) < 400 {
		t.Fatalf("tshark prints %d lines, scapy %d", len(got), len(want))
	}
	for i, line := range got {
		f := strings.Split(line, "\t")
		malformed, judged := f[10]+f[11], "whole"
		if malformed != "" {
			judged = "malformed"
		}
		if judged == "malformed" && f[0] != "CLCM" { // of what is refused, what was read before does not count
			for i := range 9 {
				f[1+i] = ""
			}
		}
		if (f[13] != "") != (malformed != "") {
			t.Errorf("frame %d is %s, but Wireshark's own mark is %q", i+1, judged, f[13])
		}
		if f[0] == "CLCM" && judged == "whole" && f[12] == "" {
			t.Errorf("frame %d: a CLCM without an SPUID", i+1)
		}
		if got := strings.Join(f[:10], "\t") + "\t" + judged; got != want[i] {
			t.Errorf("frame %d:\ntshark %q\nscapy  %q", i+1, got, want[i])
		}
	}
}

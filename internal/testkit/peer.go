package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Tshark runs `tshark -n -r file args...` and returns what it prints, a line an element.
func Tshark(t *testing.T, file string, args ...string) []string {
	t.Helper()
	Need(t, "tshark")
	return lines(t, exec.Command("tshark", append([]string{"-n", "-r", file}, args...)...))
}

// Scapy runs a Python program that imports from module of scapy, with args, and returns what
// it prints, a line an element. It is Debian's python3, which is the one that has scapy.
func Scapy(t *testing.T, module, program string, args ...string) []string {
	t.Helper()
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Skipf("%s has no %s (Debian package python3-scapy): %v", python, module, err)
	}
	return lines(t, exec.Command(python, append([]string{"-c", program}, args...)...))
}

// ICRCs counts the RoCEv2 packets of a capture, pcap or pcapng, by scapy, and those whose ICRC
// is not the one that scapy computes. What a UDP flow sends to RoCEv2's port does not count.
func ICRCs(t *testing.T, file string) (packets, wrong int) {
	t.Helper()
	out := Scapy(t, "scapy.contrib.roce", `
import sys
from scapy.all import PcapReader, raw
from scapy.contrib.roce import BTH
packets = wrong = 0
for p in PcapReader(sys.argv[1]):
    if BTH in p and p[BTH].opcode in (6, 7, 8, 10, 17, 129):
        q = p.copy()
        q[BTH].icrc = None
        packets, wrong = packets + 1, wrong + (raw(q) != raw(p))
print(packets, wrong)
`, file)
	if _, err := fmt.Sscan(strings.Join(out, "\n"), &packets, &wrong); err != nil {
		t.Fatalf("scapy prints %q: %v", out, err)
	}
	return packets, wrong
}

// lines runs a command, and returns the lines of its standard output.
func lines(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRDMA: on namespaces connections transfer all that they have, switches mark, receivers
// notify, and others read every packet and find its ICRC right.
func TestRDMA(t *testing.T) {
	b := newBed(t)
	pcap := t.TempDir()
	v, r := b.play("testdata/rdma.yaml", "--pcap", pcap)
	if r.code != 0 || !v.ExpectedMet {
		t.Fatalf("exit status %d, verdict %s", r.code, r.stdout)
	}
	for _, f := range v.Flows {
		m := f.Messages
		if m.Done != 16 || m.Bytes != 1_000_000 || m.Completion == 0 || m.Slowdown < 1 || m.Again != 0 || m.Marked == 0 || m.CNPs == 0 {
			t.Errorf("flow %s: %+v", f.Name, m)
		}
	}
	file := filepath.Join(pcap, "s1.pcapng")
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip(err)
	}
	count := map[string]int{}
	for _, line := range outputLines(t, "tshark", "-n", "-r", file, "-Y", "udp.port == 4791", "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed") {
		count[strings.TrimSpace(line)]++
	}
	// Write first, middle, last, acknowledge, CNP.
	for _, opcode := range []string{"6", "7", "8", "17", "129"} {
		if count[opcode] == 0 {
			t.Errorf("no packet has the opcode %s", opcode)
		}
		delete(count, opcode)
	}
	if len(count) != 0 {
		t.Errorf("and there are %v", count)
	}
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import scapy.contrib.roce").Run(); err != nil {
		t.Skipf("%s has no scapy (Debian package python3-scapy): %v", python, err)
	}
	out := outputLines(t, python, "-c", `
import sys
from scapy.all import PcapNgReader, raw
from scapy.contrib.roce import BTH
n = bad = 0
for p in PcapNgReader(sys.argv[1]):
    if BTH in p:
        q = p.copy()
        q[BTH].icrc = None
        n, bad = n + 1, bad + (raw(q) != raw(p))
print(n, bad)
`, file)
	if n, bad, _ := strings.Cut(out[len(out)-1], " "); len(n) < 4 || bad != "0" {
		t.Errorf("scapy sees %s packets, %s with a wrong ICRC", n, bad)
	}
	b.wantNothing()
}

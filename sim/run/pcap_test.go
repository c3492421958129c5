package run

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
)

const rdma = `
name: rdma
topology: {switches: [s1, s2], hosts: [a, b, c], links: [a--s1, b--s1, s1--s2, s2--c], rate: 10Gbit/s, delay: 1us}
flows:
  - {name: A, from: a, to: c, transport: rc, size: 100000}
  - {name: B, from: b, to: c, transport: rc, size: 50001}
  - {name: C, from: b, to: c, frame: 100, rate: 10Mbit/s}
duration: 1ms
`

// capture plays a scenario and returns the file of its frames.
func capture(t *testing.T, text string) string {
	t.Helper()
	plan, err := load.Plan("rdma.yaml", []byte(text), load.Instead{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sim.pcapng")
	if err := Play(t.Context(), plan, Options{Seed: 1, Pcap: file}, io.Discard, func(*verdict.Verdict) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return file
}

// Others read the capture of a simulation: every frame is whole, and every ICRC right.
func TestCaptureOfSimulation(t *testing.T) {
	file := capture(t, rdma)
	count := map[string]int{}
	for line := range strings.Lines(peer(t, "tshark", "-n", "-r", file, "-T", "fields", "-e", "_ws.col.Protocol", "-e", "_ws.malformed")) {
		count[strings.TrimSpace(line)]++
	}
	// 98 packets and 49 of B over 3 links, with an acknowledgement of each message and of
	// every 16th packet.
	if count["RRoCE"] < 3*(98+49)+3*3 || count["MAC CTRL"] == 0 || len(count) > 3 {
		t.Errorf("tshark sees %v", count)
	}
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import scapy.contrib.roce").Run(); err != nil {
		t.Skipf("%s has no scapy (Debian package python3-scapy): %v", python, err)
	}
	out := peer(t, python, "-c", `
import sys
from scapy.all import PcapNgReader, raw
from scapy.contrib.roce import BTH
n = bad = 0
for p in PcapNgReader(sys.argv[1]):
    if BTH in p and p[BTH].opcode in (6, 7, 8, 10, 17): # not those of the UDP flow
        q = p.copy()
        q[BTH].icrc = None
        n, bad = n + 1, bad + (raw(q) != raw(p))
print(n, bad)
`, file)
	if n, bad, _ := strings.Cut(strings.TrimSpace(out), " "); n == "0" || bad != "0" {
		t.Errorf("scapy sees %s packets, %s with a wrong ICRC", n, bad)
	}
}

func TestCaptureOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	plan, err := load.Plan("rdma.yaml", []byte(rdma), load.Instead{})
	if err != nil {
		t.Fatal(err)
	}
	err = Play(t.Context(), plan, Options{Seed: 1, Pcap: "/dev/full"}, io.Discard, func(*verdict.Verdict) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "pcap: ") {
		t.Errorf("onto a full disk: %v", err)
	}
}

// peer runs somebody else's program and returns what it prints.
func peer(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return string(out)
}

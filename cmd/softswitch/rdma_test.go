package main

import (
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// TestRDMA: on namespaces connections transfer all that they have, switches mark, receivers
// notify, and others read every packet and find its ICRC right.
func TestRDMA(t *testing.T) {
	b := newBed(t)
	pcap := t.TempDir()
	v, r := b.play("testdata/rdma.yaml", "--set", "duration=1500ms", "--pcap", pcap)
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
	count := map[string]int{}
	for _, line := range testkit.Tshark(t, file, "-Y", "udp.port == 4791", "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed") {
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
	if packets, wrong := testkit.ICRCs(t, file); packets < 1000 || wrong != 0 {
		t.Errorf("scapy sees %d packets, %d with a wrong ICRC", packets, wrong)
	}
	b.wantNothing()
}

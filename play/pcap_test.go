package play

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/testkit"
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
	if err := Sim(t.Context(), plan, SimOptions{Seed: 1, Pcap: file}, io.Discard, func(*verdict.Verdict) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return file
}

// Others read the capture of a simulation: every frame is whole, and every ICRC right.
func TestCaptureOfSimulation(t *testing.T) {
	file := capture(t, rdma)
	count := map[string]int{}
	for _, line := range testkit.Tshark(t, file, "-T", "fields", "-e", "_ws.col.Protocol", "-e", "_ws.malformed") {
		count[strings.TrimSpace(line)]++
	}
	// 98 packets and 49 of B over 3 links, with an acknowledgement of each message and of
	// every 16th packet.
	const least = 3*(98+49) + 3*3
	if count["RRoCE"] < least || count["MAC CTRL"] == 0 || len(count) > 3 {
		t.Errorf("tshark sees %v", count)
	}
	if packets, wrong := testkit.ICRCs(t, file); packets < least || wrong != 0 {
		t.Errorf("scapy sees %d packets, %d with a wrong ICRC; want %d or more and 0", packets, wrong, least)
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
	err = Sim(t.Context(), plan, SimOptions{Seed: 1, Pcap: "/dev/full"}, io.Discard, func(*verdict.Verdict) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "pcap: ") {
		t.Errorf("onto a full disk: %v", err)
	}
}

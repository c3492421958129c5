package host

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/internal/testseed"
)

// Every frame of connections that lose packets is whole to Wireshark's InfiniBand dissector,
// and scapy, which computes the ICRC by itself, finds none that is wrong.
func TestOthersReadConnections(t *testing.T) {
	r := rand.New(rand.NewPCG(testseed.New(t), 0))
	p := connect(t, connection(1, 10_001, 500_000), connection(2, 777, 100_000), connection(3, 1, 100))
	p.lose = func([]byte) bool { return r.IntN(100) == 0 }
	p.run(2_000 * ms)
	file := filepath.Join(t.TempDir(), "rc.pcap")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.frames) < 700 {
		t.Fatalf("%d frames", len(p.frames))
	}
	t.Run("tshark", func(t *testing.T) {
		out := peer(t, "tshark", "-n", "-r", file, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.aeth.syndrome", "-e", "_ws.malformed", "-e", "_ws.expert.severity")
		count := map[string]int{}
		for line := range strings.Lines(out) {
			count[strings.TrimSuffix(line, "\n")]++
		}
		for _, want := range []string{"6\t\t\t", "7\t\t\t", "8\t\t\t", "10\t\t\t", "17\t31\t\t", "17\t96\t\t"} {
			if count[want] == 0 {
				t.Errorf("no packet is %q", want)
			}
			delete(count, want)
		}
		if len(count) != 0 {
			t.Errorf("and there are %v", count)
		}
	})
	t.Run("scapy", func(t *testing.T) {
		const python = "/usr/bin/python3"
		if err := exec.Command(python, "-c", "import scapy.contrib.roce").Run(); err != nil {
			t.Skipf("%s has no scapy (Debian package python3-scapy): %v", python, err)
		}
		out := peer(t, python, "-c", `
import sys
from scapy.all import rdpcap, Ether, raw
from scapy.contrib.roce import BTH
frames = wrong = 0
for p in rdpcap(sys.argv[1]):
    b = raw(p)
    bth = p[BTH]
    frames += 1
    q = p.copy()
    q[BTH].icrc = None
    if raw(q) != b:
        wrong += 1
print(frames, wrong)
`, file)
		var frames, wrong int
		if _, err := fmt.Sscan(out, &frames, &wrong); err != nil || frames != len(p.frames) || wrong != 0 {
			t.Errorf("scapy says %q; want %d frames and 0 wrong", out, len(p.frames))
		}
	})
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
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}
	return string(out)
}

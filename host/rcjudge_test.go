package host

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/host/roce"
	"softswitch/internal/testkit"
)

// Every frame of connections that lose packets is whole to Wireshark's InfiniBand dissector,
// and scapy, which computes the ICRC by itself, finds none that is wrong.
func TestOthersReadConnections(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	p := connect(t, connection(1, 10_001, 500_000), connection(2, 777, 100_000), connection(3, 1, 100))
	// Packets after which others of their message come, which bring a NAK: of a life that has not begun without
	// the first packet, of a sequence error later.
	missed := map[roce.Opcode]bool{}
	p.lose = func(b []byte) bool {
		if op := roce.Opcode(b[headerLen]); (op == roce.WriteFirst || op == roce.WriteMiddle) && !missed[op] {
			missed[op] = true
			return true
		}
		return r.IntN(100) == 0
	}
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
		count := map[string]int{}
		for _, line := range testkit.Tshark(t, file, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.aeth.syndrome", "-e", "_ws.malformed", "-e", "_ws.expert.severity") {
			count[line]++
		}
		for _, want := range []string{"6\t\t\t", "7\t\t\t", "8\t\t\t", "10\t\t\t", "17\t31\t\t", "17\t96\t\t", "17\t99\t\t"} {
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
		if packets, wrong := testkit.ICRCs(t, file); packets != len(p.frames) || wrong != 0 {
			t.Errorf("scapy sees %d packets, %d with a wrong ICRC; want %d and 0", packets, wrong, len(p.frames))
		}
	})
}

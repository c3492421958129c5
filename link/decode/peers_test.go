package decode_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/link/decode"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// The tests of this file hold our frames against two codecs that others wrote:
// Wireshark's and scapy's.

// tshark reads file and prints fields of the frames that filter selects, one line
// a frame, tabs between.
func tshark(t *testing.T, file, filter string, fields ...string) string {
	t.Helper()
	args := []string{"-Y", filter, "-T", "fields"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	return text(testkit.Tshark(t, file, args...))
}

// scapy runs a Python program that has scapy's MAC Control layers.
func scapy(t *testing.T, program string, args ...string) string {
	t.Helper()
	const imports = "from scapy.all import Ether, rdpcap, wrpcap\nfrom scapy.contrib.mac_control import *\nimport sys\n"
	return text(testkit.Scapy(t, "scapy.contrib.mac_control", imports+program, args...))
}

// text is lines as they were printed.
func text(lines []string) (all string) {
	for _, line := range lines {
		all += line + "\n"
	}
	return all
}

// ours writes a capture of one frame of each kind that we send.
func ours(t *testing.T) (file string) {
	t.Helper()
	all := make([]byte, pfcframe.Len)
	pfcframe.Put(all, pfcframe.Frame{Src: src, Enable: 0xff, Quanta: [8]uint16{1, 2, 3, 4, 5, 6, 7, 8}})
	file = filepath.Join(t.TempDir(), "ours.pcap")
	must(t, os.WriteFile(file, pcap(t, pfc(nil), pfc(withTLV), all, message()), 0o600))
	return file
}

func TestTsharkReadsOurs(t *testing.T) {
	file := ours(t)
	want(
		t, tshark(t, file, "macc", "frame.number", "eth.dst", "eth.src", "macc.opcode", "macc.cbfc.enbv",
			"macc.cbfc.pause_time.c3", "macc.cbfc.pause_time.c4"),
		"1\t01:80:c2:00:00:01\t02:00:00:00:00:01\t0x0101\t0x0018\t65535\t0",
		"2\t01:80:c2:00:00:01\t02:00:00:00:00:01\t0x0101\t0x0018\t65535\t0",
		"3\t01:80:c2:00:00:01\t02:00:00:00:00:01\t0x0101\t0x00ff\t4\t5",
	)
	want(
		t, tshark(t, file, "frame.number == 3", "macc.cbfc.pause_time.c0", "macc.cbfc.pause_time.c1", "macc.cbfc.pause_time.c2",
			"macc.cbfc.pause_time.c5", "macc.cbfc.pause_time.c6", "macc.cbfc.pause_time.c7"),
		"1\t2\t3\t6\t7\t8",
	)
	want(t, tshark(t, file, "eth.type == 0x88b5", "frame.number", "eth.dst"), "4\t01:80:c2:00:00:0e")
	if bad := tshark(t, file, "_ws.malformed", "frame.number"); bad != "" {
		t.Errorf("tshark calls these frames malformed: %s", strings.Fields(bad))
	}
}

func TestScapyReadsOurs(t *testing.T) {
	const program = `
for p in rdpcap(sys.argv[1]):
    c = p.getlayer(MACControlClassBasedFlowControl)
    if c is None:
        print(p.dst, hex(p.type), bytes(p.payload)[:26].hex())
        continue
    on = "".join(str(i) for i in range(8) if getattr(c, "c%d_enabled" % i))
    print(p.dst, p.src, on, [getattr(c, "c%d_pause_time" % i) for i in range(8)], c._reserved, bytes(c.payload).hex())
`
	const itsy = "fe18024954011160000502000900070103"
	zeros := strings.Repeat("00", 26)
	want(
		t, scapy(t, program, ours(t)),
		"01:80:c2:00:00:01 02:00:00:00:00:01 34 [0, 0, 0, 65535, 0, 0, 0, 0] 0 "+zeros,
		"01:80:c2:00:00:01 02:00:00:00:00:01 34 [0, 0, 0, 65535, 0, 0, 0, 0] 0 "+itsy+"0c"+zeros[:16],
		"01:80:c2:00:00:01 02:00:00:00:00:01 01234567 [1, 2, 3, 4, 5, 6, 7, 8] 0 "+zeros,
		"01:80:c2:00:00:0e 0x88b5 "+itsy+"0c"+zeros[:16],
	)
}

func TestWeReadScapy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scapy.pcap")
	scapy(t, `
head = dict(dst=MACControl.DEFAULT_DST_MAC, src="02:00:00:00:00:0a")
frames = [
    Ether(**head) / MACControlClassBasedFlowControl(c3_enabled=1, c3_pause_time=65535, c7_enabled=1, c7_pause_time=7),
    Ether(**head) / MACControlClassBasedFlowControl(c0_enabled=1),
    Ether(**head) / MACControlPause(pause_time=0x1234),
    Ether(**head) / Dot1Q(vlan=5, prio=3) / MACControlClassBasedFlowControl(c4_enabled=1, c4_pause_time=9),
    Ether(**head) / MACControlGate(timestamp=1),
    Ether(**head) / MACControlClassBasedFlowControl(_reserved=1, c3_enabled=1),
]
for f in frames:
    f.time = 1
wrpcap(sys.argv[1], frames)
`, file)
	b, err := os.ReadFile(file)
	must(t, err)
	out, err := run(b, decode.Options{})
	must(t, err)
	const head = " 00:00:01.000000000 02:00:00:00:00:0a "
	want(
		t, out,
		"1"+head+"PFC 3:65535 7:7",
		"2"+head+"PFC 0:resume",
		"3"+head+"802.3x PAUSE 4660",
		"4"+head+"vlan 5 priority 3 PFC 4:9",
		"5"+head+"MALFORMED: pfcframe: unknown opcode; want PFC (0x0101) or PAUSE (0x0001); it is 0x0002",
		"6"+head+"MALFORMED: pfcframe: reserved bits set in the upper octet of the class-enable vector; want 0; it is 0x01",
		"6 frames: 3 PFC, 1 802.3x PAUSE, 0 ITSY messages, 2 malformed, 0 other",
	)
}

// Wireshark reads what no MAC has padded, what ends with an FCS, what was cut behind its timers and
// what was captured on "any" as we do.
func TestTsharkReadsOtherForms(t *testing.T) {
	sll, sll2 := cooked(pfc(nil), 2, 1)
	for name, file := range map[string][]byte{
		"not padded": pcap(t, pfc(nil)[:34]),
		"with FCS":   pcap(t, withFCS(pfc(nil))),
		"FCS told":   linkOf(pcap(t, withFCS(pfc(nil))), 0x24000001),
		"SLL":        linkOf(pcap(t, sll), 113),
		"SLL2":       linkOf(pcap(t, sll2), 276),
		"big-endian": form{Order: "big", File: "pcap in ns", Link: 1, Behind: "FCS of file"}.write(pfc(nil), start),
		"pcapng":     form{Order: "big", File: "pcapng", Link: 1, Behind: "FCS of file"}.write(pfc(nil), start),
		"packet":     form{Order: "big", File: "pcapng", Link: 1, Behind: "FCS of packet", OtherTail: true}.write(pfc(nil), start),
		"tagged":     form{Order: "little", File: "pcap", Link: 113, Behind: "nothing"}.write(tagged(pfc(nil), 0x8100, 0x8064), start),
		"cut":        set(pcap(t, pfc(nil)[:34]), 36, 60),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "other.pcap")
			must(t, os.WriteFile(path, file, 0o600))
			want(t, tshark(t, path, "macc", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3", "macc.cbfc.pause_time.c4"), "0x0018\t65535\t0")
			out, err := run(file, decode.Options{})
			must(t, err)
			if !strings.Contains(out, "PFC 3:65535 4:resume") {
				t.Errorf("decode: %s", out)
			}
		})
	}
}

// TestScapyBytes compares frames octet by octet, both made from the same values.
func TestScapyBytes(t *testing.T) {
	out := scapy(t, `
for on in range(256):
    args = {"c%d_enabled" % i: on >> i & 1 for i in range(8)}
    args.update({"c%d_pause_time" % i: on * 257 ^ i * 0x1111 for i in range(8)})
    print(bytes(Ether(dst=MACControl.DEFAULT_DST_MAC, src="02:00:00:00:00:01") / MACControlClassBasedFlowControl(**args)).hex())
`)
	theirs := strings.Fields(out)
	if len(theirs) != 256 {
		t.Fatalf("scapy made %d frames, want 256", len(theirs))
	}
	for on, hexed := range theirs {
		f := pfcframe.Frame{Src: src, Enable: unit.PrioritySet(on)}
		for c := range f.Quanta {
			f.Quanta[c] = uint16(on*257 ^ c*0x1111)
		}
		b := make([]byte, pfcframe.Len)
		pfcframe.Put(b, f)
		if got := hex.EncodeToString(b); got != hexed {
			t.Fatalf("enable %#02x:\nours   %s\nscapy  %s", on, got, hexed)
		}
	}
}

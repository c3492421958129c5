package lldp

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// writeCapture writes frames into a capture.
func writeCapture(t *testing.T, frames ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lldp.pcap")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := pcapgo.NewWriter(file)
	if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(f), Length: len(f)}, f); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestTsharkReadsOurs: Wireshark reads what this end says of its priorities.
func TestTsharkReadsOurs(t *testing.T) {
	c := says("s1", 1<<3|1<<6)
	file := writeCapture(t, New(c).Append(start, nil))
	fields := []string{
		"lldp.chassis.id.mac", "lldp.port.id", "lldp.time_to_live", "lldp.tlv.system.name", "lldp.port.desc",
		"lldp.dcbx.ieee.pfc.numtcs",
		"_ws.malformed",
	}
	args := []string{"-T", "fields"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	got := testkit.Tshark(t, file, args...)
	if len(got) != 1 {
		t.Fatalf("tshark: %q", got)
	}
	if want := "02:00:00:00:01:00\tto-s1\t121\ts1\tto-s1\t8\t"; got[0] != want {
		t.Errorf("tshark %q\nwant   %q", got[0], want)
	}
	detail := strings.Join(testkit.Tshark(t, file, "-V"), "\n")
	for _, want := range []string{
		"Application Priority: 3", "Application Selector: Port over UDP/DCCP (3)", "Application Protocol Id: 0x12b7", "PFC for Priority 3: Enabled", "PFC for Priority 4: Disabled", "PFC for Priority 6: Enabled", "Willing: No",
		"IEEE - ETS Configuration", "IEEE - ETS Recommendation", "Bandwidth for PGID 0: 33", "Bandwidth for PGID 2: 34",
		"TSA for Traffic Class 0: Enhanced Transmission Selection (2)", "TSA for Traffic Class 3: Strict Priority (0)", "Router: Capable", "End of LLDPDU",
	} {
		if !strings.Contains(detail, want) {
			t.Errorf("tshark does not say %q", want)
		}
	}
}

// TestReadsScapys: this end reads what scapy's LLDP layers make.
func TestReadsScapys(t *testing.T) {
	const program = `
from scapy.all import Ether
from scapy.contrib.lldp import *
from binascii import hexlify
def org(subtype, data):
    return LLDPDUGenericOrganisationSpecific(org_code=0x0080c2, subtype=subtype, data=data)
ets = b"\x01\x23\x45\x67" + bytes([0, 40, 60, 0, 0, 0, 0, 0]) + bytes([0, 2, 2, 0, 0, 0, 0, 0])
print(hexlify(bytes(Ether(src="02:00:00:00:02:01", dst="01:80:c2:00:00:0e")
    / LLDPDUChassisID(subtype=7, id=b"rack 7") / LLDPDUPortID(subtype=3, id="02:00:00:00:02:01") / LLDPDUTimeToLive(ttl=20)
    / LLDPDUSystemName(system_name=b"leaf") / LLDPDUPortDescription(description=b"uplink")
    / LLDPDUSystemCapabilities(mac_bridge_available=1, router_available=1, mac_bridge_enabled=1)
    / org(9, b"\x80" + ets) / org(10, b"\x00" + ets) / org(11, b"\xc4\x50") / org(12, b"\x00\x81\x89\x06\xa3\x12\xb7") / LLDPDUEndOfLLDPDU())).decode())
`
	lines := testkit.Scapy(t, "scapy.contrib.lldp", program)
	frame, err := hex.DecodeString(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if !Is(frame) {
		t.Fatalf("no LLDP: %x", frame)
	}
	a := New(says("s1", 1<<3))
	receive(t, a, start, frame)
	n := a.Neighbours()[0]
	if n.Chassis != "rack 7" || n.Port != "02:00:00:00:02:01" || n.System != "leaf" || n.PortDescription != "uplink" || n.Capabilities != Bridge || n.Until != start+20*second {
		t.Errorf("%+v", n)
	}
	ets := ETS{Class: [unit.Priorities]uint8{0, 1, 2, 3, 4, 5, 6, 7}, Bandwidth: [unit.Priorities]uint8{1: 40, 2: 60}, TSA: [unit.Priorities]TSA{1: Enhanced, 2: Enhanced}}
	if *n.DCBX.Recommends != ets {
		t.Errorf("recommends %+v, want %+v", *n.DCBX.Recommends, ets)
	}
	ets.Willing, ets.Max = true, 8
	if *n.DCBX.ETS != ets {
		t.Errorf("ETS %+v, want %+v", *n.DCBX.ETS, ets)
	}
	if n.DCBX.RoCE == nil || *n.DCBX.RoCE != 5 {
		t.Errorf("RoCEv2 %v, want 5", n.DCBX.RoCE)
	}
	if want := (PFC{Willing: true, MBC: true, Cap: 4, Enable: 1<<4 | 1<<6}); *n.DCBX.PFC != want {
		t.Errorf("PFC %+v, want %+v", *n.DCBX.PFC, want)
	}
}

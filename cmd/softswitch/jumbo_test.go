package main

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
)

// jumboLab has two hosts that send frames of 9230 bytes through two switches, and two for
// programs.
const jumboLab = `
name: jumbo
topology:
  switches: [s1, s2]
  hosts: [h1, h2, n1, n2]
  links: [s1--h1, s1--n1, s1--s2, s2--h2, s2--n2]
  rate: 50Mbit/s
  mtu: 9216
nics: [n1, n2]
flows:
  - {name: A, from: h1, to: h2, rate: 20Mbit/s, frame: 9230}
duration: 5s
`

// TestJumboFrames: frames of 9230 bytes cross two switches whole, as tcpdump sees them on
// the link between, as the switches write them down and as the host counts them; and so
// do packets of programs, up to the fabric's MTU.
func TestJumboFrames(t *testing.T) {
	b := newBed(t, "tcpdump", "ip", "ping")
	dir := t.TempDir()
	file := filepath.Join(dir, "jumbo.yaml")
	if err := os.WriteFile(file, []byte(jumboLab), 0o644); err != nil {
		t.Fatal(err)
	}
	b.must("deploy", "-t", file)
	seen, written := filepath.Join(dir, "seen.pcap"), filepath.Join(dir, "written.pcapng")
	dump := b.start(b.command("lab", "exec", "--name", b.name, "s1", "tcpdump", "-n", "--immediate-mode", "-Z", "root", "-i", "to-s2", "-c", "20", "-w", seen, "udp"))
	dump.await("listening on to-s2")
	capture := b.capture("--node", "s1", "--node", "s2", "-w", written)
	b.must("start", "h1")
	if r := dump.end(); r.code != 0 {
		t.Errorf("tcpdump: exit status %d", r.code)
	}
	b.must("stop")
	b.wantJumboPing("n1", b.nicAddress("n2"))
	capture.signal(os.Interrupt)
	if r := capture.end(); r.code != 0 || !strings.Contains(r.stdout, " frames written, 0 missed\n") {
		t.Errorf("lab capture: exit status %d", r.code)
	}

	if n := wantWhole(t, seen); n != 20 {
		t.Errorf("tcpdump saw %d frames, want 20", n)
	}
	if n := wantWhole(t, written); n < 4*20 { // each in and out at two switches
		t.Errorf("the switches wrote down %d frames, want 80 or more", n)
	}
	if r := b.run(b.command("decode", written)); r.code != 0 || !strings.Contains(r.stdout, " 0 malformed") {
		t.Errorf("decode: exit status %d", r.code)
	}
	got := b.host("h2")
	if c := got.Counters; len(got.Received) != 1 || got.Received[0].Bytes != got.Received[0].Frames*9230 || got.Received[0].Lost != 0 || c.Long != 0 {
		t.Errorf("h2 received %+v, %+v", got.Received, c)
	}
}

// wantJumboPing: a packet of the fabric's MTU goes there and back in one piece, and no
// longer one leaves.
func (b *bed) wantJumboPing(from, addr string) {
	b.Helper()
	ping := func(size string) result {
		return b.lab("exec", from, "--", "ping", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do", "-s", size, addr)
	}
	const headers = 20 + 8
	if r := ping("9188"); r.code != 0 {
		b.Errorf("packets of %d bytes: no answer from %s to %s", 9188+headers, addr, from)
	}
	if r := ping("9189"); r.code == 0 {
		b.Errorf("packets of %d bytes pass", 9189+headers)
	}
}

// nicAddress is the address for the programs of a host with a NIC.
func (b *bed) nicAddress(host string) string {
	b.Helper()
	found := inet.FindStringSubmatch(b.must("exec", host, "ip", "-4", "addr", "show", "dev", "nic0").stdout)
	if found == nil {
		b.Fatalf("%s has no address", host)
	}
	return found[1]
}

// wantWhole: every frame of flow A in a capture has 9230 bytes, all of which are in the
// capture. It returns how many there are.
func wantWhole(t *testing.T, file string) (n int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r gopacket.PacketDataSource
	if strings.HasSuffix(file, ".pcapng") {
		r, err = pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	} else {
		r, err = pcapgo.NewReader(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, info, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		const udp, flows = 17, 4791
		if len(data) < 42 || data[23] != udp || binary.BigEndian.Uint16(data[36:]) != flows {
			continue
		}
		n++
		if total := binary.BigEndian.Uint16(data[16:]); info.Length != 9230 || len(data) != 9230 || total != 9216 {
			t.Errorf("%s: a frame of %d bytes, %d captured, with an IPv4 packet of %d; want 9230, 9230, 9216", filepath.Base(file), info.Length, len(data), total)
		}
	}
}

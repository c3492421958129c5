package host

import (
	"slices"
	"strings"
	"testing"

	"softswitch/host/roce"
	"softswitch/internal/ether"
)

// The numbers of a test's connection.
var fixed = Fixed{QPN: new(uint32(0x11)), ToQPN: new(uint32(0x22)), PSN: new(uint32(0xfffffe)), RKey: new(uint32(0x1234)), Address: new(MemoryAddress(0x7f00_0000_1000))}

// fixedConnection is a flow of messages of 3,000 bytes whose numbers are fixed.
func fixedConnection(n uint32, k Fixed) Flow {
	f := connection(n, 3000, 9000)
	f.RC.Fixed = k
	return f
}

// headerOf is what a RoCEv2 packet says, whose frame is b.
func headerOf(t *testing.T, b []byte) roce.Header {
	t.Helper()
	hd, _, err := packet(ether.IPv4(b[ether.HeaderLen:]))
	if err != nil {
		t.Fatal(err)
	}
	return hd
}

// wantDone fails unless all messages of the first flow are acknowledged.
func (p *twoHosts) wantDone() {
	p.Helper()
	if m := p.messages(0); m.Done != 3 || m.Failed || m.Again != 0 {
		p.Errorf("%+v; want 3 messages", m)
	}
}

// A connection has the numbers that its file gives, and goes past the highest PSN with them.
func TestFixedNumbers(t *testing.T) {
	p := connect(t, fixedConnection(1, fixed))
	p.run(50 * ms)
	p.wantDone()
	var data []roce.Header
	for _, b := range p.frames {
		hd := headerOf(t, b)
		if hd.Opcode == roce.Acknowledge {
			if hd.DestQP != 0x11 {
				t.Errorf("an answer to QPN %#x", hd.DestQP)
			}
			continue
		}
		data = append(data, hd)
	}
	if len(data) != 9 {
		t.Fatalf("%d packets, want 9", len(data))
	}
	for i, hd := range data {
		if hd.DestQP != 0x22 || hd.PSN != uint32(0xfffffe+i)&roce.PSNMask {
			t.Errorf("packet %d: QPN %#x, PSN %#x", i, hd.DestQP, hd.PSN)
		}
		if i%3 == 0 && (hd.RKey != 0x1234 || hd.Address != 0x7f00_0000_1000 || hd.Length != 3000) {
			t.Errorf("packet %d: R_Key %#x, address %#x, %d bytes", i, hd.RKey, hd.Address, hd.Length)
		}
	}
}

// Each number is as it is without the others; those that are not given follow from the flow's.
func TestFixedNumbersAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		k    Fixed
		want func(hd *roce.Header) bool
	}{
		{"to_qpn", Fixed{ToQPN: fixed.ToQPN}, func(hd *roce.Header) bool { return hd.DestQP == 0x22 && hd.RKey == 2 && hd.Address > remoteAddress }},
		{"psn", Fixed{PSN: fixed.PSN}, func(hd *roce.Header) bool {
			return hd.DestQP == 4 && hd.PSN == 0xfffffe && hd.Address == remoteAddress
		}},
		{"r_key", Fixed{RKey: fixed.RKey}, func(hd *roce.Header) bool { return hd.RKey == 0x1234 && hd.Address > remoteAddress }},
		{"address", Fixed{Address: fixed.Address}, func(hd *roce.Header) bool { return hd.PSN == 0 && hd.Address == 0x7f00_0000_1000 }},
	} {
		p := connect(t, fixedConnection(1, c.k))
		p.run(50 * ms)
		p.wantDone()
		if hd := headerOf(t, p.frames[0]); !c.want(&hd) {
			t.Errorf("%s alone: %+v", c.name, hd)
		}
	}
}

// What goes elsewhere than to the memory of the receiver is refused, and ends the connection.
func TestRefusedWrites(t *testing.T) {
	for name, change := range map[string]func(hd *roce.Header){
		"another R_Key":        func(hd *roce.Header) { hd.RKey++ },
		"before the memory":    func(hd *roce.Header) { hd.Address-- },
		"behind it":            func(hd *roce.Header) { hd.Address++ },
		"longer than it":       func(hd *roce.Header) { hd.Length++ },
		"far behind it":        func(hd *roce.Header) { hd.Address = 1<<64 - 1 },
		"much longer than all": func(hd *roce.Header) { hd.Length = 1<<32 - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, fixedConnection(1, fixed))
			first := true
			p.lose = func(b []byte) bool {
				if hd := headerOf(t, b); hd.Opcode == roce.WriteFirst && first {
					first = false
					change(&hd)
					hd.Put(b[headerLen:])
					roce.Seal(b[ether.HeaderLen:])
				}
				return false
			}
			p.run(50 * ms)
			if got := p.b.Receivers()[0].Packets; got.AccessErrors != 1 || got.Packets != 0 {
				t.Errorf("%+v; want one access error", got)
			}
			if m := p.messages(0); !m.Failed || m.Done != 0 {
				t.Errorf("%+v; want that it gave up", m)
			}
			nak := slices.IndexFunc(p.frames, func(b []byte) bool { return headerOf(t, b).Syndrome == roce.AccessError })
			if nak < 0 {
				t.Fatal("no NAK 0x62")
			}
			if hd := headerOf(t, p.frames[nak]); hd.PSN != 0xfffffe || hd.DestQP != 0x11 {
				t.Errorf("%+v; want PSN 0xfffffe", hd)
			}
		})
	}
}

// A write to a part of the memory is taken.
func TestWriteToPartOfMemory(t *testing.T) {
	p := connect(t, fixedConnection(1, fixed))
	p.b.peers[0].memory.Length = 3100
	p.lose = func(b []byte) bool {
		if hd := headerOf(t, b); hd.Opcode == roce.WriteFirst {
			hd.Address += 100
			hd.Put(b[headerLen:])
			roce.Seal(b[ether.HeaderLen:])
		}
		return false
	}
	p.run(50 * ms)
	p.wantDone()
}

// A program with fixed numbers, which knows no lives, ends a connection by NAK 0x63 like by any other.
func TestFixedConnectionHasOneLife(t *testing.T) {
	p := connect(t, fixedConnection(1, fixed))
	p.lose = func(b []byte) bool {
		if hd := headerOf(t, b); hd.Opcode == roce.Acknowledge {
			hd.Syndrome = roce.OperationalError
			hd.Put(b[headerLen:])
			roce.Seal(b[ether.HeaderLen:])
		}
		return false
	}
	p.run(50 * ms)
	if m := p.messages(0); !m.Failed || m.Done != 0 {
		t.Errorf("%+v; want that it gave up", m)
	}
}

func TestNewRefusesNumbers(t *testing.T) {
	for want, k := range map[string][2]Fixed{
		"flow f: QPN 1; valid: 2 to 16777215":                  {{QPN: new(uint32(1))}},
		"flow f: QPN of the receiver 16777216; valid:":         {{ToQPN: new(uint32(1 << 24))}},
		"flow f: PSN 16777216; valid: 0 to 16777215":           {{PSN: new(uint32(1 << 24))}},
		"flow 2: QPN 9 is that of flow 1; valid: one for each": {{QPN: new(uint32(9))}, {QPN: new(uint32(9))}},
		"flow 2: QPN 5 is that of flow 1; valid: one for each": {{}, {QPN: new(uint32(5))}},
	} {
		_, err := New(testConfig(fixedConnection(1, k[0]), fixedConnection(2, k[1])))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	c := testConfig(fixedConnection(1, fixed))
	c.Peers = []Peer{{Number: 2, From: peerIP, SrcPort: 50_000, TTL: 64, RC: PeerRC{Fixed: Fixed{ToQPN: fixed.QPN}}}}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "flow 2: QPN 17 is that of flow 1") {
		t.Errorf("%v; want a clash of a peer's", err)
	}
}

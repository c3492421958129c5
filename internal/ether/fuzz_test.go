package ether

import (
	"bytes"
	"testing"
)

// FuzzFrame walks any bytes as a switch does: nothing that Layer and the Valid
// methods let through may be out of range, and what is rewritten must read back.
func FuzzFrame(f *testing.F) {
	const macs = "02 00 00 00 00 01 02 00 00 00 00 02"
	f.Add([]byte{})
	f.Add(unhex(f, macs+"0800"+exampleHeader))
	f.Add(append(unhex(f, macs+"0800"+exampleHeader), make([]byte, 95)...))
	f.Add(append(unhex(f, macs+"8100 6001 0800"+exampleHeader), make([]byte, 95)...))
	f.Add(unhex(f, macs+"0806 0001 0800 06 04 0001  02 00 00 00 00 01  0a 00 00 01  00 00 00 00 00 00  0a 00 00 02"))
	f.Add(unhex(f, macs+"8100 60"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		_, off, pcp, tagged, ok := Layer(b)
		if !ok {
			if off != 0 || pcp != 0 || tagged {
				t.Fatalf("refused, but offset %d, PCP %d, tagged %v", off, pcp, tagged)
			}
			return
		}
		if off > len(b) || pcp > 7 || off != HeaderLen && !tagged {
			t.Fatalf("offset %d of %d bytes, PCP %d, tagged %v", off, len(b), pcp, tagged)
		}
		dst, src := Dst(b), Src(b)
		SetAddresses(b, src, dst)
		if Dst(b) != src || Src(b) != dst {
			t.Fatal("addresses do not read back")
		}
		if p := IPv4(b[off:]); p.Valid(len(p)) {
			fuzzIPv4(t, p)
		}
		if a := ARP(b[off:]); a.Valid() {
			PutARP(a, a.Op(), a.SenderMAC(), a.SenderIP(), 0, a.TargetIP())
			if !a.Valid() {
				t.Fatal("ARP written from its own fields is not valid")
			}
		}
	})
}

func fuzzIPv4(t *testing.T, p IPv4) {
	s, d := p.Ports()
	if p.IsFragment() && s|d != 0 {
		t.Fatal("a fragment has ports")
	}
	if n := Pick(FlowHash(p.Src(), p.Dst(), p.Proto(), s, d), 1, 3); n < 0 || n > 2 {
		t.Fatalf("Pick = %d", n)
	}
	if p.TTL() == 0 || Checksum(p[:p.HeaderLen()]) != 0 {
		return // a switch does not lower 0; a wrong checksum stays wrong
	}
	slow := IPv4(bytes.Clone(p))
	decrementSlowly(slow)
	p.DecrementTTL()
	if !bytes.Equal(p[:10], slow[:10]) || Checksum(p[:p.HeaderLen()]) != 0 {
		t.Fatalf("DecrementTTL made %x, want %x", []byte(p), []byte(slow))
	}
}

package ether

import (
	"os/exec"
	"strings"
	"testing"

	"softswitch/unit"
)

// sink keeps the compiler from removing what a test measures.
var sink uint64

func TestNoAllocs(t *testing.T) {
	f := make([]byte, MinLen)
	SetAddresses(f, unit.Broadcast, 0x020000000001)
	PutIPv4(f[HeaderLen:], 0, 64, ProtoUDP, 46, 1, 2)
	a := make(ARP, ARPLen)
	allocs := testing.AllocsPerRun(100, func() {
		et, off, pcp, _, _ := Layer(f)
		p := IPv4(f[HeaderLen:])
		if p.Valid(len(p)) {
			p[8] = 64
			p.DecrementTTL()
		}
		s, d := p.Ports()
		h := FlowHash(p.Src(), p.Dst(), p.Proto(), s, d)
		SetAddresses(f, Dst(f), Src(f))
		PutIPv4(f[HeaderLen:], 0, 64, ProtoUDP, 46, 1, 2)
		PutARP(a, ARPReply, Src(f), 1, Dst(f), 2)
		sink += uint64(et) + uint64(off) + uint64(pcp) + uint64(Pick(h, 1, 4)) + uint64(a.SenderMAC()) + uint64(a.TargetIP())
	})
	if allocs != 0 {
		t.Errorf("%v allocations a frame, want 0", allocs)
	}
}

// The accessors are free only if they are inlined. The compiler says which are.
func TestInlining(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to ask")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build -gcflags=-m: %v\n%s", err, out)
	}
	can := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), ": can inline "); ok {
			can[name] = true
		}
	}
	if n := strings.Count(string(out), "inlining call to stat.Mix"); n < 3 {
		t.Errorf("stat.Mix is inlined %d times, want in FlowHash twice and in Pick", n)
	}
	for _, name := range []string{
		"ReadMAC", "PutMAC", "Dst", "Src", "SetAddresses", "Pick",
		"IPv4.HeaderLen", "IPv4.TotalLen", "IPv4.DSCP", "IPv4.TTL", "IPv4.Proto", "IPv4.Src", "IPv4.Dst",
		"IPv4.Valid", "IPv4.IsFragment", "IPv4.DecrementTTL",
		"ARP.Valid", "ARP.Op", "ARP.SenderMAC", "ARP.SenderIP", "ARP.TargetIP",
	} {
		if !can[name] {
			t.Errorf("%s is not inlined", name)
		}
	}
}

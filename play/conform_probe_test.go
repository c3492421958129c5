package play

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/conform"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// TestConformProbe: what a probe finds of random switches is the truth, within a frame or 5 %.
func TestConformProbe(t *testing.T) {
	n := testkit.Sized(3, 60)
	for range n {
		seed := testkit.Seed(t)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { probeRandom(t, seed) })
	}
}

// probeRandom probes a random switch.
func probeRandom(t *testing.T, seed uint64) {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(from ...int) int { return from[r.IntN(len(from))] }
	truth := &conform.Profile{Name: "truth", Speed: unit.Rate(pick(40, 100, 250)) * 1_000_000, MTU: 1500, Trust: "dscp", DSCP: map[int]int{}}
	for i := range pick(2, 3) {
		truth.Ports = append(truth.Ports, conform.Port{Name: string(rune('a' + i)), MAC: unit.MAC(0x02_00_00_00_00_01 + i)})
	}
	lossless := r.Perm(unit.Priorities)[:pick(1, 2, 3)]
	slices.Sort(lossless)
	for _, c := range lossless {
		truth.Lossless = append(truth.Lossless, conform.Class(c))
	}
	for k := range 64 {
		truth.DSCP[k] = r.IntN(unit.Priorities)
	}
	for i, c := range lossless { // each can be sent
		truth.DSCP[10+i] = c
	}
	truth.PFC.Quanta = conform.Known{N: pick(1000, 20000, 65535), Is: true}
	xoff := 20_000 + r.IntN(60_000)
	xon := xoff - 2000 - r.IntN(xoff/2)
	truth.Buffer.XOFF = conform.Known{N: xoff, Is: true}
	truth.Buffer.XON = conform.Known{N: xon, Is: true}
	truth.Buffer.Headroom = conform.Known{N: 20_000 + r.IntN(30_000), Is: true}
	truth.Fill()

	base, err := conform.Load("base", fmt.Appendf(nil, "name: found\nports: [%s]\nspeed: %v\n", map[int]string{2: "{name: a}, {name: b}", 3: "{name: a}, {name: b}, {name: c}"}[len(truth.Ports)], truth.Speed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := ConformProbeSim(context.Background(), base, ConformOptions{Profile: truth, Seed: seed}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got, err := conform.Load("probed", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	fail := func(format string, args ...any) { t.Errorf(format+"\n%s", append(args, text)...) }
	if got.LosslessSet() != truth.LosslessSet() {
		fail("lossless %v, want %v", got.LosslessSet(), truth.LosslessSet())
	}
	for k := range 64 {
		is, want := got.DSCP[k], truth.DSCP[k]
		if _, named := got.DSCP[k]; truth.LosslessSet().Has(unit.Priority(want)) && (!named || is != want) || named && truth.LosslessSet().Has(unit.Priority(is)) && is != want {
			fail("code point %d is of priority %d (%v), want %d", k, is, named, want)
		}
	}
	if got.PFC.Quanta != truth.PFC.Quanta || got.PFC.Resume != "frame" || got.PFC.Source != "port" || got.Ports[0].MAC != truth.Ports[0].MAC {
		fail("pauses %+v of %v, want %+v of %v", got.PFC, got.Ports[0].MAC, truth.PFC, truth.Ports[0].MAC)
	}
	for _, v := range []struct {
		name      string
		got, want int
	}{
		{"xoff", got.Buffer.XOFF.N, xoff},
		{"xon", got.Buffer.XON.N, xon},
		{"first loss", got.Buffer.XOFF.N + got.Buffer.Headroom.N, xoff + truth.Buffer.Headroom.N},
	} {
		if off := v.got - v.want; off < -max(600, v.want/20) || off > max(600, v.want/20) {
			fail("%s %d, want %d", v.name, v.got, v.want)
		}
	}
}

// The speed of a port that is slower than the tester takes it to be is found.
func TestConformProbeSpeed(t *testing.T) {
	truth := ConformSelf()
	truth.Ports[1].Speed = 25_000_000
	base, err := conform.Load("base", []byte("name: found\nports: [{name: a}, {name: b}, {name: c}]\nspeed: 100Mbit/s\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := ConformProbeSim(context.Background(), base, ConformOptions{Profile: truth, Seed: testkit.Seed(t)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got, err := conform.Load("probed", text)
	if err != nil || got.Ports[0].Speed != 100_000_000 || got.Ports[1].Speed != 25_000_000 {
		t.Errorf("%v\n%s", err, text)
	}
}

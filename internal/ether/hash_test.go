package ether

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
)

func TestPickIsInRange(t *testing.T) {
	for _, hash := range []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff} {
		for _, seed := range []uint32{0, 1, 0xffffffff} {
			for n := 1; n <= 64; n++ {
				if got := Pick(hash, seed, n); got < 0 || got >= n {
					t.Fatalf("Pick(%08x, %08x, %d) = %d", hash, seed, n, got)
				}
			}
		}
	}
	if got := Pick(12345, 6, 1); got != 0 {
		t.Errorf("of one member: %d", got)
	}
}

// Flows that differ as little as real ones do (one port, one host) spread evenly:
// chi-squared of the counts stays below a bound that an even hash passes with a
// probability of about 1 - 1e-6.
func TestPickSpreadsEvenly(t *testing.T) {
	const flows = 1 << 15
	kinds := map[string]func(i int) uint32{
		"source port": func(i int) uint32 { return FlowHash(0x0a000001, 0x0a010001, ProtoUDP, uint16(i), 4791) },
		"source host": func(i int) uint32 { return FlowHash(0x0a000000+uint32(i), 0x0a010001, ProtoUDP, 49152, 4791) },
		"both hosts": func(i int) uint32 {
			return FlowHash(0x0a000000+uint32(i>>8), 0x0a010000+uint32(i&255), ProtoUDP, 49152, 4791)
		},
	}
	for name, hash := range kinds {
		for _, n := range []int{2, 3, 4, 7, 8, 16, 63} {
			for seed := range uint32(4) {
				counts := make([]int, n)
				for i := range flows {
					counts[Pick(hash(i), seed, n)]++
				}
				chi, mean := 0.0, float64(flows)/float64(n)
				for _, c := range counts {
					chi += (float64(c) - mean) * (float64(c) - mean) / mean
				}
				// Mean n-1, variance 2(n-1); ten standard deviations and a little for few members.
				if limit := float64(n-1) + 30 + 5*float64(n)/2; chi > limit {
					t.Errorf("%s, %d members, seed %d: chi-squared %.1f above %.1f: %v", name, n, seed, chi, limit, counts)
				}
			}
		}
	}
}

// Two switches with different seeds choose independently: otherwise the second
// tier of a fabric would use a part of its paths only.
func TestSeedsAreIndependent(t *testing.T) {
	const flows, n = 1 << 14, 4
	var both [n][n]int
	for i := range flows {
		h := FlowHash(0x0a000001, 0x0a010001, ProtoUDP, uint16(i), 4791)
		both[Pick(h, 1, n)][Pick(h, 2, n)]++
	}
	for i := range n {
		for j := range n {
			if got, want := both[i][j], flows/(n*n); got < want*8/10 || got > want*12/10 {
				t.Errorf("member %d here and %d there: %d flows of %d, want about %d", i, j, got, flows, want)
			}
		}
	}
}

// Each bit of each field moves about half of the bits of the hash.
func TestFlowHashDependsOnEveryBit(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	const rounds = 400
	for bit := range 104 {
		flips := 0
		for range rounds {
			src, dst, proto := rng.Uint32(), rng.Uint32(), uint8(rng.Uint32())
			sport, dport := uint16(rng.Uint32()), uint16(rng.Uint32())
			before := FlowHash(src, dst, proto, sport, dport)
			switch {
			case bit < 32:
				src ^= 1 << bit
			case bit < 64:
				dst ^= 1 << (bit - 32)
			case bit < 72:
				proto ^= 1 << (bit - 64)
			case bit < 88:
				sport ^= 1 << (bit - 72)
			default:
				dport ^= 1 << (bit - 88)
			}
			flips += bits.OnesCount32(before ^ FlowHash(src, dst, proto, sport, dport))
		}
		if mean := float64(flips) / rounds; mean < 14.5 || mean > 17.5 {
			t.Errorf("seed %d: bit %d of the 5-tuple moves %.1f of 32 bits, want about 16", seed, bit, mean)
		}
	}
}

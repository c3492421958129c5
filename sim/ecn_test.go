package sim

import (
	"testing"

	"softswitch/scenario"
)

// Marks are by chance: each switch has its own, and each seed, and the same seed the same.
func TestMarkSeeds(t *testing.T) {
	s, err := scenario.Parse("ecn.yaml", []byte(`name: ecn
topology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 40Gbit/s}
congestion: {}
duration: 1ms
`), scenario.Known{Detectors: []string{"itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for _, seed := range []uint64{1, 2, 1} {
		w, err := New(p, Options{Seed: seed, Detectors: detectors})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Switches {
			seen[w.nodes[i].sw.Config().ECN.Seed]++
		}
	}
	twice := 0
	for _, n := range seen {
		twice += n - 1
	}
	if len(seen) != 6 || twice != 3 {
		t.Errorf("3 switches with seeds 1, 2 and 1 have %d seeds, %d of them again; want 6, and 3 again", len(seen), twice)
	}
}

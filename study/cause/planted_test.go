package cause_test

import (
	"testing"

	"softswitch/internal/testkit"
	"softswitch/sim/simtest"
	"softswitch/study/cause"
	"softswitch/study/fuzz"
)

// TestPlanted: a fabric that does not deadlock does once a host misbehaves. To treat that
// host is to play the fabric as it was: there is no deadlock, so it is sufficient alone.
func TestPlanted(t *testing.T) {
	// Seeds with which those are found soon that take longest with seed 18.
	soon := map[fuzz.Planting]uint64{fuzz.Planting(fuzz.Slow): 7, fuzz.Planting(fuzz.Chatter): 16, fuzz.Planting(fuzz.EndedStorm): 7}
	rounds, hosts := testkit.Sized(1, 2), 0
	for round := range rounds {
		for i, what := range fuzz.Plantings {
			if !fuzz.Disturbance(what).OfHost() {
				continue
			}
			seed := uint64(18)
			if s := soon[what]; s > 0 && !testkit.Long() {
				seed = s
			}
			k := fuzz.NewPlanted(seed, round*len(fuzz.Plantings)+i)
			if !k.Locked {
				continue
			}
			hosts++
			c := cause.NewCase(t, simtest.Parse(t, k.Name(), string(k.Text("none", "")), "none"), k.Wires)
			if c.Deadlock.At != k.Onset {
				t.Errorf("%s: a deadlock at %d ns, want %d ns", k.Name(), c.Deadlock.At, k.Onset)
			}
			of := cause.Treatment{Hosts: []string{k.Plants[0].Host}}
			if e, err := c.Try(of); err != nil || !e.Causal || !e.Sufficient {
				t.Errorf("%s: %s of %v: %+v, %v, want it sufficient", k.Name(), what, of, e, err)
			}
		}
	}
	if hosts < 3*rounds {
		t.Errorf("only %d hosts were planted", hosts)
	}
}

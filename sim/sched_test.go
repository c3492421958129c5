package sim_test

import (
	"math/rand/v2"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// Eight queues share a link by strict priority and weights, to 2 % of its time in 30 rounds: in 50 random settings of schedulers, lengths of frames, and lossless priorities.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	worst := 0.0
	for range testkit.Sized(15, 50) {
		lossless := []int{}
		for c := range 8 {
			if r.IntN(2) == 0 {
				lossless = append(lossless, c)
			}
		}
		s := simtest.NewShares(r, 1, []int{1500, 9216}[r.IntN(2)], lossless)
		v, _ := simtest.Run(t, simtest.Parse(t, "shares.yaml", s.Text, "none"), sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}})
		apart, flow := s.Apart(v)
		if apart > 0.02 {
			t.Errorf("%s in\n%s", flow, s.Text)
		}
		worst = max(worst, apart)
	}
	t.Logf("at most %.2f %% of the link's time apart", 100*worst)
}

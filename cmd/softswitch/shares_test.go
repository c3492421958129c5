package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/sim/simtest"
)

// Live, eight queues share a slow link as they do in the simulator, to 2 % of its time: 50 random settings,
// ten in a lab, each at a port of its own.
func TestSharesLive(t *testing.T) {
	testkit.LongOnly(t)
	b := newLoneBed(t)
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	file, worst := filepath.Join(t.TempDir(), "shares.yaml"), 0.0
	for _, mtu := range []int{1500, 1500, 1500, 1500, 9216} {
		s := simtest.NewShares(r, 10, mtu, nil)
		if err := os.WriteFile(file, []byte(s.Text), 0o644); err != nil {
			t.Fatal(err)
		}
		v, _ := b.play(file)
		apart, flow := s.Apart(&v)
		if apart > 0.02 {
			t.Errorf("%s in\n%s", flow, s.Text)
		}
		worst = max(worst, apart)
	}
	t.Logf("at most %.2f %% of the link's time apart", 100*worst)
}

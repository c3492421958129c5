package verdict

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// Rates of terabytes are right too.
func TestPerSecond(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 1000 {
		in := unit.Time(1 + r.Int64N(int64(unit.Second)<<r.IntN(16)))
		bytes := uint64(r.Int64N(1 + int64(in)*100)) // at most 800 Gbit/s
		want := new(big.Int).SetUint64(bytes)
		want.Mul(want, big.NewInt(8*int64(unit.Second))).Div(want, big.NewInt(int64(in)))
		if got := perSecond(bytes, in); want.Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%d bytes in %d ns: %d bit/s, want %v", bytes, in, got, want)
		}
	}
}

package testkit

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed is a seed for t: that of the environment variable SEED, or a random one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text, ok := os.LookupEnv("SEED"); ok {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED=%q: want a number from 0 to %d", text, uint64(1<<64-1))
		}
	}
	t.Logf("seed %d; again: SEED=%d", seed, seed)
	return seed
}

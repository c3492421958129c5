package stat

import "testing"

// The first numbers of seed 1234567, which other implementations draw too
// (rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
func TestKnownNumbers(t *testing.T) {
	r := Rand(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := r.Next(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// The same seed draws the same identifiers, never 0, and another one others.
func TestID(t *testing.T) {
	seen := map[uint32]uint64{}
	for seed := range uint64(100) {
		a, b := Rand(seed<<32), Rand(seed<<32)
		for range 100 {
			n := a.ID()
			if m := b.ID(); n != m || n == 0 {
				t.Fatalf("seed %d draws %d and then %d, want the same, not 0", seed, n, m)
			}
			if other, ok := seen[n]; ok {
				t.Fatalf("seeds %d and %d draw %d", seed, other, n)
			}
			seen[n] = seed
		}
	}
}

// Below comes out evenly, and otherwise with another seed.
func TestBelow(t *testing.T) {
	a, other := Rand(1), Rand(2)
	differ, seen := 0, [8]int{}
	for range 1000 {
		x := a.Below(8)
		seen[x]++
		if x != other.Below(8) {
			differ++
		}
	}
	if differ < 800 {
		t.Errorf("%d of 1000 differ with another seed", differ)
	}
	for x, n := range seen {
		if n < 80 {
			t.Errorf("%d came %d times of 1000, want about 125", x, n)
		}
	}
}

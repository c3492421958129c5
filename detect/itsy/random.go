package itsy

// random is a generator of its own for each switch: splitmix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014). It breaks ties in
// time between switches that are otherwise alike.
type random uint64

func newRandom(seed uint64) random { return random(seed) }

// below is a number from 0 to n-1.
func (r *random) below(n int) int {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 33 % uint64(n))
}

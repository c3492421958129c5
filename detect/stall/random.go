package stall

import "softswitch/unit"

// Random is a generator of its own for each switch: splitmix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014). The same switch
// draws the same numbers in every run.
type Random uint64

// NewRandom is the generator of switch id.
func NewRandom(id unit.NodeID) Random { return Random(id) << 32 }

// ID is a number that is not 0: an SPUID, or a nonce.
func (r *Random) ID() uint32 {
	for {
		if id := uint32(r.next() >> 32); id != 0 {
			return id
		}
	}
}

// Below is a number from 0 to n-1.
func (r *Random) Below(n int) int { return int(r.next() >> 33 % uint64(n)) }

func (r *Random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

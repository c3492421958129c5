package stat

const golden = 0x9e3779b97f4a7c15

// Mix is a bijection of 64-bit words in which every input bit moves about half of the
// output bits.
func Mix(z uint64) uint64 {
	z += golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Rand is a generator; its value is the seed.
type Rand uint64

// Next is a number of 64 bits.
func (r *Rand) Next() uint64 {
	z := Mix(uint64(*r))
	*r += golden
	return z
}

// Below is a number from 0 to n-1; n must be positive.
func (r *Rand) Below(n int) int { return int(r.Next() >> 33 % uint64(n)) }

// ID is a number of 32 bits that is not 0.
func (r *Rand) ID() uint32 {
	for {
		if id := uint32(r.Next() >> 32); id != 0 {
			return id
		}
	}
}

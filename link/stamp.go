package link

import "time"

// stamps computes how long ago the kernel's time stamps were. The kernel stamps frames
// by the wall clock, which may be set at any moment. So a stamp is converted with the
// present distance of the two clocks and with that at the last call, and the shorter
// time counts. Setting the clock can hide a wait, but not invent one.
type stamps struct {
	now      func() (wall, monotonic time.Duration) // since any two fixed moments
	distance time.Duration                          // of the two clocks, at the last call
}

// begun is a fixed moment of the process on the monotonic clock.
var begun = time.Now()

func newStamps() stamps {
	return stampsOf(func() (wall, monotonic time.Duration) {
		now := time.Now() // reads both
		return time.Duration(now.UnixNano()), now.Sub(begun)
	})
}

func stampsOf(now func() (wall, monotonic time.Duration)) stamps {
	wall, monotonic := now()
	return stamps{now: now, distance: wall - monotonic}
}

// ago is how long ago the wall clock was at stamp, at least 0.
func (s *stamps) ago(stamp time.Duration) time.Duration {
	wall, monotonic := s.now()
	before := monotonic + s.distance - stamp
	s.distance = wall - monotonic
	after := wall - stamp
	switch {
	case before < 0: // made after the clock was set
		return max(after, 0)
	case after < 0: // made before the clock was set back
		return before
	}
	return min(before, after)
}

package link

import "time"

// stamps says how long ago the kernel's stamps were made. The kernel stamps a frame by
// the wall clock, which somebody may set at any moment: so a stamp is read with the
// distance of the two clocks as it is now and as it was at the last look, and the
// shorter time counts. Setting the clock can hide a wait, but not make one.
type stamps struct {
	now      func() (wall, monotonic time.Duration) // since any two fixed moments
	distance time.Duration                          // of the two clocks, at the last look
}

// begun is the process's fixed moment on the monotonic clock.
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

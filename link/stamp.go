package link

import (
	"time"

	"softswitch/internal/timer"
	"softswitch/unit"
)

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
	ago := s.between(stamp, wall, monotonic)
	s.distance = wall - monotonic
	return ago
}

// convert turns stamps, in ns of the wall clock, into points of the clock of package timer.
func (s *stamps) convert(at []unit.Time) {
	if len(at) == 0 {
		return
	}
	wall, monotonic := s.now()
	now := timer.Now()
	for i := range at {
		at[i] = now - unit.Time(s.between(time.Duration(at[i]), wall, monotonic))
	}
	s.distance = wall - monotonic
}

// between is how long before the present readings of the clocks the wall clock was at stamp.
func (s *stamps) between(stamp, wall, monotonic time.Duration) time.Duration {
	before := monotonic + s.distance - stamp
	after := wall - stamp
	switch {
	case before < 0: // made after the clock was set
		return max(after, 0)
	case after < 0: // made before the clock was set back
		return before
	}
	return min(before, after)
}

package link

import (
	"testing"
	"time"
)

// settable is a wall clock that can be set, and a monotonic one.
type settable struct{ wall, monotonic time.Duration }

func (c *settable) pass(d time.Duration) { c.wall, c.monotonic = c.wall+d, c.monotonic+d }

// Frames come and wait; the clock is set before one comes, or while it waits, and once
// more for the next one.
func TestClockThatIsSetMakesNoWait(t *testing.T) {
	const wait = 30 * time.Microsecond
	for _, step := range []time.Duration{0, time.Millisecond, -time.Millisecond, 10 * time.Second, -10 * time.Second, 300 * 24 * time.Hour, -300 * 24 * time.Hour} {
		for _, while := range []bool{false, true} {
			c := &settable{wall: 1000 * 24 * time.Hour}
			s := stampsOf(func() (wall, monotonic time.Duration) { return c.wall, c.monotonic })
			for _, step := range []time.Duration{step, step, 0, 0} { // then two frames in quiet times
				c.pass(time.Second)
				if !while {
					c.wall += step
				}
				stamp := c.wall
				c.pass(wait / 2)
				if while {
					c.wall += step
				}
				c.pass(wait / 2)
				if got := s.ago(stamp); got != wait {
					t.Errorf("the clock is set by %v, while the frame waits: %v; it waited %v, want %v", step, while, got, wait)
				}
			}
		}
	}
}

// A wait is seen whatever the clock did in between, and so is a long one.
func TestLongWaitIsSeen(t *testing.T) {
	c := &settable{}
	s := stampsOf(func() (wall, monotonic time.Duration) { return c.wall, c.monotonic })
	c.pass(time.Hour)
	stamp := c.wall
	c.pass(10 * time.Second)
	if got := s.ago(stamp); got != 10*time.Second {
		t.Errorf("a frame waited %v, want 10s", got)
	}
}

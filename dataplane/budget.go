package dataplane

import (
	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// Control frames (PFC, messages, ARP) are processed before data, and each costs more than a
// forwarded data frame. So that a flood of them does not starve other ports, a port has a budget:
// the frames that fill a share of its line, plus a burst. Frames over the budget are dropped
// before they are read. An honest far end stays far below it: a host pauses at most twice in the
// time in which its buffer fills and drains; a switch pauses a priority at most twice for each
// frame, with the smallest buffer that there is.

// A budget is how many of the shortest frames the line has time for per control frame; a burst is
// in frames. Chosen: a sixteenth of the shortest frames that a host's line carries, half of a
// switch's, given the most that an honest far end sends (above).
const (
	hostBudget   = 16
	switchBudget = 2
	hostBurst    = 256
	switchBurst  = 1024
)

// budget is what a port may receive of control frames: the generic cell rate algorithm (ITU-T
// I.371, annex A).
type budget struct {
	each  unit.Time // for a frame
	burst unit.Time // how far due may be ahead
	due   unit.Time // when the next frame would come at that rate
}

// newBudget is that of a port of a rate. late is the granularity of the driver: what came in that
// time may be passed on at once. An unlimited rate counts as unit.NominalRate.
func newBudget(rate unit.Rate, facesHost bool, late unit.Time) budget {
	if rate == 0 {
		rate = unit.NominalRate
	}
	n, burst := unit.Time(switchBudget), unit.Time(switchBurst)
	if facesHost {
		n, burst = hostBudget, hostBurst
	}
	each := max(rate.FrameTime(ether.MinLen)*n, 1)
	return budget{each: each, burst: each*burst + late}
}

// take reports whether a frame that came now is within the budget.
func (b *budget) take(now unit.Time) bool {
	// A frame that is refused costs nothing of the budget, so a flood does not keep it used up.
	if b.due > now+b.burst {
		return false
	}
	b.due = max(b.due, now) + b.each
	return true
}

// free is from when on a frame is within the budget.
func (b *budget) free() unit.Time { return b.due - b.burst }

// overBudget reports whether a frame that came in at p is a control frame beyond the port's
// budget. Where a link is authenticated, frames that are not believed do not count: a stranger
// would use up what the far end may say.
func (s *Switch) overBudget(p *port, f *buffer.Frame) bool {
	switch {
	// Data is the MMU's to bound. PFC, messages and PAUSE of an authenticated link are charged by
	// believed and receiveHello; ARP, which nobody authenticates, is charged here.
	case f.Info.Kind < kindARP, f.Info.Kind > kindARP && p.auth != nil:
		return false
	}
	return !p.budget.take(s.now)
}

package dataplane

import (
	"softswitch/event"
	"softswitch/unit"
)

// A station that ignores pauses sends on while it is paused, and what it sends is lost when the headroom is
// full. Only time tells it from one that stops late: what still comes of one that obeys is what headroom is
// for, and at the rate of the link that has come after heedTime. A station is named once it has ignored
// vainPauses pauses of a burst, first or repeated, since a wire may lose one. They need not be of one XOFF
// period: a sender that has lost frames may be silent until its timeout.

// vainPauses is how many pauses are ignored before the far end is named.
const vainPauses = 2

// burstGap is how long a far end has to send nothing while it is paused, after which it is named again.
// Chosen: longer than a sender's timeout, and a line a second at most.
const burstGap = unit.Second

// heedLate is how late a station that obeys may stop at least where drivers are not exact, in granularities
// of the driver: 100 ms of a live switch. A run in which a node is later than that is not valid.
const heedLate = 100

// unheeded is a burst of frames of one priority that came while it was paused.
type unheeded struct {
	last   unit.Time // when the last one came; 0: none did
	told   bool
	pauses int32 // in vain
	lost   int32 // frames
}

// heedTime is how long after a pause frames of a far end that obeys may come; unit.Never if it is not
// judged.
func (s *Switch) heedTime(p *port) unit.Time {
	if p.cfg.HeedBytes == 0 || p.cfg.Rate == 0 && s.cfg.Granularity == 0 {
		return unit.Never
	}
	return max(p.cfg.Rate.FrameTime(p.cfg.HeedBytes), heedLate*s.cfg.Granularity)
}

// mustBeSilent reports whether no frame of c comes by p any more if the far end obeys.
func (p *port) mustBeSilent(now unit.Time, c unit.Priority) bool {
	return p.told.Has(c) && now >= p.announced[c].silent
}

// late notes a frame that came in by port in when it must be silent in c.
func (s *Switch) late(in unit.Port, c unit.Priority) {
	p := &s.ports[in]
	a, u := &p.announced[c], &p.unheeded[c]
	if s.now-u.last > burstGap {
		*u = unheeded{}
	}
	u.last = s.now
	p.count.RxUnheeded[c]++
	if a.inVain {
		return
	}
	a.inVain = true
	u.pauses++
	p.count.PausesInVain[c]++
	if u.pauses >= vainPauses && !u.told {
		u.told = true
		s.event(event.Event{Type: event.PauseUnheeded, Port: in, Priority: c, Bytes: u.pauses, Limit: u.lost})
	}
}

// lostLate notes a frame that found the headroom full when port p must be silent in c.
func (p *port) lostLate(c unit.Priority) {
	p.count.UnheededLost[c]++
	p.unheeded[c].lost++
}

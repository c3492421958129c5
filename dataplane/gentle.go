package dataplane

import (
	"softswitch/buffer"
	"softswitch/internal/pacer"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// This file is Gentle Flow Control (Qian et al., "Gentle Flow Control: Avoiding Deadlock in Lossless
// Networks", SIGCOMM 2019), in its form by buffers. Between switches it stands in the place of pauses:
// the fuller a priority group, the lower the rate that its far end is told, and no rate is 0. So no
// queue of a switch waits for another switch for good, and no ring of them can.
//
//	bytes of a group    0 ........ Start ....... (Start+Full)/2 .... 3/4 ... Full
//	stage               |     0      |        1          |       2     | 3 ... last
//	rate of the far end |  the link's|       1/2         |      1/4    | 1/8   >= Lowest
//
// In the time that a message takes to have effect a far end fills at most half of what was left when it
// was sent, if Full - Start is twice what the link delivers in that time: so a stage later the same
// holds of half of both, and the group never overflows. That is of bytes that flow; frames, and a
// lowest rate, are why it may after all.
//
// Hosts know pauses alone. They are paused as ever: nobody waits for what a host holds, so no ring goes
// through one.

// GFC is Gentle Flow Control at a port that leads to a switch which obeys it, and tells the same.
type GFC struct {
	// Start is how many bytes of a priority group slow the far end down, Full what it has room for, with
	// its headroom.
	Start, Full int
	// Lowest is the rate below which no far end is slowed down; at most half of the port's.
	Lowest unit.Rate
}

// gentle is the state of GFC at a port.
type gentle struct {
	GFC
	last  uint8            // the last stage
	tells unit.PrioritySet // the priorities in which the port tells its far end

	// Of the ingress, by priority: the stage that the far end was told last, when that is to be
	// repeated, and whether a message waits to leave.
	told    [unit.Priorities]uint8
	refresh [unit.Priorities]unit.Time
	asked   unit.PrioritySet

	// Of the egress: the stage of each queue, those that are slowed down, those of them that have to
	// wait now, and their clocks.
	stage         [unit.Priorities]uint8
	slowed, waits unit.PrioritySet
	clocks        [unit.Priorities]pacer.Wire
}

// newGentle is the state of a port whose pauses GFC replaces.
func newGentle(c GFC, rate unit.Rate, sends unit.PrioritySet) *gentle {
	g := &gentle{GFC: c, tells: sends}
	for rate>>(g.last+1) >= max(c.Lowest, 1) {
		g.last++
	}
	return g
}

// stageOf is the stage of a priority group that holds bytes.
func (g *gentle) stageOf(bytes int) uint8 {
	if bytes < g.Start {
		return 0
	}
	k := uint8(1)
	for left := (g.Full - g.Start) / 2; k < g.last && g.Full-bytes <= left; left /= 2 {
		k++
	}
	return k
}

// restage tells the far end of a port the stage of a priority group that has changed, if it is another.
func (s *Switch) restage(in unit.Port, c unit.Priority) {
	p := &s.ports[in]
	g := p.gentle
	if g == nil || !g.tells.Has(c) || g.asked.Has(c) || !p.up {
		return
	}
	if bytes, _ := s.mmu.Bytes(in, c); g.stageOf(bytes) != g.told[c] {
		s.tellRate(in, c)
	}
}

// tellRate makes a port tell its far end the stage of a priority: which it is is decided when the message
// leaves, as with a pause.
func (s *Switch) tellRate(in unit.Port, c unit.Priority) {
	p := &s.ports[in]
	p.gentle.asked.Add(c)
	p.control.push(controlItem{isRate: true, msg: itsyhdr.TLV{Priority: c}})
	s.urgent.Add(in)
	s.ready.Add(in)
}

// buildRate fills f with the stage of this moment.
func (s *Switch) buildRate(out unit.Port, f *buffer.Frame, c unit.Priority) {
	p := &s.ports[out]
	g := p.gentle
	g.asked &^= 1 << c
	bytes, _ := s.mmu.Bytes(out, c)
	g.told[c], g.refresh[c] = g.stageOf(bytes), s.now+s.cfg.Refresh
	s.buildPayload(p, f, string(itsyhdr.Rate{Priority: c, Stage: g.told[c]}.Append(nil)))
}

// repeatRates makes a port repeat what is due: a message that was lost would leave its far end too fast.
func (s *Switch) repeatRates(out unit.Port) (next unit.Time) {
	g := s.ports[out].gentle
	next = unit.Never
	for c := range unit.Priority(unit.Priorities) {
		switch {
		case g.told[c] == 0 || g.asked.Has(c):
		case g.refresh[c] <= s.now:
			s.tellRate(out, c)
		default:
			next = min(next, g.refresh[c])
		}
	}
	return next
}

// obeyRate slows a queue down, or lets it go on. A stage that the far end would not say is the last.
func (s *Switch) obeyRate(in unit.Port, r itsyhdr.Rate) {
	p := &s.ports[in]
	g := p.gentle
	k := min(r.Stage, g.last)
	if k == g.stage[r.Priority] {
		return
	}
	w := &g.clocks[r.Priority]
	if g.stage[r.Priority] == 0 {
		*w = pacer.Wire{}
	}
	w.Rescale(s.now, g.stage[r.Priority], k)
	g.stage[r.Priority] = k
	g.slowed &^= 1 << r.Priority
	if k > 0 {
		g.slowed.Add(r.Priority)
	}
	s.ready.Add(in)
}

// begin finds out which of the queues that are slowed down have to wait at now.
func (g *gentle) begin(now unit.Time, rate unit.Rate, granularity unit.Time) {
	g.waits = 0
	for set := g.slowed; set != 0; set &= set - 1 {
		c := set.First()
		g.clocks[c].Begin(now, rate>>g.stage[c], granularity)
		if !g.clocks[c].Ready(now) {
			g.waits.Add(c)
		}
	}
}

// sent takes note of a frame of a queue that leaves at now and takes this long at the link's rate.
func (g *gentle) sent(now unit.Time, c unit.Priority, t unit.Time) {
	if !g.slowed.Has(c) {
		return
	}
	if g.clocks[c].Send(t << g.stage[c]); !g.clocks[c].Ready(now) {
		g.waits.Add(c)
	}
}

// next is when the first of the queues of set that wait may send.
func (g *gentle) next(set unit.PrioritySet, granularity unit.Time) unit.Time {
	next := unit.Never
	for set &= g.waits; set != 0; set &= set - 1 {
		w := &g.clocks[set.First()]
		w.Wait()
		next = min(next, unit.NextTick(w.At(), granularity))
	}
	return next
}

// linkDown forgets what the far end was told, and what it told.
func (g *gentle) linkDown() {
	*g = gentle{GFC: g.GFC, last: g.last, tells: g.tells}
}

package dataplane

import (
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// policer drops what a flow, or a priority, brings in above a rate: the generic cell rate
// algorithm (ITU-T I.371, annex A), with frames for cells.
type policer struct {
	flow detect.FlowID
	rate unit.Rate
	due  unit.Time // when the next frame would come at that rate
	// fixed: a Limit of the configuration, which no action replaces. It may be for a
	// priority instead of a flow.
	fixed, ofPriority bool
	priority          unit.Priority
}

// policersMax is the number of policers of a switch that actions may take; policerFrames is the
// burst that one passes, in frames of the longest length. Both are chosen; 64 policers at one
// port take 0.1 us a lossless frame (docs/security.md).
const (
	policersMax   = 64
	policerFrames = 4
)

// setLimits gives each port the policers of its limits.
func (s *Switch) setLimits(limits []Limit) {
	for _, l := range limits {
		p := &s.ports[l.In]
		p.policers = append(p.policers, policer{flow: l.Flow, rate: l.Rate, fixed: true, ofPriority: l.OfPriority, priority: l.Priority})
	}
}

// takes reports whether f counts against p. A frame that is not IP is of no flow.
func (p *policer) takes(f *buffer.Frame) bool {
	if p.ofPriority {
		return p.priority == f.Info.Priority
	}
	return uint32(p.flow) == f.Info.Hash && isIPv4(f)
}

// overRate reports whether a frame that came in at p is above the rate of a policer. One
// that is not counts against all that take it. Lossless frames alone: what a lossy priority brings
// holds nobody up.
func (s *Switch) overRate(p *port, f *buffer.Frame) bool {
	if !p.lossless.Has(f.Info.Priority) {
		return false
	}
	taken := false
	for i := range p.policers {
		if l := &p.policers[i]; l.takes(f) {
			// Granularity: a driver that is late passes on at once what came meanwhile.
			if taken = true; l.due > s.now+l.rate.FrameTime(s.cfg.longest())*policerFrames+s.cfg.Granularity {
				return true
			}
		}
	}
	// Only now: a frame that one policer refuses must not use up the rate of another that would
	// have passed it.
	if taken {
		s.countPoliced(p, f)
	}
	return false
}

// countPoliced counts a frame that all policers of p passed.
func (s *Switch) countPoliced(p *port, f *buffer.Frame) {
	for i := range p.policers {
		if l := &p.policers[i]; l.takes(f) {
			l.due = max(l.due, s.now) + l.rate.FrameTime(f.Len)
		}
	}
}

// Police drops frames of a flow above a rate.
func (a actions) Police(in unit.Port, flow detect.FlowID, rate unit.Rate) bool {
	s := a.s
	p := &s.ports[in]
	at := slices.IndexFunc(p.policers, func(l policer) bool { return !l.fixed && l.flow == flow })
	switch {
	case rate == 0 && at < 0:
		return true
	case rate == 0:
		p.policers = slices.Delete(p.policers, at, at+1)
		s.policing--
		s.notePolice(detect.ActionUnpolice, in, flow, 0)
		return true
	// The rate changes and due stays, so that setting it again and again gives no new burst.
	case at >= 0:
		p.policers[at].rate = rate
	case s.policing == policersMax:
		return false
	default:
		p.policers = append(p.policers, policer{flow: flow, rate: rate})
		s.policing++
	}
	s.notePolice(detect.ActionPolice, in, flow, int(rate/1000))
	return true
}

func (s *Switch) notePolice(m detect.Action, in unit.Port, flow detect.FlowID, kbits int) {
	s.event(event.Event{Type: event.Acted, Action: m, Port: in, Out: unit.NoPort, Flow: flow, Bytes: int32(kbits)})
}

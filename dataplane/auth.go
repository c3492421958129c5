package dataplane

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// This file is what a port believes of its far end: package link/auth judges a frame, here it
// is counted, told, and what follows from it is done.

// messageTag is where a message frame with an ITSY TLV has its tag: at offset 32, the last eight
// octets of the TLV (docs/format/auth.md).
const messageTag = itsyhdr.MessageTLV + itsyhdr.AuthOffset

// noTag is the place of the tag of a frame that has none. auth.End takes any negative one for it.
const noTag = -1

// pauseTag is where a PFC frame has its tag. It is at offset 52, the last eight octets of the
// TLV; without a TLV there is no place for one.
func pauseTag(carries bool) int {
	if !carries {
		return noTag
	}
	return pfcframe.PadOffset + itsyhdr.AuthOffset
}

// splitPayload takes a message frame with a payload of a detector's own apart: the payload,
// with what it may be padded with, and where the tag is, which is the end of the frame on a
// port that authenticates.
func (p *port) splitPayload(frame []byte) (payload []byte, tag int) {
	tag = len(frame) - auth.TagLen
	switch {
	// Shorter than any MAC sends: there may be no room for a tag.
	case len(frame) < ether.MinLen:
		return nil, noTag
	case p.auth == nil:
		return frame[ether.HeaderLen:], noTag
	}
	return frame[ether.HeaderLen:tag], tag
}

// challengesPerRefresh is how often a challenge may be sent until a pause is repeated: so the
// ends agree again before that, also if some are lost.
const challengesPerRefresh = 8

// setAuth makes the port's end of an authenticated link, if it is one. A host has none: of it
// nothing is believed but pauses, and these are bounded (storm.go).
func (p *port) setAuth(refresh unit.Time) {
	if p.cfg.Auth == nil || p.cfg.Auth.Mode == auth.Off || p.cfg.FacesHost {
		return
	}
	c := *p.cfg.Auth
	// A Gap of 0 would ask without end: a refresh may be shorter than eight nanoseconds.
	c.Self, c.Gap = p.cfg.MAC, max(refresh/challengesPerRefresh, 1)
	p.auth = auth.New(c)
}

// sign writes the tag of a frame that leaves.
func (p *port) sign(f *buffer.Frame, tag int) {
	if p.auth != nil {
		p.auth.Sign(f.Data, tag)
	}
}

// believed judges a control frame that came by in. One that is not believed is dropped. It takes
// from the budget what it believes, instead of Receive: a stranger cannot use up what the far end
// may say (overBudget).
func (s *Switch) believed(in unit.Port, f *buffer.Frame, tag int) bool {
	p := &s.ports[in]
	if p.auth == nil {
		return true
	}
	v := p.auth.Open(s.now, f.Data, tag)
	switch {
	case !p.auth.Believes(v):
		s.refuse(in, f, v)
	case !p.budget.take(s.now):
		s.drop(f, DropControlBudget)
	default:
		return true
	}
	return false
}

// Auth is how a port authenticates its far end.
type Auth struct {
	Mode   auth.Mode
	Link   string
	Agreed bool // the far end has answered
	// Behind is how often its counter was behind what the far end had believed.
	Behind int
}

// Auth is how port p authenticates its far end; the zero value if it does not.
func (s *Switch) Auth(p unit.Port) Auth {
	e := s.ports[p].auth
	if e == nil {
		return Auth{}
	}
	return Auth{Mode: e.Mode(), Link: e.Link(), Agreed: e.Known(), Behind: s.ports[p].distrust.behind}
}

// SetKeys puts other keys in the place of those of port p, which authenticates its far end: one,
// or two of which the first signs.
func (s *Switch) SetKeys(p unit.Port, keys []auth.Key) { s.ports[p].auth.SetKeys(keys) }

// DropOf is the reason for which a frame of a verdict is dropped.
func DropOf(v auth.Verdict) Reason { return dropOf[v] }

// distrust is what was not believed at a port, and when that was logged.
type distrust struct {
	refused uint64
	behind  int                 // Auth.Behind
	told    [auth.Verdicts]bool // since the ends agreed
	when    unit.Time           // when it was told last
}

// toldEvery is how often the log says that frames are refused. Chosen: often enough to see that
// it goes on, and no flood of refused frames fills the log. Counters have each of them.
const toldEvery = unit.Second

// dropOf are the reasons for which a frame of a verdict is dropped.
var dropOf = [auth.Verdicts]Reason{
	auth.Missing: DropUntagged, auth.Unknown: DropUnknown, auth.Wrong: DropWrongTag,
	auth.Replayed: DropReplayed, auth.Reflected: DropReflected,
}

// refuse drops a frame that is not believed.
func (s *Switch) refuse(in unit.Port, f *buffer.Frame, v auth.Verdict) {
	d := &s.ports[in].distrust
	d.refused++
	if !d.told[v] || s.now-d.when >= toldEvery {
		d.told[v], d.when = true, s.now
		s.event(event.Event{Type: event.AuthRefused, Port: in, Why: v, Bytes: int32(min(d.refused, 1<<31-1))})
	}
	s.ready.Add(in) // there may be a challenge to send
	s.drop(f, dropOf[v])
}

// receiveHello takes what the far end tells of its counter. A port that authenticates nothing
// ignores it.
func (s *Switch) receiveHello(in unit.Port, f *buffer.Frame, t itsyhdr.TLV) {
	p := &s.ports[in]
	if p.auth == nil {
		p.count.RxMessages++
		s.free(f)
		return
	}
	// Hear first, whatever the budget: the counters of the two ends have to stay in step. The
	// budget is for what follows from it, since each answer is a frame and may be followed by a
	// pause of every priority.
	known := p.auth.Known()
	h := p.auth.Hear(s.now, f.Data, t)
	s.ready.Add(in) // there may be a challenge to send
	if !known && p.auth.Known() {
		// The ends agree: a refusal after that is news, whatever was refused before.
		p.distrust.told = [auth.Verdicts]bool{}
		s.event(event.Event{Type: event.AuthAgreed, Port: in})
	}
	if h.Verdict == auth.Believed && !p.budget.take(s.now) {
		// What it says of the counter counts all the same. A challenge comes again until it is
		// answered; a notice does not, so what follows from it waits for the budget (sendChallenge).
		p.behind = p.behind || h.Behind
		s.drop(f, DropControlBudget)
		return
	}
	if h.Replies {
		s.send(in, controlItem{isHello: true, hello: h.Reply})
	}
	if h.Announce {
		s.announceAll(in)
	}
	if h.Behind {
		s.tellBehind(in)
	}
	if h.Verdict != auth.Believed {
		s.refuse(in, f, h.Verdict)
		return
	}
	p.count.RxMessages++
	s.free(f)
}

// tellBehind counts and tells that the counter of a port was behind.
func (s *Switch) tellBehind(in unit.Port) {
	s.ports[in].distrust.behind++
	s.event(event.Event{Type: event.AuthBehind, Port: in})
}

// announceAll announces again, for each lossless priority, whether it is paused: the far end has
// not believed, or not heard, earlier frames, or still obeys those of another switch. A frame
// carries the state at the time it leaves, so a priority that is not paused is resumed.
func (s *Switch) announceAll(in unit.Port) {
	for set := s.ports[in].sends; set != 0; set &= set - 1 {
		s.sendPause(in, set.First())
	}
}

// sendChallenge asks the far end for its counter if that is due, and returns when it is due next.
// A far end that never answers may have auth off, and still obey what the process before this one
// said: an accepting port that restarted resumes it. A notice that was over the budget is acted on
// here. Preconditions: the link is authenticated.
func (s *Switch) sendChallenge(out unit.Port) (next unit.Time) {
	p := &s.ports[out]
	e := p.auth
	if e.Due() <= s.now {
		if p.letsGo && e.Unanswered() {
			p.letsGo = false
			s.announceAll(out)
		}
		s.send(out, controlItem{isHello: true, hello: e.Challenge(s.now)})
	}
	if p.behind {
		if !p.budget.take(s.now) {
			return min(e.Due(), p.budget.free())
		}
		p.behind = false
		s.announceAll(out)
		s.tellBehind(out)
	}
	return e.Due()
}

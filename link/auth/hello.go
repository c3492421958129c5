package auth

import (
	"encoding/binary"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Flags of a hello: what its value is. Without one it is a challenge, and the value a nonce.
const (
	FlagAnswer = 1 // the nonce of a challenge
	FlagNotice = 2 // the last counter that was believed
)

// Where a hello has the whole counter of its sender and its value: in the padding of a message
// frame. What follows is zero.
const (
	offCounter = itsyhdr.MessagePad
	offValue   = offCounter + 8
)

// tagAt is where a message frame has its tag.
const tagAt = itsyhdr.MessageTLV + itsyhdr.AuthOffset

// Hello is what an end says about its counter.
type Hello struct {
	Flags uint8
	Value uint64
}

// waitMax is how many Gaps lie between two challenges that nobody answers, at most.
const waitMax = 64

// ask sends a challenge as soon as the last one has had its time.
func (e *End) ask(now unit.Time) {
	e.due = min(e.due, max(now, e.sent+e.gap))
}

// Up asks the far end for its counter: the link came up.
func (e *End) Up(now unit.Time) { e.nonce, e.due, e.wait = 0, now, e.gap }

// Down stops asking: the link went down.
func (e *End) Down() { e.due = unit.Never }

// Unanswered reports whether the far end is asked, and has never answered.
func (e *End) Unanswered() bool { return !e.known && e.nonce != 0 }

// Due is when to send the hello that Challenge returns; unit.Never for none.
func (e *End) Due() unit.Time { return e.due }

// Challenge is the hello that is due. Until it is answered there is another one, with the same
// nonce, after Gap, twice that, and so on.
func (e *End) Challenge(now unit.Time) Hello {
	if e.nonce == 0 {
		e.nonce = e.counter + 1 // that of no other challenge of this end
		e.wait = e.gap
	}
	e.sent, e.due = now, now+e.wait
	e.wait = min(2*e.wait, waitMax*e.gap)
	return Hello{Value: e.nonce}
}

// PutHello writes the message frame of a hello into frame, of itsyhdr.MessageLen octets, from the
// port at of a switch.
func (e *End) PutHello(frame []byte, at unit.NodePort, h Hello) {
	itsyhdr.PutMessage(frame, e.self.Bytes(), itsyhdr.TLV{Kind: itsyhdr.KindHello, Flags: h.Flags, Initiator: at})
	binary.BigEndian.PutUint64(frame[offCounter:], e.counter+1)
	binary.BigEndian.PutUint64(frame[offValue:], h.Value)
	e.Sign(frame, tagAt)
}

// Heard is the result of a hello of the far end.
type Heard struct {
	Verdict Verdict
	// Reply must be sent if Replies.
	Replies bool
	Reply   Hello
	// Announce: the far end has lost its state. Send every active pause again.
	Announce bool
	// Behind: this end's counter was behind what the far end has believed. Its clock went
	// back; the counter is ahead now.
	Behind bool
}

// Hear takes a message frame of a hello, whose TLV is t.
func (e *End) Hear(now unit.Time, frame []byte, t itsyhdr.TLV) (h Heard) {
	counter, value := binary.BigEndian.Uint64(frame[offCounter:]), binary.BigEndian.Uint64(frame[offValue:])
	switch {
	case ether.Src(frame) == e.self:
		return Heard{Verdict: Reflected}
	case untagged(frame, tagAt):
		return Heard{Verdict: Missing}
	case uint16(counter) != binary.BigEndian.Uint16(frame[tagAt:]) || !e.verify(frame, tagAt, counter):
		e.ask(now)
		return Heard{Verdict: Wrong}
	}
	switch t.Flags {
	case FlagAnswer:
		return e.answered(now, counter, value)
	case FlagNotice:
		return e.noticed(now, value)
	}
	return e.challenged(now, counter, value)
}

// challenged: the far end asks for this end's counter. What it has sent before is over, so its
// counter is believed if it is above the last; but only by an end that knows it already:
// another one cannot tell a challenge from a replayed one. Such an end answers each challenge that is
// later than those before at once, since the far end's own is, and any other once in Gap, since the
// far end's clock may have gone back. A counter that is far ahead is that of an end that restarted: it
// is challenged too, since after its answer it says which priorities it pauses, and is believed.
func (e *End) challenged(now unit.Time, counter, nonce uint64) Heard {
	answer := Heard{Replies: true, Reply: Hello{FlagAnswer, nonce}, Announce: true}
	switch {
	case e.known && counter <= e.last:
		return e.notice(now)
	case e.known:
		if counter-e.last > window {
			e.ask(now)
		}
		e.last = counter
		return answer
	}
	e.ask(now)
	if counter <= e.asked && !e.repeats(now) {
		return Heard{Verdict: Replayed}
	}
	e.asked = max(e.asked, counter)
	return answer
}

// notice tells the far end, whose counter is an old one, of the last that was believed.
func (e *End) notice(now unit.Time) Heard {
	if !e.repeats(now) {
		return Heard{Verdict: Replayed}
	}
	return Heard{Verdict: Replayed, Replies: true, Reply: Hello{FlagNotice, e.last}}
}

// repeats reports, once in Gap, that this end may act on a hello that could be replayed: an honest end asks
// no sooner again, and one that replays causes no work.
func (e *End) repeats(now unit.Time) bool {
	if now < e.told+e.gap {
		return false
	}
	e.told = now
	return true
}

// answered: the far end has had the nonce, so it sent this after it was asked. Without a nonce
// of now it is the answer to a challenge that was repeated, and a frame like others.
func (e *End) answered(now unit.Time, counter, nonce uint64) Heard {
	asked := e.nonce != 0 && nonce == e.nonce
	switch {
	case e.known && counter <= e.last && asked: // its clock went back
		return e.notice(now)
	case e.known && counter <= e.last, !e.known && !asked:
		return Heard{Verdict: Replayed}
	}
	e.known, e.last = true, counter
	if asked {
		e.nonce, e.due = 0, unit.Never
	}
	return Heard{}
}

// noticed: the far end has believed a greater counter of this end than that of its challenge. It
// goes on above that: a notice that is replayed tells of a smaller one. What it has said with the
// counters below was refused.
func (e *End) noticed(now unit.Time, last uint64) Heard {
	if last <= e.counter || last >= 1<<63 {
		return Heard{Verdict: Replayed}
	}
	e.counter = last
	e.nonce, e.due = 0, now
	return Heard{Announce: true, Behind: true}
}

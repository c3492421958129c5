package model

// marks is what is remembered of the past in a state: which queues of the core are of a deadlock
// that was declared, and, in the upper half, which were in the core since their switch has had
// checks or verifications on their way.
type marks uint32

func newMarks(told, lately links) marks { return marks(told) | marks(lately)<<16 }

func (m marks) told() links   { return links(m) }
func (m marks) lately() links { return links(m >> 16) }

// judge sets the marks of next, which was reached from s, and says what is wrong with what was
// declared on the way, "" for nothing. was is the truth about s, and o what happened, nil if that
// was at no switch.
//
// As for package oracle, an instant at which the truth changes belongs to both sides; deadlocks
// that share a queue, at one instant or from one to the next, are one.
func (e *explorer) judge(s, next state, o *outcome, was truth) string {
	is := e.truth(next)
	told, lately := e.marks(s).told(), e.marks(s).lately()|was.core|is.core
	if o != nil && (o.reports != 0 || o.absurd) {
		switch {
		case o.absurd || o.reports&^lately != 0 && !e.isEarly(next, o.reports):
			return "declared, and there is no such deadlock"
		case o.reports&^lately != 0:
			e.result.Early++
		case o.reports&^(was.core|is.core) != 0:
			e.result.Late++
			if !e.breaks() {
				return "declared when it was over, and nothing has failed"
			}
		case o.reports&told != 0:
			e.result.Again++
		default:
			e.result.Declared++
		}
		told |= o.reports
	}
	now := links(0)
	for _, p := range is.parts {
		if p.queues&told != 0 {
			now |= p.queues
		}
	}
	*e.marks(next) = newMarks(now, lately&e.asking(next))
	return ""
}

// isEarly reports whether all of the queues would be in the core of s but for the periods of
// pauses. That takes two losses: of a resume and of the pause after it.
func (e *explorer) isEarly(s state, queues links) bool {
	return e.Losses >= 2 && queues&^e.truthOf(s, true).core == 0
}

// asking are the queues of the switches that have checks or verifications on their way; none if
// that makes no difference, because no deadlock ends.
func (e *explorer) asking(s state) (set links) {
	if !e.breaks() {
		return 0
	}
	if e.Forgiving {
		return 1<<len(e.Links) - 1
	}
	owners := uint32(0)
	for w := range 2 * len(e.Links) {
		owners |= e.wires.seqs[*e.onWire(s, w)].owners
	}
	for k := range e.each {
		owners |= e.local(s, k).owners
	}
	for l, k := range e.Links {
		if owners&bit(k.From.Node) != 0 {
			set |= 1 << l
		}
	}
	return set
}

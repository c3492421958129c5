package event

import "softswitch/unit"

// RefreshEvery is how often a repeated pause is kept by [Refreshes].
const RefreshEvery = unit.Second

// Refreshes leaves repeated pauses out of the log of a node: of each queue and each priority group it keeps
// one in RefreshEvery, and its next event that stays, of those that a pause begins, goes on or ends
// with, says how many before it were left out. A queue whose pause came without a period keeps all.
// The zero value is that of a log that begins.
type Refreshes struct {
	came, sent repeatsOf
	kept       []Event
}

// repeatsOf are by port and priority, of as many ports as there were events of.
type repeatsOf [][unit.Priorities]repeats

func (r *repeatsOf) at(p unit.Port, c unit.Priority) *repeats {
	for int(p) >= len(*r) {
		*r = append(*r, [unit.Priorities]repeats{})
	}
	return &(*r)[p][c]
}

func (r *repeatsOf) leftOut() (n int) {
	for port := range *r {
		for priority := range (*r)[port] {
			n += int((*r)[port][priority].leftOut)
		}
	}
	return n
}

// repeats is what is known of the pauses of a queue or priority group.
type repeats struct {
	paused  bool
	period  uint8
	last    unit.Time // when one of them was kept
	leftOut int32     // since then
}

// Thin returns what is left of events, which it does not change. It is valid until the next call.
func (r *Refreshes) Thin(events []Event) []Event {
	r.kept = r.kept[:0]
	for _, e := range events {
		switch e.Type {
		case Refreshed, Paused, Resumed, Expired:
			p := r.came.at(e.Out, e.OutPriority)
			if e.Type == Refreshed && p.again(e) {
				continue
			}
			p.keep(&e, e.Type == Refreshed && p.paused || e.Type == Paused && e.HasPeriod)
		case RefreshSent, PauseSent, ResumeSent:
			p := r.sent.at(e.Port, e.Priority)
			if e.Type == RefreshSent && p.again(e) {
				continue
			}
			p.keep(&e, e.Type != ResumeSent)
		}
		r.kept = append(r.kept, e)
	}
	return r.kept
}

// again leaves e, which repeats a pause, out if there was another one not long before.
func (p *repeats) again(e Event) bool {
	out := p.paused && p.period == e.Period && e.At-p.last < RefreshEvery
	if out {
		p.leftOut++
	}
	return out
}

// keep has e say what was left out before it.
func (p *repeats) keep(e *Event, paused bool) {
	e.Bytes = p.leftOut
	*p = repeats{paused: paused, period: e.Period, last: e.At}
}

// LeftOut is how many repeated pauses were left out that no event has told of.
func (r *Refreshes) LeftOut() (sent, came int) {
	return r.sent.leftOut(), r.came.leftOut()
}

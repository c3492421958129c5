package event

import "softswitch/unit"

// RefreshEvery is how often a repeated pause is kept by [Refreshes].
const RefreshEvery = unit.Second

// Refreshes leaves repeated pauses out of the log of a node: of each queue and each priority group it keeps
// one in RefreshEvery, and its next event that stays, of those that a pause begins, goes on or ends
// with, says how many before it were left out. A queue whose pause came without a period keeps all.
// The zero value is that of a log that begins.
type Refreshes struct {
	came, sent [unit.MaxPorts][unit.Priorities]repeats
	kept       []Event
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
			p := &r.came[e.Out][e.OutPriority]
			if e.Type == Refreshed && p.again(e) {
				continue
			}
			p.keep(&e, e.Type == Refreshed && p.paused || e.Type == Paused && e.HasPeriod)
		case RefreshSent, PauseSent, ResumeSent:
			p := &r.sent[e.Port][e.Priority]
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
	for port := range r.sent {
		for priority := range r.sent[port] {
			sent, came = sent+int(r.sent[port][priority].leftOut), came+int(r.came[port][priority].leftOut)
		}
	}
	return sent, came
}

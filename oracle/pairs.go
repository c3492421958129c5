package oracle

import (
	"slices"
	"sort"

	"softswitch/event"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// framePairs are the pauses and resumes of which both the sending and the arrival are in the
// logs, for logs that use different clocks: by[i] is the clock of log i.
//
// A switch takes the time of a pause before it writes it, and of one that came after it has
// read it; so what is sent is never later than what comes.
//
// A link keeps the order of its pauses and may lose some, so each that came is taken for the
// first that fits of those sent after the last one that was found. It may be sent earlier
// than the true one, which makes it a slower frame and loosens a bound, but never later: by
// induction all that came before were taken for their true one or an earlier one, so the
// true one is among those to choose from. For this the log of a sender must not lack
// anything but its end. A period has 8 bits and comes round again; that is one more way to
// take a pause for an earlier one.
func framePairs(f *Fabric, logs []event.Log, by []int) (pairs []clocks.Pair) {
	sent := sentPauses(logs)
	for i, l := range logs {
		for k := range l.Events {
			e := &l.Events[k]
			if e.Type != event.Paused && e.Type != event.Refreshed && (e.Type != event.Resumed || !resumedByFrame(l.Events, k)) {
				continue
			}
			at := Queue{unit.NodePort{Node: l.Node.ID, Port: e.Out}, e.OutPriority}
			from, wired := f.Down(at)
			if !wired || sent[from] == nil || by[sent[from].log] == by[i] {
				continue
			}
			if s, found := sent[from].take(e); found {
				pairs = append(pairs, clocks.Pair{
					Sent:     clocks.Stamp{Clock: by[sent[from].log], At: s.At},
					Received: clocks.Stamp{Clock: by[i], At: e.At},
				})
			}
		}
	}
	return pairs
}

// resumedByFrame reports whether it was a resume that came, by which event k of a log ended
// a pause: not a system that acts on its switch, nor a pause of another period.
func resumedByFrame(log []event.Event, k int) bool {
	r := &log[k]
	from, to := k, k+1
	for ; from > 0 && log[from-1].At == r.At; from-- {
	}
	for ; to < len(log) && log[to].At == r.At; to++ {
	}
	return !slices.ContainsFunc(log[from:to], func(e event.Event) bool {
		return e.Type == event.Acted || e.Type == event.Paused && e.Out == r.Out && e.OutPriority == r.OutPriority
	})
}

// pausesOf are the pauses and resumes that a priority group sent, in order. Invariant: all before next were
// sent no later than the last one that was found, so nothing that comes after that can be one of them.
type pausesOf struct {
	log  int
	all  []*event.Event
	next int // those before were taken, or lost
	// pauses, resumes and period are the indices in all of those, and of a period.
	pauses, resumes []int
	period          map[uint8][]int
}

// sentPauses are the pauses and resumes of all logs by the priority group that sent them. A priority group is
// in one log.
func sentPauses(logs []event.Log) map[PG]*pausesOf {
	sent := make(map[PG]*pausesOf)
	for i, l := range logs {
		for k := range l.Events {
			e := &l.Events[k]
			if e.Type != event.PauseSent && e.Type != event.RefreshSent && e.Type != event.ResumeSent {
				continue
			}
			b := PG{unit.NodePort{Node: l.Node.ID, Port: e.Port}, e.Priority}
			if sent[b] == nil {
				sent[b] = &pausesOf{log: i, period: make(map[uint8][]int)}
			}
			sent[b].add(e)
		}
	}
	return sent
}

// add takes the next event. Of repeated pauses that are left out before it, it is known that they were
// not sent before the last one that is there, and for these bounds that is as good as a slower frame.
func (p *pausesOf) add(e *event.Event) {
	if n := len(p.all); n > 0 && p.all[n-1].Type != event.ResumeSent {
		for range e.Bytes {
			p.put(p.all[n-1])
		}
	}
	p.put(e)
}

// put appends a frame, and notes it among those of its kind and its period.
func (p *pausesOf) put(e *event.Event) {
	n := len(p.all)
	p.all = append(p.all, e)
	if e.Type == event.ResumeSent {
		p.resumes = append(p.resumes, n)
		return
	}
	p.pauses = append(p.pauses, n)
	p.period[e.Period] = append(p.period[e.Period], n)
}

// take is the next that can be what came. Those that came before it, and are left out, were sent before
// it: as many are passed over. A pause that carries no period may be one of any period.
func (p *pausesOf) take(came *event.Event) (sent *event.Event, found bool) {
	of := p.pauses
	switch {
	case came.Type == event.Resumed:
		of = p.resumes
	case came.HasPeriod || came.Type == event.Refreshed:
		of = p.period[came.Period]
	}
	i := sort.SearchInts(of, p.next)
	if came.Type == event.Refreshed {
		i += int(came.Bytes)
	}
	if i >= len(of) {
		return nil, false
	}
	p.next = of[i] + 1
	return p.all[of[i]], true
}

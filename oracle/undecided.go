package oracle

import (
	"fmt"
	"slices"

	"softswitch/event"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// JudgeClocks is Judge for logs that use several clocks. It judges what holds whatever the clocks
// did within what is assumed of them (package clocks), and calls the rest undecided. Times of the
// result are by the reference. end is by the reference too. It is an error if the logs show that a
// clock did otherwise.
//
// The truth is between two histories: one in which every fact that makes a queue stuck
// begins as late and ends as early as it can, and one in which it begins as early and ends
// as late. S* grows with these facts (conditions 1 to 3 only become true), and so does the
// core: an edge of G needs bytes that are held and a queue of S*, both of which only become
// more, and a cycle of edges stays one. So at every moment
//
//	core surely <= core in truth <= core possibly
//
// Whether a component is a knot does not grow: one more edge may lead out of it. But from
// every queue of S* the edges lead to a knot, for each queue of S* waits for one; and if no
// edge possibly leads out of a component that is surely there, the knot is in it.
func JudgeClocks(f *Fabric, logs []event.Log, c Clocks, end, late unit.Time) (*Result, error) {
	if len(logs) == 0 || slices.Min(c.By) == c.Reference && slices.Max(c.By) == c.Reference {
		logs = slices.Clone(logs)
		for i := range logs {
			logs[i].Events = logs[i].Events[:c.until(i, logs[i].Events)]
		}
		return Judge(f, logs, end, late)
	}
	return JudgeBounds(f, logs, c, end, late)
}

// until is how many events of log i count for more than what they say of waiting: those up to the end
// by the log's own clock, which no bound can make uncertain.
func (c *Clocks) until(i int, log []event.Event) int {
	if c.Ends == nil {
		return len(log)
	}
	n, _ := slices.BinarySearchFunc(log, c.Ends[i], func(e event.Event, end unit.Time) int {
		if e.At > end {
			return 1
		}
		return -1
	})
	return n
}

// JudgeBounds is JudgeClocks without the short way for one clock: a test holds one against the
// other.
//
// It goes through the logs twice over. By bounds their facts make the two histories, and the findings are
// held against these. By the middle between the bounds their events are replayed as if that were when they
// were, for what only tells: the time line, pauses of hosts, actions, loops of findings that are not true.
// The history of the replay is of no use and is replaced by the sure one.
func JudgeBounds(f *Fabric, logs []event.Log, c Clocks, end, late unit.Time) (*Result, error) {
	if _, err := Merge(logs); err != nil { // two logs of a node
		return nil, err
	}
	net := clocks.New(c.count(), framePairs(f, logs, c.By))
	at := places(logs, &c, net)
	facts := newFacts(f)
	r := NewReplay(f)
	var entries []Entry
	times := map[*event.Event]clocks.Interval{} // of what was declared, by its moved event
	for i, l := range logs {
		p := &at[c.By[i]]
		facts.clock[l.Node.ID] = p
		counted := c.until(i, l.Events)
		if c.By[i] == c.Reference && counted > 0 {
			end = max(end, l.Events[counted-1].At)
		}
		for k := range l.Events {
			e := &l.Events[k]
			if err := f.checkOrder(l, k); err != nil {
				return nil, err
			}
			facts.add(l.Node.ID, e)
			if k < counted {
				moved := *e
				entries = append(entries, Entry{l.Node.ID, k, &moved})
				if e.Type == event.Deadlock {
					times[&moved] = p.when(e.At)
				}
			}
		}
	}
	if err := f.contradiction(logs, &c, at); err != nil {
		return nil, err
	}
	for i := range at {
		at[i].setMiddle(end)
	}
	for _, e := range entries {
		e.At = facts.clock[e.Node].about(e.At)
	}
	// What is judged uses bounds. The rest, as the time line, what hosts and systems did,
	// uses the middle between them.
	Sort(entries)
	var declared []clocks.Interval
	for _, e := range entries {
		if err := r.Add(e); err != nil {
			return nil, err
		}
		if e.Type == event.Deadlock {
			declared = append(declared, times[e.Event])
		}
	}
	surely, possibly := facts.changes()
	j := judging{net: net, facts: facts, clocks: c.count(), reference: c.Reference, late: late, surely: facts.history(surely, end), possibly: facts.history(possibly, end)}
	res := r.finish(end, func(res *Result) { j.judge(res, declared) })
	res.Clocks = known(at, &c)
	return res, nil
}

// checkOrder returns why event k of a log can be none of the fabric or come at that place.
func (f *Fabric) checkOrder(l event.Log, k int) error {
	e := Entry{l.Node.ID, k, &l.Events[k]}
	err := f.checkEntry(e)
	if k > 0 && e.At < l.Events[k-1].At {
		err = fmt.Errorf("before the event at %d ns: its clock went back, and CLOCK_MONOTONIC never does", l.Events[k-1].At)
	}
	if err != nil {
		return f.eventError(e, err)
	}
	return nil
}

// eventError adds to an error which event of a log it is about.
func (f *Fabric) eventError(e Entry, err error) error {
	return fmt.Errorf("%s: event %d (%v at %d ns): %w", f.Name(e.Node), e.Seq, e.Type, e.At, err)
}

// contradiction returns why the bounds on the times of the logs cannot all hold, nil if they can. Of clocks
// that keep to what is assumed of them they do. All that is judged relies on bounds that are not empty.
func (f *Fabric) contradiction(logs []event.Log, c *Clocks, all []place) error {
	for i, l := range logs {
		for k := range l.Events {
			in := all[c.By[i]].when(l.Events[k].At)
			if in.From <= in.To {
				continue
			}
			reference := f.Name(logs[slices.Index(c.By, c.Reference)].Node.ID) // it has a log: frames in it are the bounds
			return f.eventError(Entry{l.Node.ID, k, &l.Events[k]}, fmt.Errorf("by the clock of %s it was not before %d ns, and not after %d ns: a clock drifted by more than %d ppm, or stepped twice within %d s",
				reference, in.From, in.To, clocks.MaxDrift, 2*clocks.Window/unit.Second))
		}
	}
	return nil
}

// judging holds what was declared against the two histories: surely, in which S* is never more than in
// truth, and possibly, in which it is never less. sure and may are their deadlocks.
//
// Between the two a deadlock of the truth may be cut in parts or joined with others: what is surely
// there may have gaps where a fact is uncertain, and what is possibly there may bridge a gap of the truth.
// So deadlocks are counted only where that is excluded (missed, isSettled).
type judging struct {
	net               *clocks.Net
	facts             *factsOf
	clocks, reference int
	late              unit.Time
	surely, possibly  History
	sure, may         lives
}

// judge fills in the outcomes; declared are the bounds of when each finding was declared, in their order.
//
// True is what holds at all times between the bounds, by the sure history: wherever within them the finding
// was, its queue was in the core of the truth. The rest is judgeUntrue's.
func (j *judging) judge(res *Result, declared []clocks.Interval) {
	j.sure, j.may = j.surely.lives(), j.possibly.lives()
	res.History, res.Intervals = &j.surely, j.surely.Intervals()
	res.EndUndecided = j.surely.last().Empty() && !j.possibly.last().Empty()
	named := make([]bool, len(j.may.all)) // by deadlock that is possibly there: a finding may mean it
	for i := range res.Findings {
		f, in := &res.Findings[i], declared[i]
		f.At, f.AtMost, f.Deadlock = min(in.From, res.End), min(in.To, res.End), -1
		if covers(j.surely.coreTimes(f.Queue), f.At, f.AtMost) {
			j.judgeTrue(f, in)
		} else {
			f.Outcome = j.judgeUntrue(f, in)
		}
		for _, d := range j.mayName(f) {
			named[d] = true
		}
	}
	res.Deadlocks = j.sure.all
	res.Undecided = j.missed(named)
}

// coreTimes are the longest intervals in which q is in the core.
func (h *History) coreTimes(q Queue) []Interval {
	return h.where(func(s *Stuck) bool { return s.InCore(q) })
}

// covers reports whether one of the intervals contains all times from one to another. Ends count, as an
// instant of change belongs to both sides (History.Judge).
func covers(all []Interval, from, to unit.Time) bool {
	return slices.ContainsFunc(all, func(in Interval) bool { return in.From <= from && to <= in.To })
}

// judgeTrue: the deadlock that is surely there began, at the latest, when it is surely
// there, and at the earliest when what it is a part of possibly is.
func (j *judging) judgeTrue(f *Finding, in clocks.Interval) {
	d := j.surely.nameDeadlock(f, j.surely.inCore(f.Queue, f.At), j.sure)
	may := j.possibly.inCore(f.Queue, f.At)
	onset := j.may.all[j.may.of[may][j.possibly.changes[may].stuck.component(f.Queue)]].From
	if onset == 0 { // it is not known since when it possibly is
		onset = -unit.Never
	}
	latency := j.span(clocks.Interval{From: onset, To: d.From}, in)
	f.Latency, f.LatencyMost = latency.From, latency.To
}

// judgeUntrue is the outcome of a finding that is not surely true. By one clock it would be one of:
//
//   - true, unless its queue is possibly in the core at no time between its bounds. If it is, nothing is
//     proved;
//   - late, if the end of the queue's last time in the core is less than late ago. That end is between
//     that of the last sure time, or the beginning of the last possible one, and that of the last possible
//     one. Late is proved if there was such a time for sure and even its earliest end is near enough;
//     that it is not late, if even the latest end is too long ago. All times before are longer ago;
//   - premature, if the queue is surely in the core later; not, if it never possibly is;
//   - false otherwise.
func (j *judging) judgeUntrue(f *Finding, in clocks.Interval) Outcome {
	possibly, surely := j.possibly.coreTimes(f.Queue), j.surely.coreTimes(f.Queue)
	var lastMay, lastSure *Interval // of those that end before it
	later, surelyLater := false, false
	for i := range possibly {
		p := &possibly[i]
		switch {
		case p.To < f.At:
			lastMay = p
		case p.From > f.AtMost:
			later = true
		default:
			return Undecided
		}
	}
	for i := range surely {
		if surely[i].To < f.At {
			lastSure = &surely[i]
		} else {
			surelyLater = true
		}
	}
	if lastMay != nil {
		over := clocks.Interval{From: lastMay.From, To: lastMay.To}
		if lastSure != nil {
			over.From = max(over.From, lastSure.To)
		}
		switch ago := j.span(over, in); {
		case ago.From >= j.late:
		case ago.To < j.late && lastSure != nil && lastSure.To >= lastMay.From:
			return Late
		default:
			return Undecided
		}
	}
	switch {
	case surelyLater:
		return Premature
	case later:
		return Undecided
	}
	return FalsePositive
}

// span is between which bounds the time from one moment to another is. The reference may
// step between them, so another clock is asked too: not both step. Either may drift. Of the other
// clocks the one that knows best is asked, and the hull of both answers is taken, because it is not
// known which of the two stepped, if one did.
func (j *judging) span(from, to clocks.Interval) clocks.Interval {
	least := func(a, b clocks.Interval) clocks.Interval {
		d := clocks.Interval{From: 0, To: unit.Never}
		if b.From != -unit.Never && a.To != unit.Never {
			d.From = max(0, b.From-a.To)
		}
		if b.To != unit.Never && a.From != -unit.Never {
			d.To = b.To - a.From
		}
		return d
	}
	here, other := least(from, to), clocks.Interval{From: 0, To: unit.Never}
	for c := range j.clocks {
		if c == j.reference {
			continue
		}
		if there := least(j.by(c, from), j.by(c, to)); there.Width() < other.Width() {
			other = there
		}
	}
	all := clocks.Interval{From: min(here.From, other.From), To: max(here.To, other.To)}
	if j.clocks == 1 {
		return here
	}
	all.From = max(0, all.From-clocks.Drift(all.From))
	if all.To != unit.Never {
		all.To += clocks.Drift(all.To)
	}
	return all
}

// by is an interval of the reference by another clock.
func (j *judging) by(clock int, in clocks.Interval) clocks.Interval {
	return in.Over(func(at unit.Time) clocks.Interval {
		return j.net.Bounds(clocks.Stamp{Clock: j.reference, At: at}, clock)
	})
}

// mayName are the deadlocks that are possibly there and that a finding may name: whose core its queue is in
// at some time at which it may have been declared, the instant before a change included.
func (j *judging) mayName(f *Finding) (named []int) {
	h := &j.possibly
	for i := max(0, h.index(f.At)-1); i < len(h.changes) && h.changes[i].at <= f.AtMost; i++ {
		if until, _ := h.until(i); until < f.At {
			continue
		}
		if c := h.changes[i].stuck.component(f.Queue); c >= 0 {
			named = append(named, j.may.of[i][c])
		}
	}
	slices.Sort(named)
	return slices.Compact(named)
}

// missed marks those of the deadlocks that are surely there of which it cannot be said
// whether they were missed, and returns those that are possibly there of which it cannot be
// said that they were, or were missed.
//
// Deadlocks of the truth lie within those that are possibly there, so it is asked of each of these. That a
// knot of it was missed is proved if one was surely there (knotAround) and no finding may mean any of it.
// Which of several parts the knot is cannot be told: the first that it was found around is counted as
// missed, so that one counts once, and of the others it is undecided. If all that it hangs on is known
// exactly, the sure history has it as it was. If it is settled, that history has all deadlocks that there
// were, but not all of their times.
func (j *judging) missed(named []bool) (undecided []Deadlock) {
	knots := make([]int, len(named))    // by deadlock that is possibly there: one that surely is a knot, + 1
	within := make([][]int, len(named)) // and those that surely are
	for i, c := range j.surely.changes {
		to, _ := j.surely.until(i)
		for n, comp := range c.stuck.Components {
			knot, d := j.knotAround(comp.Queues[0], c.at, to)
			is := j.sure.of[i][n]
			if knot && knots[d] == 0 {
				knots[d] = is + 1
			}
			if !slices.Contains(within[d], is) {
				within[d] = append(within[d], is)
			}
		}
	}
	for d := range named {
		settled, exact := j.isSettled(d)
		missed := !named[d] && knots[d] > 0
		silent := 0
		for _, i := range within[d] {
			s := &j.sure.all[i]
			switch {
			case len(s.Declarers) > 0:
			case exact && (!named[d] || !s.Knot): // it is as that history has it
			case missed && i == knots[d]-1:
				s.Knot = true
			default:
				s.Undecided = true
				silent++
			}
		}
		if !settled || silent > 0 {
			undecided = append(undecided, j.may.all[d])
		}
	}
	return undecided
}

// knotAround is the deadlock that is possibly there around a queue that surely is in one
// from one time to another, and whether no edge possibly leads out of it at some time then.
// If so there was a knot within it at that time: from the queue, which is stuck in truth, edges lead to
// a knot, and no edge of the truth is missing among those that are possible.
func (j *judging) knotAround(q Queue, from, to unit.Time) (knot bool, deadlock int) {
	h := &j.possibly
	for i := h.index(from); i < len(h.changes) && (h.changes[i].at < to || h.changes[i].at == from); i++ {
		s := h.changes[i].stuck
		c := s.component(q)
		deadlock = j.may.of[i][c]
		if s.Components[c].Knot {
			return true, deadlock
		}
	}
	return false, deadlock
}

// ClocksKnown is how well the clocks of a run were known.
type ClocksKnown struct {
	Count int
	// Typical and Worst are how far apart, in ns, the bounds are on the time of what the logs of all
	// clocks but the reference have: the median, and the worst. Unbounded is for how many,
	// per mille, there is no bound; they do not count as Worst.
	Typical, Worst unit.Time
	Unbounded      int
}

// known counts each time of a clock once, however many events there were then. The reference has no
// bounds to count.
func known(all []place, c *Clocks) *ClocksKnown {
	by := slices.Clone(c.By)
	slices.Sort(by)
	k := &ClocksKnown{Count: len(slices.Compact(by))}
	var widths []unit.Time
	for i := range all {
		if i == c.Reference {
			continue
		}
		for _, in := range all[i].in {
			if in.From == 0 { // nothing is known but that it was not before the reference began
				in.From = -unit.Never
			}
			widths = append(widths, in.Width())
		}
	}
	if len(widths) == 0 {
		return k
	}
	slices.Sort(widths)
	bounded, _ := slices.BinarySearch(widths, unit.Never)
	k.Typical = widths[len(widths)/2]
	if bounded > 0 {
		k.Worst = widths[bounded-1]
	}
	k.Unbounded = (len(widths) - bounded) * 1000 / len(widths)
	return k
}

// Reference is the clock that most switches of a fabric use, of several the first. What most of the logs
// say is known exactly then.
func Reference(f *Fabric, logs []event.Log, by []int) (most int) {
	most = by[0]
	count := make([]int, 1+slices.Max(by))
	for i, l := range logs {
		if n := f.node(l.Node.ID); n != nil && !n.Host {
			count[by[i]]++
		}
		if count[by[i]] > count[most] || count[by[i]] == count[most] && by[i] < most {
			most = by[i]
		}
	}
	return most
}

// LeastOffsets are by how much each clock is ahead of the first, as the fastest frames
// between them say: the middle of the least in one direction and the greatest in the other.
// It has no bounds, and is wrong as soon as clocks drift, step, or links are slower in one
// direction; JudgeClocks does without. Known are those for which there are frames.
func LeastOffsets(f *Fabric, logs []event.Log, by []int, n int) (ahead []unit.Time, known []bool) {
	pairs := framePairs(f, logs, by)
	ahead, known = make([]unit.Time, n), make([]bool, n)
	known[0] = true
	for work := []int{0}; len(work) > 0; work = work[1:] {
		from := work[0]
		for to := range n {
			if known[to] {
				continue
			}
			most, least := unit.Never, -unit.Never
			for _, p := range pairs {
				switch d := p.Received.At - p.Sent.At; {
				case p.Sent.Clock == from && p.Received.Clock == to:
					most = min(most, d)
				case p.Sent.Clock == to && p.Received.Clock == from:
					least = max(least, -d)
				}
			}
			switch {
			case most == unit.Never && least == -unit.Never:
				continue
			case most == unit.Never:
				most = least
			case least == -unit.Never:
				least = most
			}
			ahead[to], known[to] = ahead[from]+least+(most-least)/2, true
			work = append(work, to)
		}
	}
	return ahead, known
}

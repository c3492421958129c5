package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// Entry is an event of a node of the fabric.
type Entry struct {
	Node unit.NodeID
	Seq  int // position in the node's log
	*event.Event
}

// Merge puts the logs of several nodes into one order: by time, then node, then
// position in the log. The entries point into the logs. Two logs of one node are an
// error: nothing would say which of two events of one time came first.
//
// Of events of one time the order within a node decides: XON and then XOFF leaves a priority group XOFF, the
// other way round it does not. The order of nodes decides nothing that is judged, for a node logs
// facts about its own queues and priority groups only, and S* is taken when the instant is over. It is fixed
// so that equal logs give equal results.
func Merge(logs []event.Log) ([]Entry, error) {
	n := 0
	names := make(map[unit.NodeID]string)
	for _, l := range logs {
		if name, taken := names[l.Node.ID]; taken && len(l.Events) > 0 {
			return nil, fmt.Errorf("two logs of node %d: %q and %q", l.Node.ID, name, l.Node.Name)
		}
		if len(l.Events) > 0 {
			names[l.Node.ID] = l.Node.Name
		}
		n += len(l.Events)
	}
	all := make([]Entry, 0, n)
	for _, l := range logs {
		for i := range l.Events {
			all = append(all, Entry{l.Node.ID, i, &l.Events[i]})
		}
	}
	Sort(all)
	return all, nil
}

// Sort sorts entries by time, then node, then position in the log.
func Sort(all []Entry) {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Seq, b.Seq))
	})
}

// Judge merges the logs of a run, replays them and judges the findings in them; late is
// as for History.Judge. The run ends with its last event, or at end if that is later. All logs use
// one clock.
func Judge(f *Fabric, logs []event.Log, end, late unit.Time) (*Result, error) {
	entries, err := Merge(logs)
	if err != nil {
		return nil, err
	}
	r := NewReplay(f)
	for _, e := range entries {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	return r.Finish(end, late), nil
}

// Replay turns events into facts, and keeps what Judge needs as well.
//
// Invariants: state has the facts of all events that were added, in order; the history has S* of all
// instants before now, and now is the time of the last event. The instant of now is settled when
// a later event comes, or at the end.
//
// A log counts each queue separately, so a flooded frame counts once in every queue
// that it waits in. Only a simulator, which can look at the frames themselves, can have
// it counted once: see Exact.
type Replay struct {
	fabric *Fabric
	state  *State
	now    unit.Time

	res   Result // as far as events alone tell of it
	steps map[label][]step
	open  map[Queue]int // queue that a host pauses: index in HostPauses
	story story
}

// step is one switch on a label's path: it reached queue and went on to the upstream of
// priority group.
type step struct {
	at    unit.Time
	queue Queue
	pg    PG
}

// NewReplay returns a Replay before its first event.
func NewReplay(f *Fabric) *Replay {
	return &Replay{
		fabric: f, state: NewState(f), res: Result{Fabric: f, History: new(History)}, story: newStory(f),
		steps: make(map[label][]step), open: make(map[Queue]int),
	}
}

// Add takes the next event in the order of Merge. It is an error if the fabric does not
// have the event's node or port, or if the event is earlier than the last one; then
// nothing changes.
func (r *Replay) Add(e Entry) error {
	if err := r.check(e); err != nil {
		return r.fabric.eventError(e, err)
	}
	if e.At > r.now {
		r.settle(e.At)
	}
	pg := PG{unit.NodePort{Node: e.Node, Port: e.Port}, e.Priority}
	queue := Queue{unit.NodePort{Node: e.Node, Port: e.Out}, e.OutPriority}
	r.facts(e, pg, queue)
	r.keep(e, pg, queue)
	r.story.add(e)
	return nil
}

// Exact returns the facts for a caller that knows more about b's bytes than the events
// say; it first discards what the events said about b. The caller sets everything that
// waits in paused queues (SetHeld, SetFlooded), and does so again at the next Held
// event of b.
func (r *Replay) Exact(b PG) *State {
	r.state.ForgetPG(b)
	return r.state
}

// settle ends the present instant and advances to now.
func (r *Replay) settle(now unit.Time) {
	r.res.History.Settle(r.now, r.state.Stuck())
	r.now = now
}

// check returns why e cannot be added: S* of an instant that was settled is not computed again.
func (r *Replay) check(e Entry) error {
	if e.At < r.now {
		return fmt.Errorf("before the event at %d ns", r.now)
	}
	return r.fabric.checkEntry(e)
}

// checkEntry returns why e cannot be an event of the fabric.
func (f *Fabric) checkEntry(e Entry) error {
	if f.node(e.Node) == nil {
		return f.check(unit.NodePort{Node: e.Node})
	}
	pg, queue := uses(e.Event)
	if pg {
		if err := f.check(unit.NodePort{Node: e.Node, Port: e.Port}); err != nil {
			return err
		}
	}
	if queue {
		if err := f.check(unit.NodePort{Node: e.Node, Port: e.Out}); err != nil {
			return err
		}
	}
	if e.Priority >= unit.Priorities || e.OutPriority >= unit.Priorities {
		return fmt.Errorf("priorities %d and %d: want 0 to %d", e.Priority, e.OutPriority, unit.Priorities-1)
	}
	return nil
}

// uses reports whether an event is about a priority group or an ingress port, and whether it is
// about a queue or an egress port. Only what an event uses is checked: of the rest the number means
// nothing. A type that is not listed uses both.
func uses(e *event.Event) (pg, queue bool) {
	switch e.Type {
	case event.XON, event.Headroom, event.PauseSent, event.ResumeSent, event.RefreshSent, event.LinkUp, event.LinkDown, event.HostStorm, event.HostStormOver, event.HostSlow, event.HostSlowOver,
		event.AuthAgreed, event.AuthRefused, event.AuthBehind, event.Members,
		event.NeighbourLearned, event.NeighbourGone, event.DCBXMismatch, event.DCBXAgreed, event.PauseUnheeded:
		return true, false
	case event.Paused, event.Refreshed, event.Resumed, event.Expired, event.Rerouted:
		return false, true
	case event.Trace, event.Acted, event.Refused:
		return e.Port != unit.NoPort, e.Out != unit.NoPort
	}
	return true, true
}

// facts updates the state, and what hosts pause. S* is not computed here but once for the instant.
func (r *Replay) facts(e Entry, b PG, q Queue) {
	r.state.apply(e, b, q)
	switch e.Type {
	case event.Paused:
		r.hostPauseBegins(q)
	case event.Resumed, event.Expired:
		r.hostPauseEnds(q)
	}
}

// Stuck is S* according to the events added so far.
func (r *Replay) Stuck() *Stuck { return r.state.Stuck() }

// Apply updates the state with an event, for a caller that follows growing logs and
// needs no history. An event of a node or port that the fabric does not have is an
// error, and changes nothing. The caller keeps the order; times are not looked at.
func (s *State) Apply(e Entry) error {
	if err := s.fabric.checkEntry(e); err != nil {
		return fmt.Errorf("%s: %v at %d ns: %w", s.fabric.Name(e.Node), e.Type, e.At, err)
	}
	s.apply(e, PG{unit.NodePort{Node: e.Node, Port: e.Port}, e.Priority}, Queue{unit.NodePort{Node: e.Node, Port: e.Out}, e.OutPriority})
	return nil
}

// apply is what an event says of the facts of a State. What a switch logs keeps them complete
// (package event): after XOFF comes a Held for each paused queue in which the priority group has bytes, after
// Paused one for each priority group that has bytes in the queue and is XOFF (or any, where a pool may be
// short), and then one at each change. So what is not told of stays as it is. All other types change nothing
// about waiting: StrongCreated and StrongRemoved follow from these facts, a repeated pause leaves the active
// one as it is, and a link that goes down ends its pauses by Expired.
//
// factsOf.add does the same for several clocks: the two have to agree.
func (s *State) apply(e Entry, b PG, q Queue) {
	switch e.Type {
	case event.XOFF:
		s.SetXOFF(b, e.Period, int(e.Limit))
	case event.XON:
		s.SetXON(b)
		// The switch logs no changes of a priority group that is not XOFF, so what is known of its bytes
		// would grow old. The next XOFF tells them again. Where a pool may be short it logs those of all
		// priority groups, XOFF or not, and what is known stays right.
		if !s.fabric.sharesPool(b.Node) {
			s.ForgetPG(b)
		}
	case event.Headroom:
		s.SetHeadroom(b, int(e.Bytes), int(e.Limit))
	case event.Acted:
		switch e.Action {
		case detect.ActionExtra:
			s.SetExtra(b, int(e.Bytes))
		case detect.ActionExtraOver:
			s.SetExtra(b, 0)
		}
	case event.Paused:
		if e.HasPeriod {
			s.SetPaused(q, e.Period)
		} else {
			s.SetPausedAnyPeriod(q)
		}
	case event.Resumed, event.Expired:
		s.SetResumed(q)
		// From now on frames leave q and no event says so. The next Paused tells what is left.
		s.ForgetQueue(q)
	case event.Held:
		// Bytes are all that b has in q, not a difference: one event is enough to know.
		s.SetLimit(b, int(e.Limit))
		s.SetHeld(b, q.Port.Set(), q.Priority, int(e.Bytes))
	}
}

// hostPauseBegins notes a pause of a queue that leads to a host. Such a pause has no part in S*; it is kept
// for Storms. An active one goes on: a queue has one pause at a time.
func (r *Replay) hostPauseBegins(q Queue) {
	if _, already := r.open[q]; already || !r.fabric.FacesHost(q.NodePort) {
		return
	}
	r.open[q] = len(r.res.HostPauses)
	r.res.HostPauses = append(r.res.HostPauses, HostPause{q, Interval{From: r.now, Open: true}})
}

// hostPauseEnds ends the pause of q, if it is one that a host imposed.
func (r *Replay) hostPauseEnds(q Queue) {
	if i, ok := r.open[q]; ok {
		r.res.HostPauses[i].To, r.res.HostPauses[i].Open = r.now, false
		delete(r.open, q)
	}
}

// keep records what is not a fact about waiting: findings, the path of labels, frames. None of it
// goes back into the State: what detectors say has no part in what is true.
//
// Bytes of a PFC frame that was sent are how many repeated pauses before it the log leaves out; they
// were sent too, and count.
func (r *Replay) keep(e Entry, b PG, q Queue) {
	switch e.Type {
	case event.Deadlock:
		r.res.Findings = append(r.res.Findings, Finding{At: e.At, told: e.At, PG: b, Queue: q, Label: e.Label, Trigger: e.Trigger, OnLoop: e.OnLoop})
	case event.Trace:
		if forwards(e.Step) && e.Port != unit.NoPort && e.Out != unit.NoPort {
			id := labelID(e.Label)
			r.steps[id] = append(r.steps[id], step{e.At, q, b})
		}
	case event.Cause:
		r.diagnose(e, b, q)
	case event.Acted:
		r.res.Actions = append(r.res.Actions, Taken{e.At, e.Action, b, q, int(e.Bytes), e.Flow})
	case event.Refused:
		r.res.Refusals = append(r.res.Refusals, Refused{e.At, e.Refusal, b, q})
	case event.PauseSent:
		r.res.Frames.XOFF++
		r.res.Frames.Refresh += int(e.Bytes)
	case event.ResumeSent:
		r.res.Frames.XON++
		r.res.Frames.Refresh += int(e.Bytes)
	case event.RefreshSent:
		r.res.Frames.Refresh += 1 + int(e.Bytes)
	}
}

// Finish ends the run, at end or at the last event, whichever is later, and judges it.
// The Replay must not be used afterwards.
func (r *Replay) Finish(end, late unit.Time) *Result {
	return r.finish(end, func(res *Result) {
		res.Intervals = res.History.Intervals()
		res.Deadlocks = res.History.Judge(res.Findings, late)
	})
}

// finish ends the run; judge fills in the intervals, the deadlocks and the outcomes of
// findings, and may put another history in the place of that of the events.
//
// The last instant is settled, and S* as of then lasts until the end, which is settled too, so that what
// is stuck then has an interval up to it. The order below matters: storms need the intervals, loops the
// outcomes, and the time line tells of all of them.
func (r *Replay) finish(end unit.Time, judge func(*Result)) *Result {
	r.settle(max(end, r.now))
	r.res.History.Settle(r.now, r.state.Stuck())
	for i := range r.res.HostPauses {
		if p := &r.res.HostPauses[i]; p.Open {
			p.To = r.now
		}
	}
	res := r.res // a copy, so that a result keeps no State in memory
	res.End = r.now
	judge(&res)
	res.Openings = res.History.Openings()
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Outcome != TruePositive {
			f.Loop = r.labelLoop(f)
		}
	}
	res.Storms = storms(res.HostPauses, res.Intervals)
	res.Timeline = r.story.finish(&res)
	return &res
}

package oracle

import (
	"cmp"
	"slices"
	"sort"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// Clocks says by which clock each log of a run goes.
type Clocks struct {
	By        []int // by log: the number of its clock, from 0
	Reference int   // the clock of the result
	// Ends are, by log and by its clock, when the run ends: what a node declared, did and
	// sent later does not count, but what its log says of waiting does. Nil: nothing is later.
	Ends []unit.Time
}

// count is how many clocks there are.
func (c *Clocks) count() int { return 1 + max(slices.Max(c.By), c.Reference) }

// place is when everything in the logs of one clock was, by the reference.
//
// Invariants: at has no time twice and is in order; in[i] bounds when at[i] was, both its ends in order
// too, because what is later by its own clock is later by any. No bound is below 0: no run begins before
// the reference does.
type place struct {
	at []unit.Time // the times of its logs
	in []clocks.Interval
	// middle stands for in where nothing is judged: between the bounds, if there are two, and
	// not after the end. It is an estimate, and of no use for a proof.
	middle []unit.Time
}

// about is middle at a time of the logs.
func (p *place) about(at unit.Time) unit.Time {
	i, _ := slices.BinarySearch(p.at, at)
	return p.middle[i]
}

// setMiddle fills in middle. As time does, it does not go back. From 0 means that nothing is known from
// below: then only the upper bound can be used.
func (p *place) setMiddle(end unit.Time) {
	last := unit.Time(0)
	for _, in := range p.in {
		if in.From == 0 {
			in.From = min(in.To, end)
		}
		in.To = min(in.To, max(in.From, end))
		last = max(last, min(end, in.From+(in.To-in.From)/2))
		p.middle = append(p.middle, last)
	}
}

// beginning stands for the time before all logs. It is no time of any clock, as these do not go below 0.
const beginning unit.Time = -1

// when is between which times of the reference a time of the logs was.
func (p *place) when(at unit.Time) clocks.Interval {
	if at == beginning {
		return clocks.Interval{}
	}
	i := sort.Search(len(p.at), func(i int) bool { return p.at[i] >= at })
	return p.in[i]
}

// places are those of all clocks. Times do not go back on any clock, so what is later by
// its own clock is later by the reference: a lower bound holds for all that comes after, an upper
// bound for all that was before, and both are passed on. If all bounds are right none becomes empty
// by that, since the true time stays in each; one that is empty is a contradiction (Fabric.contradiction).
func places(logs []event.Log, c *Clocks, net *clocks.Net) []place {
	all := make([]place, c.count())
	for i, l := range logs {
		p := &all[c.By[i]]
		for k := range l.Events {
			p.at = append(p.at, l.Events[k].At)
		}
	}
	for n := range all {
		p := &all[n]
		slices.Sort(p.at)
		p.at = slices.Compact(p.at)
		p.in = make([]clocks.Interval, len(p.at))
		for i, at := range p.at {
			p.in[i] = net.Bounds(clocks.Stamp{Clock: n, At: at}, c.Reference)
			p.in[i].From, p.in[i].To = max(p.in[i].From, 0), max(p.in[i].To, 0)
			if i > 0 {
				p.in[i].From = max(p.in[i].From, p.in[i-1].From)
			}
		}
		for i := len(p.in) - 2; i >= 0; i-- {
			p.in[i].To = min(p.in[i].To, p.in[i+1].To)
		}
	}
	return all
}

// factsOf are the facts of all nodes over time, each by the clock of its node. A State has one value of a
// fact, that of now; here each fact has its whole course, so that it can be laid between bounds later.
type factsOf struct {
	fabric *Fabric
	clock  map[unit.NodeID]*place
	paused stepsBy[Queue]
	xoff   stepsBy[PG]
	limit  stepsBy[PG]
	held   stepsBy[holding]
	// Of nodes with Rules: outside is what a priority group has outside its headroom, less allOutside.
	outside, extra stepsBy[PG]
	// What there is of held for a priority group, and for a queue: what XON of the one and a resume of the
	// other set to 0.
	of map[PG][]holding
	in map[Queue][]holding
}

// stepsBy are facts of one kind by what they are about, in the order in which they came.
type stepsBy[K comparable] struct {
	keys []K
	all  map[K]*steps
}

// of is the fact about a key, which it makes if there is none.
func (s *stepsBy[K]) of(key K) *steps {
	if s.all[key] == nil {
		if s.all == nil {
			s.all = make(map[K]*steps)
		}
		s.all[key] = new(steps)
		s.keys = append(s.keys, key)
	}
	return s.all[key]
}

// holding is the bytes of a priority group that wait in a queue.
type holding struct {
	pg    PG
	queue Queue
}

func newFacts(f *Fabric) *factsOf {
	return &factsOf{fabric: f, clock: map[unit.NodeID]*place{}, of: map[PG][]holding{}, in: map[Queue][]holding{}}
}

// add takes the next event of a node. It says of the facts what State.apply does, and has to: the truth by
// one clock is by that, and lies between the two histories only if both read events alike. Periods are
// kept with 1 added, as 0 means none.
func (f *factsOf) add(node unit.NodeID, e *event.Event) {
	b, q := PG{unit.NodePort{Node: node, Port: e.Port}, e.Priority}, Queue{unit.NodePort{Node: node, Port: e.Out}, e.OutPriority}
	switch e.Type {
	case event.XOFF:
		f.xoff.of(b).set(e.At, int(e.Period)+1)
		f.setLimit(b, e)
	case event.XON:
		f.xoff.of(b).set(e.At, noPeriod)
		if f.fabric.sharesPool(node) {
			break
		}
		for _, h := range f.of[b] {
			f.held.of(h).set(e.At, 0)
		}
	case event.Headroom:
		outside := allOutside
		if e.Bytes > 0 {
			outside = int(e.Limit)
		}
		f.outside.of(b).set(e.At, outside-allOutside)
	case event.Acted:
		switch e.Action {
		case detect.ActionExtra:
			f.extra.of(b).set(e.At, int(e.Bytes))
		case detect.ActionExtraOver:
			f.extra.of(b).set(e.At, 0)
		}
	case event.Paused:
		is := anyPeriod
		if e.HasPeriod {
			is = int(e.Period) + 1
		}
		f.paused.of(q).set(e.At, is)
	case event.Resumed, event.Expired:
		f.paused.of(q).set(e.At, noPeriod)
		for _, h := range f.in[q] {
			f.held.of(h).set(e.At, 0)
		}
	case event.Held:
		f.setLimit(b, e)
		h := holding{b, q}
		if f.held.all[h] == nil {
			f.of[b], f.in[q] = append(f.of[b], h), append(f.in[q], h)
		}
		f.held.of(h).set(e.At, int(e.Bytes))
	}
}

// setLimit notes the limit that an event tells of. Until the first one is known the limit is taken to
// be that. It matters from the first XOFF on, whenever between its bounds that was, and a 0 before it
// would be one more value that the limit may have had then.
func (f *factsOf) setLimit(b PG, e *event.Event) {
	s := f.limit.of(b)
	if len(*s) == 0 {
		s.set(beginning, int(e.Limit))
	}
	if s.value(len(*s)) != int(e.Limit) {
		s.set(e.At, int(e.Limit))
	}
}

// fact is a change of a State, by the reference. Period and XOFF are one fact here, about the queue and its
// priority group together (meet): whether conditions 1 and 2 hold.
type fact struct {
	at    unit.Time
	queue Queue // that is in the period of its priority group, or not; or in which bytes are held
	// priority group is set if the fact is about its limit, headroom or extra or, with a queue, about its
	// bytes.
	pg PG
	of factOf
	is int
}

// factOf is which fact about a priority group a fact is, if it names no queue.
type factOf uint8

const (
	ofLimit factOf = iota
	ofOutside
	ofExtra
)

// apply puts the fact into a State in which each priority group that ever was XOFF is so for good (history).
// There SetPausedAnyPeriod closes a queue and SetResumed opens it, whatever the period.
func (f *fact) apply(s *State) {
	switch {
	case f.pg == PG{}:
		if f.is == 1 {
			s.SetPausedAnyPeriod(f.queue)
		} else {
			s.SetResumed(f.queue)
		}
	case f.queue == Queue{} && f.of == ofLimit:
		s.SetLimit(f.pg, f.is)
	case f.queue == Queue{} && f.of == ofOutside:
		s.SetHeadroom(f.pg, 1, allOutside+f.is)
	case f.queue == Queue{}:
		s.SetExtra(f.pg, f.is)
	default:
		s.SetHeld(f.pg, f.queue.Port.Set(), f.queue.Priority, f.is)
	}
}

// changes are the facts as they surely are, and as they possibly are, in order of time.
//
// Each fact pulls S* one way, and so is taken at that end of what it may be at which S* is smallest, or
// largest: bytes that are held, and what is outside a headroom, make S* larger, limits and extras
// make it smaller. The facts may not all be at that end at one time, so the two histories may be
// further apart than need be, and never too close. That costs what is undecided, not what is right.
func (f *factsOf) changes() (surely, possibly []fact) {
	put := func(to *[]fact, s steps, q Queue, b PG, of ...factOf) {
		for _, v := range s {
			*to = append(*to, fact{v.at, q, b, cmp.Or(of...), v.is})
		}
	}
	// A queue that leads to a host, and one of which the priority group was never XOFF, meets no period.
	for _, q := range f.paused.keys {
		down, wired := f.fabric.Down(q)
		if !wired || f.fabric.node(down.Node).Host || f.xoff.all[down] == nil {
			continue
		}
		sure, may := meet(*f.paused.of(q), *f.xoff.of(down), f.when(q.Node), f.when(down.Node))
		put(&surely, sure, q, PG{})
		put(&possibly, may, q, PG{})
	}
	for _, b := range f.limit.keys {
		put(&surely, f.limit.of(b).least(f.when(b.Node), -1), Queue{}, b)
		put(&possibly, f.limit.of(b).least(f.when(b.Node), 1), Queue{}, b)
	}
	// What stays of a pool is stuck for sure by the least that is outside headrooms and the most
	// that limits allow: the XON of each is greatest then.
	for _, b := range f.outside.keys {
		put(&surely, f.outside.of(b).least(f.when(b.Node), 1), Queue{}, b, ofOutside)
		put(&possibly, f.outside.of(b).least(f.when(b.Node), -1), Queue{}, b, ofOutside)
	}
	for _, b := range f.extra.keys {
		put(&surely, f.extra.of(b).least(f.when(b.Node), -1), Queue{}, b, ofExtra)
		put(&possibly, f.extra.of(b).least(f.when(b.Node), 1), Queue{}, b, ofExtra)
	}
	for _, h := range f.held.keys {
		put(&surely, f.held.of(h).least(f.when(h.pg.Node), 1), h.queue, h.pg)
		put(&possibly, f.held.of(h).least(f.when(h.pg.Node), -1), h.queue, h.pg)
	}
	// Facts of one time are one instant, whatever their order: history settles after all of them.
	for _, all := range [...][]fact{surely, possibly} {
		slices.SortStableFunc(all, func(a, b fact) int { return cmp.Compare(a.at, b.at) })
	}
	return surely, possibly
}

func (f *factsOf) when(n unit.NodeID) func(unit.Time) clocks.Interval { return f.clock[n].when }

// history is S* over time by these facts, until the end. Facts of which the bound lies beyond it are left
// out: what they change is no longer judged.
func (f *factsOf) history(changes []fact, end unit.Time) (h History) {
	s := NewState(f.fabric)
	for _, b := range f.xoff.keys {
		s.SetXOFF(b, 0, 0) // whether its queue is in its period is in changes
	}
	now := unit.Time(0)
	for i := range changes {
		c := &changes[i]
		if c.at > end {
			break
		}
		if c.at > now {
			h.Settle(now, s.Stuck())
			now = c.at
		}
		c.apply(s)
	}
	h.Settle(now, s.Stuck())
	h.Settle(max(now, end), s.Stuck())
	return h
}

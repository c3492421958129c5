package oracle

import (
	"cmp"
	"slices"

	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// A deadlock that is possibly there may, in truth, be none, one, or several after each
// other. It is settled which, if of all facts that it hangs on none that makes queues stuck
// may come at the same time as one that frees some. Then there are times of growth and times
// of decay, one after the other, and moments between them at which every fact is known. In
// growth no deadlock ends, and in decay none begins; so each passes through such a moment,
// where the history of what is surely so shows it: what that history has is what there was.
//
// A fact grows S* if it can make a queue stuck: a pause or an XOFF that begins, more bytes that wait, a
// lower limit. It decays S* if it can free one: the opposite of each. A period that follows another
// does both at once.

// factChange is between which times of the reference a fact changed, and whether it can make queues stuck
// or free some. A change that can do both is two of them.
type factChange struct {
	clocks.Interval
	grows bool
}

// isSettled reports whether deadlock d of those that are possibly there is settled, and
// whether all that it hangs on is known exactly: then it is as the history of what is surely
// so has it.
//
// Only changes that may be within its life count. Before and after that it surely is not there, so it
// makes no difference when exactly a change was. One that may be within it or before it counts, and is
// uncertain.
func (j *judging) isSettled(d int) (settled, exact bool) {
	var all []factChange
	life := j.may.all[d].Interval
	less, more := func(was, is int) (bool, bool) { return is < was, is > was }, func(was, is int) (bool, bool) { return is > was, is < was }
	queues := j.hangsOn(d)
	if slices.ContainsFunc(queues, j.sharesPool) { // then on what any priority group holds
		queues = j.facts.paused.keys
		for _, h := range j.facts.held.keys {
			all = j.facts.appendChanges(all, j.facts.held.all[h], h.pg.Node, life, more)
		}
		for _, b := range j.facts.outside.keys {
			all = j.facts.appendChanges(all, j.facts.outside.all[b], b.Node, life, more)
		}
		for _, b := range j.facts.extra.keys {
			all = j.facts.appendChanges(all, j.facts.extra.all[b], b.Node, life, less)
		}
	}
	for _, q := range queues {
		b, wired := j.facts.fabric.Down(q)
		if !wired {
			continue
		}
		all = j.facts.appendChanges(all, j.facts.paused.all[q], q.Node, life, switched)
		all = j.facts.appendChanges(all, j.facts.xoff.all[b], b.Node, life, switched)
		all = j.facts.appendChanges(all, j.facts.limit.all[b], b.Node, life, less)
		for _, h := range j.facts.of[b] {
			all = j.facts.appendChanges(all, j.facts.held.all[h], b.Node, life, more)
		}
	}
	if life.Open { // no growth may last beyond the end, where it would not be seen to have happened
		all = append(all, factChange{clocks.Interval{From: life.To, To: life.To}, false})
	}
	return !collide(all), !slices.ContainsFunc(all, func(c factChange) bool { return c.From < c.To })
}

// switched is what a change of a period may do: to none it frees, from none it makes stuck.
func switched(was, is int) (grows, decays bool) { return is != noPeriod, was != noPeriod }

// collide reports whether a growth and a decay may be at the same time, or in either order.
// What is known exactly is one after the other, or at one instant and so one change.
// It goes through the changes by when they can be at the earliest: one collides with those before
// it of the other kind if it can be before the latest time of one of them.
func collide(all []factChange) bool {
	slices.SortFunc(all, func(a, b factChange) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	latest := map[bool]unit.Time{true: -unit.Never, false: -unit.Never} // To of those so far, by whether they grow
	for _, c := range all {
		if other := latest[!c.grows]; c.From < other || c.From == other && c.From < c.To {
			return true
		}
		latest[c.grows] = max(latest[c.grows], c.To)
	}
	return false
}

// sharesPool reports whether the priority group that q waits for is of a pool that may be short.
func (j *judging) sharesPool(q Queue) bool {
	b, wired := j.facts.fabric.Down(q)
	return wired && j.facts.fabric.sharesPool(b.Node)
}

// hangsOn are the queues of deadlock d, and all that these possibly wait for, at any time of its life: if
// one of these is free, so may those of d be. Others only wait for d, or for something else.
func (j *judging) hangsOn(d int) (all []Queue) {
	known := map[Queue]bool{}
	for i, c := range j.possibly.changes {
		var work []int32
		seen := make([]bool, len(c.stuck.Queues))
		for n, of := range j.may.of[i] {
			if of != d {
				continue
			}
			for _, q := range c.stuck.Components[n].Queues {
				at := int32(c.stuck.index(q))
				seen[at] = true
				work = append(work, at)
			}
		}
		for ; len(work) > 0; work = work[1:] {
			if q := c.stuck.Queues[work[0]]; !known[q] {
				known[q] = true
				all = append(all, q)
			}
			for _, next := range c.stuck.successors(work[0]) {
				if !seen[next] {
					seen[next] = true
					work = append(work, next)
				}
			}
		}
	}
	return all
}

// appendChanges appends the changes of a fact of a node that may be in an interval. kind
// says what a change from one value to another does. s is nil for a fact that no log tells of; the value
// of the time before all logs is no change.
func (f *factsOf) appendChanges(all []factChange, s *steps, n unit.NodeID, life Interval, kind func(was, is int) (grows, decays bool)) []factChange {
	if s == nil {
		return all
	}
	for i, v := range *s {
		if v.at == beginning {
			continue
		}
		in := f.clock[n].when(v.at)
		if in.To < life.From || in.From > life.To {
			continue
		}
		grows, decays := kind(s.value(i), v.is)
		if grows {
			all = append(all, factChange{in, true})
		}
		if decays {
			all = append(all, factChange{in, false})
		}
	}
	return all
}

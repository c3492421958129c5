package conform

import (
	"fmt"
	"slices"

	"softswitch/unit"
)

// casesD are the cases of group D: deadlock, in a ring of DUTs with a port of the tester at each. Frames for
// a station of another DUT go on to the next one. D04 is first: D01 may lock a ring for good.
var casesD = []*Case{
	{
		ID: "D04", Title: "a ring without a cycle of waiting does not lock", Ports: 3, Ring: Instances,
		Bound:   "the streams of D01 but one: 0 lost, in order, and nothing is inside in the end",
		Hand:    "as D01, without the last sender",
		Missing: silentRing,
		Next: Times(Exact(1), func(t *Task, _ int) *Script {
			ring := t.Ring(Instances)
			return t.ringScript(ring, len(ring)-1, t.Time(2*unit.Second))
		}),
		Judge: func(t *Task, done []*Record, j *Judge) { j.neverLocked(t, done[0]) },
	},
	{
		ID: "D01", Title: "whether a ring locks", Ports: 3, Ring: Instances,
		Theirs:  "SONiC lossless plan L10; snappi dualtor; draft-calabria-bmwg-ai-fabric-training-bench 7.4",
		Bound:   "locks or does not lock, both are results; if it does not, 0 lost",
		Hand:    "three DUTs in a ring, a sender at each to the second next one at the line's rate; all receivers take a tenth for 50 ms; it is locked if then nothing arrives any more, and pauses still come",
		Missing: silentRing,
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return t.lockScript(t.Ring(Instances)) }),
		Judge:   func(t *Task, done []*Record, j *Judge) { j.locks(t, done[0]) },
	},
	{
		ID: "D02", Title: "a ring that locked recovers, as is promised", Ports: 3, Ring: Instances, Needs: []string{"D04"},
		Theirs:  "SONiC lossless plan L10",
		Bound:   "all streams go on within detect + 2 poll + restore, and it does not lock for 5 s after; what was lost is reported",
		Hand:    "as D01, with the watchdog on, then all senders at two fifths of the line",
		Missing: watched("drop", "forward"),
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return t.recoverScript(t.Ring(Instances)) }),
		Judge:   func(t *Task, done []*Record, j *Judge) { j.recovered(t, done[0]) },
	},
	{
		ID: "D03", Title: "whether a ring of looped ports locks, and recovers", Ports: 3, Ring: Loops,
		Theirs:  "SONiC lossless plan L10",
		Bound:   "one frame by each path comes once, or nothing more is sent; then as D01, and as D02 if recovery is promised",
		Hand:    "cables from out_i to in_i of one DUT; VLAN i has the tester's port i, in_(i-1) and out_i, all untagged; the stations are static in each VLAN. It is a real layer 2 loop: no broadcast, no unknown address",
		Missing: silentRing,
		Next:    d03,
		Judge:   judgeD03,
	},
}

// silentRing is why nobody can tell a locked ring from a silent one.
func silentRing(t *Task) string {
	if t.still() < 4*t.stale() {
		return "the watchdog acts before the DUT's pauses can have run out, so that nobody can tell a locked ring from a silent one"
	}
	return ""
}

// lockable is for how long a ring may be locked before something acts on it: half of that for its streams
// to go on, and half to look at it.
func (t *Task) lockable(ring []int) unit.Time {
	return min(t.Time(2*unit.Second), t.Patience()/2-t.jam(ring))
}

// jam is for how long the receivers are slow: until the buffers behind each other have filled.
func (t *Task) jam(ring []int) unit.Time {
	slowest := t.Speed(ring[0])
	for _, p := range ring {
		slowest = min(slowest, t.Speed(p))
	}
	return max(50*unit.Millisecond, 10*unit.Time(int64(t.Profile.Buffer.XOFF.N)*8*int64(unit.Second)/int64(slowest)))
}

// ringScript is streams over two wires of the ring each, from the first n of its ports at the rate of
// the line. Receivers are slow at first. Then all go on for a time, and are looked at.
func (t *Task) ringScript(ring []int, n int, run unit.Time) *Script {
	s := t.Script(fmt.Sprintf("a ring of %d, %s", len(ring), unit.Count(n, "stream")))
	s.jammed(ring, n, run)
	// The senders go on: a locked ring pauses them. One that is not asked for more may hold less than that.
	s.Phase("still", t.still())
	s.Drain += 10 * t.stale() // a frame may have to wait for several of its pauses to run out
	return s
}

// lockScript is all streams of a ring, for as long as nothing acts on a lock.
func (t *Task) lockScript(ring []int) *Script { return t.ringScript(ring, len(ring), t.lockable(ring)) }

// still is for how long nothing arrives of a ring that has locked: one in which pauses have to run out
// may be silent for some of them.
func (t *Task) still() unit.Time { return min(max(t.Time(unit.Second), 4*t.stale()), t.Patience()/2) }

// ringStream is the name of the k-th stream of a ring.
func ringStream(k int) string { return fmt.Sprintf("stream %d", k+1) }

// jammed begins n streams, has their receivers be slow, and lets them go on.
func (s *Script) jammed(ring []int, n int, run unit.Time) {
	t := s.task
	c := t.Lossless().First()
	s.Strangers = true // who is where is known in the ring, and what is not would go round for ever
	for k := range n {
		s.Send(Stream{Name: ringStream(k), From: ring[k], To: ring[(k+2)%len(ring)], Priority: c, Rate: LineRate})
	}
	jam := t.jam(ring)
	for _, p := range ring {
		r := s.Receive(Receiver{Name: "slow " + t.Profile.Ports[p].Name, Port: p, Set: 1 << c, XOFF: 8 * t.MaxFrame(), XON: 4 * t.MaxFrame()})
		r.Rates, r.Stop = []RateFrom{{s.Now(), t.Speed(p) / 10}}, s.Now()+jam
	}
	s.Phase("jam", jam)
	s.Phase("run", run)
}

// locked reports whether a ring has locked: nothing arrives at any port, though nobody pauses, frames
// are inside, and their senders are still paused by the DUT.
func (r *Record) locked(t *Task) (is bool, inside uint64, since unit.Time) {
	still := r.Phase("still").Window()
	for i := range r.Streams {
		s := &r.Streams[i]
		inside += s.Sent
		for _, a := range s.Arrivals {
			if a.At.Hi > still.To.Lo {
				break
			}
			inside--
			since = max(since, a.At.Hi)
		}
		if s.In(still).Hi > 0 {
			return false, 0, 0
		}
	}
	held := false
	for _, f := range r.Script.Streams {
		for _, p := range r.PausesOf(f.From, f.Priority) {
			if p.At.Lo < still.To.Lo {
				held = p.Quanta > 0 && p.At.Lo+t.Quanta(f.From, p.Quanta) > still.To.Lo
			}
		}
		if held {
			break
		}
	}
	return inside > 0 && held, inside, since
}

// neverLocked wants a ring to be open, and nothing to be lost.
func (j *Judge) neverLocked(t *Task, r *Record) {
	is, inside, _ := r.locked(t)
	j.True("the ring", !is, fmt.Sprintf("%s inside for good", unit.Count(inside, "frame")), "not locked")
	j.drained(t, r)
}

// ringLocked is the name of the value that tells whether the ring locked.
const ringLocked = "locked"

// locks finds out whether a ring has locked.
func (j *Judge) locks(t *Task, r *Record) {
	is, inside, since := r.locked(t)
	if !is {
		j.Found(ringLocked, 0, 0, "")
		j.drained(t, r)
		return
	}
	j.Found(ringLocked, 1, 1, "")
	j.True("the ring", true, fmt.Sprintf("locked, with %s inside", unit.Count(inside, "frame")), "locks or does not lock")
	j.Note("nothing arrived any more %v after the senders began", since-r.Phase("jam").From)
	j.orderly(r)
}

// orderly wants what came of all streams to have come once, in order and unchanged.
func (j *Judge) orderly(r *Record) {
	for i := range r.Streams {
		s := &r.Streams[i]
		j.None(fmt.Sprintf("frames of stream %s that came twice, out of order or damaged", s.Name), Only(s.Twice+s.Behind+s.Damaged))
	}
}

// drained wants all frames of a ring to have come out. Where pauses have to run out one after the other,
// that may take minutes: as long as something moves, nothing is said of what is inside.
func (j *Judge) drained(t *Task, r *Record) {
	if lately := r.End - 4*t.stale(); t.stale() > 0 && r.movesAfter(lately) {
		j.orderly(r)
		j.Note("the ring had not drained when the trial ended: its pauses run out one after the other")
		return
	}
	for i := range r.Streams {
		j.Whole(r, r.Streams[i].Name)
	}
}

// movesAfter reports whether a frame or a pause came after a time.
func (r *Record) movesAfter(at unit.Time) bool {
	for i := range r.Streams {
		if _, came := r.Streams[i].First(at); came {
			return true
		}
	}
	return slices.ContainsFunc(r.Seen, func(s Seen) bool { return s.At.Lo > at })
}

// recoverScript is a ring that locks, if it can, and then has less to carry.
func (t *Task) recoverScript(ring []int) *Script {
	d := t.dog()
	s := t.Script(fmt.Sprintf("a ring of %d that locks, and then less to do", len(ring)))
	s.jammed(ring, len(ring), t.lockable(ring))
	for k := range ring {
		s.Halt(ringStream(k))
		p := ring[k]
		s.Send(Stream{Name: "later " + ringStream(k), From: p, To: ring[(k+2)%len(ring)], Priority: t.Lossless().First(), Rate: t.Speed(p) * 2 / 5})
	}
	s.Phase("recovery", d.most+2*d.poll+d.restoreMost+t.stale())
	s.Phase("after", t.Time(5*unit.Second))
	return s
}

// recovered wants all streams of a ring to go on.
func (j *Judge) recovered(t *Task, r *Record) {
	after := r.Phase("after").Window()
	var lost uint64
	for i, f := range r.Script.Streams {
		lost += r.Streams[i].Lost()
		if f.Start >= r.Phase("recovery").From {
			j.Some(fmt.Sprintf("frames of stream %s after the time of recovery", f.Name), r.Streams[i].In(after))
			j.AtRate(r, f.Name, after)
		}
	}
	j.Note("%s lost to the recovery", unit.Count(lost, "frame"))
}

// d03 sends one frame by each path first: what comes twice would go round for ever.
func d03(t *Task, done []*Record) *Script {
	ring := t.Ring(Loops)
	switch {
	case len(done) == 0:
		s := t.Script("one frame by each path")
		s.Strangers = true
		for k := range ring {
			s.Send(Stream{Name: ringStream(k), From: ring[k], To: ring[(k+2)%len(ring)], Priority: t.Lossless().First(), Count: 1})
		}
		s.Phase("paths", t.Time(300*unit.Millisecond))
		return s
	case len(done) == 1 && done[0].oneEach():
		return t.lockScript(ring)
	case len(done) == 2 && watched("drop", "forward")(t) == "":
		return t.recoverScript(ring)
	}
	return nil
}

// oneEach reports whether one frame came of each stream, where it should, and nothing else.
func (r *Record) oneEach() bool {
	for i := range r.Streams {
		s := &r.Streams[i]
		if s.Came != 1 || s.Twice > 0 {
			return false
		}
		for _, n := range s.Astray {
			if n > 0 {
				return false
			}
		}
	}
	return true
}

func judgeD03(t *Task, done []*Record, j *Judge) {
	for i := range done[0].Streams {
		s := &done[0].Streams[i]
		var astray uint64
		for _, n := range s.Astray {
			astray += n
		}
		j.Count(fmt.Sprintf("frames that came by path %d, of one", i+1), Only(s.Came+s.Twice), 1, 1)
		j.None(fmt.Sprintf("frames by path %d that came elsewhere", i+1), Only(astray))
	}
	if len(done) > 1 {
		j.locks(t, done[1])
	}
	if len(done) > 2 {
		j.recovered(t, done[2])
	}
}

package conform

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"softswitch/unit"
)

// casesQ are the cases of group Q: classes, shares, marks.
var casesQ = []*Case{
	{
		ID: "Q01", Title: "each code point reaches its priority", Clause: "IEEE 802.1Q 6.9.3; RFC 2474", Ports: 2, Needs: []string{"R01"},
		Theirs: "test_qos_sai DscpToPg, Dot1pToPg",
		Bound:  "of each code point: 0 frames while its priority is paused, its rate while another one is",
		Hand:   "send a stream of each code point from a to b, pause one priority at b, and see with tcpdump -i b ip which ones stop",
		Next:   Times(func(t *Task) int { return t.Lossless().Len() }, q01),
		Judge:  judgeQ01,
	},
	{
		ID: "Q02", Title: "priorities share a line by their weights", Clause: "IEEE 802.1Q 8.6.8", Ports: 3, Needs: []string{"T01"},
		Theirs:  "test_qos_sai Dwrr; sched_strict_priority; snappi port_congestion; RoCEv2 TC2",
		Bound:   "each its share, +-5 % of it; strict ones all that they send",
		Hand:    "send all priorities from a and c to b, each more than its share, and count what comes of each",
		Missing: unscheduled,
		Next:    Times(Exact(1), q02),
		Judge:   judgeQ02,
	},
	{
		ID: "Q03", Title: "a pause changes the shares of others, and none for longer", Clause: "IEEE 802.1Q 8.6.8", Ports: 3, Needs: []string{"Q02"},
		Bound: "while a priority is paused: the others all of the line, +-2 %; from 0.5 s after the resume on: its share, +-5 % of it; until then no more than a round above it",
		Hand:  "as Q02, with a pause of one priority at b half of the time",
		Missing: func(t *Task) string {
			if why := unscheduled(t); why != "" {
				return why
			}
			if _, ok := t.priorityQ03(); !ok {
				return "no lossless priority has a weight that leaves the others half of the line"
			}
			return t.impatient(t.roundsQ(8) + t.settling(1))
		},
		Next:  Times(Exact(1), q03),
		Judge: judgeQ03,
	},
	{
		ID: "Q04", Title: "ECN marks by the queue, before a pause, and only who knows it", Clause: "RFC 3168 5", Ports: 2, Needs: []string{"R01"},
		Theirs: "test_qos_sai DscpEcn; snappi ecn marking, dequeue, red_accuracy; SONiC lossless plan L09; RoCEv2 TC3; draft-calabria 7.1",
		Bound:  "none below min, all above max, in between the share that is promised, +-5 % of it; none that is not ECT; the first mark at a lower fill than the first pause",
		Hand:   "stop a priority at b, send so many frames with ECT(0) that they exceed max, let go, and see with tcpdump -v -i b which have CE",
		Missing: func(t *Task) string {
			if _, ok := t.markedQ04(); !ok {
				return "the profile names no lossless priority in ecn"
			}
			return t.impatient(2 * t.filling(0))
		},
		Next:  Times(Exact(2), q04),
		Judge: judgeQ04,
	},
	{
		ID: "Q05", Title: "two lossless priorities share an overloaded line", Clause: "IEEE 802.1Q 8.6.8; 36", Ports: 3, Needs: []string{"T01"},
		Theirs: "sonic-mgmt issue 20075",
		Bound:  "both come, each its share, +-5 % of it; pauses for both",
		Hand:   "send two lossless priorities from a and c to b, and count what comes of each, and their pauses",
		Missing: func(t *Task) string {
			switch {
			case len(t.twoQ05()) < 2:
				return "there are no two lossless priorities, neither of them strict"
			case t.together() < 1.3:
				return "ports a and c together are not fast enough to overload b"
			}
			return ""
		},
		Next:  Times(Exact(1), q05),
		Judge: judgeQ05,
	},
}

func unscheduled(t *Task) string {
	switch {
	case t.Profile.Scheduler == nil:
		return "the profile has no scheduler"
	case t.together() < 1.3:
		return "ports a and c together are not fast enough to overload b"
	case !t.deep():
		return "by buffer.xon the DUT may let senders go on later than what waits lasts: its queues run empty, and share nothing then"
	}
	return ""
}

// deep reports whether what waits of each lossless priority of two ports, as it lets its senders go on, lasts until
// they do, and for its turn.
func (t *Task) deep() bool {
	for set := t.Lossless() &^ t.strictSet(); set != 0; set &= set - 1 {
		if float64(2*t.Profile.Buffer.XON.N) < t.quantumQ(set.First())*float64(t.charge(t.MaxFrame())) {
			return false
		}
	}
	return t.steady(1)
}

// together is how much the two ports that send carry together, as a part of what port 1 does.
func (t *Task) together() float64 {
	if len(t.Profile.Ports) < 3 {
		return 0
	}
	return float64(t.Speed(0)+t.Speed(2)) / float64(t.Speed(1))
}

// pointsQ01 are the values of what gives a frame its priority, each with its priority: code points, or the PCP
// as code points of 64 and on.
func pointsQ01(t *Task) (points []int) {
	if t.Profile.Trust == "pcp" {
		for c := range unit.Priorities {
			points = append(points, 64+c)
		}
		return points
	}
	return slices.Sorted(maps.Keys(t.Profile.DSCP))
}

func priorityQ01(t *Task, point int) unit.Priority {
	if point >= 64 {
		return unit.Priority(point - 64)
	}
	return unit.Priority(t.Profile.DSCP[point])
}

func nameQ01(point int) string {
	if point >= 64 {
		return fmt.Sprintf("PCP %d", point-64)
	}
	return fmt.Sprintf("DSCP %d", point)
}

func q01(t *Task, k int) *Script {
	c := nth(t.Lossless(), k)
	s := t.Script(fmt.Sprintf("pause of priority %d", c))
	points := pointsQ01(t)
	storm := min(t.Time(unit.Second), t.Patience())
	s.Send(backStream(t, 1, 0, max(storm/5, t.settling(1))))
	s.Wait(t.settling(0))
	frames := max(8, 8*stormFrames/len(points))
	for _, point := range points {
		f := Stream{Name: nameQ01(point), From: 0, To: 1, Priority: priorityQ01(t, point), Lengths: []int{128}}
		if point < 64 {
			f.DSCP = point
		}
		f.Rate = max(1, unit.Rate(int64(frames)*(128+unit.WireOverhead)*8*int64(unit.Second)/int64(storm)))
		s.Send(f)
	}
	s.Phase("before", storm/4)
	s.Storm("storm", 1, 1<<c, 65535)
	s.Phase("storm", storm)
	s.Release("storm")
	s.Phase("after", storm/4)
	return s
}

func judgeQ01(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		paused, ok := r.Paused(t, "storm")
		if !ok {
			j.Unsure("%s: no pause left the tester", r.Script.Title)
			continue
		}
		storm := r.Script.Trains[0].Set
		for _, point := range pointsQ01(t) {
			name := nameQ01(point)
			if c := priorityQ01(t, point); storm.Has(c) {
				j.None(fmt.Sprintf("%s: frames of %s, which is of priority %d, while it was paused", r.Script.Title, name, c), r.Stream(name).In(paused))
			} else {
				j.AtRate(r, name, r.Phase("storm").Window())
			}
			j.Whole(r, name)
		}
	}
}

// quantumQ is what a priority sends in a round at most, in frames of the MTU: as many as it weighs.
func (t *Task) quantumQ(c unit.Priority) float64 {
	w, _ := t.weights()
	return w[c]
}

// roundsQ is how long so many rounds of all priorities take.
func (t *Task) roundsQ(n int) unit.Time {
	frames := 0.0
	for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
		frames += t.quantumQ(set.First())
	}
	return unit.Time(float64(n) * frames * float64(t.FrameTime(1, t.MaxFrame())))
}

// stricts is how much of each port all strict priorities together are sent at.
const stricts = 0.2

// fromQ sends a priority from two ports to port 1, each so much of its line.
func (s *Script) fromQ(c unit.Priority, part float64) {
	for _, p := range []int{0, 2} {
		s.Send(Stream{Name: fromN03(s.task, c, p), From: p, To: 1, Priority: c, Lengths: []int{s.task.MaxFrame()}, Rate: max(1, unit.Rate(part*float64(s.task.Speed(p))))})
	}
}

// came is how much of the line the frames of a priority took in a window, as a part of 1.
func (r *Record) came(t *Task, c unit.Priority, w Window) (lo, hi float64) {
	var n Count
	for _, p := range []int{0, 2} {
		if s := r.Stream(fromN03(t, c, p)); s != nil {
			m := s.In(w)
			n.Lo, n.Hi = n.Lo+m.Lo, n.Hi+m.Hi
		}
	}
	per := float64(t.FrameTime(1, t.MaxFrame())) / float64(w.Least())
	return float64(n.Lo) * per, float64(n.Hi) * per
}

func (t *Task) strictSet() (s unit.PrioritySet) {
	for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
		if t.strict(set.First()) {
			s.Add(set.First())
		}
	}
	return s
}

func q02(t *Task, _ int) *Script {
	s := t.Script("all priorities of two ports")
	s.Wait(unit.Millisecond)
	strict := t.strictSet()
	left := 1.0
	if strict != 0 {
		left -= stricts
	}
	part := t.portions(t.Profile.Sendable() &^ strict)
	for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
		if c := set.First(); strict.Has(c) {
			s.fromQ(c, stricts/float64(strict.Len()))
		} else {
			s.fromQ(c, left*part[c])
		}
	}
	s.Phase("fill", t.filling(0)+t.roundsQ(4))
	s.Phase("share", t.roundsQ(20))
	s.Drain = t.draining()
	return s
}

func judgeQ02(t *Task, done []*Record, j *Judge) {
	r := done[0]
	w := r.Phase("share").Window()
	strict := t.strictSet()
	left := 1.0
	if strict != 0 {
		left -= stricts * t.together()
	}
	part := t.portions(t.Profile.Sendable() &^ strict)
	frame := float64(t.FrameTime(1, t.MaxFrame())) / float64(w.Least())
	j.fullQ(t, r, t.Profile.Sendable(), w, "share")
	for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
		c := set.First()
		lo, hi := r.came(t, c, w)
		if strict.Has(c) {
			want := stricts * t.together() / float64(strict.Len())
			j.Share(fmt.Sprintf("percent of the line that priority %d has, which is strict", c), lo*100, hi*100, want*100, 5, 400*frame, "%")
			continue
		}
		// A round more or less at the ends of the window.
		j.Share(fmt.Sprintf("percent of the line that priority %d has", c), lo*100, hi*100, left*part[c]*100, 5, 100*frame*(t.quantumQ(c)+1), "%")
	}
	for set := t.Lossless(); set != 0; set &= set - 1 {
		for _, p := range []int{0, 2} {
			j.Whole(r, fromN03(t, set.First(), p))
		}
	}
}

// fullQ is unsure where a line that is overloaded is not full: the tester sent too little.
func (j *Judge) fullQ(t *Task, r *Record, set unit.PrioritySet, w Window, what string) {
	sum := 0.0
	for ; set != 0; set &= set - 1 {
		_, hi := r.came(t, set.First(), w)
		sum += hi
	}
	if sum < 0.97 {
		j.Unsure("%s: all together took %.3g %% of the line: the tester did not overload it", what, 100*sum)
	}
}

// priorityQ03 is the lossless priority that is paused: the one of the least weight that leaves the others
// what two ports can fill the line with.
func (t *Task) priorityQ03() (c unit.Priority, ok bool) {
	part := t.portions(t.Profile.Sendable() &^ t.strictSet())
	for set := t.Lossless() &^ t.strictSet(); set != 0; set &= set - 1 {
		p := set.First()
		if rest := t.restQ03(part[p]); rest*t.together() >= 1.2*part[p] && (!ok || part[p] < part[c]) {
			c, ok = p, true
		}
	}
	return c, ok
}

// restQ03 is how much of a port the paused priority is sent at, whose share is part: the others have enough
// to fill the line without it.
func (t *Task) restQ03(part float64) float64 { return max(0, min(part, 1-1.1/t.together())) }

// pausesQ03 is how often it is paused.
const pausesQ03 = 2

// soonQ03 is the time in which a priority may make up for what it missed, in rounds.
const soonQ03 = 3

func q03(t *Task, _ int) *Script {
	c, _ := t.priorityQ03()
	set := t.Profile.Sendable() &^ t.strictSet()
	part := t.portions(set)
	s := t.Script(fmt.Sprintf("priority %d is paused half of the time", c))
	s.Wait(unit.Millisecond)
	mine := t.restQ03(part[c])
	for rest := set; rest != 0; rest &= rest - 1 {
		if p := rest.First(); p == c {
			s.fromQ(p, mine)
		} else {
			s.fromQ(p, (1-mine)*part[p]/(1-part[c]))
		}
	}
	s.Wait(t.filling(0) + t.roundsQ(4))
	later := t.Time(500 * unit.Millisecond)
	if !t.Live {
		later = min(later, t.roundsQ(4))
	}
	half := t.roundsQ(8)
	for n := range pausesQ03 {
		name := fmt.Sprintf("pause %d", n+1)
		s.Storm(name, 1, 1<<c, 65535)
		s.Wait(t.settling(1))
		s.Phase(name, half)
		s.Release(name)
		s.Phase(fmt.Sprintf("soon after %d", n+1), t.roundsQ(soonQ03))
		s.Wait(later)
		s.Phase(fmt.Sprintf("later after %d", n+1), half)
	}
	s.Drain = t.draining()
	return s
}

func judgeQ03(t *Task, done []*Record, j *Judge) {
	c, _ := t.priorityQ03()
	set := t.Profile.Sendable() &^ t.strictSet()
	part := t.portions(set)
	r := done[0]
	for n := range pausesQ03 {
		paused := r.Phase(fmt.Sprintf("pause %d", n+1)).Window()
		frame := 100 * float64(t.FrameTime(1, t.MaxFrame())) / float64(paused.Least())
		lo, hi := 0.0, 0.0
		for rest := set &^ (1 << c); rest != 0; rest &= rest - 1 {
			a, b := r.came(t, rest.First(), paused)
			lo, hi = lo+a, hi+b
		}
		j.Share(fmt.Sprintf("pause %d: percent of the line that the others have", n+1), lo*100, hi*100, 100, 2, 2*frame, "%")
		_, own := r.came(t, c, paused)
		j.True(fmt.Sprintf("pause %d: percent of the line that the paused one has", n+1), own == 0, fmt.Sprintf("%.3g", 100*own), "0")

		later := r.Phase(fmt.Sprintf("later after %d", n+1)).Window()
		lo, hi = r.came(t, c, later)
		j.fullQ(t, r, set, later, fmt.Sprintf("after pause %d", n+1))
		frame = 100 * float64(t.FrameTime(1, t.MaxFrame())) / float64(later.Least())
		j.Share(fmt.Sprintf("later after pause %d: percent of the line that it has", n+1), lo*100, hi*100, part[c]*100, 5, frame*(t.quantumQ(c)+1), "%")

		soon := r.Phase(fmt.Sprintf("soon after %d", n+1)).Window()
		lo, hi = r.came(t, c, soon)
		frame = 100 * float64(t.FrameTime(1, t.MaxFrame())) / float64(soon.Least())
		most := part[c]*100*1.05 + frame*(2*t.quantumQ(c)+2)
		j.Share(fmt.Sprintf("soon after pause %d: percent of the line that it has, which makes up for no more than a round", n+1), lo*100, hi*100, most/2, 100, 0.01, "%")
	}
	for _, p := range []int{0, 2} {
		j.Whole(r, fromN03(t, c, p))
	}
}

// markedQ04 is the first lossless priority that is marked.
func (t *Task) markedQ04() (c unit.Priority, ok bool) {
	for set := t.Lossless(); set != 0; set &= set - 1 {
		if _, ok := t.Profile.ECN[int(set.First())]; ok {
			return set.First(), true
		}
	}
	return 0, false
}

// ect0 is ECT(0), and notECT what a sender says that knows nothing of ECN (RFC 3168, section 5).
const (
	notECT = 0
	ect0   = 2
)

// lengthQ04 is the frames of a burst: many fit between min and max.
func lengthQ04(t *Task) int { return min(500, t.MaxFrame()) }

// burstQ04 is how many of them a burst has: so many that the first or last wait with more than max, and not
// so many that they pause their sender, if that is known.
func (t *Task) burstQ04(c unit.Priority) int {
	n := t.Profile.ECN[int(c)].Max*5/4/lengthQ04(t) + 8
	if x := t.Profile.Buffer.XOFF; x.Is {
		n = min(n, x.N/t.charge(lengthQ04(t))-1)
	}
	return max(2, n)
}

// q04 stops the priority, fills its queue and lets go, with ECT frames, and then with those that are not.
func q04(t *Task, k int) *Script {
	c, _ := t.markedQ04()
	n := t.burstQ04(c)
	bursts, ecn, title := int(t.Frames(40, 24)), uint8(ect0), "bursts of ECT frames"
	if k > 0 {
		bursts, ecn, title = 4, notECT, "bursts of frames that are not ECT"
	}
	s := t.Script(title)
	s.Wait(unit.Millisecond)
	for b := range bursts {
		name := fmt.Sprintf("burst %d", b+1)
		s.Storm(name, 1, 1<<c, 65535)
		s.Wait(t.settling(1))
		s.Send(Stream{Name: name, From: 0, To: 1, Priority: c, Lengths: []int{lengthQ04(t)}, Rate: LineRate, Count: uint64(n), ECN: ecn})
		s.Phase(name, unit.Time(n)*t.FrameTime(0, lengthQ04(t))+t.settling(0))
		s.Halt(name)
		s.Release(name)
		s.Wait(t.lasting() + unit.Time(n)*t.FrameTime(1, lengthQ04(t)) + 2*t.settling(1))
	}
	return s
}

func judgeQ04(t *Task, done []*Record, j *Judge) {
	c, _ := t.markedQ04()
	m, length := t.Profile.ECN[int(c)], lengthQ04(t)
	var marked uint64
	for i := range done[1].Streams {
		marked += done[1].Streams[i].Marked
	}
	j.None("frames marked that are not ECT", Only(marked))

	// What waited with each frame that was sent before the queue was let go, if frames are marked as they
	// leave, or as they come.
	r := done[0]
	var fills [2][]float64 // by leaving, by coming
	var marks []bool
	late, early := 0, 0
	var fillPaused uint64
	for _, s := range r.Script.Streams {
		rec := r.Stream(s.Name)
		waited := rec.LeftIn(r.Phase(s.Name).Window()).Hi
		for _, p := range r.PausesOf(0, c) {
			if at := r.Phase(s.Name); p.Quanta > 0 && p.At.Lo >= at.From && p.At.Hi <= at.To {
				n := rec.LeftIn(Window{Span{}, p.At}).Hi
				if fillPaused == 0 || n < fillPaused {
					fillPaused = n
				}
			}
		}
		for _, a := range rec.Arrivals {
			if a.Seq >= waited {
				continue
			}
			fills[0] = append(fills[0], float64(waited-1-a.Seq)*float64(length))
			fills[1] = append(fills[1], float64(a.Seq)*float64(length))
			marks = append(marks, a.CE)
			if a.CE && a.Seq < waited/2 {
				early++
			} else if a.CE {
				late++
			}
		}
	}
	how, fill := "as they leave", fills[0]
	if late > early {
		how, fill = "as they come", fills[1]
	}
	j.Note("frames are marked %s", how)
	var below, above, unmarkedAbove, between, markedBetween uint64
	expected, variance := 0.0, 0.0
	lowest := math.Inf(1)
	off := float64(length) + float64(m.Min)/100
	for i, f := range fill {
		if marks[i] {
			lowest = min(lowest, f)
		}
		switch {
		case f < float64(m.Min)-off:
			if marks[i] {
				below++
			}
		case f > float64(m.Max)+off:
			above++
			if !marks[i] {
				unmarkedAbove++
			}
		case f > float64(m.Min)+off && f < float64(m.Max)-off:
			between++
			p := m.Percent() / 100 * (f - float64(m.Min)) / float64(m.Max-m.Min)
			expected, variance = expected+p, variance+p*(1-p)
			if marks[i] {
				markedBetween++
			}
		}
	}
	j.None(fmt.Sprintf("frames marked below min, %d bytes", m.Min), Only(below))
	j.None(fmt.Sprintf("frames not marked above max, %d bytes, of %d", m.Max, above), Only(unmarkedAbove))
	if between > 0 {
		// 5 sigma for chance, and half a frame for what a DUT counts as waiting.
		rounding := 5*math.Sqrt(variance) + float64(between)*m.Percent()/100*float64(length)/float64(m.Max-m.Min)
		j.Share(fmt.Sprintf("frames marked between min and max, of %d", between), float64(markedBetween), float64(markedBetween), expected, 5, rounding, "frames")
	}
	switch {
	case math.IsInf(lowest, 1):
		j.True("frames marked", false, fmt.Sprintf("none of %d", len(marks)), "some")
	case fillPaused > 0:
		j.True("fill of the first mark, bytes", lowest < float64(fillPaused)*float64(length), fmt.Sprint(lowest), fmt.Sprintf("below that of the first pause, %d", fillPaused*uint64(length)))
	default:
		j.Note("the first mark came at a fill of %.0f bytes, and no pause at all", lowest)
	}
	if above == 0 {
		j.Note("no frame waited with more than max: the DUT pauses its sender before")
	}
}

// twoQ05 are two lossless priorities of equal weight, or else of any.
func (t *Task) twoQ05() []unit.Priority {
	w, _ := t.weights()
	all := (t.Lossless() &^ t.strictSet()).List()
	for i, a := range all {
		for _, b := range all[i+1:] {
			if w[a] == w[b] {
				return []unit.Priority{unit.Priority(a), unit.Priority(b)}
			}
		}
	}
	var two []unit.Priority
	for _, c := range all[:min(2, len(all))] {
		two = append(two, unit.Priority(c))
	}
	return two
}

func q05(t *Task, _ int) *Script {
	two := t.twoQ05()
	s := t.Script(fmt.Sprintf("priorities %d and %d of two ports", two[0], two[1]))
	s.Wait(unit.Millisecond)
	part := t.portions(1<<two[0] | 1<<two[1])
	for _, c := range two {
		s.fromQ(c, part[c])
	}
	// A group fills with what is sent above its priority's share.
	s.Phase("fill", unit.Time(float64(t.filling(0))/min(part[two[0]], part[two[1]])))
	s.Phase("share", max(t.roundsQ(5), 200*t.FrameTime(1, t.MaxFrame())))
	return s
}

func judgeQ05(t *Task, done []*Record, j *Judge) {
	r, two := done[0], t.twoQ05()
	w := r.Phase("share").Window()
	part := t.portions(1<<two[0] | 1<<two[1])
	for _, c := range two {
		lo, hi := r.came(t, c, w)
		if t.Profile.Scheduler == nil || !t.deep() {
			j.Some(fmt.Sprintf("frames of priority %d that came", c), Only(r.Stream(fromN03(t, c, 0)).Came+r.Stream(fromN03(t, c, 2)).Came))
		} else {
			j.fullQ(t, r, 1<<two[0]|1<<two[1], w, "share")
			frame := 100 * float64(t.FrameTime(1, t.MaxFrame())) / float64(w.Least())
			j.Share(fmt.Sprintf("percent of the line that priority %d has", c), lo*100, hi*100, part[c]*100, 5, frame*(t.quantumQ(c)+1), "%")
		}
		n := 0
		for _, p := range []int{0, 2} {
			n += len(r.PausesOf(p, c))
			j.Whole(r, fromN03(t, c, p))
		}
		if t.steady(1) {
			j.Some(fmt.Sprintf("pauses of priority %d", c), Only(uint64(n)))
		} else {
			j.Note("%s of priority %d", unit.Count(n, "pause"), c) // while the other one stands still, nothing is overloaded
		}
	}
}

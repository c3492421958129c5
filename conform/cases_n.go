package conform

import (
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// casesN are the cases of group N: nothing lossless is lost.
var casesN = []*Case{
	{
		ID: "N01", Title: "an incast loses nothing, and fills the line", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"T01"},
		Theirs: "snappi m2o_oversubscribe_lossless; test_qos_sai LosslessVoq; RoCEv2 TC2, TC4; RFC 8239 incast; draft-calabria 7.2",
		Bound:  "0 frames lost, all in order; together the rate of the line, +-2 %, if buffer.xon covers the wire and the response time",
		Hand:   "send all lossless priorities from a and c to b, each port at the rate of its line, with a sender that obeys pauses, and compare the numbers of both ends",
		Next:   Times(func(t *Task) int { return (len(t.Profile.Ports) - 2) * len(lengthsN(t)) }, n01),
		Judge: func(t *Task, done []*Record, j *Judge) {
			for _, r := range done {
				j.incast(t, r, 1)
			}
		},
	},
	{
		ID: "N02", Title: "a slow receiver loses nothing", Clause: "IEEE 802.1Q 36; 802.3 31D", Ports: 2, Needs: []string{"T01"},
		Theirs:  "snappi throttling_pause_storms; pull 27718",
		Bound:   "0 frames lost, all in order, while the receiver takes 50, 10 and 1 % of the line",
		Hand:    "pause and resume a priority at b by turns, and compare the numbers of the frames at both ends",
		Missing: func(t *Task) string { return t.impatient(t.cycleN02(50)) },
		Next: Times(func(t *Task) int {
			n := 1
			for n < len(sharesN02) && t.cycleN02(sharesN02[n]) <= t.Patience()/2 {
				n++
			}
			return n
		}, n02),
		Judge: judgeN02,
	},
	{
		ID: "N03", Title: "an overload of lossy priorities takes nothing from lossless ones", Clause: "IEEE 802.1Q 36; 8.6.8", Ports: 3, Needs: []string{"T01"},
		Theirs:  "snappi m2o_oversubscribe_lossless_lossy; RoCEv2 TC2",
		Bound:   "0 lossless frames lost; lossy ones are; each lossless priority has its share of the line, less 5 %",
		Hand:    "send all priorities from a and c to b, twice what its line carries, the lossy ones in frames of 60 bytes",
		Missing: func(t *Task) string { return without(t.Lossy(), "lossy") },
		Next:    n03,
		Judge:   judgeN03,
	},
	{
		ID: "N04", Title: "pauses for less than the watchdog's time lose nothing", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"R01"},
		Theirs:  "snappi external_pause_storms; SONiC lossless plan L12",
		Bound:   "0 frames lost, all in order, once the pauses are over",
		Hand:    "pause all lossless priorities at b for random times below the watchdog's, and compare the numbers of the frames at both ends",
		Missing: func(t *Task) string { return t.impatient(4 * t.Quanta(1, 1000)) },
		Next:    Times(Exact(1), n04),
		Judge:   judgeN04,
	},
	{
		ID: "N05", Title: "a peer that stops late loses nothing", Clause: "IEEE 802.3 31B.3.7", Ports: 2, Needs: []string{"T01"},
		Theirs:  "snappi pause_response; SONiC lossless plan L08",
		Bound:   "the largest number of quanta without loss at least the response time of a MAC of this speed; as much as the headroom that is promised takes, less what is on the wire",
		Hand:    "stop a priority at b, send it from a, go on for so many quanta after the first pause at a, let go, and count",
		Missing: func(t *Task) string { return t.impatient(4 * t.filling(0)) },
		Next:    n05,
		Judge:   judgeN05,
	},
	{
		ID: "N06", Title: "the longest frames lose nothing, also among the shortest", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"T01"},
		Theirs:  "SONiC lossless plan L06",
		Bound:   "0 frames lost, all in order",
		Hand:    "as T01, with frames of the MTU, alone and with frames of 60 bytes by turns",
		Missing: func(t *Task) string { return t.impatient(2 * t.filling(0)) },
		Next:    Times(Exact(2), n06),
		Judge: func(t *Task, done []*Record, j *Judge) {
			for _, r := range done {
				j.allWhole(r)
			}
		},
	},
	{
		ID: "N07", Title: "no frame comes twice, out of order or changed", Clause: "IEEE 802.1Q 6.5.3", Ports: 2,
		Bound:   "0 frames, of all cases before, and of frames of all lengths while a receiver pauses and resumes",
		Hand:    "compare the numbers and the contents of the frames at both ends",
		Missing: func(t *Task) string { return t.impatient(t.cycleN02(30)) },
		Next:    Times(Exact(1), n07),
		Judge:   judgeN07,
	},
	{
		ID: "N08", Title: "a station that moves is followed, whatever is paused", Clause: "IEEE 802.1Q 8.7", Ports: 3, Needs: []string{"R01"},
		Bound: "from 1 s after it was heard at another port on, all of its frames come there; frames of others: 0 lost",
		Hand:  "send frames with the same source from c, then from b, then from c, while a sends to it, and b and c pause",
		Missing: func(t *Task) string {
			if t.Profile.Forwarding == "routed" {
				return "the DUT routes: it learns no port of a station by its frames"
			}
			return t.impatient(t.FrameTime(0, t.MaxFrame()) * 100)
		},
		Next:  Times(Exact(2), n08),
		Judge: judgeN08,
	},
	{
		ID: "N09", Title: "fast in, slow out: nothing is lost", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"T01"},
		Theirs: "snappi mixed_speed",
		Bound:  "0 frames lost, all in order; together the rate of the slow line, +-2 %",
		Hand:   "as N01, to a port that is slower than those of the senders",
		Missing: func(t *Task) string {
			if len(t.faster()) == 0 {
				return "all ports of the profile have one speed"
			}
			return ""
		},
		Next: Times(func(t *Task) int { return len(lengthsN(t)) }, func(t *Task, k int) *Script { return incast(t, t.faster(), t.slowest(), lengthsN(t)[k]) }),
		Judge: func(t *Task, done []*Record, j *Judge) {
			for _, r := range done {
				j.incast(t, r, t.slowest())
			}
		},
	},
	{
		ID: "N10", Title: "nothing is lost for a long time", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"N01"},
		Theirs: "draft-calabria 12.1",
		Bound:  "0 lossless frames lost, all in order, while ports overload each other on and off",
		Hand:   "as N01, for hours, with senders that begin and end at random",
		Missing: func(t *Task) string {
			if t.Soak == 0 {
				return "no time for it was given: --soak"
			}
			return ""
		},
		Next: Times(Exact(1), n10),
		Judge: func(t *Task, done []*Record, j *Judge) {
			for _, r := range done {
				j.allWhole(r)
			}
		},
	},
}

// without says that there is no priority of a kind.
func without(s unit.PrioritySet, kind string) string {
	if s == 0 {
		return "no priority is " + kind
	}
	return ""
}

// impatient says that the DUT does not let a queue be paused for as long as this.
func (t *Task) impatient(d unit.Time) string {
	if p := t.Patience(); d > p {
		return fmt.Sprintf("it pauses a queue for %v, and the DUT acts on that after %v", d, p)
	}
	return ""
}

// lengthsN are the frames of 64, 1024 bytes and the MTU, without FCS.
func lengthsN(t *Task) []int { return []int{shortest, min(1020, t.MaxFrame()), t.MaxFrame()} }

// settling is how long an answer of the DUT takes at most.
func (t *Task) settling(port int) unit.Time {
	d := 4*t.Allowance(port) + 20*t.FrameTime(port, t.MaxFrame())
	if t.Live {
		d += 5 * unit.Millisecond
	}
	return d
}

// filling is how long it takes at least to fill what pauses a sender at a port, twice.
func (t *Task) filling(port int) unit.Time {
	n := unit.Time(t.Frames(16384, 512))
	if x := t.Profile.Buffer.XOFF; x.Is {
		n = unit.Time(2*x.N/t.MaxFrame() + 2)
	}
	return n*t.FrameTime(port, t.MaxFrame()) + t.settling(port)
}

// draining is how long a DUT takes at most to let out what waits in full queues of all priorities.
func (t *Task) draining() unit.Time {
	return max(t.Time(2*unit.Second), 3000*t.FrameTime(t.slowest(), t.MaxFrame()))
}

// sendLossless sends each lossless priority from a port, all together as fast as its line.
func (s *Script) sendLossless(from, to int, lengths ...int) {
	set := s.task.Lossless()
	for rest := set; rest != 0; rest &= rest - 1 {
		c := rest.First()
		s.Send(Stream{Name: fmt.Sprintf("%s of %s", streamOf(c), s.task.Profile.Ports[from].Name), From: from, To: to, Priority: c, Lengths: lengths, Rate: s.task.Speed(from) / unit.Rate(set.Len())})
	}
}

// allWhole wants all frames of all lossless streams to have come, in order.
func (j *Judge) allWhole(r *Record) {
	for i, s := range r.Script.Streams {
		if !s.Control {
			j.Whole(r, r.Streams[i].Name)
		}
	}
}

func n01(t *Task, k int) *Script {
	from := []int{0}
	for p := 2; len(from) < 2+k/len(lengthsN(t)) && p < len(t.Profile.Ports); p++ {
		from = append(from, p)
	}
	return incast(t, from, 1, lengthsN(t)[k%len(lengthsN(t))])
}

// incast sends all lossless priorities from some ports to one.
func incast(t *Task, from []int, to, length int) *Script {
	s := t.Script(fmt.Sprintf("%d to 1, frames of %d bytes", len(from), length))
	d := unit.Time(t.Frames(66_000, 5_000)) * t.FrameTime(to, length)
	s.Wait(unit.Millisecond)
	for _, p := range from {
		s.sendLossless(p, to, length)
	}
	s.Send(backStream(t, to, from[0], t.quiet(to, d)))
	s.Phase("incast", d)
	return s
}

// steady reports whether the DUT lets senders go on before what waits for a port has left: only then is a
// line full for sure.
func (t *Task) steady(port int) bool {
	x := t.Profile.Buffer.XON
	return t.Profile.PFC.Resume == "frame" && x.Is && unit.Time(x.N)*8*unit.Second/unit.Time(t.Speed(port)) >= 2*t.Allowance(port)
}

// quiet is what silence of a stream of the usual rate is the tester's, where it plays for d.
func (t *Task) quiet(port int, d unit.Time) unit.Time {
	return max(d/20, 40*t.FrameTime(port, 1000)+t.settling(port))
}

// incast judges what came at a port together.
func (j *Judge) incast(t *Task, r *Record, to int) {
	j.allWhole(r)
	p := r.Phase("incast")
	w := Exactly(p.From+(p.To-p.From)/4, p.To)
	var sum Count
	least, most := ^uint64(0), uint64(0)
	pauses, frame := 0, 0
	for i, s := range r.Script.Streams {
		if s.Control {
			continue
		}
		n := r.Streams[i].In(w)
		sum.Lo, sum.Hi = sum.Lo+n.Lo, sum.Hi+n.Hi
		least, most = min(least, n.Lo), max(most, n.Hi)
		pauses += len(r.PausesOf(s.From, s.Priority))
		frame = s.Lengths[0]
	}
	j.Note("%s: of each stream %d to %d frames came in %v", r.Script.Title, least, most, w.Least())
	tag := 0
	if t.Profile.Trust != "dscp" {
		tag = ether.VLANLen
	}
	per := float64(frame+tag+unit.WireOverhead) * 8 * float64(unit.Second) / float64(w.Least())
	lo, hi, want := float64(sum.Lo)*per, float64(sum.Hi)*per, float64(t.Speed(to))
	switch {
	case !t.steady(to):
		j.Note("%s: together %.4g of %.4g bit/s: not judged: the DUT may resume senders later than what waits lasts, by buffer.xon", r.Script.Title, hi, want)
	case hi < want*0.98 && pauses == 0:
		j.Unsure("%s: the tester sent %.4g of %.4g bit/s, which congest nothing", r.Script.Title, hi, want)
	default:
		j.Share(r.Script.Title+": together", lo, hi, want, 2, 2*per+want*float64(tag)/float64(frame), "bit/s")
	}
}

// sharesN02 is what a slow receiver takes, in percent of the line.
var sharesN02 = []int{50, 10, 1}

// cycleN02 is for how long a receiver that takes so many percent of the line pauses at a time.
func (t *Task) cycleN02(percent int) unit.Time {
	return 3 * t.FrameTime(1, t.MaxFrame()) * 100 / unit.Time(percent) * unit.Time(t.Lossless().Len())
}

// receiveSlowly puts a receiver at a port that takes so many percent of its line in lossless frames.
func (s *Script) receiveSlowly(port, percent int) {
	t := s.task
	rate := max(1, t.Speed(port)*unit.Rate(percent)/100/unit.Rate(t.Lossless().Len()))
	s.Receive(Receiver{Name: "slow", Port: port, Set: t.Lossless(), Rates: []RateFrom{{0, rate}}, XOFF: 4 * t.MaxFrame(), XON: 2 * t.MaxFrame()})
}

func n02(t *Task, k int) *Script {
	s := t.Script(fmt.Sprintf("a receiver that takes %d %%", sharesN02[k]))
	s.Wait(unit.Millisecond)
	s.receiveSlowly(1, sharesN02[k])
	s.sendLossless(0, 1, min(1000, t.MaxFrame()), t.MaxFrame())
	cycles := unit.Time(t.Frames(20, 5)) * unit.Time(min(sharesN02[k], 10))
	s.Phase("slow", cycles*t.cycleN02(sharesN02[k])+t.filling(0))
	return s
}

func judgeN02(t *Task, done []*Record, j *Judge) {
	resumed := false
	for _, r := range done {
		j.allWhole(r)
		resumed = resumed || slices.Contains(r.Receivers[0].Quanta, 0)
		j.Note("%s: %s of its pauses and resumes", r.Script.Title, unit.Count(len(r.Receivers[0].Left), "frame"))
	}
	if !resumed {
		j.Unsure("the receiver never had to pause and resume")
	}
}

// weights are the shares of a line that priorities have beside each other, of all that are sent: by the
// profile, or else the same for all. Strict ones have none.
func (t *Task) weights() (w [unit.Priorities]float64, known bool) {
	for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
		c := set.First()
		w[c] = 1
		if s, ok := t.Profile.Scheduler[int(c)]; ok {
			w[c] = float64(s.DWRR)
		}
	}
	return w, t.Profile.Scheduler != nil
}

// portions are the weights of a set, as parts of 1.
func (t *Task) portions(set unit.PrioritySet) (part [unit.Priorities]float64) {
	w, _ := t.weights()
	all := 0.0
	for rest := set; rest != 0; rest &= rest - 1 {
		all += w[rest.First()]
	}
	for rest := set; rest != 0 && all > 0; rest &= rest - 1 {
		part[rest.First()] = w[rest.First()] / all
	}
	return part
}

// strict reports whether a priority goes before those that have a weight.
func (t *Task) strict(c unit.Priority) bool { return t.Profile.Scheduler[int(c)].Strict }

// anyStrict reports whether one of a set does.
func (t *Task) anyStrict(s unit.PrioritySet) bool {
	for ; s != 0; s &= s - 1 {
		if t.strict(s.First()) {
			return true
		}
	}
	return false
}

// n03 is played for longer if no lossy frame was lost: their queues are not full.
func n03(t *Task, done []*Record) *Script {
	n := t.Frames(100_000, 14_000)
	for _, r := range done {
		for set := t.Lossy(); set != 0; set &= set - 1 {
			for _, p := range []int{0, 2} {
				if r.Stream(fromN03(t, set.First(), p)).Lost() > 0 {
					return nil
				}
			}
		}
		n *= 4
	}
	if len(done) == 3 {
		return nil
	}
	d := unit.Time(n) * t.FrameTime(1, shortest)
	length := shortest
	if t.Live { // a machine neither sends nor, as a DUT, takes so many
		length = t.MaxFrame()
	}
	s := t.Script("all priorities of two ports")
	s.Wait(unit.Millisecond)
	part := t.portions(t.Profile.Sendable())
	all := 0.0
	for set := t.Lossless(); set != 0; set &= set - 1 {
		all += losslessN03(part[set.First()])
	}
	// The lossy ones alone overload the line, if the ports can.
	scale := min(1, max(0.1, 1-1.15/t.together())/all)
	for _, p := range []int{0, 2} {
		left := t.Speed(p)
		for set := t.Lossless(); set != 0; set &= set - 1 {
			c := set.First()
			rate := max(1, unit.Rate(scale*float64(t.Speed(p))*losslessN03(part[c])))
			left -= rate
			s.Send(Stream{Name: fromN03(t, c, p), From: p, To: 1, Priority: c, Rate: rate})
		}
		// One lossy priority has half of what is left, so that its queue is full soon.
		for set := t.Lossy(); set != 0; set &= set - 1 {
			c := set.First()
			rate := left
			switch others := t.Lossy().Len() - 1; {
			case c != t.Lossy().First():
				rate = left / 2 / unit.Rate(others)
			case others > 0:
				rate = left / 2
			}
			s.Send(Stream{Name: fromN03(t, c, p), From: p, To: 1, Priority: c, Rate: rate, Lengths: []int{length}, Tally: true})
		}
	}
	s.Phase("overload", d)
	s.Drain = t.draining() // lossy frames that are lost do not come
	return s
}

// losslessN03 is how much of a port a lossless priority is sent at that has so much of a line: more than that, of
// two ports.
func losslessN03(part float64) float64 { return 0.75 * max(part, 0.1) }

func fromN03(t *Task, c unit.Priority, port int) string {
	return streamOf(c) + " of " + t.Profile.Ports[port].Name
}

func judgeN03(t *Task, done []*Record, j *Judge) {
	r := done[len(done)-1]
	lost, sent := uint64(0), uint64(0)
	for set := t.Lossy(); set != 0; set &= set - 1 {
		for _, p := range []int{0, 2} {
			s := r.Stream(fromN03(t, set.First(), p))
			lost, sent = lost+s.Lost(), sent+s.Sent
		}
	}
	j.Note("%d of %d lossy frames were lost", lost, sent)
	p := r.Phase("overload")
	w := Exactly(p.From+(p.To-p.From)/4, p.To)
	part := t.portions(t.Profile.Sendable())
	for set := t.Lossless(); set != 0; set &= set - 1 {
		c := set.First()
		var came Count
		offered := 0.0
		for _, port := range []int{0, 2} {
			name := fromN03(t, c, port)
			j.Whole(r, name)
			n := r.Stream(name).In(w)
			came.Lo, came.Hi = came.Lo+n.Lo, came.Hi+n.Hi
			i := slices.IndexFunc(r.Script.Streams, func(f *Stream) bool { return f.Name == name })
			offered += float64(r.Script.Streams[i].Rate) / float64(t.Speed(1))
		}
		if _, known := t.weights(); !known || t.anyStrict(t.Profile.Sendable()) || !t.deep() {
			j.Note("priority %d: %s frames in %v", c, came, w.Least())
			continue
		}
		// A turn more or less at the ends of the window.
		frame := float64(t.FrameTime(1, min(1000, t.MaxFrame())))
		turn := t.quantumQ(c) * float64(t.FrameTime(1, t.MaxFrame())) / frame
		share := min(part[c], offered)
		want := share*0.95*float64(w.Least())/frame - turn
		j.Count(fmt.Sprintf("frames of priority %d in %v, which may have %.3g %% of the line", c, w.Least(), 100*share), came, uint64(max(0, want)), ^uint64(0))
	}
	if lost == 0 {
		j.Unsure("no lossy frame was lost of %d: the line was not overloaded for as long as their queues take", sent)
	}
}

func n04(t *Task, k int) *Script {
	s := t.Script("storms and quiet")
	s.Wait(unit.Millisecond)
	longest := min(t.Patience(), t.Time(900*unit.Millisecond))
	rand := t.Random("N04", k)
	storms := int(t.Frames(10, 6))
	if w := t.Profile.Watchdog; w != nil && w.Contain > 0 {
		longest /= unit.Time(storms) // all pauses together count
	}
	frames := unit.Rate(t.Frames(20_000, 2_000))
	rate := min(t.Rate(0), frames*1000*8*unit.Rate(unit.Second)/unit.Rate(3*longest*unit.Time(storms)))
	for set := t.Lossless(); set != 0; set &= set - 1 {
		s.Send(Stream{Name: streamOf(set.First()), From: 0, To: 1, Priority: set.First(), Rate: max(1, rate)})
	}
	s.Wait(longest / 4)
	for n := range storms {
		// A storm's last pause runs out, or is taken back; either is over after this time.
		d := longest/4 + longest/2*unit.Time(rand.Below(1000))/1000
		quanta := uint16(min(65535, max(1, int64(longest/8)*int64(t.Speed(1))/512/int64(unit.Second))))
		name := fmt.Sprintf("storm %d", n+1)
		s.Storm(name, 1, t.Lossless(), quanta)
		s.Wait(d)
		if rand.Below(2) == 0 {
			s.Release(name)
		} else {
			s.Lapse(name)
		}
		s.Wait(longest/4 + 2*d)
	}
	s.Phase("quiet", longest)
	return s
}

func judgeN04(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		j.allWhole(r)
	}
}

// lateN05 narrows down for how many quanta a sender may go on.
func lateN05(t *Task) halving {
	q, _ := buffer.ResponseOf(t.Speed(0))
	return halving{first: max(1, q), most: 65535, step: func(n int) int { return max(1, n/20) }, confirm: 1}
}

func n05(t *Task, done []*Record) *Script {
	q, over, _, _ := lateN05(t).next(answersN05(done))
	if over {
		return nil
	}
	c := t.Lossless().First()
	late := t.Quanta(0, uint16(q))
	s := t.Script(fmt.Sprintf("%d quanta late", q))
	s.Storm("stop", 1, 1<<c, 65535)
	s.Wait(t.settling(1))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: LineRate, Obey: Late, Late: late})
	s.Phase("late", t.filling(0)+late)
	s.Halt("test")
	s.Release("stop")
	s.Wait(t.filling(0) + late)
	s.Drain = t.settling(1)
	return s
}

func answersN05(done []*Record) (a []answer) {
	for _, r := range done {
		q := 0
		if _, err := fmt.Sscanf(r.Script.Title, "%d quanta", &q); err == nil {
			a = append(a, answer{q, r.Stream("test").Lost() > 0})
		}
	}
	return a
}

func judgeN05(t *Task, done []*Record, j *Judge) {
	search := lateN05(t)
	_, _, lo, hi := search.next(answersN05(done))
	frame := t.MaxFrame()
	if hi == 0 {
		hi = search.most + 1
		j.Note("nothing was lost even %d quanta late", lo)
	}
	j.Count("quanta for which a sender may go on after a pause", Count{uint64(lo), uint64(max(lo, hi-1))}, uint64(search.first), ^uint64(0))
	late, paused := uint64(0), false
	for _, r := range done {
		s := r.Stream("test")
		paused = paused || s.Defied > 0
		if s.Lost() == 0 {
			late = max(late, s.Defied)
		}
	}
	if !paused {
		j.Unsure("no pause came at the sender, or it was over before a frame was sent in spite of it")
		return
	}
	j.Found("sent late without loss", float64(late)*float64(frame), float64(late)*float64(frame), "bytes")
	if h := t.Profile.Buffer.Headroom; h.Is && hi <= search.most {
		// The frame that crosses XOFF, the one that was being sent as the pause came, and what was on the
		// wire; and a twentieth for the step of the search.
		wire := int64(2*t.Profile.Buffer.Delay+2*t.Profile.PFC.Slack) * int64(t.Speed(0)) / 8 / int64(unit.Second)
		want := int64(h.N)*19/20 - 4*int64(frame) - 88 - wire
		j.Count(fmt.Sprintf("bytes sent after a pause without loss, of a headroom of %d", h.N), Only(late*uint64(frame)), uint64(max(0, want)), ^uint64(0))
	}
}

func n06(t *Task, k int) *Script {
	lengths := [][]int{{t.MaxFrame()}, {t.MaxFrame(), shortest}}[k]
	s := t.Script(fmt.Sprintf("frames of %d bytes", lengths))
	s.Wait(unit.Millisecond)
	for n := range 3 {
		name := fmt.Sprintf("stop %d", n+1)
		s.Storm(name, 1, t.Lossless(), 65535)
		s.Wait(t.settling(1))
		if n == 0 {
			s.sendLossless(0, 1, lengths...)
		}
		s.Wait(t.filling(0))
		s.Release(name)
		s.Wait(t.filling(0))
	}
	return s
}

func n07(t *Task, _ int) *Script {
	s := t.Script("frames of all lengths")
	s.Wait(unit.Millisecond)
	s.receiveSlowly(1, 30)
	s.sendLossless(0, 1, shortest, min(300, t.MaxFrame()), min(1000, t.MaxFrame()), t.MaxFrame())
	s.Phase("slow", unit.Time(t.Frames(200, 40))*t.cycleN02(30)+t.filling(0))
	return s
}

func judgeN07(t *Task, done []*Record, j *Judge) {
	all := t.Sums() // done is among them, unless records of before are judged
	var own Sums
	for _, r := range done {
		own.add(r)
	}
	all.Sent, all.Twice = max(all.Sent, own.Sent), max(all.Twice, own.Twice)
	all.Behind, all.Damaged = max(all.Behind, own.Behind), max(all.Damaged, own.Damaged)
	j.None(fmt.Sprintf("frames that came twice, of %d", all.Sent), Only(all.Twice))
	j.None("frames that came after one with a higher number", Only(all.Behind))
	j.None("frames that were changed", Only(all.Damaged))
}

// followN08 is for how long a DUT may send to where a station was.
func followN08(t *Task) unit.Time {
	d := t.Time(unit.Second)
	if !t.Live {
		d = min(d, 500*t.FrameTime(0, t.MaxFrame()))
	}
	return min(d, t.Patience()/4)
}

func n08(t *Task, k int) *Script {
	c := t.Lossless().First()
	moving := StrangerMAC(2, 7+k)
	title := "a station moves while its port is paused"
	if k > 0 {
		title = "a station moves while its port is overloaded"
	}
	s := t.Script(title)
	s.Wait(unit.Millisecond)
	heard := func(name string, at int) {
		s.Send(Stream{Name: name, From: at, To: 0, Priority: c, Src: moving, Count: 1, Rate: LineRate, Obey: Ignores})
		s.Wait(t.settling(at))
	}
	follow := followN08(t)
	rate := max(1, 128*8*8*unit.Rate(unit.Second)/unit.Rate(follow)) // 8 frames in that time: they fit anywhere
	heard("heard at c", 2)
	s.Send(Stream{Name: "test", From: 0, To: 2, Dst: moving, Anywhere: true, Priority: c, Lengths: []int{128}, Rate: rate})
	s.Send(Stream{Name: "other", From: 0, To: 1, Priority: c, Lengths: []int{128}, Rate: rate})
	s.Phase("at c", follow)
	if k == 0 {
		s.Storm("old", 2, 1<<c, 65535)
		s.Wait(follow / 2)
	} else {
		s.Send(Stream{Name: "load of c", From: 2, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: LineRate})
		s.Send(Stream{Name: "load of a", From: 0, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: t.Speed(0) / 2})
		s.Wait(follow / 2)
	}
	heard("heard at b", 1)
	s.Wait(follow)
	s.Phase("at b", follow)
	if k == 0 {
		s.Release("old")
		s.Wait(t.settling(2))
	}
	heard("heard at c again", 2)
	s.Wait(follow)
	s.Phase("at c again", follow)
	return s
}

func judgeN08(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		s := r.Stream("test")
		at := make([]int, s.Sent) // port + 1
		for _, a := range s.Arrivals {
			at[a.Seq] = a.Port + 1
		}
		for _, in := range []struct {
			phase string
			port  int
		}{{"at c", 2}, {"at b", 1}, {"at c again", 2}} {
			var wrong, n uint64
			for seq, left := range s.Left {
				if r.Phase(in.phase).Window().surely(left) {
					n++
					if at[seq] != in.port+1 {
						wrong++
					}
				}
			}
			if n == 0 {
				j.Unsure("%s: no frame was sent to it %s", r.Script.Title, in.phase)
			}
			j.None(fmt.Sprintf("%s: frames that did not come to it %s, of %d", r.Script.Title, in.phase, n), Only(wrong))
		}
		for _, name := range []string{"other", "load of a", "load of c"} {
			if r.Stream(name) != nil {
				j.Whole(r, name)
			}
		}
		if s.Lost()+s.Twice > 0 {
			j.Note("%s: %s to it lost, %d came twice", r.Script.Title, unit.Count(s.Lost(), "frame"), s.Twice)
		}
	}
}

// slowest is the slowest port, faster those that are faster.
func (t *Task) slowest() (port int) {
	for p := range t.Profile.Ports {
		if t.Speed(p) < t.Speed(port) {
			port = p
		}
	}
	return port
}

func (t *Task) faster() (ports []int) {
	for p := range t.Profile.Ports {
		if t.Speed(p) > t.Speed(t.slowest()) {
			ports = append(ports, p)
		}
	}
	return ports
}

func n10(t *Task, k int) *Script {
	s := t.Script("ports that overload each other")
	s.Wait(unit.Millisecond)
	rand := t.Random("N10", k)
	from := s.Now()
	for set := t.Lossless(); set != 0; set &= set - 1 {
		target := rand.Below(len(t.Profile.Ports)) // of all others
		for p := range t.Profile.Ports {
			to := target
			if p == target {
				to = (p + 1) % len(t.Profile.Ports)
			}
			var only []Phase
			for at := from; at < from+t.Soak; {
				on := unit.Time(20+rand.Below(980)) * unit.Millisecond
				only = append(only, Phase{From: at, To: min(at+on, from+t.Soak)})
				at += on + unit.Time(20+rand.Below(980))*unit.Millisecond
			}
			s.Send(Stream{
				Name: fmt.Sprintf("%s of %s", streamOf(set.First()), t.Profile.Ports[p].Name), From: p, To: to, Priority: set.First(),
				Lengths: []int{shortest, min(1000, t.MaxFrame()), t.MaxFrame()}, Rate: t.Speed(p) / unit.Rate(t.Lossless().Len()), Only: only, Tally: true,
			})
		}
	}
	s.Phase("soak", t.Soak)
	return s
}

package conform

import (
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/unit"
)

// casesB are the cases of group B: thresholds, by doubling and halving. A port is stopped for good, and so
// many frames are sent to it as are asked for, whatever the DUT says. The bytes of the profile are those of
// frames without FCS, in whole cells where it knows them; of a DUT that counts the FCS as well less
// frames fit, and bounds allow for that.
var casesB = []*Case{
	{
		ID: "B01", Title: "where the DUT pauses a sender", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"T01"},
		Theirs:  "test_qos_sai PfcXoffLimit; test_qos_probe Xoff; RFC 8239 buffering",
		Bound:   "buffer.xoff, +-5 % or a frame",
		Hand:    "stop a priority at b, send n frames of it from a, look for a pause at a, let go; double n until there is one, and halve the difference",
		Missing: func(t *Task) string { return t.impatient(2 * t.filling(0)) },
		Next: func(t *Task, done []*Record) *Script {
			for _, length := range t.lengthsB() {
				if n, over, _, _ := t.xoffSearch(length).next(answersXOFF(done, length)); !over {
					return t.fill(t.Lossless().First(), length, n)
				}
			}
			return nil
		},
		Judge: judgeB01,
	},
	{
		ID: "B02", Title: "where the DUT lets a sender go on", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"T01", "B01"},
		Theirs:  "test_qos_sai PfcXonLimit, XonHysteresis; test_qos_probe Xon",
		Bound:   "buffer.xon, +-5 % or a frame; below the point where it pauses",
		Hand:    "as B01, with a pause at a; let b take k frames, and look for a resume at a",
		Missing: func(t *Task) string { return t.impatient(2*t.filling(0) + t.lasting()) },
		Next:    nextB02,
		Judge:   judgeB02,
	},
	{
		ID: "B03", Title: "the first loss, and so the headroom", Clause: "IEEE 802.1Q 36; 802.3 31B.3.7", Ports: 2, Needs: []string{"T01", "B01"},
		Theirs:  "test_qos_sai PGDrop; test_qos_probe IngressDrop; SONiC lossless plan L08; draft-calabria 5.3",
		Bound:   "buffer.headroom, +-5 % or a frame at either end; at least what frames of the MTU, the wire and the response time of the peer need",
		Hand:    "stop a priority at b, send ever more frames of it from a in spite of pauses, let go, and look for the first number that is missing at b",
		Missing: func(t *Task) string { return t.impatient(4 * t.filling(0)) },
		Next:    nextB03,
		Judge:   judgeB03,
	},
	{
		ID: "B04", Title: "whether groups share their headroom", Clause: "", Ports: 2, Needs: []string{"T01", "B01", "B03"},
		Theirs:  "test_qos_sai HeadroomPoolSize, PfcStormWithSharedHeadroom; test_qos_probe HeadroomPool",
		Bound:   "all groups together what buffer.pool says, +-5 % or a frame of each; the last one some",
		Hand:    "as B03, for each priority of each port one after the other, without letting go in between",
		Missing: func(t *Task) string { return t.few(2) },
		Next:    nextB04,
		Judge:   judgeB04,
	},
	{
		ID: "B05", Title: "whether a threshold depends on what others hold", Clause: "", Ports: 2, Needs: []string{"T01", "B01"},
		Theirs:  "test_qos_sai SharedReservationSize",
		Bound:   "no more than alone, +5 % or a frame; what it is is reported",
		Hand:    "as B01, while other priorities and ports hold as much as pauses them",
		Missing: func(t *Task) string { return t.few(2) },
		Next:    nextB05,
		Judge:   judgeB05,
	},
	{
		ID: "B06", Title: "how much a lossy priority may hold", Clause: "", Ports: 3,
		Theirs:  "test_qos_sai LossyQueue; test_qos_probe EgressDrop",
		Bound:   "reported: the difference of the largest and the least latency, times the rate of the port",
		Hand:    "send a lossy priority from a and c to b, each at the rate of its line, and compare when frames left and came",
		Missing: func(t *Task) string { return without(t.Lossy(), "lossy") },
		Next:    nextB06,
		Judge:   judgeB06,
	},
	{
		ID: "B07", Title: "in what pieces memory is taken", Clause: "", Ports: 2, Needs: []string{"T01"},
		Theirs:  "the cell sizes of test_qos_sai",
		Bound:   "buffer.cell; without it what it is is reported",
		Hand:    "as B03, with frames of 60, 61, 62, 64, 68 bytes and so on: how many fit falls where they need a cell more",
		Missing: func(t *Task) string { return t.impatient(4 * t.filling(0)) },
		Next: func(t *Task, done []*Record) *Script {
			length, _, _ := nextB07(t, done)
			if length == 0 {
				return nil
			}
			return t.flood(length, done)
		},
		Judge: judgeB07,
	},
}

// few says that fewer groups can be filled than this.
func (t *Task) few(n int) string {
	if len(t.groupsB()) < n {
		return fmt.Sprintf("%s can be filled: it needs two lossless priorities, or three ports", unit.Count(len(t.groupsB()), "group"))
	}
	return t.impatient(unit.Time(len(t.groupsB())+2) * 3 * t.filling(0))
}

// lengthsB are the frames by which thresholds are found.
func (t *Task) lengthsB() []int { return []int{t.MaxFrame(), shortest} }

// framesB is the most frames that are sent to find something.
func (t *Task) framesB() int { return 1 << 16 }

// charge is what a frame takes of the buffer, by the profile; with the FCS it may be charged more.
func (t *Task) charge(length int) int {
	if c := t.Profile.Buffer.Cell; c.Is && c.N > 1 {
		return (length + c.N - 1) / c.N * c.N
	}
	return length
}

// fcs is the bytes of a frame that a DUT may count or not.
const fcs = 4

// threshold judges bytes of lo to hi, counted in frames of a length: want, to 5 % or so many frames, or so
// much less as their FCS makes.
func (j *Judge) threshold(t *Task, what string, lo, hi int, want Known, length, frames int) {
	if !want.Is {
		return
	}
	off := max(want.N/20, frames*t.charge(length))
	least := want.N*t.charge(length)/t.charge(length+fcs) - off
	j.Count(fmt.Sprintf("%s, bytes in frames of %d", what, length), Count{uint64(max(0, lo)), uint64(max(0, hi))}, uint64(max(0, least)), uint64(want.N+off))
}

// fill stops a priority at port 1 and sends so many frames of it.
func (t *Task) fill(c unit.Priority, length, n int) *Script {
	s := t.Script(fmt.Sprintf("%s of %s", unit.Count(n, "frame"), unit.Count(length, "byte")))
	s.Storm("stop", 1, t.Lossless(), 65535)
	s.Wait(t.settling(1))
	s.sendN("test", 0, c, length, n)
	s.Release("stop")
	s.Wait(unit.Time(n)*t.FrameTime(1, length) + t.settling(1))
	s.Drain = t.settling(1) + t.Time(60*unit.Millisecond)
	return s
}

// sendN sends so many frames as fast as the line, in spite of pauses, and waits for what the DUT says to
// that: the phase has the name of the stream.
func (s *Script) sendN(name string, from int, c unit.Priority, length, n int) {
	s.Send(Stream{Name: name, From: from, To: 1, Priority: c, Lengths: []int{length}, Rate: LineRate, Obey: Ignores, Count: uint64(n)})
	s.Phase(name, unit.Time(n)*s.task.FrameTime(from, length)+s.task.settling(from))
}

// xoffSearch is the search for the frames of a length that make the DUT pause their sender.
func (t *Task) xoffSearch(length int) halving {
	h := halving{first: 64, most: t.framesB(), confirm: 3}
	if x := t.Profile.Buffer.XOFF; x.Is {
		h.first = max(1, x.N/t.charge(length))
	}
	return h
}

// answersXOFF is which numbers of frames of a length made the DUT pause their sender.
func answersXOFF(done []*Record, length int) (a []answer) {
	for _, r := range done {
		if s := r.Script.Streams[len(r.Script.Streams)-1]; s.Name == "test" && s.Lengths[0] == length && len(r.Script.Trains) == 1 {
			a = append(a, answer{int(s.Count), r.paused(s)})
		}
	}
	return a
}

// paused reports whether the DUT paused the sender of a stream before what stopped it was taken away.
func (r *Record) paused(s *Stream) bool {
	return slices.ContainsFunc(r.PausesOf(s.From, s.Priority), func(p PauseSeen) bool {
		return p.Quanta > 0 && p.At.Lo >= s.Start && p.At.Hi <= r.Phase(s.Name).To
	})
}

// xoffFound is the name of the value that has the XOFF point in frames of a length.
func xoffFound(length int) string { return fmt.Sprintf("XOFF point in frames of %d bytes", length) }

// seekXOFF is how many frames of a length make the DUT pause their sender: hi do, and lo do not. B01 has
// found it, or else a script is the next trial to find it. unknown says that there is no such number.
func (t *Task) seekXOFF(length int, done []*Record) (lo, hi int, unknown bool, script *Script) {
	if v, ok := t.Found(xoffFound(length)); ok {
		return int(v.Lo), int(v.Hi), false, nil
	}
	n, over, lo, hi := t.xoffSearch(length).next(answersXOFF(done, length))
	if !over {
		return lo, hi, false, t.fill(t.Lossless().First(), length, n)
	}
	return lo, hi, hi == 0, nil
}

func judgeB01(t *Task, done []*Record, j *Judge) {
	for _, length := range t.lengthsB() {
		_, _, lo, hi := t.xoffSearch(length).next(answersXOFF(done, length))
		if hi == 0 {
			j.Unsure("no pause came after %s of %s: that is as many as are tried", unit.Count(lo, "frame"), unit.Count(length, "byte"))
			continue
		}
		j.Found(xoffFound(length), float64(lo), float64(hi), "frames")
		j.Found(fmt.Sprintf("XOFF point by frames of %d bytes", length), float64(lo*t.charge(length)), float64(hi*t.charge(length)), "bytes")
		j.True(fmt.Sprintf("a pause after some frames of %d bytes", length), true, fmt.Sprintf("after %d, not after %d", hi, lo), "some")
		j.threshold(t, "XOFF point", lo*t.charge(length), hi*t.charge(length), t.Profile.Buffer.XOFF, length, 1)
	}
	var lost uint64
	for _, r := range done {
		lost += r.lostBefore(t)
	}
	j.None("frames lost although half of the headroom had room", Only(lost))
}

// lostBefore is how many frames of a test were lost, if no more than those that the profile's thresholds
// have room for were sent.
func (r *Record) lostBefore(t *Task) uint64 {
	s := r.Script.Streams[0]
	if x, h := t.Profile.Buffer.XOFF, t.Profile.Buffer.Headroom; !x.Is || !h.Is || int(s.Count)*t.charge(s.Lengths[0]+fcs) > x.N+h.N/2 {
		return 0
	}
	return r.Streams[0].Lost()
}

func nextB02(t *Task, done []*Record) *Script {
	_, n, unknown, script := t.seekXOFF(shortest, done)
	if script != nil || unknown {
		return script
	}
	n += 2
	answers := t.answersXON(done)
	k, over, _, _ := t.xonSearch(n).next(answers)
	if over || len(answers) >= askMost*2/5 {
		return nil
	}
	if len(answers) > 0 { // a DUT takes its time to begin and to stop: as many frames less or more
		last := done[len(done)-1]
		k = max(1, k-answers[len(answers)-1].n+last.askedXON(t))
	}
	c := t.Lossless().First()
	s := t.Script(fmt.Sprintf("%d of %d frames are taken", k, n))
	s.Storm("stop", 1, 1<<c, 65535)
	s.Wait(t.settling(1))
	s.sendN("test", 0, c, shortest, n)
	s.Release("stop")
	s.Wait(unit.Time(k) * t.FrameTime(1, shortest))
	s.Storm("again", 1, 1<<c, 65535)
	s.Wait(t.settling(1))
	s.Phase("asked", t.settling(0)+t.lasting())
	s.Release("again")
	s.Wait(unit.Time(n)*t.FrameTime(1, shortest) + t.settling(1))
	return s
}

// xonSearch is the search for how many of n frames have to be taken for a resume.
func (t *Task) xonSearch(n int) halving {
	h := halving{first: max(1, n/16), most: n, confirm: 3}
	if x := t.Profile.Buffer.XON; x.Is {
		h.first = max(1, min(n, n-x.N/t.charge(shortest)))
	}
	return h
}

// answersXON is how many frames were taken, and whether the DUT resumed their sender by that.
func (t *Task) answersXON(done []*Record) (a []answer) {
	for _, r := range done {
		if len(r.Script.Trains) != 2 {
			continue // of the search for XOFF
		}
		s, asked := r.Script.Streams[0], r.Phase("asked")
		took := r.Streams[0].In(Exactly(0, asked.To)).Hi
		pauses := r.PausesOf(s.From, s.Priority)
		yes := slices.ContainsFunc(pauses, func(p PauseSeen) bool { return p.Quanta == 0 && p.At.Hi <= asked.To })
		if t.Profile.PFC.Resume == "expiry" {
			yes = !slices.ContainsFunc(pauses, func(p PauseSeen) bool { return p.At.Lo >= asked.From && p.At.Hi <= asked.To })
		}
		a = append(a, answer{int(took), yes})
	}
	return a
}

// askedXON is how many frames were to be taken.
func (r *Record) askedXON(t *Task) int {
	f := r.Script.Trains
	return int((f[1].Start - f[0].Stop) / t.FrameTime(1, shortest))
}

func judgeB02(t *Task, done []*Record, j *Judge) {
	no, yes, unknown, script := t.seekXOFF(shortest, done)
	if unknown || script != nil {
		j.Unsure("no pause came: that is found first")
		return
	}
	n := yes + 2
	_, _, lo, hi := t.xonSearch(n).next(t.answersXON(done))
	if hi == 0 {
		j.True("a resume while frames are taken", false, fmt.Sprintf("none after all %d", n), "one")
		return
	}
	per := t.charge(shortest)
	from, to := (n-hi)*per, (n-lo)*per
	j.Found("XON point", float64(from), float64(to), "bytes")
	if late := int(int64(t.Profile.PFC.Slack) * int64(t.Speed(1)) / 8 / int64(unit.Second)); to-from > max(2*per, yes*per/40) && late > (to-from)/8 {
		j.Note("the DUT may stop so late that %d bytes more leave: it was found no better than so", late)
	} else {
		j.threshold(t, "XON point", from, to, t.Profile.Buffer.XON, shortest, 1)
	}
	j.Found("hysteresis", float64(no*per-to), float64(yes*per-from), "bytes")
	j.True("the XON point is below the XOFF point", yes*per > from, fmt.Sprintf("%d bytes or more, and %d or less", from, yes*per), "below")
}

// flood sends so many frames of a length that some are lost: twice as many as last time if none was.
func (t *Task) flood(length int, done []*Record) *Script {
	n := 2048
	if x, h := t.Profile.Buffer.XOFF, t.Profile.Buffer.Headroom; x.Is && h.Is {
		n = (x.N+h.N)/t.charge(length) + 8 + (x.N+h.N)/t.charge(length)/4
	}
	for _, r := range done {
		switch s := r.Script.Streams[0]; {
		case s.Lengths[0] != length:
		case r.Streams[0].Lost() > 0:
			n = max(n, int(s.Count))
		case len(floods(done, length)) == 0:
			n = max(n, 2*int(s.Count))
		}
	}
	return t.fill(t.Lossless().First(), length, min(n, t.framesB()))
}

// floods is, of all trials in which frames of a length were lost, which was the first that was.
func floods(done []*Record, length int) (first []int) {
	for _, r := range done {
		if s := r.Script.Streams[0]; s.Lengths[0] == length && r.Streams[0].Lost() > 0 {
			first = append(first, r.Streams[0].firstLost())
		}
	}
	return first
}

// firstLost is the number of the first frame that did not come.
func (s *StreamRecord) firstLost() int {
	came := make([]bool, s.Sent)
	for _, a := range s.Arrivals {
		came[a.Seq] = true
	}
	if i := slices.Index(came, false); i >= 0 {
		return i
	}
	return int(s.Sent)
}

// confirmB03 is how often a loss is looked at.
const confirmB03 = 3

func nextB03(t *Task, done []*Record) *Script {
	for _, length := range t.lengthsB() {
		_, _, unknown, script := t.seekXOFF(length, done)
		switch {
		case unknown:
			continue
		case script != nil:
			return script
		case len(floods(done, length)) >= confirmB03, len(done) >= 4*askMost:
			continue
		}
		if s := t.flood(length, done); !slices.ContainsFunc(done, func(r *Record) bool {
			f := r.Script.Streams[0]
			return f.Lengths[0] == length && f.Count == uint64(t.framesB()) && r.Streams[0].Lost() == 0
		}) {
			return s
		}
	}
	return nil
}

// headroomFound is the name of the value that has how many frames of a length fit a group.
func headroomFound(length int) string { return fmt.Sprintf("most frames of %d bytes", length) }

func judgeB03(t *Task, done []*Record, j *Judge) {
	for _, length := range t.lengthsB() {
		no, yes, unknown, script := t.seekXOFF(length, done)
		first := floods(done, length)
		if unknown || script != nil || len(first) == 0 {
			j.Unsure("nothing was lost of the frames of %d bytes that were tried, or nothing was paused", length)
			continue
		}
		per := t.charge(length)
		least, most := slices.Min(first), slices.Max(first)
		j.Found(headroomFound(length), float64(least), float64(most), "frames")
		lo, hi := (least-yes)*per, (most+1-no)*per
		j.Found(fmt.Sprintf("headroom by frames of %d bytes", length), float64(lo), float64(hi), "bytes")
		j.threshold(t, "headroom", lo, hi, t.Profile.Buffer.Headroom, length, 2)
		if length == t.MaxFrame() {
			need := t.needsHeadroom(0)
			j.True("headroom, beside what a link of this speed and delay needs", hi >= need, fmt.Sprintf("at most %d bytes", hi), fmt.Sprintf("at least %d", need))
		}
	}
}

// needsHeadroom is how many bytes come at most after a group at a port has reached its XOFF point, from a peer
// that responds as IEEE 802.3 has it.
func (t *Task) needsHeadroom(port int) int {
	q, _ := buffer.ResponseOf(t.Speed(port))
	return buffer.LinkEnd{Rate: t.Speed(port), Delay: t.Profile.Buffer.Delay, Own: t.MaxFrame(), Peer: t.charge(t.MaxFrame()), Response: q}.Headroom()
}

// groupB is a priority group: of a port and a lossless priority.
type groupB struct {
	port     int
	priority unit.Priority
}

// groupsB are the groups that can be filled by what is sent to port 1. The first is that of the other cases.
func (t *Task) groupsB() (all []groupB) {
	for p := range t.Profile.Ports {
		for set := t.Lossless(); set != 0 && p != 1; set &= set - 1 {
			all = append(all, groupB{p, set.First()})
		}
	}
	return all
}

func (t *Task) nameOf(g groupB) string { return fromN03(t, g.priority, g.port) }

func nextB04(t *Task, done []*Record) *Script {
	length := t.MaxFrame()
	_, _, unknown, script := t.seekXOFF(length, done)
	if script != nil || unknown {
		return script
	}
	most := 0
	if v, ok := t.Found(headroomFound(length)); ok {
		most = int(v.Hi)
	} else if first := floods(done, length); len(first) > 0 {
		most = slices.Max(first)
	} else if s := t.flood(length, done); len(done) < askMost {
		return s
	}
	if most == 0 || done != nil && len(done[len(done)-1].Script.Streams) > 1 {
		return nil
	}
	s := t.Script("all groups, one after the other")
	s.Storm("stop", 1, t.Lossless(), 65535)
	s.Wait(t.settling(1))
	for _, g := range t.groupsB() {
		s.sendN(t.nameOf(g), g.port, g.priority, length, most+8)
	}
	s.Release("stop")
	s.Wait(unit.Time(len(t.groupsB())*(most+8))*t.FrameTime(1, length) + t.settling(1))
	s.Drain = t.settling(1) + t.Time(60*unit.Millisecond)
	return s
}

func judgeB04(t *Task, done []*Record, j *Judge) {
	length := t.MaxFrame()
	no, yes, unknown, script := t.seekXOFF(length, done)
	if unknown || script != nil || len(done) == 0 || len(done[len(done)-1].Script.Streams) < 2 {
		j.Unsure("no pause came, or no frame was lost, before all groups were to be filled")
		return
	}
	r, per := done[len(done)-1], t.charge(length)
	lo, hi := 0, 0
	var each, before []int // before its first pause
	for _, g := range t.groupsB() {
		s := r.Stream(t.nameOf(g))
		came := int(s.Came)
		each = append(each, came)
		if all := r.PausesOf(g.port, g.priority); len(all) > 0 {
			before = append(before, int(s.LeftIn(Window{Span{}, all[0].At}).Lo))
		}
		lo, hi = lo+max(0, came-yes)*per, hi+max(0, came+1-no)*per
	}
	j.Note("frames of %d bytes that the groups took, one after the other: %v; each pauses at %d", length, each, yes)
	j.Found("headroom of all groups", float64(lo), float64(hi), "bytes")
	first, last := each[0], each[len(each)-1]
	j.Count("groups that were paused", Only(uint64(len(before))), uint64(len(each)), uint64(len(each)))
	if len(before) < len(each) {
		return
	}
	j.True("frames that the last group took in spite of its pause", last >= before[len(before)-1], fmt.Sprint(last-before[len(before)-1]), "as many as come until a peer stops")
	pool := t.Profile.Buffer.Pool
	switch h := t.Profile.Buffer.Headroom; {
	case before[len(before)-1]*10 < before[0]*9:
		j.Note("the last group pauses earlier than the first: thresholds are dynamic, and its headroom cannot be told by this")
	case pool.Is && h.Is && h.N*len(each) < pool.N:
		j.Note("%s of %d bytes are less than the pool of %d", unit.Count(len(each), "headroom"), h.N, pool.N)
	case last < first-1:
		j.Note("the last group has less headroom than the first: they share a pool")
		j.threshold(t, "headroom of all groups", lo, hi, pool, length, 2*len(each))
	default:
		j.Note("the last group has as much as the first: nothing is shared, or the pool is larger than these groups need")
		j.threshold(t, "headroom of all groups", lo, hi, pool, length, 2*len(each))
	}
}

// othersB05 is how many other groups are full in turn.
func (t *Task) othersB05() (n []int) {
	for k := 1; k < len(t.groupsB()); k *= 2 {
		n = append(n, k)
	}
	return n
}

func nextB05(t *Task, done []*Record) *Script {
	length := t.MaxFrame()
	_, most, unknown, script := t.seekXOFF(length, done)
	if script != nil || unknown {
		return script
	}
	for _, others := range t.othersB05() {
		n, over, _, _ := halving{first: most, most: t.framesB(), confirm: 1}.next(answersB05(done, others))
		if over {
			continue
		}
		s := t.Script(fmt.Sprintf("%s full, %s", unit.Count(others, "other group"), unit.Count(n, "frame")))
		s.Storm("stop", 1, t.Lossless(), 65535)
		s.Wait(t.settling(1))
		for _, g := range t.groupsB()[1 : 1+others] {
			s.Send(Stream{Name: t.nameOf(g), From: g.port, To: 1, Priority: g.priority, Lengths: []int{length}, Rate: LineRate, Count: uint64(most + 1)})
			s.Wait(unit.Time(most+1)*t.FrameTime(g.port, length) + t.settling(g.port))
		}
		s.sendN("test", 0, t.groupsB()[0].priority, length, n)
		s.Release("stop")
		s.Wait(unit.Time(n+others*(most+1))*t.FrameTime(1, length)*2 + t.settling(1))
		s.Drain = t.settling(1) + t.Time(60*unit.Millisecond)
		return s
	}
	return nil
}

func answersB05(done []*Record, others int) (a []answer) {
	for _, r := range done {
		if len(r.Script.Streams) == 1+others && others > 0 {
			s := r.Script.Streams[others]
			a = append(a, answer{int(s.Count), r.paused(s)})
		}
	}
	return a
}

func judgeB05(t *Task, done []*Record, j *Judge) {
	length := t.MaxFrame()
	no, alone, unknown, script := t.seekXOFF(length, done)
	if unknown || script != nil {
		j.Unsure("no pause came at all")
		return
	}
	falls := false
	for _, others := range t.othersB05() {
		_, _, lo, hi := halving{first: alone, most: t.framesB(), confirm: 1}.next(answersB05(done, others))
		what := unit.Count(others, "other group") + " full"
		if hi == 0 {
			j.True("a pause with "+what, false, "none after "+unit.Count(lo, "frame"), "one")
			continue
		}
		j.Found("XOFF point with "+what, float64(lo), float64(hi), "frames")
		j.True("frames that are not paused with "+what, lo <= no+max(1, no/20), fmt.Sprint(lo), fmt.Sprintf("at most %d", no+max(1, no/20)))
		falls = falls || hi < no
	}
	if falls {
		j.Note("thresholds are dynamic: they fall as others hold more")
	} else {
		j.Note("thresholds are static, or there is so much to share that they do not move by a frame of %d bytes", length)
	}
}

func nextB06(t *Task, done []*Record) *Script {
	n := t.Frames(2000, 600)
	for _, r := range done {
		if r.Streams[0].Lost()+r.Streams[1].Lost() > 0 || len(done) == 8 {
			return nil
		}
		n *= 2
	}
	c := t.Lossy().First()
	s := t.Script(fmt.Sprintf("twice %s of priority %d", unit.Count(n, "frame"), c))
	s.Wait(unit.Millisecond)
	for _, p := range []int{0, 2} {
		s.Send(Stream{Name: fromN03(t, c, p), From: p, To: 1, Priority: c, Lengths: []int{min(1000, t.MaxFrame())}, Rate: LineRate, Count: n})
	}
	s.Phase("overload", unit.Time(n)*max(t.FrameTime(0, 1000), t.FrameTime(2, 1000)))
	s.Wait(unit.Time(n) * t.FrameTime(1, 1000))
	s.Drain = t.settling(1)
	return s
}

func judgeB06(t *Task, done []*Record, j *Judge) {
	r := done[len(done)-1]
	length := min(1000, t.MaxFrame())
	var sent, lost uint64
	least, most := unit.Never, unit.Time(0)
	for i := range r.Streams {
		s := &r.Streams[i]
		sent, lost = sent+s.Sent, lost+s.Lost()
		if d := s.Delays(Exactly(0, r.End)); len(d) > 0 {
			least, most = min(least, d[0]), max(most, d[len(d)-1])
		}
	}
	if lost == 0 {
		j.Unsure("none of %s was lost", unit.Count(sent, "frame"))
		return
	}
	j.Some("frames that were lost of a lossy priority that is overloaded", Only(lost))
	held := float64(most-least) / float64(t.FrameTime(1, length)) * float64(length)
	j.Found("limit of a lossy queue", held, held, "bytes")
	j.Note("%d of %d were lost; they were under way for %v to %v", lost, sent, least, most)
}

// nextB07 is the length that has to be tried next, 0 if those that were are enough. a and b are the longest
// frames that need one cell more than those of 60 bytes do not, and two; 0 as long as they are not known.
func nextB07(t *Task, done []*Record) (length, a, b int) {
	fit := map[int]int{}
	for _, r := range done {
		if s := r.Script.Streams[0]; r.Streams[0].Lost() > 0 {
			fit[s.Lengths[0]] = r.Streams[0].firstLost()
		} else if len(floods(done, s.Lengths[0])) == 0 && int(s.Count) == t.framesB() {
			return 0, 0, 0 // nothing is lost
		}
	}
	step := func(from int) (next, last int) {
		base, known := fit[from]
		if !known {
			return from, 0
		}
		var asked []answer
		for d := 1; d <= t.MaxFrame()-from; {
			n, over, lo, _ := halving{first: 1, most: t.MaxFrame() - from, confirm: 1}.next(asked)
			if over {
				return 0, from + lo
			}
			m, known := fit[from+n]
			if !known {
				return from + n, 0
			}
			asked = append(asked, answer{n, m < base})
		}
		return 0, from
	}
	if length, a = step(shortest); length != 0 || a == t.MaxFrame() {
		return length, a, 0
	}
	length, b = step(a + 1)
	return length, a, b
}

func judgeB07(t *Task, done []*Record, j *Judge) {
	_, a, b := nextB07(t, done)
	switch cell := t.Profile.Buffer.Cell; {
	case a == 0:
		j.Unsure("nothing was lost of %d frames", t.framesB())
	case a == t.MaxFrame():
		j.Note("as many frames of the MTU fit as of %d bytes: a cell is larger, or frames are counted and not bytes", shortest)
		j.True("frames that fit fall with their length", !cell.Is || cell.N+fcs >= a, "they do not", "they do")
	case b == t.MaxFrame():
		j.Note("frames of %d bytes need one cell, longer ones more: it is at least %d bytes", a, t.MaxFrame()-a)
		j.True("bytes of a cell", !cell.Is || cell.N >= t.MaxFrame()-a, fmt.Sprintf("at least %d", t.MaxFrame()-a), fmt.Sprint(cell.N))
	default:
		j.Found("cell", float64(b-a), float64(b-a), "bytes")
		want := max(1, cell.N)
		j.True("bytes of a cell: the lengths after which a frame takes one more", !cell.Is || b-a == want, fmt.Sprintf("%d and %d, %d apart", a, b, b-a), fmt.Sprint(want))
	}
}

package conform

import (
	"encoding/binary"
	"fmt"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// casesT are the cases of group T: what the DUT sends.
var casesT = []*Case{
	{
		ID: "T01", Title: "XOFF comes before loss", Clause: "IEEE 802.1Q 36", Ports: 2,
		Theirs: "SONiC lossless plan L08; test_qos_sai PfcXoffLimit",
		Bound:  "a pause of the priority at the sender's port; 0 frames lost of what was sent before and after",
		Hand:   "pause a priority at b for good, send it from a, and look for pauses with tcpdump -i a ether proto 0x8808",
		Next: Times(func(t *Task) int { return len(congestions(t)) }, func(t *Task, k int) *Script {
			return congest(t, congestions(t)[k], t.Storm(unit.Second), t.Time(unit.Second))
		}),
		Judge: judgeT01,
	},
	{
		ID: "T02", Title: "the sender is let go when the congestion is over", Clause: "IEEE 802.1Q 36; 802.3 31D", Ports: 2, Needs: []string{"T01"},
		Theirs: "test_qos_sai PfcXonLimit; snappi valid_pfc_frame",
		Bound:  "quanta 0 for each pause, before all that waited has come out, or no more pauses, as resume of the profile has it; no pause later than two pause times; then the stream at its rate, 0 lost",
		Hand:   "pause a priority at b, send it from a until pauses come to a, let go at b, and look for quanta 0 with tcpdump -i a -xx ether proto 0x8808",
		Next:   Times(func(t *Task) int { return len(congestions(t)) }, t02),
		Judge:  judgeT02,
	},
	{
		ID: "T03", Title: "a pause is the frame that the standard has", Clause: "IEEE 802.3 31D; 802.1Q table 8-1", Ports: 2, Needs: []string{"T01"},
		Theirs: "snappi valid_pfc_frame, valid_src_mac; pull 25590",
		Bound:  "destination 01:80:c2:00:00:01, type 0x8808, opcode 0x0101, reserved octet 0, untagged, 60 bytes, the source that is promised",
		Hand:   "tcpdump -i a -xx ether proto 0x8808, beside docs/format/pfc.md",
		Next:   Times(Exact(1), func(t *Task, _ int) *Script { return stopAndGo(t, t.Lossless().First()) }),
		Judge:  judgeT03,
	},
	{
		ID: "T04", Title: "a pause is refreshed before it runs out", Clause: "IEEE 802.1Q 36; 802.3 31D", Ports: 2, Needs: []string{"T01"},
		Theirs: "draft-calabria-bmwg 7.2",
		Bound:  "from each pause to the next, or to the resume, no longer than the pause; 0 frames of a sender that goes by the timer; 0 lost",
		Hand:   "stop a priority at b for 20 pause times of the DUT, send it from a, and compare the times of the pauses of tcpdump -i a ether proto 0x8808",
		Missing: func(t *Task) string {
			if w := t.Patience(); w < leastT04*t.ownPause(0) {
				return fmt.Sprintf("the DUT can be stopped for %v before its watchdog acts, and its pauses last %v: none runs out", w, t.ownPause(0))
			}
			return ""
		},
		Next:  Times(func(t *Task) int { return len(congestions(t)) }, t04),
		Judge: judgeT04,
	},
	{
		ID: "T05", Title: "pauses name lossless priorities, and only those that are congested", Clause: "IEEE 802.1Q 36.1.1: PFC is enabled by priority", Ports: 3, Needs: []string{"T01"},
		Theirs:  "SONiC lossy plan: lossy congestion sends none; snappi m2o_oversubscribe_lossy, m2o_oversubscribe_lossless_lossy",
		Bound:   "pauses of exactly the congested lossless priorities; none of others, whose streams keep their rate; lossless 0 lost",
		Hand:    "send one priority after the other from a and c to b, together above the line of b, and look for pauses with tcpdump -i a ether proto 0x8808",
		Missing: tooSlow,
		Next:    Times(func(t *Task) int { return len(loadsT05(t)) }, t05),
		Judge:   judgeT05,
	},
	{
		ID: "T06", Title: "pauses go only to ports that feed the congestion", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"T01"},
		Theirs: "snappi port_congestion",
		Bound:  "a port that sends to where there is no congestion gets no pause, and keeps its rate; each of two that feed it gets some; 0 lost",
		Hand:   "stop a priority at b, send it from a to b and from c to a, and look for pauses with tcpdump -i c ether proto 0x8808; then send from c to b",
		Next:   Times(Exact(2), t06),
		Judge:  judgeT06,
	},
	{
		ID: "T07", Title: "no congestion, no pause", Clause: "IEEE 802.1Q 36; RFC 8239 2", Ports: 2,
		Theirs: "snappi no_congestion_throughput; RoCEv2 TC1; RFC 8239 line rate",
		Bound:  "0 pauses and 0 frames lost at 99 % of the line into every port at once; 0 pauses of an idle DUT",
		Hand:   "send at 99 % of the line from each port to the next, and look for pauses with tcpdump ether proto 0x8808",
		Next:   Times(func(t *Task) int { return len(turnsT07(t)) + 1 }, t07),
		Judge:  judgeT07,
	},
	{
		ID: "T08", Title: "XOFF is sent at once", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"T01"},
		Theirs: "RFC 8239 microburst",
		Bound:  "from the arrival of the frame that reaches XOFF to the pause: the time of a frame of the MTU, that of the frame itself and of the pause, and slack",
		Hand:   "stop a priority at b, send single frames of the MTU from a until a pause comes, let go; then, if xoff is known, send as many at once; and take the time from the last of them to the pause with tcpdump -i a",
		Next:   func(t *Task, done []*Record) *Script { return xoffNext(t, done, false) },
		Judge:  judgeXOFF,
	},
	{
		ID: "T09", Title: "pauses go before data", Clause: "IEEE 802.1Q 36; 802.3 31B.3.7", Ports: 3, Needs: []string{"T08"},
		Theirs: "RFC 8239 microburst",
		Bound:  "as T08, while the port of the pause has frames of the MTU of all priorities to send",
		Hand:   "as T08, while b and c send frames of the MTU in all priorities to a, each at the line's rate",
		Next:   func(t *Task, done []*Record) *Script { return xoffNext(t, done, true) },
		Judge:  judgeXOFF,
	},
	{
		ID: "T10", Title: "an overload that comes and goes loses nothing", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"T02"},
		Theirs:  "snappi m2o_fluctuating",
		Bound:   "0 frames lost; each pause is refreshed in time and taken back, as in T02 and T04; streams that do not feed the overload keep their rate, and get no pause",
		Hand:    "send from a to b at 60 % of the line, from c to b at 95 % of it for 20 ms to 1 s at a time, and look at the pauses with tcpdump -i a ether proto 0x8808",
		Missing: tooSlow,
		Next:    Times(Exact(1), t10),
		Judge:   judgeT10,
	},
}

// stopAndGo fills the DUT from port 0 to port 1, which is stopped, and then lets go.
func stopAndGo(t *Task, c unit.Priority) *Script {
	return congest(t, congestion{c, false}, t.Storm(unit.Second), t.Time(unit.Second))
}

// congestion is a way to congest a lossless priority at port 1: by pauses that stop it, or by overload from
// ports 0 and 2.
type congestion struct {
	priority unit.Priority
	overload bool
}

// feeders are the ports that send into the congestion.
func (g congestion) feeders() []int {
	if g.overload {
		return []int{0, 2}
	}
	return []int{0}
}

// congestions are all that can be played.
func congestions(t *Task) (all []congestion) {
	for set := t.Lossless(); set != 0; set &= set - 1 {
		all = append(all, congestion{set.First(), false})
	}
	if len(t.Profile.Ports) > 2 && tooSlow(t) == "" {
		for set := t.Lossless(); set != 0; set &= set - 1 {
			all = append(all, congestion{set.First(), true})
		}
	}
	return all
}

// overload is at what rate a port sends into an overload of port 1.
func (t *Task) overload(from int) unit.Rate { return min(t.Speed(1)/4*3, t.fast(from)) }

// fast is the rate of a stream that nearly fills the line of a port, or what the tester can do.
func (t *Task) fast(port int) unit.Rate {
	rate := t.Speed(port) / 100 * 95
	if t.Safe > 0 {
		rate = min(rate, t.Safe)
	}
	return rate
}

// fillRate is the rate of a stream from a port that fills the DUT up to XOFF several times over in a time, where
// that is known.
func (t *Task) fillRate(port int, d unit.Time) unit.Rate {
	rate := 2 * t.Rate(port)
	if x := t.Profile.Buffer.XOFF; x.Is {
		rate = max(rate, unit.Rate(4*8*int64(x.N)*int64(unit.Second)/int64(d)))
	}
	return min(rate, t.fast(port))
}

// tooSlow is why ports 0 and 2 cannot overload port 1, "" if they can.
func tooSlow(t *Task) string {
	if sum := t.overload(0) + t.overload(2); sum < t.Speed(1)/100*110 {
		return fmt.Sprintf("ports %s and %s can send %v together, and port %s takes %v: that is no overload", t.Profile.Ports[0].Name, t.Profile.Ports[2].Name, sum, t.Profile.Ports[1].Name, t.Speed(1))
	}
	return ""
}

// congest congests a priority in a phase "stopped", and lets go in a phase "go".
func congest(t *Task, g congestion, hold, rest unit.Time) *Script {
	title := fmt.Sprintf("priority %d is stopped, and let go", g.priority)
	if g.overload {
		title = fmt.Sprintf("priority %d is overloaded, and let go", g.priority)
	}
	s := t.Script(title)
	test := Stream{Name: "test", From: 0, To: 1, Priority: g.priority, Rate: t.fillRate(0, hold)}
	if g.overload {
		test.Rate = t.overload(0)
		s.Send(test)
		s.Send(Stream{Name: "other", From: 2, To: 1, Priority: g.priority, Rate: t.overload(2)})
	} else {
		s.Storm("stop", 1, 1<<g.priority, 65535)
		s.Wait(min(t.Time(30*unit.Millisecond), hold/10))
		s.Send(test)
	}
	s.Send(backStream(t, 1, 0, t.Time(200*unit.Millisecond)))
	s.Phase("stopped", hold)
	s.Halt("other")
	s.Release("stop")
	s.Phase("go", rest)
	return s
}

// letGo is when a congestion ended.
func letGo(r *Record) Span {
	if stop := r.Train("stop"); stop != nil && len(stop.Left) > 0 {
		return stop.Left[len(stop.Left)-1]
	}
	at := r.Phase("go").From
	return Span{at, at}
}

// ownPause is for how long a pause of the DUT lasts at a port, as far as is known: that of the most quanta
// that were seen.
func (t *Task) ownPause(port int) unit.Time {
	quanta := uint16(0)
	for i := range t.frames {
		if f, ok := t.frames[i].PFC(); ok {
			for set := f.Enable; set != 0; set &= set - 1 {
				quanta = max(quanta, f.Quanta[set.First()])
			}
		}
	}
	switch {
	case quanta > 0:
	case t.Profile.PFC.Quanta.Is:
		quanta = uint16(min(t.Profile.PFC.Quanta.N, 65535))
	default:
		quanta = 65535
	}
	return t.Quanta(port, quanta)
}

func judgeT01(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		c := r.Script.Streams[0].Priority
		n, first := uint64(0), Span{}
		for _, p := range r.PausesOf(0, c) {
			if p.Quanta > 0 && r.Phase("stopped").Window().surely(p.At) {
				if n == 0 {
					first = p.At
				}
				n++
			}
		}
		j.Some(fmt.Sprintf("pauses of priority %d at the sender, while its receiver is stopped", c), Only(n))
		j.wholeAll(r)
		j.does(sends, c, n > 0)
		if n > 0 {
			sent := r.Stream("test").LeftIn(Window{Span{}, first})
			j.Note("priority %d: the first pause came %v after the first frame, when %s had been sent", c, first.Lo-r.Phase("stopped").From, unit.Count(sent.Hi, "frame"))
		}
	}
}

func judgeT03(t *Task, done []*Record, j *Judge) {
	t.see(done...)
	frames := t.frames
	for _, r := range done {
		var pauses, resumes uint64
		c := r.Script.Trains[0].Set.First()
		for _, p := range r.PausesOf(0, c) {
			if p.Quanta > 0 {
				pauses++
			} else {
				resumes++
			}
		}
		j.Some(fmt.Sprintf("right PFC frames that pause priority %d, and no other by its bit", c), Only(pauses))
		j.Note("priority %d: %s, %s of quanta 0", c, unit.Count(pauses, "pause"), unit.Count(resumes, "frame"))
	}
	bad := map[string]bool{}
	wrong := func(s *Seen, format string, args ...any) {
		what := fmt.Sprintf("port %s: ", t.Profile.Ports[s.Port].Name) + fmt.Sprintf(format, args...)
		if !bad[what] {
			bad[what] = true
			j.True("a control frame of the DUT", false, what, "as IEEE 802.3, annex 31D, has it")
		}
	}
	source := map[int]unit.MAC{}
	for i := range frames {
		s := &frames[i]
		b := s.Frame
		switch {
		case ether.Dst(b) != groupMAC:
			wrong(s, "destination %v", ether.Dst(b))
		case s.Type() != pfcframe.EtherType:
			wrong(s, "EtherType %#04x", s.Type())
		case len(b) < pfcframe.PadOffset:
			wrong(s, "%s", unit.Count(s.Len, "byte"))
		case binary.BigEndian.Uint16(b[14:]) != pfcframe.OpcodePFC:
			wrong(s, "opcode %#04x", binary.BigEndian.Uint16(b[14:]))
		case b[16] != 0:
			wrong(s, "reserved octet %#02x", b[16])
		case b[17] == 0:
			wrong(s, "no priority is named")
		case s.Len != pfcframe.Len:
			wrong(s, "%s", unit.Count(s.Len, "byte"))
		}
		src := ether.Src(b)
		was, known := source[s.Port]
		own := t.Profile.Ports[s.Port].MAC
		switch source[s.Port] = src; {
		case t.Profile.PFC.Source == "any":
		case t.Profile.PFC.Source == "zero":
			if src != 0 {
				wrong(s, "source %v, want zero", src)
			}
		case src.IsGroup() || src == 0 || own != 0 && src != own:
			wrong(s, "source %v, want that of the port", src)
		case known && was != src:
			wrong(s, "sources %v and %v", was, src)
		}
		for c := range unit.Priority(unit.Priorities) {
			if len(b) >= pfcframe.PadOffset && b[17]>>c&1 == 0 && binary.BigEndian.Uint16(b[18+2*int(c):]) != 0 {
				j.Note("a timer is not 0 where its bit is clear: priority %d", c)
				break
			}
		}
	}
}

// wholeAll wants all frames of all streams to have come.
func (j *Judge) wholeAll(r *Record) {
	for i := range r.Streams {
		j.Whole(r, r.Streams[i].Name)
	}
}

func t02(t *Task, k int) *Script {
	g := congestions(t)[k]
	s := congest(t, g, t.Storm(600*unit.Millisecond), 2*t.ownPause(0)+t.Time(300*unit.Millisecond))
	s.Phase("later", t.Time(200*unit.Millisecond))
	return s
}

func judgeT02(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		g := congestions(t)[k]
		j.AtRate(r, "test", r.Phase("later").Window())
		j.wholeAll(r)
		var pauses uint64
		for _, p := range g.feeders() {
			pauses += j.letsGo(t, r, g, p)
		}
		if pauses == 0 {
			j.Note("%s: no pause came: the buffer took it all", r.Script.Title)
		}
	}
}

// letsGo wants the DUT to let a port go after a congestion. It returns how many pauses there were.
func (j *Judge) letsGo(t *Task, r *Record, g congestion, port int) (pauses uint64) {
	what := fmt.Sprintf("%s: port %s", r.Script.Title, t.Profile.Ports[port].Name)
	seen, over := r.PausesOf(port, g.priority), letGo(r)
	var resumes, late uint64
	longest, resumed := unit.Time(0), Span{}
	// What waited at the end of the congestion has to come out at least; the sender may go on meanwhile, at
	// three quarters of the line.
	waits := unit.Time(0)
	for i := range r.Script.Streams {
		if f, s := r.Script.Streams[i], &r.Streams[i]; f.To == 1 && !f.Control {
			before := Exactly(0, over.Hi)
			waits += unit.Time(s.LeftIn(before).Hi-min(s.LeftIn(before).Hi, s.In(before).Lo)) * t.FrameTime(1, f.Lengths[0])
		}
	}
	drained := over.Hi + 4*waits + t.Allowance(port) + t.Allowance(1)
	for _, p := range seen {
		longest = max(longest, t.Quanta(port, p.Quanta))
	}
	for _, p := range seen {
		switch {
		case p.Quanta > 0:
			pauses++
			if p.At.Lo > max(drained, over.Hi+2*longest) {
				late++
			}
		case p.At.Hi >= over.Lo:
			if resumes++; resumes == 1 {
				resumed = p.At
			}
		}
	}
	j.None(what+": pauses after the congestion", Only(late))
	if t.Profile.PFC.Resume == "expiry" || pauses == 0 {
		return pauses
	}
	j.toldOnce(what, seen, pauses)
	last := seen[len(seen)-1]
	j.True(what+": the last frame about the priority", last.Quanta == 0, fmt.Sprintf("%d quanta", last.Quanta), "quanta 0, which lets go")
	if resumes > 0 {
		j.Time(what+": from the end of the congestion to quanta 0", resumed.Minus(over), -unit.Second, drained-over.Hi)
	}
	return pauses
}

// toldOnce wants no more resumes that say what the DUT has said already than there are pauses. One says nothing
// new if its pause was over before it could be sent: it is allowed, and changes nothing (IEEE 802.3, 31D).
func (j *Judge) toldOnce(what string, seen []PauseSeen, pauses uint64) {
	again := uint64(0)
	for i, p := range seen {
		if p.Quanta == 0 && (i == 0 || seen[i-1].Quanta == 0) {
			again++
		}
	}
	j.Count(what+": frames of quanta 0 without a pause before", Only(again), 0, pauses)
}

// leastT04 is how many pause times a stop has to last at least.
const leastT04 = 3

func t04(t *Task, k int) *Script {
	g := congestions(t)[k]
	hold := t.Time(300 * unit.Millisecond)
	if !g.overload {
		hold = min(hold+20*t.ownPause(0), t.Patience())
	}
	return congest(t, g, hold, t.Time(300*unit.Millisecond))
}

func judgeT04(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		g := congestions(t)[k]
		var pauses uint64
		for _, p := range g.feeders() {
			pauses += j.refreshed(t, r, p, g.priority, r.Phase("go").From, g.overload)
		}
		if pauses == 0 {
			j.Note("%s: no pause came: the buffer took it all", r.Script.Title)
		}
		seen := r.PausesOf(0, g.priority)
		if !g.overload && len(seen) > 0 {
			from, to := seen[0].At.Plus(t.Allowance(0)), r.Phase("go").From
			j.None(r.Script.Title+": frames of a sender that goes by the timers", r.Stream("test").LeftIn(Window{from, Span{to, to}}))
		}
		j.wholeAll(r)
	}
}

// refreshed wants each pause of a priority at a port to be followed by the next one, or by a resume, before
// it has run out, up to a time of the script. Where a DUT resumes by expiry, and a congestion comes and goes,
// nobody can tell. It returns how many pauses there were.
func (j *Judge) refreshed(t *Task, r *Record, port int, c unit.Priority, until unit.Time, changes bool) (pauses uint64) {
	what := fmt.Sprintf("%s: port %s, priority %d", r.Script.Title, t.Profile.Ports[port].Name, c)
	seen := r.PausesOf(port, c)
	worst, bound := Span{}, unit.Never
	for i, p := range seen {
		if p.Quanta == 0 || p.At.Hi > until {
			continue
		}
		pauses++
		next := Span{until, until}
		if i+1 < len(seen) && seen[i+1].At.Lo < until {
			next = seen[i+1].At
		}
		gap, pause := next.Minus(p.At), t.Quanta(port, p.Quanta)
		if bound == unit.Never || gap.Lo-pause > worst.Lo-bound {
			worst, bound = gap, pause
		}
	}
	if pauses > 0 && !(changes && t.Profile.PFC.Resume == "expiry") {
		j.Time(what+": longest time from a pause to the next frame about it, beside its length", worst, 0, bound)
	}
	return pauses
}

// loadT05 is priorities that are congested at port 1: lossless ones, stopped or overloaded, and a lossy one
// that is overloaded.
type loadT05 struct {
	lossless, lossy unit.PrioritySet
	stop            bool
}

func loadsT05(t *Task) (all []loadT05) {
	for set := t.Lossy(); set != 0; set &= set - 1 {
		all = append(all, loadT05{lossy: 1 << set.First()})
	}
	first := unit.PrioritySet(1 << t.Lossless().First())
	all = append(all, loadT05{lossless: first})
	if set := t.Lossy(); set != 0 {
		all = append(all, loadT05{lossless: first, lossy: 1 << set.First()})
	}
	if t.Lossless().Len() > 1 {
		// Stopped: whatever the scheduler, all of them are congested then.
		all = append(all, loadT05{lossless: t.Lossless(), stop: true})
	}
	return all
}

// innocent is a priority that is not in a set, a lossless one if there is one; ok is false if there is none.
func (t *Task) innocent(of unit.PrioritySet) (c unit.Priority, ok bool) {
	for _, set := range []unit.PrioritySet{t.Lossless() &^ of, t.Lossy() &^ of} {
		if set != 0 {
			return set.First(), true
		}
	}
	return 0, false
}

func t05(t *Task, k int) *Script {
	l := loadsT05(t)[k]
	title := fmt.Sprintf("overload of priorities %v", l.lossless|l.lossy)
	d := t.Time(400 * unit.Millisecond)
	if l.stop {
		title, d = fmt.Sprintf("stop of priorities %v", l.lossless), t.Storm(400*unit.Millisecond)
	}
	s := t.Script(title)
	if l.stop {
		s.Storm("stop", 1, l.lossless, 65535)
		s.Wait(d / 10)
	}
	for set := l.lossless | l.lossy; set != 0; set &= set - 1 {
		c := set.First()
		for _, from := range []int{0, 2} {
			rate := t.overload(from)
			switch {
			case l.stop:
				rate /= unit.Rate(l.lossless.Len())
			case l.lossless == 0 || l.lossy == 0:
			case l.lossless.Has(c): // above the line with that of the other port, whoever goes first
				rate = rate / 100 * 80
			default:
				rate = rate / 100 * 40
			}
			s.Send(Stream{Name: fmt.Sprintf("priority %d of port %s", c, t.Profile.Ports[from].Name), From: from, To: 1, Priority: c, Rate: rate})
		}
	}
	if c, ok := t.innocent(l.lossless | l.lossy); ok {
		s.Send(Stream{Name: "innocent", From: 0, To: 2, Priority: c, Rate: t.Rate(0) / 4})
	}
	s.Send(backStream(t, 1, 0, d/2))
	s.Wait(t.lead())
	s.Phase("congested", d)
	for _, f := range s.Streams {
		s.Halt(f.Name)
	}
	s.Release("stop")
	s.Phase("after", t.Time(60*unit.Millisecond))
	return s
}

func judgeT05(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		l := loadsT05(t)[k]
		j.noPauseBut(t, r, func(_ int) unit.PrioritySet { return l.lossless })
		// Of an overload the slower sender need not be paused, if the other one makes room enough, nor a
		// priority that has a large share of the line.
		var pauses uint64
		for set := l.lossless; set != 0; set &= set - 1 {
			pauses += pausesAt(r, 0, set.First()) + pausesAt(r, 2, set.First())
		}
		if l.lossless != 0 {
			j.Some(r.Script.Title+": pauses at the ports that feed it", Only(pauses))
		}
		var lost uint64
		for i, f := range r.Script.Streams {
			switch s := &r.Streams[i]; {
			case f.Control:
			case f.Name == "innocent":
				j.AtRate(r, f.Name, r.Phase("congested").Window())
				j.Whole(r, f.Name)
			case l.lossy.Has(f.Priority):
				lost += s.Lost()
			default:
				j.Whole(r, f.Name)
			}
		}
		switch {
		case l.lossy == 0:
		case lost > 0:
			j.Note("%s: priority %d lost %s", r.Script.Title, l.lossy.First(), unit.Count(lost, "frame"))
		default:
			j.Note("%s: priority %d lost nothing: what was too much fits its queue", r.Script.Title, l.lossy.First())
		}
	}
}

// pausesAt is how many pauses of a priority came to a port.
func pausesAt(r *Record, port int, c unit.Priority) (n uint64) {
	for _, p := range r.PausesOf(port, c) {
		if p.Quanta > 0 {
			n++
		}
	}
	return n
}

// noPauseBut wants no pauses but of the priorities of a port that may be paused.
func (j *Judge) noPauseBut(t *Task, r *Record, may func(port int) unit.PrioritySet) {
	for p := range t.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			if may(p).Has(c) {
				continue
			}
			if n := pausesAt(r, p, c); n > 0 {
				j.None(fmt.Sprintf("%s: pauses of priority %d at port %s, which has no part in the congestion", r.Script.Title, c, t.Profile.Ports[p].Name), Only(n))
			}
		}
	}
	j.None(r.Script.Title+": 802.3x PAUSE frames of the DUT", Only(pauses8023(r)))
}

// pauses8023 is how many 802.3x PAUSE frames the DUT sent that stop anybody.
func pauses8023(r *Record) (n uint64) {
	for i := range r.Seen {
		s := &r.Seen[i]
		if _, quanta, err := pfcframe.ParsePause(s.Frame); err == nil && quanta > 0 && !s.Own {
			n++
		}
	}
	return n
}

func t06(t *Task, k int) *Script {
	c := t.Lossless().First()
	to, title := 0, "port c feeds no congestion"
	if k > 0 {
		to, title = 1, "ports a and c feed the congestion"
	}
	s := t.Script(title)
	d := t.Storm(500 * unit.Millisecond)
	s.Storm("stop", 1, 1<<c, 65535)
	s.Wait(d / 20)
	s.Send(Stream{Name: "a to b", From: 0, To: 1, Priority: c, Rate: t.fillRate(0, d)})
	s.Send(Stream{Name: "of c", From: 2, To: to, Priority: c, Rate: t.fillRate(2, d)})
	s.Send(backStream(t, 1, 0, d/2))
	s.Wait(t.lead())
	s.Phase("stopped", d)
	s.Halt("a to b")
	s.Halt("of c")
	s.Release("stop")
	s.Phase("go", t.Time(60*unit.Millisecond))
	return s
}

func judgeT06(t *Task, done []*Record, j *Judge) {
	c := t.Lossless().First()
	for k, r := range done {
		may := map[int]unit.PrioritySet{0: 1 << c}
		if k == 0 {
			j.AtRate(r, "of c", r.Phase("stopped").Window())
		} else {
			may[2] = 1 << c
		}
		for p := range t.Profile.Ports {
			if may[p] != 0 {
				j.Some(fmt.Sprintf("%s: pauses of priority %d at port %s", r.Script.Title, c, t.Profile.Ports[p].Name), Only(pausesAt(r, p, c)))
			}
		}
		j.noPauseBut(t, r, func(p int) unit.PrioritySet { return may[p] })
		j.wholeAll(r)
	}
}

// turnsT07 is how many ports further each port sends, trial by trial: to the next one, and to the one
// before.
func turnsT07(t *Task) []int {
	if n := len(t.Profile.Ports); n > 2 {
		return []int{1, n - 1}
	}
	return []int{1}
}

func t07(t *Task, k int) *Script {
	turns := turnsT07(t)
	if k == len(turns) {
		s := t.Script("idle")
		s.Phase("idle", t.Time(2*unit.Second))
		return s
	}
	s := t.Script(fmt.Sprintf("every port sends at 99 %% of the line, %s further", unit.Count(turns[k], "port")))
	n := len(t.Profile.Ports)
	for from := range n {
		to := (from + turns[k]) % n
		rate := min(t.Speed(from), t.Speed(to)) / 100 * 99
		if t.Safe > 0 {
			rate = min(rate, t.Safe)
		}
		for set := t.Profile.Sendable(); set != 0; set &= set - 1 {
			c := set.First()
			s.Send(Stream{
				Name: fmt.Sprintf("priority %d from %s", c, t.Profile.Ports[from].Name), From: from, To: to, Priority: c,
				Lengths: []int{t.MaxFrame()}, Rate: rate / unit.Rate(t.Profile.Sendable().Len()), Tally: true,
			})
		}
	}
	s.Phase("busy", t.Time(5*unit.Second)/unit.Time(len(turns)))
	return s
}

func judgeT07(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		j.noPauseBut(t, r, func(int) unit.PrioritySet { return 0 })
		var sent, want, lost uint64
		for i, f := range r.Script.Streams {
			s := &r.Streams[i]
			sent, lost, want = sent+s.Sent, lost+s.Lost(), want+uint64((f.Stop-f.Start)/f.Rate.FrameTime(f.Lengths[0]))
		}
		j.None(fmt.Sprintf("%s: frames lost of %d", r.Script.Title, sent), Only(lost))
		if sent < want/100*97 {
			j.Unsure("%s: the tester sent %s, and should have sent %d", r.Script.Title, unit.Count(sent, "frame"), want)
		}
	}
}

// testedT10 are the priorities that are overloaded in T10: the lossless ones, of which one is left to be an
// innocent if there is no other.
func testedT10(t *Task) unit.PrioritySet {
	set := t.Lossless()
	if t.Lossy() == 0 && set.Len() > 1 {
		set &^= 1 << highest(set)
	}
	return set
}

func t10(t *Task, k int) *Script {
	s := t.Script("an overload that comes and goes")
	tested := testedT10(t)
	d := t.Time(8 * unit.Second)
	var only []Phase
	z := t.Random("T10", k)
	random := func() unit.Time {
		return t.Time(20*unit.Millisecond + unit.Time(z.Below(980))*unit.Millisecond)
	}
	for at := s.Now() + random(); at < s.Now()+d; at += random() {
		on := Phase{From: at, To: at + random()}
		only, at = append(only, on), on.To
	}
	n := unit.Rate(tested.Len())
	for set := tested; set != 0; set &= set - 1 {
		c := set.First()
		s.Send(Stream{Name: fmt.Sprintf("base %d", c), From: 0, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: t.overload(0) / 100 * 80 / n, Tally: true})
		s.Send(Stream{Name: fmt.Sprintf("more %d", c), From: 2, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: t.fast(2) / n, Only: only, Tally: true})
	}
	if c, ok := t.innocent(tested); ok {
		s.Send(Stream{Name: "innocent", From: 0, To: 2, Priority: c, Rate: t.Rate(0) / 2})
	}
	s.Send(Stream{Name: "elsewhere", From: 1, To: 2, Priority: t.Lossless().First(), Rate: t.Rate(1) / 2})
	s.Send(backStream(t, 1, 0, d/10))
	s.Wait(t.lead())
	s.Phase("overload", d)
	s.Wait(t.Time(50 * unit.Millisecond))
	for set := tested; set != 0; set &= set - 1 {
		s.Halt(fmt.Sprintf("more %d", set.First()))
	}
	s.Phase("after", 2*t.ownPause(0)+t.Time(100*unit.Millisecond))
	return s
}

func judgeT10(t *Task, done []*Record, j *Judge) {
	tested := testedT10(t)
	for _, r := range done {
		j.wholeAll(r)
		for _, name := range []string{"innocent", "elsewhere"} {
			if r.Stream(name) != nil {
				j.AtRate(r, name, r.Phase("overload").Window())
			}
		}
		j.noPauseBut(t, r, func(p int) unit.PrioritySet {
			if p == 0 || p == 2 {
				return tested
			}
			return 0
		})
		var pauses uint64 // of all: one that has a large share of the line may not be overloaded
		for set := tested; set != 0; set &= set - 1 {
			c := set.First()
			for _, p := range []int{0, 2} {
				n := j.refreshed(t, r, p, c, r.Phase("after").To, true)
				pauses += n
				if t.Profile.PFC.Resume != "expiry" {
					seen := r.PausesOf(p, c)
					what := fmt.Sprintf("%s: port %s, priority %d", r.Script.Title, t.Profile.Ports[p].Name, c)
					j.toldOnce(what, seen, n)
					if len(seen) > 0 {
						last := seen[len(seen)-1]
						j.True(what+": the last frame about it", last.Quanta == 0, fmt.Sprintf("%d quanta", last.Quanta), "quanta 0, which lets go")
					}
				}
			}
		}
		if pauses == 0 {
			j.Note("%s: no pause came: the buffer took it all", r.Script.Title)
		}
	}
}

package conform

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/unit"
)

// casesW are the cases of group W: watchdog and containment. Their times are those of the profile's
// watchdog, live and in virtual time.
var casesW = []*Case{
	{
		ID: "W01", Title: "a storm is found in time", Ports: 2, Needs: []string{"R01", "T01"},
		Theirs:  "pfcwd timer_accuracy; snappi pfcwd_basic; SONiC lossless plan L13",
		Bound:   "19 storms, spread over a poll: from the first pause to the effect, detect to detect + poll, each",
		Hand:    "pause a queue that has traffic for good; drop lets its sender go (tcpdump -i a ether proto 0x8808), forward sends at b; compare the time with pfcwd's",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return spread(t, stormsW01, 2*t.dog().poll+t.dogSlack()+t.stale()) }),
		Judge:   judgeW01,
	},
	{
		ID: "W02", Title: "action drop drops what is in the queue, and nothing else", Ports: 2, Needs: []string{"W01"},
		Theirs:  "pfcwd function; snappi pfcwd actions",
		Bound:   "no frame of the queue while it is dropped, and no pause for it; what comes after the storm was sent after the restoration; other queues at their rate, 0 lost",
		Hand:    "as W01, with a stream of each priority; the numbers that come at b after the storm are those sent after the restoration",
		Missing: watched("drop"),
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return longStorm(t) }),
		Judge:   judgeW02,
	},
	{
		ID: "W03", Title: "action forward sends in spite of pauses", Ports: 2, Needs: []string{"W01"},
		Theirs:  "pfcwd function; snappi pfcwd actions",
		Bound:   "the queue at its rate while the storm goes on; 0 lost, other queues too",
		Hand:    "as W02; tcpdump -i b shows the priority while b pauses it",
		Missing: watched("forward"),
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return longStorm(t) }),
		Judge:   judgeW03,
	},
	{
		ID: "W04", Title: "action alert, or no watchdog, leaves a pause as it is", Ports: 2, Needs: []string{"R01"},
		Theirs:  "pfcwd function",
		Bound:   "as R01, for as long as the storm lasts",
		Hand:    "as R01, for several seconds",
		Missing: watched("alert", "none"),
		Next: Times(Exact(1), func(t *Task, _ int) *Script {
			storm := t.Time(6 * unit.Second)
			if d := t.dog(); d.action == "alert" {
				storm = 3 * d.most
			}
			return pauseOf(t, t.Lossless().First(), storm)
		}),
		Judge: func(t *Task, done []*Record, j *Judge) { j.stopped(t, done[0]) },
	},
	{
		ID: "W05", Title: "the queue is restored in time after a storm", Ports: 2, Needs: []string{"W01"},
		Theirs:  "pfcwd timer_accuracy; test_qos_sai PfcStormWithSharedHeadroom",
		Bound:   "from the last pause, restore to restore + poll; not before; then a pause stops the queue again",
		Hand:    "as W01; end the storm, and look for the first frame at b, and whether a short pause stops it again",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(5), w05),
		Judge:   judgeW05,
	},
	{
		ID: "W06", Title: "pauses that are shorter than the watchdog's time are no storm", Ports: 2, Needs: []string{"R01"},
		Theirs:  "SONiC lossless plan L12",
		Bound:   "20 pauses of detect - poll, with gaps of twice that: each stops the queue, 0 lost, all in order",
		Hand:    "pause and resume by hand, and count the frames at b",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), w06),
		Judge:   judgeW06,
	},
	{
		ID: "W07", Title: "a slow receiver is no storm", Ports: 2, Needs: []string{"R01"},
		Bound:   "b lets frames through once a poll, for 10 x detect: the queue is stopped in the third quarter of each turn, 0 lost, all in order",
		Hand:    "pause a queue for good, and resume it for a frame's time once a poll; nothing is lost, and the watchdog's counters stay",
		Missing: watched("drop", "forward"), // who contains by the time of all pauses may contain this one
		Next:    Times(Exact(1), w07),
		Judge:   judgeW07,
	},
	{
		ID: "W08", Title: "storms as long as the watchdog's time are found", Ports: 2, Needs: []string{"W01"},
		Theirs:  "snappi pfcwd_burst_storm",
		Bound:   "10 of 10 storms of detect + poll, spread over a poll",
		Hand:    "as W01, with storms that end at detect + poll",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), func(t *Task, _ int) *Script { return spread(t, stormsW08, t.dogSlack()) }),
		Judge:   judgeW08,
	},
	{
		ID: "W09", Title: "storms at all ports in all lossless priorities are found, and end", Ports: 2, Needs: []string{"W01"},
		Theirs:  "pfcwd all_port_storm, multi_port; snappi pfcwd_a2a",
		Bound:   "each queue is acted upon, and each restored: then all frames come",
		Hand:    "as W01, at all ports at once",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), w09),
		Judge:   judgeW09,
	},
	{
		ID: "W10", Title: "a storm harms no bystander", Ports: 3, Needs: []string{"W01"},
		Theirs:  "snappi pfcwd_m2o, runtime_traffic",
		Bound:   "other queues of the port, the same queue of another port, and, once the watchdog acted, the same sender to another port: at their rate, 0 lost",
		Hand:    "as W02, with streams to c",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), w10),
		Judge:   judgeW10,
	},
	{
		ID: "W11", Title: "a storm in front of an empty queue counts when traffic comes", Ports: 2, Needs: []string{"W01"},
		Theirs:  "pfcwd function no_traffic, storm_during_traffic",
		Bound:   "acts as promised within detect + poll of the first frame; after it a pause stops the queue again",
		Hand:    "as W01, and begin to send a second after the storm began",
		Missing: watched("drop", "forward", "contain"),
		Next:    Times(Exact(1), w11),
		Judge:   judgeW11,
	},
	{
		ID: "W12", Title: "how far a pause spreads before anything acts", Ports: 3, Needs: []string{"R01", "T01"},
		Theirs: "draft-calabria-bmwg-ai-fabric-training-bench 7.4",
		Bound:  "no priority and no port stops that shares neither the queue nor the sender; what does is reported",
		Hand:   "pause a priority at b, send it there from all other ports, and look at which of their streams to other ports stop",
		Next:   Times(Exact(1), w12),
		Judge:  judgeW12,
	},
}

const (
	stormsW01 = 19
	stormsW08 = 10
	pausesW06 = 20
)

// dog is what the profile promises of what contains a port.
type dog struct {
	action string // drop, forward or alert of a watchdog; contain; none
	// poll is that of a watchdog, 0 of another containment. From the first pause in front of a frame to
	// the action it takes least to most, and from the last pause to the end of the action as long as
	// restoreLeast to restoreMost: a watchdog counts whole polls.
	poll, least, most, restoreLeast, restoreMost unit.Time
}

func (t *Task) dog() dog {
	w := t.Profile.Watchdog
	if w == nil {
		return dog{action: "none"}
	}
	if w.Contain > 0 {
		return dog{action: "contain", least: w.Contain * 98 / 100, most: w.Contain, restoreLeast: w.Contain * 98 / 100, restoreMost: w.Contain}
	}
	polls := func(d unit.Time) unit.Time { return (d*98/100 + w.Poll - 1) / w.Poll * w.Poll }
	d := dog{action: w.Action, poll: w.Poll, least: w.Detect * 98 / 100, most: polls(w.Detect) + w.Poll, restoreLeast: w.Restore * 98 / 100, restoreMost: polls(w.Restore) + w.Poll}
	if w.Poll >= w.Detect {
		d.least = 0 // it sees no time below a poll
	}
	return d
}

// watched is a Case.Missing: the profile has to promise one of these actions.
func watched(actions ...string) func(*Task) string {
	return func(t *Task) string {
		switch a := t.dog().action; {
		case slices.Contains(actions, a):
			return ""
		case a == "none":
			return "the profile promises no watchdog"
		default:
			return fmt.Sprintf("the profile promises action %s, and the case is about %s", a, strings.Join(actions, ", "))
		}
	}
}

// rateW is that of the streams of the group, which last for seconds.
func (t *Task) rateW() unit.Rate { return t.Rate(0) / 4 }

// dogSlack is by how much the effect of an action may be seen later: until a frame comes that shows it.
func (t *Task) dogSlack() unit.Time {
	return t.Allowance(0) + t.Allowance(1) + 2*t.rateW().FrameTime(min(1000, t.MaxFrame()))
}

// stale is for how long the DUT may leave its senders stopped after a congestion, where a pause of its own
// has to run out.
func (t *Task) stale() unit.Time {
	if t.Profile.PFC.Resume == "expiry" {
		return t.Quanta(0, 65535)
	}
	return 0
}

// stormOf is a storm whose pauses come three times within a poll: one that comes less often looks like
// its end to some.
func (s *Script) stormOf(name string, port int, set unit.PrioritySet) {
	d := s.task.dog()
	pause := d.poll
	if pause == 0 {
		pause = max(d.most/4, unit.Millisecond)
	}
	quanta := min(65535, max(1, int64(pause)*int64(s.task.Speed(port))/(512*int64(unit.Second))))
	s.Storm(name, port, set, uint16(quanta))
}

// backW is a control stream for long scripts: few frames, whose silence is noticed all the same.
func backW(t *Task, from, to int) Stream {
	quiet := max(t.dog().most/10, 20*unit.Millisecond)
	f := backStream(t, from, to, quiet)
	f.Lengths, f.Rate = []int{128}, max(1, unit.Rate(128*8*5*int64(unit.Second)/int64(quiet)))
	return f
}

// stormName is the name of the k-th storm of a script.
func stormName(k int) string { return fmt.Sprintf("storm %d", k+1) }

// scriptW begins a script of the group: with senders that no pause of the DUT stops any more.
func (t *Task) scriptW(title string) *Script {
	s := t.Script(title)
	s.Wait(t.stale())
	return s
}

// spread is n storms that last by more than the longest time to an action, each a part of a poll later
// within its poll.
func spread(t *Task, n int, more unit.Time) *Script {
	d, c := t.dog(), t.Lossless().First()
	s := t.scriptW(fmt.Sprintf("%s of %v", unit.Count(n, "storm"), d.most+more))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: t.rateW()})
	s.Send(backW(t, 1, 0))
	s.Wait(100 * unit.Millisecond)
	cycle := d.most + more + d.restoreMost + d.poll + t.dogSlack() + t.stale() + 100*unit.Millisecond
	if d.poll > 0 {
		cycle = (cycle+d.poll-1)/d.poll*d.poll + d.poll/unit.Time(n)
	}
	for k := range n {
		s.stormOf(stormName(k), 1, 1<<c)
		s.Phase(stormName(k), d.most+more)
		s.Release(stormName(k))
		s.Wait(cycle - d.most - more)
	}
	return s
}

// effect is when something was seen to be done about a storm of the stream test: its sender was let go,
// or its frames came in spite of the pause. early is by how much it may have been before that.
func (r *Record) effect(t *Task, storm string) (at Span, early unit.Time, ok bool) {
	f := r.Script.Streams[0]
	left, end := r.Train(storm).Left, r.Phase(storm).To
	if len(left) == 0 {
		return at, 0, false
	}
	action := t.dog().action
	if action == "forward" || action == "contain" {
		if a, came := r.Stream(f.Name).First(left[0].Hi + t.Allowance(f.To)); came && a.At.Lo < end {
			return a.At, 0, true
		}
	}
	if action == "forward" {
		return at, 0, false
	}
	var last Span // pause of the sender
	n := 0
	for _, p := range r.PausesOf(f.From, f.Priority) {
		switch {
		case p.At.Lo < left[0].Hi || p.At.Lo > end:
		case p.Quanta > 0:
			if n++; n > 1 {
				early = max(early, p.At.Hi-last.Lo)
			}
			last = p.At
		case n > 0 && t.Profile.PFC.Resume == "frame":
			return p.At, 0, true
		}
	}
	if t.Profile.PFC.Resume == "expiry" && n > 1 && last.Hi+2*early < end {
		return last.Plus(early), early, true // that which did not come any more
	}
	return at, 0, false
}

func judgeW01(t *Task, done []*Record, j *Judge) {
	r, d := done[0], t.dog()
	var first, last unit.Time = unit.Never, 0
	for k := range stormsW01 {
		what := fmt.Sprintf("storm %d: from its first pause to the action", k+1)
		at, early, ok := r.effect(t, stormName(k))
		if !ok {
			j.True(what, false, "nothing was done", fmt.Sprintf("%v to %v", d.least, d.most))
			continue
		}
		took := at.Minus(r.Train(stormName(k)).Left[0])
		first, last = min(first, took.Lo), max(last, took.Hi)
		j.Time(what, took, d.least, d.most+early+t.dogSlack())
	}
	if last > 0 {
		j.Found("detection time", float64(first)/1e6, float64(last)/1e6, "ms")
	}
}

// acted reports whether something was done about a storm of a stream, by its frames: some that were sent
// during the storm never came, or some came in spite of it.
func (r *Record) acted(t *Task, stream, storm string) bool {
	s, during := r.Stream(stream), r.Phase(storm)
	paused, ok := r.Paused(t, storm)
	if !ok {
		return false
	}
	if paused.To.Lo > during.To {
		paused.To = Span{during.To, during.To}
	}
	if s.In(paused).Lo > 0 {
		return true
	}
	sent := s.LeftIn(during.Window())
	came := uint64(0)
	for _, a := range s.Arrivals {
		if during.Window().surely(s.Left[a.Seq]) {
			came++
		}
	}
	return came < sent.Lo
}

func judgeW08(t *Task, done []*Record, j *Judge) {
	var found uint64
	for k := range stormsW08 {
		if done[0].acted(t, "test", stormName(k)) {
			found++
		}
	}
	j.Count(fmt.Sprintf("storms of %v that were found, of %d", done[0].Script.Phases[0].To-done[0].Script.Phases[0].From, stormsW08), Only(found), stormsW08, stormsW08)
}

// longStorm is streams of all priorities, and a storm that goes on for long after the watchdog acted.
func longStorm(t *Task) *Script {
	d, c := t.dog(), t.Lossless().First()
	s := t.scriptW(fmt.Sprintf("a long storm of priority %d", c))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: t.rateW()})
	for set := t.Profile.Sendable() &^ (1 << c); set != 0; set &= set - 1 {
		s.Send(Stream{Name: streamOf(set.First()), From: 0, To: 1, Priority: set.First(), Rate: t.rateW()})
	}
	s.Send(backW(t, 1, 0))
	s.Wait(100 * unit.Millisecond)
	s.stormOf("storm", 1, 1<<c)
	s.Phase("storm", d.most+t.dogSlack()+t.stale()+2*d.restoreMost)
	s.Release("storm")
	s.Phase("after", d.restoreMost+t.dogSlack())
	s.Phase("restored", t.Time(300*unit.Millisecond))
	return s
}

// othersAtRate wants the other streams of longStorm to go on.
func (j *Judge) othersAtRate(r *Record) {
	for _, f := range r.Script.Streams {
		if f.Name != "test" && !f.Control {
			j.AtRate(r, f.Name, r.Phase("storm").Window())
			j.Whole(r, f.Name)
		}
	}
}

// actedFrom is when the watchdog has acted in "storm" at the latest, and its last pause.
func (j *Judge) actedFrom(t *Task, r *Record) (from unit.Time, last Span, ok bool) {
	left := r.Train("storm").Left
	if len(left) < 3 {
		j.Unsure("the storm did not leave the tester")
		return 0, last, false
	}
	return left[0].Hi + t.dog().most + t.dogSlack(), left[len(left)-2], true
}

// pausesIn is how many pauses of a priority the DUT sent by a port in a window.
func (r *Record) pausesIn(port int, c unit.Priority, w Window) (n Count) {
	for _, p := range r.PausesOf(port, c) {
		if p.Quanta > 0 && w.surely(p.At) {
			n.Lo++
		}
		if p.Quanta > 0 && w.maybe(p.At) {
			n.Hi++
		}
	}
	return n
}

// dropped wants a queue that drops: nothing of it comes and nothing is held from a time to the last pause,
// and what comes later was sent after the restoration.
func (j *Judge) dropped(t *Task, r *Record, from unit.Time, last Span) {
	d, s := t.dog(), r.Stream("test")
	f := r.Script.Streams[0]
	during := Exactly(from, last.Lo)
	j.None("frames of the queue while it is dropped", s.In(during))
	j.None("pauses for the queue while it is dropped", r.pausesIn(f.From, f.Priority, during))
	back := last.Lo + d.restoreLeast - t.Allowance(f.From)
	var held Count
	for _, a := range s.Arrivals {
		if left := s.Left[a.Seq]; a.At.Lo > last.Hi && left.Lo < back {
			if held.Hi++; left.Hi < back {
				held.Lo++
			}
		}
	}
	j.None("frames that came after the storm and were sent before the restoration", held)
}

func judgeW02(t *Task, done []*Record, j *Judge) {
	r := done[0]
	if from, last, ok := j.actedFrom(t, r); ok {
		j.dropped(t, r, from, last)
		j.Some("frames of the queue after the restoration", r.Stream("test").In(r.Phase("restored").Window()))
		j.Note("%s of %d that were sent were lost to the action", unit.Count(r.Stream("test").Lost(), "frame"), r.Stream("test").Sent)
		j.othersAtRate(r)
	}
}

func judgeW03(t *Task, done []*Record, j *Judge) {
	r := done[0]
	if from, last, ok := j.actedFrom(t, r); ok {
		j.Some("frames of the queue in spite of the storm", r.Stream("test").In(Exactly(from-t.dogSlack(), last.Lo)))
		j.AtRate(r, "test", Exactly(from+t.dog().restoreMost, last.Lo)) // what had waited is gone by then
		j.Whole(r, "test")
		j.othersAtRate(r)
	}
}

// shortPause is so short that nothing acts on it.
func (t *Task) shortPause() unit.Time { return min(t.Time(600*unit.Millisecond), t.Patience()) }

// again tests that a pause stops a queue: one of few frames.
func (s *Script) again(c unit.Priority) {
	t := s.task
	d := t.shortPause()
	s.Send(Stream{Name: "again", From: 0, To: 1, Priority: c, Lengths: []int{128}, Rate: max(1, unit.Rate(128*8*stormFrames*int64(unit.Second)/int64(d)))})
	s.Wait(d / 4)
	s.stormOf("short", 1, 1<<c)
	s.Phase("short", d)
	s.Release("short")
	s.Wait(d / 4)
	s.Halt("again")
	s.Phase("end", t.Time(300*unit.Millisecond))
}

// stoppedAgain is the judge of again.
func (j *Judge) stoppedAgain(t *Task, r *Record) {
	paused, ok := r.Paused(t, "short")
	if !ok {
		j.Unsure("no pause left the tester after the storm")
		return
	}
	j.None("frames of the queue while it is paused, after its restoration", r.Stream("again").In(paused))
	j.Whole(r, "again")
}

func w05(t *Task, k int) *Script {
	d, c := t.dog(), t.Lossless().First()
	s := t.scriptW(fmt.Sprintf("storm %d and its end", k+1))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: t.rateW()})
	s.Send(backW(t, 1, 0))
	s.Wait(100*unit.Millisecond + d.poll*unit.Time(k)/5)
	s.stormOf("storm", 1, 1<<c)
	s.Phase("storm", d.most+t.dogSlack()+t.stale()+2*d.restoreMost)
	s.Release("storm")
	s.Wait(d.restoreMost + t.dogSlack() + 50*unit.Millisecond)
	s.Halt("test")
	s.Wait(200*unit.Millisecond + t.stale())
	s.again(c)
	return s
}

func judgeW05(t *Task, done []*Record, j *Judge) {
	d := t.dog()
	var least, most unit.Time = unit.Never, 0
	for k, r := range done {
		from, last, ok := j.actedFrom(t, r)
		if !ok {
			continue
		}
		what := fmt.Sprintf("storm %d: from its last pause to the first frame", k+1)
		switch first, came := r.Stream("test").First(last.Hi); {
		case d.action != "drop": // the queue sends all the time
			j.Some(fmt.Sprintf("storm %d: frames of the queue in the second half of the storm", k+1), r.Stream("test").In(Exactly((from+last.Lo)/2, last.Lo)))
		case !came:
			j.True(what, false, "no frame came any more", fmt.Sprintf("%v to %v", d.restoreLeast, d.restoreMost))
		default:
			j.dropped(t, r, from, last)
			took := first.At.Minus(last)
			least, most = min(least, took.Lo), max(most, took.Hi)
			j.Time(what, took, d.restoreLeast, d.restoreMost+t.dogSlack()+r.every("storm"))
		}
		j.stoppedAgain(t, r)
	}
	if most > 0 {
		j.Found("restoration time", float64(least)/1e6, float64(most)/1e6, "ms")
	}
}

// every is how often the frames of a train are sent.
func (r *Record) every(train string) unit.Time {
	for _, f := range r.Script.Trains {
		if f.Name == train {
			return f.Every
		}
	}
	return 0
}

func w06(t *Task, _ int) *Script {
	c := t.Lossless().First()
	pause := t.Patience()
	if w := t.Profile.Watchdog; w.Contain == 0 && w.Detect-w.Poll-2*t.Uncertain > w.Detect/2 {
		pause = w.Detect - w.Poll - 2*t.Uncertain
	}
	s := t.scriptW(fmt.Sprintf("%d pauses of %v", pausesW06, pause))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Lengths: []int{128}, Rate: max(1, unit.Rate(128*8*stormFrames*int64(unit.Second)/int64(pause)))})
	s.Send(backW(t, 1, 0))
	s.Wait(pause / 4)
	for k := range pausesW06 {
		s.stormOf(stormName(k), 1, 1<<c)
		s.Phase(stormName(k), pause)
		s.Release(stormName(k))
		s.Wait(2 * pause)
	}
	return s
}

func judgeW06(t *Task, done []*Record, j *Judge) {
	r := done[0]
	for k := range pausesW06 {
		if paused, ok := r.Paused(t, stormName(k)); ok {
			j.None(fmt.Sprintf("pause %d: frames of the queue", k+1), r.Stream("test").In(paused))
		}
	}
	j.Whole(r, "test")
}

// turnW07 is how often a slow receiver lets something through: in each poll, wherever that begins.
func turnW07(t *Task) unit.Time { return t.dog().poll * 9 / 10 }

func w07(t *Task, _ int) *Script {
	c, turn := t.Lossless().First(), turnW07(t)
	s := t.scriptW(fmt.Sprintf("frames for a moment each %v", turn))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: t.rateW()})
	s.Send(backW(t, 1, 0))
	s.Wait(100 * unit.Millisecond)
	quanta := uint16(65535)
	pauses := int(turn/(t.Quanta(1, quanta)*2/3)) + 1 // in a turn
	open := t.Allowance(1) + t.FrameTime(1, t.MaxFrame())
	f := Train{Name: "turns", Port: 1}
	for range pauses {
		f.Frames = append(f.Frames, t.Frame(Pause(1<<c, quanta), 1))
	}
	f.Frames = append(f.Frames, t.Frame(Pause(1<<c, 0), 1))
	from := s.Now()
	turns := int((10*t.Profile.Watchdog.Detect + turn - 1) / turn)
	for k := range turns {
		at := from + unit.Time(k)*turn
		for n := range pauses {
			f.At = append(f.At, at+(turn-open)*unit.Time(n)/unit.Time(pauses))
		}
		f.At = append(f.At, at+turn-open)
	}
	s.Frames(f)
	s.Phase("slow", unit.Time(turns)*turn)
	s.Halt("test")
	s.Phase("end", t.Time(300*unit.Millisecond)+t.stale())
	return s
}

func judgeW07(t *Task, done []*Record, j *Judge) {
	r := done[0]
	f, left := r.Script.Trains[0], r.Train("turns").Left
	turn := len(f.Frames)
	var in Count
	for k := 0; k+turn <= len(left); k += turn {
		// How soon a pause stops the queue, and a resume lets it go, is what R01 asks. A watchdog that acts does so
		// for longer than a turn.
		from, to := left[k].Hi+max(t.Allowance(1), turnW07(t)/2), left[k+turn-1].Lo-turnW07(t)/4
		n := r.Stream("test").In(Exactly(from, to))
		in.Lo, in.Hi = in.Lo+n.Lo, in.Hi+n.Hi
	}
	j.None("frames of the queue in the third quarters of its turns", in)
	j.Whole(r, "test")
	j.Note("%s in %s, and no action", unit.Count(r.Stream("test").Came, "frame"), unit.Count(len(left)/turn, "turn"))
}

// pairOf is the name of a stream of a priority from port to port.
func pairOf(t *Task, from, to int, c unit.Priority, kind string) string {
	return fmt.Sprintf("%s %s to %s, priority %d", kind, t.Profile.Ports[from].Name, t.Profile.Ports[to].Name, c)
}

func w09(t *Task, _ int) *Script {
	d, ports := t.dog(), len(t.Profile.Ports)
	s := t.scriptW("storms at all ports, of all lossless priorities")
	all := func(kind string) {
		for p := range ports {
			for set := t.Lossless(); set != 0; set &= set - 1 {
				to := (p + 1) % ports
				s.Send(Stream{Name: pairOf(t, p, to, set.First(), kind), From: p, To: to, Priority: set.First(), Rate: t.rateW()})
			}
		}
	}
	all("storm")
	s.Send(backW(t, 1, 0))
	s.Wait(100 * unit.Millisecond)
	for p := range ports {
		s.stormOf("storm at "+t.Profile.Ports[p].Name, p, t.Lossless())
	}
	s.Phase("storm", d.most+d.poll+t.dogSlack())
	for p := range ports {
		s.Release("storm at " + t.Profile.Ports[p].Name)
		for set := t.Lossless(); set != 0; set &= set - 1 {
			s.Halt(pairOf(t, p, (p+1)%ports, set.First(), "storm"))
		}
	}
	s.Wait(d.restoreMost + d.poll + t.dogSlack() + t.stale())
	all("after")
	s.Phase("after", t.Time(300*unit.Millisecond))
	return s
}

func judgeW09(t *Task, done []*Record, j *Judge) {
	r, ports := done[0], len(t.Profile.Ports)
	for p := range ports {
		for set := t.Lossless(); set != 0; set &= set - 1 {
			c, to := set.First(), (p+1)%ports
			stream := pairOf(t, p, to, c, "storm")
			s, storm := r.Stream(stream), "storm at "+t.Profile.Ports[to].Name
			if len(r.Train(storm).Left) == 0 {
				j.Unsure("%s did not leave the tester", storm)
				continue
			}
			from := r.Train(storm).Left[0].Hi + t.Allowance(to)
			came := s.In(Exactly(from, r.Phase("storm").To))
			j.True(fmt.Sprintf("port %s, priority %d", t.Profile.Ports[to].Name, c), came.Lo > 0 || s.Lost() > 0,
				fmt.Sprintf("%s lost, %s in spite of the storm", unit.Count(s.Lost(), "frame"), unit.Count(came.Lo, "frame")), "an action")
			j.Whole(r, pairOf(t, p, to, c, "after"))
		}
	}
}

func w10(t *Task, _ int) *Script {
	d, c := t.dog(), t.Lossless().First()
	s := t.scriptW("bystanders of a storm")
	send := func(name string, from, to int, c unit.Priority) {
		s.Send(Stream{Name: name, From: from, To: to, Priority: c, Rate: t.rateW()})
	}
	send("test", 0, 1, c)
	for set := t.Profile.Sendable() &^ (1 << c); set != 0; set &= set - 1 {
		send(streamOf(set.First()), 0, 1, set.First())
	}
	send("same queue of a", 2, 0, c)
	s.Wait(100 * unit.Millisecond)
	s.stormOf("storm", 1, 1<<c)
	s.Phase("storm", d.most+t.dogSlack()+t.stale())
	send("same sender to c", 0, 2, c)
	s.Phase("acted", t.Time(unit.Second))
	s.Release("storm")
	s.Phase("after", d.restoreMost+t.dogSlack())
	return s
}

func judgeW10(t *Task, done []*Record, j *Judge) {
	r := done[0]
	for _, f := range r.Script.Streams {
		if f.Name == "test" {
			continue
		}
		if f.Start < r.Phase("storm").To {
			j.AtRate(r, f.Name, r.Phase("storm").Window())
		}
		j.AtRate(r, f.Name, r.Phase("acted").Window())
		j.Whole(r, f.Name)
	}
	j.True("the storm", r.acted(t, "test", "storm"), "nothing was done", "an action")
}

func w11(t *Task, _ int) *Script {
	d, c := t.dog(), t.Lossless().First()
	s := t.scriptW("a storm before its traffic")
	s.Send(backW(t, 1, 0))
	s.stormOf("storm", 1, 1<<c)
	s.Wait(d.most + d.poll)
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: t.rateW()})
	s.Phase("traffic", d.most+t.dogSlack()+t.Time(600*unit.Millisecond))
	s.Release("storm")
	s.Halt("test")
	s.Wait(d.restoreMost + t.dogSlack() + t.stale())
	s.again(c)
	return s
}

func judgeW11(t *Task, done []*Record, j *Judge) {
	r, d := done[0], t.dog()
	s := r.Stream("test")
	if len(s.Left) == 0 {
		j.Unsure("no frame left the tester")
		return
	}
	from := s.Left[0].Hi + d.most + t.dogSlack()
	late := Exactly(from, r.Phase("traffic").To)
	if d.action == "drop" {
		j.None("frames of the queue, long after the first", s.In(late))
		j.None("pauses for the queue, long after its first frame", r.pausesIn(0, r.Script.Streams[1].Priority, late))
		var n uint64 // a frame that the DUT had paused may leave after the storm
		for _, a := range s.Arrivals {
			if r.Phase("traffic").Window().surely(s.Left[a.Seq]) {
				n++
			}
		}
		j.None("frames of the storm that came in the end", Only(n))
	} else if first, came := s.First(0); came {
		j.Time("from the first frame of the queue to the first that came in spite of the storm", first.At.Minus(s.Left[0]), 0, d.most+t.dogSlack())
	} else {
		j.Some("frames of the queue in spite of the storm", Only(0))
	}
	j.stoppedAgain(t, r)
}

func w12(t *Task, _ int) *Script {
	c, ports := t.Lossless().First(), len(t.Profile.Ports)
	s := t.scriptW(fmt.Sprintf("a pause of priority %d at %s, and all other ports send there", c, t.Profile.Ports[1].Name))
	rate := t.Rate(0) / unit.Rate(ports-1)
	send := func(from, to int, kind string) {
		s.Send(Stream{Name: pairOf(t, from, to, c, kind), From: from, To: to, Priority: c, Rate: rate})
		if others := t.Profile.Sendable() &^ (1 << c); others != 0 {
			s.Send(Stream{Name: pairOf(t, from, to, others.First(), kind), From: from, To: to, Priority: others.First(), Rate: rate})
		}
	}
	for p := range ports {
		next := (p + 1) % ports // the bystander's
		if next == 1 {
			next = (p + 2) % ports
		}
		if p != 1 {
			send(p, 1, "there")
		}
		if next != p {
			send(p, next, "past")
		}
	}
	s.Phase("before", t.Time(200*unit.Millisecond))
	s.Storm("storm", 1, 1<<c, 65535)
	s.Phase("storm", min(t.Time(2*unit.Second), t.Patience()))
	s.Release("storm")
	s.Phase("after", t.Time(300*unit.Millisecond)+t.stale())
	return s
}

func judgeW12(t *Task, done []*Record, j *Judge) {
	r, c := done[0], t.Lossless().First()
	storm := r.Phase("storm")
	var sent, whole uint64 // of bystanders behind the same senders
	for _, f := range r.Script.Streams {
		shares := f.Priority == c && f.From != 1
		switch {
		case !shares:
			j.AtRate(r, f.Name, storm.Window())
		case f.To != 1:
			sent += r.Stream(f.Name).In(storm.Window()).Lo
			whole += uint64((storm.To - storm.From) / f.Rate.FrameTime(f.Lengths[0]))
		}
		j.Whole(r, f.Name)
	}
	for p := range t.Profile.Ports {
		for k := range unit.Priority(unit.Priorities) {
			n := r.pausesIn(p, k, storm.Window())
			if k != c || p == 1 {
				j.None(fmt.Sprintf("pauses of priority %d at %s", k, t.Profile.Ports[p].Name), n)
				continue
			}
			for _, seen := range r.PausesOf(p, k) {
				if seen.Quanta > 0 && seen.At.Lo > storm.From {
					j.Note("port %s is paused %v after the storm began", t.Profile.Ports[p].Name, seen.At.Lo-storm.From)
					break
				}
			}
		}
	}
	if whole > 0 {
		j.Found("bystanders stopped by a storm", 100*(1-min(1, float64(sent)/float64(whole))), 100*(1-min(1, float64(sent)/float64(whole))), "%")
	}
}

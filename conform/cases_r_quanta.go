package conform

import (
	"fmt"

	"softswitch/unit"
)

// How long a pause lasts, and how soon it takes effect: R05, R06, R08, R10 and R11 of cases_r.go.

// quantaR05 are the lengths that are tried: with a byte of 0, with bit 15, and the longest. Those for which
// a watchdog acts are not.
func quantaR05(t *Task) (q []uint16) {
	for _, n := range []uint16{1, 100, 0x00ff, 0x0100, 10000, 0x7fff, 0x8000, 65535} {
		if t.Quanta(1, n) <= t.Patience() {
			q = append(q, n)
		}
	}
	return q
}

// pausesR05 is how often each is tried.
const pausesR05 = 5

func r05(t *Task, k int) *Script {
	c, quanta := t.Lossless().First(), quantaR05(t)[k]
	pause := t.Quanta(1, quanta)
	s := t.Script(fmt.Sprintf("pauses of %d quanta", quanta))
	// So few in a pause that the DUT does not pause their sender for them: that would be a silence, too.
	s.sendFew("test", 0, 1, c, pause)
	s.Send(backStream(t, 1, 0, max(pause/5, 20*unit.Millisecond)))
	s.Phase("before", t.Time(30*unit.Millisecond))
	every := pause*5/2 + t.Time(30*unit.Millisecond)
	s.Frames(Train{Name: "pause", Port: 1, Frames: []Frame{t.Frame(Pause(1<<c, quanta), 1)}, Every: every, Count: pausesR05})
	s.Phase("pauses", pausesR05*every)
	return s
}

func judgeR05(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		quanta := quantaR05(t)[k]
		pause := t.Quanta(1, quanta)
		for n, left := range r.Train("pause").Left {
			if why := tooShort(t, r, pause, left); why != "" {
				j.Note("%d quanta: %s", quanta, why)
				break
			}
			j.ends(t, r, fmt.Sprintf("pause %d of %d quanta: from it to the next frame", n+1, quanta), "test", left, left, pause)
		}
	}
}

// tooShort is why a pause of port 1 cannot be judged by its length, "" if it can: its end has to be told
// from its beginning, by frames of the first stream.
func tooShort(t *Task, r *Record, pause unit.Time, left Span) string {
	e, every := left.Width(), r.Script.Streams[0].Rate.FrameTime(stormLength)
	if pause < 20*e || pause < 2*t.Allowance(1)+2*every {
		return fmt.Sprintf("%v is too short to be judged with an uncertainty of %v, an allowance of %v and frames each %v", pause, e, t.Allowance(1), every)
	}
	return ""
}

// ends wants a stream to port 1 that was paused first to go on a pause's length after the last one, and
// not before, to 2 % and a frame.
func (j *Judge) ends(t *Task, r *Record, what, stream string, first, last Span, pause unit.Time) {
	frame := t.FrameTime(1, stormLength)
	a, ok := r.Stream(stream).First(first.Hi + t.Allowance(1))
	if !ok {
		j.True(what, false, "no frame came any more", pause.String())
		return
	}
	j.Time(what, a.At.Minus(last), pause-pause/50-frame, pause+pause/50+frame+t.Profile.PFC.Slack+2*t.Profile.Buffer.Delay)
}

// pairsR06 are a pause and the one that follows half-way through it, in quarters of the longer one.
var pairsR06 = []struct {
	title        string
	first, newer unit.Time
}{{"a pause, and it again", 4, 4}, {"a pause, and a shorter one", 4, 1}, {"a pause, and a longer one", 1, 4}}

// pairTime is how long a pause may be at most half-way through which another one follows: at least as given if
// the DUT bears both.
func pairTime(t *Task, least unit.Time) unit.Time {
	return min(max(t.Time(150*unit.Millisecond), least), t.Patience()) * 2 / 3
}

// quantaR06 are those of a pair of pauses at port 1.
func quantaR06(t *Task, k int) (first, newer uint16) {
	quarter := t.QuantaFor(1, pairTime(t, 36*t.Allowance(1))) / 4
	return quarter * uint16(pairsR06[k].first), quarter * uint16(pairsR06[k].newer)
}

// twice is two trains of single pauses of port 1, each frame of the second half a pause after one of the
// first.
func (s *Script) twice(first, newer Control, pause, over unit.Time) {
	s.Phase("before", s.task.Time(30*unit.Millisecond))
	every := 2*over + s.task.Time(20*unit.Millisecond)
	train := Train{Name: "first", Port: 1, Frames: []Frame{s.task.Frame(first, 1)}, Every: every, Count: pausesR05}
	s.Frames(train)
	s.Wait(pause / 2)
	train.Name, train.Frames = "newer", []Frame{s.task.Frame(newer, 1)}
	s.Frames(train)
	s.Phase("pauses", pausesR05*every)
}

// pairs are when the frames left of two trains of twice.
func (r *Record) pairs() (pairs [][2]Span) {
	first, newer := r.Train("first").Left, r.Train("newer").Left
	for n := range min(len(first), len(newer)) {
		pairs = append(pairs, [2]Span{first[n], newer[n]})
	}
	return pairs
}

func r06(t *Task, k int) *Script {
	c := nth(t.Lossless(), k%t.Lossless().Len())
	first, newer := quantaR06(t, k)
	a, b := t.Quanta(1, first), t.Quanta(1, newer)
	s := t.Script(fmt.Sprintf("%s: %d and %d quanta", pairsR06[k].title, first, newer))
	s.sendFew("test", 0, 1, c, max(a, b)*3/2)
	s.Send(backStream(t, 1, 0, max(a/5, 20*unit.Millisecond)))
	s.twice(Pause(1<<c, first), Pause(1<<c, newer), a, a+b)
	return s
}

func judgeR06(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		first, newer := quantaR06(t, k)
		pause := t.Quanta(1, newer)
		for n, p := range r.pairs() {
			if why := tooShort(t, r, min(pause, t.Quanta(1, first)/2), p[0]); why != "" {
				j.Note("%s: %s", r.Script.Title, why)
				break
			}
			j.ends(t, r, fmt.Sprintf("%s, time %d: from the second to the next frame", r.Script.Title, n+1), "test", p[0], p[1], pause)
		}
	}
}

// pairR08 is the priority that stays paused and the one that goes on.
func pairR08(t *Task, k int) (stays, goes unit.Priority) {
	return nth(t.Lossless(), k), nth(t.Lossless(), 1-k)
}

// quantaR08 are those of pauses of port 1.
func quantaR08(t *Task) uint16 {
	return t.QuantaFor(1, pairTime(t, 9*t.Allowance(1)))
}

func r08(t *Task, k int) *Script {
	stays, goes := pairR08(t, k)
	quanta := quantaR08(t)
	pause := t.Quanta(1, quanta)
	s := t.Script(fmt.Sprintf("priority %d stays paused, and priority %d goes on", stays, goes))
	s.sendFew("stays", 0, 1, stays, pause)
	s.sendFew("goes", 0, 1, goes, pause)
	s.Send(backStream(t, 1, 0, max(pause/5, 20*unit.Millisecond)))
	both := Pause(1<<stays|1<<goes, quanta)
	one := both
	one.Timers[goes] = 0
	s.twice(both, one, pause, 2*pause)
	return s
}

func judgeR08(t *Task, done []*Record, j *Judge) {
	pause := t.Quanta(1, quantaR08(t))
	for _, r := range done {
		for n, p := range r.pairs() {
			if why := tooShort(t, r, pause/2, p[0]); why != "" {
				j.Note("%s: %s", r.Script.Title, why)
				break
			}
			what := fmt.Sprintf("%s, time %d: from the second frame to the next of the priority that ", r.Script.Title, n+1)
			j.ends(t, r, what+"stays paused", "stays", p[0], p[1], pause)
			if first, ok := r.Stream("goes").First(p[0].Hi + t.Allowance(1)); ok {
				j.Time(what+"goes on", first.At.Minus(p[1]), -unit.Second, t.Allowance(1))
			} else {
				j.Some(what+"goes on", Only(0))
			}
		}
	}
}

// periodsR10 are the times between two pauses, in pause times: the longest first, since a DUT that never goes
// on lets no sender begin again.
var periodsR10 = []struct {
	title    string
	num, den unit.Time
}{{"8", 8, 1}, {"4", 4, 1}, {"2", 2, 1}, {"1", 1, 1}, {"1/2", 1, 2}}

// pausesR10 is how many pauses there are.
const pausesR10 = 5

// quantaR10 are those of the pauses at port 1: long beside the allowance, and six of which, with a frame between,
// no watchdog acts on.
func quantaR10(t *Task) uint16 {
	return t.QuantaFor(1, min(max(t.Time(20*unit.Millisecond), 4*t.Allowance(1)), t.Patience()/8))
}

func r10(t *Task, k int) *Script {
	c, quanta := nth(t.Lossless(), k%t.Lossless().Len()), quantaR10(t)
	pause := t.Quanta(1, quanta)
	every := pause * periodsR10[k].num / periodsR10[k].den
	s := t.Script(fmt.Sprintf("a pause of %d quanta each %s x its length", quanta, periodsR10[k].title))
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Rate: LineRate})
	s.Send(backStream(t, 1, 0, max(pause, t.Time(100*unit.Millisecond))))
	s.Phase("before", t.Time(6*unit.Millisecond))
	s.Frames(Train{Name: "pause", Port: 1, Frames: []Frame{t.Frame(Pause(1<<c, quanta), 1)}, Every: every, Count: pausesR10})
	s.Phase("pauses", (pausesR10-1)*every+pause)
	return s
}

func judgeR10(t *Task, done []*Record, j *Judge) {
	pause := t.Quanta(1, quantaR10(t))
	frame := t.FrameTime(1, done[0].Script.Streams[0].Lengths[0])
	for _, r := range done {
		s, left := r.Stream("test"), r.Train("pause").Left
		if len(left) < pausesR10 || s.Sent == 0 {
			j.Unsure("%s: %s of %d and %s left the tester", r.Script.Title, unit.Count(len(left), "pause"), pausesR10, unit.Count(s.Sent, "frame"))
			continue
		}
		end := left[pausesR10-1].Plus(pause)
		w := Window{left[0], end}
		// As slow as it may be: it pauses at once, and for 2 % too long, and frames take their time.
		under := 2*t.Profile.Buffer.Delay + t.Profile.PFC.Slack
		slow := line{frame: frame, late: 8*t.FrameTime(1, t.MaxFrame()) + under}
		// As fast: after each pause the allowance, and 2 % too short.
		fast := line{frame: frame}
		for _, at := range left {
			slow.pauses = append(slow.pauses, Span{at.Lo, at.Hi + pause + pause/50 + under})
			fast.pauses = append(fast.pauses, Span{at.Hi + t.Allowance(1), at.Lo + pause - pause/50})
		}
		least, most := slow.serves(s, w.To.Lo), fast.serves(s, w.To.Hi)
		j.Count(fmt.Sprintf("%s: frames that came up to the end of the last, %.1f %% of the line from the first on", r.Script.Title, 100*float64(s.In(w).Hi)*float64(frame)/float64(w.Least())),
			s.In(Window{Span{}, w.To}), least-min(least, least/20+pausesR10), most+most/20+pausesR10+1)
	}
}

// line is a line that sends what comes, but for pauses.
type line struct {
	frame, late unit.Time // a frame takes on the line, and until it waits for it
	pauses      []Span    // in order; they may overlap
}

// serves is how many frames of a stream a line has sent by a time. One that is lost is counted: so long as
// frames are lost for want of room others are sent.
func (l *line) serves(s *StreamRecord, by unit.Time) (n uint64) {
	at, pauses := unit.Time(0), l.pauses
	for _, left := range s.Left {
		at = max(at, left.Lo+l.late)
		for len(pauses) > 0 && at >= pauses[0].Lo {
			at = max(at, pauses[0].Hi)
			pauses = pauses[1:]
		}
		if at += l.frame; at > by {
			break
		}
		n++
	}
	return n
}

// pausesR11 is how many pauses there are.
const pausesR11 = 50

// quantaR11 are those of the pauses at port 1, in which what comes too late can be seen.
func quantaR11(t *Task) uint16 { return t.QuantaFor(1, min(4*t.Allowance(1), t.Patience())) }

func r11(t *Task, k int) *Script {
	n := []int{shortest, t.MaxFrame()}[k]
	c, quanta := nth(t.Lossless(), k%t.Lossless().Len()), quantaR11(t)
	pause, frame := t.Quanta(1, quanta), t.FrameTime(0, n)
	s := t.Script(fmt.Sprintf("pauses at random times, frames of %d bytes", n))
	test := s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Lengths: []int{n}, Rate: LineRate})
	s.Send(backStream(t, 1, 0, max(pause, t.Time(100*unit.Millisecond))))
	s.Wait(t.Time(20 * unit.Millisecond))
	train := s.Frames(Train{Name: "pause", Port: 1, Frames: []Frame{t.Frame(Pause(1<<c, quanta), 1)}})
	// Line rate around each pause, and no longer: what waits meanwhile is little, and its sender is not paused.
	before, after := 12*frame+2*t.Profile.Buffer.Delay+t.Profile.PFC.Slack, 2*t.Allowance(1)+2*frame
	at, random := s.Now(), t.Random("R11", k)
	for range pausesR11 {
		at += before + unit.Time(random.Below(int(pause)))
		train.At = append(train.At, at)
		test.Only = append(test.Only, Phase{From: at - before, To: at + after})
		at += max(pause, after) + after + 4*frame
	}
	s.Phase("pauses", at-s.Now())
	return s
}

func judgeR11(t *Task, done []*Record, j *Judge) {
	pause := t.Quanta(1, quantaR11(t))
	for k, r := range done {
		n := uint64(r.Script.Streams[0].Lengths[0])
		frame := t.FrameTime(1, int(n))
		if pause < 2*t.Allowance(1)+2*frame {
			j.Note("pauses of %v are too short to be judged with an allowance of %v", pause, t.Allowance(1))
			continue
		}
		var met uint64 // pauses that met frames on their way
		var last Span  // frame after its pause, the worst
		var most uint64
		for _, left := range r.Train("pause").Left {
			if r.Stream("test").In(Exactly(left.Lo-2*frame, left.Hi+2*frame)).Hi > 0 {
				met++
			}
			count := uint64(0)
			for _, a := range r.Stream("test").Arrivals {
				if a.At.Lo > left.Hi && a.At.Hi < left.Lo+pause {
					late := a.At.Minus(left)
					last = Span{max(last.Lo, late.Lo), max(last.Hi, late.Hi)}
					count++
				}
			}
			most = max(most, count)
		}
		j.Some(fmt.Sprintf("frames of %d bytes: pauses that met frames on their way, of %d", n, pausesR11), Only(met))
		j.Time(fmt.Sprintf("frames of %d bytes: from a pause to the last frame before it stops, the longest of %d", n, pausesR11), last, -unit.Second, t.Allowance(1))
		name := []string{"response, frames of 64 bytes", "response, frames of the MTU"}[k]
		j.Found(name, float64(last.Lo)/1e3, float64(last.Hi)/1e3, "us")
		j.Note("frames of %d bytes: at most %s after a pause", n, unit.Count(most*n, "byte"))
	}
}

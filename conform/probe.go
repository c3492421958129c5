package conform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// A probe finds out about a DUT what a profile says: it is played as cases are, in three sessions with one
// Task. Each of them needs what was learnt of the last one.
//
//	ProbeSpeed --Learn--> ProbePriorities --Learn--> ProbeBuffer --> Probed

// ProbeSpeed finds the speed of ports, where the tester's are faster.
func ProbeSpeed() []*Case { return []*Case{probeSpeed} }

// ProbePriorities finds which code points the DUT carries, and by which priority's pauses it stops them.
func ProbePriorities() []*Case { return []*Case{probePriorities} }

// ProbeBuffer finds which pauses the DUT sends, and at which fill it pauses, loses and resumes.
func ProbeBuffer() []*Case { return []*Case{probeFill, probeHold, probeOverload} }

// Names of what is found. Those with a number behind them are of a port, a code point or a priority.
const (
	speedProbed    = "speed of port"   // bit/s
	carriedProbed  = "carried"         // of a code point: a set of the priorities whose pauses stop it
	sendsProbed    = "pauses sent"     // of a priority: 1, or 0
	xoffProbed     = "pauses at"       // of a priority: bytes
	lossProbed     = "loses beyond"    // of a priority: bytes
	xonProbed      = "resumes at"      // of a priority: bytes; none if no frame resumes
	quantaProbed   = "quanta sent"     // of a priority
	refreshProbed  = "refreshes after" // of a priority: ns
	sourceProbed   = "source of port"  // the address of its pauses
	watchdogProbed = "drops after"     // of a priority: ns from the first pause at most
	probeLen       = 512               // bytes of a frame that fills the DUT
	probeBurst     = 160               // frames of a burst by which a speed is found
	probeRun       = 20                // frames of a part of it, of which each is timed
	probeFirst     = 32                // frames of the first try to fill it
	probeMostBytes = 64 << 20          // that a priority group is filled with at most
	probeMostTime  = 20 * unit.Second  // for which it is filled at most
	probeFew       = 5                 // frames of a code point at least in a pause
)

func found(name string, n int) string { return fmt.Sprintf("%s %d", name, n) }

var probeSpeed = &Case{
	ID: "P01", Title: "speed of ports", Ports: 2,
	Next: Times(func(t *Task) int { return len(t.Profile.Ports) }, func(t *Task, k int) *Script {
		s := t.Script("speed of port " + t.Profile.Ports[k].Name)
		from := (k + 1) % len(t.Profile.Ports)
		s.Send(Stream{Name: "burst", From: from, To: k, Rate: LineRate, Lengths: []int{t.MaxFrame()}, Count: probeBurst, Obey: Ignores})
		s.Phase("burst", t.Time(300*unit.Millisecond))
		return s
	}),
	Judge: func(t *Task, done []*Record, j *Judge) {
		for k, r := range done {
			s := r.Stream("burst")
			j.Some("frames of a burst to port "+t.Profile.Ports[k].Name, Only(s.Came))
			n := len(s.Arrivals)
			if n < probeBurst/4 {
				continue
			}
			// A DUT in software may have to wait: the middle one of the times of probeRun frames tells.
			var runs, sends []Span
			for i := range n - probeRun {
				a, b := &s.Arrivals[i], &s.Arrivals[i+probeRun]
				runs, sends = append(runs, b.At.Minus(a.At)), append(sends, s.Left[b.Seq].Minus(s.Left[a.Seq]))
			}
			took, left := middle(runs), middle(sends)
			if left.Hi > took.Lo*3/4 || took.Lo <= 0 {
				j.Note("port %s: the tester sends no faster than the DUT; taken for %v", t.Profile.Ports[k].Name, t.Speed(k))
				continue
			}
			bits := probeRun * float64(unit.Rate(unit.Second).FrameTime(t.MaxFrame())) // at a bit a ns
			j.Found(found(speedProbed, k), bits*float64(unit.Second)/float64(took.Hi), bits*float64(unit.Second)/float64(took.Lo), "bit/s")
		}
	},
}

// middle is the middle one of times that are not empty.
func middle(times []Span) Span {
	slices.SortFunc(times, func(a, b Span) int { return cmp.Compare(a.Lo+a.Hi, b.Lo+b.Hi) })
	return times[len(times)/2]
}

// codePoints are the streams of a probe: one a DSCP, or one a priority where the tag gives it.
func codePoints(t *Task) int {
	if t.Profile.Trust == "pcp" {
		return unit.Priorities
	}
	return 64
}

func pointStream(k int) string { return found("code point", k) }

var probePriorities = &Case{
	ID: "P02", Title: "priorities of code points", Ports: 2,
	Next: Times(Exact(1), func(t *Task, _ int) *Script {
		s := t.Script("pauses of each priority")
		d := t.Time(600 * unit.Millisecond)
		for k := range codePoints(t) {
			f := Stream{Name: pointStream(k), From: 0, To: 1, Lengths: []int{128}, Rate: unit.Rate(128 * 8 * 4 * probeFew * int64(unit.Second) / int64(d)), Obey: Ignores}
			if t.Profile.Trust == "pcp" {
				f.Priority = unit.Priority(k)
			}
			s.Send(f).DSCP = k
			if t.Profile.Trust == "pcp" {
				s.Streams[k].DSCP = 0
			}
		}
		s.Send(backStream(t, 1, 0, d/4))
		s.Phase("before", t.Time(200*unit.Millisecond))
		for c := range unit.Priorities {
			s.Storm(found("pause", c), 1, 1<<c, 65535)
			s.Phase(found("pause", c), d)
			s.Release(found("pause", c))
			s.Wait(t.Time(150 * unit.Millisecond))
		}
		return s
	}),
	Judge: func(t *Task, done []*Record, j *Judge) {
		r := done[0]
		var carried uint64
		var honoured unit.PrioritySet
		for k := range codePoints(t) {
			s := r.Stream(pointStream(k))
			if s.Came == 0 {
				continue
			}
			carried++
			var stops unit.PrioritySet
			for c := range unit.Priority(unit.Priorities) {
				w, ok := r.Paused(t, found("pause", int(c)))
				if ok && s.In(w).Hi == 0 && s.LeftIn(w).Lo >= probeFew {
					stops.Add(c)
				}
			}
			honoured |= stops
			j.Found(found(carriedProbed, k), float64(stops), float64(stops), "")
		}
		j.Some("code points whose frames come", Only(carried))
		j.Found(losslessFound, float64(honoured), float64(honoured), "")
	},
}

// probeFill fills each priority that can be stopped with twice as much from trial to trial, until some is lost.
var probeFill = &Case{
	ID: "P03", Title: "fill at which it pauses, loses and resumes", Ports: 2,
	Missing: noneHonoured,
	Next: func(t *Task, done []*Record) *Script {
		set, n := t.Lossless(), uint64(probeFirst)
		if len(done) > 0 {
			last := done[len(done)-1]
			c := last.Script.Streams[0].Priority
			for set != 0 && set.First() <= c {
				set &= set - 1
			}
			s := last.Stream("fill")
			if more := s.Sent * 2; s.Lost() == 0 && more*probeLen <= probeMostBytes && fillTime(t, more) <= probeMostTime {
				return fill(t, c, more)
			}
		}
		if set == 0 {
			return nil
		}
		return fill(t, set.First(), n)
	},
	Judge: func(t *Task, done []*Record, j *Judge) {
		for i, r := range done {
			c := r.Script.Streams[0].Priority
			if i+1 == len(done) || done[i+1].Script.Streams[0].Priority != c { // the last one is the fullest
				j.filled(t, r, c)
			}
		}
	},
}

func noneHonoured(t *Task) string {
	if t.Lossless() == 0 {
		return "the DUT honours no pause, so that it cannot be stopped"
	}
	return ""
}

// fillTime is how long n frames take at the rate of a stream.
func fillTime(t *Task, n uint64) unit.Time { return unit.Time(n) * t.Rate(0).FrameTime(probeLen) }

// fill stops the DUT, sends it n frames whatever it pauses, and lets go.
func fill(t *Task, c unit.Priority, n uint64) *Script {
	s := t.Script(fmt.Sprintf("priority %d is filled with %s", c, unit.Count(n, "frame")))
	s.Storm("stop", 1, 1<<c, 65535)
	s.Wait(t.Time(30 * unit.Millisecond))
	s.Send(Stream{Name: "fill", From: 0, To: 1, Priority: c, Lengths: []int{min(probeLen, t.MaxFrame())}, Count: n, Obey: Ignores})
	s.Phase("stopped", fillTime(t, n)+t.Time(30*unit.Millisecond))
	s.Release("stop")
	s.Phase("go", t.Time(300*unit.Millisecond)+unit.Time(n)*t.FrameTime(1, probeLen))
	return s
}

// filled finds what a fill shows of a priority.
func (j *Judge) filled(t *Task, r *Record, c unit.Priority) {
	s, k := r.Stream("fill"), int(c)
	j.Some(fmt.Sprintf("frames of priority %d that came after its pause", c), Only(s.Came))
	n := float64(r.Script.Streams[0].Lengths[0])
	bytes := func(c Count) (lo, hi float64) { return float64(c.Lo) * n, float64(c.Hi) * n }
	var first *PauseSeen
	var resume *PauseSeen
	all := r.PausesOf(0, c)
	for i := range all {
		switch x := &all[i]; {
		case x.Quanta > 0 && first == nil:
			first = x
		case x.Quanta == 0 && resume == nil && x.At.Lo > r.Phase("go").From:
			resume = x
		}
	}
	sends := 0.0
	if first != nil {
		sends = 1
		// The pause was built when the frame came that crosses the threshold: one that had left at least a
		// frame time, both wires and what software takes before, at most one that had left then.
		lag := t.FrameTime(0, probeLen) + 2*t.Profile.Buffer.Delay + t.Profile.PFC.Slack
		lo, hi := bytes(Count{s.LeftIn(Window{Span{}, Span{first.At.Lo - lag, first.At.Lo - lag}}).Lo, s.LeftIn(Window{Span{}, Span{first.At.Hi, first.At.Hi}}).Hi})
		j.Found(found(xoffProbed, k), max(0, lo-n), hi, "B")
		j.Found(found(quantaProbed, k), float64(first.Quanta), float64(first.Quanta), "")
	}
	j.Found(found(sendsProbed, k), sends, sends, "")
	held := float64(s.Came) * n
	if s.Lost() > 0 {
		j.Found(found(lossProbed, k), held, held+n, "B")
	} else {
		j.Note("priority %d: %s held, and none lost: that was all that is tried", c, unit.Count(s.Came, "frame"))
	}
	if resume != nil {
		came := func(to unit.Time) Count { return s.In(Window{Span{}, Span{to, to}}) }
		lag := t.FrameTime(1, probeLen) + 2*t.Profile.Buffer.Delay + t.Profile.PFC.Slack
		_, most := bytes(came(resume.At.Hi + lag))
		least, _ := bytes(came(resume.At.Lo - lag))
		j.Found(found(xonProbed, k), max(0, held-most-n), held-least, "B")
	}
}

// probeHold keeps a priority paused for longer than any pause lasts, to see how often the DUT refreshes its
// own.
var probeHold = &Case{
	ID: "P04", Title: "refresh of pauses", Ports: 2,
	Missing: func(t *Task) string {
		if held(t) == 0 {
			return "no pause of the DUT was seen"
		}
		return ""
	},
	Next: Times(func(t *Task) int { return held(t).Len() }, func(t *Task, k int) *Script {
		c := nth(held(t), k)
		x, _ := t.Found(found(xoffProbed, int(c)))
		n := uint64(x.Hi)/probeLen + 2
		s := t.Script(fmt.Sprintf("priority %d is held", c))
		s.Storm("stop", 1, 1<<c, 65535)
		s.Wait(t.Time(30 * unit.Millisecond))
		s.Send(Stream{Name: "fill", From: 0, To: 1, Priority: c, Lengths: []int{min(probeLen, t.MaxFrame())}, Count: n, Obey: Ignores})
		s.Phase("stopped", fillTime(t, n)+max(t.Time(300*unit.Millisecond), 2*t.Quanta(0, 65535)))
		s.Release("stop")
		s.Phase("go", t.Time(300*unit.Millisecond)+unit.Time(n)*t.FrameTime(1, probeLen))
		return s
	}),
	Judge: func(t *Task, done []*Record, j *Judge) {
		for k, r := range done {
			c := nth(held(t), k)
			var at []Span
			for _, x := range r.PausesOf(0, c) {
				if x.Quanta > 0 {
					at = append(at, x.At)
				}
			}
			j.Some(fmt.Sprintf("pauses of priority %d", c), Only(uint64(len(at))))
			for i := range r.Seen {
				if f, ok := r.Seen[i].PFC(); ok && !r.Seen[i].Own && f.Enable.Has(c) {
					src := float64(ether.Src(r.Seen[i].Frame))
					j.Found(found(sourceProbed, r.Seen[i].Port), src, src, "")
					break
				}
			}
			if len(at) > 1 {
				gap := at[len(at)-1].Minus(at[0])
				d := unit.Time(len(at) - 1)
				j.Found(found(refreshProbed, int(c)), float64(gap.Lo/d), float64(gap.Hi/d), "ns")
			}
			if s := r.Stream("fill"); s.Lost() > 0 {
				at := r.Phase("stopped").To - r.Phase("stopped").From
				j.Found(found(watchdogProbed, int(c)), 0, float64(at), "ns")
				j.Note("priority %d: %s that fit were lost while it was held for %v: a watchdog acts, or the DUT contains the port; say so in watchdog", c, unit.Count(s.Lost(), "frame"), at)
			}
		}
	},
}

// held are the honoured priorities of which the DUT was seen to send pauses.
func held(t *Task) (s unit.PrioritySet) {
	for set := t.Lossless(); set != 0; set &= set - 1 {
		if v, ok := t.Found(found(sendsProbed, int(set.First()))); ok && v.Lo > 0 {
			s.Add(set.First())
		}
	}
	return s
}

// probeOverload looks for pauses of priorities that cannot be stopped: two ports send to a third.
var probeOverload = &Case{
	ID: "P05", Title: "pauses of priorities that are not honoured", Ports: 3,
	Missing: func(t *Task) string {
		if t.Lossy() == 0 {
			return "every priority is honoured"
		}
		return ""
	},
	Next: Times(func(t *Task) int { return t.Lossy().Len() }, func(t *Task, k int) *Script {
		c := nth(t.Lossy(), k)
		s := t.Script(fmt.Sprintf("overload of priority %d", c))
		for _, from := range []int{0, 2} {
			s.Send(Stream{Name: "from " + t.Profile.Ports[from].Name, From: from, To: 1, Priority: c, Rate: t.Rate(from) * 8, Obey: Ignores})
		}
		s.Phase("overload", t.Time(600*unit.Millisecond))
		return s
	}),
	Judge: func(t *Task, done []*Record, j *Judge) {
		for k, r := range done {
			c := nth(t.Lossy(), k)
			j.Some(fmt.Sprintf("frames of priority %d", c), Only(r.Streams[0].Came+r.Streams[1].Came))
			is := 0.0
			if len(r.PausesOf(0, c))+len(r.PausesOf(2, c)) > 0 {
				is = 1
			}
			j.Found(found(sendsProbed, int(c)), is, is, "")
		}
	},
}

// Learn puts what a session has found into the profile of its task, for the next one.
func (t *Task) Learn() {
	p := t.Profile
	for i := range p.Ports {
		if v, ok := t.Found(found(speedProbed, i)); ok {
			p.Ports[i].Speed = rounded((v.Lo + v.Hi) / 2)
		}
		if v, ok := t.Found(found(sourceProbed, i)); ok {
			p.Ports[i].MAC = unit.MAC(v.Lo)
		}
	}
	v, ok := t.Found(losslessFound)
	if !ok {
		return
	}
	honoured := unit.PrioritySet(v.Lo)
	p.Lossless = p.Lossless[:0:0]
	for set := honoured; set != 0; set &= set - 1 {
		p.Lossless = append(p.Lossless, Class(set.First()))
	}
	if honoured == 0 {
		p.Lossless = append(p.Lossless, anyClass)
	}
	if p.Trust == "pcp" {
		return
	}
	p.DSCP = map[int]int{}
	for k := range codePoints(t) {
		v, ok := t.Found(found(carriedProbed, k))
		stops := unit.PrioritySet(v.Lo)
		switch {
		case !ok:
		case stops != 0:
			p.DSCP[k] = int(stops.First())
		case k%unit.Priorities == 0 && !honoured.Has(unit.Priority(k/unit.Priorities)):
			p.DSCP[k] = k / unit.Priorities
		}
	}
}

// rounded is a speed that was measured: one that ports have, if it is within 5 %, else in two digits.
func rounded(speed float64) unit.Rate {
	digit := 1.0
	for speed/digit >= 10 {
		digit *= 10
	}
	for _, usual := range []float64{1, 2, 2.5, 4, 5, 8, 10} {
		if off := speed/digit/usual - 1; off > -0.05 && off < 0.05 {
			return unit.Rate(usual * digit)
		}
	}
	return unit.Rate(float64(int64(speed/digit*10+0.5)) * digit / 10)
}

// Probed is the text of a profile of what was found, with comments on it. What is a number in it is judged
// when it is played.
func (t *Task) Probed() []byte {
	p := t.Profile
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Found by softswitch conform probe. What is a number here is judged in a test: write probe in its")
	line("# place for what is to be looked for and reported.")
	line("name: %s", p.Name)
	line("ports:")
	speed := p.Ports[0].Speed
	for _, q := range p.Ports {
		fields := []string{"name: " + q.Name}
		if q.Interface != "" {
			fields = append(fields, "interface: "+q.Interface)
		}
		if q.MAC != 0 && !q.MAC.IsGroup() {
			fields = append(fields, fmt.Sprintf("mac: %q", q.MAC))
		}
		if q.Speed != speed {
			fields = append(fields, "speed: "+q.Speed.String())
		}
		line("  - {%s}", strings.Join(fields, ", "))
	}
	line("speed: %v", speed)
	line("mtu: %d", p.MTU)
	line("trust: %s", p.Trust)
	if p.Trust != "pcp" {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(p.DSCP)) {
			pairs = append(pairs, fmt.Sprintf("%d: %d", k, p.DSCP[k]))
		}
		line("dscp: {%s}", strings.Join(pairs, ", "))
		line("# The priority of a code point is seen by whose pauses stop it; of others it is taken for a DSCP / 8.")
	}
	var both, honoured, sent []string
	note := func(name string, of func(Value) string) {
		for c := range unit.Priorities {
			if v, ok := t.Found(found(name, c)); ok {
				line("#   priority %d: %s %s", c, name, of(v))
			}
		}
	}
	for c := range unit.Priorities {
		v, ok := t.Found(found(sendsProbed, c))
		is := t.Lossless().Has(unit.Priority(c)) && !p.Probed()
		switch sends := ok && v.Lo > 0; {
		case is && sends:
			both = append(both, fmt.Sprint(c))
		case is:
			honoured = append(honoured, fmt.Sprint(c))
		case sends:
			sent = append(sent, fmt.Sprint(c))
		}
	}
	if both == nil {
		line("lossless: probe # no priority was seen whose pauses are honoured and sent")
	} else {
		line("lossless: [%s]", strings.Join(both, ", "))
	}
	if honoured != nil {
		line("# Honoured, and not seen to be sent: %s.", strings.Join(honoured, ", "))
	}
	if sent != nil {
		line("# Sent, and not honoured: %s.", strings.Join(sent, ", "))
	}
	if len(p.Ports) < 3 {
		line("# With two ports, pauses of priorities that are not honoured cannot be made to be sent.")
	}
	if both == nil {
		return []byte(b.String())
	}
	first := int(both[0][0] - '0')
	value := func(name string) (v Value, ok bool) { return t.Found(found(name, first)) }
	pfc := []string{}
	if v, ok := value(quantaProbed); ok {
		pfc = append(pfc, fmt.Sprintf("quanta: %.0f", v.Lo))
	}
	resume := "expiry"
	if _, ok := value(xonProbed); ok {
		resume = "frame"
	}
	pfc = append(pfc, "resume: "+resume)
	for i := range p.Ports {
		if v, ok := t.Found(found(sourceProbed, i)); ok && v.Lo == 0 {
			pfc = append(pfc, "source: zero")
			break
		}
	}
	if p.PFC.Slack > 0 {
		pfc = append(pfc, "slack: "+p.PFC.Slack.String())
	}
	line("pfc: {%s}", strings.Join(pfc, ", "))
	xoff, _ := value(xoffProbed)
	buffer := []string{fmt.Sprintf("xoff: %.0f", xoff.Hi)}
	if v, ok := value(xonProbed); ok && v.Hi < xoff.Hi {
		buffer = append(buffer, fmt.Sprintf("xon: %.0f", v.Hi))
	}
	if v, ok := value(lossProbed); ok {
		buffer = append(buffer, fmt.Sprintf("headroom: %.0f", v.Lo-xoff.Hi))
	}
	line("buffer: {%s}", strings.Join(buffer, ", "))
	for _, name := range []string{xoffProbed, lossProbed, xonProbed, quantaProbed} {
		note(name, Value.String)
	}
	note(refreshProbed, func(v Value) string { return unit.Time(v.Hi).String() })
	if _, ok := value(watchdogProbed); ok {
		line("# Frames that fit were lost while a port was paused for long: a watchdog acts. Say which in watchdog.")
	}
	return []byte(b.String())
}

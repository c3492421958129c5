package conform

import (
	"fmt"

	"softswitch/unit"
)

// Calibration is what the tester can do: streams through the DUT without any pause, of the rate that cases
// use together.
type Calibration struct {
	// Rate is that of a stream of a case, Frames how many of them the tester sent together in a second.
	Rate   unit.Rate `json:"rate_bps"`
	Frames uint64    `json:"frames_per_s"`
	// Silence is the longest time for which nothing came, Spread by how much the slowest frame was slower
	// than the fastest one.
	Silence unit.Time `json:"silence_ns"`
	Spread  unit.Time `json:"spread_ns"`
	// Sent and Lost are frames.
	Sent uint64 `json:"sent"`
	Lost uint64 `json:"lost"`
}

// together is how many streams of a port the rate of a calibration stands for: one a priority.
const together = unit.Priorities

// Calibrate is a script that finds out what the tester can do: from each port to the next one in turn, as
// fast as all of a case's streams together, of this rate each, and against it one of them.
func (t *Task) Calibrate(rate unit.Rate, d unit.Time) *Script {
	s := t.Script("calibration")
	n := len(t.Profile.Ports)
	for p := range t.Profile.Ports {
		name := t.Profile.Ports[p].Name
		s.Send(Stream{Name: "from " + name, From: p, To: (p + 1) % n, Priority: least(t), Rate: rate * together})
		s.Send(Stream{Name: "to " + name, From: (p + 1) % n, To: p, Priority: least(t), Rate: rate})
		s.Phase(name, d/unit.Time(n))
		s.Halt("from " + name)
		s.Halt("to " + name)
	}
	return s.finish()
}

// Calibrated is what the record of a calibration shows.
func Calibrated(r *Record, rate unit.Rate) Calibration {
	c := Calibration{Rate: rate}
	var passed unit.Time
	for i := range r.Streams {
		s := &r.Streams[i]
		c.Sent += s.Sent
		c.Lost += s.Lost()
		p := r.Script.Phases[i/2]
		passed += (p.To - p.From) / 2
		c.Silence = max(c.Silence, s.Silence(p.Window()))
		if d := s.Delays(p.Window()); len(d) > 0 {
			c.Spread = max(c.Spread, d[len(d)-1]-d[0])
		}
	}
	c.Frames = c.Sent * uint64(unit.Second) / uint64(max(passed, 1))
	return c
}

func (c Calibration) String() string {
	return fmt.Sprintf("%v a stream, %s/s: longest silence %v, slowest frame %v behind the fastest, %d of %d lost", c.Rate, unit.Count(c.Frames, "frame"), c.Silence, c.Spread, c.Lost, c.Sent)
}

// worse is how much more silence there is after a run than was before, for timing cases to be believed no
// more; below tolerable it is of no account, and so is a processor that stands still for no longer.
const (
	worse     = 3
	tolerable = 10 * unit.Millisecond
)

// Slower reports whether the tester was so much slower after the run, than before it, that what it timed
// proves nothing.
func Slower(before, after Calibration) bool {
	return after.Silence > worse*before.Silence && after.Silence > tolerable
}

// Distrust makes cases undecided that passed or failed, for a reason.
func (s *Session) Distrust(why string, of func(o *Outcome) bool) {
	for i := range s.results {
		if o := &s.results[i]; of(o) && (o.Result == Pass || o.Result == Fail) {
			o.Result, o.Reason = Undecided, why
		}
	}
}

package conform

import (
	"fmt"
	"html/template"
	"slices"

	"softswitch/unit"
)

// Session plays cases one after the other: Next names a script, whose record Add takes.
//
//	for script := s.Next(); script != nil; script = s.Next() {
//		s.Add(world.Play(script))
//	}
type Session struct {
	task    *Task
	cases   []*Case
	at      int // the case at work
	done    []*Record
	void    int      // trials of the present one that proved nothing
	again   int      // how often the case was begun again
	failed  []string // why, as often as it failed
	script  *Script
	results []Outcome
	// Judged, unless nil, is called with each case that has ended, the only time with its trials.
	Judged func(Outcome)
	// Draw says that trials are drawn, for Report.WriteHTML.
	Draw bool
}

// Outcome is a case with its verdict, and its trials.
type Outcome struct {
	ID    string `json:"case_id"`
	Title string `json:"title"`
	Verdict
	Trials []*Record `json:"-"`
	// Played sums the trials up.
	Played []Trial `json:"trials,omitempty"`

	drawings []template.HTML // of the first trials
}

// attempts is how often a case is played live that is undecided: the machine may have been busy. One that fails with
// a DUT on the same machine is played until it passes, has failed as often, or was played mostAttempts times.
const (
	attempts     = 3
	mostAttempts = 5
)

// repeats is how often a trial that proves nothing is played again.
const repeats = 5

// NewSession begins a session of these cases.
func NewSession(t *Task, cases []*Case) *Session { return &Session{task: t, cases: cases} }

// Case is the case at work, and the number of its trial from 0 on; nil after the last.
func (s *Session) Case() (c *Case, trial int) {
	if s.at == len(s.cases) {
		return nil, 0
	}
	return s.cases[s.at], len(s.done)
}

// Total is how many cases there are, Played how many have ended.
func (s *Session) Total() int { return len(s.cases) }

// Played is how many cases have ended.
func (s *Session) Played() int { return len(s.results) }

// Outcomes are the cases that have ended.
func (s *Session) Outcomes() []Outcome { return s.results }

// Next is the next script to be played, nil if all cases have ended.
func (s *Session) Next() *Script {
	for s.at < len(s.cases) {
		c := s.cases[s.at]
		if s.script != nil { // the present trial again
			return s.script
		}
		if len(s.done) == 0 {
			if why := s.skip(c); why != "" {
				s.ends(Verdict{Result: Skipped, Reason: why})
				continue
			}
		}
		if next := c.Next(s.task, s.done); next != nil {
			s.script = next.finish()
			return s.script
		}
		v := Judged(s.task, c, s.done)
		if v.Result == Fail {
			s.failed = append(s.failed, v.Reason)
		}
		if s.again++; s.unsure(v) {
			s.done = nil
			continue
		}
		if n := len(s.failed); n > 0 && n < attempts && s.task.Live && s.task.Profile.SameMachine {
			v.Result, v.Reason = Undecided, fmt.Sprintf("it failed %d of %d times, with a DUT that waits for the tester's processors: %s", n, s.again, s.failed[0])
		}
		s.ends(v)
	}
	return nil
}

// unsure reports whether a verdict of a live case may come of a busy machine, and the case is to be played again.
func (s *Session) unsure(v Verdict) bool {
	switch n := len(s.failed); {
	case !s.task.Live:
		return false
	case n > 0 && s.task.Profile.SameMachine:
		return v.Result != Pass && n < attempts && s.again < mostAttempts
	}
	return v.Result == Undecided && s.again < attempts
}

// skip is why a case is not played, "" if it is.
func (s *Session) skip(c *Case) string {
	if n := len(s.task.Profile.Ports); n < c.Ports {
		return fmt.Sprintf("it needs %s, and the profile has %d", unit.Count(c.Ports, "port"), n)
	}
	switch {
	case c.Ring != "" && s.task.Ring(c.Ring) == nil:
		return "the profile has no ring of " + c.Ring
	case s.task.Live && c.Ring == "" && len(s.task.Profile.Rings) > 0:
		return "the ports of the profile are those of a ring"
	}
	for _, id := range c.Needs {
		if i := slices.IndexFunc(s.results, func(o Outcome) bool { return o.ID == id }); i >= 0 && s.results[i].Result != Pass {
			return fmt.Sprintf("it rests on %s, which ended as %s", id, s.results[i].Result)
		}
	}
	if c.Missing != nil {
		return c.Missing(s.task)
	}
	return ""
}

// Add takes what came of the script of Next.
func (s *Session) Add(r *Record) {
	c := s.cases[s.at]
	r.Case, r.Trial, r.Script = c.ID, len(s.done), s.script
	s.task.note(r)
	r.widen(s.task.Uncertain)
	if r.Void == "" {
		r.Void = r.proves()
	}
	if r.Void != "" {
		if s.void++; s.void < repeats {
			return
		}
		s.done = append(s.done, r)
		s.ends(Judged(s.task, c, s.done))
		return
	}
	s.done, s.void, s.script = append(s.done, r), 0, nil
}

// Fault ends the case at work: it cannot be played.
func (s *Session) Fault(err error) {
	s.ends(Verdict{Result: Broken, Reason: err.Error()})
}

func (s *Session) ends(v Verdict) {
	c := s.cases[s.at]
	o := Outcome{ID: c.ID, Title: c.Title, Verdict: v, Trials: s.done}
	for i, r := range s.done {
		o.Played = append(o.Played, r.sum())
		if s.Draw && i < o.drawn() {
			o.drawings = append(o.drawings, r.draw(s.task))
		}
	}
	if s.Judged != nil {
		s.Judged(o)
	}
	s.task.values = append(s.task.values, v.Values...)
	o.Trials = nil // they are large
	s.results = append(s.results, o)
	s.done, s.void, s.again, s.failed, s.script = nil, 0, 0, nil, nil
	s.at++
}

// proves is why a record proves nothing, "" if it may.
func (r *Record) proves() string {
	for i, t := range r.Script.Trains {
		if t.lapsed(r.Trains[i].Left) {
			return fmt.Sprintf("the storm %s lapsed: more than %v between two of its pauses", t.Name, t.Pause)
		}
		// What follows a storm waits for as long as the DUT may take to obey it.
		if left := r.Trains[i].Left; t.Pause > 0 && len(left) > 0 && left[0].Lo-t.Start > r.Script.task.settling(t.Port)/2 {
			return fmt.Sprintf("the storm %s began %v late", t.Name, left[0].Lo-t.Start)
		}
	}
	for i, f := range r.Script.Streams {
		if !f.Control || f.Quiet == 0 {
			continue
		}
		if quiet := r.Streams[i].Silence(Exactly(f.Start, f.Stop)); quiet > f.Quiet {
			return fmt.Sprintf("the control stream %s was silent for %v: more than %v", f.Name, quiet, f.Quiet)
		}
	}
	return ""
}

package conform

import (
	"fmt"

	"softswitch/unit"
)

// Result is how a case ended.
type Result string

// Results. Undecided says that the tester was too slow, or the machine too busy, to tell.
const (
	Pass      Result = "pass"
	Fail      Result = "fail"
	Undecided Result = "undecided"
	Skipped   Result = "skipped"
	Broken    Result = "error"
)

// Check is one thing that was measured against a bound.
type Check struct {
	Result   Result `json:"result"`
	What     string `json:"what"`
	Measured string `json:"measured"`
	Bound    string `json:"bound"`
	// Lo and Hi are what was measured, at least and at most, of what was counted or timed (ns): both 0 of
	// what holds or does not.
	Lo float64 `json:"lo,omitempty"`
	Hi float64 `json:"hi,omitempty"`
}

// Verdict is what a case has come to.
type Verdict struct {
	Result Result `json:"result"`
	// Reason is why it failed, was skipped or could not be decided.
	Reason string   `json:"reason,omitempty"`
	Checks []Check  `json:"checks,omitempty"`
	Notes  []string `json:"notes,omitempty"`
	Values []Value  `json:"values,omitempty"`
	// Does is what the DUT was seen to do about priorities.
	Does []Value `json:"does,omitempty"`
	// Timed says that a time was measured.
	Timed bool `json:"timed,omitempty"`
	// Controlled says that each trial had a control stream.
	Controlled bool `json:"controlled,omitempty"`
}

// Judge collects what a case's judge says. The worst of its checks is the result: a fail, else an
// undecided one. A judge that checks nothing has decided nothing.
type Judge struct {
	id      string
	verdict Verdict
	failed  bool
	unsure  bool
}

// check adds a check.
func (j *Judge) check(holds Truth, what, measured, bound string) {
	c := Check{Result: Pass, What: what, Measured: measured, Bound: bound}
	switch holds {
	case No:
		c.Result = Fail
		if !j.failed {
			j.verdict.Reason = fmt.Sprintf("%s: %s; want %s", what, measured, bound)
		}
		j.failed = true
	case Unsure:
		c.Result = Undecided
		if !j.failed && !j.unsure {
			j.verdict.Reason = fmt.Sprintf("the tester was too slow to tell: %s: %s; want %s", what, measured, bound)
		}
		j.unsure = true
	}
	j.verdict.Checks = append(j.verdict.Checks, c)
}

// measured is what the last check was of.
func (j *Judge) measured(lo, hi float64) {
	c := &j.verdict.Checks[len(j.verdict.Checks)-1]
	c.Lo, c.Hi = lo, hi
}

// Count wants a number of least to most.
func (j *Judge) Count(what string, n Count, least, most uint64) {
	bound := fmt.Sprintf("%d to %d", least, most)
	switch {
	case least == most:
		bound = fmt.Sprint(least)
	case least == 0:
		bound = fmt.Sprintf("at most %d", most)
	case most == ^uint64(0):
		bound = fmt.Sprintf("at least %d", least)
	}
	j.check(within(n.Lo, n.Hi, least, most), what, n.String(), bound)
	j.measured(float64(n.Lo), float64(n.Hi))
}

// None wants none.
func (j *Judge) None(what string, n Count) { j.Count(what, n, 0, 0) }

// Some wants at least one.
func (j *Judge) Some(what string, n Count) { j.Count(what, n, 1, ^uint64(0)) }

// Time wants a time, or a point of time, between two.
func (j *Judge) Time(what string, at Span, least, most unit.Time) {
	j.verdict.Timed = true
	bound := fmt.Sprintf("%v to %v", least, most)
	if least <= 0 {
		bound = fmt.Sprintf("at most %v", most)
	}
	j.check(within(at.Lo, at.Hi, least, most), what, at.String(), bound)
	j.measured(float64(at.Lo), float64(at.Hi))
}

// True wants something to hold that the tester sees without doubt.
func (j *Judge) True(what string, holds bool, measured, bound string) {
	is := No
	if holds {
		is = Yes
	}
	j.check(is, what, measured, bound)
}

// Share wants a value within percent of another one; more and less are what rounding may add to it.
func (j *Judge) Share(what string, lo, hi, want, percent, rounding float64, name string) {
	off := want*percent/100 + rounding
	measured := fmt.Sprintf("%.5g %s", hi, name)
	if hi > lo {
		measured = fmt.Sprintf("%.5g to %.5g %s", lo, hi, name)
	}
	j.check(within(lo, hi, want-off, want+off), what, measured, fmt.Sprintf("%.5g to %.5g %s", want-off, want+off, name))
	j.measured(lo, hi)
}

// AtRate wants a stream to go through the DUT in a phase as fast as it was sent: as many frames, to 2 %
// and two frames. More are no fault of the phase: they waited before it.
func (j *Judge) AtRate(r *Record, stream string, w Window) {
	s := r.Stream(stream)
	sent, came := s.LeftIn(w), s.In(w)
	off := sent.Hi/50 + 2
	j.Count(fmt.Sprintf("%s: frames of stream %s in %v", r.Script.Title, stream, w.Least()), came, sent.Lo-min(sent.Lo, off), ^uint64(0))
}

// Whole wants all frames of a stream to have come, each once, in order and unchanged.
func (j *Judge) Whole(r *Record, stream string) {
	s := r.Stream(stream)
	j.None(fmt.Sprintf("%s: frames of stream %s lost of %d", r.Script.Title, stream, s.Sent), Only(s.Lost()))
	j.None(fmt.Sprintf("%s: frames of stream %s that came twice, out of order or damaged", r.Script.Title, stream), Only(s.Twice+s.Behind+s.Damaged))
}

// Unsure says why the case cannot be decided.
func (j *Judge) Unsure(format string, args ...any) {
	if !j.unsure && !j.failed {
		j.verdict.Reason = fmt.Sprintf(format, args...)
	}
	j.unsure = true
}

// Note tells what is worth knowing and decides nothing.
func (j *Judge) Note(format string, args ...any) {
	j.verdict.Notes = append(j.verdict.Notes, fmt.Sprintf(format, args...))
}

// Found reports a value of the DUT, for the report and for cases that are played later.
func (j *Judge) Found(name string, lo, hi float64, unit string) {
	j.verdict.Values = append(j.verdict.Values, Value{j.id, name, lo, hi, unit})
}

// end is the verdict.
func (j *Judge) end() Verdict {
	switch {
	case j.failed:
		j.verdict.Result = Fail
	case j.unsure:
		j.verdict.Result = Undecided
	case len(j.verdict.Checks) == 0:
		j.verdict.Result, j.verdict.Reason = Undecided, "nothing that was played could be judged"
	default:
		j.verdict.Result = Pass
	}
	return j.verdict
}

// Judged judges the trials of a case. Where the last of them proves nothing, it was played as often as it
// may be.
func Judged(t *Task, c *Case, done []*Record) Verdict {
	if n := len(done); n > 0 && done[n-1].Void != "" {
		return Verdict{Result: Undecided, Reason: fmt.Sprintf("%s proved nothing: %s", unit.Count(repeats, "trial"), done[n-1].Void)}
	}
	j := Judge{id: c.ID}
	c.Judge(t, done, &j)
	v := j.end()
	v.Controlled = true
	var still unit.Time
	for _, r := range done {
		still = max(still, r.stoodStill())
		v.Controlled = v.Controlled && r.controlled()
	}
	if v.Result == Fail && still > tolerable {
		v.Result, v.Reason = Undecided, fmt.Sprintf("a processor of this machine stood still for %v, and what failed may come of that: %s", still, v.Reason)
	}
	return v
}

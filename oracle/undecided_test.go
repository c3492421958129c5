package oracle

import (
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// sent: b_k sends a frame of the first period.
func (s *script) sent(k unit.NodeID, what event.Type) *script {
	return s.log(k, event.Event{Type: what, Port: in, Priority: 3, Period: 1})
}

// refreshed: the pause of the first period comes to p_k again.
func (s *script) refreshed(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.Refreshed, Out: out, OutPriority: 3, Period: 1})
}

// almostClosed is a ring that waits for the pause of p_1, with frames to and fro between s1 and s2, and s3
// and s4, from 10 to 23 us.
func almostClosed(t *testing.T) *script {
	s := newScript(t).at(10 * us)
	for k := unit.NodeID(1); k <= 4; k++ {
		s.xoff(k, 1, 36).held(k, 50, 36)
	}
	s.sent(1, event.PauseSent).sent(3, event.PauseSent)
	s.at(11*us).paused(2, 1).paused(3, 1).paused(4, 1)
	s.at(20*us).sent(1, event.RefreshSent).at(21 * us).refreshed(4)
	return s.at(22*us).sent(3, event.RefreshSent).at(23 * us).refreshed(2)
}

// TestEndIsUndecided: s3 lets p_2 go. If no frame of its clock comes later, it may be that this was after the
// end of the run.
func TestEndIsUndecided(t *testing.T) {
	for _, frames := range []bool{false, true} {
		s := almostClosed(t)
		s.at(25*us).paused(1, 1).at(30*us).sent(1, event.RefreshSent).at(31 * us).refreshed(4)
		s.at(60 * us).xon(3)
		if frames {
			s.at(70*us).sent(3, event.RefreshSent).at(71 * us).refreshed(2)
		}
		s.at(100*us).log(1, event.Event{Type: event.LinkUp, Port: side})
		r, err := JudgeClocks(ring4(t), s.all(), Clocks{By: []int{0, 0, 1, 1}}, 100*us, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Intervals) != 1 || r.Intervals[0].Open || r.EndUndecided == frames {
			t.Errorf("frames later %v: deadlock %v, undecided at the end %v", frames, r.Intervals, r.EndUndecided)
		}
	}
}

// TestUndecidedFindingIsNoMiss: a deadlock of which all is known exactly is not missed if a declaration,
// of which it is not known whether it came before, may mean it.
func TestUndecidedFindingIsNoMiss(t *testing.T) {
	f := ring4(t)
	s := almostClosed(t)
	s.at(25*us).paused(1, 1) // by the reference: now the ring is closed
	s.at(26 * us).declared(3)
	s.at(100*us).log(1, event.Event{Type: event.LinkUp, Port: side})
	r, err := JudgeClocks(f, s.all(), Clocks{By: []int{0, 0, 1, 1}}, 100*us, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Outcome != Undecided {
		t.Fatalf("findings %+v, want one that is undecided", r.Findings)
	}
	if missed := r.Missed(); len(missed) > 0 || len(r.Undecided) != 1 {
		t.Errorf("missed %v, undecided %v, want one that is undecided", missed, r.Undecided)
	}
}

// severalClocks judges a run of s1 to s4 that go by these clocks.
func (s *script) severalClocks(by ...int) *Result {
	s.t.Helper()
	r, err := JudgeClocks(ring4(s.t), s.all(), Clocks{By: by}, 200*us, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestLoopOfSeveralClocks: a finding that is not true shows the way of its label, also where it may have been
// declared long before.
func TestLoopOfSeveralClocks(t *testing.T) {
	s := newScript(t)
	s.at(10*us).forwarded(4, detect.StepForward, 7).at(20*us).forwarded(3, detect.StepForward, 7)
	s.at(30*us).forwarded(2, detect.StepForward, 7).at(40 * us).declared(1)
	if f := s.severalClocks(1, 0, 0, 0).Findings[0]; f.At > 0 || len(f.Loop) != 4 {
		t.Errorf("declared at %d or later: loop %v, want four queues", f.At, f.Loop)
	}
}

// TestDiagnosisOfSeveralClocks: what is said of a finding is not said of the next one of its priority group,
// which may have been as early.
func TestDiagnosisOfSeveralClocks(t *testing.T) {
	s := newScript(t)
	named := func(c detect.CauseType) {
		s.log(1, event.Event{Type: event.Cause, Port: in, Priority: 3, Out: out, OutPriority: 3, Cause: c, Rank: 1})
	}
	s.at(1*us).sent(2, event.PauseSent).at(10*us).sent(1, event.PauseSent).at(11*us).paused(4, 1)
	s.at(70*us).paused(1, 1) // after 69 us, as the next one: so well are the clocks known
	s.at(80 * us).declared(1)
	named(detect.CauseContention)
	s.at(100 * us).declared(1)
	named(detect.CauseHost)
	s.at(120*us).sent(2, event.RefreshSent).sent(1, event.RefreshSent).at(121 * us).refreshed(4)
	s.at(189 * us).refreshed(1)
	r := s.severalClocks(1, 0, 0)
	for i, want := range []detect.CauseType{detect.CauseContention, detect.CauseHost} {
		if d := r.Diagnosis(r.Findings[i]); d == nil || d.Causes[0].Type != want {
			t.Errorf("finding %d, at %d to %d: %+v, want %v", i, r.Findings[i].At, r.Findings[i].AtMost, d, want)
		}
	}
}

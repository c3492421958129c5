package dataplane

import (
	"testing"

	"softswitch/pfcframe"
	"softswitch/unit"
)

// A switch begins anew while its links stay up, as a process that was killed and started again does. What
// the one before had paused must not stay paused until the time runs out (a third of a second at 100
// Mbit/s): nobody holds it up any more.
func TestSwitchThatBeginsAnewLetsGo(t *testing.T) {
	a := newTestSwitch(t, 2, nil) // port 1 leads to port 0 of b
	b := newTestSwitch(t, 2, nil)
	b.receive(1, pauseOf(3, 65535, 1))
	for id := range uint32(5) {
		b.receive(0, between(0, 1, 3, id+1))
	}
	for _, f := range b.drain(0) {
		a.receive(1, f)
	}
	if !a.QueuePaused(1, 3) {
		t.Fatal("b is XOFF and a is not paused")
	}
	anew, err := NewSwitch(testConfig(2))
	if err != nil {
		t.Fatal(err)
	}
	again := &testSwitch{t: t, Switch: anew, now: a.now + unit.Microsecond}
	again.lent = append(again.lent, nil, nil)
	for p := range unit.Port(2) {
		again.link(p, true)
	}
	a.advance(2 * unit.Microsecond)
	for _, f := range again.drain(0) {
		a.receive(1, f)
	}
	if a.QueuePaused(1, 3) {
		t.Error("b began anew, is empty and has said all that it has to say, and a is still paused by the b of before")
	}
}

// Its first frames are resumes, of every lossless priority at every port with a link, and they leave
// before data.
func TestSwitchThatBeginsAnewSaysSoFirst(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	anew, err := NewSwitch(testConfig(2))
	if err != nil {
		t.Fatal(err)
	}
	s.Switch = anew
	s.link(0, true)
	s.link(1, true)
	s.receive(0, between(0, 1, 3, 1))
	s.receive(1, between(1, 0, 3, 2))
	for out := range unit.Port(2) {
		frames := s.drain(out)
		if len(frames) != 3 {
			t.Fatalf("port %d: %d frames, want 2 resumes and 1 of data", out, len(frames))
		}
		for i, c := range []unit.Priority{3, 4} {
			pf, _, err := pfcframe.Parse(frames[i])
			if err != nil || pf.Enable != 1<<c || pf.Quanta[c] != 0 {
				t.Errorf("port %d, frame %d: %s, want a resume of priority %d", out, i, frameText(frames[i:i+1]), c)
			}
		}
	}
	// Not again: a link that comes back has ended the pauses at both ends.
	s.link(0, false)
	s.link(0, true)
	if got := s.drain(0); len(got) != 0 {
		t.Errorf("when its link is back it sends %s", frameText(got))
	}
}

// In virtual time everybody begins at 0, and is the first.
func TestSwitchOfTimeZeroHasNobodyToLetGo(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	anew, err := NewSwitch(testConfig(2))
	if err != nil {
		t.Fatal(err)
	}
	s.Switch, s.now = anew, 0
	s.link(0, true)
	if got := s.drain(0); len(got) != 0 {
		t.Errorf("at time 0 it sends %s", frameText(got))
	}
}

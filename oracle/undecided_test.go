package oracle

import (
	"testing"

	"softswitch/event"
	"softswitch/unit"
)

// TestUndecidedFindingIsNoMiss: a deadlock of which all is known exactly is not missed if a declaration,
// of which it is not known whether it came before, may mean it.
func TestUndecidedFindingIsNoMiss(t *testing.T) {
	f := ring4(t)
	s := newScript(t)
	pause := func(k int, what event.Type, period uint8) { // b_k sends
		s.log(unit.NodeID(k), event.Event{Type: what, Port: in, Class: 3, Period: period})
	}
	refreshed := func(k int) {
		s.log(unit.NodeID(k), event.Event{Type: event.Refreshed, Out: out, OutClass: 3, Period: 1})
	}
	s.at(10 * us)
	for k := 1; k <= 4; k++ {
		s.xoff(unit.NodeID(k), 1, 36).held(unit.NodeID(k), 50, 36)
	}
	pause(1, event.PauseSent, 1)
	pause(3, event.PauseSent, 1)
	s.at(11*us).paused(2, 1).paused(3, 1).paused(4, 1)
	s.at(20 * us)
	pause(1, event.RefreshSent, 1)
	s.at(21 * us)
	refreshed(4)
	s.at(22 * us)
	pause(3, event.RefreshSent, 1)
	s.at(23 * us)
	refreshed(2)
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

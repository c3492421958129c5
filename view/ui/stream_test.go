package ui

import "testing"

// What a page is being sent stays while the history moves on.
func TestFullHistory(t *testing.T) {
	s := &Stream{}
	s.Begin(Topology{})
	for range historyMax {
		s.Publish(State{})
	}
	n, _, _ := s.after(place{})
	for range 2 * batchMax {
		s.Publish(State{})
	}
	if len(n.states) != batchMax {
		t.Fatalf("%d states, want %d", len(n.states), batchMax)
	}
	for i, data := range n.states {
		if len(data) == 0 {
			t.Fatalf("state %d is empty", i)
		}
	}
}

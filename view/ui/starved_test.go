package ui

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/sim"
)

// TestStarved: the page tells which queue starved, as the verdict does, and that it is no deadlock; before it
// did, the page says nothing of it.
func TestStarved(t *testing.T) {
	stream := new(Stream)
	v, err := Simulate(planned(t, "starved.yaml"), sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	states := statesOf(t, stream)
	first, last := states[0], states[len(states)-1]
	if len(first.Starved) > 0 || strings.Contains(first.Words, "Starved") {
		t.Errorf("first: %v, %q", first.Starved, first.Words)
	}
	if len(v.Starved) != 1 || len(last.Starved) != 1 || last.Starved[0] != v.Starved[0] {
		t.Fatalf("last: %v, the verdict %v", last.Starved, v.Starved)
	}
	if want := "Starved while others sent, and no deadlock: " + v.Starved[0].String() + "."; !strings.Contains(last.Words, want) || !strings.Contains(last.Words, "No deadlock.") {
		t.Errorf("%q, want %q in it", last.Words, want)
	}
}

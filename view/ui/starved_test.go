package ui

import (
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/sim"
)

// TestStarved: the page tells which queue starves, and behind what, while it does, and afterwards that it did,
// as the verdict does; and that it is no deadlock. Before it did, the page says nothing of it.
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
	var during []State
	var told []string
	for _, s := range states {
		if s.Status == statusStarved {
			during = append(during, s)
		}
		for _, e := range s.Log {
			told = append(told, e.Text)
		}
	}
	if len(during) < 100 || len(during[0].Starving) != 1 {
		t.Fatalf("%d of %d states starve, want those of half a second or more, each at one queue", len(during), len(states))
	}
	const brief = "Priority 3 of s2 → s3 starves behind strict priority 4: no deadlock, and 2 links are paused."
	if s := during[50]; s.Brief != brief || s.Starving[0].Priority != 3 || !slices.Equal(s.Starving[0].Behind, []int{4}) || strings.Contains(s.Words, "Starved while") {
		t.Errorf("%+v, %q, %q; want %q", s.Starving, s.Brief, s.Words, brief)
	}
	if first, last := during[0].Starving[0].For, during[len(during)-1].Starving[0].For; first < ms(v.Starved[0].Bound) || last > ms(v.Starved[0].For) || last-first < 500 {
		t.Errorf("it has starved for %v ms at first and %v ms at last, want more than %s and at most %s", first, last, v.Starved[0].Bound, v.Starved[0].For)
	}
	want := []string{"priority 3 of s2 → s3 starves behind strict priority 4", "priority 3 of s2 → s3 starves no more"}
	if !slices.Equal(told, want) {
		t.Errorf("told is %q, want %q", told, want)
	}
	if want := "Starved while others sent, and no deadlock: " + v.Starved[0].String() + "."; !strings.Contains(last.Words, want) || !strings.Contains(last.Words, "No deadlock.") {
		t.Errorf("%q, want %q in it", last.Words, want)
	}
}

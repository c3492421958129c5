package cbd

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testsim"
	"softswitch/scenarios"
)

// TestScenarios: what locks in each shipped scenario, when it is played, is a cycle that
// its flows close while nothing fails or what the file says.
func TestScenarios(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	locked := 0
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		want := played(t, testsim.Shipped(t, name, "none"))
		if len(want) == 0 {
			continue
		}
		locked++
		r := checked(t, testsim.Shipped(t, name, "none"), 0)
		var got []string
		for _, c := range r.Cycles {
			if len(c.Flows) > 0 {
				got = append(got, c.names()...)
			}
		}
		for _, loop := range want {
			if !slices.Contains(got, loop) {
				t.Errorf("%s: %s is not among\n%s", name, loop, strings.Join(got, "\n"))
			}
		}
	}
	if locked < 15 {
		t.Errorf("%d scenarios lock, want 15 or more", locked)
	}
}

// TestRDMAScenarios: so it is with the cases of scenarios/rdma, and what is cured there has
// no cycle.
func TestRDMAScenarios(t *testing.T) {
	files, err := fs.Glob(scenarios.RDMA, "rdma/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		var got []string
		for _, c := range checked(t, testsim.Shipped(t, name, "none"), 0).Cycles {
			if len(c.Flows) > 0 {
				got = append(got, c.names()...)
			}
		}
		s := testsim.Shipped(t, name, "none")
		want := played(t, s)
		if locks := *s.Expect.Deadlock; locks != (len(want) > 0) || locks != (len(got) > 0) {
			t.Errorf("%s: %d loops when it is played, %d cycles that its flows close; expected to lock: %v", name, len(want), len(got), locks)
		}
		for _, loop := range want {
			if !slices.Contains(got, loop) {
				t.Errorf("%s: %s is not among\n%s", name, loop, strings.Join(got, "\n"))
			}
		}
	}
}

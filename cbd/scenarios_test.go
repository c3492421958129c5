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

package netnslab

import (
	"os"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// TestRelayThatFails: whatever becomes of a relay that has not reached all nodes, it is an
// error that says so, and nothing stays.
func TestRelayThatFails(t *testing.T) {
	testkit.Need(t, "sh", "true")
	t.Setenv(RunDirVariable, t.TempDir())
	lab := Lab{Name: "x", Nodes: []Node{{Name: "s1", Kind: "switch", Via: []string{"env"}, Agent: []string{"true"}}}}
	for want, relay := range map[string][]string{
		"has ended without a word":  {"true"},
		"lab x: node s1: no way":    {"sh", "-c", "printf 'node s1: no way'"},
		"lab x: reach":              {"sh", "-c", "printf reach"}, // killed while it said so
		"executable file not found": {"no-such-relay"},
	} {
		if _, err := Attach(t.Context(), lab, relay, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", relay, err, want)
		}
		if left, err := os.ReadDir(RunDir()); err != nil || len(left) > 0 {
			t.Errorf("%q: left behind: %v (%v)", relay, left, err)
		}
	}
}

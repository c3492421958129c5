package node

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/control"
)

// Every request that a switch answers, and no other, is told to who asks for nothing.
func TestRequestNames(t *testing.T) {
	names := []string{"capture", "wires"} // which a host answers too
	names = slices.AppendSeq(names, maps.Keys(switchRequests))
	names = slices.AppendSeq(names, maps.Keys(wireRequests))
	slices.Sort(names)
	_, err := (&switchNode{}).handle(nil, control.Request{Do: "?"})
	if want := `unknown request "?"; valid: ` + strings.Join(names, ", "); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What changes something is asked by POST only, whatever requests there come to be.
func TestChangesArePosted(t *testing.T) {
	reads := []string{"counters", "deadlocks", "labels", "pfcwd", "sample", "setup", "stats", "tables"}
	for name := range switchRequests {
		err := checkMethod(control.Request{Do: name, Get: true})
		if got, want := err == nil, slices.Contains(reads, name); got != want {
			t.Errorf("GET %s: %v; want it allowed: %t", name, err, want)
		}
		if err := checkMethod(control.Request{Do: name}); err != nil {
			t.Errorf("POST %s: %v", name, err)
		}
	}
}

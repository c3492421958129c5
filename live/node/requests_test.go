package node

import (
	"slices"
	"strings"
	"testing"

	"softswitch/internal/control"
)

// Every request that a switch answers, and no other, is told to who asks for nothing.
func TestRequestNames(t *testing.T) {
	var names []string
	for name := range switchRequests {
		names = append(names, name)
	}
	slices.Sort(names)
	_, err := (&switchNode{}).handle(nil, control.Request{Do: "?"})
	if want := `unknown request "?"; valid: ` + strings.Join(names, ", "); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

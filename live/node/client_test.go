package node

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestClient: package client asks for what nodes answer, and for all of it.
func TestClient(t *testing.T) {
	text, err := os.ReadFile("../../node/client/client.go")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, m := range regexp.MustCompile(`(?:\(e, |\(e\.Path, |\(limit, e\.Path, |e\.Call\()"(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		asked = append(asked, m[1])
	}
	slices.Sort(asked)
	answered := slices.AppendSeq(slices.Collect(maps.Keys(switchRequests)), maps.Keys(wireRequests))
	answered = append(answered, "act", "capture", "start", "stop", "wires") // of hosts, and of all nodes
	if slices.Sort(answered); !slices.Equal(slices.Compact(asked), answered) {
		t.Errorf("client asks for %q, nodes answer %q", slices.Compact(asked), answered)
	}
}

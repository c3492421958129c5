package live

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// A node is the switch, links and a clock: no files, no responses, nothing that plays.
func TestImports(t *testing.T) {
	testkit.Need(t, "go")
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	if !slices.Contains(got, "softswitch/dataplane") {
		t.Fatalf("go list -deps says %q, without the switch", got)
	}
	for _, not := range []string{
		"softswitch/scenario/config", "softswitch/internal/schema", "softswitch/internal/strictyaml",
		"softswitch/host", "softswitch/host/nic", "softswitch/detect/respond", "softswitch/detect/catalog", "softswitch/event/replay",
	} {
		if slices.Contains(got, not) {
			t.Errorf("package live has come to import %s", not)
		}
	}
}

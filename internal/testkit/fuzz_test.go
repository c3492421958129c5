package testkit

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFuzzFloor: a target that tries next to nothing fails, and one that says nothing does.
func TestFuzzFloor(t *testing.T) {
	Need(t, "sh", "awk")
	script, err := filepath.Abs("fuzz.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ printed, want string }{
		{"fuzz: elapsed: 17s, execs: 80000 (5000/sec), new interesting: 1\nfuzz: elapsed: 20s, execs: 196022 (9801/sec), new interesting: 3 (total: 9)\nPASS\n", "a FuzzX: 196022 inputs in 20 s\n"},
		{"fuzz: elapsed: 1h0m1s, execs: 196022 (54/sec), new interesting: 3 (total: 9)\n", "a FuzzX: 196022 inputs in 3601 s\n"},
		{"fuzz: elapsed: 20s, execs: 32 (1/sec), new interesting: 3 (total: 9)\nPASS\n", "tries next to nothing"},
		{"PASS\n", "says nothing of what it tried"},
	} {
		cmd := exec.Command(script, "--judge", "a FuzzX")
		cmd.Stdin = strings.NewReader(c.printed)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) || (err != nil) != !strings.HasSuffix(c.want, "\n") {
			t.Errorf("%q: %v, %s, want %q", c.printed, err, out, c.want)
		}
	}
}

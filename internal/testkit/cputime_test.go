package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCPUTime: what a package's tests take is noted, their exit status stays, and too much fails.
func TestCPUTime(t *testing.T) {
	Need(t, "sh", "awk")
	script, err := filepath.Abs("cpu-time.sh")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	run := func(args ...string) (output string, code int) {
		cmd := exec.Command(script, args...)
		cmd.Env = append(os.Environ(), "CPU_LOG="+log)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("--check", log); code != 2 {
		t.Errorf("nothing was noted: exit status %d, %s", code, out)
	}
	if out, code := run("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3"); code != 3 {
		t.Errorf("exit status %d, want that of the tests, 3: %s", code, out)
	}
	noted, err := os.ReadFile(log)
	if err != nil || !strings.HasPrefix(string(noted), "internal/testkit\t0.") || strings.Contains(string(noted), "testkit\t0.00\n") || !strings.Contains(string(noted), "\nyardstick\t0.") {
		t.Errorf("noted %q, %v", noted, err)
	}
	for text, want := range map[string]int{
		"a/b\t9.00\n": 0, "a/b\t12.00\n": 0, "a/b\t12.00\nc\t9.00\na/b\t9.00\n": 1, "live\t60.00\n": 0,
		"a/b\t12.00\nyardstick\t0.22\na/b\t12.00\n": 0, "a/b\t12.00\nyardstick\t0.22\na/b\t13.00\n": 1, "a/b\t12.00\nyardstick\t0.12\na/b\t12.00\n": 1,
		"a/b\t12.00\nyardstick\t0.20\na/b\t12.00\nyardstick\t0.50\n": 0,
	} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code := run("--check", log)
		if told := strings.Contains(out, "the tests of a/b took "); code != want || told != strings.Contains(text, "12.00") {
			t.Errorf("%q: exit status %d, want %d: %s", text, code, want, out)
		}
	}
}

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
)

// TestWait: interfaces may come after the start, by another name at first, and one after the
// other; one that does not come is named.
func TestWait(t *testing.T) {
	b := newBed(t)
	here, there := testkit.NewNamespace(t), testkit.NewNamespace(t)
	here.Veth("p0", there, "far0")
	do := func(f func()) {
		t.Helper()
		if err := here.Do(func() error { f(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	command := func(wait string) *exec.Cmd {
		return b.program("softswitch", "run", "--wait", wait, "p0", "p1", "p2")
	}
	var s *started
	do(func() { s = b.start(command("1m")) })
	s.await("waiting for p1, p2, at most 1m0s")
	here.Veth("p1", there, "far1")
	here.Veth("x", there, "far2")
	here.Rename("x", "p2")
	s.await("ports p0 (no rate limit), p1 (no rate limit), p2 (no rate limit)")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		t.Errorf("exit status %d", r.code)
	}

	here.Rename("p2", "x")
	for wait, want := range map[string]string{
		"1ms": "after 1ms there is still no interface p2; there is: lo, p0, p1, x",
		"-1s": "--wait: -1s: write a time that is not negative, such as 60s",
		"0":   "p2",
	} {
		do(func() {
			if r := b.run(command(wait)); r.code != cli.ExitError || !strings.Contains(r.stderr, want) {
				t.Errorf("--wait %s: exit status %d, %s", wait, r.code, r.stderr)
			}
		})
	}
	do(func() { s = b.start(command("1m")) })
	s.await("waiting for p2, at most 1m0s")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != cli.ExitError {
		t.Errorf("interrupted while it waits: exit status %d", r.code)
	}
}

// TestRunSaysWhatItRuns: and which port is down, before anybody wonders.
func TestRunSaysWhatItRuns(t *testing.T) {
	b := newBed(t)
	here, there := testkit.NewNamespace(t), testkit.NewNamespace(t)
	here.Veth("p0", there, "far0")
	here.Veth("p1", there, "far1")
	here.SetDown("p1")
	var s *started
	if err := here.Do(func() error {
		s = b.start(b.program("softswitch", "run", "p0", "p1"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.await("switch: detector none, response none, lossless priorities [3 4]; ports p0 (no rate limit), p1 (no rate limit)")
	s.await("warning: port p1 is down; set it up: ip link set p1 up")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		t.Errorf("exit status %d", r.code)
	}
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/lab"
	"softswitch/view/observe"
)

// wantDoubt wants a run that says why it is not valid, by its last line and its status.
func (b *bed) wantDoubt(r result, why ...string) {
	b.Helper()
	if r.code != cli.ExitUnmet {
		b.Errorf("exit status %d, want %d", r.code, cli.ExitUnmet)
	}
	_, doubts, _ := strings.Cut(r.stdout, "run not valid: ")
	for _, w := range why {
		if !strings.Contains(doubts, w) {
			b.Errorf("no word of %q in %q", w, doubts)
		}
	}
}

// smallRunDir gives the run directory a file system of one megabyte until the test ends.
func (b *bed) smallRunDir() {
	b.Helper()
	b.noError(syscall.Mount("tmpfs", b.runDir, "tmpfs", 0, "size=1M"))
	b.Cleanup(func() { b.noError(syscall.Unmount(b.runDir, syscall.MNT_DETACH)) })
}

// fill fills it, by the file that it returns.
func (b *bed) fill() (rest string) {
	b.Helper()
	rest = filepath.Join(b.runDir, "rest")
	if err := os.WriteFile(rest, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		b.Fatalf("the disk is not full: %v", err)
	}
	return rest
}

// TestFullRunDirectory: when the file system of the run directory is full, the logs are
// not whole, and the run says so.
func TestFullRunDirectory(t *testing.T) {
	b := newBed(t)
	b.smallRunDir()
	s := b.playing("pause.yaml", "running until")
	rest := b.fill()
	b.wantDoubt(s.end(), "s1: event log: write ", "no space left on device", "events are missing")
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	b.wantNothing()
}

// TestRestartWithFullDisk: a switch whose event log could not be written restarts in its process,
// with a log anew.
func TestRestartWithFullDisk(t *testing.T) {
	b := newBed(t)
	b.smallRunDir()
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	rest := b.fill()
	stats := func() (s observe.Switch, err error) {
		err = control.Call(filepath.Join(b.runDir, b.name, "s1", lab.ControlName), "stats", nil, &s)
		return s, err
	}
	b.must("slow", "h2", "1Mbit/s") // pauses are events
	b.must("start")
	b.await("an event is missing", func() bool {
		s, err := stats()
		return err == nil && len(s.Live.Problems) > 0
	})
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	if err := control.Call(filepath.Join(b.runDir, b.name, "s1", lab.ControlName), "restart", map[string]string{"detector": "itsy", "response": "none"}, nil); err != nil {
		t.Fatal(err)
	}
	b.await("the switch has restarted", func() bool {
		s, err := stats()
		return err == nil && s.Live.Restarts == 1 && len(s.Live.Problems) == 0
	})
	b.must("destroy")
	b.wantNothing()
}

// TestLinkIsGone: when a host's interface is deleted in the middle of a run, the run says
// so.
func TestLinkIsGone(t *testing.T) {
	b := newBed(t)
	s := b.playing("pause.yaml", "running until")
	b.must("exec", "h1", "ip", "link", "del", "eth0")
	b.wantDoubt(s.end(), "interface h1:eth0 is gone", "interface s1:to-h1 is gone")
	b.wantNothing()
}

// TestTwoRunsOfOneName: a run whose lab another one has removed says so, and leaves the
// other's lab alone.
func TestTwoRunsOfOneName(t *testing.T) {
	b := newBed(t)
	one := b.playing("pause.yaml", "running until")
	two := b.start(b.command("lab", "run", "--name", b.name, "--replace", "../../scenarios/pause.yaml"))
	two.await("running until")
	b.wantDoubt(one.end(), "another has its name now")
	if r := two.end(); strings.Contains(r.stdout, "not there any more") || strings.Contains(r.stdout, "does not answer") || strings.Contains(r.stdout, " is gone") {
		t.Errorf("the second run was disturbed by the first")
	}
	b.wantNothing()
}

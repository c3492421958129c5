package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
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

// lasting is pause.yaml at twice its length: time for what happens while it plays.
func (b *bed) lasting() string {
	b.Helper()
	return edited(b.T, "pause.yaml", "stop: 2s", "stop: 5s", "for: 1s", "for: 4s", "duration: 3s", "duration: 6s")
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
	s := b.playing(b.lasting(), "running until")
	rest := b.fill()
	b.wantDoubt(s.end(), "s1: event log: write ", "no space left on device", "events missing")
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	b.wantNothing()
}

// TestFullLog: that an event log is too short for a run is said before the run, and when the log is
// full; and the run is not valid for that.
func TestFullLog(t *testing.T) {
	b := newBed(t)
	r := b.run(b.command("lab", "run", "testdata/congested.yaml", "--name", b.name, "--set", "duration=6s", "--set", "events[0].rate=90Mbit/s", "--log-limit", "1"))
	b.wantDoubt(r, "leaf0: event log: it is full: live.log_limit_mib is 1; ", " events missing")
	before, said, _ := strings.Cut(r.stderr, "running until")
	if !strings.Contains(before, "warning: the event log of ") || !strings.Contains(before, "live.log_limit_mib is 1: ") || !strings.Contains(before, "--log-limit ") {
		b.Error("no warning before the run")
	}
	if during, _, _ := strings.Cut(said, "collecting"); !strings.Contains(during, "leaf0: event log: it is full") {
		b.Error("not said when it happened")
	}
}

// TestRestartWithFullDisk: a switch whose event log could not be written restarts in its process,
// with a log anew.
func TestRestartWithFullDisk(t *testing.T) {
	b := newBed(t)
	b.smallRunDir()
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	rest := b.fill()
	stats := func() (observe.Switch, error) { return b.stats("s1") }
	b.must("slow", "h2", "1Mbit/s") // pauses are events
	b.must("start")
	b.await("an event is missing", func() bool {
		s, err := stats()
		return err == nil && len(s.Live.Problems) > 0
	})
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	if s := b.restart("s1", "none"); len(s.Live.Problems) > 0 {
		t.Errorf("after it has restarted: %q", s.Live.Problems)
	}
	b.must("destroy")
	b.wantNothing()
}

// TestRestartTakesNoMore: a switch that has restarted ten times uses as much memory as one that has
// twice.
func TestRestartTakesNoMore(t *testing.T) {
	b := newLoneBed(t)
	b.must("deploy", "-t", "../../scenarios/pause.yaml", "--nodes-per-process", "1")
	nodes := b.inspect().Nodes
	pid := nodes[slices.IndexFunc(nodes, func(n netnslab.NodeReport) bool { return n.Name == "s1" })].PID
	used := func() (rss int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "VmRSS:")
		if _, err := fmt.Sscan(rest, &rss); err != nil {
			t.Fatal(err)
		}
		return rss
	}
	b.restart("s1", "none")
	b.restart("s1", "none")
	twice := used()
	for range 8 {
		b.restart("s1", "none")
	}
	if is := used(); is > twice*5/4 {
		t.Errorf("%d kB in use, %d after two restarts", is, twice)
	}
	b.must("destroy")
	b.wantNothing()
}

// stats asks a switch for its counters.
func (b *bed) stats(node string) (s observe.Switch, err error) {
	err = control.Call(b.socket(node), "stats", nil, &s)
	return s, err
}

// restart has a switch begin anew in its process, and waits until it has.
func (b *bed) restart(node, response string) (is observe.Switch) {
	b.Helper()
	was, err := b.stats(node)
	b.noError(err)
	b.noError(control.Call(b.socket(node), "restart", map[string]string{"detector": "itsy", "response": response}, nil))
	b.await(node+" has restarted", func() bool { // the one that ends may answer, too
		is, err = b.stats(node)
		return err == nil && is.Restarts > was.Restarts
	})
	return is
}

// TestLinkIsGone: when a host's interface is deleted in the middle of a run, the run says
// so.
func TestLinkIsGone(t *testing.T) {
	b := newBed(t, "ip")
	s := b.playing(b.lasting(), "running until")
	b.must("exec", "h1", "ip", "link", "del", "eth0")
	b.wantDoubt(s.end(), "interface h1:eth0 is gone", "interface s1:to-h1 is gone")
	b.wantNothing()
}

// TestTwoRunsOfOneName: a run whose lab another one has removed says so, and leaves the
// other's lab alone.
func TestTwoRunsOfOneName(t *testing.T) {
	b := newBed(t)
	file := b.lasting()
	one := b.playing(file, "running until")
	two := b.playing(file, "running until", "--replace")
	b.wantDoubt(one.end(), "another has its name now")
	if r := two.end(); strings.Contains(r.stdout, "not there any more") || strings.Contains(r.stdout, "does not answer") || strings.Contains(r.stdout, " is gone") {
		t.Errorf("the second run was disturbed by the first")
	}
	b.wantNothing()
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// playing starts `lab run` and waits until it says text.
func (b *bed) playing(file, text string) *started {
	b.Helper()
	s := b.start(b.command("lab", "run", "--name", b.name, filepath.Join("../../scenarios", file)))
	s.await(text)
	return s
}

// TestKilledRun: kill -9 of `lab run` midway, and of some of its switches, leaves
// nothing that `lab destroy` does not find.
func TestKilledRun(t *testing.T) {
	b := newBed(t)
	s := b.playing("fattree-on-loop.yaml", "running until")
	s.signal(os.Kill)
	s.end()
	if n := len(b.namespaces()); n != 36 {
		t.Fatalf("%d namespaces after the kill, want 36: the test proves nothing", n)
	}
	for _, n := range b.inspect().Nodes {
		if strings.HasPrefix(n.Name, "core") {
			if err := syscall.Kill(n.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.must("destroy")
	b.wantNothing()
	if r := b.must("destroy"); !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("a second destroy says %q", r.stderr)
	}
}

// TestInterrupt: Ctrl-C removes the lab, while it is built and while it runs.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"while it is built", "fattree-on-loop.yaml", "  namespaces "},
		{"while it runs", "pause.yaml", "running until"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			s := b.playing(c.file, c.text)
			s.signal(os.Interrupt)
			r := s.end()
			if r.code != exitError || !strings.Contains(r.stdout, "softswitch: interrupted: ") {
				t.Errorf("exit status %d, want %d and a word of the interrupt", r.code, exitError)
			}
			b.wantNothing()
		})
	}
}

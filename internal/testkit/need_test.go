package testkit

import (
	"strings"
	"testing"
)

// skipped is a test that notes what it is skipped for.
type skipped struct {
	testing.TB
	why string
}

func (s *skipped) Helper()         {}
func (s *skipped) Skip(why ...any) { s.why = why[0].(string) }

// TestNeed: what is missing is named, all of it, and where it comes from; nothing else is.
func TestNeed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := &skipped{TB: t}
	Need(s)
	if s.why != "" {
		t.Errorf("a test that needs nothing is skipped: %s", s.why)
	}
	Need(s, "ping", "tshark", "ls")
	for _, want := range []string{"ping (Debian package iputils-ping)", "tshark (Debian package tshark)", "ls (Debian package coreutils)"} {
		if !strings.Contains(s.why, want) {
			t.Errorf("skipped for %q, without %q", s.why, want)
		}
	}
	s.why = ""
	Need(s, "/proc/self/exe")
	if s.why != "" {
		t.Errorf("a program that is there: %s", s.why)
	}
}

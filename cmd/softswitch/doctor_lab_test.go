package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	netnslab "softswitch/netns-lab"
	"softswitch/play/rates"
)

// TestDoctorLab: the doctor finds a rate that a small lab holds, by runs at it, and leaves
// nothing behind.
func TestDoctorLab(t *testing.T) {
	b := newLoneBed(t)
	var cmd *exec.Cmd
	var r result
	var f rates.Finding
	b.untilValid(func() string {
		cmd = b.command("doctor", "--lab", "k=2", "--runs", "1", "--seconds", "1", "--json")
		r = b.run(cmd)
		f = rates.Finding{}
		if err := json.Unmarshal([]byte(r.stdout), &f); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Steps {
			if s.Held || !strings.HasPrefix(s.Runs[len(s.Runs)-1].Why, "not valid: ") {
				return ""
			}
		}
		return "no run of any rate was"
	})
	if r.code != 0 || f.Held == 0 || f.Nodes != 7 || f.Took == 0 {
		t.Errorf("exit status %d, finding %+v", r.code, f)
	}
	for _, s := range f.Steps {
		last := s.Runs[len(s.Runs)-1]
		if s.Held != (last.Why == "") || s.Held && (s.Rate > f.Held || last.Lost > 0 || last.Headroom == nil) || !s.Held && s.Rate < f.NotHeld {
			t.Errorf("holds %d, not %d: %+v", f.Held, f.NotHeld, s)
		}
		if line := fmt.Sprintf(" %s\n", last); !strings.Contains(r.stderr, line) {
			t.Errorf("it did not say %q", line)
		}
	}
	b.wantNothingOf(fmt.Sprintf("doctor%d", cmd.Process.Pid))
}

// TestDoctorLabInterrupted: Ctrl-C between two runs, or in one, leaves nothing behind either.
func TestDoctorLabInterrupted(t *testing.T) {
	b := newBed(t)
	s := b.start(b.command("doctor", "--lab", "k=2", "--runs", "100", "--seconds", "1"))
	s.await("% arrived")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != cli.ExitError || !strings.Contains(r.stdout, "interrupted") {
		t.Errorf("exit status %d", r.code)
	}
	b.wantNothingOf(fmt.Sprintf("doctor%d", s.cmd.Process.Pid))
}

func (b *bed) wantNothingOf(lab string) {
	b.Helper()
	if names, err := filepath.Glob(filepath.Join(netnslab.NamespaceDir, lab+"-*")); err != nil || len(names) > 0 {
		b.Errorf("left behind: %v, %v", names, err)
	}
	b.wantNothing()
}

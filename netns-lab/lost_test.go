package netnslab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netns"

	"softswitch/internal/testkit"
)

// TestLostRecord: whatever became of the record, the lab is found by its marks and removed,
// and nothing else is.
func TestLostRecord(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"no text":      func(dir string) error { return os.WriteFile(filepath.Join(dir, stateName), nil, 0o644) },
		"no JSON":      func(dir string) error { return os.WriteFile(filepath.Join(dir, stateName), []byte("{"), 0o644) },
		"no record":    func(dir string) error { return os.Remove(filepath.Join(dir, stateName)) },
		"no directory": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.up(b.lab())
			if err := lose(Dir(b.name)); err != nil {
				t.Fatal(err)
			}
			processes := b.processes()
			for what, err := range map[string]error{"Down": Down(b.name, nil), "Up": second(Up(t.Context(), b.lab(), nil))} {
				if err == nil || !strings.Contains(err.Error(), "softswitch lab destroy --lost "+b.name) || !strings.Contains(err.Error(), b.name+"-h1") {
					t.Errorf("%s: error %v, want what there is of the lab and what to do", what, err)
				}
			}
			if got := b.processes(); !slices.Equal(got, processes) || len(got) != 3 || len(b.namespaces()) != 3 {
				t.Errorf("processes %v and namespaces %v, want all as before, %v", got, b.namespaces(), processes)
			}
			var said bytes.Buffer
			if err := DownLost(b.name, &said); err != nil {
				t.Errorf("%v; it said %s", err, &said)
			}
			for _, n := range []string{"s0", "h0", "h1"} {
				if !strings.Contains(said.String(), filepath.Join(NamespaceDir, b.name+"-"+n)) {
					t.Errorf("it did not say that it removes %s: %s", n, &said)
				}
			}
			b.wantNothing()
		})
	}
}

// TestLostRecordLeavesOthersAlone: a namespace of such a name that bears no mark, one of a
// lab of another run directory, a process with another lab's token in the lab's
// directory's neighbour, a file.
func TestLostRecordLeavesOthersAlone(t *testing.T) {
	b := newBench(t)
	testkit.Need(t, "sleep")
	home := RunDir()
	other := t.TempDir()
	t.Setenv(RunDirVariable, other)
	foreign := b.lab()
	foreign.Name += "-h9" // its namespaces are called as the lab's could be
	b.up(foreign)
	theirs := b.processes()
	t.Setenv(RunDirVariable, home)

	st := b.up(b.lab())
	ns, err := createNamespace(b.name+"-plain", func(uint64, uint64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	ns.Close()
	stranger := exec.Command("sleep", "infinity")
	stranger.Dir, stranger.Env = filepath.Join(Dir(b.name), "h0"), os.Environ() // started there, without a token
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	note := filepath.Join(Dir(b.name), "note")
	if err := os.WriteFile(note, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(st.dir, stateName)); err != nil {
		t.Fatal(err)
	}

	var said bytes.Buffer
	if err := DownLost(b.name, &said); err != nil {
		t.Error(err)
	}
	for _, left := range []string{b.name + "-plain", note} {
		if !strings.Contains(said.String(), "left alone: "+left) && !strings.Contains(said.String(), "left alone: "+filepath.Join(NamespaceDir, left)) {
			t.Errorf("it does not say that %s was left alone: %s", left, &said)
		}
	}
	if stat, err := readStat(stranger.Process.Pid); err != nil || stat.State == "Z" {
		t.Errorf("a process without a token was ended: %+v, %v", stat, err)
	}
	if !exists(note) {
		t.Error("a file of others was removed")
	}
	if err := netns.DeleteNamed(b.name + "-plain"); err != nil {
		t.Errorf("a namespace of others: %v", err)
	}
	t.Setenv(RunDirVariable, other)
	if got := b.processes(); !slices.Equal(got, theirs) || len(b.namespaces()) != 3 {
		t.Errorf("of the other lab: processes %v, namespaces %v, want %v and all 3", got, b.namespaces(), theirs)
	}
	if err := Down(foreign.Name, nil); err != nil {
		t.Error(err)
	}
	t.Setenv(RunDirVariable, home)
	stranger.Process.Kill()
	stranger.Wait()
	if err := os.RemoveAll(Dir(b.name)); err != nil {
		t.Fatal(err)
	}
}

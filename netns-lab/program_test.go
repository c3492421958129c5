package netnslab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"softswitch/internal/testkit"
)

// TestProgram: a node may have programs beside its process, one of a name, which end when told to, or with
// the lab.
func TestProgram(t *testing.T) {
	testkit.Need(t, "sleep", "sh")
	b := newBench(t)
	st := b.up(b.lab())
	setUp := ""
	p := Program{Node: "h0", Name: "beside", Command: []string{"sh", "-c", "echo says; exec sleep infinity"}, SetUp: func(dir string) error {
		setUp = dir
		return nil
	}}
	launch := func() {
		t.Helper()
		must(t, st.Launch(p))
	}
	launched := func(want ...string) {
		t.Helper()
		nodes, err := st.Launched("beside")
		must(t, err)
		if len(nodes) != len(want) || len(want) > 0 && nodes[0].Name != want[0] {
			t.Errorf("launched on %v, want %v", nodes, want)
		}
	}
	launched()
	launch()
	if want := filepath.Join(Dir(b.name), "h0", "beside"); setUp != want {
		t.Errorf("set up in %q, want %q", setUp, want)
	}
	launched("h0")
	if err := st.Launch(p); err == nil {
		t.Error("two programs of one name")
	}
	ended := make(chan error, 1)
	go func() { ended <- st.Ended(context.Background(), "h0", "beside") }()
	if was, err := st.End("h0", "beside"); !was || err != nil {
		t.Errorf("end: %t, %v", was, err)
	}
	if err := <-ended; err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("ended: %v", err)
	}
	if err := st.Ended(context.Background(), "h0", "beside"); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("of a program that has ended: %v", err)
	}
	if was, err := st.End("h0", "beside"); was || err != nil {
		t.Errorf("end again: %t, %v", was, err)
	}
	launched()
	p.SetUp = func(string) error { return errors.New("no") }
	if err := st.Launch(p); err == nil {
		t.Error("a program whose node could not be prepared")
	}
	launched()
	p.SetUp = func(string) error { return nil }
	launch()
	b.down()
	if err := st.Launch(p); err == nil {
		t.Error("a program of a lab that was removed")
	}
}

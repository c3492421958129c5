package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"softswitch/internal/testkit"
)

// TestNS3: the ring of Hu et al. has the same frames in ns-3 and in softswitch. With another length of
// frames on the wire it has not, which the script notices.
func TestNS3(t *testing.T) {
	testkit.LongOnly(t)
	testkit.Need(t, "python3", "g++")
	tree := scriptTree(t)
	type result struct {
		Frames int      `json:"frames"`
		Same   int      `json:"frames_same"`
		Ring   []string `json:"ring"`
		Agree  bool     `json:"agree"`
	}
	compare := func(want int, flags ...string) result {
		t.Helper()
		c := exec.Command("python3", append([]string{filepath.Join(tree, "scripts", "ns3", "compare.py"), "ring", "--json"}, flags...)...)
		var out, say bytes.Buffer
		c.Stdout, c.Stderr = &out, &say
		err := c.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		code := c.ProcessState.ExitCode()
		if code == 2 && bytes.Contains(say.Bytes(), []byte("apt-get install")) {
			t.Skip(say.String())
		}
		var of []result
		if err := json.Unmarshal(out.Bytes(), &of); code != want || err != nil || len(of) != 1 {
			t.Fatalf("exit status %d, want %d; %v: %s%s", code, want, err, &out, &say)
		}
		return of[0]
	}
	if r := compare(0); !r.Agree || r.Frames < 3000 || r.Same != r.Frames || len(r.Ring) != 4 {
		t.Errorf("%+v, want some 3000 frames, all the same, and a ring of four ports", r)
	}
	if r := compare(1, "--overhead", "0"); r.Agree || r.Same == r.Frames {
		t.Errorf("frames without preamble and gap: %+v, want other frames", r)
	}
}

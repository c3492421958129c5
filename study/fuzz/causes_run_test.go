package fuzz_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
	"softswitch/study/fuzz"
	"softswitch/study/shard"
)

// smallerCase is a case in which a detector that never speaks is wrong, and what its file has to say
// still when it is small.
type smallerCase struct {
	seed   uint64
	number int
	keeps  []string
}

// TestSmallerCause: a case in which the detector is wrong is made smaller, and keeps what
// was planted.
func TestSmallerCause(t *testing.T) {
	d, err := catalog.Named("test", catalog.None)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	loop := smallerCase{plantedSeed, 6, []string{"\n# planted: routing-loop: s1 and s0 send what is for s2", "- {at: s1, to: s2, ports: [s0]}"}}
	storm := smallerCase{1, 0, []string{"\n# planted: storm: host", "do: storm"}}
	for _, c := range testkit.Sized([]smallerCase{loop}, []smallerCase{loop, storm}) {
		var size [2]int
		for shrink := range 2 {
			r := fuzz.Run{
				N: 11, Seed: c.seed, Mode: fuzz.Cause, Part: shard.Part{Number: c.number + 1, Of: 11}, Detectors: []catalog.Detector{d},
				Workers: 1, Out: "failed", Shrink: shrink, Progress: io.Discard,
			}
			if _, err := r.Play(context.Background()); err != nil {
				t.Fatal(err)
			}
			files := takeFailed(t)
			if len(files) != 1 {
				t.Fatalf("seed %d: %d files, want 1", c.seed, len(files))
			}
			for name, text := range files {
				for _, want := range c.keeps {
					if !strings.Contains(text, want) {
						t.Errorf("%s: no %q in\n%s", name, want, text)
					}
				}
				size[shrink] = len(text)
			}
		}
		if size[1]*3 > size[0]*2 {
			t.Errorf("seed %d: %d bytes, before it was made smaller %d", c.seed, size[1], size[0])
		}
	}
}

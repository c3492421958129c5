package compare

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/study/shard"
	"softswitch/study/shard/shardtest"
)

// TestShards: all shards merged are the whole comparison, in words, as JSON and as a page.
func TestShards(t *testing.T) {
	choice := Choice{World: "sim", Scenarios: []string{"shpiner-fig4", "hu-fig4", "itsy-fig2"}, Systems: []string{"none", "itsy+drop", "tagger"}, Runs: 2, From: 1}
	parts := testkit.Sized([]int{2}, []int{2, 5})
	if !testkit.Long() { // one scenario has all
		choice.Scenarios, choice.Runs = choice.Scenarios[:1], 1
	}
	matrix := func() *Matrix {
		m, err := choice.Matrix(nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	whole, err := matrix().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range parts {
		merged, err := Merge(shardtest.Join(t, of, func(p shard.Part) shardtest.Written {
			f, err := matrix().RunPart(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := written(t, merged), written(t, whole); got != want {
			t.Errorf("%d shards:\n%s\nwhole\n%s", of, got, want)
		}
	}
	choice.World, choice.Scenarios = "live", nil
	if _, err := matrix().RunPart(t.Context(), shard.Part{Number: 1, Of: 2}); err == nil || !strings.Contains(err.Error(), "--world sim") {
		t.Errorf("a part of a live comparison: %v", err)
	}
}

// written is all that is made of a comparison.
func written(t *testing.T, c *Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(c); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.WriteText(&b), c.WriteHTML(&b, nil), c.WriteMarkdown(&b, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

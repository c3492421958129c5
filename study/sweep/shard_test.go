package sweep

import (
	"bytes"
	"testing"

	"softswitch/study/shard"
	"softswitch/study/shard/shardtest"
)

// TestShards: the rows of all shards are those of the whole sweep, in either format, with
// more shards than runs too.
func TestShards(t *testing.T) {
	for _, format := range []Format{CSV, JSONLines} {
		for _, of := range []int{1, 3, 11} {
			w := shardtest.Join(t, of, func(p shard.Part) shardtest.Written {
				c, err := sweepOf(t, 2, 2, eight...).Check(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				f, err := c.PlayPart(t.Context(), p, format)
				if err != nil {
					t.Fatal(err)
				}
				return f
			})
			var merged bytes.Buffer
			if err := Merge(w, &merged); err != nil {
				t.Fatal(err)
			}
			if whole := written(t, sweepOf(t, 2, 2, eight...), format); merged.String() != whole {
				t.Errorf("%d shards, format %d:\n%s\nwhole\n%s", of, format, &merged, whole)
			}
		}
	}
}

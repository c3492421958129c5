package fuzz

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"testing"

	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/internal/progress"
	"softswitch/internal/testkit"
	"softswitch/sim"
)

// A case says the same, to the byte, in one partition and in several that are played at
// once.
func TestPartitionsAreTheSame(t *testing.T) {
	seed, n := testkit.Seed(t), testkit.Sized(8, 60)
	modes := append(slices.Clone(Modes), Jumbo, RDMA)
	// The first deadlocks by flooding, as few do: found by playing the cases of seed 1 in turn. In the second
	// a router tells of frames, in slots that PFC frames with a label have made longer.
	cases := []*Case{New(1, 1, Loss), New(12905847598765337177, 7, Expiry)}
	for i := range n {
		cases = append(cases, New(seed, i, modes[i%len(modes)]))
	}
	lines, flooding := 0, 0
	for i, c := range cases {
		want, said, kinds := playPartitions(t, c, 1)
		lines, flooding = lines+said, flooding+kinds
		partitions := []int{2, 3, 7}
		if i > 0 && !testkit.Long() { // one of them in turn
			partitions = partitions[i%3 : i%3+1]
		}
		for _, p := range partitions {
			if got, _, _ := playPartitions(t, c, p); got != want {
				t.Errorf("seed %d, case %d, mode %s: %d partitions give another trace or verdict", c.Seed, c.Index, c.Mode, p)
			}
		}
	}
	if lines < 100*n || flooding == 0 {
		t.Errorf("%d events and %d deadlocks of flooding in %d cases: this proves little", lines, flooding, n)
	}
}

// playPartitions returns the sum of the trace and the verdict of a case, how many events
// the trace has, and how many deadlocks of flooding there were.
func playPartitions(t *testing.T, c *Case, partitions int) (sum [sha256.Size]byte, lines, flooding int) {
	t.Helper()
	h, line := sha256.New(), []byte(nil)
	w, _, err := c.World("itsy", itsy.New, sim.Options{
		Partitions: partitions,
		Each:       progress.AtOnce,
		Events: func(n event.Node, e event.Event) {
			line = n.Append(line[:0], e)
			h.Write(line)
			lines++
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	h.Write(text)
	for _, d := range w.Result().Deadlocks {
		if d.Flooded {
			flooding++
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), lines, flooding
}

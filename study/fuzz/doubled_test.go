package fuzz

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/sim"
)

// Wires that make two of frames bring no false declaration and no miss: a
// verification counts the acknowledgements of what it has sent, and once ended when one came twice.
func TestDoubledFrames(t *testing.T) {
	seed, deadlocks, judged := testkit.Seed(t), 0, 0
	n := testkit.Sized(100, 3000)
	for i := range n {
		c := New(seed, i, Usual)
		text := strings.Replace(string(c.Text(itsy.Name, "")), "topology:\n", "topology:\n  duplicate: 20%\n", 1)
		s, err := scenario.Parse(c.Name(), []byte(text), scenario.Known{Detectors: []string{itsy.Name}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sim.New(plan, sim.Options{Seed: c.Wires, Slots: 2 * c.slots(), Detectors: map[string]detect.Factory{itsy.Name: itsy.New}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		if v.Invalid != "" || lostOf(w, plan) != "" { // headroom is for what is sent, and not for copies of it
			continue
		}
		judged++
		o := c.Judge(w.Result())
		deadlocks += len(o.Knots)
		if f := o.Failure(); f != "" {
			t.Errorf("seed %d, case %d: %s", seed, i, f)
		}
	}
	t.Logf("%d deadlocks in %d cases that are valid, of %d", deadlocks, judged, n)
	if judged < n/2 || deadlocks < judged/4 {
		t.Errorf("seed %d: %d of %d cases valid, with %d deadlocks", seed, judged, n, deadlocks)
	}
}

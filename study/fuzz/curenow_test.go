package fuzz

import (
	"slices"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/itsy"
	"softswitch/detect/respond"
	"softswitch/internal/stat"
	"softswitch/internal/testkit"
	"softswitch/sim"
	"softswitch/unit"
)

// TestCureNow: a deadlock that has stood until the middle of the run is cured by a response that is given
// then, about as often as one that is there from the beginning cures it; and never without.
func TestCureNow(t *testing.T) {
	seed := testkit.Seed(t)
	cure, err := respond.Parse("cure")
	if err != nil {
		t.Fatal(err)
	}
	var standing, late, early, never int
	enough := testkit.Sized(5, 20)
	for index := 0; index < testkit.Sized(60, 1000) && (testkit.Long() || standing < enough); index++ {
		stood, gone := cureNow(t, seed, index, cure)
		if !stood {
			continue
		}
		standing++
		count(&late, gone)
		_, left := cureNow(t, seed, index, respond.Policy{})
		count(&never, left)
		_, v, err := newCase(seed, index, false).run(itsy.Name, respond.New(itsy.New, cure))
		if err != nil {
			t.Fatal(err)
		}
		count(&early, v.Recovered || !v.Deadlock)
	}
	t.Logf("%d deadlocks stood at the middle: gone at the end %s with cure from then on, %s with it from the beginning", standing, stat.Share{Of: standing, N: late}, stat.Share{Of: standing, N: early})
	switch {
	case standing < enough:
		t.Errorf("only %d deadlocks stood", standing)
	case never > 0:
		t.Errorf("%d were gone without a response", never)
	case late < early-standing/20:
		t.Errorf("%d of %d were cured: %d where cure is there from the beginning", late, standing, early)
	}
}

// cureNow plays a case without a response until the middle and with p from then on. stood: a deadlock
// was declared by then and stands; gone: no queue is stuck at the end.
func cureNow(t *testing.T, seed uint64, index int, p respond.Policy) (stood, gone bool) {
	t.Helper()
	c := newCase(seed, index, false)
	plan, err := c.Plan(catalog.None)
	if err != nil {
		t.Fatal(err)
	}
	middle := plan.Scenario.Duration / 2
	var w *sim.World
	opt := sim.Options{SampleAt: slices.Values([]unit.Time{middle, middle + unit.Microsecond}), Sample: func(now unit.Time, w *sim.World) {
		stood = stood || !w.Stuck().Empty()
		w.EachSwitch(func(s *dataplane.Switch) {
			if !respond.Change(s.Detector(), p, now > middle) {
				t.Fatalf("seed %d case %d: a detector takes no response", seed, index)
			}
		})
	}}
	if w, _, err = c.World(itsy.Name, respond.NewChangeable(itsy.New, respond.Policy{}), opt); err != nil {
		t.Fatal(err)
	}
	if _, err = w.Run(); err != nil {
		t.Fatal(err)
	}
	return stood, w.Stuck().Empty()
}

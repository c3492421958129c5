package sim

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"softswitch/unit"
)

// atOnce is an Options.Each with a goroutine for each call.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// Windows longer than the links' delay would be another simulation: the test of the traces
// sees it.
func TestWindowsThatAreTooLong(t *testing.T) {
	p := plan(t, permutation("300us"))
	want := run(t, p, 7, nil)
	for factor, same := range map[unit.Time]bool{1: true, 20: false} {
		tr := newTracer()
		w, err := New(p, Options{Seed: 7, Detectors: detectors, Events: tr.event, Partitions: 3})
		if err != nil {
			t.Fatal(err)
		}
		w.ahead *= factor
		_, err = w.Play() // the oracle may see that times go back
		if got := fmt.Sprintf("%x", tr.sum.Sum(nil)); (err == nil && got == want.trace) != same {
			t.Errorf("%d times the delay: %v, trace %.8s, alone %v", factor, err, got, want)
		}
	}
}

// What reads the whole fabric while it is played, and links without a delay, need one
// partition.
func TestOnePartition(t *testing.T) {
	for name, opt := range map[string]Options{
		"sample": {Sample: func(unit.Time, *World) {}, SampleEvery: unit.Millisecond},
		"no":     {},
	} {
		text := pair("")
		if name == "no" {
			text = strings.Replace(text, "  delay: 10us\n", "  delay: 0us\n", 1)
		}
		opt.Detectors, opt.Partitions = detectors, 2
		w, err := New(plan(t, text), opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.parts) != 1 {
			t.Errorf("%s delay: %d partitions", name, len(w.parts))
		}
	}
}

// An error in a partition, or of whoever watches, ends the run with it.
func TestPartitionFails(t *testing.T) {
	enough, calls := errors.New("enough"), 0
	for want, opt := range map[string]Options{
		"than 50 slots hold": {Slots: 50 + slotsMargin},
		enough.Error(): {Watch: func(unit.Time) error {
			if calls++; calls < 100 {
				return nil
			}
			return enough
		}},
	} {
		want = strings.Replace(want, "50", fmt.Sprint(50+slotsMargin), 1)
		opt.Detectors, opt.Partitions, opt.Each = detectors, 4, atOnce
		w, err := New(plan(t, ring), opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

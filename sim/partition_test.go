package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"softswitch/internal/progress"
	"softswitch/unit"
)

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
	for _, c := range []struct {
		delay  string
		sample func(unit.Time, *World)
		want   int
	}{
		{"10us", nil, 2},
		{"10us", func(unit.Time, *World) {}, 1},
		{"0us", nil, 1},
	} {
		p := plan(t, strings.Replace(pair(""), "delay: 10us", "delay: "+c.delay, 1))
		w, err := New(p, Options{Detectors: detectors, Partitions: 3, Sample: c.sample, SampleAt: Every(unit.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(w.partitions); got != c.want {
			t.Errorf("delay %s, sampled %v: %d partitions, want %d", c.delay, c.sample != nil, got, c.want)
		}
	}
}

// An error in a partition, or of whoever watches, ends the run with it.
func TestPartitionFails(t *testing.T) {
	calls := 0
	watch := func(unit.Time) error {
		if calls++; calls < 100 {
			return nil
		}
		return errors.New("seen enough")
	}
	const few = slotsMargin + 50
	for want, opt := range map[string]Options{fmt.Sprintf("than %d slots hold", few): {Slots: few}, "seen enough": {Watch: watch}} {
		opt.Detectors, opt.Partitions, opt.Each = detectors, 4, progress.AtOnce
		w, err := New(plan(t, ring), opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

package fuzz

import (
	"reflect"
	"testing"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// thinned are logs without most of the repeated pauses, as nodes write them in batches, and how many
// of the sent ones no event tells of: those of pauses that are in force at the end.
func thinned(logs []event.Log) (thin []event.Log, untold int) {
	for _, l := range logs {
		var r event.Refreshes
		t := event.Log{Node: l.Node}
		for i := 0; i < len(l.Events); i += 64 {
			t.Events = append(t.Events, r.Thin(l.Events[i:min(i+64, len(l.Events))])...)
		}
		sent, _ := r.LeftOut()
		thin, untold = append(thin, t), untold+sent
	}
	return thin, untold
}

// length is how many events logs have.
func length(logs []event.Log) (n int) {
	for _, l := range logs {
		n += len(l.Events)
	}
	return n
}

// wantSame wants the same of logs and of what is left of them without repeated pauses. It returns how
// many events were left out, and how many deadlocks there are.
func wantSame(t *testing.T, name string, f *oracle.Fabric, logs []event.Log, end, late unit.Time) (out, deadlocks int) {
	t.Helper()
	whole, err := oracle.Judge(f, logs, end, late)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	thin, untold := thinned(logs)
	got, err := oracle.Judge(f, thin, end, late)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got.Frames.Refresh += untold
	if !reflect.DeepEqual(whole, got) {
		t.Errorf("%s: the verdict is another one without repeated pauses: findings %v and %v, frames %+v and %+v", name, whole.Findings, got.Findings, whole.Frames, got.Frames)
	}
	return length(logs) - length(thin), len(whole.Deadlocks)
}

// TestThinShipped: the verdict about each shipped scenario is the same without repeated pauses; of a few
// in make test.
func TestThinShipped(t *testing.T) {
	t.Parallel()
	out, deadlocks := 0, 0
	for i, name := range scenarios.Names() {
		if i%testkit.Sized(8, 1) != 0 {
			continue
		}
		var logs logsOf
		s := simtest.Shipped(t, name, "itsy")
		w := simtest.World(t, s, sim.Options{Detectors: map[string]detect.Factory{"itsy": itsy.New}, Events: logs.add})
		simtest.RunWorld(t, w)
		plan := simtest.Compile(t, s)
		f, err := verdict.Fabric(plan.Fabric, verdict.Buffers(plan))
		if err != nil {
			t.Fatal(err)
		}
		n, locked := wantSame(t, name, f, logs.all, s.Duration, lateHops*50*unit.Microsecond)
		out, deadlocks = out+n, deadlocks+locked
	}
	if out == 0 || deadlocks == 0 {
		t.Errorf("%d events left out, %d deadlocks: it proves nothing", out, deadlocks)
	}
}

// TestThinRandom: so is that about random cases, by one clock; and by several, nothing is wrong.
func TestThinRandom(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	detector, err := catalog.Named("detector", "itsy")
	if err != nil {
		t.Fatal(err)
	}
	out, deadlocks := 0, 0
	for i := range testkit.Sized(20, 2000) {
		c := New(seed, i, Modes[i%len(Modes)])
		f, logs, end, err := run(c, detector)
		if err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		n, locked := wantSame(t, c.Name(), f, logs, end, lateHops*c.Lap(1))
		out, deadlocks = out+n, deadlocks+locked
		thin, _ := thinned(logs)
		if o := judgeClocks(f, thin, end, c.Lap(1), random(seed, i)); o.Wrong+o.WrongMissed > 0 || o.Invalid != "" {
			t.Errorf("%s: by several clocks: %s%s", c.Name(), o.Why, o.Invalid)
		}
	}
	if out == 0 || deadlocks == 0 {
		t.Errorf("%d events left out, %d deadlocks: it proves nothing", out, deadlocks)
	}
	t.Logf("%d events left out, %d deadlocks", out, deadlocks)
}

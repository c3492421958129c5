package fuzz

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/unit"
)

// detectorOf is a detector by name.
func detectorOf(t *testing.T, name string) catalog.Detector {
	t.Helper()
	d, err := catalog.Named("test", name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// knownSeed is one of whose first cases a few are judged otherwise after a merge by constant
// offsets, and a few have clocks that step: the first that was tried.
const clocksSeed = 1

// TestNothingIsWrong: whatever the clocks do, several never say other than one, and they
// leave little undecided. A merge by constant offsets is wrong, so what is wrong shows.
func TestNothingIsWrong(t *testing.T) {
	t.Run("known", func(t *testing.T) { nothingIsWrong(t, clocksSeed, 20, true) })
	t.Run("random", func(t *testing.T) {
		n := testkit.Sized(8, 300)
		nothingIsWrong(t, testkit.Seed(t), n, n >= 100)
	})
}

// nothingIsWrong plays so many cases of a seed; it wants every kind of thing to happen in them, if
// they are known or many.
func nothingIsWrong(t *testing.T, seed uint64, n int, all bool) {
	t.Helper()
	run := &Run{Seed: seed, Mode: Clocks, Detectors: []catalog.Detector{detectorOf(t, "itsy")}}
	r := newClocksReport(run)
	var near, undecided []int // by case
	for i := range n {
		o := playClocks(run, i)
		if o.Invalid != "" {
			t.Errorf("seed %d, case %d is invalid: %s", seed, i, o.Invalid)
		}
		r.Add(i, &o)
		near, undecided = append(near, o.Near), append(undecided, o.NearUndecided)
	}
	for _, why := range r.Wrongs {
		t.Error(why)
	}
	if !r.Clean() || all && (r.Findings < n/2 || r.Naive == 0 || r.Steps == 0) {
		t.Errorf("%+v", r)
	}
	if low := lowOf(undecided, near); all && low > 0.05 {
		t.Errorf("undecided of the findings whose time is known to less than a hop: %v, by cases at least %.3f", r.NearUndecided, low)
	}
}

// lowOf is the lower end of the 95 % interval of the share that n are of all, each summed up over
// cases, of which there are many. What comes of one case goes together: a clock that is not known
// well leaves all its findings undecided. So it is cases that vary (Cochran, Sampling Techniques,
// 3rd ed., 2.11: the ratio estimate), and not findings, of which Wilson's interval is.
func lowOf(n, all []int) float64 {
	sum := func(of []int) (s float64) {
		for _, k := range of {
			s += float64(k)
		}
		return s
	}
	share, squares, cases := sum(n)/sum(all), 0.0, float64(len(n))
	for i := range n {
		off := float64(n[i]) - share*float64(all[i])
		squares += off * off
	}
	return share - 1.96*math.Sqrt(squares*cases/(cases-1))/sum(all)
}

// TestLowOf: cases whose findings go together tell less than as many findings that do not.
func TestLowOf(t *testing.T) {
	var alone, together, of1, of10 []int
	for i := range 1000 {
		alone, of1 = append(alone, map[bool]int{true: 1}[i%10 == 0]), append(of1, 1)
	}
	for i := range 100 {
		together, of10 = append(together, map[bool]int{true: 10}[i%10 == 0]), append(of10, 10)
	}
	// sqrt(0.1 x 0.9 / n) of n that are independent, and n/(n-1) of that
	if a, b := lowOf(alone, of1), lowOf(together, of10); math.Abs(a-0.0814) > 1e-4 || math.Abs(b-0.0409) > 1e-4 {
		t.Errorf("of 1000 cases of one at least %.4f, of 100 of ten %.4f; want 0.0814 and 0.0409", a, b)
	}
}

// TestOneClock: with all nodes on one clock the judgement by bounds is the one without,
// whatever was declared.
func TestOneClock(t *testing.T) {
	seed, d := testkit.Seed(t), detectorOf(t, "itsy")
	r := random(seed, 0)
	for i := range testkit.Sized(20, 60) {
		c := New(seed, i, Modes[i%len(Modes)])
		f, logs, end, err := run(c, d)
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		if i%2 == 0 {
			guessFindings(logs, end, r)
		}
		truth, err := oracle.Judge(f, logs, end, lateHops*c.Lap(1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := oracle.JudgeBounds(f, logs, oracle.Clocks{By: make([]int, len(logs))}, end, lateHops*c.Lap(1))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Findings, truth.Findings) || !reflect.DeepEqual(got.Intervals, truth.Intervals) || len(got.Undecided) > 0 {
			t.Fatalf("seed %d, case %d:\n%+v\n%+v\n%v, undecided %v\nby one clock:\n%+v\n%+v\n%v", seed, i, got.Findings, got.Deadlocks, got.Intervals, got.Undecided, truth.Findings, truth.Deadlocks, truth.Intervals)
		}
		if a, b := got.Missed(), truth.Missed(); len(a) != len(b) {
			t.Fatalf("seed %d, case %d: missed %v, by one clock %v", seed, i, a, b)
		}
		if !reflect.DeepEqual(got.Timeline, truth.Timeline) {
			t.Fatalf("seed %d, case %d: %v\nby one clock %v", seed, i, got.Timeline, truth.Timeline)
		}
	}
}

// TestClocksCanary: each mistake of a judgement is counted.
func TestClocksCanary(t *testing.T) {
	var truth *oracle.Result
	for i := 0; truth == nil || len(truth.Missed()) == 0 || len(truth.Findings) == 0; i++ {
		c := New(1, i, Usual)
		f, logs, end, err := run(c, detectorOf(t, "itsy"))
		if err != nil {
			t.Fatal(err)
		}
		guessFindings(logs, end, random(1, i))
		if truth, err = oracle.Judge(f, logs, end, 0); err != nil {
			t.Fatal(err)
		}
	}
	for name, mistake := range map[string]func(r *oracle.Result){
		"outcome":   func(r *oracle.Result) { r.Findings[0].Outcome = (r.Findings[0].Outcome + 1) % oracle.Undecided },
		"forgotten": func(r *oracle.Result) { r.Findings = r.Findings[1:] },
		"missed": func(r *oracle.Result) {
			r.Deadlocks = slices.DeleteFunc(r.Deadlocks, func(d oracle.Deadlock) bool { return len(d.Declarers) == 0 })
		},
		"not missed": func(r *oracle.Result) {
			r.Deadlocks = append(r.Deadlocks, oracle.Deadlock{Knot: true, Queues: []oracle.Queue{{Priority: 7}}})
		},
	} {
		r := *truth
		r.Findings, r.Deadlocks = slices.Clone(r.Findings), slices.Clone(r.Deadlocks)
		var good, bad ClocksOutcome
		good.compare(truth, &r)
		mistake(&r)
		bad.compare(truth, &r)
		if good.Wrong+good.WrongMissed != 0 || bad.Wrong+bad.WrongMissed == 0 || bad.Why == "" {
			t.Errorf("%s: %+v, without it %+v", name, bad, good)
		}
	}
}

// TestClockGoesBack: logs of a clock that went back are refused, with the place.
func TestClockGoesBack(t *testing.T) {
	d := detectorOf(t, "itsy")
	f, logs, end, err := run(New(1, 0, Usual), d)
	if err != nil {
		t.Fatal(err)
	}
	by := make([]int, len(logs))
	by[0] = 1
	logs[0].Events = append(logs[0].Events, event.Event{Type: event.LinkUp, At: logs[0].Events[0].At - unit.Time(1)})
	if _, err := oracle.JudgeClocks(f, logs, oracle.Clocks{By: by}, end, 0); err == nil {
		t.Error("it is judged")
	}
}

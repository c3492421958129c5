package fuzz

import (
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/testkit"
	"softswitch/link/auth"
)

func attackDetector(t *testing.T) catalog.Detector {
	t.Helper()
	d, err := catalog.Named("test", "itsy")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func policy(t *testing.T) respond.Policy {
	t.Helper()
	p, err := respond.Parse("cure")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// knownSeed is one of whose first cases some deadlock, and in some of which attacks do harm on open
// links: the first that was tried.
const attackSeed = 1

// TestStrictLinks: with strict links nothing that strangers and hosts put on wires makes a
// detector or a response err. Without authentication it does: the attacks bite.
func TestStrictLinks(t *testing.T) {
	t.Run("known", func(t *testing.T) { strictLinks(t, attackSeed, 6, true) })
	t.Run("random", func(t *testing.T) {
		n := testkit.Sized(10, 150)
		strictLinks(t, testkit.Seed(t), n, n >= 50)
	})
}

// strictLinks plays so many cases of a seed; it wants every kind of thing to happen in them, if they
// are known or many.
func strictLinks(t *testing.T, seed uint64, n int, all bool) {
	t.Helper()
	run := &Run{Seed: seed, Mode: Attack, Detectors: []catalog.Detector{attackDetector(t)}}
	r := newAttackReport(run)
	for i := range n {
		o := playAttack(run, i)
		if o.Invalid != "" {
			t.Errorf("seed %d, case %d is invalid: %s", seed, i, o.Invalid)
		}
		if f := o.Strict.Faults(); f != "" {
			t.Errorf("seed %d, case %d: on strict links %s", seed, i, f)
		}
		r.Add(i, &o)
	}
	if !r.Clean() || r.Open.Refused > 0 {
		t.Errorf("seed %d: %+v", seed, r)
	}
	if all && (r.Strict.Deadlocks < n/10 || r.Strict.Refused < 10*n || r.Strict.OfHosts < n) {
		t.Errorf("seed %d: %+v", seed, r)
	}
	if all && r.Open.Lost+r.Open.Unfounded+r.Open.Suppressed+r.Open.False == 0 {
		t.Errorf("seed %d: without authentication nothing happens, so the attacks prove nothing: %+v", seed, r.Open)
	}
}

// TestSameCase: a case is determined by its seed and number, and its text has the attacks.
func TestSameCase(t *testing.T) {
	seed := testkit.Seed(t)
	a, b := New(seed, 3, Attack), New(seed, 3, Attack)
	if x, y := a.Text("itsy", ""), b.Text("itsy", ""); string(x) != string(y) || !strings.Contains(string(x), "do: forge") {
		t.Errorf("seed %d: not the same case, or without attacks:\n%s", seed, x)
	}
	d, p := attackDetector(t), policy(t)
	one, err := playAttackWith(a, auth.Strict, d, p)
	if err != nil {
		t.Fatal(err)
	}
	two, err := playAttackWith(b, auth.Strict, d, p)
	if err != nil || one != two {
		t.Errorf("seed %d: %+v and %+v, %v", seed, one, two, err)
	}
}

// TestAttackCanary: what goes wrong is told.
func TestAttackCanary(t *testing.T) {
	run := &Run{Seed: 1, Mode: Attack, Detectors: []catalog.Detector{attackDetector(t)}}
	for want, r := range map[string]AttackRun{
		"never formed": {False: 1}, "formed later": {Premature: 1}, "was not declared": {Suppressed: 1},
		"without a deadlock": {Unfounded: 1}, "were lost": {Lost: 1},
	} {
		report := newAttackReport(run)
		report.Add(0, &AttackOutcome{Strict: r})
		if got := r.Faults(); !strings.Contains(got, want) || report.Clean() {
			t.Errorf("%+v: %q, want %q; the report is clean: %v", r, got, want, report.Clean())
		}
		report = newAttackReport(run)
		report.Add(0, &AttackOutcome{Open: r})
		if !report.Clean() {
			t.Errorf("without authentication %+v counts as a failure", r)
		}
	}
	if got := (&AttackRun{True: 1, Late: 1, Refused: 5, OfHosts: 2, OverBudget: 1}).Faults(); got != "" {
		t.Errorf("nothing went wrong: %q", got)
	}
}

// TestItsypaperWithoutAuth: the paper's detector believes forged labels on open links, so what
// this measures can be wrong. On strict links it errs as it does without attacks.
func TestItsypaperWithoutAuth(t *testing.T) {
	d, err := catalog.Named("test", "itsypaper")
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for i := range 150 {
		all = append(all, i)
	}
	open := 0
	for _, i := range testkit.Sized([]int{20, 25, 44, 78}, all) { // of these it believes some
		r, err := playAttackWith(New(1, i, Attack), auth.Off, d, respond.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		open += r.False
	}
	if open == 0 {
		t.Error("no forged label makes the paper's detector declare what is not there")
	}
}

func BenchmarkCase(b *testing.B) {
	d, _ := catalog.Named("test", "itsy")
	r := &Run{Seed: 1, Mode: Attack, Detectors: []catalog.Detector{d}}
	for i := 0; b.Loop(); i++ {
		playAttack(r, i%50)
	}
}

package attack

import (
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/testlong"
	"softswitch/internal/testseed"
	"softswitch/linkauth"
)

func detector(t *testing.T) catalog.Detector {
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

// TestStrictLinks: with strict links nothing that strangers and hosts put on wires makes a
// detector or a response err. Without authentication it does: the attacks bite.
func TestStrictLinks(t *testing.T) {
	n := testlong.Of(50, 150)
	if testing.Short() {
		n = 50
	}
	seed, d, p := testseed.New(t), detector(t), policy(t)
	r := NewReport(seed, d.Name, "cure")
	for i := range n {
		o := Play(seed, i, d, p)
		if o.Invalid != "" {
			t.Errorf("seed %d, case %d is invalid: %s", seed, i, o.Invalid)
		}
		if f := o.Strict.Faults(); f != "" {
			t.Errorf("seed %d, case %d: on strict links %s", seed, i, f)
		}
		r.Add(&o)
	}
	if !r.Clean() || r.Strict.Deadlocks < n/10 || r.Strict.Refused < 10*n || r.Strict.OfHosts < n {
		t.Errorf("seed %d: %+v", seed, r)
	}
	if r.Open.Refused > 0 || r.Open.Lost+r.Open.Unfounded+r.Open.Suppressed+r.Open.False == 0 {
		t.Errorf("seed %d: without authentication nothing happens, so the attacks prove nothing: %+v", seed, r.Open)
	}
}

// TestSameCase: a case is determined by its seed and number, and its text has the attacks.
func TestSameCase(t *testing.T) {
	seed := testseed.New(t)
	a, b := New(seed, 3), New(seed, 3)
	if x, y := a.Text("itsy", ""), b.Text("itsy", ""); string(x) != string(y) || !strings.Contains(string(x), "do: forge") {
		t.Errorf("seed %d: not the same case, or without attacks:\n%s", seed, x)
	}
	d, p := detector(t), policy(t)
	one, err := PlayWith(a, linkauth.Strict, d, p)
	if err != nil {
		t.Fatal(err)
	}
	two, err := PlayWith(b, linkauth.Strict, d, p)
	if err != nil || one != two {
		t.Errorf("seed %d: %+v and %+v, %v", seed, one, two, err)
	}
}

// TestCanary: what goes wrong is told.
func TestCanary(t *testing.T) {
	for want, r := range map[string]Run{
		"never came about": {False: 1}, "came about later": {Premature: 1}, "was not declared": {Suppressed: 1},
		"without a deadlock": {Unfounded: 1}, "were lost": {Lost: 1},
	} {
		report := NewReport(1, "itsy", "cure")
		report.Add(&Outcome{Strict: r})
		if got := r.Faults(); !strings.Contains(got, want) || report.Clean() {
			t.Errorf("%+v: %q, want %q; the report is clean: %v", r, got, want, report.Clean())
		}
		report = NewReport(1, "itsy", "cure")
		report.Add(&Outcome{Open: r})
		if !report.Clean() {
			t.Errorf("without authentication %+v counts as a failure", r)
		}
	}
	if got := (&Run{True: 1, Late: 1, Refused: 5, OfHosts: 2, OverBudget: 1}).Faults(); got != "" {
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
	open := 0
	for i := range 150 {
		r, err := PlayWith(New(1, i), linkauth.Off, d, respond.Policy{})
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
	p, _ := respond.Parse("cure")
	for i := 0; b.Loop(); i++ {
		Play(1, i%50, d, p)
	}
}

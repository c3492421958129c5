package respond

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// change gives every switch of the script another policy, and then has what stands acted on, as a lab
// does.
func (sc script) change(response string) {
	sc.Helper()
	policy, err := Parse(response)
	if err != nil {
		sc.Fatal(err)
	}
	for _, standing := range []bool{false, true} {
		for _, s := range sc.s {
			if !Change(s.Detector(), policy, standing) {
				sc.Errorf("S%d takes no response", s.Facts().Self())
			}
		}
		sc.after(us)
	}
}

// What was declared while nothing was to be done about it is acted on when something is.
func TestChangeActsOnWhatStands(t *testing.T) {
	for _, response := range []string{"drop", "force", "bubble", "cure"} {
		t.Run(response, func(t *testing.T) {
			sc := newRing(t, 4, "none")
			sc.declare(1, none)
			sc.declare(3, none)
			sc.after(long)
			sc.wantStuck(true)
			if len(sc.Acts)+len(sc.Refusals) > 0 {
				t.Errorf("%v and %v under none", sc.Acts, sc.Refusals)
			}
			sc.change(response)
			sc.after(long)
			sc.wantStuck(false)
			sc.wantCount(detect.ActionRestrict, 4)
		})
	}
}

// Without a declaration, and where the priority group has resumed since, there is nothing to act on.
func TestChangeLooksForNothing(t *testing.T) {
	sc := newRing(t, 4, "none")
	sc.change("drop")
	sc.after(long)
	sc.wantStuck(true)
	sc.change("none")
	sc.declare(1, none)
	sc.after(long)
	sc.s[1].XON(b)
	sc.s[1].XOFF(b, p)
	sc.change("drop")
	sc.after(long)
	sc.wantStuck(true)
	sc.wantRefused()
	if len(sc.Acts) > 0 {
		t.Errorf("acted: %v", sc.Acts)
	}
}

// What another policy could not break is taken up again.
func TestChangeAfterARefusal(t *testing.T) {
	sc := newRing(t, 4, "bubble")
	sc.Pool = 0
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(true)
	if !slices.ContainsFunc(sc.Refusals, func(r detecttest.Refused) bool { return r.Why == detect.RefusedNoReserve }) {
		t.Errorf("refused %v, want no reserve", sc.Refusals)
	}
	sc.change("drop")
	sc.after(long)
	sc.wantStuck(false)
}

// With the policy goes all that is done at once, however long it was to last.
func TestChangeToNone(t *testing.T) {
	sc := newRing(t, 4, "cure")
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(false)
	if !sc.s[1].InForce() {
		t.Fatal("cure has left nothing in force")
	}
	sc.change("none")
	sc.wantClean()
}

// An attempt that is under way ends too.
func TestChangeToNoneDuringAnAttempt(t *testing.T) {
	for hops := range 24 {
		sc := newRing(t, 4, "bubble")
		sc.declare(1, none)
		sc.after(hop.Pause * unit.Time(hops))
		sc.change("none")
		sc.after(long)
		sc.wantClean()
	}
}

// An order to do nothing ends what is forced in that moment, too.
func TestChangeEndsForcing(t *testing.T) {
	sc := newRing(t, 4, "force")
	sc.declare(1, none)
	for sc.count(detect.ActionForce) == 0 {
		sc.after(us)
	}
	sc.change("none")
	sc.wantClean()
}

package sim

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// slowTimers is the reference model of timers: a table that is searched.
type slowTimers []unit.Time

func (s slowTimers) first() (id int32, at unit.Time, ok bool) {
	at = unit.Never
	for i, x := range s {
		if x < at {
			id, at, ok = int32(i), x, true
		}
	}
	return id, at, ok
}

// Every third id has deadlines, as a partition has those of its own ports.
func TestTimersAgainstTable(t *testing.T) {
	for _, n := range []int{1, 2, 5, 17, 64, 1000} {
		seed := testkit.Seed(t)
		rng := rand.New(rand.NewPCG(seed, 0))
		fast, slow := newTimers(3*n, n), make(slowTimers, 3*n)
		for i := range slow {
			slow[i] = unit.Never
		}
		set := func(id int32, at unit.Time) {
			fast.set(id, at)
			slow[id] = at
		}
		for step := range 30_000 {
			switch k := rng.IntN(10); {
			case k < 2:
				set(3*int32(rng.IntN(n)), unit.Never)
			case k < 4: // as a simulation does: what fires is set anew
				if id, at, ok := slow.first(); ok {
					set(id, at+unit.Time(rng.IntN(20)))
				}
			default:
				set(3*int32(rng.IntN(n)), unit.Time(rng.IntN(50)))
			}
			id, at, ok := fast.first()
			wantID, wantAt, wantOK := slow.first()
			if ok != wantOK || ok && (id != wantID || at != wantAt) {
				t.Fatalf("%d timers, seed %d, step %d: first is %d at %d, %v; want %d at %d, %v", n, seed, step, id, at, ok, wantID, wantAt, wantOK)
			}
		}
	}
}

// A deadline at or beyond the limit never fires; one just below does.
func TestTimersLimit(t *testing.T) {
	tm := newTimers(1000, 1000)
	if year := 100 * 24 * 3600 * unit.Second; tm.limit() < year {
		t.Errorf("1000 timers end at %d ns; want at least 100 days", tm.limit())
	}
	tm.set(3, tm.limit())
	if id, at, ok := tm.first(); ok {
		t.Errorf("%d fires at %d", id, at)
	}
	tm.set(3, tm.limit()-1)
	if id, at, ok := tm.first(); !ok || id != 3 || at != tm.limit()-1 {
		t.Errorf("first is %d at %d, %v", id, at, ok)
	}
	tm.set(3, unit.Never)
	if _, _, ok := tm.first(); ok {
		t.Error("it still fires")
	}
}

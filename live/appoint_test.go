package live

import (
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/timer"
	"softswitch/unit"
)

// dated is a switch that notes when it got how many frames.
type dated struct {
	*dataplane.Switch
	got []arrival
}

type arrival struct {
	at unit.Time
	n  int
}

func (d *dated) Receive(now unit.Time, p unit.Port, fs []*buffer.Frame) {
	d.got = append(d.got, arrival{now, len(fs)})
	d.Switch.Receive(now, p, fs)
}

// before is how many frames came before an instant.
func (d *dated) before(at unit.Time) (n int) {
	for _, a := range d.got {
		if a.at < at {
			n += a.n
		}
	}
	return n
}

// What is appointed for an instant sees all that came before it and nothing of what came
// then or after, while frames come without end.
func TestAppointedForAnInstant(t *testing.T) {
	var d *dated
	b := startBed(t, 2, opts{machine: func(s *dataplane.Switch) Machine {
		d = &dated{Switch: s}
		return d
	}})
	for range 20 {
		at := timer.Now() + 2*unit.Millisecond
		seen, kept := 0, make(chan struct{})
		if !b.Appoint(at, func() {
			for _, a := range d.got {
				seen += a.n
			}
			close(kept)
		}) {
			continue // the test itself was late
		}
		for n := uint64(0); timer.Now() < at+unit.Millisecond; n++ {
			b.write(0, frame(0, 1, n, false))
			b.read(1, 1)
		}
		b.Do(func(unit.Time) {})
		await(t, kept, "the appointment")
		b.snapshot(func() {
			if want := d.before(at); seen != want {
				t.Errorf("%d frames at the instant, of %d that came before it and %d in all", seen, want, d.before(unit.Never))
			}
		})
	}
}

// An instant that is past is refused, and what was appointed before stays.
func TestAppointedForThePast(t *testing.T) {
	b := startBed(t, 1, opts{})
	at, kept := timer.Now()+3600*unit.Second, make(chan struct{})
	if !b.Appoint(at, func() { close(kept) }) {
		t.Fatal("an instant to come was refused")
	}
	if b.Appoint(timer.Now(), func() { t.Error("an instant that is past was kept") }) {
		t.Error("an instant that is past was not refused")
	}
	b.Do(func(unit.Time) {})
	select {
	case <-kept:
		if timer.Now() < at {
			t.Error("it ran before its time")
		}
	default:
	}
}

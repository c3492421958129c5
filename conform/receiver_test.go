package conform

import (
	"testing"

	"softswitch/unit"
)

// A receiver takes what its rates say, pauses above XOFF, and lets go at XON.
func TestReceiver(t *testing.T) {
	r := taker{Receiver: &Receiver{Stop: unit.Second, Rates: []RateFrom{{100 * unit.Millisecond, 8000}, {200 * unit.Millisecond, LineRate}}, XOFF: 50, XON: 20, Every: 10 * unit.Millisecond}}
	want := func(at unit.Time, bytes int64, says, pauses bool) {
		t.Helper()
		s, p := r.wants(at)
		if r.fill/bitTime != bytes || s != says || p != pauses {
			t.Errorf("at %v: %d bytes, says %v, pauses %v; want %d, %v, %v", at, r.fill/bitTime, s, p, bytes, says, pauses)
		}
		if s {
			r.told, r.due = p, at+r.Every
		}
	}
	r.fill = 60 * bitTime
	want(0, 60, true, true)
	want(unit.Millisecond, 60, false, false)
	want(10*unit.Millisecond, 60, true, true) // again
	r.due = unit.Never
	want(130*unit.Millisecond, 30, false, false) // a byte a millisecond since 100 ms
	want(140*unit.Millisecond, 20, true, false)
	r.fill = 100 * bitTime
	want(150*unit.Millisecond, 90, true, true)
	r.due = unit.Never
	want(200*unit.Millisecond, 40, false, false)
	want(201*unit.Millisecond, 0, true, false)
}

package detecttest

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/internal/unit"
)

const us = unit.Microsecond

// ring is S1 > S2 > S3 > S4 > S1; port 0 is the bucket for the switch before, port 1
// the egress to the next.
func ring(f *Fabric, delay func(k int) Delay) []*Switch {
	s := make([]*Switch, 4)
	for k := range s {
		s[k] = f.Switch(unit.NodeID(k+1), 2)
	}
	for k := range s {
		next := (k + 1) % 4
		f.Link(s[k], 1, s[next], 0, delay(next+1))
	}
	return s
}

// A pause that belongs to an earlier XOFF period than the bucket's current one does
// not hold: a resume is on the wire behind it.
func TestStuckAsksForTheCurrentPeriod(t *testing.T) {
	f := New(detect.NewNone)
	f.XON = 37_000
	s := ring(f, func(k int) Delay {
		if k == 2 { // S2's control frames to S1
			return Delay{Pause: 60 * us}
		}
		return Delay{Pause: 20 * us}
	})
	for _, x := range s {
		x.Enqueue(0, 1, 60_000)
	}
	f.To(1 * us)
	for _, k := range []int{0, 3, 2} {
		s[k].XOFF(0, 1)
	}
	f.To(10 * us)
	s[1].XOFF(0, 1)
	f.To(18 * us)
	s[1].XON(0)
	f.To(24 * us)
	s[1].XOFF(0, 1)
	f.To(72 * us)
	if !s[0].Paused(1) || len(f.Stuck()) != 0 {
		t.Errorf("72 us: S1 paused %v, stuck %v; want paused by the first pause, nothing stuck", s[0].Paused(1), f.Stuck())
	}
	f.To(83 * us)
	if s[0].Paused(1) {
		t.Error("83 us: S1 is paused, want resumed at 78")
	}
	f.To(84 * us)
	want := []unit.NodePort{{Node: 1, Port: 1}, {Node: 2, Port: 1}, {Node: 3, Port: 1}, {Node: 4, Port: 1}}
	if got := f.Stuck(); !slices.Equal(got, want) {
		t.Errorf("84 us: stuck %v, want %v", got, want)
	}
}

// One bucket with no more than XON bytes in the ring frees the whole ring.
func TestStuckPeels(t *testing.T) {
	for _, c := range []struct{ bytes, want int }{{36_000, 0}, {36_001, 4}} {
		f := New(detect.NewNone)
		s := ring(f, func(int) Delay { return Delay{} })
		for k, x := range s {
			x.Enqueue(0, 1, 60_000)
			if k == 2 {
				x.Leave(0, 1, 60_000-c.bytes)
			}
			x.XOFF(0, 1)
		}
		f.To(0)
		if got := f.Stuck(); len(got) != c.want {
			t.Errorf("%d bytes: stuck %v, want %d queues", c.bytes, got, c.want)
		}
	}
}

// Frames of one port arrive in the order in which they left, whatever their delays.
func TestLinksAreFIFO(t *testing.T) {
	f := New(detect.NewNone)
	s := ring(f, func(int) Delay { return Delay{Pause: 20 * us, Message: 50 * us} })
	s[1].XOFF(0, 1)
	s[1].XON(0)
	f.To(19 * us)
	if s[0].Paused(1) {
		t.Error("19 us: paused before the pause came")
	}
	if !f.Settle(10) || s[0].Paused(1) || f.Now() != 20*us {
		t.Errorf("%d us: paused %v, want resumed at 20", f.Now()/us, s[0].Paused(1))
	}
}

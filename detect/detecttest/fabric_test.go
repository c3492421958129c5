package detecttest

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// newRing is S1 > S2 > S3 > S4 > S1, without detectors.
func newRing(t *testing.T, d Delay) Script {
	sc := NewScript(t, detect.NewNone)
	sc.Ring(4, d)
	return sc
}

// A pause that belongs to an earlier XOFF period than the priority group's current one does
// not hold: a resume is on the wire behind it.
func TestStuckAsksForTheCurrentPeriod(t *testing.T) {
	sc := newRing(t, Delay{Pause: 20 * us})
	sc.XON = 37_000
	sc.Link(sc.S[1], Out, sc.S[2], In, Delay{Pause: 60 * us}) // S2's control frames to S1
	for k := unit.NodeID(1); k <= 4; k++ {
		sc.Fill(k, In, Out, 60)
	}
	sc.To(1 * us)
	for _, k := range []unit.NodeID{1, 4, 3} {
		sc.S[k].XOFF(In, Out)
	}
	sc.To(10 * us)
	sc.S[2].XOFF(In, Out)
	sc.To(18 * us)
	sc.S[2].XON(In)
	sc.To(24 * us)
	sc.S[2].XOFF(In, Out)
	sc.To(72 * us)
	if !sc.S[1].Paused(Out) || len(sc.Stuck()) != 0 {
		t.Errorf("72 us: S1 paused %v, stuck %v; want paused by the first pause, nothing stuck", sc.S[1].Paused(Out), sc.Stuck())
	}
	sc.To(83 * us)
	if sc.S[1].Paused(Out) {
		t.Error("83 us: S1 is paused, want resumed at 78")
	}
	sc.To(84 * us)
	want := []unit.NodePort{{Node: 1, Port: 1}, {Node: 2, Port: 1}, {Node: 3, Port: 1}, {Node: 4, Port: 1}}
	if got := sc.Stuck(); !slices.Equal(got, want) {
		t.Errorf("84 us: stuck %v, want %v", got, want)
	}
}

// One priority group with no more than XON bytes in the ring frees the whole ring.
func TestStuckEliminates(t *testing.T) {
	for _, c := range []struct{ bytes, want int }{{36_000, 0}, {36_001, 4}} {
		sc := newRing(t, Delay{})
		for k := unit.NodeID(1); k <= 4; k++ {
			sc.Close(0, k)
		}
		sc.S[3].Leave(In, Out, 60_000-c.bytes)
		sc.To(0)
		if got := sc.Stuck(); len(got) != c.want {
			t.Errorf("%d bytes: stuck %v, want %d queues", c.bytes, got, c.want)
		}
	}
}

// talker sends a message upstream ahead of each pause frame.
type talker struct {
	detect.None
	act detect.Actions
}

func (t talker) XOFF(_ unit.Time, b detect.PG, _ detect.Queue) {
	t.act.Send(b.Port, itsyhdr.TLV{Kind: itsyhdr.KindQuery, Priority: b.Priority})
}

// Frames of one port arrive in the order in which they left, whatever their delays: a
// pause behind a message comes when the message does.
func TestLinksAreFIFO(t *testing.T) {
	sc := NewScript(t, func(_ detect.View, a detect.Actions) detect.Detector { return talker{act: a} })
	sc.Ring(4, Delay{Pause: 20 * us, Message: 50 * us})
	sc.S[2].XOFF(In, Out)
	sc.To(49 * us)
	if sc.S[1].Paused(Out) {
		t.Error("49 us: paused before the message came")
	}
	sc.To(50 * us)
	if !sc.S[1].Paused(Out) {
		t.Error("50 us: not paused yet")
	}
	sc.S[2].XON(In)
	if !sc.Settle(10) || sc.S[1].Paused(Out) || sc.Now() != 70*us {
		t.Errorf("%d us: paused %v, want resumed at 70", sc.Now()/us, sc.S[1].Paused(Out))
	}
}

package conform

import (
	"testing"

	"softswitch/unit"
)

// Times near a stall, or near a control frame that was late, are widened by it, and others are not.
func TestWiden(t *testing.T) {
	ms := unit.Millisecond
	at := func(x unit.Time) Span { return Span{x * ms, x * ms} }
	r := &Record{
		Script:  &Script{Streams: []*Stream{{Name: "back", Control: true}, {Name: "test"}}, Trains: []*Train{{Name: "pause"}}},
		Stalls:  []Stall{{100 * ms, 130 * ms}},
		Streams: []StreamRecord{{}, {}}, Trains: []TrainRecord{{Left: []Span{at(50), at(120), at(320)}}},
	}
	for i := range unit.Time(40) {
		left, delay := at(10*i), ms
		if i == 30 { // of 300 ms
			delay = 8 * ms
		}
		r.Streams[0].Left = append(r.Streams[0].Left, left)
		r.Streams[0].Arrivals = append(r.Streams[0].Arrivals, Arrival{Seq: uint64(i), At: left.Plus(delay)})
	}
	r.Streams[1].Arrivals = []Arrival{{At: at(55)}, {At: at(125)}, {At: at(305)}}
	r.widen(1)
	for i, want := range []unit.Time{1, 30 * ms, 1} {
		if w := r.Trains[0].Left[i]; w.Width() != want || w.Hi < w.Lo {
			t.Errorf("pause %d: %v, want a width of %v", i, w, want)
		}
	}
	for i, want := range []unit.Time{1, 30 * ms, 7 * ms} {
		if w := r.Streams[1].Arrivals[i].At; w.Width() != want {
			t.Errorf("arrival %d: %v, want a width of %v", i, w, want)
		}
	}
	if r.Uncertain != 30*ms {
		t.Errorf("uncertain by %v", r.Uncertain)
	}
}

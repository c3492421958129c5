package impair

import (
	"testing"

	"softswitch/pfcframe"
	"softswitch/unit"
)

var data = make([]byte, 64)

func pause() []byte {
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, pfcframe.Frame{})
	return b
}

// send counts the fates of n frames.
func send(w *Wire, n int, frame []byte) (lost, twice, overtaken int, extra unit.Time) {
	for range n {
		f := w.Send(frame, 1, Stream(3, 2))
		lost += number(f.Copies == 0)
		twice += number(f.Copies == 2)
		overtaken += number(f.Overtaken)
		extra = max(extra, f.Extra)
	}
	return lost, twice, overtaken, extra
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

func TestZeroWireDoesNothing(t *testing.T) {
	var w Wire
	if lost, twice, overtaken, extra := send(&w, 1000, data); lost+twice+overtaken != 0 || extra != 0 || w.rand != nil {
		t.Errorf("lost %d, twice %d, overtaken %d, up to %d ns late; random numbers drawn: %t", lost, twice, overtaken, extra, w.rand != nil)
	}
}

func TestSharesAreMet(t *testing.T) {
	w := Wire{Faults: Faults{Delay: unit.Millisecond, Loss: 1000, Duplicate: 500, Reorder: 200, ControlLoss: 30}}
	lost, twice, overtaken, extra := send(&w, 100_000, data)
	for _, s := range []struct {
		what      string
		got, want int
	}{{"lost", lost, 10_000}, {"twice", twice, 4500}, {"overtaken", overtaken, 1800}} {
		if s.got < s.want*9/10 || s.got > s.want*11/10 {
			t.Errorf("%s: %d of 100000, want about %d", s.what, s.got, s.want)
		}
	}
	if extra != unit.Millisecond {
		t.Errorf("an overtaken frame is %d ns late, want its delay once more", extra)
	}
	if lost, _, _, _ := send(&w, 100_000, pause()); lost < 2700 || lost > 3300 {
		t.Errorf("control frames lost: %d of 100000, want about 3000", lost)
	}
}

func TestLoseCountsControlFramesOnly(t *testing.T) {
	var w Wire
	send(&w, 3, pause())
	w.Lose(2)
	w.Lose(1)
	for i, want := range []int{1, 0, 1, 0} {
		frame := pause()
		if i == 1 {
			frame = data
		}
		if lost, _, _, _ := send(&w, 1, frame); lost != want {
			t.Errorf("frame %d: lost %d, want %d", i, lost, want)
		}
	}
	if w.Losing() {
		t.Error("the wire still has a frame to lose")
	}
}

func TestSameSeedSameFates(t *testing.T) {
	faults := Faults{Delay: unit.Millisecond, Jitter: unit.Millisecond, Loss: 3000, Duplicate: 3000, Reorder: 3000}
	a, b, other := Wire{Faults: faults}, Wire{Faults: faults}, Wire{Faults: faults}
	differ := false
	for i := range 1000 {
		fa, fb, fo := a.Send(data, 7, 1), b.Send(data, 7, 1), other.Send(data, 7, 2)
		if fa != fb {
			t.Fatalf("frame %d: %+v and %+v with the same seed and stream", i, fa, fb)
		}
		differ = differ || fa != fo
	}
	if !differ {
		t.Error("two streams drew the same")
	}
}

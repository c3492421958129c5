package link

import (
	"testing"
	"time"

	"softswitch/internal/timer"
	"softswitch/unit"
)

// apart is how far two readings of two clocks are apart that are taken one after the other.
const apart = 50 * unit.Microsecond

// Each frame has the time when it came, and not that when it was read.
func TestReadStamped(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	var sent []unit.Time
	var want [][]byte
	for i := range 5 {
		want, sent = append(want, numbered(i, 60)), append(sent, timer.Now())
		send(t, left, want[i])
		<-time.After(2 * time.Millisecond)
	}
	bufs, at := frameBuffers(8, 2048), make([]unit.Time, 8)
	n, err := right.ReadStamped(bufs, at)
	if err != nil {
		t.Fatal(err)
	}
	now := timer.Now()
	wantFrames(t, bufs[:n], want)
	for i := range want {
		if at[i] < sent[i]-apart || at[i] > now {
			t.Errorf("frame %d came at %v, and was sent after %v and read before %v", i, at[i], sent[i], now)
		}
	}
	if took := at[4] - at[0]; took < unit.Millisecond {
		t.Errorf("frames that were sent 8 ms apart came within %v", took)
	}
	one := want[:1]
	if n := testing.AllocsPerRun(100, func() {
		if _, err := left.Write(one); err != nil {
			t.Fatal(err)
		}
		if _, err := right.ReadStamped(bufs[:1], at[:1]); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// Stamps of the wall clock become points of the other one.
func TestConvert(t *testing.T) {
	wall, monotonic := 1000*time.Hour, time.Hour
	s := stampsOf(func() (time.Duration, time.Duration) { return wall, monotonic })
	wall, monotonic = wall+time.Second, monotonic+time.Second
	at := []unit.Time{unit.Time(wall - 3*time.Millisecond), unit.Time(wall - time.Millisecond)}
	now := timer.Now()
	s.convert(at)
	for i, ago := range []unit.Time{3 * unit.Millisecond, unit.Millisecond} {
		if off := now - ago - at[i]; off > 0 || off < -apart*20 {
			t.Errorf("stamp %d is off by %v", i, off)
		}
	}
	if s.convert(nil); s.distance != wall-monotonic {
		t.Error("no stamps change the clocks")
	}
}

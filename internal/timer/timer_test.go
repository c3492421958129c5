package timer

import (
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/unit"
)

func newTimer(t testing.TB) *Timer {
	t.Helper()
	tm, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tm.Close() })
	return tm
}

// monotonic is the reference of Now: the system call.
func monotonic(t testing.TB) unit.Time {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return unit.Time(ts.Nano())
}

func TestNowIsMonotonicClock(t *testing.T) {
	// Now lies between two readings of the clock, give or take the calibration's
	// error, which is half of the tightest of its tries.
	const slack = 5 * unit.Microsecond
	for range 1000 {
		lo := monotonic(t)
		now, at := Now(), At(time.Now())
		hi := monotonic(t)
		if min(now, at) < lo-slack || max(now, at) > hi+slack {
			t.Fatalf("Now() = %d, At(time.Now()) = %d, but CLOCK_MONOTONIC went from %d to %d", now, at, lo, hi)
		}
	}
}

func TestFiresNotEarly(t *testing.T) {
	tm := newTimer(t)
	for _, d := range []unit.Time{0, 1, 10 * unit.Microsecond, 200 * unit.Microsecond, 3 * unit.Millisecond} {
		at := monotonic(t) + d
		tm.Arm(at)
		if err := tm.Wait(); err != nil {
			t.Fatal(err)
		}
		if now := monotonic(t); now < at {
			t.Errorf("armed for %d: fired %d ns early", d, at-now)
		}
	}
}

func TestPastFiresAtOnce(t *testing.T) {
	tm := newTimer(t)
	for _, at := range []unit.Time{-5, 0, 1, Now() - unit.Second} {
		tm.Arm(at)
		if err := tm.Wait(); err != nil {
			t.Errorf("Arm(%d): %v", at, err)
		}
	}
}

func TestLastArmCounts(t *testing.T) {
	tm := newTimer(t)
	later := Now() + 5*unit.Millisecond
	tm.Arm(later - 4*unit.Millisecond)
	tm.Arm(later)
	if err := tm.Wait(); err != nil {
		t.Fatal(err)
	}
	if now := Now(); now < later {
		t.Errorf("fired %d ns before the deadline that was armed last", later-now)
	}
	tm.Arm(Now() + unit.Second*3600)
	tm.Arm(1) // an earlier deadline than the armed one
	if err := tm.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestNeverDisarms(t *testing.T) {
	tm := newTimer(t)
	tm.Arm(1) // has fired, but nobody waited for it
	tm.Arm(unit.Never)
	var left unix.ItimerSpec
	if err := unix.TimerfdGettime(tm.fd, &left); err != nil {
		t.Fatal(err)
	}
	if left != (unix.ItimerSpec{}) {
		t.Errorf("after Arm(Never) the timer still has %+v to go", left)
	}
	var ticks [8]byte
	if _, err := unix.Read(tm.fd, ticks[:]); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("after Arm(Never) a read gave %v, want EAGAIN: nothing expired", err)
	}
}

func TestArmWhileWaiting(t *testing.T) {
	tm := newTimer(t)
	tm.Arm(Now() + 3600*unit.Second)
	fired := make(chan error, 1)
	go func() { fired <- tm.Wait() }()
	tm.Arm(Now() + 100*unit.Microsecond)
	if err := <-fired; err != nil {
		t.Fatal(err)
	}
}

func TestCloseEndsWait(t *testing.T) {
	tm := newTimer(t)
	ended := make(chan error, 1)
	go func() { ended <- tm.Wait() }()
	if err := tm.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Wait = %v, want os.ErrClosed", err)
	}
	tm.Arm(1)
	if err := tm.Wait(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Wait after Close = %v, want os.ErrClosed", err)
	}
	if err := tm.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestArmRacesClose is for the race detector: an Arm must never reach a
// descriptor that Close has given back to the kernel.
func TestArmRacesClose(t *testing.T) {
	for range 100 {
		tm := newTimer(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for i := range 50 {
					tm.Arm(Now() + unit.Time(i))
				}
			})
		}
		wg.Go(func() { tm.Close() })
		wg.Wait()
	}
}

func TestNoAllocs(t *testing.T) {
	tm := newTimer(t)
	if n := testing.AllocsPerRun(100, func() {
		tm.Arm(Now())
		if err := tm.Wait(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Now, Arm and Wait allocate %v times, want 0", n)
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}

func BenchmarkArm(b *testing.B) {
	tm := newTimer(b)
	at := Now() + 3600*unit.Second
	b.ReportAllocs()
	for b.Loop() {
		tm.Arm(at)
	}
}

// BenchmarkLateness100us reports how late a wait of 100 us ends on an otherwise
// idle process, here and, for comparison, with the standard library's timer.
func BenchmarkLateness100us(b *testing.B) {
	const d = 100 * unit.Microsecond
	b.Run("timerfd", func(b *testing.B) {
		tm := newTimer(b)
		lateness(b, func() unit.Time {
			at := Now() + d
			tm.Arm(at)
			if err := tm.Wait(); err != nil {
				b.Fatal(err)
			}
			return Now() - at
		})
	})
	b.Run("time.Timer", func(b *testing.B) {
		lateness(b, func() unit.Time {
			at := Now() + d
			<-time.NewTimer(time.Duration(d)).C
			return Now() - at
		})
	})
}

func lateness(b *testing.B, wait func() unit.Time) {
	var late []unit.Time
	for b.Loop() {
		late = append(late, wait())
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2])/1e3, "us-late-p50")
	b.ReportMetric(float64(late[len(late)*9/10])/1e3, "us-late-p90")
}

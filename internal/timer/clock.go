package timer

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/unit"
)

// start is the process's reference point, on both of its clocks.
var start, startNs = calibrate()

// Now is CLOCK_MONOTONIC in nanoseconds: the same clock in every process and
// network namespace of the machine, so that the times of several switches can be
// compared. It is read in the vDSO, without a system call, in about 25 ns.
func Now() unit.Time { return startNs + unit.Time(time.Since(start)) }

// At is the point of the clock at which time.Now returned t.
func At(t time.Time) unit.Time { return startNs + unit.Time(t.Sub(start)) }

// WallClock is the time of day of a point of the clock, as far as that is known now.
func WallClock(at unit.Time) time.Time { return time.Now().Add(time.Duration(at - Now())) }

// Sleep waits for d, or for the end of ctx, which is an error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// calibrate pairs a time.Time with the CLOCK_MONOTONIC of the same moment. Go
// hides the monotonic reading that a time.Time carries, so the clock is read
// between two of them; of several tries the tightest is taken, which is off by
// at most half its width, some tens of nanoseconds.
func calibrate() (time.Time, unit.Time) {
	var (
		at     time.Time
		atNs   unit.Time
		tight  time.Duration = math.MaxInt64
		before               = time.Now()
	)
	for range 16 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			panic(fmt.Sprintf("timer: clock_gettime(CLOCK_MONOTONIC): %v", err))
		}
		after := time.Now()
		if d := after.Sub(before); d < tight {
			tight, at, atNs = d, before.Add(d/2), unit.Time(ts.Nano())
		}
		before = after
	}
	return at, atNs
}

// Clock identifies the CLOCK_MONOTONIC of this process: processes in which it is the same
// share it. It is of the boot of the machine and, since another may be set there, of the time
// namespace (time_namespaces(7)); "" if that cannot be read.
var Clock = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/time") // a kernel before 5.6 has none
	if err != nil {
		namespace = "time"
	}
	return strings.TrimSpace(string(boot)) + " " + namespace
})

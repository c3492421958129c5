package play

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"softswitch/conform"
	"softswitch/internal/timer"
	"softswitch/unit"
)

const (
	stallEvery = unit.Millisecond       // how often each processor is looked at
	stallLeast = 200 * unit.Microsecond // lateness that is noted
	stallsMost = 1 << 16                // that are kept of a trial
)

// stallWatch notes when a processor of this machine did not run a thread of this process that was to run: a
// tester, and a DUT on the same machine, stood still then. Real-time threads have such moments too: the
// kernel takes a processor from them that they keep busy (sched_rt_runtime_us), and a host that of a
// virtual machine.
type stallWatch struct {
	over    atomic.Bool
	running sync.WaitGroup

	mu     sync.Mutex
	stalls []conform.Stall // guarded by mu: on the clock of package timer
}

// watchStalls begins to look at each processor that this process may use.
func watchStalls() (*stallWatch, error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	w := &stallWatch{}
	for cpu, seen := 0, 0; seen < all.Count(); cpu++ {
		if all.IsSet(cpu) {
			seen++
			w.running.Go(func() {
				runtime.LockOSThread() // and never unlocked: the thread ends with its processor
				w.watch(cpu)
			})
		}
	}
	return w, nil
}

// watch looks at one processor, to which it moves the calling thread.
func (w *stallWatch) watch(cpu int) {
	var one unix.CPUSet
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return // it may not be used any more
	}
	for !w.over.Load() {
		due := timer.Now() + stallEvery
		if err := sleepUntil(due); err != nil {
			return
		}
		if now := timer.Now(); now-due > stallLeast {
			w.mu.Lock()
			if len(w.stalls) < stallsMost {
				w.stalls = append(w.stalls, conform.Stall{From: due, To: now})
			}
			w.mu.Unlock()
		}
	}
}

// take is what was noted since the last call, on the clock of a script.
func (w *stallWatch) take(began unit.Time) []conform.Stall {
	w.mu.Lock()
	defer w.mu.Unlock()
	stalls := w.stalls
	w.stalls = nil
	for i := range stalls {
		stalls[i].From -= began
		stalls[i].To -= began
	}
	return stalls
}

func (w *stallWatch) close() {
	w.over.Store(true)
	w.running.Wait()
}

// sleepUntil waits for a point of CLOCK_MONOTONIC.
func sleepUntil(at unit.Time) error {
	spec := unix.NsecToTimespec(int64(at))
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &spec, nil)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("clock_nanosleep", err)
		}
	}
}

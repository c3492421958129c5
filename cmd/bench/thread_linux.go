package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
)

// anyCPU allows any processor.
const anyCPU = -1

// within runs fn on a thread in the namespace ns and, unless cpu is anyCPU, on that processor only,
// and then restores the thread. Processes that fn starts inherit both; goroutines do not. A thread
// that cannot be restored ends.
func within(ns netns.NsHandle, cpu int, fn func() error) error {
	return netspace.Inside(ns, func() error {
		if cpu == anyCPU {
			return fn()
		}
		var was, set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &was); err != nil {
			return fmt.Errorf("sched_getaffinity: %w", err)
		}
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("run on processor %d: sched_setaffinity: %w", cpu, err)
		}
		runtime.LockOSThread()
		err := fn()
		if lost := unix.SchedSetaffinity(0, &was); lost != nil {
			return errors.Join(err, fmt.Errorf("restore thread: %w", lost)) // still locked: it ends with the goroutine
		}
		runtime.UnlockOSThread()
		return err
	})
}

// twoCPUs returns the first two processors that this program may run on.
func twoCPUs() (a, b int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("sched_getaffinity: %w", err)
	}
	if set.Count() < 2 {
		return 0, 0, fmt.Errorf("this program may run on %d processor; it needs one for the sender and one for the device under test", set.Count())
	}
	for a = 0; !set.IsSet(a); a++ {
	}
	for b = a + 1; !set.IsSet(b); b++ {
	}
	return a, b, nil
}

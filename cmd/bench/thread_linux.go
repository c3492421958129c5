package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// anyCPU allows any processor.
const anyCPU = -1

// within runs fn on a thread in the namespace ns and, unless cpu is anyCPU, on that processor only,
// and then restores the thread. Processes that fn starts inherit both; goroutines do not. A thread
// that cannot be restored ends.
func within(ns netns.NsHandle, cpu int, fn func() error) error {
	return onThread(func() error {
		if err := netns.Set(ns); err != nil {
			return fmt.Errorf("enter namespace: %w", err)
		}
		if cpu != anyCPU {
			var set unix.CPUSet
			set.Set(cpu)
			if err := unix.SchedSetaffinity(0, &set); err != nil {
				return fmt.Errorf("run on processor %d: sched_setaffinity: %w", cpu, err)
			}
		}
		return fn()
	})
}

// onThread runs fn on a locked thread and restores the thread's namespace and processors.
func onThread(fn func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := netns.Get()
		if err != nil {
			result <- fmt.Errorf("this thread's namespace: %w", err)
			return
		}
		defer home.Close()
		var cpus unix.CPUSet
		if err := unix.SchedGetaffinity(0, &cpus); err != nil {
			result <- fmt.Errorf("sched_getaffinity: %w", err)
			return
		}
		err = fn()
		if lost := errors.Join(goHome(home), unix.SchedSetaffinity(0, &cpus)); lost != nil {
			result <- errors.Join(err, fmt.Errorf("restore thread: %w", lost))
			return // still locked: the thread ends with the goroutine
		}
		runtime.UnlockOSThread()
		result <- err
	}()
	return <-result
}

// goHome returns the thread to a namespace if it has left it. Entering a namespace needs a capability
// that a thread refused by another namespace lacks.
func goHome(home netns.NsHandle) error {
	here, err := netns.Get()
	if err != nil {
		return err
	}
	defer here.Close()
	if here.Equal(home) {
		return nil
	}
	return netns.Set(home)
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

package netnslab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/beside"
	"softswitch/internal/timer"
	"softswitch/unit"
)

// Lateness is by how much, at worst, a process of a lab would be woken late now. It asks a
// program that runs as nodes do, argv, which prints its [OwnLateness]: in this process, the
// goroutine that looks could wait for others. It is an error if the program takes longer than
// lookMax. The program ends with this one.
func Lateness(ctx context.Context, argv []string) (worst unit.Time, err error) {
	var out, problem bytes.Buffer
	ctx, cancel := context.WithTimeoutCause(ctx, lookMax, fmt.Errorf("it has not ended after %v", lookMax))
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- realtime(cmd.Start)
	}()
	if err := <-started; err != nil {
		return 0, errors.Join(context.Cause(ctx), err)
	}
	if err := cmd.Wait(); err != nil {
		return 0, errors.Join(context.Cause(ctx), fmt.Errorf("%s: %w: %s", cmd, err, &problem))
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", cmd, err)
	}
	return unit.Time(n), nil
}

// lookMax is how long such a program may take, which looks for a fraction of a second. Tests replace
// it.
var lookMax = 10 * time.Second

// lookEvery is how often a look at a processor wakes: as often as a paced port of a node.
const lookEvery = unit.Millisecond

// OwnLateness is how late, at worst, this process was woken on any of the processors that it
// may use, within the time look.
func OwnLateness(look unit.Time) (worst unit.Time, err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return 0, os.NewSyscallError("sched_getaffinity", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < all.Count(); cpu++ {
		if all.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	late := make([]unit.Time, len(cpus))
	errs := beside.Each(-1, len(cpus), func(i int) (err error) {
		runtime.LockOSThread() // and never unlocked: the thread ends with its processor
		late[i], err = latenessOn(cpus[i], look)
		return err
	})
	return slices.Max(late), errors.Join(errs...)
}

// latenessOn is OwnLateness on one processor, to which it moves the calling thread.
func latenessOn(cpu int, look unit.Time) (worst unit.Time, err error) {
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return 0, os.NewSyscallError("sched_setaffinity", err)
	}
	end := timer.Now() + look
	for now := timer.Now(); now < end; {
		due := now + lookEvery
		if err := sleepUntil(due); err != nil {
			return 0, err
		}
		now = timer.Now()
		worst = max(worst, now-due)
	}
	return worst, nil
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

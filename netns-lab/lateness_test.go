package netnslab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
	"softswitch/internal/timer"
	"softswitch/unit"
)

// tellLateness prints the lateness of a process of its own.
func tellLateness() {
	late, err := OwnLateness(100 * unit.Millisecond)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(int64(late))
}

// lateness is that of this machine, as a program of its own finds it.
func lateness(t *testing.T, ctx context.Context) (unit.Time, error) {
	t.Helper()
	t.Setenv(roleVariable, "lateness")
	return Lateness(ctx, []string{os.Args[0]})
}

// TestLateness: a look takes as long as it should, finds what no wake-up is without, ends
// with its context, and a program that tells nothing is an error.
func TestLateness(t *testing.T) {
	begin := timer.Now()
	late, err := lateness(t, t.Context())
	if took := timer.Now() - begin; err != nil || late <= 0 || took < 100*unit.Millisecond {
		t.Errorf("%d ns late, %v, after %d ns", late, err, took)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := lateness(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: error %v", err)
	}
	if _, err := Lateness(t.Context(), []string{"/bin/true"}); err == nil {
		t.Error("a program that tells nothing is believed")
	}
}

// TestStoppedLook: a program that is stopped is waited for no longer than a while.
func TestStoppedLook(t *testing.T) {
	testkit.Need(t, "sh")
	was := lookMax
	defer func() { lookMax = was }()
	lookMax = 100 * time.Millisecond
	if _, err := Lateness(t.Context(), []string{"sh", "-c", "kill -STOP $$"}); err == nil || !strings.Contains(err.Error(), "it has not ended after 100ms") {
		t.Errorf("error %v", err)
	}
}

// TestLookEndsWithItsMaker: who is killed while it looks leaves no program behind.
func TestLookEndsWithItsMaker(t *testing.T) {
	testkit.Need(t, "sh", "sleep")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=looker")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	look, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(look)
	cmd.Process.Kill()
	cmd.Wait()
	ended := []unix.PollFd{{Fd: int32(look), Events: unix.POLLIN}}
	n, err := unix.Poll(ended, 20_000)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(ended, 20_000)
	}
	if n != 1 {
		t.Errorf("process %d has not ended: %v", pid, err)
	}
}

// looker looks by a program that never ends, and says which process that is.
func looker() {
	lookMax = time.Hour
	_, err := Lateness(context.Background(), []string{"sh", "-c", "echo $$ >/proc/$PPID/fd/1; sleep 1000"})
	fmt.Fprintln(os.Stderr, err)
}

// TestLatenessIsSeen: the canary. Where a processor is taken for 20 ms at a time by what has
// a higher priority than a node, a look at the machine says so.
func TestLatenessIsSeen(t *testing.T) {
	needRoot(t)
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	const takes = 20 * unit.Millisecond
	taking, done, stop := make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked
		fifo := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 2}
		err := errors.Join(unix.SchedSetaffinity(0, &one), unix.SchedSetAttr(0, &fifo, 0))
		close(taking)
		for err == nil {
			for until := timer.Now() + takes; timer.Now() < until; {
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err = sleepUntil(timer.Now() + takes)
		}
		done <- err
	}()
	<-taking // before that it may have to wait for a processor longer than the look takes
	late, err := lateness(t, t.Context())
	close(stop)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if late < takes/2 {
		t.Errorf("%d ns late, where a processor was taken for %d", late, takes)
	}
}

// Package timer wakes a goroutine at a point of CLOCK_MONOTONIC, to within some
// tens of microseconds also on an idle machine.
//
// A time.Timer cannot: when nothing else runs, Go's scheduler sleeps in
// epoll_wait, whose timeout counts whole milliseconds, so a timer of 100 us fires
// after 1.1 ms. A pacer built on it sends bursts, and a pause of 300 us lasts
// four times as long. Here the kernel's high-resolution timer makes a file
// readable, and the goroutine waits for that file in the netpoller like for a
// socket:
//
//	Arm(at) ──timerfd_settime──▶ timerfd ──readable──▶ netpoller ──▶ Wait returns
//
// FileWatch wakes a goroutine when a file changes (inotify).
//
// Read in this order: clock.go (Now), timer.go (Timer), filewatch.go (FileWatch).
//
// Invariants:
//   - one-deadline: a Timer has at most one deadline; the last Arm counts.
//   - never-early: Wait does not return before the deadline that was armed last.
//   - close-wakes: after Close no Wait blocks.
//
// It does not run functions, repeat, or keep a queue of deadlines: the owner
// folds its deadlines into the earliest and arms that. It reads the machine's
// clock, so it is of no use inside a testing/synctest bubble.
package timer

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"softswitch/unit"
)

// Timer is a one-shot timer. Arm and Close may be called from any goroutine,
// Wait from one goroutine at a time. The zero value is not usable: see New.
type Timer struct {
	file *os.File
	conn syscall.RawConn
	take func(fd uintptr) bool // Timer.expired, bound once: binding allocates
	tick [8]byte               // the expiry count that a read returns; only Wait uses it
	err  error                 // of that read; only Wait uses it

	mu     sync.Mutex
	fd     int  // guarded by mu: file's descriptor, valid while !closed
	closed bool // guarded by mu
}

// New returns a timer that is not armed. It holds one file descriptor until Close.
func New() (*Timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timer: timerfd_create: %w", err)
	}
	// A non-blocking descriptor is registered with the netpoller.
	t := &Timer{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd}
	t.take = t.expired
	if t.conn, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("timer: %w", err), t.file.Close())
	}
	return t, nil
}

// Arm sets the deadline to at on the clock of Now and replaces the earlier one,
// also one that has passed but that no Wait has returned for yet. A deadline in
// the past fires at once; unit.Never disarms. Arm on a closed timer does nothing.
//
// It costs one system call of about 0.5 us and allocates nothing.
func (t *Timer) Arm(at unit.Time) {
	spec := unix.ItimerSpec{}
	if at != unit.Never {
		// A value of zero would disarm; nanosecond 1 is as much in the past.
		spec.Value = unix.NsecToTimespec(int64(max(at, 1)))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		// Not reachable: the descriptor is ours and the value is normalised.
		panic(fmt.Sprintf("timer: timerfd_settime(%d): %v", at, err))
	}
}

// Wait blocks until the deadline passes and returns nil, once per deadline. If
// it has passed already, it returns at once. After Close it returns an error for
// which errors.Is(err, os.ErrClosed) holds.
func (t *Timer) Wait() error {
	err := t.conn.Read(t.take)
	if err == nil {
		err = t.err
	}
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return os.ErrClosed
	}
	return fmt.Errorf("timer: wait: %w", err)
}

// expired takes the expiry off the timer; false if there is none yet. It does not
// tell Go's scheduler of the system call, which cannot block: see docs/decisions/realtime.md.
func (t *Timer) expired(fd uintptr) bool {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.tick[0])), uintptr(len(t.tick)))
		switch errno {
		case 0:
			t.err = nil
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		default:
			t.err = errno
		}
		return true
	}
}

// Close disarms the timer for ever and ends a Wait. Closing twice is fine.
func (t *Timer) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()
	return t.file.Close()
}

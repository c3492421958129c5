package netnslab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
	"softswitch/internal/safefile"
)

// markVariable names the environment variable that carries the lab's token in every
// process of the lab. It finds processes whose pid was not recorded, because the
// program was killed in between, and children of processes.
const markVariable = "SOFTSWITCH_LAB"

// readyTimeout is how long a process may take to be ready.
const readyTimeout = 10 * time.Second

// readyMore is how much longer, for each of its nodes, a process that runs several may take: 36 nodes took 16 s beside
// programs that kept all processors busy.
const readyMore = 500 * time.Millisecond

// spawn starts the command of a node in the namespace, or in this program's, and returns its pid and a
// handle (pidfd) that the caller closes.
func spawn(ns netns.NsHandle, s start, token string) (pid, handle int, err error) {
	path, err := exec.LookPath(s.Command[0])
	if err != nil {
		return 0, -1, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, -1, err
	}
	defer null.Close()
	log, err := safefile.OpenFile(filepath.Join(s.Dir, LogName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 0, -1, err
	}
	defer log.Close()
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   environment(s.Env, token),
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &handle},
	}
	enter := func() error { return nil }
	if ns.IsOpen() {
		enter = netspace.Enter(ns)
	}
	err = netspace.Within(enter, func() error {
		run := func() (err error) {
			pid, err = syscall.ForkExec(path, s.Command, attr)
			return err
		}
		if s.Realtime {
			return realtime(run)
		}
		return run()
	})
	if err != nil {
		return 0, -1, &fs.PathError{Op: "start", Path: path, Err: err}
	}
	if handle < 0 {
		return pid, -1, errors.New("the kernel has no pidfd (before 5.4)")
	}
	return pid, handle, nil
}

// realtime runs fn with the calling thread at the lowest real-time priority, which a
// process that fn starts inherits, and then restores the thread. Where that is not
// permitted it runs fn all the same. Preconditions: the goroutine is locked to its
// thread.
func realtime(fn func() error) error {
	rr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	was, err := unix.SchedGetAttr(0, 0)
	if err != nil || unix.SchedSetAttr(0, &rr, 0) != nil {
		return fn()
	}
	err = fn()
	return errors.Join(err, os.NewSyscallError("sched_setattr", unix.SchedSetAttr(0, was, 0)))
}

// environment is this program's own with the node's additions and the mark.
func environment(extra []string, token string) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, markVariable+"=")
	})
	return append(append(env, extra...), markVariable+"="+token)
}

// readStat reads /proc/PID/stat of a process; the error is fs.ErrNotExist if there is
// none of that pid.
func readStat(pid int) (s procfs.ProcStat, err error) {
	p, err := procfs.NewProc(pid)
	if err == nil {
		s, err = p.Stat()
	}
	if errors.Is(err, syscall.ESRCH) { // it ended between open and read
		err = fs.ErrNotExist
	}
	return s, err
}

// A process is a pid with the start time that makes it unique in this boot.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot
}

// status returns "running", "stopped" or "dead". It reaps an ended child of this
// program.
func (p process) status() string {
	s, err := readStat(p.PID)
	if err != nil || s.Starttime != p.Start {
		return "dead"
	}
	status := StatusOf(s)
	if status == "dead" && s.PPID == os.Getpid() {
		unix.Wait4(p.PID, nil, unix.WNOHANG, nil)
	}
	return status
}

// StatusOf is what a process that is there does: "running", "stopped" or, if nothing but its exit status is
// left of it, "dead". One that a debugger holds is stopped.
func StatusOf(s procfs.ProcStat) string {
	switch s.State {
	case "Z", "X":
		return "dead"
	case "T", "t":
		return "stopped"
	}
	return "running"
}

// handle opens a handle on the process: from then on its pid is not reused
// unnoticed. The error is os.ErrProcessDone if the process is not there.
func (p process) handle() (int, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return -1, os.ErrProcessDone
	}
	if err != nil {
		return -1, os.NewSyscallError("pidfd_open", err)
	}
	if p.status() == "dead" {
		unix.Close(fd)
		return -1, os.ErrProcessDone
	}
	return fd, nil
}

// errNoToken is the error for a process that is not the lab's, whatever its record says.
var errNoToken = errors.New("it does not carry the lab's token, or is not of this user")

// carries reports whether the process is of this user and carries the token. Anybody can start
// a process with any environment: a token alone proves nothing.
func (p process) carries(token string) bool {
	proc, err := procfs.NewProc(p.PID)
	if err != nil {
		return false
	}
	is, err := proc.NewStatus()
	if err != nil || is.UIDs[0] != uint64(os.Getuid()) { // the real one: that of the user who started it
		return false
	}
	return token != "" && tokenOf(filepath.Join("/proc", strconv.Itoa(p.PID))) == token
}

// handleOf is handle of a process that carries the token.
func (p process) handleOf(token string) (int, error) {
	fd, err := p.handle()
	if err == nil && !p.carries(token) {
		unix.Close(fd)
		return -1, errNoToken
	}
	return fd, err
}

func send(handle int, sig unix.Signal) error {
	err := unix.PidfdSendSignal(handle, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return os.NewSyscallError("pidfd_send_signal", err)
}

// marked returns all processes of this user that carry the token.
func marked(token string) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if s, err := readStat(pid); err == nil && s.State != "Z" && (process{pid, s.Starttime}).carries(token) {
			found = append(found, process{pid, s.Starttime})
		}
	}
	return found, nil
}

// terminate ends the processes: SIGTERM, and after grace SIGKILL. A stopped process is
// continued, because it could not handle SIGTERM otherwise.
func terminate(procs []process, grace time.Duration) error {
	alive := map[int]process{} // by handle
	defer func() {
		for fd := range alive {
			unix.Close(fd)
		}
	}()
	for _, p := range procs {
		fd, err := p.handle()
		if errors.Is(err, os.ErrProcessDone) {
			continue
		}
		if err != nil {
			return err
		}
		alive[fd] = p
	}
	for _, round := range []struct {
		sig  unix.Signal
		wait time.Duration
	}{{unix.SIGTERM, grace}, {unix.SIGKILL, killWait}} {
		for fd := range alive {
			for _, sig := range []unix.Signal{round.sig, unix.SIGCONT} {
				if err := send(fd, sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
					return err
				}
			}
		}
		if err := awaitEnd(alive, time.Now().Add(round.wait)); err != nil {
			return err
		}
	}
	for _, p := range alive {
		return fmt.Errorf("process %d is still there %v after SIGKILL", p.PID, killWait)
	}
	return nil
}

// awaitEnd waits until every process has ended or the deadline has passed, and removes
// those that have ended from alive.
func awaitEnd(alive map[int]process, deadline time.Time) error {
	for len(alive) > 0 {
		left := time.Until(deadline)
		if left < 0 {
			return nil
		}
		ended, err := pollHandles(alive, left)
		if err != nil {
			return err
		}
		for _, fd := range ended {
			alive[fd].status() // reap it
			unix.Close(fd)
			delete(alive, fd)
		}
	}
	return nil
}

// pollHandles returns the handles whose processes have ended, as soon as there is one;
// empty if the wait ends first.
func pollHandles(alive map[int]process, wait time.Duration) ([]int, error) {
	fds := make([]unix.PollFd, 0, len(alive))
	for fd := range alive {
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	_, err := unix.Poll(fds, int(wait.Milliseconds())+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return nil, os.NewSyscallError("poll", err)
	}
	var ended []int
	for _, f := range fds {
		if f.Revents != 0 {
			ended = append(ended, int(f.Fd))
		}
	}
	return ended, nil
}

// awaitReady waits until the file at path exists and, if it is a socket, listens. It
// fails if a process of kids ends (*deadError), after the timeout, or when ctx ends.
func awaitReady(ctx context.Context, path string, kids map[int]process, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		why := notReady(path)
		if why == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after %v: %w", timeout, why)
		}
		ended, err := pollHandles(kids, pause)
		if err != nil {
			return err
		}
		if len(ended) > 0 {
			return &deadError{kids[slices.Min(ended)].PID}
		}
	}
}

// deadError says that a process of the lab ended before the lab was complete.
type deadError struct{ PID int }

func (e *deadError) Error() string { return fmt.Sprintf("process %d ended", e.PID) }

// notReady returns nil if the file exists and, if it is a socket, accepts a connection.
// The directory is addressed by a descriptor, because the address of a unix socket is
// limited to 107 characters and a run directory may be longer.
func notReady(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := net.Dial("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// tail returns the last lines of a node's log, at most 2000 bytes.
func tail(dir string) string {
	const most = 2000
	text, err := os.ReadFile(filepath.Join(dir, LogName))
	if err != nil {
		return err.Error()
	}
	if len(text) == 0 {
		return "(its log is empty)"
	}
	if len(text) > most {
		text = text[len(text)-most:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return strings.TrimRight(string(text), "\n")
}

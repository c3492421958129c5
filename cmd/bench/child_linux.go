package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
)

// grace is how long a process has to end after SIGTERM, before SIGKILL.
const grace = 2 * time.Second

// child is a process in a namespace. It ends with stop, and with this program.
type child struct {
	name  string
	cmd   *exec.Cmd
	log   string         // file of its output
	stdin io.WriteCloser // open until the process ends: some programs end with it
	pipe  *os.File       // its standard output, if launch.pipe was set
	out   *bufio.Reader  // of pipe
	ended chan struct{}  // closed when it has ended
	err   error          // how; valid when ended is closed
}

// launch says what to start and where.
type launch struct {
	room room
	cpu  int
	dir  string // for its log
	name string // of its log, unique in dir
	argv []string
	env  []string // added to this program's
	pipe bool     // keep standard output apart from the log, in child.out
}

// start starts a process. Its log takes its output.
func start(l launch) (*child, error) {
	c := &child{name: l.name, log: filepath.Join(l.dir, l.name+".log"), ended: make(chan struct{})}
	log, err := safefile.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c.cmd = exec.Command(l.argv[0], l.argv[1:]...)
	c.cmd.Dir = l.dir
	c.cmd.Env = append(os.Environ(), l.env...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	// In a session of its own it does not see the terminal's interrupt: stop ends it.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if l.pipe {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer w.Close()
		c.pipe, c.out, c.cmd.Stdout = r, bufio.NewReader(r), w
	}
	if err := within(l.room.ns, l.cpu, c.cmd.Start); err != nil {
		c.pipe.Close()
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// stop ends the process and waits for its end. Stopping twice is fine.
func (c *child) stop() {
	defer c.pipe.Close() // without a pipe it returns an error, which is ignored
	c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(grace):
		c.cmd.Process.Kill()
		<-c.ended
	}
}

// cpuTime returns how long the process's threads have run, in kernel and user mode.
func (c *child) cpuTime() (time.Duration, error) {
	// The kernel's number of a process's clock: its pid, inverted, over the kind of
	// clock (clock_getcpuclockid(3)).
	const scheduled = 2 // CPUCLOCK_SCHED: exact, not by ticks
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^c.cmd.Process.Pid)<<3|scheduled, &ts); err != nil {
		return 0, fmt.Errorf("CPU time of %s: clock_gettime: %w", c.name, err)
	}
	return time.Duration(ts.Nano()), nil
}

// died returns how the process ended, with the end of its output, or nil while it runs.
func (c *child) died() error {
	select {
	case <-c.ended:
		return c.failure()
	default:
		return nil
	}
}

// failure returns the error of a process that has ended.
func (c *child) failure() error {
	said, _ := os.ReadFile(c.log)
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := strings.Join(lines[max(0, len(lines)-3):], "; ")
	if c.err != nil {
		return fmt.Errorf("%s ended (%w): %s", c.name, c.err, last)
	}
	return fmt.Errorf("%s ended: %s", c.name, last)
}

// readLine reads a line of the process's standard output.
func (c *child) readLine(ctx context.Context) (string, error) {
	defer context.AfterFunc(ctx, c.stop)() // which ends the output
	line, err := c.out.ReadString('\n')
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, io.EOF):
		<-c.ended
		return "", c.failure()
	}
	return strings.TrimSpace(line), err
}

// run runs a short program to its end.
func run(ctx context.Context, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, strings.TrimSpace(string(said)))
	}
	return nil
}

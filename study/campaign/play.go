package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
	"softswitch/internal/version"
	"softswitch/study/shard"
)

// Run plays all missing shards, one after the other, each on all processors, and tells show
// of each.
func (c *Campaign) Run(ctx context.Context, show io.Writer) error {
	s, err := c.Status()
	if err != nil {
		return err
	}
	play := func(number int, wait bool) error {
		fmt.Fprintf(show, "shard %d of %d\n", number, c.Shards)
		return c.Play(ctx, number, wait, show)
	}
	var busy []int
	for _, number := range s.rest() {
		switch err := play(number, false); {
		case errors.Is(err, errBusy):
			busy = append(busy, number)
		case err != nil:
			return err
		}
	}
	for _, number := range busy {
		if err := play(number, true); err != nil {
			return err
		}
	}
	return nil
}

// rest is the shards that remain to be played.
func (s *Status) rest() []int { return append(s.Missing, s.Damaged...) }

var errBusy = errors.New("it is being played")

// Play plays a shard, unless it is there. If somebody else plays it, it waits for the end of
// that or returns errBusy.
func (c *Campaign) Play(ctx context.Context, number int, wait bool, show io.Writer) error {
	if number < 1 || number > c.Shards {
		return fmt.Errorf("campaign: --shard %d; valid: 1 to %d", number, c.Shards)
	}
	if now := version.Exact(); now != c.Program {
		return fmt.Errorf("campaign: %s was begun by softswitch %s, and this is %s: results may differ", c.dir, c.Program, now)
	}
	// Anyone who can open a file can lock it, and keep a shard from being played.
	for dir, mode := range map[string]os.FileMode{"playing": 0o700, "shards": 0o755} {
		if err := safefile.MkdirAll(filepath.Join(c.dir, dir), mode); err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
	}
	// The process that has the lock of this file writes it. It is not emptied before, because it
	// may be a finished shard, under its old name.
	out, err := safefile.OpenFile(filepath.Join(c.dir, "playing", fmt.Sprint(number)), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer out.Close()
	if err := lock(ctx, out, wait); err != nil {
		return fmt.Errorf("campaign: shard %d: %w", number, err)
	}
	if _, err := shard.Read(c.path(number)); err == nil {
		return nil
	}
	if err := c.play(ctx, number, out, show); err != nil {
		return fmt.Errorf("campaign: shard %d of %s: %w", number, c.dir, err)
	}
	return nil
}

// lock takes the lock of a file. It goes with the process, however that ends.
func lock(ctx context.Context, f *os.File, wait bool) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	if !wait {
		return errBusy
	}
	// The lock is of the open file, which this descriptor is of too, and goes when both are
	// closed.
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	locked := make(chan error, 1)
	go func() {
		err := unix.Flock(fd, unix.LOCK_EX)
		unix.Close(fd)
		locked <- err
	}()
	select {
	case err := <-locked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// play writes a shard to out, and gives it its name.
func (c *Campaign) play(ctx context.Context, number int, out *os.File, show io.Writer) error {
	if err := out.Truncate(0); err != nil {
		return err
	}
	if err := c.execute(ctx, shard.Part{Number: number, Of: c.Shards}, out, show); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	if _, err := shard.Read(out.Name()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), c.path(number)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(c.path(number)))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// execute runs the command for a part. It ends with this process.
func (c *Campaign) execute(ctx context.Context, p shard.Part, out *os.File, show io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, c.Arguments...), "--shard", p.String())...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, out, show
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// The signal is of the end of the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // played, but not as expected: a result
	}
	return err
}

// items is how many items the command has. It checks all that the command depends on.
func (c *Campaign) items(ctx context.Context, show io.Writer) (int, error) {
	out, err := os.CreateTemp("", "campaign-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	if err := c.execute(ctx, shard.Part{Number: shard.MaxParts, Of: shard.MaxParts}, out, show); err != nil {
		return 0, fmt.Errorf("%s cannot be played: %w", c.command(), err)
	}
	f, err := shard.Read(out.Name())
	if err != nil {
		return 0, err
	}
	return f.Items, nil
}

package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ControlC starts a program at a terminal, waits until that shows a text, types Ctrl-C, and wants the
// program to say so and to exit with 2, the status of what was not done.
func ControlC(t *testing.T, shown, program string, args ...string) {
	t.Helper()
	keyboard, screen := openTerminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	for typed := false; ; {
		n, err := keyboard.Read(buf)
		seen.Write(buf[:n])
		if !typed && n > 0 && strings.Contains(seen.String(), shown) {
			typed = true
			if _, err := io.WriteString(keyboard, "\x03"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // EIO: nobody has the terminal open any more
			break
		}
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(seen.String(), "interrupted") {
		t.Errorf("exit status %d, want 2; the terminal shows:\n%q", code, seen.String())
	}
}

// openTerminal makes a pseudo-terminal: what is written to keyboard is typed, and what is
// read from it was shown.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return keyboard, screen
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"softswitch/cmd/softswitch/cli"
)

// TestControlC types Ctrl-C at the terminal of every long command, once it shows how far
// it is: each ends, with the status of what was not done.
func TestControlC(t *testing.T) {
	for args, shown := range map[string]string{
		"sim run " + endless(t, "hu-fig3.yaml"):                                  "simulated ns",
		"sim run --repeat 9 " + endless(t, "hu-fig3.yaml"):                       "simulated us",
		"sweep --set duration=20ms,1h --workers 2 " + endless(t, "hu-fig4.yaml"): "20ms,1,true,", // a whole row
		"sim scale":                             "fat-tree",
		"sim boundary":                          "routing loops",
		"sim figures --out " + t.TempDir():      "routing loops", // the last of them
		"sim bench --runs 1000 --duration 20ms": "runs",
		"sim fuzz --n 1000000 --out /dev/null":  "cases",
		"compare --runs 1000000 --scenarios shpiner-fig4 --systems no-flood,itsy": "cause",
		"compare traffic --runs 1000 --scenarios shpiner-fig4":                    "runs",
		"campaign run " + longCampaign(t):                                         "cases",
		"compare --runs 60 --scenarios fattree-no-loop --systems no-flood,itsy":   "no-flood",
	} {
		t.Run(strings.ReplaceAll(args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			typeControlC(t, strings.Fields(args), shown)
		})
	}
}

// longCampaign is the folder of a campaign that takes an hour.
func longCampaign(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "campaign")
	out, err := exec.Command("softswitch", "campaign", "init", "--shards", "2", dir, "sim", "fuzz", "--n", "1000000").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// endless is a scenario file that takes an hour.
func endless(t *testing.T, file string) string {
	t.Helper()
	return edited(t, file, "\nduration: ", "\nduration: 1h # ")
}

// edited is a scenario file in which other texts are in the place of some, each behind the one
// that it replaces.
func edited(t *testing.T, file string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../scenarios", file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !bytes.Contains(text, []byte(oldNew[i])) {
			t.Fatalf("%s has no %q to replace", file, oldNew[i])
		}
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(strings.NewReplacer(oldNew...).Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// typeControlC starts softswitch at a terminal, waits until that shows a text, types
// Ctrl-C, and wants the command to say so and to exit with cli.ExitError.
func typeControlC(t *testing.T, args []string, shown string) {
	t.Helper()
	keyboard, screen := openTerminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "softswitch", args...)
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
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitError || !strings.Contains(seen.String(), "interrupted") {
		t.Errorf("exit status %d, want %d; the terminal shows:\n%q", code, cli.ExitError, seen.String())
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

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"softswitch/internal/version"
)

// Program makes c, with all its commands, the root of a program: c gets a version and grouped help,
// which names topics, and leaves errors to Main. It returns c.
func Program(c *cobra.Command, topics ...string) *cobra.Command {
	tellExitStatus(c)
	mapHelp(c, topics)
	c.Version = fmt.Sprintf("%s, %s %s/%s", version.Text(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c.SetVersionTemplate(c.Name() + " {{.Version}}\n")
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())
	})
	return c
}

// Main runs the program with the arguments of the process until it ends or a signal arrives, and
// exits with its status unless that is 0. Errors begin with the name of the program.
func Main(program *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), ending()...)
	defer stop()
	defer context.AfterFunc(ctx, interruptReading)()
	err := program.ExecuteContext(ctx)
	switch {
	case err == nil:
	case errors.Is(err, ErrUnmet):
		os.Exit(ExitUnmet)
	default:
		var code ExitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", program.Name(), explain(ctx, err))
		os.Exit(ExitError)
	}
}

// ending returns the signals that end a command gracefully. SIGHUP, sent when the terminal closes,
// is included unless nohup ignores it. SIGQUIT is not: it prints all goroutine stacks, to debug a
// command that hangs.
func ending() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// explain adds the remedy to an error, where it is known.
func explain(ctx context.Context, err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return "interrupted: " + text
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 && !strings.Contains(text, "run with sudo"):
		return text + "; run with sudo"
	}
	return text
}

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

// Program makes c, which has its commands, a program: it says which build it is, shows its commands in
// groups, and leaves errors to Main. It returns c.
func Program(c *cobra.Command) *cobra.Command {
	tellExitStatus(c)
	mapHelp(c)
	c.Version = fmt.Sprintf("%s, %s %s/%s", version.Text(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c.SetVersionTemplate(c.Name() + " {{.Version}}\n")
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())
	})
	return c
}

// Main does what the arguments say, until a signal ends it, and exits with the status of that unless
// it is 0. Errors begin with the name of the program.
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

// ending are the signals that end a command in order. SIGHUP, of a terminal that is
// closed, is one unless nohup had it ignored. SIGQUIT is none: it prints what every
// goroutine does, for when a command does not end.
func ending() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// explain makes an error say what to do about it, where that is known.
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

// Command softswitch is a userspace Ethernet switch with Priority-based Flow
// Control, a lab of network namespaces to run it in, and deadlock detection.
//
// `softswitch help` lists the commands. Here are their flags, their words and their exit
// codes; what they do is in the packages.
//
// Read in this order: main.go (exit codes, the commands), cli (what commands share), nodecmd (one
// node, and what running ones answer), labcmd (labs), simcmd (virtual time), then those that read
// files or look at the machine: files.go, check.go, import.go, bench.go, doctor.go, gen.go,
// wireshark.go.
package main

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

	"softswitch/cmd/softswitch/cli"
	"softswitch/cmd/softswitch/labcmd"
	"softswitch/cmd/softswitch/nodecmd"
	"softswitch/cmd/softswitch/simcmd"
	"softswitch/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ending()...)
	defer stop()
	err := root().ExecuteContext(ctx)
	switch {
	case err == nil:
	case errors.Is(err, cli.ErrUnmet):
		os.Exit(cli.ExitUnmet)
	default:
		var code cli.ExitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		fmt.Fprintln(os.Stderr, "softswitch:", explain(ctx, err))
		os.Exit(cli.ExitError)
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

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "softswitch",
		Short: "A userspace Ethernet switch with PFC, and deadlock detection",
		Long: `softswitch is an Ethernet switch in user space, with IEEE 802.1Qbb Priority-based
Flow Control and detection of PFC deadlocks, and a lab that builds fabrics of it
out of network namespaces.

Exit status: 0 done and as expected; 1 done, but not as expected; 2 not done.`,
		Version:       fmt.Sprintf("%s, %s %s/%s", version.Text(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.SetVersionTemplate("softswitch {{.Version}}\n")
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())
	})
	c.AddCommand(nodecmd.Commands()...)
	c.AddCommand(labcmd.Commands()...)
	c.AddCommand(simcmd.Commands()...)
	c.AddCommand(decodeCommand(), replayCommand(), plotCommand(), taggerCommand(), validateCommand(), checkCommand(), importCommand())
	c.AddCommand(doctorCommand(), benchCommand(), genCommand(), wiresharkCommand())
	return c
}

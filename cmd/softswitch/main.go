// Command softswitch is a userspace Ethernet switch with Priority-based Flow
// Control, a lab of network namespaces to run it in, and deadlock detection.
//
// `softswitch help` lists the commands. Here are their flags, their words and their exit
// codes; what they do is in the packages.
//
// Read in this order: main.go (the exit codes), then a command: run.go (a switch, a host),
// nic.go, lab.go with lab_run.go, lab_nodes.go and lab_look.go, sim.go, sweep.go, cause.go, compare.go,
// merge.go, campaign.go, show.go, clear.go, pfcwd.go, files.go (commands that read a file), check.go, import.go, bench.go,
// doctor.go. They share target.go (which nodes a command is about), plan.go (scenarios),
// set.go (changes to them) and print.go.
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

	"softswitch/internal/version"
	netnslab "softswitch/netns-lab"
)

// Exit codes: 0 done and as expected, 1 done but not as expected (a scenario's
// expectation, a deadlock), 2 not done (bad input, no permission, a fault).
const (
	exitUnmet = 1
	exitError = 2
)

// errUnmet makes softswitch exit with exitUnmet and without another word.
var errUnmet = errors.New("the result is not as expected")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ending()...)
	defer stop()
	err := root().ExecuteContext(ctx)
	switch {
	case err == nil:
	case errors.Is(err, errUnmet):
		os.Exit(exitUnmet)
	default:
		var code exitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		fmt.Fprintln(os.Stderr, "softswitch:", explain(ctx, err))
		os.Exit(exitError)
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

// exitCode is the exit code of a command that was run in a node, passed on.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// passOn is the result of a command that was run in a node: its exit code is softswitch's.
func passOn(code int, err error) error {
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}

// stdio is what such a command reads and writes.
var stdio = netnslab.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}

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
	c.AddCommand(runCommand(), hostCommand(), nicCommand(), labCommand(), simCommand(), demoCommand(), decodeCommand(), doctorCommand(), benchCommand(), replayCommand(), compareCommand(), plotCommand(), taggerCommand(), causeCommand(), sweepCommand(), mergeCommand(), campaignCommand())
	c.AddCommand(validateCommand(), checkCommand(), importCommand(), genCommand(), rootlessInitCommand(), latenessCommand())
	c.AddCommand(showCommand(), clearCommand(), pfcwdCommand(), authCommand(), attackCommand())
	c.AddCommand(wiresharkCommand())
	return c
}

// group makes c, a command that only holds others, refuse a name that is none of
// them. Without one it prints its help. It returns c.
func group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	var names []string
	for _, sub := range commands {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return fmt.Errorf("unknown command %q for %q; valid: %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
	}
	c.Args = cobra.ArbitraryArgs
	return c
}

// arguments checks the arguments of a command by want and, if there are too many
// or too few, says how the command is used.
func arguments(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := want(cmd, args); err != nil {
			return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// Command softswitch is a userspace Ethernet switch with Priority-based Flow
// Control, a lab of network namespaces to run it in, and deadlock detection.
//
// Each command is a file of this package; `softswitch help` lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
		fmt.Fprintln(os.Stderr, "softswitch:", err)
		os.Exit(exitError)
	}
}

// exitCode is the exit code of a command that was run in a node, passed on.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "softswitch",
		Short: "A userspace Ethernet switch with PFC, and deadlock detection",
		Long: `softswitch is an Ethernet switch in user space, with IEEE 802.1Qbb Priority-based
Flow Control and detection of PFC deadlocks, and a lab that builds fabrics of it
out of network namespaces.

Exit status: 0 done and as expected; 1 done, but not as expected; 2 not done.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(runCommand(), hostCommand(), labCommand(), demoCommand(), decodeCommand(), doctorCommand(), benchCommand())
	return c
}

package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
)

// Exit codes: 0 done and as expected, 1 done but not as expected (a scenario's
// expectation, a deadlock), 2 not done (bad input, no permission, a fault).
const (
	ExitUnmet = 1
	ExitError = 2
)

// ErrUnmet makes softswitch exit with ExitUnmet and without another word.
var ErrUnmet = errors.New("the result is not as expected")

// ExitCode is the exit code of a command that was run in a node, passed on.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// PassOn is the result of a command that was run in a node: its exit code is softswitch's.
func PassOn(code int, err error) error {
	if err == nil && code != 0 {
		return ExitCode(code)
	}
	return err
}

// Stdio is what such a command reads and writes.
var Stdio = netnslab.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}

// Group makes c, a command that only holds others, refuse a name that is none of
// them. Without one it prints its help. It returns c.
func Group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	var names []string
	for _, sub := range c.Commands() {
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

// Grouped adds commands to c, below a title in its help.
func Grouped(c *cobra.Command, id, title string, commands ...*cobra.Command) {
	c.AddGroup(&cobra.Group{ID: id, Title: title + ":"})
	for _, sub := range commands {
		sub.GroupID = id
	}
	c.AddCommand(commands...)
}

// Arguments checks the arguments of a command by want and, if there are too many
// or too few, says how the command is used.
func Arguments(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := want(cmd, args); err != nil {
			return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

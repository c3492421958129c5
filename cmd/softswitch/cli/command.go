package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/internal/lists"
	netnslab "softswitch/netns-lab"
)

// Exit codes: 0 done and as expected, 1 done but not as expected (a scenario's
// expectation, a deadlock), 2 not done (bad input, no permission, a fault).
const (
	ExitUnmet = 1
	ExitError = 2
)

// ErrUnmet makes softswitch exit with ExitUnmet and print no error.
var ErrUnmet = errors.New("the result is not as expected")

// ExitCode is the exit code of a command that ran in a node. softswitch exits with it.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// PassOn returns the result of a command that ran in a node: err, or code as an ExitCode.
func PassOn(code int, err error) error {
	if err == nil && code != 0 {
		return ExitCode(code)
	}
	return err
}

// Stdio is the standard input and output that a command in a node inherits.
var Stdio = netnslab.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}

func init() { cobra.EnableCommandSorting = false } // help lists commands in order of use

// group is the annotation of commands that only contain subcommands.
const group = "group"

// IsGroup reports whether a command only contains subcommands.
func IsGroup(c *cobra.Command) bool {
	_, is := c.Annotations[group]
	return is
}

// Group adds subcommands to c and makes c refuse a call without a subcommand or with an unknown
// one. It returns c.
func Group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	c.Annotations = map[string]string{group: ""}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		subs := lists.Where(cmd.Commands(), func(sub *cobra.Command) bool {
			return sub.IsAvailableCommand() && sub.Name() != "completion" // cobra's own
		})
		valid := strings.Join(lists.Map(subs, (*cobra.Command).Name), ", ")
		if len(args) == 0 {
			return fmt.Errorf("%q: which command? valid: %s; see `%s --help`", cmd.CommandPath(), valid, cmd.CommandPath())
		}
		return fmt.Errorf("unknown command %q for %q; valid: %s", args[0], cmd.CommandPath(), valid)
	}
	c.Args = cobra.ArbitraryArgs
	return c
}

// Grouped adds commands to c, below a title in the help of c.
func Grouped(c *cobra.Command, id, title string, commands ...*cobra.Command) {
	c.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, sub := range commands {
		sub.GroupID = id
	}
	c.AddCommand(commands...)
}

// With adds subcommands to c, which also runs without one, and returns c.
func With(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	return c
}

// Formerly adds commands under their former names: they still work, but help hides them.
func Formerly(c *cobra.Command, commands ...*cobra.Command) {
	for _, old := range commands {
		old.Hidden = true
	}
	c.AddCommand(commands...)
}

// FormerFlag adds a flag of c under its former name: it still works, but help hides it.
func FormerFlag(c *cobra.Command, former, name string) {
	f := *c.Flags().Lookup(name)
	f.Name, f.Hidden = former, true
	c.Flags().AddFlag(&f)
}

// GoesWith returns an error if flag is set on c but there, the presence of with, is false.
func GoesWith(c *cobra.Command, flag, with string, there bool) error {
	if there || !c.Flags().Changed(flag) {
		return nil
	}
	return fmt.Errorf("%s: --%s goes with %s", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), flag, with)
}

// Arguments wraps want: its errors also show the usage line of the command.
func Arguments(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := want(cmd, args); err != nil {
			return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mapHelp replaces the help of commands with grouped subcommands by a map of the groups that fits
// on one screen. That of the program names topics of "help" too.
func mapHelp(program *cobra.Command, topics []string) {
	usual := program.HelpFunc()
	program.SetHelpFunc(func(c *cobra.Command, args []string) {
		if len(c.Groups()) == 0 {
			usual(c, args)
			return
		}
		writeMap(c.OutOrStdout(), c)
		if c == program && len(topics) > 0 {
			fmt.Fprintf(c.OutOrStdout(), "More: help COMMAND|%s\n", strings.Join(topics, "|"))
			return
		}
		fmt.Fprintf(c.OutOrStdout(), "`%s COMMAND --help` says more about a command.\n", c.CommandPath())
	})
}

// columns is the maximum width of help.
const columns = 80

// oneColumn is the maximum number of commands shown one per line; above it, each line shows two.
const oneColumn = 20

func writeMap(out io.Writer, c *cobra.Command) {
	fmt.Fprintf(out, "%s\n\n", c.Long)
	title, name, all := 0, 0, 0
	for _, g := range c.Groups() {
		title = max(title, len(g.Title))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			name, all = max(name, len(sub.Name())), all+1
		}
	}
	perLine, width := 1, 0
	if all > oneColumn {
		perLine, width = 2, (columns-title-2-1)/2-name-2
	}
	for _, g := range c.Groups() {
		var cells []string
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				cells = append(cells, fmt.Sprintf("%-*s  %-*s", name, sub.Name(), width, sub.Short))
			}
		}
		heading := g.Title
		for line := range slices.Chunk(cells, perLine) {
			fmt.Fprintf(out, "%-*s  %s\n", title, heading, strings.TrimRight(strings.Join(line, " "), " "))
			heading = ""
		}
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" { // which everybody knows
			flags.AddFlag(f)
		}
	})
	fmt.Fprint(out, flags.FlagUsages())
}

// exitStatus is the help text on the exit status of commands whose help has no other.
const exitStatus = "Exit status: 0 done; 2 not done."

// tellExitStatus adds exitStatus to the help of every runnable command that does not describe its
// exit status.
func tellExitStatus(c *cobra.Command) {
	for _, sub := range c.Commands() {
		tellExitStatus(sub)
	}
	if !IsGroup(c) && c.Runnable() && !strings.Contains(c.Long, "Exit status") {
		if c.Long == "" {
			c.Long = c.Short + "."
		}
		c.Long += "\n\n" + exitStatus
	}
}

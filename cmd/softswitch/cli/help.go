package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mapHelp makes the help of a command whose commands stand in groups a map of them, on one screen.
func mapHelp(program *cobra.Command) {
	usual := program.HelpFunc()
	program.SetHelpFunc(func(c *cobra.Command, args []string) {
		if len(c.Groups()) == 0 {
			usual(c, args)
			return
		}
		writeMap(c.OutOrStdout(), c)
	})
}

// columns are as many as help may take.
const columns = 80

// oneColumn is how many commands at most have a line each: more than these, and two share one.
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
		if f.Name != "help" {
			flags.AddFlag(f)
		}
	})
	fmt.Fprintf(out, "\n%s`%s COMMAND --help` says more of a command.\n", flags.FlagUsages(), c.CommandPath())
}

// exitStatus is what help says of commands that say nothing else of theirs.
const exitStatus = "Exit status: 0 done; 2 not done."

// tellExitStatus has the help of every command that does something say what its exit status means.
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

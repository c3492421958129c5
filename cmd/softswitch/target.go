package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"softswitch/internal/control"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

// target is which running switches a command is about: the one behind a control
// socket, or those of a lab.
type target struct{ socket, lab string }

// flags gives c, and the commands below it, the flags of a target.
func (t *target) flags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&t.socket, "socket", "", "control socket of one switch, instead of a lab")
	nameFlag(c, f, &t.lab, netnslab.DefaultName)
	c.MarkPersistentFlagFilename("socket", "sock")
}

// nameFlag gives c the flag --name, of a lab, which is checked when it is given.
func nameFlag(c *cobra.Command, f *pflag.FlagSet, name *string, usual string) {
	*name = usual
	f.Var((*labName)(name), "name", "name of the lab")
	c.RegisterFlagCompletionFunc("name", completeLabs)
}

// labName is the value of --name.
type labName string

func (n *labName) String() string { return string(*n) }

// Type is what help says of the value.
func (n *labName) Type() string { return "string" }

func (n *labName) Set(text string) error {
	*n = labName(text)
	return netnslab.CheckName(text)
}

// takeName takes the lab's name from the arguments, if it is there.
func takeName(cmd *cobra.Command, name *string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Changed("name") && *name != args[0] {
		return fmt.Errorf("%s: both --name %s and %q: name one lab", cmd.CommandPath(), *name, args[0])
	}
	return (*labName)(name).Set(args[0])
}

func completeOneLab(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeLabs(c, args, begun)
}

func completeLabs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	labs, _ := netnslab.Labs()
	return labs, cobra.ShellCompDirectiveNoFileComp
}

// completeSwitches completes arguments by the names of the lab's switches.
func (t *target) completeSwitches(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	st, err := netnslab.Load(t.lab)
	if err != nil || t.socket != "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lab.Names(st, "switch"), cobra.ShellCompDirectiveNoFileComp
}

// switches are the switches of these names, all if there are none.
func (t *target) switches(names []string) ([]control.Endpoint, error) {
	if t.socket != "" {
		if len(names) > 0 {
			return nil, fmt.Errorf("--socket is one switch; %q names nodes of a lab", strings.Join(names, " "))
		}
		return []control.Endpoint{{Path: t.socket}}, nil
	}
	st, err := lab.Load(t.lab)
	if err != nil {
		return nil, err
	}
	nodes, err := lab.Pick(st, names, "switch")
	if err != nil {
		return nil, err
	}
	return lab.Endpoints(nodes), nil
}

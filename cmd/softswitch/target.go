package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"softswitch/internal/control"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

// target is which running nodes a command is about: the one behind a control socket, or
// those of a lab.
type target struct{ socket, lab string }

// flags gives c the flags f of a target; one is what is behind a socket.
func (t *target) flags(c *cobra.Command, f *pflag.FlagSet, one string) {
	t.socketFlag(f, one)
	nameFlag(c, f, &t.lab, netnslab.DefaultName)
}

// socketFlag gives c the flag of one node alone.
func (t *target) socketFlag(f *pflag.FlagSet, one string) {
	f.StringVar(&t.socket, "socket", "", "control socket of one "+one+", instead of a lab")
	cobra.MarkFlagFilename(f, "socket", "sock")
}

// nameFlag gives c the flag --name, of a lab, which is checked when it is given.
func nameFlag(c *cobra.Command, f *pflag.FlagSet, name *string, usual string) {
	*name = usual
	f.Var((*labName)(name), "name", "name of the lab")
	c.RegisterFlagCompletionFunc("name", labs)
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

// complete completes arguments by names of the lab.
func (t *target) complete(of func(*netnslab.State, []string) []string) completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if t.socket != "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(&t.lab, of)(c, args, begun)
	}
}

// switches are the switches of these names, all if there are none.
func (t *target) switches(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one switch; %q names nodes of a lab", lab.PickSwitches)
}

// senders are the hosts of these names, all with flows if there are none.
func (t *target) senders(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one host; %q names hosts of a lab", lab.PickSenders)
}

// nics are the NICs of these hosts, all if there are none.
func (t *target) nics(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one NIC; %q names hosts of a lab", lab.PickNICs)
}

// find is the node behind the socket, which names must not name besides, or those that
// pick finds in the lab.
func (t *target) find(names []string, both string, pick func(*netnslab.State, []string) ([]netnslab.NodeState, error)) ([]control.Endpoint, error) {
	if t.socket != "" {
		if len(names) > 0 {
			return nil, fmt.Errorf("--socket is "+both, strings.Join(names, " "))
		}
		return []control.Endpoint{{Path: t.socket}}, nil
	}
	st, err := lab.Load(t.lab)
	if err != nil {
		return nil, err
	}
	nodes, err := pick(st, names)
	if err != nil {
		return nil, err
	}
	return lab.Endpoints(nodes), nil
}

// inLab gives do the lab that is up.
func inLab(name *string, do func(cmd *cobra.Command, st *netnslab.State, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		st, err := lab.Load(*name)
		if err != nil {
			return err
		}
		return do(cmd, st, args)
	}
}

// completion is what cobra asks for the words that may come next.
type completion = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// yamlFiles completes the names of YAML files.
func yamlFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// upTo completes the first most arguments by then.
func upTo(most int, then completion) completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return then(c, args, begun)
	}
}

// offer completes arguments with those of the lab that is up, less those that are there.
func offer(lab *string, of func(st *netnslab.State, args []string) []string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		st, err := netnslab.Load(*lab)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(of(st, args), func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func nodeNames(st *netnslab.State, _ []string) []string   { return lab.Names(st, "") }
func switchNames(st *netnslab.State, _ []string) []string { return lab.Names(st, "switch") }
func hostNames(st *netnslab.State, _ []string) []string   { return lab.Names(st, "host") }
func senderNames(st *netnslab.State, _ []string) []string { return lab.Senders(st) }
func nicNames(st *netnslab.State, _ []string) []string    { return lab.NICs(st) }

// linkEnds are all nodes, then those that the first has a link to.
func linkEnds(st *netnslab.State, args []string) []string {
	if len(args) == 0 {
		return lab.Names(st, "")
	}
	return lab.Neighbours(st, args[0])
}

// labs completes the names of labs.
func labs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, _ := netnslab.Labs()
	return all, cobra.ShellCompDirectiveNoFileComp
}

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"softswitch/internal/control"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

// Target selects the running nodes that a command addresses: the node behind a control socket, or
// nodes of a lab.
type Target struct{ Socket, Lab string }

// Flags adds the flags of a target to f, a flag set of c; one is the kind of node behind a socket.
func (t *Target) Flags(c *cobra.Command, f *pflag.FlagSet, one string) {
	t.SocketFlag(f, one)
	NameFlag(c, f, &t.Lab, netnslab.DefaultName)
}

// SocketFlag adds the flag --socket, which selects one node.
func (t *Target) SocketFlag(f *pflag.FlagSet, one string) {
	f.StringVar(&t.Socket, "socket", "", "control socket of one "+one+", instead of a lab")
	cobra.MarkFlagFilename(f, "socket", "sock")
}

// NameFlag adds the flag --name of a lab to f, a flag set of c. The name is checked when it is set.
func NameFlag(c *cobra.Command, f *pflag.FlagSet, name *string, usual string) {
	*name = usual
	f.Var((*labName)(name), "name", "name of the lab")
	c.RegisterFlagCompletionFunc("name", LabNames)
}

// OwnNameFlag adds the flag --name for a lab that by default has the name of its scenario.
func OwnNameFlag(c *cobra.Command, name *string) {
	NameFlag(c, c.Flags(), name, "")
	c.Flags().Lookup("name").Usage += " (default: the scenario's)"
}

// NoNameFlag hides the inherited flag --name in the help of a command that uses no lab.
func NoNameFlag(c *cobra.Command) {
	c.Flags().String("name", "", "")
	c.Flags().MarkHidden("name")
}

// labName is the value of --name.
type labName string

func (n *labName) String() string { return string(*n) }

// Type returns the type of the value that help shows.
func (n *labName) Type() string { return "string" }

func (n *labName) Set(text string) error {
	*n = labName(text)
	return netnslab.CheckName(text)
}

// TakeName sets the lab's name to the first argument, if there is one.
func TakeName(cmd *cobra.Command, name *string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Changed("name") && *name != args[0] {
		return fmt.Errorf("%s: both --name %s and %q: name one lab", cmd.CommandPath(), *name, args[0])
	}
	return (*labName)(name).Set(args[0])
}

// Complete completes arguments with names of nodes of the lab.
func (t *Target) Complete(of func(*netnslab.State, []string) []string) Completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if t.Socket != "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Offer(&t.Lab, of)(c, args, begun)
	}
}

// Switches returns the switches with these names, or all switches if names is empty.
func (t *Target) Switches(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one switch; %q names nodes of a lab", lab.PickSwitches)
}

// Senders returns the hosts with these names, or all hosts with flows if names is empty.
func (t *Target) Senders(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one host; %q names hosts of a lab", lab.PickSenders)
}

// Nics returns the NICs of these hosts, or all NICs if names is empty.
func (t *Target) Nics(names []string) ([]control.Endpoint, error) {
	return t.find(names, "one NIC; %q names hosts of a lab", lab.PickNICs)
}

// find returns the node behind the socket, in which case names must be empty, or the nodes that
// pick finds in the lab.
func (t *Target) find(names []string, both string, pick func(*netnslab.State, []string) ([]netnslab.NodeState, error)) ([]control.Endpoint, error) {
	if t.Socket != "" {
		if err := unnamed(names, both); err != nil {
			return nil, err
		}
		return []control.Endpoint{{Path: t.Socket}}, nil
	}
	st, err := lab.Load(t.Lab)
	if err != nil {
		return nil, err
	}
	nodes, err := pick(st, names)
	if err != nil {
		return nil, err
	}
	return lab.Endpoints(nodes), nil
}

// unnamed refuses names of nodes given together with a socket.
func unnamed(names []string, both string) error {
	if len(names) > 0 {
		return fmt.Errorf("--socket is "+both, strings.Join(names, " "))
	}
	return nil
}

// Orders returns the orders to the lab, or to the node of kind one behind the socket, in which case
// names must be empty.
func (t *Target) Orders(names []string, one string) (o lab.Orders, err error) {
	if t.Socket != "" {
		return lab.OrdersBehind(t.Socket), unnamed(names, "one "+one+"; %q names hosts of a lab")
	}
	st, err := lab.Load(t.Lab)
	return lab.OrdersTo(st), err
}

// InLab returns a RunE that loads the lab and calls do with it.
func InLab(name *string, do func(cmd *cobra.Command, st *netnslab.State, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		st, err := lab.Load(*name)
		if err != nil {
			return err
		}
		return do(cmd, st, args)
	}
}

// Completion is a function by which cobra completes arguments.
type Completion = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// YAMLFiles completes the names of YAML files.
func YAMLFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// UpTo completes the first most arguments with then.
func UpTo(most int, then Completion) Completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return then(c, args, begun)
	}
}

// Offer completes arguments with the names that of returns for the lab, without those already given.
func Offer(lab *string, of func(st *netnslab.State, args []string) []string) Completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		st, err := netnslab.Load(*lab)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(of(st, args), func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// NodeNames lists the names of all nodes of a lab, for Offer and Complete. The functions below list
// the nodes of one kind.
func NodeNames(st *netnslab.State, _ []string) []string   { return lab.Names(st, "") }
func SwitchNames(st *netnslab.State, _ []string) []string { return lab.Names(st, "switch") }
func HostNames(st *netnslab.State, _ []string) []string   { return lab.Names(st, "host") }
func SenderNames(st *netnslab.State, _ []string) []string { return lab.Senders(st) }
func NICNames(st *netnslab.State, _ []string) []string    { return lab.NICs(st) }

// LinkEnds lists all nodes for the first argument, and its neighbours for the second.
func LinkEnds(st *netnslab.State, args []string) []string {
	if len(args) == 0 {
		return lab.Names(st, "")
	}
	return lab.Neighbours(st, args[0])
}

// LabNames completes the names of labs.
func LabNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, _ := netnslab.Labs()
	return all, cobra.ShellCompDirectiveNoFileComp
}

// Order calls do for every switch with these names, and prints how many succeeded.
func (t *Target) Order(cmd *cobra.Command, names []string, do func(control.Endpoint) error) error {
	ends, err := t.Switches(names)
	if err != nil {
		return err
	}
	there, _, err := control.AskAll(cmd.Context(), ends, func(e control.Endpoint) (struct{}, error) { return struct{}{}, do(e) })
	if t.Socket == "" && len(there) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "done on %d of %d switches\n", len(there), len(ends))
	}
	return err
}

// NIC returns the orders to the NIC of a host, or to the NIC behind the socket.
func (t *Target) NIC(host []string) (o lab.Orders, err error) {
	if len(host) == 0 && t.Socket == "" {
		return o, errors.New("no host; give its name, or the NIC's control socket with --socket")
	}
	if _, err := t.Nics(host); err != nil {
		return o, err
	}
	return t.Orders(host, "NIC")
}

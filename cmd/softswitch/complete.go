package main

import (
	"slices"

	"github.com/spf13/cobra"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

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

package main

import (
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

// oneYAMLFile completes the name of one YAML file.
func oneYAMLFile(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return yamlFiles(c, args, begun)
}

// labNodes completes the first argument with the nodes of the lab that is up; what
// follows it is completed by then.
func labNodes(name *string, then cobra.ShellCompDirective) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, then
		}
		st, err := netnslab.Load(*name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return lab.Names(st, ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// labLinkEnds completes two nodes with a link between them.
func labLinkEnds(name *string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		st, err := netnslab.Load(*name)
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) == 0 {
			return lab.Names(st, ""), cobra.ShellCompDirectiveNoFileComp
		}
		return lab.Neighbours(st, args[0]), cobra.ShellCompDirectiveNoFileComp
	}
}

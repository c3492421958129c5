package main

import (
	"github.com/spf13/cobra"

	"softswitch/lab/validate"
)

func validateCommand() *cobra.Command {
	return printed(&cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files and configurations of switches and hosts",
		Long: `Check scenario files and configurations of switches and hosts, which it tells apart
by their keys: a scenario has "topology", a switch "ports", a host "port". All that
is wrong with a file is told at once, with its line; of a scenario also what only
shows when its routes are computed, and whether it can be simulated and played on a
live lab. FILE "-" is standard input, here and wherever a
command reads such a file.

An editor that knows JSON Schema checks files while they are written: docs/schema.

Exit status: 0 all files are good; 1 one of them is not; 2 one could not be read.`,
		Example:           "  softswitch validate scenarios/*.yaml\n  softswitch validate --json switch.yaml",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: yamlFiles,
	}, "print a list of files with their faults as JSON", func(_ *cobra.Command, args []string) (finding, error) {
		var all validate.Files
		for _, file := range args {
			data, err := readFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, validate.Check(file, data))
		}
		return judged(all, all.OK())
	})
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/internal/strictyaml"
	"softswitch/lab/validate"
)

func validateCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
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
		RunE: func(_ *cobra.Command, args []string) error {
			var all []validate.File
			good := true
			for _, file := range args {
				data, err := readFile(file)
				if err != nil {
					return err
				}
				v := validate.Check(file, data)
				good = good && v.OK
				all = append(all, v)
			}
			if err := printValidations(os.Stdout, all, asJSON); err != nil {
				return err
			}
			if !good {
				return errUnmet
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a list of files with their faults as JSON")
	return c
}

// printValidations writes a line per file that is good, and per fault.
func printValidations(w io.Writer, all []validate.File, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	for _, v := range all {
		for _, warning := range v.Warnings {
			fmt.Fprintln(w, "warning:", warning)
		}
		for _, f := range v.Faults {
			fmt.Fprintln(w, strictyaml.Fault{File: v.Name, Line: f.Line, Key: f.Key, Text: f.Text})
		}
		if v.OK {
			if _, err := fmt.Fprintf(w, "%s: good: a %s, %s%s\n", v.Name, v.Kind, v.About, v.Where()); err != nil {
				return err
			}
		}
	}
	return nil
}

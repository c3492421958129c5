package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
)

func labList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the labs of this machine",
		Long: `List the labs that are on record: those that are up, those of which something is gone
("broken": "lab inspect" says what) and those whose record cannot be read.`,
		Example: "  softswitch lab list\n  softswitch lab list --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			all, err := netnslab.List()
			if err == nil && len(all) == 0 && !asJSON {
				fmt.Fprintln(os.Stderr, "no lab is up; see softswitch lab deploy --help")
				return nil
			}
			if err != nil {
				return err
			}
			return printFinding(all, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
)

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine lacks",
		Long: `Check what the switch and the lab need of this machine, and say what to do about
what is missing. Nothing is changed. Exit status 1 if something needed is missing.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			checks := netnslab.Doctor()
			write := checks.WriteText
			if asJSON {
				write = func(w io.Writer) error { return json.NewEncoder(w).Encode(checks) }
			}
			if err := write(os.Stdout); err != nil {
				return err
			}
			if checks.Lacking() {
				return errUnmet
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

package main

import (
	"encoding/json"
	"fmt"
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
			if asJSON {
				if err := json.NewEncoder(os.Stdout).Encode(checks); err != nil {
					return err
				}
			}
			lacking := false
			for _, k := range checks {
				lacking = lacking || !k.OK && k.Needed
				if asJSON {
					continue
				}
				mark := "ok  "
				switch {
				case !k.OK && !k.Needed:
					mark = "note"
				case !k.OK:
					mark = "LACK"
				}
				fmt.Printf("%s  %-22s %s\n", mark, k.Name, k.Detail)
				if !k.OK && k.Remedy != "" {
					fmt.Printf("      %-22s -> %s\n", "", k.Remedy)
				}
			}
			if lacking {
				return errUnmet
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

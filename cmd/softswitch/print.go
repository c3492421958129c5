package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Finding is what a command found out, in words; its JSON is for programs.
type Finding interface{ WriteText(io.Writer) error }

// printed makes c print what find finds, as JSON with the flag --json. If find returns
// errUnmet besides, that is c's exit status.
func printed(c *cobra.Command, usage string, find func(*cobra.Command, []string) (Finding, error)) *cobra.Command {
	asJSON := false
	c.Flags().BoolVar(&asJSON, "json", false, usage)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := find(cmd, args)
		if err != nil && !errors.Is(err, errUnmet) {
			return err
		}
		return printJudged(f, err == nil, asJSON)
	}
	return c
}

// judged are f and, unless it is good, errUnmet.
func judged(f Finding, good bool) (Finding, error) {
	if !good {
		return f, errUnmet
	}
	return f, nil
}

// printJudged is printFinding of what is good or not.
func printJudged(f Finding, good, asJSON bool) error {
	if err := printFinding(f, asJSON); err != nil {
		return err
	}
	if !good {
		return errUnmet
	}
	return nil
}

func printFinding(f Finding, asJSON bool) error {
	if !asJSON {
		return f.WriteText(os.Stdout)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}

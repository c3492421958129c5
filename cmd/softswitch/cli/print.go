package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Finding is what a command found out, in words; its JSON is for programs.
type Finding interface{ WriteText(io.Writer) error }

// Printed makes c print what find finds, as JSON with the flag --json. If find returns
// ErrUnmet besides, that is c's exit status.
func Printed(c *cobra.Command, usage string, find func(*cobra.Command, []string) (Finding, error)) *cobra.Command {
	asJSON := false
	c.Flags().BoolVar(&asJSON, "json", false, usage)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := find(cmd, args)
		if err != nil && !errors.Is(err, ErrUnmet) {
			return err
		}
		return PrintJudged(f, err == nil, asJSON)
	}
	return c
}

// Judged are f and, unless it is good, ErrUnmet.
func Judged(f Finding, good bool) (Finding, error) {
	if !good {
		return f, ErrUnmet
	}
	return f, nil
}

// PrintJudged is PrintFinding of what is good or not.
func PrintJudged(f Finding, good, asJSON bool) error {
	if err := PrintFinding(f, asJSON); err != nil {
		return err
	}
	if !good {
		return ErrUnmet
	}
	return nil
}

// PrintFinding prints it in words, or as JSON.
func PrintFinding(f Finding, asJSON bool) error {
	if !asJSON {
		return f.WriteText(os.Stdout)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}

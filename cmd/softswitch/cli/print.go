package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Finding is the result of a command: text for people, JSON for programs.
type Finding interface{ WriteText(io.Writer) error }

// Printed makes c print the finding of find, as JSON with the flag --json. If find also returns
// ErrUnmet, c exits with ExitUnmet after printing.
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

// Judged returns f and, unless good, ErrUnmet.
func Judged(f Finding, good bool) (Finding, error) {
	if !good {
		return f, ErrUnmet
	}
	return f, nil
}

// PrintJudged prints f and returns ErrUnmet unless good.
func PrintJudged(f Finding, good, asJSON bool) error {
	if err := PrintFinding(f, asJSON); err != nil {
		return err
	}
	if !good {
		return ErrUnmet
	}
	return nil
}

// PrintFinding prints f as text, or as JSON.
func PrintFinding(f Finding, asJSON bool) error {
	if !asJSON {
		return f.WriteText(os.Stdout)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}

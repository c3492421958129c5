package main

import (
	"encoding/json"
	"io"
	"os"
)

// printJSON prints v for programs.
func printJSON(v any) error {
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printResult prints r for people or for programs.
func printResult(r interface{ WriteText(io.Writer) error }, asJSON bool) error {
	if asJSON {
		return printJSON(r)
	}
	return r.WriteText(os.Stdout)
}

// printJudged is printResult of what is good or not.
func printJudged(r interface{ WriteText(io.Writer) error }, good, asJSON bool) error {
	if err := printResult(r, asJSON); err != nil {
		return err
	}
	if !good {
		return errUnmet
	}
	return nil
}

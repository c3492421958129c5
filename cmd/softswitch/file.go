package main

import (
	"io"
	"os"

	"softswitch/internal/strictyaml"
)

// readFile reads a YAML file, or standard input if its name is "-". Of one that is
// larger than a file may be it reads just enough for strictyaml to refuse it.
func readFile(name string) ([]byte, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	return io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1))
}

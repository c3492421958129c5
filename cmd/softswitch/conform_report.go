package main

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/conform"
	"softswitch/internal/safefile"
	"softswitch/internal/version"
)

// conformOutputs are the files that a test writes besides its report.
type conformOutputs struct{ junit, html string }

func (o *conformOutputs) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.junit, "junit", "", "file for the results as JUnit's XML, for CI")
	c.Flags().StringVar(&o.html, "html", "", "file for the results as one self-contained page, with drawings")
	c.MarkFlagFilename("junit", "xml")
	c.MarkFlagFilename("html", "html")
}

// check refuses outputs that cannot be written, before a test that takes minutes. read are files that are read.
func (o *conformOutputs) check(read ...string) error {
	return cli.CheckOutputs(read, cli.Output{Flag: "junit", File: o.junit}, cli.Output{Flag: "html", File: o.html})
}

// write writes them.
func (o *conformOutputs) write(r *conform.Report) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{o.junit, r.WriteJUnit}, {o.html, r.WriteHTML}} {
		if f.name == "" {
			continue
		}
		if err := writeFileWith(f.name, f.write); err != nil {
			return err
		}
	}
	return nil
}

// args are these flags for a command in another directory.
func (o *conformOutputs) args() (args []string, err error) {
	for _, f := range []struct{ flag, name string }{{"junit", o.junit}, {"html", o.html}} {
		if f.name == "" {
			continue
		}
		name, err := filepath.Abs(f.name)
		if err != nil {
			return nil, err
		}
		args = append(args, "--"+f.flag, name)
	}
	return args, nil
}

// writeFileWith writes a file with what write writes.
func writeFileWith(name string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return safefile.WriteFile(name, text.Bytes(), 0o644)
}

// reported writes and prints a report, and ends with its exit code.
func (o *conformOutputs) reported(r *conform.Report, asJSON bool) error {
	r.Version = version.Text()
	if err := o.write(r); err != nil {
		return err
	}
	return cli.PassOn(r.ExitCode(), cli.PrintFinding(r, asJSON))
}

// conformTables are cases, and whose tests they stand for, as Markdown.
type conformTables []*conform.Case

func (l conformTables) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, conform.Markdown(l))
	return err
}

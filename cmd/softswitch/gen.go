package main

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/safefile"
)

func genCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:    "gen",
		Short:  "Write generated files: schemas, references, manual pages",
		Hidden: true, // for make, in the repository
	}, genDocs(), genMan())
}

func genDocs() *cobra.Command {
	var source string
	c := &cobra.Command{
		Use:   "docs",
		Short: "Write docs/schema and the reference pages in docs, from the types and their comments",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return writeReference(source) },
	}
	c.Flags().StringVar(&source, "source", ".", "the repository")
	return c
}

func genMan() *cobra.Command {
	var out, source string
	c := &cobra.Command{
		Use:   "man",
		Short: "Write a manual page for every command and every kind of file",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := safefile.MkdirAll(out, 0o755); err != nil {
				return err
			}
			if err := writeCommandPages(cmd.Root(), out); err != nil {
				return err
			}
			formats, err := readFormats(source)
			if err != nil {
				return err
			}
			for _, f := range formats {
				page := filepath.Join(out, "softswitch-"+f.name+".5")
				if err := safefile.WriteFile(page, f.read.Man(f.name, f.name+" files of softswitch"), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&source, "source", ".", "the repository")
	c.Flags().StringVar(&out, "out", "build/man", "directory for the pages")
	c.MarkFlagDirname("out")
	return c
}

// writeCommandPages writes a manual page of section 1 for c and every command below it that help shows.
func writeCommandPages(c *cobra.Command, out string) error {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeCommandPages(sub, out); err != nil {
			return err
		}
	}
	c.InitDefaultVersionFlag()
	c.DisableAutoGenTag = true // the same commands give the same pages
	var page bytes.Buffer
	header := doc.GenManHeader{Section: "1", Source: "softswitch", Manual: "softswitch"}
	if err := doc.GenMan(c, &header, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	// cobra shows a flag without a value as --json[=false].
	return safefile.WriteFile(filepath.Join(out, name), bytes.ReplaceAll(page.Bytes(), []byte("[=false]"), nil), 0o644)
}

package main

import (
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
	var out string
	c := &cobra.Command{
		Use:   "man",
		Short: "Write a manual page for every command",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := safefile.MkdirAll(out, 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same commands give the same pages
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "softswitch", Manual: "softswitch"}, out)
		},
	}
	c.Flags().StringVar(&out, "out", "build/man", "directory for the pages")
	c.MarkFlagDirname("out")
	return c
}

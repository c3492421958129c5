package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"softswitch/internal/schema"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/scenario/load"
)

func genCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    "gen",
		Short:  "Write what is generated: schemas, references, manual pages",
		Hidden: true, // for make, in the repository
	}
	group(c, genDocs(), genMan())
	return c
}

func genDocs() *cobra.Command {
	var source string
	c := &cobra.Command{
		Use:   "docs",
		Short: "Write docs/schema and the references in docs, from the types and their comments",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := generatedDocs(source)
			if err != nil {
				return err
			}
			for _, f := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(source, f.path)), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(source, f.path), f.text, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&source, "source", ".", "the repository")
	return c
}

// document is a file of the repository.
type document struct {
	path string
	text []byte
}

// generatedDocs is what docs says of the formats of files, as their types in source
// have it. Of the references, what stands above generatedMark is written by hand and
// stays.
func generatedDocs(source string) ([]document, error) {
	comments, err := schema.ReadComments(os.DirFS(source), "scenario/config", "scenario")
	if err != nil {
		return nil, err
	}
	var files []document
	references := map[string][]byte{}
	for _, f := range []struct {
		format          schema.Format
		name, reference string
	}{
		{scenario.Format(load.Known()), "scenario", "docs/scenarios.md"},
		{config.SwitchFormat(), "switch", "docs/configuration.md"},
		{config.HostFormat(), "host", "docs/configuration.md"},
	} {
		o := schema.Read(f.format, comments)
		files = append(files, document{"docs/schema/" + f.name + ".json", o.JSON(f.format.Title)})
		references[f.reference] = append(references[f.reference], o.Markdown(f.name)...)
	}
	files = append(files, document{"docs/schema/verdict.json", verdict.Schema()})
	for _, path := range []string{"docs/scenarios.md", "docs/configuration.md"} {
		old, err := os.ReadFile(filepath.Join(source, path))
		if err != nil {
			return nil, err
		}
		head, _, ok := bytes.Cut(old, []byte(generatedMark))
		if !ok {
			return nil, fmt.Errorf("%s: no line %q, above which it is written by hand", path, generatedMark)
		}
		text := append(bytes.Clone(head), generatedMark+"\n\n"...)
		files = append(files, document{path, bytes.TrimSuffix(append(text, references[path]...), []byte("\n"))})
	}
	return files, nil
}

// generatedMark begins what is generated of a page.
const generatedMark = "<!-- What follows is generated from the types of packages scenario and config: make docs -->"

func genMan() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "man",
		Short: "Write a manual page for every command",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(out, 0o755); err != nil {
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

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"softswitch/conform"
	"softswitch/internal/safefile"
	"softswitch/internal/schema"
	"softswitch/node/config"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
)

// referenceFile is a generated file of the repository: its path and its content.
type referenceFile struct {
	Path string
	Text []byte
}

// topicFolder has the texts of `softswitch help TOPIC` for kinds of files.
const topicFolder = "cmd/softswitch/topics"

// described is a format of files that users write.
type described struct {
	format          schema.Format
	name, reference string // its page in docs
	read            *schema.Object
}

// readFormats reads the formats of files that users write, from the types in source and the comments on
// them.
func readFormats(source string) ([]described, error) {
	comments, err := schema.ReadComments(os.DirFS(source), "node/config", "scenario", "host", "conform")
	if err != nil {
		return nil, err
	}
	formats := []described{
		{format: scenario.Format(load.Known()), name: "scenario", reference: "docs/scenarios.md"},
		{format: config.SwitchFormat(), name: "switch", reference: "docs/configuration.md"},
		{format: config.HostFormat(), name: "host", reference: "docs/configuration.md"},
		{format: conform.Format(), name: "profile", reference: "docs/conform.md"},
	}
	for i := range formats {
		formats[i].read = schema.Read(formats[i].format, comments)
	}
	return formats, nil
}

// referenceFiles generates the schemas, reference pages and help topics of the file formats from the
// types in source and the comments on them. In the reference pages, text above generatedMark is written by
// hand and is kept.
//
//	scenario, node/config, oracle/verdict --> internal/schema --> docs/schema, docs/*.md, topics/*.txt
//	scenario/importer                                       --> docs/imports.md
//	conform                                                 --> docs/conform.md: cases, and a format as above
func referenceFiles(source string) ([]referenceFile, error) {
	formats, err := readFormats(source)
	if err != nil {
		return nil, err
	}
	var files []referenceFile
	references := map[string][]byte{"docs/conform.md": []byte(conform.Markdown(conform.Cases()) + "\n")}
	for _, f := range formats {
		files = append(
			files, referenceFile{"docs/schema/" + f.name + ".json", f.read.JSON(f.format.Title)},
			referenceFile{topicFolder + "/" + f.name + ".txt", f.read.Page(f.name)},
		)
		references[f.reference] = append(references[f.reference], f.read.Markdown(f.name)...)
	}
	files = append(files, referenceFile{"docs/schema/verdict.json", verdict.Schema()})
	references["docs/imports.md"] = []byte(importer.Reference())
	for _, path := range []string{"docs/scenarios.md", "docs/configuration.md", "docs/imports.md", "docs/conform.md"} {
		old, err := os.ReadFile(filepath.Join(source, path))
		if err != nil {
			return nil, err
		}
		head, _, ok := bytes.Cut(old, []byte(generatedMark))
		if !ok {
			return nil, fmt.Errorf("%s: no line %q, above which it is written by hand", path, generatedMark)
		}
		text := append(bytes.Clone(head), generatedMark+"\n\n"...)
		files = append(files, referenceFile{path, bytes.TrimSuffix(append(text, references[path]...), []byte("\n"))})
	}
	return files, nil
}

// writeReference writes all generated files of the repository in the folder source.
func writeReference(source string) error {
	files, err := referenceFiles(source)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(source, f.Path)
		if err := safefile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := safefile.WriteFile(path, f.Text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generatedMark separates the handwritten head of a page from the generated part below it.
const generatedMark = "<!-- What follows is generated from the source: make docs -->"

package compare

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"softswitch/internal/safefile"
)

// WriteFiles writes the page and the Markdown to these files, unless their names are empty.
func (c *Comparison) WriteFiles(html, markdown string) error {
	notes := []string{}
	if c.World == "sim" {
		notes = append(notes, strings.ReplaceAll(WatchdogNote, "\n", " "))
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer, []string) error
	}{{html, c.WriteHTML}, {markdown, c.WriteMarkdown}} {
		if out.path == "" {
			continue
		}
		if err := writeFile(out.path, func(w io.Writer) error { return out.write(w, notes) }); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := safefile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := safefile.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/study/shard"
)

// Command is what shards of sweeps are of.
const Command = "sweep"

// inputs is all that the rows depend on.
type inputs struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256"` // of the file's content
	Axes    []string `json:"set"`
	From    uint64   `json:"seed_from"`
	Times   int      `json:"repeat"`
	Format  Format   `json:"format"`
	Columns string   `json:"columns"` // the line before the rows
}

// PlayPart plays a part of the runs. If it ends early there is no file.
func (c *Checked) PlayPart(ctx context.Context, part shard.Part, format Format) (*shard.File, error) {
	var head, lines bytes.Buffer
	columns := c.columns()
	if err := newRows(&head, format, columns).head(); err != nil {
		return nil, err
	}
	if err := c.play(ctx, c.Show, part, newRows(&lines, format, columns)); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	in := inputs{
		File: c.File, SHA256: fmt.Sprintf("%x", sha256.Sum256(c.Data)), From: c.Seeds.From, Times: c.Seeds.Times,
		Axes:   lists.Map(c.Axes, func(a Axis) string { return a.Path + "=" + strings.Join(a.Values, ",") }),
		Format: format, Columns: head.String(),
	}
	rows := slices.Collect(strings.Lines(lines.String()))
	return shard.New(Command, part, len(c.items), in, rows, true), nil
}

// Merge writes the rows of all shards, as Play does.
func Merge(w *shard.Whole, out io.Writer) error {
	var in inputs
	if err := w.Inputs(&in); err != nil {
		return err
	}
	rows, err := shard.Records[string](w)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, in.Columns+strings.Join(rows, ""))
	return err
}

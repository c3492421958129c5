package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/unit"
	"softswitch/view/plot"
)

// drawing is a figure made of a few runs.
type drawing struct {
	name string
	draw func(watch func(unit.Time) error) (*plot.Figure, error)
}

// drawings returns all drawings. The boundary, which needs many runs, has its own function.
func drawings() (all []drawing) {
	for _, f := range cycleFigures {
		all = append(all, drawing{f.name, f.draw})
	}
	for _, f := range loopFigures {
		all = append(all, drawing{f.name, f.draw})
	}
	return append(all, drawing{brokenAlone, drawTrigger}, drawing{convergence, drawConvergence})
}

// DrawAll draws all figures of the documentation into the folder out, which it creates, and reports
// progress on show. It stops when ctx ends.
func DrawAll(ctx context.Context, out string, show io.Writer) error {
	if err := safefile.MkdirAll(out, 0o755); err != nil {
		return err
	}
	all := drawings()
	work := progress.New(ctx, show, "figures", int64(len(all)))
	defer work.Close()
	watch := func(unit.Time) error { return work.Add(0) }
	for _, d := range all {
		fig, err := d.draw(watch)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if err := writeFigure(filepath.Join(out, d.name+".svg"), fig); err != nil {
			return err
		}
		work.Add(1) // if ctx has ended, the next figure says so
	}
	return boundaryFiles(ctx, out, show)
}

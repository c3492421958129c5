package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/unit"
	"softswitch/view/plot"
)

// drawing is a figure that is made of a few runs. Its title says which of which paper it is.
type drawing struct {
	name, title string
	draw        func(watch func(unit.Time) error) (*plot.Figure, error)
}

// drawings returns all drawings. The boundary, which needs many runs, has its own function.
func drawings() (all []drawing) {
	for _, f := range cycleFigures {
		all = append(all, drawing{f.name, f.title, f.draw})
	}
	for _, f := range loopFigures {
		all = append(all, drawing{f.name, f.title, f.draw})
	}
	return append(all,
		drawing{brokenAlone, "A deadlock broken alone, and with its trigger handled (Wu, Ng: ITSY, Fig. 5)", drawTrigger},
		drawing{convergence, "Connections that start one after the other (after Zhu et al., DCQCN, SIGCOMM 2015)", drawConvergence})
}

// boundary names the files of boundaryFiles.
const boundary, boundaryTitle = "boundary", "When a routing loop turns into a deadlock (Hu et al., Eq. 3)"

// titles is a line of each figure: its name and its title.
func titles() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, d := range append(drawings(), drawing{name: boundary, title: boundaryTitle}) {
		fmt.Fprintf(w, "  %s\t%s\n", d.name, d.title)
	}
	w.Flush()
	return b.String()
}

// names are those of all figures.
func names() []string {
	return append(lists.Map(drawings(), func(d drawing) string { return d.name }), boundary)
}

// Draw draws the named figures, or all, into the folder out, which it creates, and reports progress on show. It
// stops when ctx ends.
func Draw(ctx context.Context, named []string, out string, show io.Writer) error {
	for _, name := range named {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("%q is no figure; valid: %s", name, strings.Join(names(), ", "))
		}
	}
	wanted := func(name string) bool { return len(named) == 0 || slices.Contains(named, name) }
	if err := safefile.MkdirAll(out, 0o755); err != nil {
		return err
	}
	all := slices.DeleteFunc(drawings(), func(d drawing) bool { return !wanted(d.name) })
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
	if !wanted(boundary) {
		return nil
	}
	return boundaryFiles(ctx, out, show)
}

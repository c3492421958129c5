package figures

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"softswitch/internal/progress"
	"softswitch/unit"
)

// DrawAll draws every figure of the documentation into the folder out, which it
// creates, until ctx ends; it reports progress on show.
func DrawAll(ctx context.Context, out string, show io.Writer) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work := progress.New(ctx, show, "figures", int64(len(cycleFigures)+1))
	defer work.Close()
	watch := func(unit.Time) error { return work.Add(0) }
	for _, f := range cycleFigures {
		fig, err := f.draw(watch)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := writeFigure(filepath.Join(out, f.name+".svg"), fig); err != nil {
			return err
		}
		work.Add(1) // if ctx has ended, the next figure says so
	}
	fig, err := drawTrigger(watch)
	if err != nil {
		return err
	}
	if err := writeFigure(filepath.Join(out, brokenAlone+".svg"), fig); err != nil {
		return err
	}
	if fig, err = drawConvergence(watch); err != nil {
		return err
	}
	if err := writeFigure(filepath.Join(out, convergence+".svg"), fig); err != nil {
		return err
	}
	return boundaryFiles(ctx, out, show)
}

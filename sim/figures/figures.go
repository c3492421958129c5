package figures

import (
	"fmt"
	"os"
	"path/filepath"
)

// DrawAll draws every figure of the documentation into the folder out, which it makes.
func DrawAll(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range cycleFigures {
		fig, err := f.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := writeFigure(filepath.Join(out, f.name+".svg"), fig); err != nil {
			return err
		}
	}
	fig, err := drawTrigger()
	if err != nil {
		return err
	}
	if err := writeFigure(filepath.Join(out, brokenAlone+".svg"), fig); err != nil {
		return err
	}
	return boundaryFiles(out)
}

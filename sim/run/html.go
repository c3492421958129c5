package run

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"softswitch/view/ui"
)

// htmlTo makes the file that is to play a stream, unless path is empty. end writes it, if
// the run was played, and else removes it.
func htmlTo(path string, stream *ui.Stream) (end func(played bool) error, err error) {
	if path == "" {
		return func(bool) error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	return func(played bool) error {
		if !played {
			return errors.Join(f.Close(), os.Remove(path))
		}
		out := bufio.NewWriter(f)
		if err := errors.Join(stream.WriteHTML(out), out.Flush(), f.Close()); err != nil {
			return fmt.Errorf("html: %w", err)
		}
		return nil
	}, nil
}

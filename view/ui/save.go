package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"softswitch/internal/safefile"
)

// SaveTo makes sure that a file can be written, unless path is empty. end writes it with
// writeHTML, if what it is to play was played; else what was there before stays.
func SaveTo(path string, writeHTML func(io.Writer) error) (end func(played bool) error, err error) {
	if path == "" {
		return func(bool) error { return nil }, nil
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	write := func() error {
		var page bytes.Buffer
		if err := writeHTML(&page); err != nil {
			return err
		}
		return safefile.WriteFile(path, page.Bytes(), 0o666)
	}
	return func(played bool) (err error) {
		if played {
			if err = write(); err == nil {
				return nil
			}
			err = fmt.Errorf("html: %w", err)
		}
		if isNew {
			err = errors.Join(err, safefile.Remove(path))
		}
		return err
	}, nil
}

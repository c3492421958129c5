package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// SaveTo makes sure that a file can be written that is to play a stream, unless path is
// empty. end writes it, if the run was played; else what was there before stays.
func SaveTo(path string, stream *Stream) (end func(played bool) error, err error) {
	if path == "" {
		return func(bool) error { return nil }, nil
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	write := func() error {
		var page bytes.Buffer
		if err := stream.WriteHTML(&page); err != nil {
			return err
		}
		return os.WriteFile(path, page.Bytes(), 0o666)
	}
	return func(played bool) (err error) {
		if played {
			if err = write(); err == nil {
				return nil
			}
			err = fmt.Errorf("html: %w", err)
		}
		if isNew {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	}, nil
}

package lab

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"softswitch/internal/safefile"
)

// captureFile is the destination of a capture. Each write is whole blocks: if one
// fails, its part in the file is removed again, so that the file can be read.
type captureFile struct {
	f      *os.File
	size   int64
	atomic bool // a regular file, not a pipe or a device
}

// openCapture opens the file, or standard output for "-". From then on a broken pipe is
// an error like any other and does not end the process.
func openCapture(file string) (*captureFile, error) {
	if file == "-" {
		signal.Ignore(syscall.SIGPIPE)
		return &captureFile{f: os.Stdout}, nil
	}
	f, err := safefile.Create(file)
	if err != nil {
		return nil, fmt.Errorf("lab capture: %w", err)
	}
	info, err := f.Stat()
	return &captureFile{f: f, atomic: err == nil && info.Mode().IsRegular()}, nil
}

func (c *captureFile) Write(p []byte) (int, error) {
	n, err := c.f.Write(p)
	if err != nil && c.atomic {
		c.f.Truncate(c.size)
		return 0, fmt.Errorf("%w; the capture ends before that", err)
	}
	c.size += int64(n)
	return n, err
}

func (c *captureFile) Close() error { return c.f.Close() }

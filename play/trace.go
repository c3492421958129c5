package play

import (
	"bufio"
	"errors"
	"fmt"

	"softswitch/event"
	"softswitch/internal/safefile"
	"softswitch/sim"
)

// traceTo makes a simulation with opt write every event to the file, unless path is
// empty. end closes the file and returns the first error in writing it.
func traceTo(path string, opt *sim.Options) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := safefile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<16)
	var line []byte
	opt.Events = func(n event.Node, e event.Event) {
		line = n.Append(line[:0], e)
		out.Write(line) // an error stays, and Flush tells it
	}
	return func() error {
		if err := errors.Join(out.Flush(), f.Close()); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		return nil
	}, nil
}

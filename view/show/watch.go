package show

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// WatchMin is the shortest interval at which switches are asked.
const WatchMin = 100 * time.Millisecond

// Watch shows the same again and again, at an interval, until ctx ends or once fails with
// another error than goOn. What once writes comes to w in one piece; if clear is set, w is
// a terminal, which is cleared before.
func Watch(ctx context.Context, w io.Writer, interval time.Duration, clear bool, goOn error, once func(io.Writer) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		var page bytes.Buffer
		if clear {
			page.WriteString("\x1b[H\x1b[2J")
		}
		err := once(&page)
		if _, werr := w.Write(page.Bytes()); werr != nil {
			return werr
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, goOn) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

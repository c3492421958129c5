package show

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"softswitch/internal/progress"
)

// watchMin is the shortest interval at which switches are asked.
const watchMin = 100 * time.Millisecond

// Repeat calls once, or at an interval again and again, as watch does: a terminal is cleared
// unless what it shows is JSON. An interval that is too short is an error that names the flag
// --watch.
func Repeat(ctx context.Context, w io.Writer, interval time.Duration, f Format, goOn error, once func(io.Writer) error) error {
	if interval == 0 {
		return once(w)
	}
	if interval < watchMin {
		return fmt.Errorf("--watch: %v; valid: %v or more", interval, watchMin)
	}
	return watch(ctx, w, interval, progress.IsTerminal(w) && !f.JSON, goOn, once)
}

// watch shows the same again and again, at an interval, until ctx ends or once fails with
// another error than goOn. What once writes reaches w in one piece; if clear is set, w is
// a terminal, which is cleared before.
func watch(ctx context.Context, w io.Writer, interval time.Duration, clear bool, goOn error, once func(io.Writer) error) error {
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

package follow

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"softswitch/internal/timer"
	"softswitch/unit"
)

// How a lab is followed.
const (
	followEvery = 100 * time.Millisecond
	followHold  = 100 * unit.Millisecond // how long events wait for those of other nodes
)

// Writer writes the events of a Merger, a line each: for people with the time of day and
// the node, or as the lines of the logs.
type Writer struct {
	out   *bufio.Writer
	json  bool
	width int       // of the nodes' names
	boot  time.Time // when the nodes' clock was 0
	line  []byte
}

// NewWriter writes the events of nodes whose names have at most width characters to
// out.
func NewWriter(out io.Writer, width int, json bool) *Writer {
	return &Writer{out: bufio.NewWriter(out), json: json, width: width, boot: timer.WallClock(0)}
}

// All writes the present contents of the logs.
func (w *Writer) All(m *Merger) error { return w.drain(m, math.MaxInt64) }

// Follow writes the logs and what is added to them, until ctx ends or none of them
// exists any more, which is gone.
func (w *Writer) Follow(ctx context.Context, m *Merger) (gone bool, err error) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		until := timer.Now() - followHold
		gone, err := m.Refresh()
		if err != nil {
			return false, err
		}
		if gone {
			return true, w.All(m)
		}
		if err := w.drain(m, until); err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
	}
}

// drain writes the events of the logs up to a time.
func (w *Writer) drain(m *Merger, until unit.Time) error {
	for {
		e, ok, err := m.Next(until)
		if err != nil {
			return err
		}
		if !ok {
			return w.out.Flush()
		}
		if err := w.write(e, m.Name); err != nil {
			return err
		}
	}
}

func (w *Writer) write(e Entry, name func(unit.NodePort) string) error {
	if w.json {
		w.line = e.JSON(w.line[:0])
		_, err := w.out.Write(w.line)
		return err
	}
	at := w.boot.Add(time.Duration(e.At))
	_, err := fmt.Fprintf(w.out, "%s  %-*s  %s\n", at.Format("15:04:05.000000"), w.width, e.Node.Name, e.Text(name))
	return err
}

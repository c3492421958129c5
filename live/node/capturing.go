package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"softswitch/internal/control"
	"softswitch/internal/safefile"
	"softswitch/link"
	"softswitch/link/decode"
	"softswitch/link/pcapng"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/unit"
)

// CapturesMax limits how many clients a node writes captures for at once: each costs it
// a few megabytes and a copy of every frame.
const CapturesMax = 4

// capturing captures a node's frames: to its file, if it has one, and for clients on
// its control socket.
type capturing struct {
	taps    link.Taps
	clients atomic.Int32
}

// captureToFile captures all frames to a file until the node ends.
func (r *runner) captureToFile(path string) error {
	f, err := safefile.Create(path)
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	c, err := r.capturing.taps.Capture(f, link.CaptureOptions{Comment: decode.Comment})
	if err != nil {
		f.Close()
		return fmt.Errorf("capture: %w", err)
	}
	r.files.capture = c
	r.closeAtEnd("capture", func() error {
		if missed := c.Stats().Missed; missed > 0 {
			fmt.Fprintf(r.at.says(), "%s: capture: %s missed\n", r.name, unit.Count(missed, "frame"))
		}
		return errors.Join(c.Close(), f.Close())
	})
	return nil
}

// open opens an interface and makes its frames visible to captures.
func (r *runner) open(p live.Port) (link.Link, error) {
	open := r.openPort
	if open == nil {
		open = live.OpenPacket
	}
	l, err := open(p)
	if err != nil {
		return nil, err
	}
	in := pcapng.Interface{Name: p.Name}
	for i, o := range r.ports {
		if o.Name == p.Name {
			in.Description = fmt.Sprintf("%s %d port %d", r.header.Kind, r.id, i)
		}
	}
	return r.capturing.taps.Tap(l, in), nil
}

// request starts a capture for a client: a stream of pcapng, in which each byte that
// the client sends requests a mark. The node never waits for the client: frames for
// which the client is too slow are missed, and counted in the capture.
func (c *capturing) request(args json.RawMessage) (any, error) {
	var a config.CaptureRequest
	if args != nil {
		if err := readArguments(args, &a); err != nil {
			return nil, err
		}
	}
	if c.clients.Add(1) > CapturesMax {
		c.clients.Add(-1)
		return nil, &control.Refusal{
			Status: http.StatusServiceUnavailable, Text: fmt.Sprintf("%s are running; that is the limit", unit.Count(CapturesMax, "capture")),
		}
	}
	return control.Stream(func(conn io.ReadWriter) {
		defer c.clients.Add(-1)
		capture, err := c.taps.Capture(conn, link.CaptureOptions{Comment: decode.Comment, Offset: a.Offset})
		if err != nil {
			return // the client is gone already
		}
		for one := make([]byte, 1); ; {
			if _, err := io.ReadFull(conn, one); err != nil {
				break
			}
			capture.Mark()
		}
		capture.Close() // an error is the client's, which is gone
	}), nil
}

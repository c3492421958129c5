package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"softswitch/internal/control"
	"softswitch/link"
	"softswitch/link/merge"
	"softswitch/node/client"
	"softswitch/unit"
)

// Capture captures what all nodes of a lab send and receive, as one pcapng in the order of time:
//
//	node --control socket--> pcapng --.
//	node --control socket--> pcapng ---+--> link/merge --> file or pipe
//
// No node waits for a capture: frames for which it is too slow are missed, and counted. A file
// ends with a whole block, even if the disk is full.
type Capture struct {
	Name  string
	Nodes []string
	File  string
	Log   io.Writer // for messages to the user
	over  []string  // nodes that ended in order
}

// Run captures until ctx ends, the reader of the capture goes away, or all nodes have
// ended. whole is false if the capture of a node was cut short.
func (c *Capture) Run(ctx context.Context) (whole bool, err error) {
	run, err := c.Begin(ctx)
	if err != nil {
		return false, err
	}
	return run()
}

// Begin begins to capture, and returns what goes on with it as Run does. The caller has to call that.
func (c *Capture) Begin(ctx context.Context) (run func() (whole bool, err error), err error) {
	offset := link.WallOffset()
	sources, err := c.open(ctx, offset)
	if err != nil {
		return nil, err
	}
	out, err := openCapture(c.File)
	if err != nil {
		for _, s := range sources {
			s.Conn.Close()
		}
		return nil, err
	}
	fmt.Fprintf(c.Log, "capturing on %s; Ctrl-C ends it\n", unit.Count(len(sources), "node"))
	return func() (bool, error) { return c.write(ctx, out, sources, offset) }, nil
}

func (c *Capture) write(ctx context.Context, out *captureFile, sources []merge.Source, offset int64) (whole bool, err error) {
	result, err := mergeUntil(ctx, out, sources, merge.Options{Note: link.ClockNote(offset), Ended: c.ended})
	err = errors.Join(err, out.Close())
	if errors.Is(err, errUnread) {
		return false, fmt.Errorf("lab capture: %w", err)
	}
	c.summary(len(sources), result)
	switch {
	case errors.Is(err, syscall.EPIPE):
		fmt.Fprintln(c.Log, "the reader of the capture has gone")
	case err != nil:
		return false, fmt.Errorf("lab capture: %w", err)
	}
	return result.Cut == 0, nil
}

// open starts the captures of the nodes. If all nodes are captured, one answer is
// enough; nodes that the user named must all answer.
func (c *Capture) open(ctx context.Context, offset int64) ([]merge.Source, error) {
	st, err := Load(c.Name)
	if err != nil {
		return nil, err
	}
	nodes, err := Pick(st, c.Nodes, "")
	if err != nil {
		return nil, err
	}
	there, conns, err := control.AskAll(ctx, Endpoints(nodes), func(e control.Endpoint) (*control.Conn, error) { return client.Capture(e, offset) })
	if err != nil && (len(there) == 0 || len(c.Nodes) > 0) {
		for _, conn := range conns {
			conn.Close()
		}
		return nil, fmt.Errorf("lab capture: %w", err)
	}
	if err != nil {
		fmt.Fprintf(c.Log, "not captured: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	var sources []merge.Source
	for i, conn := range conns {
		sources = append(sources, merge.Source{Name: there[i].Name, Conn: conn})
	}
	return sources, nil
}

// ended notes a node whose capture ended on its own, or was cut short.
func (c *Capture) ended(node string, err error) {
	if err == nil {
		c.over = append(c.over, node)
		return
	}
	fmt.Fprintf(c.Log, "%s: the capture is cut short: %v\n", node, err)
}

// summary prints the totals of a capture of that many nodes.
func (c *Capture) summary(nodes int, r merge.Result) {
	switch {
	case len(c.over) == nodes:
		fmt.Fprintln(c.Log, "all nodes have ended")
	case len(c.over) > 0:
		fmt.Fprintf(c.Log, "ended meanwhile: %s\n", strings.Join(c.over, ", "))
	}
	fmt.Fprintf(c.Log, "%s written, %d missed", unit.Count(int(r.Frames), "frame"), r.Missed)
	if r.Late > 0 {
		fmt.Fprintf(c.Log, ", %d not in the order of time", r.Late)
	}
	fmt.Fprintln(c.Log)
}

// outputPatience is how long a write of the output may take after the user has ended the
// capture: it does not wait for a program that does not read its pipe.
const outputPatience = 4 * time.Second

var errUnread = errors.New("the reader of the capture has stopped reading; the unread part is lost")

// timed is a writer that tells when the write began that is under way.
type timed struct {
	io.Writer
	begun atomic.Int64 // in UnixNano, 0: none is
}

func (t *timed) Write(b []byte) (int, error) {
	t.begun.Store(time.Now().UnixNano())
	defer t.begun.Store(0)
	return t.Writer.Write(b)
}

// mergeUntil is merge.Run, but after the end of ctx it gives a write to w only outputPatience.
func mergeUntil(ctx context.Context, w io.Writer, sources []merge.Source, opt merge.Options) (merge.Result, error) {
	type outcome struct {
		merge.Result
		err error
	}
	done := make(chan outcome, 1)
	out := &timed{Writer: w}
	go func() {
		r, err := merge.Run(ctx, out, sources, opt)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.Result, o.err
	case <-ctx.Done():
	}
	tick := time.NewTicker(outputPatience / 10)
	defer tick.Stop()
	for {
		select {
		case o := <-done:
			return o.Result, o.err
		case now := <-tick.C:
			if begun := out.begun.Load(); begun != 0 && now.UnixNano()-begun > int64(outputPatience) {
				return merge.Result{}, errUnread
			}
		}
	}
}

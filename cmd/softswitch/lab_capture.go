package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/lab"
	"softswitch/link"
	"softswitch/link/merge"
	"softswitch/live/node"
)

func labCapture(name *string) *cobra.Command {
	var nodes []string
	var file string
	c := &cobra.Command{
		Use:   "capture [--node NODE]... [-w FILE|-]",
		Short: "Capture what all nodes send and receive, as one pcapng in the order of time",
		Long: `Capture what all nodes of a lab, or some, send and receive, as one pcapng: every port is
an interface, called NODE:PORT; pauses, labels and messages have comments. Frames come in
the order of time, about a tenth of a second late; a frame on a link is seen twice, as it
is sent and as it is received. The file can be read while it grows.

Captures begin when the command is given, also in a lab that is busy. No node waits
for a capture: what it is too slow for is missed, and counted. What a node's kernel sends
by itself, such as a host's ping, is seen where it is received only.

It ends by Ctrl-C, when whoever reads its output reads no more, or with the lab.

Exit status: 0 it ended so; 1 a node died meanwhile, and its last frames are missing;
2 nothing could be captured or the file could not be written.`,
		Example: `  sudo softswitch lab capture -w lab.pcapng
  sudo softswitch lab capture --node core0 --node core1 | softswitch decode -
  sudo softswitch lab capture | wireshark -k -i -`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "-" && isTerminal(os.Stdout) {
				return errors.New("lab capture: a capture is no text for a terminal; give a file with -w FILE, or a pipe: lab capture | wireshark -k -i -")
			}
			c := labCapturer{name: *name, nodes: nodes, file: file, log: os.Stderr}
			return c.run(cmd.Context())
		},
	}
	c.Flags().StringArrayVar(&nodes, "node", nil, "node to capture on; give it again for more (default all)")
	c.Flags().StringVarP(&file, "write", "w", "-", `file for the capture; "-" is standard output`)
	c.MarkFlagFilename("write", "pcapng")
	c.RegisterFlagCompletionFunc("node", labNodes(name, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// labCapturer captures a lab.
type labCapturer struct {
	name  string
	nodes []string
	file  string
	log   io.Writer // for what a user is to know
	over  []string  // nodes that ended in order
}

func (c *labCapturer) run(ctx context.Context) error {
	offset, err := link.WallOffset()
	if err != nil {
		return err
	}
	sources, err := c.open(ctx, offset)
	if err != nil {
		return err
	}
	out, err := openCapture(c.file)
	if err != nil {
		for _, s := range sources {
			s.Conn.Close()
		}
		return err
	}
	fmt.Fprintf(c.log, "capturing on %s; Ctrl-C ends it\n", count(len(sources), "node"))
	result, err := mergeUntil(ctx, out, sources, merge.Options{Note: link.ClockNote(offset), Ended: c.ended})
	err = errors.Join(err, out.Close())
	if errors.Is(err, errUnread) {
		return fmt.Errorf("lab capture: %w", err)
	}
	c.summary(len(sources), result)
	switch {
	case errors.Is(err, syscall.EPIPE):
		fmt.Fprintln(c.log, "whoever read the capture reads no more")
	case err != nil:
		return fmt.Errorf("lab capture: %w", err)
	}
	if result.Cut > 0 {
		return errUnmet
	}
	return nil
}

// open starts the captures of the nodes. It is enough if one of all nodes answers; of
// those that the user named, all have to.
func (c *labCapturer) open(ctx context.Context, offset int64) ([]merge.Source, error) {
	st, err := lab.Load(c.name)
	if err != nil {
		return nil, err
	}
	nodes, err := lab.Pick(st, c.nodes, "")
	if err != nil {
		return nil, err
	}
	there, conns, err := control.AskAll(ctx, lab.Endpoints(nodes), func(e control.Endpoint) (*control.Conn, error) {
		return control.Open(e.Path, "capture", node.CaptureArgs{Offset: offset})
	})
	if err != nil && (len(there) == 0 || len(c.nodes) > 0) {
		for _, conn := range conns {
			conn.Close()
		}
		return nil, fmt.Errorf("lab capture: %w", err)
	}
	if err != nil {
		fmt.Fprintf(c.log, "not captured: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	var sources []merge.Source
	for i, conn := range conns {
		sources = append(sources, merge.Source{Name: there[i].Name, Conn: conn})
	}
	return sources, nil
}

// ended notes a node whose capture ended by itself, or was cut short.
func (c *labCapturer) ended(node string, err error) {
	if err == nil {
		c.over = append(c.over, node)
		return
	}
	fmt.Fprintf(c.log, "%s: the capture is cut short: %v\n", node, err)
}

// summary says what there is, of that many nodes.
func (c *labCapturer) summary(nodes int, r merge.Result) {
	switch {
	case len(c.over) == nodes:
		fmt.Fprintln(c.log, "all nodes have ended")
	case len(c.over) > 0:
		fmt.Fprintf(c.log, "ended meanwhile: %s\n", strings.Join(c.over, ", "))
	}
	fmt.Fprintf(c.log, "%s written, %d missed", count(int(r.Frames), "frame"), r.Missed)
	if r.Late > 0 {
		fmt.Fprintf(c.log, ", %d not in the order of time", r.Late)
	}
	fmt.Fprintln(c.log)
}

// count is "1 node" or "2 nodes".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// outputPatience is how long the output may take for what is left when the user ends the
// capture: a program that does not read its pipe is not waited for.
const outputPatience = 4 * time.Second

var errUnread = errors.New("whoever reads the capture does not read on; what was not read is lost")

// mergeUntil is merge.Run, but after the end of ctx it does not wait for w for ever.
func mergeUntil(ctx context.Context, w io.Writer, sources []merge.Source, opt merge.Options) (merge.Result, error) {
	type outcome struct {
		merge.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := merge.Run(ctx, w, sources, opt)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.Result, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.Result, o.err
	case <-time.After(outputPatience):
		return merge.Result{}, errUnread
	}
}

// captureFile is where a capture goes. Each write is whole blocks: if one fails, what of
// it came into a file is taken back, so that the file can be read.
type captureFile struct {
	f      *os.File
	size   int64
	atomic bool // a regular file, not a pipe or a device
}

// openCapture opens the file, or standard output for "-". A broken pipe is an error like
// any other from then on, not the end of the process.
func openCapture(file string) (*captureFile, error) {
	if file == "-" {
		signal.Ignore(syscall.SIGPIPE)
		return &captureFile{f: os.Stdout}, nil
	}
	f, err := os.Create(file)
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

package labcmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/event/follow"
	"softswitch/internal/progress"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/play"
	"softswitch/scenario/load"
	"softswitch/view/drawing"
)

func labEvents(name *string) *cobra.Command {
	var asJSON, goOn bool
	c := &cobra.Command{
		Use:   "events [NODE...]",
		Short: "Follow all event logs",
		Long: `Show the event logs of all nodes of a lab, or of the named nodes, as one stream in
order of time: pauses, waiting queues, and the actions of the detectors.

--follow continues until interrupted or until the lab is removed. Events are then shown
0.1 s late, so that they are in order; events of a node that got no processor for longer
than that appear out of order.`,
		Example:           "  sudo softswitch lab events --follow | grep -e DEADLOCK -e action\n  sudo softswitch lab events --json core0 core1",
		ValidArgsFunction: cli.Offer(name, cli.NodeNames),
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			m, width, err := lab.OpenEvents(st, args)
			if err != nil {
				return err
			}
			defer m.Close()
			w := follow.NewWriter(os.Stdout, width, asJSON)
			if !goOn {
				return w.All(m)
			}
			gone, err := w.Follow(cmd.Context(), m)
			if gone && err == nil {
				fmt.Fprintln(os.Stderr, "the lab is gone")
			}
			return err
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the log lines unchanged, as JSON lines")
	c.Flags().BoolVarP(&goOn, "follow", "f", false, "continue with new events")
	return c
}

func labCapture(name *string) *cobra.Command {
	var nodes []string
	var file string
	var wait bool
	c := &cobra.Command{
		Use:   "capture [--wait] [--node NODE]... [-w FILE|-]",
		Short: "Capture all frames",
		Long: `Capture the frames that all nodes of a lab, or some, send and receive, as one pcapng: every
port is an interface, named NODE:PORT; pauses, labels and messages have comments. Frames
are in order of time, about 0.1 s late; a frame on a link appears twice, as sent and as
received. The file can be read during the capture.

Captures begin when the command is given, also in a busy lab; with --wait when a lab of that
name comes up, before its flows start: give it before "lab run" or "lab deploy". No node waits for a
capture: frames that the capture is too slow for are missed, and counted. Frames that a
node's kernel sends, such as a host's ping, appear only where they are received.

The capture ends by Ctrl-C, when the reader of its output closes the pipe, or with the lab.

Exit status: 0 it ended so; 1 a node died during the capture, and its last frames are
missing; 2 nothing could be captured or the file could not be written.`,
		Example: `  sudo softswitch lab capture -w lab.pcapng
  sudo softswitch lab capture --node core0 --node core1 | softswitch decode -
  sudo softswitch lab capture | wireshark -k -i -`,
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "-" && progress.IsTerminal(os.Stdout) {
				return errors.New("lab capture: a capture is binary, not text for a terminal; give a file with -w FILE, or a pipe: lab capture | wireshark -k -i -")
			}
			if wait {
				fmt.Fprintf(os.Stderr, "waiting for a lab %s; Ctrl-C ends it\n", *name)
				if err := lab.Await(cmd.Context(), *name); err != nil {
					return err
				}
			}
			c := lab.Capture{Name: *name, Nodes: nodes, File: file, Log: os.Stderr}
			whole, err := c.Run(cmd.Context())
			if err == nil && !whole {
				err = cli.ErrUnmet
			}
			return err
		},
	}
	c.Flags().StringArrayVar(&nodes, "node", nil, "node to capture on; repeatable (default all)")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the lab is up")
	c.Flags().StringVarP(&file, "write", "w", "-", `file for the capture; "-" is standard output`)
	c.MarkFlagFilename("write", "pcapng")
	c.RegisterFlagCompletionFunc("node", cli.Offer(name, cli.NodeNames))
	return c
}

func labMetrics(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "metrics",
		Short: "Serve Prometheus",
		Long: `Serve the metrics of all nodes of a lab to Prometheus, at /metrics, until interrupted.
Each scrape queries every node; a node that does not answer has softswitch_up 0. Every
metric has the label lab. If the lab is removed and built again, its metrics continue to
be served.`,
		Example: "  sudo softswitch lab metrics\n  curl -s localhost:9470/metrics | grep pause_seconds",
		Args:    cobra.NoArgs,
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, _ []string) error {
			return lab.ServeMetrics(cmd.Context(), st, listen, os.Stderr)
		}),
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9470", "listen address, HOST:PORT; the default host is 127.0.0.1")
	return c
}

func labUI(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show it in a browser",
		Long: `Show a lab that is up in a browser: links that are busy, paused or down, buffer
occupancy, the paths of labels, deadlocks and their initial triggers. A time line goes
back in time; buttons fail links, make hosts misbehave and restart the switches with
another detector or response.

The printed address contains a token; without it the page is read-only. The page listens
on loopback by default, is not encrypted, and needs nothing from any other machine. It is
idle while no browser has it open. Ctrl-C ends it and leaves the lab as it is.`,
		Example: "  sudo softswitch lab deploy -t scenarios/fattree-on-loop.yaml\n  sudo softswitch lab ui\n  sudo softswitch lab ui --listen 0.0.0.0:9000",
		Args:    cobra.NoArgs,
		RunE: cli.InLab(name, func(cmd *cobra.Command, _ *netnslab.State, _ []string) error {
			page, err := play.OpenPage(cmd.Context(), *name, listen, os.Stdout)
			if err != nil {
				return err
			}
			<-cmd.Context().Done()
			return page.Close()
		}),
	}
	c.Flags().StringVar(&listen, "listen", cli.PageAddress, "address of the page; port 0 selects a free port")
	return c
}

func labGraph(name *string) *cobra.Command {
	var dot, mermaid, svg bool
	c := &cobra.Command{
		Use:   "graph [FILE|NAME]",
		Short: "Draw a topology",
		Long: `Draw the topology of a scenario file or, without one, of the lab that is up, and
write it to standard output: for Graphviz (--dot, the default), for Mermaid in
Markdown, or as an SVG picture. Levels are rows, hosts at the bottom. Dashed links are
down: in a lab now, in a file by one of its events.`,
		Example: "  softswitch lab graph scenarios/fattree-on-loop.yaml --svg > fabric.svg\n" +
			"  softswitch lab graph scenarios/pause.yaml --dot | dot -Tpdf > fabric.pdf\n" +
			"  softswitch lab graph --name ss --mermaid",
		Args:              cli.Arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE: func(_ *cobra.Command, args []string) error {
			var g *drawing.Graph
			if len(args) > 0 {
				plan, err := cli.ReadPlan(args[0], load.Instead{})
				if err != nil {
					return err
				}
				g = drawing.OfPlan(plan)
			} else {
				st, err := lab.Load(*name)
				if err != nil {
					return err
				}
				g = lab.Graph(st)
			}
			draw := g.DOT
			switch {
			case mermaid:
				draw = g.Mermaid
			case svg:
				draw = g.SVG
			}
			_, err := io.WriteString(os.Stdout, draw())
			return err
		},
	}
	c.Flags().BoolVar(&dot, "dot", false, "for Graphviz (the default)")
	c.Flags().BoolVar(&mermaid, "mermaid", false, "for Mermaid")
	c.Flags().BoolVar(&svg, "svg", false, "as a picture")
	c.MarkFlagsMutuallyExclusive("dot", "mermaid", "svg")
	return c
}

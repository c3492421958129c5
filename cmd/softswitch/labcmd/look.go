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
		Long: `Show the event logs of all nodes of a lab, or of those that are named, as one
stream in the order of time: what is paused, what waits, what the detectors do.

With --follow it goes on until it is interrupted or the lab is removed. Events then
come a tenth of a second late, so that they come in order; those of a node that was
starved of a processor for longer come when they come.`,
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
	c.Flags().BoolVar(&asJSON, "json", false, "print the lines of the logs as they are: JSON lines")
	c.Flags().BoolVarP(&goOn, "follow", "f", false, "go on with what happens from now on")
	return c
}

func labCapture(name *string) *cobra.Command {
	var nodes []string
	var file string
	c := &cobra.Command{
		Use:   "capture [--node NODE]... [-w FILE|-]",
		Short: "Capture all frames",
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
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "-" && progress.IsTerminal(os.Stdout) {
				return errors.New("lab capture: a capture is no text for a terminal; give a file with -w FILE, or a pipe: lab capture | wireshark -k -i -")
			}
			c := lab.Capture{Name: *name, Nodes: nodes, File: file, Log: os.Stderr}
			whole, err := c.Run(cmd.Context())
			if err == nil && !whole {
				err = cli.ErrUnmet
			}
			return err
		},
	}
	c.Flags().StringArrayVar(&nodes, "node", nil, "node to capture on; give it again for more (default all)")
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
		Long: `Serve the metrics of all nodes of a lab to Prometheus, at /metrics, until it is
interrupted. Each scrape asks every node; one that does not answer has softswitch_up
0, and every metric has the label lab. A lab that is removed and built anew goes on to
be served.`,
		Example: "  sudo softswitch lab metrics\n  curl -s localhost:9470/metrics | grep pause_seconds",
		Args:    cobra.NoArgs,
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, _ []string) error {
			return lab.ServeMetrics(cmd.Context(), st, listen, os.Stderr)
		}),
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9470", "where to listen, HOST:PORT; without a host it is 127.0.0.1")
	return c
}

func labUI(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show it in a browser",
		Long: `Show a lab that is up in a browser: which links are busy, paused or down, how full the
buffers are, how labels travel, where a deadlock is and who started it; with a time line
to go back on, and buttons to fail links, to make hosts misbehave and to restart the
switches with another detector or response.

The address that is printed holds a token; a page without it can look on only. The page
listens on loopback unless it is told otherwise, is not encrypted, and needs nothing from
any other machine. It rests while no browser has it open. Ctrl-C ends it and leaves the
lab as it is.`,
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
	c.Flags().StringVar(&listen, "listen", cli.PageAddress, "address of the page; port 0 is any that is free")
	return c
}

func labGraph(name *string) *cobra.Command {
	var dot, mermaid, svg bool
	c := &cobra.Command{
		Use:   "graph [FILE|NAME]",
		Short: "Draw a topology",
		Long: `Draw the topology of a scenario file or, without one, of the lab that is up, and
write it to standard output: for Graphviz (--dot, the default), for Mermaid in
Markdown, or as an SVG picture. Levels are rows, hosts at the bottom. Links that are
down are dashed: in a lab now, in a file those that its events take down.`,
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

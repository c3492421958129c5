package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"softswitch/event/follow"
	"softswitch/internal/timer"
	"softswitch/lab"
	"softswitch/unit"
)

func labEvents(name *string) *cobra.Command {
	var asJSON, goOn bool
	c := &cobra.Command{
		Use:   "events [NODE...]",
		Short: "Show the event logs of all nodes as one stream in the order of time",
		Long: `Show the event logs of all nodes of a lab, or of those that are named, as one
stream in the order of time: what is paused, what waits, what the detectors do.

With --follow it goes on until it is interrupted or the lab is removed. Events then
come a tenth of a second late, so that they come in order; those of a node that was
starved of a processor for longer come when they come.`,
		Example: "  sudo softswitch lab events --follow | grep -e DEADLOCK -e measure\n  sudo softswitch lab events --json core0 core1",
		RunE: func(cmd *cobra.Command, names []string) error {
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			nodes, err := lab.Pick(st, names, "")
			if err != nil {
				return err
			}
			var paths []string
			width := 0
			for _, n := range nodes {
				paths, width = append(paths, lab.EventsPath(n)), max(width, len(n.Name))
			}
			m := follow.OpenAll(paths)
			defer m.Close()
			w := &eventWriter{out: bufio.NewWriter(os.Stdout), json: asJSON, width: width, boot: timer.WallClock(0)}
			if goOn {
				return w.follow(cmd.Context(), m)
			}
			return w.drain(m, math.MaxInt64)
		},
	}
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		st, err := lab.Load(*name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return lab.Names(st, ""), cobra.ShellCompDirectiveNoFileComp
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the lines of the logs as they are: JSON lines")
	c.Flags().BoolVarP(&goOn, "follow", "f", false, "go on with what happens from now on")
	return c
}

// How a lab is followed.
const (
	followEvery = 100 * time.Millisecond
	followHold  = 100 * unit.Millisecond // events wait so long for those of other nodes
)

// eventWriter writes events to out.
type eventWriter struct {
	out   *bufio.Writer
	json  bool
	width int       // of the nodes' names
	boot  time.Time // when the nodes' clock was 0
	line  []byte
}

// follow writes what the logs hold and what comes to them, until ctx ends or none of
// them is there any more.
func (w *eventWriter) follow(ctx context.Context, m *follow.Merger) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		until := timer.Now() - followHold
		gone, err := m.Refresh()
		if err != nil {
			return err
		}
		if gone {
			until = math.MaxInt64
		}
		if err := w.drain(m, until); err != nil {
			return err
		}
		if gone {
			fmt.Fprintln(os.Stderr, "the lab is gone")
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// drain writes what the logs hold up to a time.
func (w *eventWriter) drain(m *follow.Merger, until unit.Time) error {
	for {
		e, ok, err := m.Next(until)
		if err != nil {
			return err
		}
		if !ok {
			return w.out.Flush()
		}
		if err := w.write(e); err != nil {
			return err
		}
	}
}

func (w *eventWriter) write(e follow.Entry) error {
	if w.json {
		w.line = e.JSON(w.line[:0])
		_, err := w.out.Write(w.line)
		return err
	}
	at := w.boot.Add(time.Duration(e.At))
	_, err := fmt.Fprintf(w.out, "%s  %-*s  %s\n", at.Format("15:04:05.000000"), w.width, e.Node.Name, e.Text())
	return err
}

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/event/follow"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
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
		Example:           "  sudo softswitch lab events --follow | grep -e DEADLOCK -e measure\n  sudo softswitch lab events --json core0 core1",
		ValidArgsFunction: offer(name, nodeNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			nodes, err := lab.Pick(st, args, "")
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

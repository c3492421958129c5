package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/event/replay"
)

func replayCommand() *cobra.Command {
	return printed(&cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat a recorded node, call by call, and compare",
		Long: `Repeat what "softswitch run --record FILE" or "softswitch host --record FILE"
recorded: every call of the node's machine, on a machine made anew, without
interfaces and without waiting. It has to give the same events.

A recording that is cut short, as that of a node that was killed, is compared as
far as it goes.

Exit status: 0 the same; 1 not, or not whole: the first difference, or the fault,
is printed; 2 no recording, or one of another version.`,
		Example: "  softswitch replay s1.rec",
		Args:    arguments(cobra.ExactArgs(1)),
	}, "print JSON", func(_ *cobra.Command, args []string) (finding, error) {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		res, err := replay.Play(f, catalog.Factories())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", args[0], err)
		}
		return judged(res, res.Same && res.Fault == "")
	})
}

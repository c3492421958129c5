package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/lab/run"
	"softswitch/lab/worlds"
)

func labWorlds(name *string) *cobra.Command {
	var runs int
	c := printed(&cobra.Command{
		Use:   "worlds FILE...",
		Short: "Play scenarios simulated and live, and compare what came of them",
		Long: `Play scenario files in both worlds, with itsy and with itsypaper, and print a table
in Markdown: what the simulator says, what it says with the timing of a live lab, and
what live labs say, which play the scenario as much slower as they need to.

Exit status: 0 both worlds say the same wherever a live lab can play; 1 not, or no run
of some scenario was valid; 2 a scenario could not be played.`,
		Example:           "  sudo softswitch lab worlds scenarios/*.yaml",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: yamlFiles,
	}, "print JSON", func(cmd *cobra.Command, args []string) (finding, error) {
		if runs < 1 {
			return nil, fmt.Errorf("--runs: %d; give 1 or more", runs)
		}
		w := worlds.Worlds{Runs: runs, Progress: os.Stderr, Read: readFile, Live: run.Quiet(*name)}
		t, err := w.Compare(cmd.Context(), args)
		if err != nil {
			return nil, err
		}
		return judged(t, t.Same())
	})
	c.Flags().IntVar(&runs, "runs", 3, "live runs of each scenario and detector")
	return c
}

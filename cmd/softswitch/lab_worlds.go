package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/lab/worlds"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

func labWorlds(name *string) *cobra.Command {
	var runs int
	var asJSON bool
	c := &cobra.Command{
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < 1 {
				return fmt.Errorf("--runs: %d; give 1 or more", runs)
			}
			w := worlds.Worlds{
				Runs: runs, Progress: os.Stderr, Read: readFile,
				Live: func(ctx context.Context, plan *scenario.Plan) (*verdict.Verdict, error) {
					return playLive(ctx, plan, *name, runOptions{}, io.Discard)
				},
			}
			t, err := w.Compare(cmd.Context(), args)
			if err != nil {
				return err
			}
			return printJudged(t, t.Same(), asJSON)
		},
	}
	c.Flags().IntVar(&runs, "runs", 3, "live runs of each scenario and detector")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

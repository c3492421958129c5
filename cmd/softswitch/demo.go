package main

import (
	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenarios"
)

func demoCommand() *cobra.Command {
	var opt playOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "Make a PFC deadlock on a k=4 fat-tree and detect it",
		Long: `Build a k=4 fat-tree of network namespaces, fail two links, let the detours close
a ring of pauses, and show how the deadlock forms and is detected; then remove all
of it. It is the scenario fattree-on-loop, which is built in. A lab of the same name
that is up already is removed with --replace only.

Exit status: 0 the deadlock formed and was detected; 1 not, or the machine was too
busy to tell; 2 it could not be played.`,
		Example: "  sudo softswitch demo\n  sudo softswitch demo --json 2>/dev/null\n  sudo softswitch demo --ui\n  softswitch demo --rootless",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return opt.play(cmd.Context(), func() (*scenario.Plan, error) {
				data, err := scenarios.FS.ReadFile(demoScenario)
				if err != nil {
					return nil, err
				}
				return makePlan("scenarios/"+demoScenario, data, opt.instead)
			})
		},
	}
	opt.flags(c)
	nameFlag(c, c.Flags(), &opt.Name, netnslab.DefaultName)
	return c
}

const demoScenario = "fattree-on-loop.yaml"

package main

import (
	"github.com/spf13/cobra"

	"softswitch/scenario/load"
)

func taggerCommand() *cobra.Command {
	var tags int
	var without []string
	c := printed(&cobra.Command{
		Use:   "tagger FILE",
		Short: "Show Tagger's rules for a scenario and prove that no deadlock can form",
		Long: `Compute Tagger's rules for the topology of a scenario file, and look for a cycle of
buffer dependencies under them, over every possible route and all tags. Show the
class in which each flow leaves each switch on its way.

Exit status: 0 there is no cycle; 1 there is one, which is shown; 2 the rules could
not be made, such as for a topology without levels.`,
		Example:           "  softswitch tagger scenarios/fattree-on-loop.yaml\n  softswitch tagger scenarios/fattree-on-loop.yaml --tags 1\n  softswitch tagger scenarios/fattree-on-loop.yaml --without agg0-0",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: upTo(1, yamlFiles),
	}, "print JSON", func(cmd *cobra.Command, args []string) (finding, error) {
		data, err := readFile(args[0])
		if err != nil {
			return nil, err
		}
		s, err := load.Scenario(args[0], data)
		if err != nil {
			return nil, err
		}
		plan, err := s.WithTagger(args[0], tags, cmd.Flags().Changed("tags"))
		if err != nil {
			return nil, err
		}
		if err := plan.TakeOutRules(without); err != nil {
			return nil, err
		}
		r := plan.ReportTagging()
		return judged(r, r.Cycle == "")
	})
	c.Flags().IntVar(&tags, "tags", 0, "lossless tags (default: the file's, or as many as its flows need, at least 2)")
	c.Flags().StringSliceVar(&without, "without", nil, "switches whose rules to take out")
	return c
}

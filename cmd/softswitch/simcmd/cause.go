package simcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/scenario/load"
	"softswitch/study/cause"
)

// Cause returns the command that finds the causes of a deadlock.
func Cause() *cobra.Command {
	var seed int64
	var dot, svg bool
	c := cli.Printed(&cobra.Command{
		Use:   "cause FILE|NAME",
		Short: "Find what caused a scenario's deadlock, and prove it",
		Long: `Find the cause of the first deadlock of a scenario, given as a file or by the name of a
scenario that comes with softswitch. The scenario is simulated without its detector. Then
each suspect is treated from the start, and the same run is repeated with the same seed:
a host does not misbehave, a flow sends 1/64 of its traffic, a turn of the loop is lossy.
A suspect is causal if that deadlock does not form then, and sufficient if no deadlock
forms. The control treats another host, flow or turn, drawn at random.

The smallest sets of hosts and flows that prevent the deadlock come last, with the set
that leaves the most goodput. The chronology shows which pause led to which; the first
pause need not be a cause.

Exit status: 0 there is an answer; 1 there is no deadlock; 2 it could not be played.`,
		Example: `  softswitch cause itsy-fig5
  softswitch cause scenarios/fattree-out-of-loop.yaml --seed 7 --json
  softswitch cause shpiner-fig6 --svg > chronology.svg`,
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
	}, "print JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		if seed < 0 {
			return nil, fmt.Errorf("--seed: %d; valid: 0 or above", seed)
		}
		data, err := cli.ReadScenario(args[0])
		if err != nil {
			return nil, err
		}
		done := cli.Reading(cli.Called(args[0]))
		s, err := load.Scenario(cli.Called(args[0]), data)
		done()
		if err != nil {
			return nil, err
		}
		report, err := cause.ExplainScenario(cmd.Context(), s, uint64(seed), runtime.GOMAXPROCS(0), os.Stderr)
		switch {
		case errors.Is(err, cause.ErrNoDeadlock):
			fmt.Fprintln(os.Stderr, "softswitch:", err)
			return nil, cli.ExitCode(cli.ExitUnmet)
		case err != nil:
			return nil, err
		case dot:
			return drawing(report.DOT()), nil
		case svg:
			return drawing(report.SVG()), nil
		}
		return report, nil
	})
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	c.Flags().BoolVar(&dot, "dot", false, "print the chronology in the language of Graphviz")
	c.Flags().BoolVar(&svg, "svg", false, "print the chronology as a picture (SVG)")
	c.MarkFlagsMutuallyExclusive("json", "dot", "svg")
	return c
}

// drawing is text that is printed as it is.
type drawing string

// WriteText implements finding.
func (d drawing) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, string(d))
	return err
}

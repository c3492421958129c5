package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/detect/catalog"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	return cli.Group(cli.Program(&cobra.Command{
		Use:   "figures",
		Short: "Simulate the figures of the documentation",
		Long: `Simulate the cases of the papers, and series of cases that a scenario file cannot express,
for the figures and tables in docs. A tool for developers of softswitch, in the repository.

Exit status: 0 done and as expected; 1 done, but not as expected; 2 not done.`,
	}), drawCommand(), boundaryCommand(), scaleCommand())
}

func drawCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "draw [FIGURE...]",
		Short: "Draw the figures of the documentation",
		Long: `Simulate the cases of the papers and draw the results, all or those named. The same
program writes the same files, byte for byte. docs/papers.md holds them against the papers.

Figures:
` + titles(),
		Example:   "  figures draw hu-fig3 hu-fig4 --out .",
		ValidArgs: names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return Draw(cmd.Context(), args, out, os.Stderr)
		},
	}
	c.Flags().StringVar(&out, "out", "docs/figures", "folder for the files")
	c.MarkFlagDirname("out")
	return c
}

func boundaryCommand() *cobra.Command {
	return cli.Printed(&cobra.Command{
		Use:   "boundary",
		Short: "Find the rate at which routing loops turn into deadlocks",
		Long: `Simulate routing loops of 2 to 5 switches at 40 Gbit/s and find the rate of one flow
at which they turn into a deadlock, beside the boundary n B / TTL of Hu et al.,
"Deadlocks in Datacenter Networks", Eq. 3.`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		return MeasureBoundary(cmd.Context(), os.Stderr)
	})
}

func scaleCommand() *cobra.Command {
	var detector string
	c := cli.Printed(&cobra.Command{
		Use:   "scale",
		Short: "Detect planted deadlocks in fabrics of thousands of switches",
		Long: `Build two fabrics of 64-port switches, plant deadlocks in them, and see whether
they are detected:

  - a fat-tree of k = 64: 5120 switches, 65536 hosts;
  - 10000 switches, each with 2 hosts and 62 links to other switches: those at 31
    distances before and after it.

Every switch and every host is simulated. A deadlock is a ring of three to twelve switches
round which routes lead flows. Switches have routes only to the subnets of destinations.

Exit status: 0 all deadlocks were detected and there was no false alarm; 1 not.`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		r, err := Measure(cmd.Context(), detector, os.Stderr)
		if err != nil {
			return nil, err
		}
		return cli.Judged(r, r.Clean())
	})
	cli.DetectorFlag(c, &detector, catalog.Default, "deadlock detector: %s")
	return c
}

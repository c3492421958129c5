package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/safefile"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/study/check"
)

func checkCommand() *cobra.Command {
	opt := check.Options{Workers: runtime.GOMAXPROCS(0)}
	var witness, html, markdown string
	var cure bool
	var fail []string
	c := cli.Printed(&cobra.Command{
		Use:   "check FILE|NAME",
		Short: "Find what could lock a fabric, before it happens",
		Long: fmt.Sprintf(`Find cyclic buffer dependencies: cycles of buffers that can wait for one another. The check
uses the routes, backups, flooding and priorities of a scenario file. It covers the fabric
without failures, with the failures in the file, and with every link, every switch and
every pair of links down: those between switches, and of hosts at several with one address.
With --fail it covers the fabric with these links and switches down, in addition to the
file's; nothing else fails unless --failures says so.

The first line is the answer: how many cycles there are, with which failures, and whether
they need backup routes. The second says what the routes are (topology.routing), the third
which links have less headroom than they need.

Cycles that are alike, but for which switches and links of their kind they pass, are one
shape, shown with one of them. The most likely come first: those that need no failure or
the file's own before those that need one or two; those that the file's flows close before
those that hosts could close; short ones before long ones. A cycle that can close may
still lack the traffic to fill it: --witness plays candidate scenarios in virtual time to
find one in which each shape deadlocks.

--cure finds changes that break all cycles, and verifies them, the cheapest first: no
flooding; routes of the file to add or change (the fewest for up to %d, otherwise found
step by step); Tagger's rules. --html and --markdown write all of it as a page.

Exit status: 0 there is no such cycle, whatever lacks headroom; 1 there is one, with the
routes that the file has; 2 it could not be checked.`, check.MaxExact),
		Example: `  softswitch check scenarios/fattree-on-loop.yaml
  softswitch check fabric.yaml --fail core0--agg1-0,agg3-0
  softswitch check fabric.yaml --failures 1 --cure --html fabric.html
  softswitch check scenarios/fattree-on-loop.yaml --witness /tmp/witness`,
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
	}, "print JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		if err := opt.Valid(); err != nil {
			return nil, err
		}
		if err := cli.CheckOutputs(args, cli.Output{Flag: "html", File: html}, cli.Output{Flag: "markdown", File: markdown}); err != nil {
			return nil, err
		}
		data, err := cli.ReadScenario(args[0])
		if err != nil {
			return nil, err
		}
		plan, err := planToCheck(cli.Called(args[0]), data)
		if err != nil {
			return nil, err
		}
		if len(fail) > 0 {
			if opt.Down, err = check.LinksOf(plan.Fabric, fail); err != nil {
				return nil, fmt.Errorf("--fail: %w", err)
			}
			if !cmd.Flags().Changed("failures") {
				opt.Failures = 0
			}
		}
		k, err := check.CheckAll(cmd.Context(), plan, opt, os.Stderr)
		if err != nil {
			return nil, err
		}
		if err := k.Answer(cmd.Context(), os.Stderr); err != nil {
			return nil, err
		}
		if witness != "" {
			if err := k.Witnesses(cmd.Context(), data, witness, os.Stderr); err != nil {
				return nil, err
			}
		}
		if cure {
			if err := k.Cures(cmd.Context(), func() (*scenario.Scenario, error) { return load.Scenario(cli.Called(args[0]), data) }, os.Stderr); err != nil {
				return nil, err
			}
		}
		if err := writePage(html, k.WriteHTML); err != nil {
			return nil, err
		}
		if err := writePage(markdown, k.WriteMarkdown); err != nil {
			return nil, err
		}
		return cli.Judged(k.Report, k.Report.Clean())
	})
	c.Flags().IntVar(&opt.Failures, "failures", 2, "maximum number of links that fail at once: 0, 1 or 2 (0 with --fail)")
	c.Flags().StringSliceVar(&fail, "fail", nil, "links and switches that are down, in addition to the file's")
	c.Flags().StringVar(&witness, "witness", "", fmt.Sprintf("folder for scenario files in which the first %d shapes deadlock, one file for each", check.MaxWitnesses))
	c.Flags().BoolVar(&cure, "cure", false, "find changes that break all cycles: routes to change, and preventions")
	c.Flags().StringVar(&html, "html", "", "file for the answer as a page, with drawings")
	c.Flags().StringVar(&markdown, "markdown", "", "file for the answer as Markdown")
	c.MarkFlagDirname("witness")
	c.MarkFlagFilename("html", "html")
	c.MarkFlagFilename("markdown", "md")
	return c
}

// writePage writes a page to a file, if it has a name.
func writePage(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	return safefile.WriteFile(file, page.Bytes(), 0o644)
}

// planToCheck compiles a scenario file to a plan. It refuses a fabric too large to check.
func planToCheck(file string, data []byte) (*scenario.Plan, error) {
	defer cli.Reading(file)()
	s, err := load.Scenario(file, data)
	if err != nil {
		return nil, err
	}
	if err := check.Refuse(s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return scenario.Compile(s)
}

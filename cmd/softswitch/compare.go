package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/compare"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

// compareLab is the name of the lab of a live comparison.
const compareLab = "compare"

// compareOptions are what to compare and what to make of it.
type compareOptions struct {
	world              string
	scenarios, systems []string
	runs               int
	json               bool
	html, markdown     string
}

func compareCommand() *cobra.Command {
	var opt compareOptions
	c := &cobra.Command{
		Use:   "compare",
		Short: "Play every scenario against every system and put them side by side",
		Long: `Play every scenario against every system, that is a detector, a response or a
prevention, and print an outcome for each pair and a sum for each system. What stands
for "all" scenarios is every scenario file that comes with softswitch and has no
prevention of its own; live, those on the fat-tree.

A pair is played with the seeds 1 to N. Simulations run on all processors; live labs
run one after another and need root.

` + compare.WatchdogNote + `

Exit status: 0 everything was played; 2 something could not be.`,
		Example: `  softswitch compare --html comparison.html
  softswitch compare --scenarios hu-fig4,shpiner-fig4 --systems none,itsy+drop,watchdog --runs 10
  sudo softswitch compare --world live --systems itsy+bubble+trigger --json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context()) },
	}
	c.Flags().StringVar(&opt.world, "world", "sim", "where to play: sim or live")
	c.Flags().StringSliceVar(&opt.scenarios, "scenarios", nil, "scenarios by name, such as hu-fig4 (default all)")
	c.Flags().StringSliceVar(&opt.systems, "systems", nil, "systems by name, such as itsy+drop: a detector, one with a response, or a prevention (default all but variants)")
	c.Flags().IntVar(&opt.runs, "runs", 1, "runs of each pair")
	c.Flags().BoolVar(&opt.json, "json", false, "print every row as JSON")
	c.Flags().StringVar(&opt.html, "html", "", "file for the tables and plots, as one page that needs nothing else")
	c.Flags().StringVar(&opt.markdown, "markdown", "", "file for the matrix and a text on each system")
	c.MarkFlagFilename("html", "html")
	c.MarkFlagFilename("markdown", "md")
	return c
}

func (opt *compareOptions) run(ctx context.Context) error {
	m, err := opt.matrix()
	if err != nil {
		return err
	}
	result, err := m.Run(ctx)
	if err != nil {
		return err
	}
	if err := opt.write(result); err != nil {
		return err
	}
	if failed := result.Failed(); len(failed) > 0 {
		return fmt.Errorf("compare: %d of %d pairs could not be played; first %s with %s: %s", len(failed), len(result.Rows), failed[0].Scenario, failed[0].System, failed[0].Failed)
	}
	return nil
}

// playCompared plays a plan on a lab of its own.
func playCompared(ctx context.Context, p *scenario.Plan) (*verdict.Verdict, error) {
	return playLive(ctx, p, compareLab, runOptions{}, io.Discard)
}

// matrix is what the options ask for; all of it is checked.
func (opt *compareOptions) matrix() (*compare.Matrix, error) {
	if opt.runs < 1 {
		return nil, fmt.Errorf("--runs: %d; valid: 1 or more", opt.runs)
	}
	world, ok := compare.NewWorld(opt.world, playCompared)
	if !ok {
		return nil, fmt.Errorf("--world: %q; valid: sim, live", opt.world)
	}
	picked, err := compare.Scenarios(opt.world, opt.scenarios)
	if err != nil {
		return nil, err
	}
	systems, err := compare.PickSystems(opt.systems)
	if err != nil {
		return nil, err
	}
	return &compare.Matrix{World: world, Scenarios: picked, Systems: systems, Runs: opt.runs, Progress: compareProgress}, nil
}

func compareProgress(done, of int, r *compare.Row) {
	why := cmp.Or(r.NotApplicable, r.Failed)
	if why != "" {
		why = ": " + why
	}
	fmt.Fprintf(os.Stderr, "%*d/%d  %s  %s  %s%s\n", len(fmt.Sprint(of)), done, of, r.Scenario, r.System, r.Outcome(), why)
}

// write writes what the options ask for.
func (opt *compareOptions) write(c *compare.Comparison) error {
	notes := []string{}
	if c.World == "sim" {
		notes = append(notes, strings.ReplaceAll(compare.WatchdogNote, "\n", " "))
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{opt.html, func(w io.Writer) error { return c.WriteHTML(w, notes) }},
		{opt.markdown, func(w io.Writer) error { return c.WriteMarkdown(w, notes) }},
	} {
		if out.path == "" {
			continue
		}
		if err := writeFile(out.path, out.write); err != nil {
			return err
		}
	}
	if !opt.json {
		return c.WriteTable(os.Stdout)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

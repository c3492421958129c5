package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/compare"
	"softswitch/detect/catalog"
	"softswitch/detect/watchdog"
	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/unit"
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

` + watchdogNote + `

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

// matrix is what the options ask for; all of it is checked.
func (opt *compareOptions) matrix() (*compare.Matrix, error) {
	if opt.runs < 1 {
		return nil, fmt.Errorf("--runs: %d; valid: 1 or more", opt.runs)
	}
	worlds := map[string]compare.World{
		"sim":  {Name: "sim", Parallel: runtime.GOMAXPROCS(0), Play: compareSim},
		"live": {Name: "live", Parallel: 1, Play: compareLive},
	}
	world, ok := worlds[opt.world]
	if !ok {
		return nil, fmt.Errorf("--world: %q; valid: sim, live", opt.world)
	}
	all, err := shippedScenarios(opt.world)
	if err != nil {
		return nil, err
	}
	picked, err := compare.Named("scenarios", opt.scenarios, all, func(s compare.Source) string { return s.Name })
	if err != nil {
		return nil, err
	}
	if len(opt.scenarios) == 0 {
		if picked, err = usualScenarios(opt.world, all); err != nil {
			return nil, err
		}
	}
	systems, err := compare.Named("systems", opt.systems, compare.Systems(), func(s compare.System) string { return s.Name })
	if err != nil {
		return nil, err
	}
	if len(opt.systems) == 0 {
		systems = compare.Usual()
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

// shippedScenarios are the scenario files of this program; live, as much slower as a
// lab needs them to be.
func shippedScenarios(world string) (all []compare.Source, err error) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := scenarios.FS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, compare.Source{Name: strings.TrimSuffix(file, ".yaml"), Parse: func() (*scenario.Scenario, error) {
			s, err := load.Scenario("scenarios/"+file, data)
			if err != nil || world == "sim" {
				return s, err
			}
			return s.Slow(lab.Slowness(s))
		}})
	}
	return all, nil
}

// usualScenarios are those to play if none is named.
func usualScenarios(world string, all []compare.Source) (usual []compare.Source, err error) {
	for _, src := range all {
		s, err := src.Parse()
		if err != nil {
			return nil, err
		}
		if s.Prevention == nil && (world == "sim" || strings.HasPrefix(src.Name, "fattree-")) {
			usual = append(usual, src)
		}
	}
	return usual, nil
}

// compareSim plays a plan in virtual time.
func compareSim(_ context.Context, p *scenario.Plan, seed uint64) (*verdict.Verdict, error) {
	known := catalog.Factories()
	dog := simWatchdog(p.Scenario)
	known[watchdog.Name] = dog.Factory()
	dog.Action = watchdog.Forward
	known[watchdog.NameForward] = dog.Factory()
	w, err := sim.New(p, sim.Options{Seed: seed, Detectors: known})
	if err != nil {
		return nil, compare.NotApplicable("cannot be simulated: " + err.Error())
	}
	return w.Run()
}

// compareLive plays a plan on namespaces; a run that is not valid again, a few times.
func compareLive(ctx context.Context, p *scenario.Plan, _ uint64) (v *verdict.Verdict, err error) {
	if err := lab.Refuse(p.Scenario); err != nil {
		return nil, compare.NotApplicable("cannot be played live: " + err.Error())
	}
	const tries = 3
	for range tries {
		v, err = playLive(ctx, p, compareLab, runOptions{}, io.Discard)
		if err != nil || v.Invalid == "" {
			break
		}
	}
	return v, err
}

// watchdogNote is how the watchdog's times follow the scenario.
const watchdogNote = `A watchdog's times of 200 ms are longer than most simulated scenarios. In a
simulation its detection and poll times are a tenth of the scenario's duration, and
its restoration time is the same but no shorter than a pause, each of them at most
200 ms. Live they are 200 ms.`

// simWatchdog is the watchdog for a simulation of s, with action drop.
func simWatchdog(s *scenario.Scenario) watchdog.Config {
	var pause unit.Time
	for _, l := range s.Links {
		pause = max(pause, l.Rate.QuantaTime(uint16(s.PFC.Quanta)))
	}
	c := watchdog.Default()
	c.Detection, c.Poll = min(c.Detection, s.Duration/10), min(c.Poll, s.Duration/10)
	c.Restoration = min(c.Restoration, max(pause, s.Duration/10))
	return c
}

// write writes what the options ask for.
func (opt *compareOptions) write(c *compare.Comparison) error {
	notes := []string{}
	if c.World == "sim" {
		notes = append(notes, strings.ReplaceAll(watchdogNote, "\n", " "))
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

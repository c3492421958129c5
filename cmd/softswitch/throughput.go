package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/plot"
	"softswitch/unit"
)

func plotCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "plot VERDICT.json... --out FILE.svg",
		Short: "Draw the throughput of flows over time, from verdicts",
		Long: `Draw the throughput of each flow over time, in one panel for each verdict: what
"lab run --json" and "sim run --json" print. Throughputs are normalised: 1 is the
most that the flow has in any of the verdicts.`,
		Example: `  softswitch sim run scenarios/itsy-fig5.yaml --response drop --json > drop.json
  softswitch sim run scenarios/itsy-fig5.yaml --response drop+trigger --json > trigger.json
  softswitch plot drop.json trigger.json --out fig5.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var all []*verdict.Verdict
			for _, file := range args {
				v, err := readVerdict(file)
				if err != nil {
					return err
				}
				all = append(all, v)
			}
			return writeFigure(out, throughputFigure(all))
		},
	}
	c.Flags().StringVar(&out, "out", "", "file for the picture (SVG)")
	c.MarkFlagRequired("out")
	c.MarkFlagFilename("out", "svg")
	return c
}

func readVerdict(file string) (*verdict.Verdict, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	v := new(verdict.Verdict)
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("%s: not a verdict: %w", file, err)
	}
	if v.Duration <= 0 || len(v.Flows) == 0 {
		return nil, fmt.Errorf("%s: not a verdict with flows: duration_ns is %d, and there are %d flows; use what \"sim run --json\" or \"lab run --json\" prints", file, v.Duration, len(v.Flows))
	}
	return v, nil
}

// throughputFigure has a panel for each verdict and a line for each flow.
func throughputFigure(all []*verdict.Verdict) *plot.Figure {
	most := map[string]int64{}
	for _, v := range all {
		for _, f := range v.Flows {
			for _, r := range f.OverTime {
				most[f.Name] = max(most[f.Name], r)
			}
		}
	}
	fig := &plot.Figure{Title: all[0].Scenario + ": throughput of flows, 1 is the most of each", X: "time / ms"}
	for _, v := range all {
		p := plot.Panel{Title: fmt.Sprintf("%s: %s, response %s: %d recurrences", v.World, v.Detector, v.Response, v.Recurrences), Y: "normalised", Top: 1.05}
		for i, f := range v.Flows {
			line := plot.Line{Name: f.Name, Group: i}
			for b, r := range f.OverTime {
				line.Points = append(line.Points, plot.Point{
					X: (float64(b) + 0.5) * float64(v.Duration) / float64(len(f.OverTime)) / float64(unit.Millisecond),
					Y: float64(r) / float64(max(1, most[f.Name])),
				})
			}
			p.Lines = append(p.Lines, line)
		}
		fig.Panels = append(fig.Panels, p)
	}
	return fig
}

// brokenAlone is the figure of what it brings to handle a deadlock's trigger: ITSY
// (Wu, Ng), Fig. 5.
const brokenAlone = "itsy-fig5"

// drawTrigger plays brokenAlone without response, with breaking alone, and with the
// trigger handled too.
func drawTrigger() (*plot.Figure, error) {
	data, err := scenarios.FS.ReadFile(brokenAlone + ".yaml")
	if err != nil {
		return nil, err
	}
	var all []*verdict.Verdict
	for _, response := range []string{"none", "drop", "drop+trigger"} {
		s, err := load.Scenario("scenarios/"+brokenAlone+".yaml", data)
		if err != nil {
			return nil, err
		}
		s.Response = response
		p, err := scenario.Compile(s)
		if err != nil {
			return nil, err
		}
		v, err := runSim(p, sim.Options{Detectors: catalog.Factories()})
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return throughputFigure(all), nil
}

package main

import (
	_ "embed"
	"fmt"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/plot"
)

// convergence is the name of the figure that shows how fast congestion control converges to equal
// shares, as in the DCQCN paper (Zhu et al., SIGCOMM 2015): connections start one after the other on
// one bottleneck.
const convergence = "convergence"

//go:embed convergence.yaml
var convergenceFile []byte

// controls are the panels of the figure.
var controls = []string{"none", "dcqcn", "hpcc-sender", "nvidia"}

// drawConvergence plays convergence.yaml with each of controls.
func drawConvergence(watch func(unit.Time) error) (*plot.Figure, error) {
	fig := &plot.Figure{Title: "Four connections, one after the other, on a link of 40 Gbit/s", X: "time / ms"}
	for _, name := range controls {
		v, err := playControl(name, watch)
		if err != nil {
			return nil, err
		}
		p := plot.Panel{Title: fmt.Sprintf("%s: Jain's index at the end %.3f, %d pauses", name, jain(v), v.PFC.XOFF), Y: "Gbit/s", Top: 42}
		for i, f := range v.Flows {
			p.Lines = append(p.Lines, plot.Line{Name: f.Name, Group: i, Points: plot.OverTime(v, i, 1e9)})
		}
		fig.Panels = append(fig.Panels, p)
	}
	return fig, nil
}

// playControl plays convergence.yaml with "none", "dcqcn" or the name of a profile.
func playControl(name string, watch func(unit.Time) error) (*verdict.Verdict, error) {
	set := strictyaml.Setting{Path: "congestion.profile", Text: name}
	switch name {
	case "none":
		set.Path = "congestion.control"
	case "dcqcn":
		set.Text = "paper"
	}
	p, err := load.Plan(convergence+".yaml", convergenceFile, load.Instead{Set: []strictyaml.Setting{set}})
	if err != nil {
		return nil, err
	}
	return play(p, sim.Options{Watch: watch})
}

// jain returns the fairness index of Jain et al. for the throughput of the flows in the last quarter:
// 1 if all are equal.
func jain(v *verdict.Verdict) float64 {
	sum := lists.Sum(v.Flows, func(f verdict.FlowResult) float64 { return float64(f.Final) })
	squares := lists.Sum(v.Flows, func(f verdict.FlowResult) float64 { return float64(f.Final) * float64(f.Final) })
	return sum * sum / float64(len(v.Flows)) / squares
}

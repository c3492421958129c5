package main

import (
	"bytes"
	"fmt"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/internal/safefile"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/plot"
)

func writeFigure(path string, f *plot.Figure) error {
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return err
	}
	return safefile.WriteFile(path, b.Bytes(), 0o644)
}

// cycleFigure is a figure of the four-switch cycle of Hu et al.: when its four links
// are paused, and how many bytes wait in the priority groups behind them. It plays the scenario
// of the same name and shows it between from and to; if to is 0, around the onset of
// the deadlock.
type cycleFigure struct {
	name, title string
	from, to    unit.Time
	flows       []waiting
	paper       [][]float64 // KB between which the paper's text has those of the first flows; 0 is an axis
}

// A sample is taken every sampleEvery; beforeOnset and afterOnset are the times shown
// around an onset.
const (
	sampleEvery = unit.Microsecond
	beforeOnset = 800 * unit.Microsecond
	afterOnset  = 200 * unit.Microsecond
)

// waiting names the bytes of a priority group that wait for one queue: those of one flow.
type waiting struct{ at, from, to, title string }

var (
	allFlows = []waiting{
		{"A", "D", "B", "flow 2 at A, from L4 for L1"},
		{"B", "A", "C", "flow 1 at B, from L1 for L2"},
		{"C", "B", "D", "flow 1 at C, from L2 for L3"},
		{"D", "C", "A", "flow 2 at D, from L3 for L4"},
	}
	flowAtB = allFlows[1:2]
)

var cycleFigures = []cycleFigure{
	{"hu-fig3", "Two flows: no deadlock (Hu et al., Fig. 3)", 0, 500 * unit.Microsecond, allFlows, [][]float64{{10, 55}, {18}}},
	{"hu-fig4", "A third flow: deadlock (Hu et al., Fig. 4)", 0, 500 * unit.Microsecond, allFlows, nil},
	{"hu-fig5-2g", "The third flow at 2 Gbit/s (Hu et al., Fig. 5)", 9 * unit.Millisecond, 10 * unit.Millisecond, flowAtB, nil},
	{"hu-fig5-3g", "The third flow at 3 Gbit/s (Hu et al., Fig. 5)", 0, 0, flowAtB, nil},
}

// cycleLinks are the links of the cycle in the direction of the flows.
var cycleLinks = []struct{ name, from, to string }{{"L1", "A", "B"}, {"L2", "B", "C"}, {"L3", "C", "D"}, {"L4", "D", "A"}}

// draw plays the scenario without a detector, and draws one panel of pauses and one for
// each of r.flows.
func (r *cycleFigure) draw(watch func(unit.Time) error) (*plot.Figure, error) {
	plan, err := shipped(r.name, load.Instead{Detector: catalog.None})
	if err != nil {
		return nil, err
	}
	if r.to == 0 {
		v, err := play(plan, sim.Options{Seed: 1, Watch: watch})
		if err != nil {
			return nil, err
		}
		if !v.Deadlock {
			return nil, fmt.Errorf("%s has no deadlock to show", r.name)
		}
		r.from, r.to = v.Onset-beforeOnset, v.Onset+afterOnset
	}
	plan.Scenario.Duration = min(plan.Scenario.Duration, r.to)
	pauses := &pauses{r, map[string]unit.Time{}, map[string][]plot.Span{}}
	lines := make([]plot.Line, len(r.flows))
	_, err = play(plan, sim.Options{Seed: 1, Watch: watch, Events: pauses.add, SampleAt: sim.Every(sampleEvery), Sample: func(now unit.Time, w *sim.World) {
		for i, q := range r.flows {
			if now >= r.from {
				lines[i].Points = append(lines[i].Points, plot.Point{X: millis(now), Y: float64(q.bytes(plan, w)) / 1024})
			}
		}
	}})
	return &plot.Figure{Title: r.title, X: "time (ms)", Panels: r.panels(plan, pauses, lines)}, err
}

// shipped is the plan of a scenario that comes with softswitch.
func shipped(name string, in load.Instead) (*scenario.Plan, error) {
	data, err := scenarios.FS.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	return load.Plan(name+".yaml", data, in)
}

func play(plan *scenario.Plan, opt sim.Options) (*verdict.Verdict, error) {
	opt.Detectors = catalog.Factories()
	return sim.Play(plan, opt)
}

func (r *cycleFigure) panels(plan *scenario.Plan, p *pauses, lines []plot.Line) []plot.Panel {
	const top = 60 // KB
	panels := []plot.Panel{{Title: "links that are paused", Bars: p.bars()}}
	for i, q := range r.flows {
		levels := thresholds(plan)
		if i < len(r.paper) {
			levels = levels[:1] // XON would be too near
			for _, y := range r.paper[i] {
				levels = append(levels, plot.Level{Name: "paper", Y: y})
			}
		}
		panels = append(panels, plot.Panel{Title: q.title, Y: "KB", Lines: lines[i : i+1], Top: top, Levels: levels})
	}
	return panels
}

// thresholds returns the thresholds of a priority group, in KB.
func thresholds(plan *scenario.Plan) []plot.Level {
	b := plan.Scenario.Buffer
	xoff := b.Size + *b.StaticTh
	return []plot.Level{{Name: "XOFF", Y: float64(xoff) / 1024}, {Name: "XON", Y: float64(max(*b.XON, xoff-*b.XONOffset)) / 1024}}
}

func (q waiting) bytes(plan *scenario.Plan, w *sim.World) int {
	const priority = 3
	return w.Switch(q.at).MMU().Held(portTo(plan, q.at, q.from), priority, portTo(plan, q.at, q.to), priority)
}

// portTo returns the port of node that leads to peer.
func portTo(plan *scenario.Plan, node, peer string) unit.Port {
	i, _ := plan.Fabric.Node(node)
	for j, p := range plan.Fabric.Nodes[i].Ports {
		if plan.Fabric.Nodes[p.Peer.Node].Name == peer {
			return unit.Port(j)
		}
	}
	return unit.NoPort
}

// pauses tracks the pauses of the links of the cycle.
type pauses struct {
	run   *cycleFigure
	since map[string]unit.Time // by link: the start of a pause in force
	rows  map[string][]plot.Span
}

func (p *pauses) add(n event.Node, e event.Event) {
	link := ""
	for _, l := range cycleLinks {
		if n.Name == l.from && int(e.Out) < len(n.Ports) && n.Ports[e.Out] == "to-"+l.to {
			link = l.name
		}
	}
	switch e.Type {
	case event.Paused:
		p.since[link] = e.At
	case event.Resumed, event.Expired:
		p.end(link, e.At)
	}
}

func (p *pauses) end(link string, at unit.Time) {
	since, paused := p.since[link]
	delete(p.since, link)
	if from := max(since, p.run.from); paused && at > from {
		p.rows[link] = append(p.rows[link], plot.Span{From: millis(from), To: millis(at)})
	}
}

// bars closes the pauses that last to the end and returns all of them.
func (p *pauses) bars() (rows []plot.Bars) {
	for _, l := range cycleLinks {
		p.end(l.name, p.run.to)
		rows = append(rows, plot.Bars{Name: l.name, Span: p.rows[l.name]})
	}
	return rows
}

func millis(t unit.Time) float64 { return float64(t) / 1e6 }

package main

import (
	"fmt"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/detect/shpiner"
	"softswitch/internal/strictyaml"
	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/plot"
)

// loopFigure is a figure of a credit loop of Shpiner et al.: priority groups or throughput over
// time, with each of detectors in turn. It plays the scenario from its beginning to until.
type loopFigure struct {
	name, title, scenario string
	until                 string   // a time as in a scenario file
	loop                  []string // its switches in the direction of the frames
	detectors             []string
	panels                func(r *loopRun) []plot.Panel
	paper                 [][]plot.Mark // by detector: instants that the paper's text names
}

var (
	ring     = []string{"s11", "s23", "s12", "s22"}
	miswired = []string{"e7", "a4x", "c1", "a8x", "e16", "a8y", "c4", "a4y"}
)

// fig5 are the instants of Fig. 5 that the text names.
var fig5 = [][]plot.Mark{
	{{Name: "paper: locks", X: 0.08}},
	{{Name: "paper: locks", X: 0.08}, {Name: "paper: opened", X: 0.12, Kind: plot.Ends}},
}

var loopFigures = []loopFigure{
	{
		"shpiner-fig5a", "Buffers of a credit loop (Shpiner et al., Fig. 5a)", "shpiner-fig4-ecmp", "300us", ring,
		[]string{catalog.None, shpiner.LoopBreakerName},
		(*loopRun).pgPanels, fig5,
	},
	{
		"shpiner-fig5b", "Throughput of its links (Shpiner et al., Fig. 5b)", "shpiner-fig4-ecmp", "300us", ring,
		[]string{catalog.None, shpiner.LoopBreakerName},
		(*loopRun).linkPanels, fig5,
	},
	{
		"shpiner-fig7a", "A mis-wired fat-tree deadlocks (Shpiner et al., Fig. 7a)", "shpiner-fig6", "5ms", miswired,
		[]string{catalog.None},
		(*loopRun).flowPanels, nil,
	},
	{
		"shpiner-fig7b", "Deadlock Breaker lets it go on (Shpiner et al., Fig. 7b)", "shpiner-fig6", "5ms", miswired,
		[]string{shpiner.DeadlockBreakerName},
		(*loopRun).flowPanels, nil,
	},
}

// rateEvery is the interval over which the throughput of a link is counted: 25 frames of 1000 bytes
// at 40 Gbit/s.
const rateEvery = 5 * unit.Microsecond

// loopRun is the result of a run of a loopFigure's scenario: for each switch of the loop, the
// occupancy of the priority group that the previous switch fills, in KB, and the rate to the next switch, in
// Gbit/s.
type loopRun struct {
	verdict    *verdict.Verdict
	xoff       []plot.Level
	pgs, links []plot.Line
}

// draw plays the scenario with each of f.detectors.
func (f *loopFigure) draw(watch func(unit.Time) error) (*plot.Figure, error) {
	fig := &plot.Figure{Title: f.title, X: "time (ms)"}
	for i, d := range f.detectors {
		r, err := f.play(d, watch)
		if err != nil {
			return nil, err
		}
		panels := f.panels(r)
		if f.paper != nil {
			panels[0].Marks = f.paper[i]
		}
		for i := range panels[0].Lines {
			if len(fig.Panels) > 0 { // the first panel has the legend for all
				panels[0].Lines[i].Name = ""
			}
		}
		fig.Panels = append(fig.Panels, panels...)
	}
	return fig, nil
}

func (f *loopFigure) play(detector string, watch func(unit.Time) error) (*loopRun, error) {
	until := strictyaml.Setting{Path: "duration", Text: f.until}
	plan, err := shipped(f.scenario, load.Instead{Detector: detector, Set: []strictyaml.Setting{until}})
	if err != nil {
		return nil, err
	}
	r := &loopRun{xoff: thresholds(plan)[:1], pgs: make([]plot.Line, len(f.loop)), links: make([]plot.Line, len(f.loop))}
	sent := make([]uint64, len(f.loop))
	r.verdict, err = play(plan, sim.Options{Seed: 1, Watch: watch, SampleAt: sim.Every(sampleEvery), Sample: func(now unit.Time, w *sim.World) {
		const priority = 3
		for i, at := range f.loop {
			before, behind := f.loop[(i+len(f.loop)-1)%len(f.loop)], f.loop[(i+1)%len(f.loop)]
			held, _ := w.Switch(at).MMU().Bytes(portTo(plan, at, before), priority)
			r.pgs[i].Name, r.pgs[i].Group = at, i
			r.pgs[i].Points = append(r.pgs[i].Points, plot.Point{X: millis(now), Y: float64(held) / 1024})
			if now%rateEvery != 0 {
				continue
			}
			all := w.Switch(at).Counters(portTo(plan, at, behind)).TxBytes[priority]
			r.links[i].Name, r.links[i].Group = at+" to "+behind, i
			r.links[i].Points = append(r.links[i].Points, plot.Point{X: millis(now - rateEvery/2), Y: float64(all-sent[i]) * 8 / float64(rateEvery)})
			sent[i] = all
		}
	}})
	if err == nil && !r.verdict.Deadlock {
		err = fmt.Errorf("%s has no deadlock to show", f.scenario)
	}
	return r, err
}

// about returns which system ran, and how the deadlock ended.
func (r *loopRun) about() string {
	v := r.verdict
	locks := fmt.Sprintf("%s: locks at %.3f ms", strings.Replace(v.Detector, catalog.None, "no system", 1), millis(v.Onset))
	switch {
	case v.Recurrences > 0:
		return fmt.Sprintf("%s, and %d times more", locks, v.Recurrences)
	case v.Recovery > 0:
		return fmt.Sprintf("%s, free again at %.3f ms", locks, millis(v.Onset+v.Recovery))
	}
	return locks + ", for good"
}

func (r *loopRun) pgPanels() []plot.Panel {
	return []plot.Panel{{Title: r.about(), Y: "KB", Lines: r.pgs, Top: 100, Levels: r.xoff}}
}

func (r *loopRun) linkPanels() []plot.Panel {
	return []plot.Panel{{Title: r.about(), Y: "Gbit/s", Lines: r.links, Top: 42}}
}

// flowPanels returns panels of the flows that form the loop, and of the sum of its priority groups.
func (r *loopRun) flowPanels() []plot.Panel {
	flows := plot.Panel{Title: "the flows of the loop. " + r.about(), Y: "Gbit/s", Top: 18}
	for i, f := range r.verdict.Flows {
		if strings.HasPrefix(f.Name, "loop") {
			flows.Lines = append(flows.Lines, plot.Line{Name: f.From + " to " + f.To, Group: i, Points: plot.OverTime(r.verdict, i, 1e9)})
		}
	}
	all := plot.Line{Points: make([]plot.Point, len(r.pgs[0].Points))}
	for _, b := range r.pgs {
		for i, p := range b.Points {
			all.Points[i].X = p.X
			all.Points[i].Y += p.Y
		}
	}
	return []plot.Panel{flows, {Title: fmt.Sprintf("the %d priority groups of the loop together", len(r.pgs)), Y: "KB", Lines: []plot.Line{all}}}
}

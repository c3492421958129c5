package figures

import (
	"encoding/json"
	"fmt"
	"os"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/plot"
)

// Throughput reads verdicts from files and draws the throughput of their flows into the
// file out.
func Throughput(out string, files []string) error {
	var all []*verdict.Verdict
	for _, file := range files {
		v, err := readVerdict(file)
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	return writeFigure(out, throughputFigure(all))
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
			p.Lines = append(p.Lines, plot.Line{Name: f.Name, Group: i, Points: overTime(v, i, float64(max(1, most[f.Name])))})
		}
		p.Marks = deadlockMarks(v)
		fig.Panels = append(fig.Panels, p)
	}
	return fig
}

// overTime is what flow i receives, in ms and in units of one.
func overTime(v *verdict.Verdict, i int, one float64) (points []plot.Point) {
	f := &v.Flows[i]
	for b, r := range f.OverTime {
		points = append(points, plot.Point{
			X: (float64(b) + 0.5) * float64(v.Duration) / float64(len(f.OverTime)) / float64(unit.Millisecond),
			Y: float64(r) / one,
		})
	}
	return points
}

// deadlockMarks are when the first deadlock came about and, if none was left at the end, when
// the last was gone.
func deadlockMarks(v *verdict.Verdict) (marks []plot.Mark) {
	if v.Deadlock {
		marks = append(marks, plot.Mark{Name: "first deadlock", X: millis(v.Onset), Kind: plot.Begins})
	}
	if v.Recovered {
		marks = append(marks, plot.Mark{Name: "last one gone", X: millis(v.Onset + v.Recovery), Kind: plot.Ends})
	}
	return marks
}

// brokenAlone is the scenario of the figure on why the deadlock's trigger must be
// handled too: ITSY (Wu, Ng), Fig. 5.
const brokenAlone = "itsy-fig5"

// drawTrigger plays brokenAlone without a response, with breaking alone, and with the
// trigger handled too.
func drawTrigger(watch func(unit.Time) error) (*plot.Figure, error) {
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
		v, err := play(p, sim.Options{Watch: watch})
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return throughputFigure(all), nil
}

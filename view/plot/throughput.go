package plot

import (
	"fmt"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Throughput is what the flows of each verdict, of which there is at least one, receive over time: a
// panel for each verdict and a line for each flow. 1 is the most that a flow has in any of them.
func Throughput(all []*verdict.Verdict) *Figure {
	most := map[string]int64{}
	for _, v := range all {
		for _, f := range v.Flows {
			for _, r := range f.OverTime {
				most[f.Name] = max(most[f.Name], r)
			}
		}
	}
	fig := &Figure{Title: all[0].Scenario + ": throughput of flows, 1 is the most of each", X: "time / ms"}
	for _, v := range all {
		p := Panel{Title: fmt.Sprintf("%s: %s, response %s: %s", v.World, v.Detector, v.Response, unit.Count(v.Recurrences, "recurrence")), Y: "normalised", Top: 1.05}
		for i, f := range v.Flows {
			p.Lines = append(p.Lines, Line{Name: f.Name, Group: i, Points: OverTime(v, i, float64(max(1, most[f.Name])))})
		}
		p.Marks = deadlockMarks(v)
		fig.Panels = append(fig.Panels, p)
	}
	return fig
}

// OverTime is what flow i receives, in ms and in units of one.
func OverTime(v *verdict.Verdict, i int, one float64) (points []Point) {
	f := &v.Flows[i]
	for b, r := range f.OverTime {
		points = append(points, Point{
			X: (float64(b) + 0.5) * float64(v.Duration) / float64(len(f.OverTime)) / float64(unit.Millisecond),
			Y: float64(r) / one,
		})
	}
	return points
}

// deadlockMarks are when the first deadlock formed and, if none was left at the end, when the
// last was gone.
func deadlockMarks(v *verdict.Verdict) (marks []Mark) {
	if v.Deadlock {
		marks = append(marks, Mark{Name: "first deadlock", X: millis(v.Onset), Kind: Begins})
	}
	if v.Recovered {
		marks = append(marks, Mark{Name: "last one gone", X: millis(v.Onset + v.Recovery), Kind: Ends})
	}
	return marks
}

// millis is a time in ms.
func millis(t unit.Time) float64 { return float64(t) / float64(unit.Millisecond) }

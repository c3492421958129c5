package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"softswitch/unit"
)

// chart is a plot for a template: a line a system, a mark a scenario, on one axis.
// Coordinates are in SVG units, in tenths at the finest.
type chart struct {
	Title, Axis   string
	Width, Height int
	Left, Right   int // of the field
	Bottom        int
	Ticks         []tick
	Lines         []line
	Keys          []key
	Zeros         bool // there is a strip for them
}

type tick struct {
	X     string
	Label string
}

type line struct {
	Y      int
	System string
	Text   string // the figure of the line, at its right
	Marks  []mark
}

type mark struct {
	X, Y  string
	Shape string // "circle", "cross" or "square"
	Title string
}

// key explains a shape.
type key struct{ Shape, Meaning string }

// Mark is the key's shape in a field of 14 by 14.
func (k key) Mark() mark { return mark{X: "7", Y: "7", Shape: k.Shape} }

// TickY is where the labels of the ticks stand. The methods after it say the same of the name of the
// axis, and of the system and the figure of each line.
func (c chart) TickY() int   { return c.Bottom + 18 }
func (c chart) AxisY() int   { return c.Bottom + 38 }
func (c chart) LabelX() int  { return c.Left - 8 }
func (c chart) TextX() int   { return c.Right + 10 }
func (c chart) MiddleX() int { return (c.Left + c.Right) / 2 }
func (l line) TextY() int    { return l.Y + 5 }

// Sizes of a chart, for texts of 14 units. The page shows no chart narrower than chartWidth
// pixels, so no text is smaller than 14 px.
const (
	chartWidth = 980
	fieldLeft  = 190
	fieldRight = 620
	fieldTop   = 12
	lineHeight = 24
	zeroWidth  = 30 // of the strip for zeros, left of a logarithmic axis
	quarter    = 25 // per cent from one tick to the next
)

// value is a point to be drawn.
type value struct {
	v     float64
	shape string
	title string
}

// axis maps values to coordinates.
type axis struct {
	log      bool
	low      float64 // below which there is only zero, if log
	high     float64
	zeroFrom bool // there is a strip for zeros
}

func (a axis) x(v float64) float64 {
	left := float64(fieldLeft)
	if !a.log {
		return left + (fieldRight-left)*v/a.high
	}
	if a.zeroFrom {
		if v == 0 {
			return left + zeroWidth/2
		}
		left += zeroWidth
	}
	return left + (fieldRight-left)*math.Log10(v/a.low)/math.Log10(a.high/a.low)
}

func (a axis) ticks() (ticks []tick) {
	at := func(v float64) {
		ticks = append(ticks, tick{coordinate(a.x(v)), strconv.FormatFloat(v, 'g', -1, 64)})
	}
	if !a.log {
		for v := 0.0; v <= a.high; v += quarter {
			at(v)
		}
		return ticks
	}
	if a.zeroFrom {
		at(0)
	}
	for e := math.Round(math.Log10(a.low)); e <= math.Round(math.Log10(a.high)); e++ {
		at(math.Pow(10, e))
	}
	return ticks
}

func coordinate(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// logAxis spans the powers of ten around all values above 0.
func logAxis(lines [][]value) axis {
	a := axis{log: true}
	for _, l := range lines {
		for _, v := range l {
			if v.v <= 0 {
				a.zeroFrom = true
				continue
			}
			if a.low == 0 {
				a.low, a.high = v.v, v.v
			}
			a.low, a.high = min(a.low, v.v), max(a.high, v.v)
		}
	}
	if a.low == 0 { // nothing but zeros
		a.low, a.high = 1, 1
	}
	a.low = math.Pow(10, math.Floor(math.Log10(a.low)))
	a.high = math.Pow(10, math.Ceil(math.Log10(a.high)))
	if a.high == a.low {
		a.high *= 10
	}
	return a
}

// draw makes a chart of a line of values for each system, with a text each.
func draw(title, label string, systems []string, lines [][]value, texts []string, a axis) chart {
	c := chart{
		Title: title, Axis: label, Width: chartWidth, Left: fieldLeft, Right: fieldRight,
		Bottom: fieldTop + lineHeight*len(systems), Ticks: a.ticks(), Zeros: a.zeroFrom,
	}
	c.Height = c.Bottom + 48
	for i, s := range systems {
		l := line{Y: fieldTop + lineHeight*i + lineHeight/2, System: s, Text: texts[i]}
		for k, v := range lines[i] {
			// Marks in the same place are told apart by a small shift.
			y := float64(l.Y) + float64(k%5-2)*2
			l.Marks = append(l.Marks, mark{coordinate(a.x(v.v)), coordinate(y), v.shape, v.title})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// charts are the plots of a comparison: of the scenarios that deadlock.
func (c *Comparison) charts() []chart {
	systems := c.systems()
	totals := c.totals()
	byScenario := func(values func(*Row) []value) (lines [][]value) {
		deadlocking := c.deadlocking()
		for _, sys := range systems {
			var l []value
			for _, r := range c.played(sys) {
				if slices.Contains(deadlocking, r.Scenario) {
					l = append(l, values(r)...)
				}
			}
			lines = append(lines, l)
		}
		return lines
	}
	texts := func(text func(*Total) string) (all []string) {
		for i := range totals {
			all = append(all, text(&totals[i]))
		}
		return all
	}

	timeChart := func(title, key, shape, never string) chart {
		times := byScenario(func(r *Row) []value { return times(r, shape, key) })
		return draw(title, "milliseconds after the deadlock formed, median of the runs of a scenario", systems, times, texts(func(t *Total) string {
			n := t.Times(key).Samples
			switch {
			case n > 0:
				return fmt.Sprintf("median %s, n = %d", told(t.Sums, key), n)
			case t.Scenarios == 0:
				return "not played"
			case t.quiet():
				return "no deadlock"
			}
			return never
		}), logAxis(times))
	}
	loss := byScenario(func(r *Row) []value {
		per := func(what, shape string, n int) value {
			v := float64(n) / float64(r.Runs)
			return value{v, shape, fmt.Sprintf("%s: %g frames %s a run", r.Scenario, v, what)}
		}
		all := []value{per("lost", "cross", r.lost()), per("dropped to break it", "circle", r.Count("response_dropped"))}
		if n := r.Count("policed"); n > 0 {
			all = append(all, per("policed", "square", n))
		}
		return all
	})
	goodput := byScenario(func(r *Row) []value {
		p, ok := share(r.Innocent.Final, r.Innocent.FinalDemand)
		if !ok {
			return nil
		}
		return []value{{p, "circle", fmt.Sprintf("%s: %.0f %%", r.Scenario, p)}}
	})
	highest := 100.0 // to the next quarter above: what had waited may come in the end too
	for _, l := range goodput {
		for _, v := range l {
			highest = max(highest, quarter*math.Ceil(v.v/quarter))
		}
	}

	all := []chart{
		timeChart("From a deadlock to its declaration", "latency_ns", "circle", "never declared"),
		timeChart("From a deadlock until none was left", "recovery_ns", "square", "never recovered"),
		draw("Frames that it cost", "frames a run", systems, loss, texts(func(t *Total) string {
			return fmt.Sprintf("lost %d, dropped %d, policed %d", t.Lost, t.Count("response_dropped"), t.Count("policed"))
		}), logAxis(loss)),
		draw("What innocent flows get in the last quarter", "per cent of what they ask for; flows that share a link cannot all get 100", systems, goodput, texts(func(t *Total) string {
			return known(t.Shared != 0, fmt.Sprintf("mean %s %%, n = %d", t.atEnd(), t.Shared))
		}), axis{high: highest}),
	}
	all[0].Keys = []key{{"circle", "the deadlock is declared"}}
	all[1].Keys = []key{{"square", "the deadlock is broken, and none is left"}}
	all[2].Keys = []key{{"cross", "lost for no purpose"}, {"circle", "dropped to break a deadlock"}, {"square", "policed to contain its trigger"}}
	return all
}

// times is one mark of a shape for the median of a time of r, unless there were no samples.
func times(r *Row, shape, key string) []value {
	q := r.Times(key)
	if q.Samples == 0 {
		return nil
	}
	ms := float64(q.P50) / float64(unit.Millisecond)
	return []value{{ms, shape, fmt.Sprintf("%s: %.3f ms", r.Scenario, ms)}}
}

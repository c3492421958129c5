// Package plot draws what a simulation measured, as SVG.
//
//	.---- Figure ------------------------.
//	| panel: Lines over x, Levels across |
//	| panel: Bars, one row for each name |
//	'----- common x axis ----------------'
//
// It can be read from a screen at the end of a room, and by who sees no colors: no text is
// smaller than 14 px, and lines, dots and marks differ in dashes and shapes too.
//
// Read in this order: Figure, Panel, throughput.go (flows, from verdicts), rows.go (estimates with their
// intervals, from rows of cases), and draw.go for how.
//
// Invariant: the same figure gives the same bytes.
//
// What it does not do: it measures nothing and opens no file.
package plot

// Figure is panels above one another that share an x axis.
type Figure struct {
	Title  string
	X      string // what the x axis shows, with its unit
	Panels []Panel
	// LogLog makes both axes of all panels logarithmic; values are above 0 then.
	LogLog bool
}

// Panel is one plot: either Lines or Bars.
type Panel struct {
	Title string // may be empty
	Y     string // what the y axis shows, with its unit
	Lines []Line
	// Levels are horizontal lines, named at the y axis.
	Levels []Level
	// Marks are instants of what is drawn, named in the legend.
	Marks []Mark
	// Top is the end of the y axis, which then begins at 0. With Top 0 the axis fits
	// the data.
	Top float64
	// Bars are rows of bars, the first at the bottom.
	Bars []Bars
	// Estimates are points with intervals, and Names those of their x, from 0 on.
	Estimates []Estimates
	Names     []string
	// LogY makes the y axis logarithmic; values are above 0 then.
	LogY bool
}

// Estimates are points with intervals of one color and shape.
type Estimates struct {
	Name   string // in the legend; may be empty
	Group  int
	Points []Estimate
}

// Estimate is a point with the interval in which its Y is.
type Estimate struct{ X, Y, Low, High float64 }

// Point is a point of a panel, in the units of the axes.
type Point struct{ X, Y float64 }

// Line joins its points, or with Dots marks them. Lines of one Group share a color, and
// dashes or the shape of dots.
type Line struct {
	Name   string // in the legend; may be empty
	Points []Point
	Dots   bool
	Group  int
}

// Level is a horizontal line at Y.
type Level struct {
	Name string
	Y    float64
}

// Mark is a vertical line at X with a sign at its top, of the Kind.
type Mark struct {
	Name string
	X    float64
	Kind Kind
}

// Kind is what a mark stands for.
type Kind int

// Kinds of marks.
const (
	Begins Kind = iota // a filled triangle, on a solid line
	Ends               // a ring, on a dotted line
)

// Bars is a row of bars.
type Bars struct {
	Name string
	Span []Span
}

// Span is a bar, from From to To on the x axis.
type Span struct{ From, To float64 }

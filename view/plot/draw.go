package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"softswitch/internal/lists"
)

// Sizes of a figure. A point is 4/3 px.
const (
	width       = 20 * vg.Centimeter
	panelHeight = 5.5 * vg.Centimeter
	plainHeight = 12 * vg.Centimeter // of a figure with one panel
	titleHeight = 1.1 * vg.Centimeter
	barsShare   = 0.7 // the share of a row's height that its bar takes

	textSize  = 11.0 // points, the smallest
	titleSize = 14.0 // of the figure

	legendGap  = 3 * vg.Millimeter // between a panel and its legend
	markRadius = 4                 // points
)

// palette suits color-blind readers too (Okabe and Ito).
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// dashes tell lines apart where colors do not; nil is solid. Their number differs from that of
// the colors, so that more lines differ than there are of either.
var dashes = [][]vg.Length{nil, {6, 3}, {1.5, 2}, {9, 3, 1.5, 3}, {12, 3}}

// shapes do so for dots.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}}

var gray = color.RGBA{0x80, 0x80, 0x80, 0xff}

// WriteSVG draws the figure.
func (f *Figure) WriteSVG(w io.Writer) error {
	if len(f.Panels) == 0 {
		return fmt.Errorf("figure %q: no panel", f.Title)
	}
	height := plainHeight
	if len(f.Panels) > 1 {
		height = panelHeight * vg.Length(len(f.Panels))
	}
	canvas := vgsvg.New(width, height+titleHeight)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	f.drawTitle(page)
	plots, err := f.plots()
	if err != nil {
		return fmt.Errorf("figure %q: %w", f.Title, err)
	}
	page = draw.Crop(page, vg.Millimeter, -4*vg.Millimeter, 0, -titleHeight)
	drawPanels(page, plots)
	_, err = canvas.WriteTo(w)
	return err
}

// drawn is a panel with its legend, which stands at its right.
type drawn struct {
	*plot.Plot
	legend plot.Legend
}

// drawPanels draws the panels above one another, all of them as wide as the widest legend
// allows.
func drawPanels(page draw.Canvas, panels []drawn) {
	beside := vg.Length(0)
	for _, p := range panels {
		if r := p.legend.Rectangle(page); r.Max.X > r.Min.X {
			beside = max(beside, r.Max.X-r.Min.X+legendGap)
		}
	}
	grid := lists.Map(panels, func(p drawn) []*plot.Plot { return []*plot.Plot{p.Plot} })
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: 2 * vg.Millimeter}
	for i, row := range plot.Align(grid, tiles, draw.Crop(page, 0, -beside, 0, 0)) {
		panels[i].Draw(row[0])
		legend := row[0]
		legend.Min.X, legend.Max.X = page.Max.X-beside+legendGap, page.Max.X
		legend.Max.Y -= 2 * textSize // below the title
		panels[i].legend.Draw(legend)
	}
}

func (f *Figure) drawTitle(page draw.Canvas) {
	style := plot.New().Title.TextStyle
	style.Font.Size, style.XAlign, style.YAlign = titleSize, draw.XCenter, draw.YTop
	page.FillText(style, vg.Point{X: page.Center().X, Y: page.Max.Y - 2*vg.Millimeter}, f.Title)
}

// plots makes the panels; the x axes show the same range.
func (f *Figure) plots() ([]drawn, error) {
	var all []drawn
	for _, p := range f.Panels {
		q, err := f.panel(p)
		if err != nil {
			return nil, fmt.Errorf("panel %q: %w", p.Title, err)
		}
		all = append(all, q)
	}
	lo, hi := all[0].X.Min, all[0].X.Max
	for _, q := range all {
		lo, hi = min(lo, q.X.Min), max(hi, q.X.Max)
	}
	for _, q := range all {
		q.X.Min, q.X.Max = lo, hi
	}
	all[len(all)-1].X.Label.Text = f.X
	return all, nil
}

func (f *Figure) panel(p Panel) (drawn, error) {
	q := drawn{plot.New(), plot.NewLegend()}
	q.Title.Text, q.Title.TextStyle.Font.Size = p.Title, textSize
	q.Y.Label.Text = p.Y
	q.legend.Top, q.legend.Left, q.legend.TextStyle.Font.Size, q.legend.Padding = true, true, textSize, vg.Millimeter
	q.legend.ThumbnailWidth = 30 // for the longest dashes to be seen
	for _, a := range []*plot.Axis{&q.X, &q.Y} {
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = textSize, textSize
		if f.LogLog {
			a.Scale, a.Tick.Marker = plot.LogScale{}, twos{}
		}
	}
	for _, l := range p.Lines {
		if err := addLine(&q, l); err != nil {
			return drawn{}, err
		}
	}
	for _, e := range p.Estimates {
		if err := addEstimates(&q, e); err != nil {
			return drawn{}, err
		}
	}
	addNames(q.Plot, p.Names)
	if p.LogY {
		q.Y.Scale, q.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	addLevels(q.Plot, p)
	addBars(q.Plot, p.Bars)
	for _, m := range p.Marks {
		q.Add(m)
		q.legend.Add(m.Name, m)
	}
	if p.Top > 0 {
		q.Y.Min, q.Y.Max = 0, p.Top
	}
	return q, nil
}

func addLine(q *drawn, l Line) error {
	xy := plotter.XYs(lists.Map(l.Points, func(p Point) plotter.XY { return plotter.XY{X: p.X, Y: p.Y} }))
	c := palette[l.Group%len(palette)]
	if l.Dots {
		s, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(3), Shape: shapes[l.Group%len(shapes)]}
		q.add(l.Name, s)
		return nil
	}
	s, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	s.Color, s.Width, s.Dashes = c, vg.Points(1.2), dashes[l.Group%len(dashes)]
	q.add(l.Name, s)
	return nil
}

// withErrors are estimates as plotter has them.
type withErrors struct {
	plotter.XYs
	plotter.YErrors
}

func addEstimates(q *drawn, e Estimates) error {
	var w withErrors
	for _, p := range e.Points {
		w.XYs = append(w.XYs, plotter.XY{X: p.X, Y: p.Y})
		w.YErrors = append(w.YErrors, struct{ Low, High float64 }{p.Y - p.Low, p.High - p.Y})
	}
	bars, err := plotter.NewYErrorBars(w)
	if err != nil {
		return err
	}
	c := palette[e.Group%len(palette)]
	bars.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.2)}
	q.Add(bars)
	dots := Line{Name: e.Name, Dots: true, Group: e.Group, Points: lists.Map(e.Points, func(p Estimate) Point { return Point{p.X, p.Y} })}
	return addLine(q, dots)
}

// slanted is of how many letters names are at most that stand beside each other.
const slanted = 70

// addNames makes names the ticks of the x axis, aslant if they are long.
func addNames(q *plot.Plot, names []string) {
	if len(names) == 0 {
		return
	}
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	q.X.Tick.Marker, q.X.Min, q.X.Max = plot.ConstantTicks(ticks), -0.5, float64(len(names))-0.5
	if lists.Sum(names, func(name string) int { return len(name) }) > slanted {
		q.X.Tick.Label.Rotation, q.X.Tick.Label.XAlign, q.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YTop
	}
}

// add adds something to the panel and, unless its name is empty, to its legend.
func (q *drawn) add(name string, what interface {
	plot.Plotter
	plot.Thumbnailer
},
) {
	q.Add(what)
	if name != "" {
		q.legend.Add(name, what)
	}
}

// addLevels draws the levels and makes them the ticks of the y axis.
func addLevels(q *plot.Plot, p Panel) {
	if len(p.Levels) == 0 {
		return
	}
	ticks := []plot.Tick{{Value: 0, Label: "0"}, {Value: p.Top, Label: fmt.Sprint(p.Top)}}
	for _, l := range p.Levels {
		s := plotter.NewFunction(func(float64) float64 { return l.Y })
		s.Color, s.Width, s.Dashes, s.Samples = gray, vg.Points(0.7), []vg.Length{vg.Points(4), vg.Points(2)}, 2
		q.Add(s)
		ticks = append(ticks, plot.Tick{Value: l.Y, Label: fmt.Sprintf("%s %v", l.Name, l.Y)})
	}
	q.Y.Tick.Marker = plot.ConstantTicks(ticks)
}

// style is how a mark looks: its line, and the sign at its top.
func (m Mark) style() (line draw.LineStyle, sign draw.GlyphStyle) {
	line = draw.LineStyle{Color: color.Black, Width: vg.Points(1)}
	sign = draw.GlyphStyle{Color: color.Black, Radius: markRadius, Shape: draw.PyramidGlyph{}}
	if m.Kind == Ends {
		line.Dashes, sign.Shape = []vg.Length{1, 2}, draw.RingGlyph{}
	}
	return line, sign
}

// Plot draws the mark over the whole height.
func (m Mark) Plot(c draw.Canvas, q *plot.Plot) {
	toX, _ := q.Transforms(&c)
	x := toX(m.X)
	line, sign := m.style()
	c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
	top := c.Max.Y - markRadius
	if m.Kind == Ends { // below one that begins at the same time
		top -= 3 * markRadius
	}
	c.DrawGlyph(sign, vg.Point{X: x, Y: top})
}

// DataRange makes room for the mark, at no height of its own.
func (m Mark) DataRange() (xmin, xmax, ymin, ymax float64) {
	return m.X, m.X, math.Inf(1), math.Inf(-1)
}

// Thumbnail draws the mark in the legend.
func (m Mark) Thumbnail(c *draw.Canvas) {
	line, sign := m.style()
	c.StrokeLine2(line, c.Center().X, c.Min.Y, c.Center().X, c.Max.Y)
	c.DrawGlyph(sign, c.Center())
}

// addBars draws row i around y = i + 1, with its name as the tick.
func addBars(q *plot.Plot, rows []Bars) {
	if len(rows) == 0 {
		return
	}
	var ticks []plot.Tick
	for i, r := range rows {
		y := float64(i + 1)
		ticks = append(ticks, plot.Tick{Value: y, Label: r.Name})
		q.Add(bars{r.Span, y, palette[i%len(palette)]})
	}
	q.Y.Tick.Marker = plot.ConstantTicks(ticks)
	q.Y.Min, q.Y.Max = 0.4, float64(len(rows))+0.6
}

// bars draws spans around the height y.
type bars struct {
	spans []Span
	y     float64
	color color.Color
}

func (b bars) Plot(c draw.Canvas, q *plot.Plot) {
	x, y := q.Transforms(&c)
	c.SetColor(b.color)
	for _, s := range b.spans {
		bar := vg.Rectangle{Min: vg.Point{X: x(s.From), Y: y(b.y - barsShare/2)}, Max: vg.Point{X: x(s.To), Y: y(b.y + barsShare/2)}}
		c.Fill(bar.Path())
	}
}

// DataRange covers the spans; it is empty if there are none.
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	if len(b.spans) == 0 {
		return 0, 0, b.y, b.y
	}
	return b.spans[0].From, b.spans[len(b.spans)-1].To, b.y, b.y
}

// twos puts ticks on a logarithmic axis at the powers of two.
type twos struct{}

func (twos) Ticks(lo, hi float64) (ticks []plot.Tick) {
	v := 1.0
	for v > lo {
		v /= 2
	}
	for ; v <= hi*1.0001; v *= 2 {
		if v >= lo*0.9999 {
			ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprint(v)})
		}
	}
	return ticks
}

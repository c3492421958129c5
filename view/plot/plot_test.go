package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func figure() *Figure {
	return &Figure{
		Title: "All that a figure has", X: "time (ms)",
		Panels: []Panel{
			{Title: "lines", Y: "KB", Top: 60, Levels: []Level{{"XOFF", 40}, {"XON", 12}}, Lines: []Line{
				{Name: "one", Points: []Point{{0, 1}, {1, 50}, {2, 3}}},
				{Name: "two", Points: []Point{{0, 2}, {2, 30}}, Dots: true, Group: 1},
			}},
			{Y: "link", Bars: []Bars{{"L1", []Span{{0, 0.5}, {1, 1.5}}}, {"L2", nil}}},
		},
	}
}

func svg(t *testing.T, f *Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The same figure gives the same bytes: well-formed XML that has every word.
func TestFigure(t *testing.T) {
	got := svg(t, figure())
	for range 5 {
		if svg(t, figure()) != got {
			t.Fatal("the same figure gives other bytes")
		}
	}
	for _, word := range []string{"All that a figure has", "time (ms)", "lines", "KB", "XOFF 40", "XON 12", "60", "one", "two", "L1", "L2"} {
		if !strings.Contains(got, ">"+word+"<") {
			t.Errorf("%q is missing", word)
		}
	}
	d := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	other := figure()
	other.Panels[0].Lines[0].Points[1].Y = 51
	if svg(t, other) == got {
		t.Error("another value gives the same bytes")
	}
}

// TestReadableWhenProjected: no text is smaller than 14 px, which is 10.5 pt, at the size that
// the file has.
func TestReadableWhenProjected(t *testing.T) {
	got := svg(t, figure())
	sizes := regexp.MustCompile(`font-size:([0-9.]+)px`).FindAllStringSubmatch(got, -1)
	if len(sizes) < 10 {
		t.Fatalf("%d texts", len(sizes))
	}
	for _, s := range sizes {
		if n, err := strconv.ParseFloat(s[1], 64); err != nil || n < 10.5 {
			t.Errorf("a text of %s units, want 10.5 and above", s[1])
		}
	}
	box := regexp.MustCompile(`<svg width="([0-9.]+)pt" height="([0-9.]+)pt" viewBox="0 0 ([0-9.]+) ([0-9.]+)"`).FindStringSubmatch(got)
	if box == nil || box[1] != box[3] || box[2] != box[4] {
		t.Errorf("a unit is no point: %q", box)
	}
}

// styles are how the lines of a figure are drawn, without their colors.
func styles(t *testing.T, f *Figure) (all []string) {
	t.Helper()
	for _, s := range regexp.MustCompile(`style="fill:none;stroke:#[0-9A-F]+;([^"]*)"`).FindAllStringSubmatch(svg(t, f), -1) {
		all = append(all, s[1])
	}
	return all
}

// TestWithoutColors: lines of different groups have other dashes, and dots other shapes.
func TestWithoutColors(t *testing.T) {
	seen := map[string]int{}
	for group := range len(dashes) {
		f := &Figure{Panels: []Panel{{Lines: []Line{{Points: []Point{{0, 0}, {1, 1}}, Group: group}}}}}
		for _, s := range styles(t, f) {
			if strings.Contains(s, "stroke-width:1.2") {
				seen[s]++
			}
		}
	}
	if len(seen) != len(dashes) {
		t.Errorf("%d ways to draw a line of %d groups: %v", len(seen), len(dashes), seen)
	}
	dots := map[string]bool{}
	for group := range len(shapes) {
		f := &Figure{Panels: []Panel{{Lines: []Line{{Points: []Point{{0, 0}, {1, 1}}, Group: group, Dots: true}}}}}
		dots[regexp.MustCompile(`#[0-9A-F]{6}`).ReplaceAllString(svg(t, f), "")] = true
	}
	if len(dots) != len(shapes) {
		t.Errorf("%d ways to draw dots of %d groups", len(dots), len(shapes))
	}
	pairs := map[[2]int]bool{}
	for group := range len(dashes) * len(palette) {
		pairs[[2]int{group % len(dashes), group % len(palette)}] = true
	}
	if len(pairs) != len(dashes)*len(palette) {
		t.Errorf("%d pairs of %d colors and %d dashes", len(pairs), len(palette), len(dashes))
	}
}

// TestMarks: what begins and what ends looks different, is named in the legend, and is seen
// where it lies outside of the lines.
func TestMarks(t *testing.T) {
	with := func(marks ...Mark) string {
		f := figure()
		f.Panels[0].Marks = marks
		return svg(t, f)
	}
	begins := with(Mark{"first deadlock", 1.5, Begins})
	if !strings.Contains(begins, ">first deadlock<") {
		t.Error("the mark is not named")
	}
	if begins == with(Mark{"first deadlock", 1.5, Ends}) {
		t.Error("what begins looks as what ends")
	}
	if begins == with(Mark{"first deadlock", 1.6, Begins}) {
		t.Error("another instant gives the same bytes")
	}
	if !strings.Contains(with(Mark{"late", 8, Ends}), ">8<") {
		t.Error("the axis does not reach a mark behind the lines")
	}
}

func TestLogarithmic(t *testing.T) {
	f := &Figure{Title: "x", X: "TTL", LogLog: true, Panels: []Panel{{Y: "Gbit/s", Lines: []Line{{Points: []Point{{4, 20}, {64, 1.25}}}}}}}
	got := svg(t, f)
	for _, tick := range []string{">4<", ">8<", ">16<", ">32<", ">64<", ">2<"} {
		if !strings.Contains(got, tick) {
			t.Errorf("no tick %s", tick)
		}
	}
}

func TestNoPanel(t *testing.T) {
	if err := (&Figure{Title: "empty"}).WriteSVG(io.Discard); err == nil {
		t.Error("a figure without a panel was drawn")
	}
}

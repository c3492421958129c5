package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
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
	other = figure()
	if other.Panels[0].LegendRight = true; svg(t, other) == got {
		t.Error("the legend is where it was")
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

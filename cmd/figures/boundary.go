package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/unit"
	"softswitch/view/plot"
)

// boundaryTable is what `figures boundary` prints.
type boundaryTable struct {
	// LinkRate is B.
	LinkRate unit.Rate `json:"link_rate_bps"`
	// Sweep is the loop of the paper's testbed, two switches and TTL 16, over a range
	// of rates.
	Sweep []Trial       `json:"sweep"`
	Loops []boundaryRow `json:"boundary"`
}

// boundaryRow is the boundary of one loop. A rate of 0 means that the boundary is above
// the rate of a link.
type boundaryRow struct {
	Switches int       `json:"switches"`
	TTL      int       `json:"ttl"`
	Eq3      unit.Rate `json:"eq3_bps"`
	First    unit.Rate `json:"first_link_full_bps"`
	Below    unit.Rate `json:"no_deadlock_bps"`
	Above    unit.Rate `json:"deadlock_bps"`
	// Distance of Above from Eq3 in parts per thousand of Eq3; 0 if Above is 0.
	Distance int `json:"distance_per_mille"`
}

// The loops to try, and the rates of the sweep in Mbit/s.
var (
	boundarySwitches = []int{2, 3, 4, 5}
	boundaryTTLs     = []int{4, 8, 12, 16, 24, 32, 48, 64}
	boundaryRates    = []unit.Rate{1000, 2000, 3000, 4000, 4500, 4900, 4950, 5000, 5050, 5100, 5500, 6000, 8000, 10000, 20000, 40000}
)

// MeasureBoundary fills the table, using all processors, until ctx ends; it reports
// progress on show.
func MeasureBoundary(ctx context.Context, show io.Writer) (*boundaryTable, error) {
	rates := len(boundaryRates)
	t := &boundaryTable{LinkRate: Link, Sweep: make([]Trial, rates), Loops: make([]boundaryRow, len(boundarySwitches)*len(boundaryTTLs))}
	watch := func(unit.Time) error { return ctx.Err() }
	err := progress.Each(ctx, show, "routing loops", rates+len(t.Loops), runtime.GOMAXPROCS(0), func(i int) (err error) {
		if i < rates {
			t.Sweep[i], err = Loop{Switches: 2, TTL: 16}.Try(boundaryRates[i]*1_000_000, watch)
			return err
		}
		i -= rates
		t.Loops[i], err = measure(Loop{Switches: boundarySwitches[i/len(boundaryTTLs)], TTL: boundaryTTLs[i%len(boundaryTTLs)]}, watch)
		return err
	})
	return t, err
}

// measure finds the boundary of a loop.
func measure(l Loop, watch func(unit.Time) error) (boundaryRow, error) {
	f, err := l.Flip(watch)
	if err != nil {
		return boundaryRow{}, err
	}
	r := boundaryRow{Switches: l.Switches, TTL: l.TTL, Eq3: l.Eq3(), First: l.First(), Below: f.Below, Above: f.Above}
	if r.Above > 0 {
		r.Distance = int((r.Above - r.Eq3) * 1000 / r.Eq3)
	}
	return r, nil
}

// WriteText writes both tables for people.
func (t *boundaryTable) WriteText(w io.Writer) error { return t.write(w, "  ", "  ", "", "") }

// write prints both tables: left and right enclose a row, between separates its cells,
// and rule, unless empty, goes below each heading.
func (t *boundaryTable) write(w io.Writer, left, between, right, rule string) (err error) {
	row := func(cells ...string) {
		wide := lists.Map(cells, func(c string) string { return fmt.Sprintf("%15s", c) })
		if err == nil {
			_, err = fmt.Fprintln(w, left+strings.Join(wide, between)+right)
		}
	}
	heading := func(cells ...string) {
		row(cells...)
		if rule != "" {
			row(slices.Repeat([]string{rule}, len(cells))...)
		}
	}
	heading("Gbit/s", "deadlock", "after ms")
	for _, s := range t.Sweep {
		deadlock, after := "no", "-"
		if s.Deadlock {
			deadlock, after = "yes", fmt.Sprintf("%.3f", float64(s.Onset)/1e6)
		}
		row(gbit(s.Rate), deadlock, after)
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	heading("n", "TTL", "Eq. 3", "first link full", "no deadlock", "deadlock", "off Eq. 3")
	for _, l := range t.Loops {
		distance := "-"
		if l.Above > 0 {
			distance = fmt.Sprintf("%+.1f %%", float64(l.Distance)/10)
		}
		row(fmt.Sprint(l.Switches), fmt.Sprint(l.TTL), gbit(l.Eq3), gbit(l.First), gbit(l.Below), gbit(l.Above), distance)
	}
	return err
}

// gbit formats r in Gbit/s; 0 is "never".
func gbit(r unit.Rate) string {
	if r == 0 {
		return "never"
	}
	return fmt.Sprintf("%.3f", float64(r)/1e9)
}

// boundaryFiles draws the boundary of routing loops, and writes it as a table as well.
func boundaryFiles(ctx context.Context, out string, show io.Writer) error {
	t, err := MeasureBoundary(ctx, show)
	if err != nil {
		return err
	}
	fig := &plot.Figure{Title: "A routing loop turns into a deadlock above this rate", X: "initial TTL", LogLog: true}
	panel := plot.Panel{Y: "Gbit/s"}
	for i, n := range boundarySwitches {
		theory := plot.Line{Name: fmt.Sprintf("n = %d: Eq. 3", n), Group: i}
		found := plot.Line{Name: fmt.Sprintf("n = %d: simulated", n), Group: i, Dots: true}
		for _, r := range t.Loops {
			if r.Switches != n {
				continue
			}
			theory.Points = append(theory.Points, plot.Point{X: float64(r.TTL), Y: float64(r.Eq3) / 1e9})
			if r.Above > 0 {
				found.Points = append(found.Points, plot.Point{X: float64(r.TTL), Y: float64(r.Above) / 1e9})
			}
		}
		panel.Lines = append(panel.Lines, theory, found)
	}
	fig.Panels = []plot.Panel{panel}
	var b bytes.Buffer
	fmt.Fprint(&b, "# The boundary of a routing loop\n\nWritten by `make figures`; [papers.md](../papers.md) says what it means. Rates in Gbit/s.\n\n")
	return cmp.Or(
		t.write(&b, "| ", " | ", " |", "---:"),
		safefile.WriteFile(filepath.Join(out, "boundary.md"), b.Bytes(), 0o644),
		writeFigure(filepath.Join(out, "boundary.svg"), fig),
	)
}

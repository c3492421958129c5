package plot

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/stat"
)

// table is rows of 40 cases, each with two detectors: a is right in all, b in every second one, and a
// takes case+1 hops where b takes twice as many; the last case has no latency.
func table(t *testing.T) *Rows {
	t.Helper()
	var b strings.Builder
	b.WriteString("seed,case,shape,detector,right,verdict,latency,size\n")
	for i := range 40 {
		for k, detector := range []string{"a", "b"} {
			right := k == 0 || i%2 == 0
			verdict := map[bool]string{true: "right", false: "missed"}[right]
			latency := fmt.Sprint((i + 1) * (k + 1))
			if i == 39 {
				latency = ""
			}
			fmt.Fprintf(&b, "1,%d,%s,%s,%t,%s,%s,%d\n", i, []string{"ring", "clos"}[i/20], detector, right, verdict, latency, i)
		}
	}
	return rowsOf(t, b.String())
}

func rowsOf(t *testing.T, text string) *Rows {
	t.Helper()
	r, err := ReadRows("rows.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func chart(t *testing.T, r *Rows, a Axes) *Chart {
	t.Helper()
	c, err := r.Chart(a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	return c
}

// TestShares: of a column of truths, and of one that has one of several values.
func TestShares(t *testing.T) {
	low, high := stat.Share{N: 20, Of: 40}.Interval()
	for _, y := range []string{"right", "verdict=right", "verdict=right,odd"} {
		c := chart(t, table(t), Axes{Y: y, By: "detector"})
		if a, b := c.Estimates[0], c.Estimates[1]; len(c.Estimates) != 2 || a.By != "a" || a.Value != 100 || b.Value != 50 || b.Low != 100*low || b.High != 100*high || b.Rows != 40 {
			t.Errorf("%s: %+v", y, c.Estimates)
		}
		if told := slices.Contains(c.Notes, `no row has verdict "odd"; there is missed, right`); told != strings.Contains(y, "odd") {
			t.Errorf("%s: %q", y, c.Notes)
		}
	}
}

// TestMedians: with the interval of the bootstrap, without rows that have no figure, which is told.
func TestMedians(t *testing.T) {
	c := chart(t, table(t), Axes{Y: "latency", By: "detector"})
	x := []float64{}
	for i := range 39 {
		x = append(x, float64(2*(i+1)))
	}
	low, high := stat.BootstrapMedian(x, 1)
	if b := c.Estimates[1]; b.Rows != 39 || b.Value != 40 || b.Low != low || b.High != high {
		t.Errorf("%+v", b)
	}
	if want := []string{"left out: 2 of 80 rows, in which latency or detector is empty"}; !slices.Equal(c.Notes, want) {
		t.Errorf("%q, want %q", c.Notes, want)
	}
	if c := chart(t, table(t), Axes{Y: "latency", By: "shape"}); !slices.Contains(c.Notes, "a group has several rows of one case, which its interval takes as independent") {
		t.Errorf("%q", c.Notes)
	}
}

// TestX: names are places of their own, in order; many numbers are divided into bins of as many rows.
func TestX(t *testing.T) {
	c := chart(t, table(t), Axes{Y: "right", By: "detector", X: "shape"})
	if len(c.Estimates) != 4 || c.Estimates[0].X != "clos" || c.Estimates[1].X != "ring" || c.Estimates[3].By != "b" || c.Estimates[3].Rows != 20 {
		t.Errorf("%+v", c.Estimates)
	}
	c = chart(t, table(t), Axes{Y: "right", By: "detector", X: "size"})
	var names []string
	for _, e := range c.Estimates[:Bins] {
		names = append(names, e.X)
		if e.Rows != 5 || e.By != "a" {
			t.Errorf("%+v, want 5 rows of a", e)
		}
	}
	if want := "0-4 5-9 10-14 15-19 20-24 25-29 30-34 35-39"; strings.Join(names, " ") != want || !slices.Contains(c.Notes, "size is divided into 8 bins, each with about as many rows") {
		t.Errorf("%q, want %q; %q", names, want, c.Notes)
	}
	few := rowsOf(t, "by,y,x\na,1,3\na,2,3\na,4,10\n")
	if c := chart(t, few, Axes{Y: "y", By: "by", X: "x"}); len(c.Estimates) != 2 || c.Estimates[0].X != "3" || c.Estimates[1].X != "10" || c.Estimates[0].Value != 1.5 || !c.Estimates[0].Short || !slices.Equal(c.Notes, []string{"a median of fewer than 10 rows has no interval"}) {
		t.Errorf("%+v %q", c.Estimates, c.Notes)
	}
}

// TestRowsRefuses: what is no column, or has no figures, is refused by its flag with what is there.
func TestRowsRefuses(t *testing.T) {
	for want, a := range map[string]Axes{
		`--y: "speed" is no column of rows.csv; valid: seed, case, shape, detector, right, verdict, latency, size`:               {Y: "speed", By: "detector"},
		`--by: "speed" is no column of rows.csv; valid: seed, `:                                                                  {Y: "right", By: "speed"},
		`--x: "speed" is no column of rows.csv; valid: seed, `:                                                                   {Y: "right", By: "detector", X: "speed"},
		`--y: verdict is "right" in line 2 of rows.csv; valid: a column of numbers, or verdict=VALUE with some of missed, right`: {Y: "verdict", By: "detector"},
		`--by: case has more than 24 values; valid: a column with fewer`:                                                         {Y: "right", By: "case"},
	} {
		if _, err := table(t).Chart(a); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
	for _, cell := range []string{"NaN", "+Inf", "1e999", "x"} {
		if c, err := rowsOf(t, "y,by\n1,a\n"+cell+",a\n").Chart(Axes{Y: "y", By: "by"}); err == nil || !strings.Contains(err.Error(), "in line 3 of ") {
			t.Errorf("%q is a number: %v, %v", cell, c, err)
		}
	}
	for _, text := range []string{"", "a,b\n", "a,b\n1\n"} {
		if r, err := ReadRows("rows.csv", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "rows.csv: ") {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

// TestChartDrawn: the figure and the page have the groups, the same bytes each time.
func TestChartDrawn(t *testing.T) {
	for _, a := range []Axes{{Y: "latency", By: "detector"}, {Y: "right", By: "detector", X: "shape"}} {
		c := chart(t, table(t), a)
		var one, two bytes.Buffer
		if err := c.WriteHTML(&one); err != nil {
			t.Fatal(err)
		}
		if err := chart(t, table(t), a).WriteHTML(&two); err != nil {
			t.Fatal(err)
		}
		if one.String() != two.String() || strings.Count(one.String(), "<svg") != 1 || strings.Count(one.String(), "<tr><td>") != len(c.Estimates) {
			t.Errorf("%+v:\n%s", a, one.String())
		}
		for _, word := range map[string][]string{"": {"a (39)", "b (39)"}, "shape": {"a", "b", "clos", "ring"}}[a.X] {
			if !strings.Contains(svg(t, c.Figure()), ">"+word+"<") {
				t.Errorf("%+v: %q is not drawn", a, word)
			}
		}
	}
	wide := rowsOf(t, "by,y\na,1\nb,1000\n")
	if c := chart(t, wide, Axes{Y: "y", By: "by"}); !strings.Contains(svg(t, c.Figure()), "y (logarithmic)") {
		t.Error("figures from 1 to 1000 are not on a logarithmic axis")
	}
}

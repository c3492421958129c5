package plot

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// Rows are rows of cases, as "softswitch sim fuzz --rows" writes them.
type Rows struct {
	name    string // of the file
	columns []string
	rows    [][]string
}

// ReadRows reads CSV whose first line names the columns. name is that of the file, with which errors begin.
func ReadRows(name string, r io.Reader) (*Rows, error) {
	all, err := csv.NewReader(r).ReadAll()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: not rows, as \"sim fuzz --rows\" writes them: %w", name, err)
	case len(all) < 2:
		return nil, fmt.Errorf("%s: no rows: it has %d lines; the first names the columns", name, len(all))
	}
	return &Rows{name, all[0], all[1:]}, nil
}

// Axes are the columns that a chart shows, as a user names them.
type Axes struct {
	// Y is a column of numbers, of which medians are shown, one of true and false, or COLUMN=VALUE,VALUE:
	// shares of rows with true, or one of the values, are shown.
	Y string
	// By is the column whose values are compared. X is one to divide them by, "" for none: numbers are
	// divided into at most Bins, each with about as many rows.
	By, X string
}

// Bins is into how many parts the numbers of an x axis are divided at most, and maxNames how many names
// an axis has at most.
const (
	Bins     = 8
	maxNames = 24
)

// Chart is estimates of rows in groups.
type Chart struct {
	Title, Y, By, X string
	Method          string // of the intervals
	Estimates       []GroupEstimate
	Notes           []string // what was left out, and what the intervals take for granted
	names           []string // along the x axis
	logY            bool
}

// GroupEstimate is a median or a share in per cent of the rows of a group, with its 95 % interval.
type GroupEstimate struct {
	By, X          string
	Rows           int
	Value          float64
	Low, High      float64 // both are Value where Short
	Short          bool    // there are too few rows for an interval
	at             int     // on the x axis
	group, ofGroup int     // its number, and how many groups there are
}

// Chart estimates y of each group of rows.
func (t *Rows) Chart(a Axes) (*Chart, error) {
	key, wanted, share := strings.Cut(a.Y, "=")
	y, err := t.column("y", key)
	if err != nil {
		return nil, err
	}
	by, err := t.column("by", a.By)
	if err != nil {
		return nil, err
	}
	c := &Chart{Y: a.Y, By: a.By, X: a.X}
	values := strings.Split(wanted, ",")
	if !share && t.truths(y) {
		share, values = true, []string{"true"}
	}
	rows := t.filled(c, y, by)
	var of func(cell string) float64
	if share {
		of = func(cell string) float64 {
			if slices.Contains(values, cell) {
				return 1
			}
			return 0
		}
		t.tellUnknown(c, y, values)
		c.Title, c.Method = a.Y+", in per cent of rows", "95 % intervals: Wilson"
	} else {
		if err := t.numeric("y", y); err != nil {
			return nil, fmt.Errorf("%w, or %s=VALUE with some of %s", err, key, strings.Join(t.values(y), ", "))
		}
		of = number
		c.Title, c.Method = "median of "+a.Y, "95 % intervals: bootstrap, "+unit.Count(stat.Resamples, "sample")
	}
	groups, err := t.names("by", by)
	if err != nil {
		return nil, err
	}
	place, err := t.places(c, a.X, &rows)
	if err != nil {
		return nil, err
	}
	width := max(1, len(c.names))
	figures := make([][]float64, len(groups)*width)
	cases := map[string]bool{} // of each group
	several := false
	for _, row := range rows {
		g := slices.Index(groups, row[by])*width + place(row)
		figures[g] = append(figures[g], of(row[y]))
		if id := t.caseOf(row); id != "" {
			id += strconv.Itoa(g)
			several = several || cases[id]
			cases[id] = true
		}
	}
	if several {
		c.Notes = append(c.Notes, "a group has several rows of one case, which its interval takes as independent")
	}
	for i, x := range figures {
		if len(x) == 0 {
			continue
		}
		e := estimate(x, share)
		e.By, e.group, e.ofGroup, e.at = groups[i/width], i/width, len(groups), i%width
		if a.X != "" {
			e.X = c.names[e.at]
		}
		c.Estimates = append(c.Estimates, e)
	}
	if slices.ContainsFunc(c.Estimates, func(e GroupEstimate) bool { return e.Short }) {
		c.Notes = append(c.Notes, fmt.Sprintf("a median of fewer than %d rows has no interval", stat.BootstrapLeast))
	}
	if len(c.Estimates) == 0 {
		return nil, fmt.Errorf("%s: no row has %s and %s", t.name, key, a.By)
	}
	least := slices.MinFunc(c.Estimates, func(a, b GroupEstimate) int { return compare(a.Low, b.Low) }).Low
	most := slices.MaxFunc(c.Estimates, func(a, b GroupEstimate) int { return compare(a.High, b.High) }).High
	c.logY = !share && least > 0 && most > wide*least
	return c, nil
}

// wide is the ratio of values above which their axis is logarithmic.
const wide = 30

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// estimate is the share of ones among x in per cent, or its median.
func estimate(x []float64, share bool) GroupEstimate {
	e := GroupEstimate{Rows: len(x)}
	if share {
		s := stat.Share{N: int(lists.Sum(x, func(v float64) float64 { return v })), Of: len(x)}
		low, high := s.Interval()
		e.Value, e.Low, e.High = 100*float64(s.N)/float64(s.Of), 100*low, 100*high
		return e
	}
	slices.Sort(x)
	e.Value = stat.Median(x)
	if e.Short = len(x) < stat.BootstrapLeast; e.Short {
		e.Low, e.High = e.Value, e.Value
		return e
	}
	e.Low, e.High = stat.BootstrapMedian(x, 1)
	return e
}

// column is the number of a column that a flag names.
func (t *Rows) column(flag, key string) (int, error) {
	i := slices.Index(t.columns, key)
	if i < 0 {
		return 0, fmt.Errorf("--%s: %q is no column of %s; valid: %s", flag, key, t.name, strings.Join(t.columns, ", "))
	}
	return i, nil
}

// filled are the rows in which neither column is empty; those that are left out are noted.
func (t *Rows) filled(c *Chart, y, by int) [][]string {
	rows := lists.Where(t.rows, func(row []string) bool { return row[y] != "" && row[by] != "" })
	if out := len(t.rows) - len(rows); out > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("left out: %d of %d rows, in which %s or %s is empty", out, len(t.rows), t.columns[y], t.columns[by]))
	}
	return rows
}

// values are those of a column that are not empty, sorted.
func (t *Rows) values(i int) []string {
	seen := map[string]bool{}
	for _, row := range t.rows {
		if row[i] != "" {
			seen[row[i]] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// truths reports whether a column has true and false alone.
func (t *Rows) truths(i int) bool {
	all := t.values(i)
	return len(all) > 0 && !slices.ContainsFunc(all, func(v string) bool { return v != "true" && v != "false" })
}

// tellUnknown notes values that no row has.
func (t *Rows) tellUnknown(c *Chart, y int, values []string) {
	for _, v := range values {
		if all := t.values(y); !slices.Contains(all, v) {
			c.Notes = append(c.Notes, fmt.Sprintf("no row has %s %q; there is %s", t.columns[y], v, strings.Join(all, ", ")))
		}
	}
}

// numeric is an error unless all that is in a column is a number.
func (t *Rows) numeric(flag string, i int) error {
	for line, row := range t.rows {
		if x, err := strconv.ParseFloat(row[i], 64); row[i] != "" && (err != nil || math.IsNaN(x) || math.IsInf(x, 0)) {
			return fmt.Errorf("--%s: %s is %q in line %d of %s; valid: a column of numbers", flag, t.columns[i], row[i], line+2, t.name)
		}
	}
	return nil
}

// number is a cell that numeric has seen.
func number(cell string) float64 {
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		panic("plot: " + err.Error())
	}
	return x
}

// names are the values of a column in the order in which they come first.
func (t *Rows) names(flag string, i int) ([]string, error) {
	var all []string
	for _, row := range t.rows {
		if row[i] != "" && !slices.Contains(all, row[i]) {
			if all = append(all, row[i]); len(all) > maxNames {
				return nil, fmt.Errorf("--%s: %s has more than %d values; valid: a column with fewer", flag, t.columns[i], maxNames)
			}
		}
	}
	return all, nil
}

// places says where on the x axis a row is, and names the places. Rows without x are taken out.
func (t *Rows) places(c *Chart, key string, rows *[][]string) (func(row []string) int, error) {
	if key == "" {
		return func([]string) int { return 0 }, nil
	}
	x, err := t.column("x", key)
	if err != nil {
		return nil, err
	}
	some := lists.Where(*rows, func(row []string) bool { return row[x] != "" })
	if out := len(*rows) - len(some); out > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("left out: %d of %d rows, in which %s is empty", out, len(*rows), key))
	}
	*rows = some
	if t.numeric("x", x) != nil {
		if c.names, err = t.names("x", x); err != nil {
			return nil, err
		}
		slices.Sort(c.names)
		return func(row []string) int { return slices.Index(c.names, row[x]) }, nil
	}
	firsts, names := bins(lists.Map(some, func(row []string) float64 { return number(row[x]) }))
	c.names = names
	if len(t.values(x)) > len(names) {
		c.Notes = append(c.Notes, fmt.Sprintf("%s is divided into %s, each with about as many rows", key, unit.Count(len(names), "bin")))
	}
	return func(row []string) int {
		at := 0
		for at+1 < len(firsts) && firsts[at+1] <= number(row[x]) {
			at++
		}
		return at
	}, nil
}

// bins divides numbers into at most Bins of about as many each, equal ones together. firsts is the least
// number of each, and names what is in it: "3" or "3-8".
func bins(x []float64) (firsts []float64, names []string) {
	slices.Sort(x)
	ends := slices.Compact(slices.Clone(x))
	if len(ends) > Bins {
		ends = nil
		for i := range Bins {
			ends = append(ends, x[stat.NearestRank(len(x), 100*(i+1)/Bins)])
		}
		ends = slices.Compact(ends)
	}
	from := 0
	for _, end := range ends {
		to := from
		for to < len(x) && x[to] <= end {
			to++
		}
		if to == from {
			continue
		}
		name := short(x[from])
		if x[to-1] != x[from] {
			name += "-" + short(x[to-1])
		}
		firsts, names = append(firsts, x[from]), append(names, name)
		from = to
	}
	return firsts, names
}

// short is a number in few digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// caseOf is what tells the case of a row from others, "" if the rows do not say.
func (t *Rows) caseOf(row []string) (id string) {
	for _, key := range []string{"seed", "case"} {
		i := slices.Index(t.columns, key)
		if i < 0 {
			return ""
		}
		id += row[i] + " "
	}
	return id
}

// Figure is the chart as it is drawn: without an x axis of its own the groups are side by side.
func (c *Chart) Figure() *Figure {
	p := Panel{Y: c.Y, LogY: c.logY}
	if c.logY {
		p.Y += " (logarithmic)"
	}
	if c.X == "" {
		for i, e := range c.Estimates {
			p.Names = append(p.Names, fmt.Sprintf("%s (%d)", e.By, e.Rows))
			p.Estimates = append(p.Estimates, Estimates{Group: i, Points: []Estimate{{float64(i), e.Value, e.Low, e.High}}})
		}
		return &Figure{Title: c.Title, X: c.By + " (rows); " + c.Method, Panels: []Panel{p}}
	}
	p.Names = c.names
	for _, e := range c.Estimates {
		if n := len(p.Estimates); n == 0 || p.Estimates[n-1].Name != e.By {
			p.Estimates = append(p.Estimates, Estimates{Name: e.By, Group: e.group})
		}
		beside := (float64(e.group) - float64(e.ofGroup-1)/2) * 0.7 / float64(e.ofGroup)
		last := &p.Estimates[len(p.Estimates)-1]
		last.Points = append(last.Points, Estimate{float64(e.at) + beside, e.Value, e.Low, e.High})
	}
	return &Figure{Title: c.Title, X: c.X + "; " + c.Method, Panels: []Panel{p}}
}

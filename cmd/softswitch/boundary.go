package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"softswitch/sim/boundary"
	"softswitch/unit"
)

// boundaryTable is what `sim boundary` prints.
type boundaryTable struct {
	// LinkRate is B.
	LinkRate unit.Rate `json:"link_rate_bps"`
	// Sweep is the loop of the paper's testbed, two switches and TTL 16, over rates.
	Sweep []boundary.Trial `json:"sweep"`
	Loops []boundaryRow    `json:"boundary"`
}

// boundaryRow is the boundary of one loop. Rates of 0 mean that the rate of a link
// does not reach it.
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

// The loops that are tried, and the rates of the sweep in Mbit/s.
var (
	boundarySwitches = []int{2, 3, 4, 5}
	boundaryTTLs     = []int{4, 8, 12, 16, 24, 32, 48, 64}
	boundaryRates    = []unit.Rate{1000, 2000, 3000, 4000, 4500, 4900, 4950, 5000, 5050, 5100, 5500, 6000, 8000, 10000, 20000, 40000}
)

func simBoundary() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "boundary",
		Short: "Find the rate at which routing loops turn into deadlocks",
		Long: `Simulate routing loops of 2 to 5 switches at 40 Gbit/s and find the rate of one flow
at which they turn into a deadlock, beside the boundary n B / TTL of Hu et al.,
"Deadlocks in Datacenter Networks", Eq. 3.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t, err := measureBoundary()
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(os.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(t)
			}
			return t.write(os.Stdout, "  ", "  ", "")
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// measureBoundary fills the table, on all processors.
func measureBoundary() (*boundaryTable, error) {
	t := &boundaryTable{LinkRate: boundary.Link, Sweep: make([]boundary.Trial, len(boundaryRates))}
	for _, n := range boundarySwitches {
		for _, ttl := range boundaryTTLs {
			t.Loops = append(t.Loops, boundaryRow{Switches: n, TTL: ttl})
		}
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range boundaryRates {
		g.Go(func() (err error) {
			t.Sweep[i], err = boundary.Loop{Switches: 2, TTL: 16}.Try(r * 1_000_000)
			return err
		})
	}
	for i := range t.Loops {
		g.Go(t.Loops[i].measure)
	}
	return t, g.Wait()
}

func (r *boundaryRow) measure() error {
	l := boundary.Loop{Switches: r.Switches, TTL: r.TTL}
	f, err := l.Flip()
	if err != nil {
		return err
	}
	r.Eq3, r.First, r.Below, r.Above = l.Eq3(), l.First(), f.Below, f.Above
	if r.Above > 0 {
		r.Distance = int((r.Above - r.Eq3) * 1000 / r.Eq3)
	}
	return nil
}

// write prints both tables: left and right stand around a row, and between its
// cells; a rule, if there is one, below each heading.
func (t *boundaryTable) write(w io.Writer, left, between, rule string) (err error) {
	row := func(cells ...string) {
		line := left
		for i, c := range cells {
			if i > 0 {
				line += between
			}
			line += fmt.Sprintf("%15s", c)
		}
		if err == nil {
			_, err = fmt.Fprintln(w, line+right(left))
		}
	}
	heading := func(cells ...string) {
		row(cells...)
		if rule != "" {
			rules := make([]string, len(cells))
			for i := range rules {
				rules[i] = rule
			}
			row(rules...)
		}
	}
	heading("Gbit/s", "deadlock", "after ms")
	for _, s := range t.Sweep {
		after := "-"
		if s.Deadlock {
			after = fmt.Sprintf("%.3f", float64(s.Onset)/1e6)
		}
		row(gbit(s.Rate), yesOrNo(s.Deadlock), after)
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

// right is what closes a row that left opened.
func right(left string) string {
	if left == "| " {
		return " |"
	}
	return ""
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// gbit is r in Gbit/s, "never" for 0.
func gbit(r unit.Rate) string {
	if r == 0 {
		return "never"
	}
	return fmt.Sprintf("%.3f", float64(r)/1e9)
}

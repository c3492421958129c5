package compare

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/unit"
)

//go:embed traffic.md
var trafficText string

// WriteMarkdown writes the table as a page, with traffic.md below it.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Congestion control and deadlocks\n\n")
	fmt.Fprintf(&b, "Made by `make congestion`: every scenario that comes with softswitch, has no prevention and\ndeadlocks with its own traffic, in %d simulated runs of each kind (seeds %d to %d), in which the flows'\nstarts are moved by up to %d frames. In brackets is where what is measured lies in 95 of 100 cases.\n\n", t.Runs, t.First, t.First+uint64(t.Runs)-1, shifts)
	for _, k := range Traffic() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", k.Name, k.About)
	}
	zero := stat.Share{Of: t.Runs}
	_, most := zero.Interval()
	fmt.Fprintf(&b, "\n## Runs with a deadlock\n\nIn %% of %d runs, with Wilson's interval. –: in none, which is less than %.0f %%.\n\n", t.Runs, math.Ceil(100*most))
	t.matrix(&b, false, Traffic(), func(r *TrafficRow) string { return t.share(r.Deadlocks) })
	t.sum(&b, false, Traffic(), func(r *TrafficRow) int { return r.Deadlocks })
	b.WriteString("\n## Onset\n\nOf the runs with a deadlock, in ms from the scenario's start: the median, with its interval by the order of\nthe runs.\n\n")
	t.matrix(&b, false, Traffic(), func(r *TrafficRow) string {
		m := r.OnsetMedian
		return known(r.Deadlocks > 0, interval(milliseconds(m.P50), milliseconds(m.Low), milliseconds(m.High)))
	})
	b.WriteString("\n## Pauses\n\nXOFF frames of a run: the median, with its interval.\n\n")
	t.matrix(&b, false, Traffic(), func(r *TrafficRow) string {
		return interval(fmt.Sprint(r.XOFF.P50), fmt.Sprint(r.XOFF.Low), fmt.Sprint(r.XOFF.High))
	})
	b.WriteString("\n## Slowdown\n\nOf flows to hosts that do not misbehave: the mean time of a message by the time that it takes alone,\nat the median and at the 99th percentile of the flows of all runs. ∞: no message was ever complete.\n\n")
	t.matrix(&b, false, Traffic()[1:], func(r *TrafficRow) string { return fmt.Sprintf("%s / %s", r.Slowdown50, r.Slowdown99) })
	measured, blind := 0, 0
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Kind == timely {
			measured, blind = measured+r.Connections, blind+r.Unmeasured
		}
	}
	fmt.Fprintf(&b, "\nOf the %d connections with `%s` that sent in all runs, %d were told of no round trip.\n", measured, timely, blind)
	b.WriteString("\n## Without PFC\n\nThe same connections on a fabric that pauses and on one that does not: goodput of a run in Mbit/s (acknowledged\nmessages by the time of the scenario, the median with its interval), frames lost and packets sent again (of 1000),\ntimeouts and connections that gave up in all runs, and the slowdown as above.\n\n")
	for _, k := range NoPFC() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", k.Name, k.About)
	}
	b.WriteString("\n")
	t.matrix(&b, false, pfcOrNot(), func(r *TrafficRow) string {
		return fmt.Sprintf("%s, %d ‰, %d ‰, %d, %d, %s / %s", interval(megabits(r.Goodput.P50), megabits(r.Goodput.Low), megabits(r.Goodput.High)),
			r.Lost, r.SentAgain, r.Timeouts, r.Failed, r.Slowdown50, r.Slowdown99)
	})
	b.WriteString("\n## What a response costs go-back-N\n\nWith rc: runs that end in a deadlock (in %), packets that were sent again (of 1000), connections that gave\nup in all runs, and the slowdown as above.\n\n")
	for _, k := range Responses() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", k.Name, k.About)
	}
	b.WriteString("\n")
	t.matrix(&b, true, Responses(), func(r *TrafficRow) string {
		return fmt.Sprintf("%s, %d ‰, %d, %s / %s", t.share(r.Last), r.SentAgain, r.Failed, r.Slowdown50, r.Slowdown99)
	})
	t.sum(&b, true, Responses(), func(r *TrafficRow) int { return r.Last })
	b.WriteString("\n" + trafficText)
	_, err := io.WriteString(w, b.String())
	return err
}

// pfcOrNot are the kinds of traffic that differ in what becomes of a frame for which there is no room.
func pfcOrNot() []Kind {
	return append([]Kind{*trafficNamed(RC)}, NoPFC()...)
}

// megabits is a rate in bits per second for people.
func megabits(bps int) string { return decimal(int64(bps), 1e6, 1) }

// share is n of the runs of a row in per cent, with its interval.
func (t *Table) share(n int) string {
	return known(n > 0, stat.Share{N: n, Of: t.Runs}.String())
}

// interval is a figure with its interval, which is left out where it is nothing but the figure.
func interval(is, low, high string) string {
	if is == low && is == high {
		return is
	}
	return fmt.Sprintf("%s (%s-%s)", is, low, high)
}

// sum adds to a matrix a line for all scenarios: in how many of all runs, in per cent. As if the runs were of
// one kind: where scenarios differ, the interval is wider than it has to be.
func (t *Table) sum(b *strings.Builder, response bool, kinds []Kind, count func(*TrafficRow) int) {
	b.WriteString("| **all** |")
	for _, k := range kinds {
		n, all := 0, 0
		for i := range t.Rows {
			if r := &t.Rows[i]; r.Kind == k.Name && r.Response == response {
				n, all = n+count(r), all+t.Runs
			}
		}
		fmt.Fprintf(b, " **%s** |", stat.Share{N: n, Of: all})
	}
	b.WriteString("\n")
}

// matrix writes a line for each scenario and a column for each kind.
func (t *Table) matrix(b *strings.Builder, response bool, kinds []Kind, cell func(*TrafficRow) string) {
	b.WriteString("| scenario |")
	for _, k := range kinds {
		fmt.Fprintf(b, " %s |", k.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(kinds)) + "\n")
	for _, name := range t.scenarios() {
		fmt.Fprintf(b, "| %s |", name)
		for _, k := range kinds {
			fmt.Fprintf(b, " %s |", cell(t.row(name, k.Name, response)))
		}
		b.WriteString("\n")
	}
}

func (t *Table) scenarios() []string {
	own := lists.Where(t.Rows, func(r TrafficRow) bool { return r.Kind == UDP && !r.Response })
	return lists.Map(own, func(r TrafficRow) string { return r.Scenario })
}

func (t *Table) row(scenario, kind string, response bool) *TrafficRow {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Scenario == scenario && r.Kind == kind && r.Response == response {
			return r
		}
	}
	panic("traffic: no row of " + scenario + " with " + kind)
}

// String is a slowdown for people.
func (s Slowdown) String() string {
	switch {
	case s == 0:
		return "–"
	case math.IsInf(float64(s), 1):
		return "∞"
	case s >= 100:
		return fmt.Sprintf("%.0f", float64(s))
	}
	return fmt.Sprintf("%.1f", float64(s))
}

func milliseconds(t unit.Time) string {
	return fmt.Sprintf("%.3g", float64(t)/float64(unit.Millisecond))
}

// WriteText writes the shares of runs with a deadlock for people.
func (t *Table) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, response := range []bool{false, true} {
		kinds, head := Traffic(), "runs with a deadlock"
		if response {
			kinds, head = Responses(), "runs that end in a deadlock"
		}
		fmt.Fprintf(&b, "%s, of %d\n%-24s", head, t.Runs, "")
		for _, k := range kinds {
			fmt.Fprintf(&b, "%*s", len(k.Name)+2, k.Name)
		}
		b.WriteString("\n")
		for _, name := range t.scenarios() {
			fmt.Fprintf(&b, "%-24s", name)
			for _, k := range kinds {
				r := t.row(name, k.Name, response)
				n := r.Deadlocks
				if response {
					n = r.Last
				}
				fmt.Fprintf(&b, "%*d", len(k.Name)+2, n)
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

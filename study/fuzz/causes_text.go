package fuzz

import (
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// WriteText writes the report for people.
func (r *CausesReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, seed %d, %s: %s", r.Mode, r.Seed, unit.Count(r.Cases, "case"), unit.Count(r.Locked, "deadlock"))
	if r.Mode == Cause {
		fmt.Fprintf(&b, ", %s without one", unit.Count(r.Controls, "control"))
	} else {
		fmt.Fprintf(&b, "; one host or flow alone prevents %s %%", r.Single)
	}
	fmt.Fprintf(&b, "; %d invalid\nshares in per cent, with their 95 %% intervals\n", r.Invalid)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	r.writeSystems(t)
	for _, s := range r.Systems {
		r.writeMatrix(t, s)
		if !s.Baseline {
			r.writeNamed(t, s)
		}
	}
	if r.Mode == Cause {
		r.writeYields(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(r.Failures); n > 0 {
		fmt.Fprintf(&b, "\nfailures  %s in %s\n", unit.Count(n, "file"), path.Dir(r.Failures[0]))
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// writeSystems is a table with a column for each system.
func (r *CausesReport) writeSystems(t io.Writer) {
	row := func(name string, cell func(s *System) string) {
		fmt.Fprint(t, name)
		for _, s := range r.Systems {
			fmt.Fprint(t, "\t", cell(s))
		}
		fmt.Fprintln(t)
	}
	of := func(name string, of func(s *System) stat.Share) {
		row(name, func(s *System) string { return of(s).String() })
	}
	fmt.Fprintln(t)
	row("", func(s *System) string { return s.Name })
	of("answers", func(s *System) stat.Share { return s.Answered })
	if r.Mode == Cause {
		of("found", func(s *System) stat.Share { return s.Found })
		of("  control", func(s *System) stat.Share { return s.Chance })
		of("  loop control", func(s *System) stat.Share { return s.Guessed })
		of("found among 3", func(s *System) stat.Share { return s.Among3 })
		of("both of two among 3", func(s *System) stat.Share { return s.Both })
		of("type right", func(s *System) stat.Share { return s.TypeRight })
	}
	of("causal, of answers", func(s *System) stat.Share { return s.Causal })
	of("  control", func(s *System) stat.Share { return s.Control })
	of("  loop control", func(s *System) stat.Share { return s.Loop })
	of("sufficient", func(s *System) stat.Share { return s.Sufficient })
	of("  control", func(s *System) stat.Share { return s.ControlSufficient })
	of("  loop control", func(s *System) stat.Share { return s.LoopSufficient })
	of("declared turn causal", func(s *System) stat.Share { return s.Turn })
	row("flows named", func(s *System) string { return fmt.Sprintf("%.1f", s.Flows.Value()) })
	if r.Mode == Cause {
		row("  innocent", func(s *System) string { return fmt.Sprintf("%.1f", s.Innocents.Value()) })
		of("answers with innocents", func(s *System) stat.Share { return s.Innocent })
		of("on the loop, said so", func(s *System) stat.Share { return s.OnLoop })
		of("off the loop, said so", func(s *System) stat.Share { return s.OffLoop })
		row("hops off when wrong", func(s *System) string { return fmt.Sprintf("%.1f", s.Hops.Value()) })
		row("false alarms", func(s *System) string { return fmt.Sprint(s.FalseAlarms) })
	} else {
		of("no single cause, said so", func(s *System) stat.Share { return s.Several })
		of("single cause, not denied", func(s *System) stat.Share { return s.NotSeveral })
	}
	row("another deadlock", func(s *System) string { return fmt.Sprint(s.Elsewhere) })
}

// writeMatrix is what a system said, by what was planted.
func (r *CausesReport) writeMatrix(t io.Writer, s *System) {
	if r.Mode != Cause {
		return
	}
	fmt.Fprintf(t, "\n%s: planted\t%s\tfound\tloop control\ttype right\tcausal\tcontrol\tloop control\n", s.Name, strings.Join(r.Types, "\t"))
	for _, row := range s.Planted {
		fmt.Fprint(t, row.Name)
		for _, n := range row.Types {
			fmt.Fprint(t, "\t", dash(n))
		}
		fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Found, row.Guessed, row.TypeRight, row.Causal, row.Control, row.Loop)
	}
}

// writeNamed is what is true of what a system said.
func (r *CausesReport) writeNamed(t io.Writer, s *System) {
	fmt.Fprintf(t, "\n%s: named\tcases\tfound\tloop control\tcausal\tcontrol\tloop control\n", s.Name)
	for _, row := range s.Named {
		if row.Cases > 0 {
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", row.Name, row.Cases, row.Found, row.Guessed, row.Causal, row.Control, row.Loop)
		}
	}
}

func (r *CausesReport) writeYields(t io.Writer) {
	fmt.Fprint(t, "\nplanted\tcases\tlocked\tfabrics\ttries\n")
	var all Yield
	for _, y := range r.Yields {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", y.Planting, y.Cases, y.Locked, y.Fabrics, y.Tries)
		if y.Planting != Control {
			stat.Add(&all, &y)
		}
	}
	fmt.Fprintf(t, "all but controls\t%d\t%d\t%d\t%d\n", all.Cases, all.Locked, all.Fabrics, all.Tries)
}

func dash(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

package rates

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"softswitch/internal/timer"
	"softswitch/oracle/verdict"
	"softswitch/play"
	"softswitch/scenario"
	"softswitch/unit"
)

// tried are the rates that Find chooses from, in Mbit/s.
var tried = []unit.Rate{10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 1000, 1200, 1500, 2000}

// Options are the settings of a search.
type Options struct {
	Fabric
	Runs int    // at the rate that is found, all of which must do
	Name string // of the labs
}

// Finding is the rate that a lab holds, and how it was found.
type Finding struct {
	Fabric
	Nodes int       `json:"nodes"`
	Held  unit.Rate `json:"held_bps"` // 0: none of those that were tried
	// NotHeld is the lowest rate that was tried and not held, 0 if all were, and Why.
	NotHeld unit.Rate `json:"not_held_bps"`
	Why     string    `json:"why"`
	Steps   []Step    `json:"steps"`
	Took    unit.Time `json:"took_ns"`
}

// Step is the result of a rate: it ends with the first run that did not hold it, and is Held
// if there is none.
type Step struct {
	Rate unit.Rate `json:"rate_bps"`
	Held bool      `json:"held"`
	Runs []Run     `json:"runs"`
}

// Run is the result of a run.
type Run struct {
	Why string `json:"why"` // it did not hold the rate, "" if it did
	// Arrived is what both receivers got, per mille of what their links carry.
	Arrived  int               `json:"arrived_permille"`
	Lost     int               `json:"lossless_lost"`
	Cores    float64           `json:"cores"`
	Headroom *verdict.Headroom `json:"headroom"`
}

// Find finds the highest rate that the fabric holds on this machine.
func Find(ctx context.Context, opt Options, progress io.Writer) (*Finding, error) {
	begin := timer.Now()
	f := &Finding{Fabric: opt.Fabric, Nodes: nodes(opt.K), Steps: []Step{}}
	err := f.search(opt.Runs, func(r unit.Rate) (Run, error) {
		one, err := opt.play(ctx, r)
		if err == nil {
			fmt.Fprintf(progress, "%-10s %s\n", r, one)
		}
		return one, err
	})
	f.Took = timer.Now() - begin
	return f, err
}

// search bisects tried, with one run at a rate, and then plays the rest of the runs at the
// highest rate that did. If one does not do, it goes on below. What did is taken to do at
// every lower rate.
func (f *Finding) search(runs int, play func(unit.Rate) (Run, error)) error {
	for high := len(tried); ; {
		low := 0
		for i := range high {
			if s := f.step(i); len(s.Runs) > 0 && s.Held {
				low = i + 1
			}
		}
		for low < high {
			i := (low + high) / 2
			did, err := f.try(i, 1, play)
			if err != nil {
				return err
			}
			if did {
				low = i + 1
			} else {
				high = i
			}
		}
		if low == 0 {
			return nil
		}
		did, err := f.try(low-1, runs-1, play)
		if err != nil {
			return err
		}
		if did {
			f.Held = f.step(low - 1).Rate
			return nil
		}
		high = low - 1
	}
}

// step is that of the rate tried[i], with no run yet if there is none.
func (f *Finding) step(i int) *Step {
	r := tried[i] * 1_000_000
	if k := slices.IndexFunc(f.Steps, func(s Step) bool { return s.Rate == r }); k >= 0 {
		return &f.Steps[k]
	}
	return &Step{Rate: r, Held: true, Runs: []Run{}}
}

// try plays up to this number of runs at the rate tried[i], until one shows that the rate does not hold.
func (f *Finding) try(i, runs int, play func(unit.Rate) (Run, error)) (did bool, err error) {
	s := f.step(i)
	for range runs {
		one, err := play(s.Rate)
		if err != nil {
			return false, err
		}
		if s.Runs = append(s.Runs, one); len(s.Runs) == 1 {
			f.Steps = append(f.Steps, *s)
			s = &f.Steps[len(f.Steps)-1]
		}
		if one.Why != "" {
			s.Held, f.NotHeld, f.Why = false, s.Rate, one.Why
			return false, nil
		}
	}
	return true, nil
}

// play plays a run at a rate.
func (opt Options) play(ctx context.Context, r unit.Rate) (one Run, err error) {
	s, err := opt.Scenario(r)
	if err != nil {
		return one, err
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return one, err
	}
	v, err := play.Lab(ctx, plan, play.LabOptions{Name: opt.Name}, io.Discard)
	if err != nil {
		return one, err
	}
	return opt.judge(v, r), nil
}

// arrivedMin is how much of what a receiver's link carries has to arrive, per mille.
const arrivedMin = 970

// judge says whether a run at rate r did.
func (f Fabric) judge(v *verdict.Verdict, r unit.Rate) Run {
	one := Run{Arrived: f.arrived(v, r), Lost: v.LosslessLost, Cores: v.Cores, Headroom: v.Headroom}
	switch {
	case v.Invalid != "":
		one.Why = "not valid: " + v.Invalid
	case !v.ExpectedMet:
		one.Why = strings.Join(v.Reasons, "; ")
	case one.Arrived < arrivedMin:
		one.Why = fmt.Sprintf("%.1f %% of what the links to the receivers carry arrived, less than %.1f %%", float64(one.Arrived)/10, float64(arrivedMin)/10)
	}
	return one
}

// arrived is how much reached the receiver that got less, per mille of what its link carries,
// from a tenth of the time that hosts send until they stop.
func (f Fabric) arrived(v *verdict.Verdict, r unit.Rate) int {
	bin := v.Duration / scenario.Bins
	from, to := int((begins+f.Sends/10+bin-1)/bin), int((begins+f.Sends)/bin)
	got := map[string]int64{}
	for _, flow := range v.Flows {
		for _, bps := range flow.OverTime[from:to] {
			got[flow.To] += bps
		}
	}
	least := int64(1 << 62)
	for _, sum := range got {
		least = min(least, sum/int64(to-from))
	}
	carries := int64(r) * int64(f.MTU) / int64(f.MTU+unit.WireOverhead)
	return int(least * 1000 / carries)
}

// String is the run for people.
func (r Run) String() string {
	text := fmt.Sprintf("%.1f %% arrived, %d lossless lost, %.2f processors", float64(r.Arrived)/10, r.Lost, r.Cores)
	if h := r.Headroom; h != nil {
		text += fmt.Sprintf(", nodes up to %.1f ms late, headroom for %.1f ms", float64(h.Late)/1e6, float64(h.Lasts)/1e6)
	}
	if r.Why != "" {
		text += "; " + brief(r.Why)
	}
	return text
}

// brief is the first reasons of why.
func brief(why string) string {
	const most = 2
	all := strings.Split(why, "; ")
	if more := len(all) - most; more > 1 {
		return fmt.Sprintf("%s; and %d more", strings.Join(all[:most], "; "), more)
	}
	return why
}

// WriteText writes the finding for people.
func (f *Finding) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "a fat-tree of k=%d, %s and hosts, two incasts at line rate for %.1f s a run, frames of %d bytes\n\n", f.K, unit.Count(f.Nodes, "switch"), float64(f.Sends)/1e9, f.MTU)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rate\truns\tgood\tarrived %\tprocessors\tms late\t")
	for _, s := range f.Steps {
		good, arrived, cores, late := 0, 1<<30, 0.0, unit.Time(0)
		for _, r := range s.Runs {
			if r.Why == "" {
				good++
			}
			arrived, cores = min(arrived, r.Arrived), max(cores, r.Cores)
			if r.Headroom != nil {
				late = max(late, r.Headroom.Late)
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.2f\t%.1f\t\n", s.Rate, len(s.Runs), good, float64(arrived)/10, cores, float64(late)/1e6)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if f.Held == 0 {
		fmt.Fprintf(w, "\nholds no rate of those that were tried")
	} else {
		fmt.Fprintf(w, "\nholds %s per link", f.Held)
	}
	if f.NotHeld > 0 {
		fmt.Fprintf(w, ", and not %s: %s", f.NotHeld, brief(f.Why))
	}
	_, err := fmt.Fprintf(w, "; it took %.0f s\n", float64(f.Took)/1e9)
	return err
}

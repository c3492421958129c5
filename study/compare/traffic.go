// The comparison of traffic plays scenarios with other traffic than theirs: every lossless UDP flow as a
// reliable connection, with one congestion control after another, and with one response
// after another. So it shows which deadlocks congestion control keeps from forming, and what
// a response's losses cost an application that goes back to them (go-back-N).
//
//	scenario --Kind--> scenario --x seeds, starts moved--> sim --> Row --> Markdown, JSON
//
// Read in this order: traffic_kinds.go (what is changed), this file (runs and rows), traffic_markdown.go.
//
// Invariants:
//   - the same rows for any number of workers;
//   - a seed moves the flows' starts by the same times for every kind.
//
// What it does not do: it plays no lab, and judges no detector.

package compare

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"softswitch/internal/progress"
	"softswitch/internal/stat"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// Table is what came of scenarios with every kind of traffic, and with every response.
type Table struct {
	Runs int          `json:"runs"` // of each row, with the seeds 1, 2, ...
	Rows []TrafficRow `json:"rows"`
}

// TrafficRow is the runs of a scenario with one kind.
type TrafficRow struct {
	Scenario string `json:"scenario"`
	Kind     string `json:"kind"`
	Response bool   `json:"response"` // Kind is one of Responses
	// Deadlocks is in how many runs there was one, Last in how many there was one at the end.
	Deadlocks int `json:"deadlocks"`
	Last      int `json:"last"`
	// Onset is of those with one, from the start of the scenario.
	Onset       verdict.Quantiles `json:"onset_ns"`
	Recurrences int               `json:"recurrences"` // in all runs
	XOFF        int               `json:"xoff"`        // pauses, the median
	// Slowdown is of flows to hosts that do not misbehave: the mean time of a message by the
	// one it takes alone, at the median and the 99th percentile of all flows of all runs. +Inf
	// is a flow of which no message was ever complete; 0 is without connections.
	Slowdown50 Slowdown `json:"slowdown_p50"`
	Slowdown99 Slowdown `json:"slowdown_p99"`
	// SentAgain is packets that were sent again, in thousandths of those sent; Timeouts and
	// Failed are timeouts and connections that gave up, in all runs.
	SentAgain int `json:"sent_again_per_mille"`
	Timeouts  int `json:"timeouts"`
	Failed    int `json:"failed"`
	Marked    int `json:"marked"` // packets, in all runs
	// Unmeasured is connections, in all runs, whose control is told of round trips and was told of
	// none.
	Unmeasured int `json:"unmeasured"`
}

// Slowdown is a factor; +Inf is null in JSON.
type Slowdown float64

// MarshalJSON implements json.Marshaler.
func (s Slowdown) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "%.3f", float64(s)), nil
}

// Play plays every scenario that deadlocks with its own traffic, so many times with each
// kind; others are left out. It shows at show how far it is.
func Play(ctx context.Context, sources []Source, runs int, show io.Writer) (*Table, error) {
	own, err := play(ctx, sources, Traffic()[:1], false, runs, show)
	if err != nil {
		return nil, err
	}
	locks := slices.DeleteFunc(slices.Clone(sources), func(src Source) bool {
		return slices.IndexFunc(own, func(r TrafficRow) bool { return r.Scenario == src.Name && r.Deadlocks > 0 }) < 0
	})
	own = slices.DeleteFunc(own, func(r TrafficRow) bool { return r.Deadlocks == 0 })
	traffic, err := play(ctx, locks, Traffic()[1:], false, runs, show)
	if err != nil {
		return nil, err
	}
	responses, err := play(ctx, locks, Responses(), true, runs, show)
	if err != nil {
		return nil, err
	}
	return &Table{Runs: runs, Rows: slices.Concat(own, traffic, responses)}, nil
}

// play plays every source with every kind.
func play(ctx context.Context, sources []Source, kinds []Kind, response bool, runs int, show io.Writer) ([]TrafficRow, error) {
	played := make([]outcome, len(sources)*len(kinds)*runs)
	err := progress.Each(ctx, show, "runs", len(played), runtime.GOMAXPROCS(0), func(i int) (err error) {
		src, k := &sources[i/runs/len(kinds)], &kinds[i/runs%len(kinds)]
		played[i], err = playOne(ctx, src, k, uint64(i%runs)+1)
		if err != nil {
			err = fmt.Errorf("%s with %s: %w", src.Name, k.Name, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var rows []TrafficRow
	for i := range sources {
		for j := range kinds {
			at := (i*len(kinds) + j) * runs
			rows = append(rows, sum(sources[i].Name, kinds[j].Name, response, played[at:at+runs]))
		}
	}
	return rows, nil
}

// outcome is what came of a run.
type outcome struct {
	v         *verdict.Verdict
	slowdowns []float64 // of flows to hosts that do not misbehave
}

// playOne plays a source with a kind and a seed.
func playOne(ctx context.Context, src *Source, k *Kind, seed uint64) (outcome, error) {
	s, err := src.Parse()
	if err != nil {
		return outcome{}, err
	}
	s.Detector, s.Response = "itsy", "none"
	move(s, seed)
	k.put(s)
	plan, err := scenario.Compile(s)
	if err != nil {
		return outcome{}, err
	}
	world, _ := NewWorld("sim", nil)
	played, err := world.Play(ctx, plan, seed)
	if err != nil {
		return outcome{}, err
	}
	v := played.Verdict
	o := outcome{v: v}
	for i, f := range v.Flows {
		alone := plan.AloneMessage(i)
		if alone == 0 || s.Misbehaves(s.Flows[i].To) || slices.Contains(s.Dead, s.Flows[i].To) {
			continue
		}
		slow := math.Inf(1)
		if f.Messages.Done > 0 {
			slow = float64(f.Messages.Mean) / float64(alone)
		}
		o.slowdowns = append(o.slowdowns, slow)
	}
	return o, nil
}

// sum is the row of some runs.
func sum(name, kind string, response bool, runs []outcome) TrafficRow {
	r := TrafficRow{Scenario: name, Kind: kind, Response: response}
	var onsets []unit.Time
	var xoff []int
	var slow []float64
	sent, again := int64(0), int64(0)
	for _, o := range runs {
		v := o.v
		if v.Deadlock {
			r.Deadlocks++
			onsets = append(onsets, v.Onset)
			if !v.Recovered {
				r.Last++
			}
		}
		r.Recurrences += v.Recurrences
		xoff = append(xoff, v.PFC.XOFF)
		slow = append(slow, o.slowdowns...)
		for _, f := range v.Flows {
			if m := f.Messages; m != nil {
				sent, again = sent+f.Sent, again+m.Again
				r.Timeouts += int(m.Timeouts)
				r.Marked += int(m.Marked)
				if m.Failed {
					r.Failed++
				}
				if m.Unmeasured {
					r.Unmeasured++
				}
			}
		}
	}
	r.Onset = verdict.QuantilesOf(onsets)
	r.XOFF = verdict.QuantilesOf(xoff).P50
	if len(slow) > 0 {
		slices.Sort(slow)
		rank := func(percent int) Slowdown { return Slowdown(slow[stat.NearestRank(len(slow), percent)]) }
		r.Slowdown50, r.Slowdown99 = rank(50), rank(99)
	}
	if sent > 0 {
		r.SentAgain = int(again * 1000 / sent)
	}
	return r
}

// The comparison of traffic plays scenarios with other traffic than theirs: every lossless UDP flow as a
// reliable connection, with one congestion control after another, without PFC, and with one response
// after another. So it shows which deadlocks congestion control keeps from forming, what PFC is good
// for, and what a response's losses cost an application that goes back to them (go-back-N).
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

// Table is the results of scenarios with every kind of traffic, and with every response.
type Table struct {
	First uint64       `json:"seed_from"`
	Runs  int          `json:"runs"` // of each row, with the seeds from First on
	Rows  []TrafficRow `json:"rows"`
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
	// XOFF is pauses, the median; OnsetMedian of Onset. Low and High are where the medians of all runs
	// that there could be are, in 95 of 100 cases.
	XOFF        Median[int]       `json:"xoff"`
	OnsetMedian Median[unit.Time] `json:"onset_median_ns"`
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
	// Lost is frames of connections that were lost, in thousandths of those sent. Goodput is bytes of
	// acknowledged messages by the time of the scenario, in bits per second: the median of the runs,
	// and its interval; 0 without connections.
	Lost    int         `json:"lost_per_mille"`
	Goodput Median[int] `json:"goodput_bps"`
	Marked  int         `json:"marked"` // packets, in all runs
	// Connections is those that sent, in all runs. Unmeasured is those of them, whose control is
	// told of round trips and was told of none.
	Connections int `json:"connections"`
	Unmeasured  int `json:"unmeasured"`
}

// Median is a median, and its interval by the order of the samples; all 0 without a sample.
type Median[T int | unit.Time] struct {
	P50  T `json:"p50"`
	Low  T `json:"low"`
	High T `json:"high"`
}

// medianAndInterval sorts x.
func medianAndInterval[T int | unit.Time](x []T) (m Median[T]) {
	if len(x) == 0 {
		return m
	}
	slices.Sort(x)
	low, high := stat.MedianRanks(len(x))
	return Median[T]{P50: stat.Median(x), Low: x[low], High: x[high]}
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

// Play plays every scenario that deadlocks with its own traffic, this many times with each
// kind, with the seeds from first on; others are left out. It shows its progress on show.
func Play(ctx context.Context, sources []Source, first uint64, runs int, show io.Writer) (*Table, error) {
	t := &Table{First: first, Runs: runs}
	own, err := t.play(ctx, sources, Traffic()[:1], show, nil)
	if err != nil {
		return nil, err
	}
	locks := slices.DeleteFunc(slices.Clone(sources), func(src Source) bool { return !own[src.Name].locks(UDP) })
	t.add(locks, Traffic()[:1], false, own)
	traffic, err := t.play(ctx, locks, Traffic()[1:], show, nil)
	if err != nil {
		return nil, err
	}
	lossy, err := t.play(ctx, locks, NoPFC(), show, nil)
	if err != nil {
		return nil, err
	}
	responses, err := t.play(ctx, locks, Responses(), show, func(src string, k *Kind, run int) *outcome {
		// A response that acts on what itsy declares does nothing where it declares nothing.
		if rc := &traffic[src][RC][run]; k.follows && (k.Name == none || len(rc.v.Detections) == 0) {
			return rc
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.add(locks, Traffic()[1:], false, traffic)
	t.add(locks, NoPFC(), false, lossy)
	t.add(locks, Responses(), true, responses)
	return t, nil
}

// trafficRuns are the outcomes of a scenario, by kind and in the order of seeds.
type trafficRuns map[string][]outcome

// locks reports whether there was a deadlock in any run of a kind.
func (o trafficRuns) locks(kind string) bool {
	return slices.ContainsFunc(o[kind], func(o outcome) bool { return o.v.Deadlock })
}

// play plays every source with every kind. known, unless it is nil, is what is known to come of a
// run, nil if it has to be played.
func (t *Table) play(ctx context.Context, sources []Source, kinds []Kind, show io.Writer, known func(src string, k *Kind, run int) *outcome) (map[string]trafficRuns, error) {
	all := map[string]trafficRuns{}
	for _, src := range sources {
		all[src.Name] = trafficRuns{}
		for _, k := range kinds {
			all[src.Name][k.Name] = make([]outcome, t.Runs)
		}
	}
	err := progress.Each(ctx, show, "runs", len(sources)*len(kinds)*t.Runs, runtime.GOMAXPROCS(0), func(i int) (err error) {
		src, k, run := &sources[i/t.Runs/len(kinds)], &kinds[i/t.Runs%len(kinds)], i%t.Runs
		to := &all[src.Name][k.Name][run]
		if known != nil {
			if o := known(src.Name, k, run); o != nil {
				*to = *o
				return nil
			}
		}
		if *to, err = playOne(ctx, src, k, t.First+uint64(run)); err != nil {
			err = fmt.Errorf("%s with %s: %w", src.Name, k.Name, err)
		}
		return err
	})
	return all, err
}

// add adds the rows of scenarios.
func (t *Table) add(sources []Source, kinds []Kind, response bool, of map[string]trafficRuns) {
	for _, src := range sources {
		for _, k := range kinds {
			t.Rows = append(t.Rows, sum(src.Name, k.Name, response, of[src.Name][k.Name]))
		}
	}
}

// outcome is the result of a run.
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
		if alone == 0 || s.Suffers(&s.Flows[i]) || slices.Contains(s.Dead, s.Flows[i].To) {
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
	sent, again, lost := int64(0), int64(0), int64(0)
	var goodput []int
	for _, o := range runs {
		v := o.v
		bytes := int64(0)
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
				if f.Sent > 0 {
					r.Connections++
				}
				sent, again, lost = sent+f.Sent, again+m.Again, lost+f.Lost
				bytes += m.Bytes
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
		goodput = append(goodput, int(8*float64(bytes)*float64(unit.Second)/float64(v.Duration)))
	}
	r.Onset = verdict.QuantilesOf(onsets)
	r.XOFF, r.OnsetMedian, r.Goodput = medianAndInterval(xoff), medianAndInterval(onsets), medianAndInterval(goodput)
	if len(slow) > 0 {
		slices.Sort(slow)
		rank := func(percent int) Slowdown { return Slowdown(slow[stat.NearestRank(len(slow), percent)]) }
		r.Slowdown50, r.Slowdown99 = rank(50), rank(99)
	}
	if sent > 0 {
		r.SentAgain, r.Lost = int(again*1000/sent), int(lost*1000/sent)
	}
	return r
}

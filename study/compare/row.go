package compare

import (
	"cmp"
	"encoding/json"
	"slices"

	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// Row is a scenario with a system. Exactly one of Figures, NotApplicable and Failed
// is set.
type Row struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	// NotApplicable is why the system does not apply to the scenario.
	NotApplicable string `json:"not_applicable,omitempty"`
	// Failed is why the pair could not be played though it should have been.
	Failed string `json:"failed,omitempty"`
	*Figures
}

// rowKeys are the keys of a row whose places are fixed, and whose figures columns show, or need not.
const rowKeys = `scenario system not_applicable failed runs equal_runs invalid deadlock detected latency_ns
	false_positives premature late false_negatives lossless_lost response_dropped response_dropped_bytes policed recovered recovery_ns recurrences
	all_flows innocent innocent_touched innocent_dropped innocent_dropped_of innocent_of_treated
	pfc control_messages detector_bytes_per_switch counter_bytes_per_switch actions refusals connections lossy_lost
	onset_ns dropped_of_named dropped_of_others xoff`

// MarshalJSON puts figures that rowKeys lack at the end.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row // without this method
	if r.Figures == nil {
		return json.Marshal(plain(r))
	}
	return r.JSON(plain(r), rowKeys)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Row) UnmarshalJSON(text []byte) error {
	type plain Row // without this method
	err := json.Unmarshal(text, (*plain)(r))
	if err == nil && r.Figures != nil {
		r.Sums, err = verdict.ReadSums(text)
	}
	return err
}

// Figures are the verdicts of some runs in one. Counts are sums over the runs.
type Figures struct {
	Runs int `json:"runs"`
	// Equal: the runs differ in nothing but their seed, for nothing is drawn, so that they are one.
	Equal        bool `json:"equal_runs"`
	verdict.Sums `json:"-"`

	AllFlows Goodput `json:"all_flows"`
	// Innocent flows are those that had no part in the first deadlock without a system
	// (cause.Innocents) or, where there is no such cause, lossless ones that go to no host
	// that misbehaves: the same for all systems.
	Innocent Goodput `json:"innocent"`
	// Touched are innocent flows of which switches dropped frames because of the system,
	// counted once a run; nil if this world does not say.
	Touched *int `json:"innocent_touched"`
	// Robbed are frames of innocent flows that switches dropped because of the system; nil
	// if this world does not say. RobbedOf are these and those that arrived.
	Robbed   *int `json:"innocent_dropped"`
	RobbedOf int  `json:"innocent_dropped_of"`
	// OfTreated is what innocent flows got over the whole run, as a share of what they
	// get in the run in which the cause is treated from the start: the median of the runs
	// with a cause, nil if there is none.
	OfTreated *float64 `json:"innocent_of_treated"`

	PFC verdict.PFCFrames `json:"pfc"`

	Actions  []Count `json:"actions"`  // what was done to switches
	Refusals []Count `json:"refusals"` // what was wanted and not done, and why

	// Connections is nil of a scenario without flows of transport rc.
	Connections *Connections `json:"connections,omitempty"`
	// Lost is frames of flows that were lost, by reason, where no priority is lossless; nil elsewhere.
	Lost []Count `json:"lossy_lost,omitzero"`
}

// lost is how many frames were lost for no purpose: lossless ones or, where nothing is lossless, all.
func (f *Figures) lost() int {
	return f.Count("lossless_lost") + lists.Sum(f.Lost, func(c Count) int { return c.Count })
}

// Reasons of a loss that no switch gives: in a host's receive buffer, or on a wire; and where this
// world does not say what switches dropped.
const (
	lostBeyond = "host_or_wire"
	lostUntold = "untold"
)

// lossyLost is what was lost of the flows of s, by reason; nil if some priority is lossless.
func lossyLost(s *scenario.Scenario, runs []*Played) []Count {
	if len(s.Lossless()) > 0 {
		return nil
	}
	lost := []Count{}
	for _, r := range runs {
		for i := range s.Flows {
			f := &r.Flows[i]
			left := int(f.Lost - f.Response - f.OverRate - f.IncompleteARP)
			if r.Drops == nil {
				lost = add(lost, lostUntold, left)
				continue
			}
			for why, n := range r.Drops[i].Lost {
				lost = add(lost, why.String(), n)
				left -= n
			}
			lost = add(lost, lostBeyond, max(0, left))
		}
	}
	return lost
}

// Connections is what became of the flows of transport rc of all runs.
type Connections struct {
	Again    int64 `json:"again"`    // packets that were sent again
	Timeouts int64 `json:"timeouts"` // after which some were
	Failed   int   `json:"failed"`   // connections that gave up
	// Goodput is the bytes of acknowledged messages by the time of the scenario, in bits per second, on
	// average over the runs.
	Goodput    int64               `json:"goodput_bps"`
	Completion *verdict.Completion `json:"completion,omitempty"` // of those that have an end, nil if none has one
}

// connections are those of runs whose verdicts sum is of, nil if there are none.
func connections(sum *verdict.Summary, lasts unit.Time) *Connections {
	var k *Connections
	bytes := int64(0)
	for _, v := range sum.Runs {
		for i := range v.Flows {
			m := v.Flows[i].Messages
			if m == nil {
				continue
			}
			if k == nil {
				k = &Connections{Completion: sum.Completion}
			}
			k.Again += m.Again
			k.Timeouts += m.Timeouts
			if m.Failed {
				k.Failed++
			}
			bytes += m.Bytes
		}
	}
	if k != nil {
		k.Goodput = int64(8 * float64(bytes) / (float64(lasts) / float64(unit.Second)) / float64(len(sum.Runs)))
	}
	return k
}

// Goodput is what some flows got, in bits per second of whole frames, on average
// over the runs; flows are counted once a run. "At the end" is the last quarter of
// the run, for flows that run through all of it.
type Goodput struct {
	Flows       int   `json:"flows"`
	Demand      int64 `json:"demand_bps"`
	Throughput  int64 `json:"throughput_bps"` // over each flow's whole time
	AtEnd       int   `json:"flows_at_end"`
	FinalDemand int64 `json:"final_demand_bps"`
	Final       int64 `json:"final_bps"`
	Stalled     int   `json:"stalled"` // of those at the end, how many got nothing then
}

// share is got in per cent of wanted; ok is false if nothing was wanted.
func share(got, wanted int64) (percent float64, ok bool) {
	if wanted == 0 {
		return 0, false
	}
	return 100 * float64(got) / float64(wanted), true
}

// Count is how often something was seen.
type Count struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// aggregate makes figures of the runs of s, of which there is at least one. truths are by
// run.
func aggregate(s *scenario.Scenario, runs []*Played, truths []found) Figures {
	verdicts := lists.Map(runs, func(r *Played) *verdict.Verdict { return r.Verdict })
	sum := verdict.Summarize(verdicts)
	f := Figures{
		Runs: len(runs), Equal: sum.Equal, Sums: verdict.SumsOf(verdicts),
		AllFlows: goodput(s, verdicts, func(_, _ int) bool { return true }),
		Innocent: goodput(s, verdicts, func(run, flow int) bool { return truths[run].innocent[flow] }),
		Actions:  []Count{}, Refusals: []Count{},
		Connections: connections(&sum, s.Duration),
		Lost:        lossyLost(s, runs),
	}
	var shares []float64
	for i, v := range runs {
		if flows, frames, of, known := truths[i].robbed(v); known {
			f.Touched, f.Robbed = addTo(f.Touched, flows), addTo(f.Robbed, frames)
			f.RobbedOf += of
		}
		if share, ok := truths[i].share(v.Flows); ok {
			shares = append(shares, share)
		}
		stat.Add(&f.PFC, &v.PFC)
		for _, m := range v.Actions {
			f.Actions = add(f.Actions, m.Action, 1)
		}
		for _, r := range v.Refusals {
			f.Refusals = add(f.Refusals, r.Why, 1)
		}
	}
	f.OfTreated = medianOf(shares)
	return f
}

// medianOf is the median of shares, which it sorts; nil if there is none.
func medianOf(shares []float64) *float64 {
	if len(shares) == 0 {
		return nil
	}
	slices.Sort(shares)
	m := stat.Median(shares)
	return &m
}

// addTo is sum, 0 if it is nil, and n.
func addTo(sum *int, n int) *int {
	if sum != nil {
		n += *sum
	}
	return &n
}

// add counts what n times, in counts that are in order of their names.
func add(counts []Count, what string, n int) []Count {
	if n == 0 {
		return counts
	}
	i, found := slices.BinarySearchFunc(counts, what, func(c Count, what string) int { return cmp.Compare(c.What, what) })
	if !found {
		counts = slices.Insert(counts, i, Count{What: what})
	}
	counts[i].Count += n
	return counts
}

// goodput is that of the flows which count.
func goodput(s *scenario.Scenario, runs []*verdict.Verdict, counts func(run, flow int) bool) (g Goodput) {
	for run, v := range runs {
		for i := range s.Flows {
			if counts(run, i) {
				g.add(&v.Flows[i], demand(s, &s.Flows[i]), runsToEnd(s, &s.Flows[i]))
			}
		}
	}
	for _, sum := range []*int64{&g.Demand, &g.Throughput, &g.FinalDemand, &g.Final} {
		*sum /= int64(len(runs))
	}
	return g
}

func (g *Goodput) add(got *verdict.FlowResult, demand int64, toEnd bool) {
	g.Flows++
	g.Demand += demand
	g.Throughput += got.Throughput
	if !toEnd {
		return
	}
	g.AtEnd++
	g.FinalDemand += demand
	g.Final += got.Final
	if got.Final == 0 {
		g.Stalled++
	}
}

// demand is what a flow sends if nothing holds it back, in bits per second of whole
// frames, without what else a frame occupies on the wire.
func demand(s *scenario.Scenario, f *scenario.Flow) int64 {
	link := s.Links[s.Fabric.Nodes[f.From].Ports[0].Link].Rate
	rate := cmp.Or(link, unit.NominalRate)
	if f.Rate > 0 {
		rate = min(rate, unit.Rate(f.Rate))
	}
	return int64(rate) * int64(f.Frame) / int64(f.Frame+unit.WireOverhead)
}

// runsToEnd reports whether f runs through the whole last quarter of s. A flow with a size
// is not meant to.
func runsToEnd(s *scenario.Scenario, f *scenario.Flow) bool {
	return f.Size == 0 && f.Start <= s.Duration-s.Duration/4 && (f.Stop == 0 || f.Stop >= s.Duration)
}

package verdict

import (
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Figure is a figure of a run. Its line in Figures makes it a column of sweeps and, if it has a Sum, a key of
// summaries and of the rows of comparisons, and a column of theirs.
type Figure struct {
	// Key is that of a verdict. Times end in _ns, in nanoseconds, and rates in _bps, in bits per second.
	Key  string
	Text string // what it is
	// Sum is what the figures of several runs come to, nil if that is not told.
	Sum Sum
	// Of is a bool, a number, a string, or nil if there is nothing to tell, such as the latency of a
	// deadlock that was not declared.
	Of func(*Verdict) any
}

// Figures are all figures, in the order of a sweep's columns.
var Figures = []Figure{
	{"seed", "of the run", nil, func(v *Verdict) any { return v.Seed }},
	{"deadlock", "true if the oracle saw one", runs, func(v *Verdict) any { return v.Deadlock }},
	{"onset_ns", "of the first deadlock, from the start of the run", spread[unit.Time], func(v *Verdict) any { return when(v.Deadlock, v.Onset) }},
	{"detected", "true if a declaration was", runs, func(v *Verdict) any { return v.first().TruePositive }},
	{"latency_ns", "of the first true declaration, from the onset of its deadlock", spread[unit.Time], func(v *Verdict) any { return when(v.first().TruePositive, v.first().Latency) }},
	{"initial_trigger", "the node that the first true declaration names", nil, func(v *Verdict) any { return when(v.first().TruePositive, v.first().Trigger.Node) }},
	{"detections", "declarations, right or wrong", nil, func(v *Verdict) any { return len(v.Detections) }},
	{"false_positives", "declarations that never came true", sum, func(v *Verdict) any { return v.FalsePositives }},
	{"premature", "declarations that came true later", sum, func(v *Verdict) any { return v.Premature }},
	{"late", "declarations just after the end of their deadlock", sum, func(v *Verdict) any { return v.Late }},
	{"false_negatives", "deadlocks that nobody declared while they lived", runs, func(v *Verdict) any { return v.FalseNegatives }},
	{"openings", "waits in a circle that opened by themselves: no deadlocks", nil, func(v *Verdict) any { return v.Openings }},
	{"longest_opening_ns", "how long one of them lasted at most", nil, func(v *Verdict) any { return when(v.Openings > 0, v.LongestOpening) }},
	{"recovered", "true if there was a deadlock, and none at the end", runs, func(v *Verdict) any { return v.Recovered }},
	{"recurrences", "how often a deadlock came back", sum, func(v *Verdict) any { return v.Recurrences }},
	{"recovery_ns", "from the onset until the last deadlock was gone", spread[unit.Time], func(v *Verdict) any { return when(v.Recovered, v.Recovery) }},
	{"quiet_ns", "from then to the end of the run", nil, func(v *Verdict) any { return when(v.Recovered, v.Quiet) }},
	{"lossless_lost", "lossless frames lost for any cause but the next three", sum, func(v *Verdict) any { return v.LosslessLost }},
	{"response_dropped", "frames dropped to break a deadlock", sum, func(v *Verdict) any { return v.ResponseDropped }},
	{"response_dropped_bytes", "their bytes", sum, func(v *Verdict) any { return v.ResponseDroppedBytes }},
	{"policed", "frames dropped to handle a trigger", sum, func(v *Verdict) any { return v.Policed }},
	{"incomplete_arp", "lossless frames not flooded", nil, func(v *Verdict) any { return v.IncompleteARP }},
	{"dropped_of_named", "of `response_dropped` and `policed`, frames of flows that a cause names", sum, func(v *Verdict) any { return v.dropped(true) }},
	{"dropped_of_others", "those of other flows", sum, func(v *Verdict) any { return v.dropped(false) }},
	{"actions", "actions that systems took", nil, func(v *Verdict) any { return len(v.Actions) }},
	{"refusals", "actions that they wanted to take and could not", nil, func(v *Verdict) any { return len(v.Refusals) }},
	{"xoff", "pauses that switches sent, for each priority of a frame", spread[int], func(v *Verdict) any { return v.PFC.XOFF }},
	{"xon", "resumes", nil, func(v *Verdict) any { return v.PFC.XON }},
	{"refresh", "pauses that were repeated", nil, func(v *Verdict) any { return v.PFC.Refresh }},
	{"control_messages", "of the detector, in addition to pauses", sum, func(v *Verdict) any { return v.ControlMessages }},
	{"detector_bytes_per_switch", "the detector's state, of the switch with the most", most, func(v *Verdict) any { return v.DetectorBytesPerSwitch }},
	{"counter_bytes_per_switch", "the accounts of the buffer, likewise", most, func(v *Verdict) any { return v.CounterBytesPerSwitch }},
	{"expected_met", "true if the file's expectation is met; empty if it has none", nil, func(v *Verdict) any { return when(v.Expected || !v.ExpectedMet, v.ExpectedMet) }},
	{"invalid", "why the run cannot be trusted; empty if it can", runs, func(v *Verdict) any { return v.Invalid }},
	{"sent", "frames of all flows", nil, ofFlows(func(f *FlowResult) int64 { return f.Sent })},
	{"received", "of them", nil, ofFlows(func(f *FlowResult) int64 { return f.Received })},
	{"throughput_bps", "what all flows received, each over its own time", nil, ofFlows(func(f *FlowResult) int64 { return f.Throughput })},
	{"final_bps", "the same in the last quarter of the run", nil, ofFlows(func(f *FlowResult) int64 { return f.Final })},
	{"flows_with_end", "flows of `transport: rc` with a `size`; empty without one, as are the next nine", nil, ofCompletion(func(c *Completion) any { return c.All.Flows })},
	{"flows_done", "of them, all acknowledged", nil, ofCompletion(func(c *Completion) any { return c.All.Done })},
	{"slowdown_p50", "of those, the median", nil, ofCompletion(func(c *Completion) any { return when(c.All.Slowdown.Max > 0, c.All.Slowdown.P50) })},
	{"slowdown_p95", "the 95th percentile", nil, ofCompletion(func(c *Completion) any { return when(c.All.Slowdown.Max > 0, c.All.Slowdown.P95) })},
	{"slowdown_p99", "the 99th percentile", nil, ofCompletion(func(c *Completion) any { return when(c.All.Slowdown.Max > 0, c.All.Slowdown.P99) })},
	{"completion_p50_ns", "from their start until all is acknowledged, the median", nil, ofCompletion(func(c *Completion) any { return when(c.All.Done > 0, c.All.Time.P50) })},
	{"completion_p99_ns", "the 99th percentile of that", nil, ofCompletion(func(c *Completion) any { return when(c.All.Done > 0, c.All.Time.P99) })},
	{"completion_max_ns", "the longest", nil, ofCompletion(func(c *Completion) any { return when(c.All.Done > 0, c.All.Time.Max) })},
	{"goodput_bps", "bytes of their messages by the time that all of them took", nil, ofCompletion(func(c *Completion) any { return c.All.Goodput })},
	{"paused_ns", "for how long their hosts were paused, added up", nil, ofCompletion(func(c *Completion) any { return c.Paused })},
	{"again", "packets that flows of `transport: rc` sent again; empty without one, as are the next three", nil, ofMessages(func(m *MessageResult) int64 { return m.Again })},
	{"timeouts", "that made them do so", nil, ofMessages(func(m *MessageResult) int64 { return m.Timeouts })},
	{"marked", "their packets that came with Congestion Experienced", nil, ofMessages(func(m *MessageResult) int64 { return m.Marked })},
	{"cnps", "congestion notifications that came back", nil, ofMessages(func(m *MessageResult) int64 { return m.CNPs })},
}

// Summed are the figures that have a Sum.
func Summed() []Figure {
	return lists.Where(Figures, func(f Figure) bool { return f.Sum != nil })
}

// when is a figure, nil unless it is known.
func when(known bool, figure any) any {
	if !known {
		return nil
	}
	return figure
}

// first is the first true declaration, one that is not true if there is none.
func (v *Verdict) first() (first Detection) {
	for _, d := range v.Detections {
		if d.TruePositive {
			return d
		}
	}
	return first
}

// ofFlows is the sum of a figure over all flows.
func ofFlows(of func(*FlowResult) int64) func(*Verdict) any {
	return func(v *Verdict) any { return lists.Sum(v.Flows, func(f FlowResult) int64 { return of(&f) }) }
}

// ofMessages is the sum of a figure over the flows of transport rc, nil if there are none.
func ofMessages(of func(*MessageResult) int64) func(*Verdict) any {
	return func(v *Verdict) any {
		some := lists.Where(v.Flows, func(f FlowResult) bool { return f.Messages != nil })
		return when(some != nil, lists.Sum(some, func(f FlowResult) int64 { return of(f.Messages) }))
	}
}

// ofCompletion is a figure of the flows that have an end, nil if there are none.
func ofCompletion(of func(*Completion) any) func(*Verdict) any {
	return func(v *Verdict) any {
		if v.Completion == nil {
			return nil
		}
		return of(v.Completion)
	}
}

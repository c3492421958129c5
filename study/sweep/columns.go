package sweep

import (
	"slices"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Column is a figure that each row has.
type Column struct {
	Name string
	Text string // what it is
	// of is the cell of a verdict: a bool, a number, a string, or nil if there is nothing to
	// tell, such as the latency of a deadlock that was not declared.
	of func(v *verdict.Verdict) any
}

// Figures are the columns behind those of the axes, up to those of flows. Times end in _ns
// and rates in _bps, as in a verdict, whose figures they are.
func Figures() []Column {
	return []Column{
		{"seed", "of the run", func(v *verdict.Verdict) any { return v.Seed }},
		{"deadlock", "true if the oracle saw one", func(v *verdict.Verdict) any { return v.Deadlock }},
		{"onset_ns", "of the first deadlock, from the start of the run", func(v *verdict.Verdict) any { return timeIf(v.Deadlock, v.Onset) }},
		{"detected", "true if a declaration was", func(v *verdict.Verdict) any { return firstTrue(v) != nil }},
		{"latency_ns", "of the first true declaration, from the onset of its deadlock", latency},
		{"trigger", "the node that the first true declaration names", trigger},
		{"detections", "declarations, right or wrong", func(v *verdict.Verdict) any { return len(v.Detections) }},
		{"false_positives", "declarations that never came true", func(v *verdict.Verdict) any { return v.FalsePositives }},
		{"premature", "declarations that came true later", func(v *verdict.Verdict) any { return v.Premature }},
		{"late", "declarations just after the end of their deadlock", func(v *verdict.Verdict) any { return v.Late }},
		{"false_negatives", "deadlocks that nobody declared while they lived", func(v *verdict.Verdict) any { return v.FalseNegatives }},
		{"openings", "waits in a circle that opened by themselves: no deadlocks", func(v *verdict.Verdict) any { return v.Openings }},
		{"longest_opening_ns", "how long one of them lasted at most", func(v *verdict.Verdict) any { return timeIf(v.Openings > 0, v.LongestOpening) }},
		{"recovered", "true if there was a deadlock, and none at the end", func(v *verdict.Verdict) any { return v.Recovered }},
		{"recurrences", "how often a deadlock came back", func(v *verdict.Verdict) any { return v.Recurrences }},
		{"recovery_ns", "from the onset until the last deadlock was gone", func(v *verdict.Verdict) any { return timeIf(v.Recovered, v.Recovery) }},
		{"quiet_ns", "from then to the end of the run", func(v *verdict.Verdict) any { return timeIf(v.Recovered, v.Quiet) }},
		{"lossless_lost", "lossless frames lost for any cause but the next three", func(v *verdict.Verdict) any { return v.LosslessLost }},
		{"response_dropped", "frames dropped to break a deadlock", func(v *verdict.Verdict) any { return v.ResponseDropped }},
		{"response_dropped_bytes", "their bytes", func(v *verdict.Verdict) any { return v.ResponseDroppedBytes }},
		{"policed", "frames dropped to handle a trigger", func(v *verdict.Verdict) any { return v.Policed }},
		{"incomplete_arp", "lossless frames not flooded", func(v *verdict.Verdict) any { return v.IncompleteARP }},
		{"dropped_of_named", "of `response_dropped` and `policed`, frames of flows that a cause names ([verdict.md](verdict.md#dropped_of))", dropped(true)},
		{"dropped_of_others", "those of other flows", dropped(false)},
		{"measures", "actions that systems took", func(v *verdict.Verdict) any { return len(v.Measures) }},
		{"refusals", "actions that they wanted to take and could not", func(v *verdict.Verdict) any { return len(v.Refusals) }},
		{"xoff", "pauses that switches sent, for each priority of a frame", func(v *verdict.Verdict) any { return v.PFC.XOFF }},
		{"xon", "resumes", func(v *verdict.Verdict) any { return v.PFC.XON }},
		{"refresh", "pauses that were repeated", func(v *verdict.Verdict) any { return v.PFC.Refresh }},
		{"control_messages", "of the detector, besides pauses", func(v *verdict.Verdict) any { return v.ControlMessages }},
		{"detector_bytes_per_switch", "the detector's state, of the switch with the most", func(v *verdict.Verdict) any { return v.DetectorBytesPerSwitch }},
		{"counter_bytes_per_switch", "the accounts of the buffer, likewise", func(v *verdict.Verdict) any { return v.CounterBytesPerSwitch }},
		{"expected_met", "true if the file's expectation is met; empty if it has none", expectedMet},
		{"invalid", "why the run cannot be trusted; empty if it can", func(v *verdict.Verdict) any { return v.Invalid }},
		{"sent", "frames of all flows", sum(func(f *verdict.FlowResult) int64 { return f.Sent })},
		{"received", "of them", sum(func(f *verdict.FlowResult) int64 { return f.Received })},
		{"throughput_bps", "what all flows received, each over its own time", sum(func(f *verdict.FlowResult) int64 { return f.Throughput })},
		{"final_bps", "the same in the last quarter of the run", sum(func(f *verdict.FlowResult) int64 { return f.Final })},
		{"flows_with_end", "flows of `transport: rc` with a `size`; empty without one, as are the next nine", completion(func(c *verdict.Completion) any { return c.All.Flows })},
		{"flows_done", "of them, all acknowledged", completion(func(c *verdict.Completion) any { return c.All.Done })},
		{"slowdown_p50", "of those, the median", slowdown(func(t *verdict.Tail[float64]) float64 { return t.P50 })},
		{"slowdown_p95", "the 95th percentile", slowdown(func(t *verdict.Tail[float64]) float64 { return t.P95 })},
		{"slowdown_p99", "the 99th percentile", slowdown(func(t *verdict.Tail[float64]) float64 { return t.P99 })},
		{"completion_p50_ns", "from their start until all is acknowledged, the median", completionTime(func(t *verdict.Tail[unit.Time]) unit.Time { return t.P50 })},
		{"completion_p99_ns", "the 99th percentile of that", completionTime(func(t *verdict.Tail[unit.Time]) unit.Time { return t.P99 })},
		{"completion_max_ns", "the longest", completionTime(func(t *verdict.Tail[unit.Time]) unit.Time { return t.Max })},
		{"goodput_bps", "bytes of their messages by the time that all of them took", completion(func(c *verdict.Completion) any { return c.All.Goodput })},
		{"paused_ns", "for how long their hosts were paused, added up", completion(func(c *verdict.Completion) any { return int64(c.Paused) })},
		{"again", "packets that flows of `transport: rc` sent again; empty without one, as are the next three", messages(func(m *verdict.MessageResult) int64 { return m.Again })},
		{"timeouts", "that made them do so", messages(func(m *verdict.MessageResult) int64 { return m.Timeouts })},
		{"marked", "their packets that came with Congestion Experienced", messages(func(m *verdict.MessageResult) int64 { return m.Marked })},
		{"cnps", "congestion notifications that came back", messages(func(m *verdict.MessageResult) int64 { return m.CNPs })},
	}
}

// columns are those of the axes, the figures, and two of each flow.
func (c *Checked) columns() (all []Column) {
	for _, a := range c.Axes {
		all = append(all, Column{Name: a.Path})
	}
	all = append(all, Figures()...)
	for _, name := range c.flows {
		all = append(all,
			Column{Name: "throughput_bps." + name, of: ofFlow(name, func(f *verdict.FlowResult) int64 { return f.Throughput })},
			Column{Name: "final_bps." + name, of: ofFlow(name, func(f *verdict.FlowResult) int64 { return f.Final })})
	}
	return all
}

func timeIf(known bool, t unit.Time) any {
	if !known {
		return nil
	}
	return int64(t)
}

// firstTrue is the first true declaration, nil if there is none.
func firstTrue(v *verdict.Verdict) *verdict.Detection {
	i := slices.IndexFunc(v.Detections, func(d verdict.Detection) bool { return d.TruePositive })
	if i < 0 {
		return nil
	}
	return &v.Detections[i]
}

func latency(v *verdict.Verdict) any {
	if d := firstTrue(v); d != nil {
		return int64(d.Latency)
	}
	return nil
}

func trigger(v *verdict.Verdict) any {
	if d := firstTrue(v); d != nil {
		return d.Trigger.Node
	}
	return nil
}

func expectedMet(v *verdict.Verdict) any {
	if !v.Expected && v.ExpectedMet {
		return nil
	}
	return v.ExpectedMet
}

func sum(of func(*verdict.FlowResult) int64) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		n := int64(0)
		for i := range v.Flows {
			n += of(&v.Flows[i])
		}
		return n
	}
}

// dropped is how many frames were dropped on purpose of flows that are named, or of others.
func dropped(named bool) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		frames, _ := v.Dropped(named)
		return frames
	}
}

// completion is a figure of the flows that have an end, nil if there are none.
func completion(of func(*verdict.Completion) any) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		if v.Completion == nil {
			return nil
		}
		return of(v.Completion)
	}
}

// slowdown is a figure of the slowdowns, nil if no flow has one.
func slowdown(of func(*verdict.Tail[float64]) float64) func(*verdict.Verdict) any {
	return completion(func(c *verdict.Completion) any {
		if c.All.Slowdown.Max == 0 {
			return nil
		}
		return of(&c.All.Slowdown)
	})
}

// completionTime is a figure of the completion times, nil if no flow is done.
func completionTime(of func(*verdict.Tail[unit.Time]) unit.Time) func(*verdict.Verdict) any {
	return completion(func(c *verdict.Completion) any { return timeIf(c.All.Done > 0, of(&c.All.Time)) })
}

// messages is the sum of a figure over the flows of transport rc, nil if there are none.
func messages(of func(*verdict.MessageResult) int64) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		n, some := int64(0), false
		for i := range v.Flows {
			if m := v.Flows[i].Messages; m != nil {
				n, some = n+of(m), true
			}
		}
		if !some {
			return nil
		}
		return n
	}
}

// ofFlow is a figure of the flow called name, nil if there is no such flow.
func ofFlow(name string, of func(*verdict.FlowResult) int64) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		i := slices.IndexFunc(v.Flows, func(f verdict.FlowResult) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		return of(&v.Flows[i])
	}
}

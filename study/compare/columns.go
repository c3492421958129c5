package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// column is a figure in a table of rows.
type column struct {
	Group string // of columns that stand side by side
	Head  string // with the unit
	Help  string
	Cell  func(*Figures) string
}

// nothing stands where there is nothing to measure, such as the latency of no
// detection.
const nothing = "–"

// columns of the table of a scenario.
var columns = []column{
	{"deadlock", "runs with", "runs in which the oracle saw one, of all", func(f *Figures) string { return of(f.Count("deadlock"), f.Runs) }},
	{"deadlock", "detected", "of those, runs with a true declaration", func(f *Figures) string { return of(f.Count("detected"), f.Count("deadlock")) }},
	{"deadlock", "missed", "of those, runs in which it was never declared while it lived", func(f *Figures) string { return of(f.Count("false_negatives"), f.Count("deadlock")) }},
	{"latency ms", "p50", "from the deadlock to the first true declaration, median", plain("latency_ns")},
	{"latency ms", "p90", "the same, 9 of 10 runs at most", func(f *Figures) string { return quantile(f.Times("latency_ns"), f.Times("latency_ns").P90) }},
	{"latency ms", "max", "the same, the longest", func(f *Figures) string { return quantile(f.Times("latency_ns"), f.Times("latency_ns").Max) }},
	{"alarms", "false", "declarations that never came true", plain("false_positives")},
	{"alarms", "early", "declarations that came true later", plain("premature")},
	{"alarms", "late", "declarations of a deadlock that was over", plain("late")},
	{"recovery", "runs", "runs with a deadlock and none at the end, of those with one", func(f *Figures) string { return of(f.Count("recovered"), f.Count("deadlock")) }},
	{"recovery", "p50 ms", "from the first deadlock until none was left, median", plain("recovery_ns")},
	{"recovery", "max ms", "the same, the longest", func(f *Figures) string { return quantile(f.Times("recovery_ns"), f.Times("recovery_ns").Max) }},
	{"recovery", "again", "how often a deadlock came after all were gone", plain("recurrences")},
	{"frames", "lost", "lossless frames lost, for no purpose; without PFC, all that were lost of flows", func(f *Figures) string { return strconv.Itoa(f.lost()) }},
	{"frames", "dropped", "dropped to break a deadlock", plain("response_dropped")},
	{"frames", "kB", "the same, in 1000 bytes", func(f *Figures) string { return decimal(int64(f.Count("response_dropped_bytes")), 1000, 1) }},
	{"frames", "policed", "dropped by a policer or a lossy queue, to contain a trigger", plain("policed")},
	{"all flows", "end %", "what all flows got in the last quarter of the run, of what they asked for", func(f *Figures) string { return percent(f.AllFlows.Final, f.AllFlows.FinalDemand) }},
	{"innocent flows", "whole %", "what they got over their whole time, of what they asked for", func(f *Figures) string { return percent(f.Innocent.Throughput, f.Innocent.Demand) }},
	{"innocent flows", "end %", "what they got in the last quarter of the run, of what they asked for then", func(f *Figures) string { return percent(f.Innocent.Final, f.Innocent.FinalDemand) }},
	{"innocent flows", "end Mbit/s", "the same, a run", func(f *Figures) string { return decimal(f.Innocent.Final, 1e6, 1) }},
	{"innocent flows", "stalled", "that got nothing in the last quarter, of those that run then", func(f *Figures) string { return of(f.Innocent.Stalled, f.Innocent.AtEnd) }},
	{"innocent flows", "touched", "of which a switch dropped a frame because of the system: to break a deadlock, by a policer, in a lossy queue or turn, or for want of room where there was room without it; of all, in all runs", func(f *Figures) string { return touched(f.Touched, f.Innocent.Flows) }},
	{"innocent flows", "lost", "their frames that switches dropped because of the system, in all runs", func(f *Figures) string { return lostOf(f.Robbed, f.RobbedOf) }},
	{"innocent flows", "lost %", "these, of these and of those that arrived", func(f *Figures) string { return lostShare(f.Robbed, f.RobbedOf) }},
	{"innocent flows", "of treated %", "what they got over the whole run, of what they get in the run in which the cause of the deadlock is treated from the start, median", func(f *Figures) string { return wholePercent(f.OfTreated) }},
	{"cost", "PFC frames", "pauses, resumes and refreshes", func(f *Figures) string { return strconv.Itoa(f.pfc()) }},
	{"cost", "messages", "one-hop messages in addition", plain("control_messages")},
	{"cost", "state B", "the detector's own state in the switch that has most", plain("detector_bytes_per_switch")},
	{"cost", "refused", "actions that could not be taken, and why", func(f *Figures) string { return list(f.Refusals) }},
}

// connectionColumns are more columns of the table of a scenario with flows of transport rc.
var connectionColumns = []column{
	{"connections", "done", "flows with a size that were acknowledged as a whole, of all", ofConnections(func(k *verdict.Completed) string { return of(k.Done, k.Flows) })},
	{"connections", "slowdown p50", "the time that these took by the one that they take alone on an empty path, median", ofConnections(func(k *verdict.Completed) string { return slowdown(k.Slowdown.P50) })},
	{"connections", "slowdown p99", "the same, 99 of 100 flows at most", ofConnections(func(k *verdict.Completed) string { return slowdown(k.Slowdown.P99) })},
	{"connections", "again", "packets of all connections that were sent again", ofAllConnections(func(k *Connections) int64 { return k.Again })},
	{"connections", "timeouts", "after which some were", ofAllConnections(func(k *Connections) int64 { return k.Timeouts })},
	{"connections", "gave up", "connections that did, in all runs", ofAllConnections(func(k *Connections) int64 { return int64(k.Failed) })},
	{"connections", "Mbit/s", "bytes of acknowledged messages by the time of the scenario, a run", ofGoodput},
	{"connections", "lost", "frames lost without PFC, by reason: in a queue of a switch that was full, or in the receive buffer of a host", lossyReasons},
}

// columnsOf are the columns of a table of these rows: those above, and one of each figure that
// rowKeys lack.
func columnsOf(rows ...*Row) []column {
	all := slices.Clone(columns)
	for _, f := range verdict.Summed() {
		if !slices.Contains(strings.Fields(rowKeys), f.Key) {
			all = append(all, column{"more", f.Key, f.Text, plain(f.Key)})
		}
	}
	if slices.ContainsFunc(rows, (*Row).connected) {
		all = append(all, connectionColumns...)
	}
	return all
}

// connected reports whether the row tells of connections.
func (r *Row) connected() bool { return r.Figures != nil && r.Connections != nil }

// connectionRows are a table of the rows that tell of connections, the first its heads; nil if none does.
func (c *Comparison) connectionRows() [][]string {
	connected := c.where((*Row).connected)
	if connected == nil {
		return nil
	}
	heads := append([]string{"scenario", "system"}, lists.Map(connectionColumns, func(col column) string { return col.Head })...)
	return append([][]string{heads}, lists.Map(connected, func(r *Row) []string {
		return append([]string{r.Scenario, r.System}, tableRow(r, connectionColumns).Cells...)
	})...)
}

// ofConnections is a cell of the connections with a size, or nothing if there are none.
func ofConnections(cell func(*verdict.Completed) string) func(*Figures) string {
	return func(f *Figures) string {
		if f.Connections == nil || f.Connections.Completion == nil {
			return nothing
		}
		return cell(&f.Connections.Completion.All)
	}
}

// ofAllConnections is a count of connections, or nothing if there are none.
func ofAllConnections(count func(*Connections) int64) func(*Figures) string {
	return func(f *Figures) string {
		if f.Connections == nil {
			return nothing
		}
		return strconv.FormatInt(count(f.Connections), 10)
	}
}

// ofGoodput is what connections got, or nothing if there are none.
func ofGoodput(f *Figures) string {
	if f.Connections == nil {
		return nothing
	}
	return decimal(f.Connections.Goodput, 1e6, 1)
}

// lossyReasons is what was lost where nothing is lossless, or nothing elsewhere.
func lossyReasons(f *Figures) string { return known(f.Lost != nil, list(f.Lost)) }

// slowdown is s, or nothing if no flow has one.
func slowdown(s float64) string { return known(s != 0, strconv.FormatFloat(s, 'f', 2, 64)) }

func (f *Figures) pfc() int { return f.PFC.XOFF + f.PFC.XON + f.PFC.Refresh }

// told is a count, or the median of a spread.
func told(s verdict.Sums, key string) string {
	switch sum := s[key].(type) {
	case verdict.Quantiles:
		return quantile(sum, sum.P50)
	case verdict.Spread[int]:
		return strconv.Itoa(sum.P50)
	}
	return strconv.Itoa(s.Count(key))
}

// known is a text, or nothing if what it tells is not known.
func known(is bool, text string) string {
	if !is {
		return nothing
	}
	return text
}

// plain is the cell of a figure.
func plain(key string) func(*Figures) string {
	return func(f *Figures) string { return told(f.Sums, key) }
}

// of is n of all, or nothing if there are none.
func of(n, all int) string { return known(all != 0, fmt.Sprintf("%d/%d", n, all)) }

// touched is n of all, or nothing if it is not known or there are none.
func touched(n *int, all int) string {
	if n == nil {
		return nothing
	}
	return of(*n, all)
}

// lostOf is how many frames were lost, or nothing if it is not known or there are none to lose.
func lostOf(n *int, all int) string {
	if n == nil || all == 0 {
		return nothing
	}
	return strconv.Itoa(*n)
}

// lostShare is lostOf of all in per cent, to a tenth, so that few of many are not none.
func lostShare(n *int, all int) string {
	if n == nil || all == 0 {
		return nothing
	}
	if *n > 0 && 1000**n < all {
		return "<0.1"
	}
	return decimal(100*int64(*n), int64(all), 1)
}

// wholePercent is a share in per cent, or nothing.
func wholePercent(share *float64) string {
	if share == nil {
		return nothing
	}
	return strconv.FormatFloat(100**share, 'f', 0, 64)
}

// quantile is t, one of q's, in milliseconds to the microsecond.
func quantile(q verdict.Quantiles, t unit.Time) string {
	return known(q.Samples > 0, decimal(int64(t), int64(unit.Millisecond), 3))
}

func percent(got, wanted int64) string {
	p, ok := share(got, wanted)
	return known(ok, strconv.FormatFloat(p, 'f', 0, 64))
}

// decimal is n in units of per, with this number of decimals.
func decimal(n, per int64, decimals int) string {
	return strconv.FormatFloat(float64(n)/float64(per), 'f', decimals, 64)
}

// list is "no reserve to lend 3, port down 1".
func list(counts []Count) string {
	words := lists.Map(counts, func(c Count) string { return fmt.Sprintf("%s %d", c.What, c.Count) })
	return cmp.Or(strings.Join(words, ", "), "none")
}

// reason is why a row has no figures.
func (r *Row) reason() string { return cmp.Or(r.Failed, r.NotApplicable) }

// why is what stands in place of a row's figures.
func (r *Row) why() string {
	if r.Failed != "" {
		return "failed: " + r.Failed
	}
	return "not applicable: " + r.NotApplicable
}

// brief is the row in a cell of the matrix: its outcome and what innocent flows got
// at the end, which is nothing if there is no such flow, and empty if the row has no
// figures.
func (r *Row) brief() (outcome Outcome, atEnd string) {
	outcome = r.Outcome()
	if r.Figures == nil {
		return outcome, ""
	}
	return outcome, known(r.Innocent.AtEnd != 0, percent(r.Innocent.Final, r.Innocent.FinalDemand)+" %")
}

package compare

import (
	"slices"
	"strconv"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
)

// Total is a system over all scenarios that would deadlock without it, and its
// alarms over all scenarios.
type Total struct {
	System    string
	Scenarios int // it was played on, of those that deadlock
	Outcomes  map[Outcome]int
	// Sums are of the scenarios that deadlock, times of the scenarios' medians; everywhere is of all.
	verdict.Sums
	everywhere verdict.Sums
	// Lost is frames lost for no purpose, as Figures.lost.
	Lost int
	// Goodput is the mean, over scenarios, of the share in per cent that innocent flows
	// got at the end; Shared is over how many.
	Goodput float64
	Shared  int
	// Touched are innocent flows that it touched, of Innocents, where that is known;
	// OfTreated is the median of the scenarios' medians, nil if there is none.
	Touched, Innocents int
	OfTreated          *float64
	// Robbed are frames of innocent flows that it dropped, of RobbedOf; nil where that is not known.
	Robbed   *int
	RobbedOf int
}

// alarms are false and early, over all scenarios.
func (t *Total) alarms() int {
	return t.everywhere.Count("false_positives") + t.everywhere.Count("premature")
}

// deadlocking are the scenarios that deadlock with no system or, if that was not
// played, with any.
func (c *Comparison) deadlocking() []string {
	return lists.Where(c.scenarios(), func(s string) bool {
		rows := c.of(s)
		if i := slices.IndexFunc(rows, func(r *Row) bool { return r.System == "none" && r.Figures != nil }); i >= 0 {
			rows = rows[i : i+1]
		}
		return slices.ContainsFunc(rows, func(r *Row) bool { return r.Figures != nil && r.Count("deadlock") > 0 })
	})
}

// totals are in the order of the systems.
func (c *Comparison) totals() (totals []Total) {
	deadlocking := c.deadlocking()
	for _, s := range c.systems() {
		t := Total{System: s, Outcomes: map[Outcome]int{}}
		var all, locked []verdict.Sums
		var shares []float64
		for _, r := range c.played(s) {
			all = append(all, r.Sums)
			if !slices.Contains(deadlocking, r.Scenario) {
				continue
			}
			locked = append(locked, r.Sums)
			t.add(r)
			if r.OfTreated != nil {
				shares = append(shares, *r.OfTreated)
			}
		}
		t.Sums, t.everywhere = verdict.Together(locked), verdict.Together(all)
		t.OfTreated = medianOf(shares)
		if t.Shared > 0 {
			t.Goodput /= float64(t.Shared)
		}
		totals = append(totals, t)
	}
	return totals
}

// add adds a row of a scenario that deadlocks.
func (t *Total) add(r *Row) {
	t.Scenarios++
	t.Outcomes[r.Outcome()]++
	t.Lost += r.lost()
	if r.Touched != nil {
		t.Touched += *r.Touched
		t.Innocents += r.Innocent.Flows
		t.Robbed = addTo(t.Robbed, *r.Robbed)
		t.RobbedOf += r.RobbedOf
	}
	if p, ok := share(r.Innocent.Final, r.Innocent.FinalDemand); ok {
		t.Goodput += p
		t.Shared++
	}
}

// quiet reports whether no deadlock formed in any scenario.
func (t *Total) quiet() bool { return t.Outcomes[Clear]+t.Outcomes[Alarm] == t.Scenarios }

// atEnd is Goodput, or nothing if nobody shares in it.
func (t *Total) atEnd() string {
	return known(t.Shared != 0, strconv.FormatFloat(t.Goodput, 'f', 0, 64))
}

// totalRows are the table of totals, the first of them its heads.
func (c *Comparison) totalRows() [][]string {
	rows := [][]string{{
		"system", "scenarios", "no deadlock", "gone", "recurs", "found", "missed", "latency ms", "recovery ms", "alarms", "late", "lost", "dropped", "policed", "again", "innocent at end %", "innocent touched", "innocent lost", "innocent lost %", "innocent of treated %", "messages", "state B",
	}}
	for _, t := range c.totals() {
		o := t.Outcomes
		counts := lists.Map([]int{t.Scenarios, o[Clear] + o[Alarm], o[Gone], o[Recurs], o[Found], o[Missed]}, strconv.Itoa)
		rows = append(rows, append(append([]string{t.System}, counts...), told(t.Sums, "latency_ns"), told(t.Sums, "recovery_ns"), strconv.Itoa(t.alarms()), told(t.everywhere, "late"),
			strconv.Itoa(t.Lost), told(t.Sums, "response_dropped"), told(t.Sums, "policed"), told(t.Sums, "recurrences"),
			t.atEnd(), of(t.Touched, t.Innocents), lostOf(t.Robbed, t.RobbedOf), lostShare(t.Robbed, t.RobbedOf), wholePercent(t.OfTreated),
			told(t.Sums, "control_messages"), told(t.everywhere, "detector_bytes_per_switch")))
	}
	return rows
}

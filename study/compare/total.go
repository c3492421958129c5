package compare

import (
	"slices"
	"strconv"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Total is a system over all scenarios that would deadlock without it, and its
// alarms over all scenarios.
type Total struct {
	System    string
	Scenarios int // it was played on, of those that deadlock
	Outcomes  map[Outcome]int
	Latency   verdict.Quantiles // of the scenarios' medians
	Alarms    int               // false and early, over all scenarios
	Late      int               // declared when it had just ended, over all scenarios
	Lost      int
	Dropped   int
	Policed   int
	Again     int
	Recovery  verdict.Quantiles // of the scenarios' medians
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
	Messages int
	State    int // bytes, the most
}

// deadlocking are the scenarios that deadlock with no system or, if that was not
// played, with any.
func (c *Comparison) deadlocking() (names []string) {
	for _, s := range c.scenarios() {
		rows := c.of(s)
		if i := slices.IndexFunc(rows, func(r *Row) bool { return r.System == "none" && r.Figures != nil }); i >= 0 {
			rows = rows[i : i+1]
		}
		if slices.ContainsFunc(rows, func(r *Row) bool { return r.Figures != nil && r.Deadlocks > 0 }) {
			names = append(names, s)
		}
	}
	return names
}

// totals are in the order of the systems.
func (c *Comparison) totals() (all []Total) {
	deadlocking := c.deadlocking()
	for _, s := range c.systems() {
		t := Total{System: s, Outcomes: map[Outcome]int{}}
		var latencies, recoveries []unit.Time
		var shares []float64
		for i := range c.Rows {
			r := &c.Rows[i]
			if r.System != s || r.Figures == nil {
				continue
			}
			t.Alarms += r.FalsePositives + r.Premature
			t.Late += r.Late
			t.State = max(t.State, r.DetectorBytes)
			if !slices.Contains(deadlocking, r.Scenario) {
				continue
			}
			t.add(r)
			if r.Latency.Samples > 0 {
				latencies = append(latencies, r.Latency.P50)
			}
			if r.Recovery.Samples > 0 {
				recoveries = append(recoveries, r.Recovery.P50)
			}
			if r.OfTreated != nil {
				shares = append(shares, *r.OfTreated)
			}
		}
		t.Latency, t.Recovery = verdict.QuantilesOf(latencies), verdict.QuantilesOf(recoveries)
		t.OfTreated = medianOf(shares)
		if t.Shared > 0 {
			t.Goodput /= float64(t.Shared)
		}
		all = append(all, t)
	}
	return all
}

// add adds a row of a scenario that deadlocks.
func (t *Total) add(r *Row) {
	t.Scenarios++
	t.Outcomes[r.Outcome()]++
	t.Lost += r.LosslessLost
	t.Dropped += r.ResponseDropped
	t.Policed += r.Policed
	t.Again += r.Recurrences
	t.Messages += r.ControlMessages
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

// totalHeads and cells are the table of totals.
var totalHeads = []string{
	"system", "scenarios", "no deadlock", "gone", "recurs", "found", "missed", "latency ms", "recovery ms", "alarms", "late", "lost", "dropped", "policed", "again", "innocent at end %", "innocent touched", "innocent lost", "innocent lost %", "innocent of treated %", "messages", "state B",
}

func (t *Total) cells() []string {
	cells := []string{t.System, strconv.Itoa(t.Scenarios), strconv.Itoa(t.Outcomes[Clear] + t.Outcomes[Alarm])}
	for _, o := range []Outcome{Gone, Recurs, Found, Missed} {
		cells = append(cells, strconv.Itoa(t.Outcomes[o]))
	}
	goodput := nothing
	if t.Shared > 0 {
		goodput = strconv.FormatFloat(t.Goodput, 'f', 0, 64)
	}
	return append(cells, quantile(t.Latency, t.Latency.P50), quantile(t.Recovery, t.Recovery.P50),
		strconv.Itoa(t.Alarms), strconv.Itoa(t.Late), strconv.Itoa(t.Lost), strconv.Itoa(t.Dropped), strconv.Itoa(t.Policed), strconv.Itoa(t.Again),
		goodput, of(t.Touched, t.Innocents), lostOf(t.Robbed, t.RobbedOf), lostShare(t.Robbed, t.RobbedOf), wholePercent(t.OfTreated), strconv.Itoa(t.Messages), strconv.Itoa(t.State))
}

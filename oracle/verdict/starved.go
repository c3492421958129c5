package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
)

// Starved is a lossless queue that had frames, was not paused, and did not send for longer than any
// weights would have it wait (dataplane.LongestWait): strict priorities always had frames.
type Starved struct {
	Node     string `json:"node"`
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	// For is the longest time that it waited, and Bound the longest for which that is no starving.
	For   unit.Time `json:"for_ns"`
	Bound unit.Time `json:"bound_ns"`
}

// StarvedAt are the queues of a switch that starved, by its configuration and what it counted.
func StarvedAt(c *config.Switch, w *observe.Switch) []Starved {
	return longWaits(c, w, func(p *observe.Port) [unit.Priorities]unit.Time { return p.Starved })
}

// StarvingAt are the queues that starve at the instant of w, with how long they have waited.
func StarvingAt(c *config.Switch, w *observe.Switch) []Starved {
	return longWaits(c, w, func(p *observe.Port) [unit.Priorities]unit.Time { return p.Waiting })
}

// longWaits are the lossless queues of a switch whose waits, by port and priority, are starving.
func longWaits(c *config.Switch, w *observe.Switch, waits func(*observe.Port) [unit.Priorities]unit.Time) (starved []Starved) {
	for i := range w.Ports[:min(len(w.Ports), len(c.Ports))] {
		bound := dataplane.LongestWait(c.Ports[i].Rate, config.MaxFrame(c.MTU)+ether.VLANLen)
		waited := waits(&w.Ports[i])
		for _, priority := range w.Lossless {
			if waited[priority] > bound {
				starved = append(starved, Starved{w.Name, w.Ports[i].Name, priority, waited[priority], bound})
			}
		}
	}
	return starved
}

// countStarved lists the queues that starved, the longest first.
func (v *Verdict) countStarved(p *scenario.Plan, switches []observe.Switch) {
	v.Starved = nil
	for i := range switches {
		k := slices.IndexFunc(p.Switches, func(c config.Switch) bool { return c.Name == switches[i].Name })
		if k >= 0 {
			v.Starved = append(v.Starved, StarvedAt(&p.Switches[k], &switches[i])...)
		}
	}
	slices.SortStableFunc(v.Starved, func(a, b Starved) int { return cmp.Compare(b.For, a.For) })
}

// checkStarved holds what starved against the expectation.
func (v *Verdict) checkStarved(want *bool, miss func(string, ...any)) {
	switch expected := want != nil && *want; {
	case expected && len(v.Starved) == 0:
		miss("starved: none, expected at least one lossless queue")
	case !expected && len(v.Starved) > 0:
		miss("starved: %s, while strict ones sent", v.starvedText())
	}
}

// String is where and for how long: "priority 3 at s1 to-s2 for 812.000 ms".
func (s Starved) String() string {
	return fmt.Sprintf("priority %d at %s %s for %s ms", s.Priority, s.Node, s.Port, ms(s.For))
}

// starvedText names the queues that starved.
func (v *Verdict) starvedText() string {
	text := strings.Join(lists.Map(v.Starved[:min(len(v.Starved), tableStarved)], Starved.String), ", ")
	if more := len(v.Starved) - tableStarved; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// tableStarved is how many queues that starved the table names. Chosen: as tableRefusals.
const tableStarved = 5

func (v *Verdict) writeStarved(t *table) {
	if len(v.Starved) > 0 {
		t.wrap("starved     ", v.starvedText()+fmt.Sprintf("; no weights make one wait for more than %s ms; no deadlock", ms(v.Starved[0].Bound)))
	}
}

package cause

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
)

// Innocents are the flows that had no part in a deadlock: lossless flows that are not in
// the smallest set of hosts and flows without which it does not form, and go to no host of
// that set. Of several such sets it is the one that does least harm.
type Innocents struct {
	Cause  Treatment // that set
	Single bool      // it is one host or flow
	Flows  []bool    // by flow of the scenario: it is innocent
	// Goodput is what they get together if Cause is treated from the start, in bits per
	// second over the whole run.
	Goodput float64
}

// Innocents finds them; nil if not even all hosts and flows prevent the deadlock.
func (c *Case) Innocents(each Each) (*Innocents, error) {
	singles, err := c.TryAll(each, "hosts and flows", c.Singles())
	if err != nil {
		return nil, err
	}
	sets, err := c.Smallest(each, singles)
	if err != nil || sets.LeastHarm < 0 {
		return nil, err
	}
	set := sets.Sets[sets.LeastHarm]
	n := &Innocents{Cause: set.Treatment, Single: sets.Single, Flows: make([]bool, len(c.Scenario.Flows))}
	for i, f := range c.Scenario.Flows {
		to := c.Scenario.Fabric.Nodes[f.To].Name
		n.Flows[i] = c.lossless(f) && !slices.Contains(set.Flows, f.Name) && !slices.Contains(set.Hosts, to)
		if n.Flows[i] {
			n.Goodput += float64(set.Goodput[i])
		}
	}
	return n, nil
}

// Share is what innocents got in a run of the scenario, of its flows in their order, as a
// share of Goodput: of what they get had the cause never been. It may be above 1. ok is
// false if they get nothing then.
func (n *Innocents) Share(flows []verdict.FlowResult) (share float64, ok bool) {
	if n.Goodput == 0 {
		return 0, false
	}
	got := 0.0
	for i := range flows {
		if n.Flows[i] {
			rates := flows[i].OverTime
			got += float64(lists.Sum(rates, func(r int64) int64 { return r })) / float64(len(rates))
		}
	}
	return got / n.Goodput, true
}

package cause

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/scenario"
	"softswitch/unit"
)

// Report is what caused the first deadlock of a scenario.
type Report struct {
	Scenario string    `json:"scenario"`
	Seed     uint64    `json:"seed"`
	Duration unit.Time `json:"duration_ns"`
	Flows    []string  `json:"flows"` // of the scenario, in the order of every goodput_bps
	Deadlock *Deadlock `json:"first_deadlock"`
	// Untreated is the run as it is.
	Untreated  Effect      `json:"untreated"`
	Chronology *Chronology `json:"chronology"`
	// Candidates are every host that misbehaves, every lossless flow and every turn that
	// holds the deadlock. Other hosts are none: there is nothing to treat.
	Candidates []Candidate `json:"candidates"`
	OfLoop     OfLoop      `json:"of_loop"`
	Smallest   Smallest    `json:"smallest"`
}

// OfLoop is how much of what the oracle knows of the loop, without trying anything, is causal
// alone, and how many of the other flows. Where all of the loop is, to be causal tells one of it from
// those elsewhere, and not from another one of it.
type OfLoop struct {
	Hosts  Count `json:"causal_hosts"` // that had paused, whether there is something to treat or not
	Flows  Count `json:"causal_flows"` // with frames in it
	Turns  Count `json:"causal_turns"` // that hold it and can be treated
	Others Count `json:"causal_other_flows"`
}

// Count is how many of all are causal.
type Count struct {
	Causal int `json:"n"`
	Of     int `json:"of"`
}

func (c *Count) add(causal bool) {
	c.Of++
	if causal {
		c.Causal++
	}
}

// ofLoop counts trials of single hosts, flows and turns.
func (c *Case) ofLoop(trials []Trial) (o OfLoop) {
	o.Hosts.Of = len(c.Paused)
	for _, t := range trials {
		switch {
		case len(t.Turns) > 0:
			o.Turns.add(t.Causal)
		case len(t.Flows) > 0 && slices.Contains(c.Deadlock.Flows, t.Flows[0]):
			o.Flows.add(t.Causal)
		case len(t.Flows) > 0:
			o.Others.add(t.Causal)
		case slices.Contains(c.Paused, t.Hosts[0]) && t.Causal:
			o.Hosts.Causal++
		}
	}
	return o
}

// Candidate is a host, a flow or a turn, what handling it does, and what handling
// another one, drawn at random, does.
type Candidate struct {
	Trial
	// Control is nil if there is no other.
	Control *Trial `json:"control"`
}

// Explain tries every candidate and its control, and finds the smallest sets.
func (c *Case) Explain(each Each) (*Report, error) {
	singles, err := c.TryAll(each, "hosts and flows", c.Singles())
	if err != nil {
		return nil, err
	}
	turns := lists.Map(c.Deadlock.Turns, func(t Turn) Treatment { return Treatment{Turns: []Turn{t}} })
	treatedTurns, err := c.TryAll(each, "turns", lists.Where(turns, c.canTreat))
	if err != nil {
		return nil, err
	}
	candidates := slices.Concat(singles, treatedTurns)
	r := &Report{
		Scenario: c.Scenario.Name, Seed: c.Seed, Duration: c.Scenario.Duration,
		Deadlock: c.Deadlock, Untreated: c.Untreated, Chronology: c.Chronology,
		OfLoop: c.ofLoop(candidates), Flows: lists.Map(c.Scenario.Flows, func(f scenario.Flow) string { return f.Name }),
	}
	if r.Candidates, err = c.controlled(each, candidates); err != nil {
		return nil, err
	}
	r.Smallest, err = c.Smallest(each, singles)
	return r, err
}

// canTreat reports whether the plan allows a treatment.
func (c *Case) canTreat(t Treatment) bool {
	_, err := Apply(c.Scenario, t)
	return err == nil
}

// controlled puts a control beside each trial. One that was tried is not tried again.
func (c *Case) controlled(each Each, trials []Trial) ([]Candidate, error) {
	known := map[string]*Trial{}
	note := func(tried []Trial) {
		for i := range tried {
			known[tried[i].Treatment.String()] = &tried[i]
		}
	}
	note(trials)
	controls := make([]Treatment, len(trials))
	var unknown []Treatment
	for i, t := range trials {
		control, ok := c.Control(t.Treatment, stat.Mix(c.Seed+uint64(i)))
		if !ok {
			continue
		}
		controls[i] = control
		if _, tried := known[control.String()]; !tried {
			known[control.String()] = nil
			unknown = append(unknown, control)
		}
	}
	tried, err := c.TryAll(each, "controls", unknown)
	if err != nil {
		return nil, err
	}
	note(tried)
	all := make([]Candidate, len(trials))
	for i, t := range trials {
		all[i].Trial = t
		if controls[i].Size() > 0 {
			all[i].Control = known[controls[i].String()]
		}
	}
	return all, nil
}

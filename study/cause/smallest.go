package cause

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/scenario"
)

// Trial is a treatment and its effect.
type Trial struct {
	Treatment
	Effect
}

// Smallest are the smallest sets of hosts and flows that are causal: if a set is treated
// from the start, the deadlock does not form.
type Smallest struct {
	// Sets are of one size. There is none if not even all hosts and flows prevent it.
	Sets []Trial `json:"sets"`
	// LeastHarm is the index of the set that leaves most goodput, of several the first;
	// -1 if there is none.
	LeastHarm int `json:"least_harm"`
	// Single: one host or flow alone prevents it.
	Single bool `json:"single"`
	// Proven: no smaller set prevents it, because all were tried.
	Proven bool `json:"proven"`
	// All: there is no other set of this size. Else Sets holds one set from which nothing
	// can be left out, which was found by leaving out.
	All bool `json:"all"`
}

// Each calls do for 0 to n-1, in any order and perhaps several at a time, and returns
// its first error. what names the work.
type Each func(what string, n int, do func(i int) error) error

// InTurn is an Each of one at a time.
func InTurn(_ string, n int, do func(i int) error) error {
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// TryAll tries treatments, each once.
func (c *Case) TryAll(each Each, what string, all []Treatment) ([]Trial, error) {
	trials := make([]Trial, len(all))
	err := each(what, len(all), func(i int) error {
		e, err := c.Try(all[i])
		trials[i] = Trial{all[i], e}
		return err
	})
	return trials, err
}

// Singles are the treatments of each host that misbehaves, and of each lossless flow.
func (c *Case) Singles() (all []Treatment) {
	return append(c.misbehaving(), lists.Map(c.losslessFlows(), func(f string) Treatment { return Treatment{Flows: []string{f}} })...)
}

func (c *Case) misbehaving() (all []Treatment) {
	for i, n := range c.Scenario.Fabric.Nodes {
		if i >= c.Scenario.Fabric.Switches() && c.Scenario.Misbehaves(i) {
			all = append(all, Treatment{Hosts: []string{n.Name}})
		}
	}
	return all
}

// losslessFlows are the names of those of the scenario's flows.
func (c *Case) losslessFlows() []string {
	return lists.Map(lists.Where(c.Scenario.Flows, c.lossless), func(f scenario.Flow) string { return f.Name })
}

func (c *Case) lossless(f scenario.Flow) bool {
	return slices.Contains(c.Scenario.Lossless(), int(f.Priority))
}

// pairEvents is how many events of the simulator trying all pairs may take, so that it
// takes seconds: the number of pairs times the events of the untreated run.
const pairEvents = 50_000_000

// Smallest finds the smallest causal sets. singles are the trials of Singles. Without a
// single one it tries all pairs, if that does not take too long; else it looks for a set
// that is known to prevent the deadlock (the hosts that misbehave, the flows that wait in
// the loop, both, or everything), and leaves out of it what can be left out.
func (c *Case) Smallest(each Each, singles []Trial) (Smallest, error) {
	if one := causal(singles); len(one) > 0 {
		return smallest(one, true, true), nil
	}
	tried := 1 // the size of which all sets were tried
	if two := pairs(singles); uint64(len(two))*c.events <= pairEvents {
		trials, err := c.TryAll(each, "pairs", two)
		if err != nil {
			return Smallest{}, err
		}
		if some := causal(trials); len(some) > 0 {
			return smallest(some, true, true), nil
		}
		tried = 2
	}
	set, err := c.reduced(each, singles)
	if err != nil || set == nil {
		return Smallest{LeastHarm: -1}, err
	}
	return smallest([]Trial{*set}, set.Size() == tried+1, false), nil
}

// Least is a causal set from which nothing can be left out: the single one that leaves most goodput,
// or, if there is none, the one that Smallest finds by leaving out. It is nil if not even all hosts
// and flows prevent the deadlock.
func (c *Case) Least(each Each, singles []Trial) (*Trial, error) {
	if one := causal(singles); len(one) > 0 {
		return &one[smallest(one, true, true).LeastHarm], nil
	}
	return c.reduced(each, singles)
}

func causal(all []Trial) (some []Trial) {
	return lists.Where(all, func(t Trial) bool { return t.Causal })
}

func smallest(sets []Trial, proven, all bool) Smallest {
	best := 0
	for i := range sets {
		if sets[i].Total > sets[best].Total {
			best = i
		}
	}
	return Smallest{Sets: sets, LeastHarm: best, Single: sets[0].Size() == 1, Proven: proven, All: all}
}

func pairs(singles []Trial) (all []Treatment) {
	for i, a := range singles {
		for _, b := range singles[:i] {
			all = append(all, Join(b.Treatment, a.Treatment))
		}
	}
	return all
}

// Join is the treatment of all that the given ones treat.
func Join(all ...Treatment) (t Treatment) {
	for _, one := range all {
		t.Hosts = append(t.Hosts, one.Hosts...)
		t.Flows = append(t.Flows, one.Flows...)
		t.Turns = append(t.Turns, one.Turns...)
	}
	return t
}

// reduced is a causal set from which nothing can be left out, nil if there is none.
func (c *Case) reduced(each Each, singles []Trial) (*Trial, error) {
	var hosts, inLoop, everything []Treatment
	for _, t := range singles {
		everything = append(everything, t.Treatment)
		switch {
		case len(t.Hosts) > 0:
			hosts = append(hosts, t.Treatment)
		case slices.Contains(c.Deadlock.Flows, t.Flows[0]):
			inLoop = append(inLoop, t.Treatment)
		}
	}
	starts := [][]Treatment{hosts, inLoop, slices.Concat(hosts, inLoop), everything}
	tried, err := c.TryAll(each, "sets", lists.Map(starts, func(s []Treatment) Treatment { return Join(s...) }))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(tried, func(t Trial) bool { return t.Causal })
	if at < 0 {
		return nil, nil
	}
	parts, best := starts[at], tried[at]
	for i := 0; i < len(parts); {
		less := slices.Delete(slices.Clone(parts), i, i+1)
		t, err := c.TryAll(each, "smaller sets", []Treatment{Join(less...)})
		if err != nil {
			return nil, err
		}
		if t[0].Causal {
			parts, best = less, t[0]
		} else {
			i++
		}
	}
	return &best, nil
}

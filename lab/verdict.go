package lab

import (
	"cmp"
	"slices"

	"softswitch/event"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// lateMax is how long after the end of a deadlock a declaration is late rather than
// false: 32 hops of a hundred microseconds.
const lateMax = 32 * 100 * unit.Microsecond

// Verdict judges the run: deadlocks by the logs of all switches, flows by the hosts'
// counters, and the scenario's expectation by both.
func (r *Run) Verdict() (*verdict.Verdict, error) {
	f, err := verdict.Fabric(r.Plan.Fabric, verdict.Buffers(r.Plan))
	if err != nil {
		return nil, err
	}
	truth, start, err := r.judge(f)
	if err != nil {
		return nil, err
	}
	var switches []observe.Switch
	var hosts []observe.Host
	for _, n := range r.Nodes {
		switch {
		case n.Switch != nil:
			switches = append(switches, *n.Switch)
		case n.Host != nil:
			hosts = append(hosts, *n.Host)
		}
	}
	v := verdict.Of(verdict.Run{
		Plan: r.Plan, World: "live", Seed: r.Plan.Seed, Truth: truth, Start: start, Ends: r.ends(), Switches: switches, Hosts: hosts, Cores: r.Cores, Headroom: r.headroom(switches), PerProcess: r.PerProcess, Polled: r.Polled, Doubts: r.Invalid,
	})
	if i := slices.IndexFunc(switches, func(s observe.Switch) bool { return s.Response != "" && s.Response != cmp.Or(v.Response, "none") }); i >= 0 {
		v.Response += ", then " + switches[i].Response // changed by hand in the run
	}
	return v, nil
}

// judge holds the logs against the truth. Times of the result are by one of the nodes' clocks,
// start by the same.
func (r *Run) judge(f *oracle.Fabric) (truth *oracle.Result, start unit.Time, err error) {
	if r.truth != nil {
		return r.truth, r.Nodes[0].Start, nil
	}
	logs := make([]event.Log, len(r.Nodes))
	// Logs are not cut off: by its own clock one may end before the others do, and what it
	// says of waiting after that is wanted until all have.
	c := oracle.Clocks{By: make([]int, len(r.Nodes)), Ends: make([]unit.Time, len(r.Nodes))}
	number := map[string]int{}
	for i, n := range r.Nodes {
		if _, known := number[n.Clock]; !known {
			number[n.Clock] = len(number)
		}
		logs[i], c.By[i], c.Ends[i] = n.Log, number[n.Clock], n.End
	}
	c.Reference = oracle.Reference(f, logs, c.By)
	start = r.Nodes[slices.Index(c.By, c.Reference)].Start
	truth, err = oracle.JudgeClocks(f, logs, c, start+r.End-r.Start, lateMax)
	return truth, start, err
}

// severalClocks reports whether the nodes use more than one clock.
func (r *Run) severalClocks() bool {
	return slices.ContainsFunc(r.Nodes, func(n Record) bool { return n.Clock != r.Nodes[0].Clock })
}

// ends are the scenario's end by the clocks of the nodes, nil if they have one clock.
func (r *Run) ends() map[string]unit.Time {
	if !r.severalClocks() {
		return nil
	}
	ends := map[string]unit.Time{}
	for _, n := range r.Nodes {
		ends[n.Name] = n.End
	}
	return ends
}

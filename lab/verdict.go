package lab

import (
	"cmp"
	"slices"

	"softswitch/event"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
	"softswitch/view/observe"
)

// lateMax is how long after the end of a deadlock a declaration is late rather than
// false: 32 hops of a hundred microseconds.
const lateMax = 32 * 100 * unit.Microsecond

// Verdict judges the run: deadlocks by the logs of all switches, flows by the hosts'
// counters, and the scenario's expectation by both.
func (r *Run) Verdict() (*verdict.Verdict, error) {
	f, err := verdict.Fabric(r.Plan.Fabric)
	if err != nil {
		return nil, err
	}
	logs := make([]event.Log, len(r.Nodes))
	for i, n := range r.Nodes {
		logs[i] = before(n.Log, r.End)
	}
	truth, err := oracle.Judge(f, logs, r.End, lateMax)
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
	return verdict.Of(verdict.Run{
		Plan: r.Plan, World: "live", Truth: truth, Start: r.Start, Switches: switches, Hosts: hosts, Cores: r.Cores, Doubts: r.Invalid,
	}), nil
}

// before returns a log without events after end: nodes are asked for their logs one
// after the other, so only some logs cover that time.
func before(l event.Log, end unit.Time) event.Log {
	n, _ := slices.BinarySearchFunc(l.Events, end+1, func(e event.Event, t unit.Time) int { return cmp.Compare(e.At, t) })
	l.Events = l.Events[:n]
	return l
}

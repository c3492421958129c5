package verdict

import (
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/unit"
)

// Run is a scenario that was played, and the data its world collected.
type Run struct {
	Plan  *scenario.Plan
	World string // "live" or "sim"
	Seed  uint64
	// Truth is the oracle's result; Start is the scenario's start on the oracle's
	// clock.
	Truth *oracle.Result
	Start unit.Time
	// Ends are the scenario's end by the clocks of hosts, by name, of those that do not use
	// the oracle's.
	Ends map[string]unit.Time
	// Switches and Hosts are those that answered, as of the end.
	Switches []observe.Switch
	Hosts    []observe.Host
	Cores    float64
	Headroom *Headroom
	// PerProcess is how many nodes the process with the most ran; 0 in a simulation.
	PerProcess int
	Polled     bool // such processes poll
	// Doubts are reasons not to trust the run.
	Doubts []string
}

// Of is the verdict of a run. It is not valid if the run has Doubts, or if its figures
// contradict each other. The order matters: count needs the actions that judge lists, the completion of
// flows needs the flows, what is expected needs all figures, and audit goes through the lot.
func Of(r Run) *Verdict {
	s := r.Plan.Scenario
	v := &Verdict{
		Scenario: s.Name, World: r.World, Detector: s.Detector, Response: s.Response, Seed: r.Seed, Version: Version, Duration: s.Duration,
		Warnings: r.Plan.Warnings, Cores: r.Cores, Headroom: r.Headroom,
	}
	for _, d := range r.Plan.Drawings {
		v.Drawn = append(v.Drawn, Drawn(d))
	}
	if r.PerProcess > 1 {
		v.NodesPerProcess, v.Polled = r.PerProcess, r.Polled
	}
	for _, e := range r.Plan.Events {
		if e.Do == scenario.Kill {
			v.Killed = append(v.Killed, s.Fabric.Nodes[e.Node].Name)
		}
	}
	v.judge(r.Plan, r.Truth, r.Start)
	v.count(r.Plan, r.Switches, r.Hosts)
	v.countAuth(r.Switches)
	v.countStarved(r.Plan, r.Switches)
	v.countDCBX(r.Switches, r.Hosts)
	end := func(host string) unit.Time {
		if end, other := r.Ends[host]; other {
			return end
		}
		return r.Start + s.Duration
	}
	v.countHosts(r.Plan, r.Hosts, end)
	v.countCompletion(r.Hosts, end)
	v.check(s.Wanted())
	v.Invalid = strings.Join(slices.Concat(r.Doubts, v.audit(&r)), "; ")
	return v
}

// judge fills in the oracle's part: the deadlock, the detections, recovery, PFC frames
// and the time line. start is the scenario's start on the oracle's clock: it is taken off points of time, and
// never off spans.
func (v *Verdict) judge(p *scenario.Plan, r *oracle.Result, start unit.Time) {
	v.PFC = PFCFrames(r.Frames)
	v.Detections = lists.Map(r.Findings, func(f oracle.Finding) Detection {
		d := detection(r, f, start)
		d.Causes = causes(p, r, f)
		return d
	})
	v.FalsePositives, v.Premature, v.Late = r.Count(oracle.FalsePositive), r.Count(oracle.Premature), r.Count(oracle.Late)
	v.FalseNegatives = len(r.Missed())
	v.Undecided, v.UndecidedDeadlocks, v.Clocks = r.Count(oracle.Undecided), len(r.Undecided), nil
	if k := r.Clocks; k != nil {
		v.Clocks = &Clocks{Count: k.Count, Typical: orUnbounded(k.Typical), Worst: k.Worst, Unbounded: k.Unbounded}
	}
	v.judgeActions(r, start)
	v.Timeline = lists.Map(r.Timeline, func(m oracle.Moment) Moment { return Moment{m.At - start, m.What} })
	v.Openings, v.LongestOpening = len(r.Openings), 0
	for _, in := range r.Openings {
		v.LongestOpening = max(v.LongestOpening, in.To-in.From)
	}
	v.Deadlock = len(r.Intervals) > 0
	v.Onset, v.Recovered, v.Recovery, v.Quiet, v.Recurrences, v.RecoveryUndecided = 0, false, 0, 0, 0, false
	if !v.Deadlock {
		return
	}
	first, last := r.Intervals[0], r.Intervals[len(r.Intervals)-1]
	v.Onset = first.From - start
	v.Recurrences = len(r.Intervals) - 1
	v.RecoveryUndecided = r.EndUndecided
	if v.Recovered = !last.Open && !v.RecoveryUndecided; v.Recovered {
		v.Recovery, v.Quiet = last.To-first.From, r.End-last.To
	}
}

// judgeActions lists what systems did and could not do. An action has the priority of its queue, or of its
// priority group if it is about no queue; the node is the same for both.
func (v *Verdict) judgeActions(r *oracle.Result, start unit.Time) {
	port := func(p unit.NodePort) string {
		if p.Port == unit.NoPort {
			return ""
		}
		return r.Fabric.Port(p)
	}
	v.Actions = nil
	for _, m := range r.Actions {
		priority := m.Queue.Priority
		if m.Queue.Port == unit.NoPort {
			priority = m.PG.Priority
		}
		v.Actions = append(v.Actions, Action{m.At - start, r.Fabric.Name(m.PG.Node), m.Action.String(), port(m.PG.NodePort), port(m.Queue.NodePort), int(priority), m.Amount, uint32(m.Flow), m.Action.Why(), m.Action.Until()})
	}
	v.Refusals = lists.Map(r.Refusals, func(f oracle.Refused) Refusal {
		return Refusal{f.At - start, r.Fabric.Name(f.PG.Node), f.Why.String()}
	})
}

// orUnbounded is a time that may have no bound.
func orUnbounded(t unit.Time) unit.Time {
	if t == unit.Never {
		return Unbounded
	}
	return t
}

// detection is a finding by names. With several clocks its time and latency are ranges, and the lower
// bound of its time may be before the start of the run.
func detection(r *oracle.Result, f oracle.Finding, start unit.Time) Detection {
	d := Detection{
		At: f.At - start, Latency: f.Latency,
		Switch: r.Fabric.Name(f.Queue.Node), Port: r.Fabric.Port(f.Queue.NodePort), Priority: int(f.Queue.Priority),
		Loop:    r.Fabric.LinkNames(f.Loop),
		Trigger: FoundTrigger(r.Trigger(f)), TruePositive: f.Outcome == oracle.TruePositive, Judged: f.Outcome.String(),
	}
	if r.Clocks != nil {
		d.At, d.AtMost = max(0, f.At-start), max(0, f.AtMost-start) // a run declares nothing before it starts
		if f.Outcome == oracle.TruePositive {
			d.LatencyMost = orUnbounded(f.LatencyMost)
		}
	}
	return d
}

// causes are the causes that were named after finding f, by names. The detector names flows by the hash of
// their headers, all that a switch sees of them; flows of equal hash are all named.
func causes(p *scenario.Plan, r *oracle.Result, f oracle.Finding) (found []FoundCause) {
	d := r.Diagnosis(f)
	if d == nil {
		return nil
	}
	for _, c := range d.Causes {
		at := r.Trigger(oracle.Finding{Trigger: c.At, OnLoop: c.OnLoop})
		one := FoundCause{Type: c.Type.String(), Node: at.Node, Port: at.Port, OnLoop: c.OnLoop, Together: c.Together, Confidence: int(c.Confidence)}
		if c.In != unit.NoPort {
			one.In = r.Fabric.Port(unit.NodePort{Node: c.At.Node, Port: c.In})
		}
		for _, flow := range c.Flows {
			for i := range p.Scenario.Flows {
				if flow != 0 && detect.FlowID(p.Hash(i)) == flow {
					one.Flows = append(one.Flows, p.Scenario.Flows[i].Name)
				}
			}
		}
		found = append(found, one)
	}
	return found
}

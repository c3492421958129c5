package verdict

import (
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/host"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/unit"
)

// honestRun is a run of 2 s whose ring locks twice, is opened once by a drop and once by
// itself, with two declarations, one of them premature; and its verdict.
func honestRun(t *testing.T) (*Run, *Verdict) {
	t.Helper()
	const ms, start = unit.Millisecond, unit.Second
	s, err := scenario.Parse("honest.yaml", []byte(`
name: honest
topology: {fattree: {k: 4}, rate: 100Mbit/s}
duration: 2s
detector: itsy
flows:
  - {name: A, from: h0-0-0, to: h1-0-0, rate: line}
  - {name: B, from: h2-0-0, to: h3-0-0, rate: 10Mbit/s, start: 1s}
expect: {deadlock: true}
`), scenario.Known{Detectors: []string{"itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	run := &fatTreeRun{t, plan.Fabric, map[string]*event.Log{}}
	run.closeLoop(start + 100*ms)
	run.declare(start+100*ms+20*unit.Microsecond, 2, run.port("core0", "agg2-0"), true)
	run.declare(start+101*ms, 1, run.port("core0", "agg2-0"), true)
	in, out := run.port("agg0-0", "core1").Port, run.port("agg0-0", "core0").Port
	open := func(at unit.Time) {
		run.log(at, "agg0-0", event.Event{Type: event.Acted, Action: detect.ActionDrop, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: 5000})
		run.log(at, "agg0-0", event.Event{Type: event.Resumed, Out: out, OutPriority: 3})
	}
	open(start + 110*ms)
	run.log(start+200*ms, "agg0-0", event.Event{Type: event.Paused, Out: out, OutPriority: 3, HasPeriod: true, Period: 1})
	run.log(start+200*ms, "agg0-0", event.Event{Type: event.Held, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: 50000, Limit: 36864})
	open(start + 250*ms)
	received := host.Received{Number: 0, Frames: 9000, Bytes: 9000 * uint64(s.Flows[0].Frame), Lost: 5}
	received.Bins[0] = received.Bytes / 2
	r := &Run{
		Plan: plan, World: "sim", Truth: run.truth(start + 2*unit.Second), Start: start,
		Switches: []observe.Switch{{
			Name: "agg0-0", Flows: []observe.FlowDrops{{Flow: plan.Hash(0), Response: 5}},
			Ports: []observe.Port{{Drops: map[string]uint64{"response": 5}, ResponseBytes: 5000, Messages: [2]uint64{0, 3}, Queue: [unit.Priorities]observe.Queue{3: {Bytes: 1_000_000}}}},
		}},
		Hosts: []observe.Host{
			{Name: "h0-0-0", Sent: []host.Sent{{Number: 0, Frames: 10000}}},
			{Name: "h1-0-0", Received: []host.Received{received}},
			{Name: "h2-0-0", Sent: []host.Sent{{Number: 1, Frames: 600}}},
			{Name: "h3-0-0", Received: []host.Received{{Number: 1, Frames: 590, Bytes: 590 * uint64(s.Flows[1].Frame)}}},
		},
	}
	for i := range plan.Switches {
		if name := plan.Fabric.Nodes[i].Name; name != "agg0-0" {
			r.Switches = append(r.Switches, observe.Switch{Name: name})
		}
	}
	return r, Of(*r)
}

func TestHonestRunIsValid(t *testing.T) {
	_, v := honestRun(t)
	if v.Invalid != "" || v.ExitCode() != 0 {
		t.Errorf("invalid: %s; reasons %q", v.Invalid, v.Reasons)
	}
	if len(v.Detections) != 2 || v.Premature != 1 || v.Recurrences != 1 || !v.Recovered || v.ResponseDropped != 5 || v.Flows[0].InFlight != 995 {
		t.Errorf("the run is not what the canaries take it for: %+v", v)
	}
}

// TestRecoveryIsUndecided: what is possibly there at the end is not said to be gone, nor to be there.
func TestRecoveryIsUndecided(t *testing.T) {
	r, _ := honestRun(t)
	r.Truth.EndUndecided = true
	if v := Of(*r); v.Recovered || !v.RecoveryUndecided || v.Recovery != 0 || v.Quiet != 0 || v.Invalid != "" {
		t.Errorf("recovered %v, undecided %v, after %d and %d ns; not valid: %q", v.Recovered, v.RecoveryUndecided, v.Recovery, v.Quiet, v.Invalid)
	}
}

// TestShortTimeToBegin: a flow that may begin within less than other flows of its host may hold
// it up need not be sent; also a connection, which ends what it began after its stop.
func TestShortTimeToBegin(t *testing.T) {
	r, _ := honestRun(t)
	f := &r.Plan.Scenario.Flows[0]
	f.Stop, f.RC = f.Start+patience-1, &host.RC{}
	for i := range r.Hosts {
		r.Hosts[i].Counters = host.Counters{} // no pause held it
		for k := range r.Hosts[i].Sent {
			if r.Hosts[i].Sent[k].Number == 0 {
				r.Hosts[i].Sent[k].Frames = 0
			}
		}
		r.Hosts[i].Received = slices.DeleteFunc(r.Hosts[i].Received, func(r host.Received) bool { return r.Number == 0 })
	}
	if v := Of(*r); strings.Contains(v.Invalid, "sent nothing") {
		t.Error(v.Invalid)
	}
	f.Stop++
	if v := Of(*r); !strings.Contains(v.Invalid, "flow A sent nothing in 20.000 ms") {
		t.Errorf("a flow that was never sent: %q", v.Invalid)
	}
}

// Each canary breaks one figure of an honest verdict, which the rule of that name notices.
func TestCanaries(t *testing.T) {
	const ms = unit.Millisecond
	canaries := []struct {
		rule  string
		broke string // what is said
		edit  func(*Run, *Verdict)
	}{
		{"flows add up", "flow A: sent 9000, received 9001, lost 5, in flight -6", func(_ *Run, v *Verdict) {
			f := &v.Flows[0]
			f.Sent, f.Received, f.InFlight = 9000, 9001, -6
		}},
		{"flows add up", "in flight 996", func(_ *Run, v *Verdict) { v.Flows[0].InFlight++ }},
		{"flows add up", "reordered 591 of 590", func(_ *Run, v *Verdict) { v.Flows[1].Reordered = 591 }},
		{"flows add up", "flow A: 6 dropped on purpose, of 5 lost", func(_ *Run, v *Verdict) { v.Flows[0].OverRate++ }},
		{"losses add up", "1 lossless frames lost, 0 by reason, 0 by node", func(_ *Run, v *Verdict) { v.LosslessLost++ }},
		{"losses add up", "1 lossless frames lost, 1 by reason, 0 by node", func(_ *Run, v *Verdict) {
			v.lose("", WireLoss, 1)
			v.LosslessLostAt = nil
		}},
		{"losses add up", "1 lossless frames found headroom full, 0 by priority group", func(_ *Run, v *Verdict) { v.lose("h1-0-0", "headroom_full", 1) }},
		{"losses add up", "agg0-0 lost 1 lossless frames: 0 by reason, 0 by priority, 0 by flow", func(r *Run, _ *Verdict) { r.Switches[0].LosslessLost++ }},
		{"losses add up", "h1-0-0 lost 0 lossless frames: 2 by reason, 0 by priority", func(r *Run, _ *Verdict) { r.Hosts[1].LostBy = map[string]uint64{"flows_full": 2} }},
		{"in flight fits the fabric", "bytes in flight, where queues and links hold", func(r *Run, _ *Verdict) { r.Switches[0].Ports[0].Queue[3].Bytes = 0 }},
		{"flows keep to their wires", "flow A: sent 30000 frames", func(_ *Run, v *Verdict) { v.Flows[0].Sent = 30000 }},
		{"flows keep to their wires", "flow B: sent 1300 frames", func(_ *Run, v *Verdict) { v.Flows[1].Sent = 1300 }},
		{"flows keep to their wires", "flow A: 213000000 bit/s", func(_ *Run, v *Verdict) { v.Flows[0].Throughput = 213_000_000 }},
		{"bins add up", "bytes over time, of", func(_ *Run, v *Verdict) { v.Flows[0].OverTime[7] = 1e9 * 8 }},
		{"bins add up", "received 590 frames at 0 bit/s", func(_ *Run, v *Verdict) { v.Flows[1].Throughput = 0 }},
		{"messages add up", "flow A: 999 of 1000 bytes acknowledged, completed after 1.000 ms", func(_ *Run, v *Verdict) {
			v.Flows[0].Messages = &MessageResult{Size: 1000, Bytes: 999, Completion: ms}
		}},
		{"messages add up", "flow A: 1001 of 1000 bytes", func(_ *Run, v *Verdict) { v.Flows[0].Messages = &MessageResult{Size: 1000, Bytes: 1001} }},
		{"flows are sent", "flow A sent nothing in 2000.000 ms", func(_ *Run, v *Verdict) { v.Flows[0].Sent = 0 }},
		{"receivers miss what was sent", "1011 lossless frames lost, where 1010", func(_ *Run, v *Verdict) { v.LosslessLost = 1011 }},
		{"declarations add up", "2 declarations, of which 1 true, 1 false, 1 premature, 0 late", func(_ *Run, v *Verdict) { v.FalsePositives = 1 }},
		{"declarations add up", "0 declarations judged late, counted 1", func(_ *Run, v *Verdict) { v.Premature, v.Late = 0, 1 }},
		{"declarations add up", `true true, and judged "false"`, func(_ *Run, v *Verdict) { v.Detections[1].Judged = "false" }},
		{"declarations add up", "7 deadlocks missed of", func(_ *Run, v *Verdict) { v.FalseNegatives = 7 }},
		{"declarations are in time", "after the end at 2000.000 ms", func(_ *Run, v *Verdict) { v.Detections[0].At = 2001 * ms }},
		{"declarations are in time", "-0.001 ms after an onset", func(_ *Run, v *Verdict) { v.Detections[1].Latency = -unit.Microsecond }},
		{"declarations are in time", "the first was at 100.030 ms", func(_ *Run, v *Verdict) { v.Detections[1].At = 100 * ms }},
		{"declarations are in time", "what is not true 1.000 ms after its onset", func(_ *Run, v *Verdict) { v.Detections[0].Latency = ms }},
		{"declarations are in time", "there is no loop", func(_ *Run, v *Verdict) { v.Detections[1].Loop = nil }},
		{"declarations need a detector", "2 declarations and 3 control messages without a detector", func(_ *Run, v *Verdict) { v.Detector = "none" }},
		{"intervals are in order", "begins before the last one ends", func(r *Run, _ *Verdict) { r.Truth.Intervals[1].From = r.Truth.Intervals[0].To - 1 }},
		{"intervals are in order", "lasts, and yet another follows", func(r *Run, _ *Verdict) { r.Truth.Intervals[0].Open = true }},
		{"intervals are in order", "in a run until 2000.000 ms", func(r *Run, _ *Verdict) { r.Truth.Intervals[1].To = r.Truth.End + 1 }},
		{"the deadlock is that of the intervals", "2 recurrences, by 2 times of one", func(_ *Run, v *Verdict) { v.Recurrences = 2 }},
		{"the deadlock is that of the intervals", "deadlock no", func(_ *Run, v *Verdict) { v.Deadlock = false }},
		{"the deadlock is that of the intervals", "onset at 100.031 ms", func(_ *Run, v *Verdict) { v.Onset += unit.Microsecond }},
		{"the deadlock is that of the intervals", "1749.999 ms of quiet", func(_ *Run, v *Verdict) { v.Quiet -= unit.Microsecond }},
		{"the deadlock is that of the intervals", "no deadlock, and yet", func(r *Run, v *Verdict) { r.Truth.Intervals, v.Deadlock, v.Recurrences = nil, false, 0 }},
		{"the end is that of the log", "a deadlock at the end: yes, and by the log: no", func(_ *Run, v *Verdict) { v.Recovered = false }},
		{"the end is that of the log", "a deadlock at the end: no, and by the log: yes", func(r *Run, _ *Verdict) {
			// The logs go on after the run, and the ring locks again.
			r.Truth.History.Settle(r.Truth.End+1, r.Truth.History.At(r.Truth.Intervals[0].From))
			r.Truth.End++
		}},
		{"the end is that of the log", "the logs end at 1999.000 ms", func(r *Run, _ *Verdict) { r.Truth.End -= ms }},
		{"the time line is in order", "2000.001 ms follows", func(_ *Run, v *Verdict) { v.Timeline[len(v.Timeline)-1].At = 2*unit.Second + unit.Microsecond }},
		{"the time line is in order", "follows 110.000 ms", func(_ *Run, v *Verdict) { v.Timeline[0].At = 110 * ms }},
		{"the time line tells of each deadlock", "1 deadlocks begin and 2 end", func(r *Run, _ *Verdict) { forget(r.Truth, oracle.DeadlockBegins) }},
		{"the time line tells of each deadlock", "2 deadlocks begin and 1 end", func(r *Run, _ *Verdict) { forget(r.Truth, oracle.DeadlockEnds) }},
		{"the time line tells of each deadlock", "moments, of", func(_ *Run, v *Verdict) { v.Timeline = v.Timeline[1:] }},
		{"what is dropped on purpose was an action", "5 frames dropped to break a deadlock, and no action", func(_ *Run, v *Verdict) { v.Actions = nil }},
		{"what is dropped on purpose was an action", "9 frames policed, and no action", func(_ *Run, v *Verdict) { v.Actions, v.Policed = nil, 9 }},
		{"what is dropped on purpose was an action", "5 frames of 10 bytes", func(_ *Run, v *Verdict) { v.ResponseDroppedBytes = 10 }},
		{"what is dropped on purpose was an action", "flow A is policed and innocent", func(_ *Run, v *Verdict) { v.Flows[0].Policed = true }},
		{"what is dropped on purpose was an action", "drop at 3000.000 ms, after the end", func(_ *Run, v *Verdict) { v.Actions[0].At = 3 * unit.Second }},
		{"pauses add up", "7 refreshes of no XOFF", func(_ *Run, v *Verdict) { v.PFC = PFCFrames{Refresh: 7} }},
		{"nothing is below zero", "a count of -1", func(_ *Run, v *Verdict) { v.IncompleteARP = -1 }},
		{"nothing is below zero", "a count of -2", func(_ *Run, v *Verdict) { v.Flows[1].Final = -2 }},
	}
	sung := map[string]bool{}
	for _, c := range canaries {
		r, v := honestRun(t)
		c.edit(r, v)
		a := auditor{v: v, r: r}
		for _, rule := range rules {
			if rule.name == c.rule {
				rule.check(&a)
				sung[rule.name] = true
			}
		}
		if all := strings.Join(a.broken, "\n"); !strings.Contains(all, c.broke) {
			t.Errorf("%s: %q is not said:\n%s", c.rule, c.broke, all)
		}
	}
	for _, rule := range rules {
		if !sung[rule.name] {
			t.Errorf("rule %q has no canary", rule.name)
		}
	}
}

// forget takes the first moment of a kind from the time line.
func forget(r *oracle.Result, kind oracle.MomentKind) {
	i := slices.IndexFunc(r.Timeline, func(m oracle.Moment) bool { return m.Kind == kind })
	r.Timeline = slices.Delete(slices.Clone(r.Timeline), i, i+1)
}

// TestNodeNamedDeadlock: a switch may be called as moments of the time line begin.
func TestNodeNamedDeadlock(t *testing.T) {
	for _, name := range []string{"deadlock", "deadlock1", "this deadlock is over"} {
		r, _ := honestRun(t)
		r.Truth.Timeline = append(r.Truth.Timeline, oracle.Moment{At: r.Truth.End, What: name + ": drop 5000 bytes"})
		if v := Of(*r); v.Invalid != "" {
			t.Errorf("a switch %q makes the run not valid: %s", name, v.Invalid)
		}
	}
}

// A contradiction makes a run not valid, beside what the world doubts.
func TestContradictionIsNotValid(t *testing.T) {
	r, _ := honestRun(t)
	r.Doubts = []string{"s1 was starved"}
	r.Hosts[0].Sent[0].Frames = 100
	v := Of(*r)
	if want := "s1 was starved; the figures contradict each other: flow A: sent 100, received 9000, lost 5, in flight -8905"; !strings.HasPrefix(v.Invalid, want) || v.ExitCode() != 1 {
		t.Errorf("invalid %q, exit status %d; want %q, 1", v.Invalid, v.ExitCode(), want)
	}
}

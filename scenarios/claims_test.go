package scenarios_test

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// claims are what single files say of themselves, of ITSY's text and of the publications
// that they are of.
var claims = []fileCheck{
	{
		// Hu et al., Fig. 3(c): L2 and L4 are paused all the time, L1 and L3 never.
		name: "two links are paused", of: []string{"hu-fig3/none"},
		fault: func(r *run) string {
			l := follow(r, "A>B", "B>C", "C>D", "D>A")
			return unless(l.count["A>B"] == 0 && l.count["C>D"] == 0 && l.count["B>C"] >= 500 && l.count["D>A"] >= 500,
				"L1, L2, L3, L4 are paused %d, %d, %d, %d times; want never, 500 or more, never, 500 or more", l.count["A>B"], l.count["B>C"], l.count["C>D"], l.count["D>A"])
		},
		spoil: []func(*run){silent, func(r *run) { r.pause("A>B") }, func(r *run) { r.pause("C>D") }},
	},
	{
		// Hu et al., Fig. 4: all four links are paused, and are kept so long after the flows
		// have stopped.
		name: "pauses outlive flows", of: []string{"hu-fig4/none"},
		fault: func(r *run) string {
			l, v, end := follow(r, "A>B", "B>C", "C>D", "D>A"), r.verdict, r.scenario.Duration
			if stop := r.scenario.Flows[0].Stop; !v.Deadlock || v.Recovered || stop == 0 || v.Onset >= stop {
				return fmt.Sprintf("deadlock %v at %d, recovered %v, flows stop at %d; want one before the stop that stays", v.Deadlock, v.Onset, v.Recovered, stop)
			}
			for _, name := range l.names {
				if !l.paused[name] || l.last[name] < end-unit.Millisecond {
					return fmt.Sprintf("%s: paused at the end %v, last pause at %d ns; want pauses until the end, %d", name, l.paused[name], l.last[name], end)
				}
			}
			return ""
		},
		spoil: []func(*run){silent, func(r *run) { r.verdict.Recovered = true }, func(r *run) { r.verdict.Onset = r.scenario.Duration }},
	},
	{
		// Hu et al., Fig. 5(b): at 2 Gbit/s all four links are paused often, and never all at
		// one time.
		name: "never together", of: []string{"hu-fig5-2g/none"},
		fault: func(r *run) string {
			l := follow(r, "A>B", "B>C", "C>D", "D>A")
			for _, name := range l.names {
				if l.count[name] < 500 {
					return fmt.Sprintf("%s was paused %d times, want 500 or more", name, l.count[name])
				}
			}
			return unless(l.all == 0, "all four were paused together %d times, want never", l.all)
		},
		spoil: []func(*run){silent, func(r *run) {
			for _, name := range []string{"A>B", "B>C", "C>D", "D>A"} {
				r.pause(name)
			}
		}},
	},
	{
		// ITSY, Fig. 3: S2 is the middle switch and declares, and S10 is the trigger.
		name: "S2 is the middle", of: []string{"itsy-fig3/itsypaper"},
		fault: func(r *run) string {
			d := r.verdict.Detections
			return unless(r.steps(detect.StepMiddle)["S2"] > 0 && len(d) > 0 && d[0].Switch == "S2", "middle switches %v, declared by %+v; want S2", r.steps(detect.StepMiddle), d)
		},
		spoil: []func(*run){silent, func(r *run) { r.verdict.Detections = nil }},
	},
	{
		// ITSY, Fig. 4: S7 gets one trigger's label on two ports and takes over, but no label
		// comes home.
		name: "S7 is the middle of no loop", of: []string{"itsy-fig4/itsypaper"},
		fault: func(r *run) string {
			d := r.verdict.Detections
			return unless(r.steps(detect.StepMiddle)["S7"] > 0 && len(r.steps(detect.StepLoop)) == 0 && len(d) == 0,
				"middle switches %v, loops %v, declared %v; want S7 in the middle, none, none", r.steps(detect.StepMiddle), r.steps(detect.StepLoop), d)
		},
		spoil: []func(*run){silent, func(r *run) { r.step("S7", detect.StepLoop) }, declaredBesides},
	},
	{
		// The declared priority group holds no more than XON in the declared queue.
		name: "declared on bytes up to XON", of: []string{"w2-partial-dependency/itsypaper"},
		fault: func(r *run) string {
			return unless(r.declaredOnLittle() > 0, "no deadlock was declared on bytes up to XON")
		},
		spoil: []func(*run){silent},
	},
	{
		name: "no label comes home", of: []string{"w3-crossing-frame/itsypaper", "w4-transient-trigger/itsypaper", "w6-late-edge/itsypaper", "w7-dropped-label/itsypaper"},
		fault: func(r *run) string {
			return unless(len(r.steps(detect.StepLoop)) == 0, "causality loops found at %v, want none", r.steps(detect.StepLoop))
		},
		spoil: []func(*run){func(r *run) { r.step("S1", detect.StepLoop) }},
	},
	{
		// Somewhere on the way of the label a port is resumed, paused again, and passes the
		// check of the same Seq.
		name: "a check passes a port that was resumed", of: []string{"w5-resumed-within-seq/itsypaper"},
		fault: func(r *run) string {
			return unless(r.passedResumed() > 0, "no check passed a port that was resumed since its label came by")
		},
		spoil: []func(*run){silent},
	},
	{
		name: "checks of loops fail", of: []string{"w8-chattering-trigger/itsypaper", "n1-two-triggers/itsypaper"},
		fault: func(r *run) string {
			loops, fails, d := r.steps(detect.StepLoop), r.steps(detect.StepFail), r.verdict.Detections
			return unless(len(loops) > 0 && len(fails) > 0 && len(d) == 0, "loops %v, failed checks %v, %d declared; want loops whose checks fail", loops, fails, len(d))
		},
		spoil: []func(*run){silent, declaredBesides},
	},
	{
		name: "two switches find a loop", of: []string{"n1-two-triggers/itsypaper"},
		fault: func(r *run) string {
			return unless(len(r.steps(detect.StepLoop)) >= 2, "loops found by %v, want two switches", r.steps(detect.StepLoop))
		},
		spoil: []func(*run){silent},
	},
	{
		name: "two declare", of: []string{"w18-two-declarers/itsypaper"},
		fault: func(r *run) string { return unless(len(declarers(r)) == 2, "declared by %v, want two", declarers(r)) },
		spoil: []func(*run){func(r *run) { r.verdict.Detections = nil }},
	},
	{
		name: "one declares", of: []string{"w18-two-declarers/itsy"},
		fault: func(r *run) string { return unless(len(declarers(r)) == 1, "declared by %v, want one", declarers(r)) },
		spoil: []func(*run){func(r *run) { r.verdict.Detections = nil }, declaredBesides},
	},
	{
		// A ring that waits opens by itself, and nobody declares it: a priority group of the ring resumes
		// with more bytes than its XON was when it paused.
		name: "it opens by itself", of: []string{"w20-dynamic-threshold/itsypaper", "w20-dynamic-threshold/itsy"},
		fault: func(r *run) string {
			v := r.verdict
			if v.Deadlock || v.Openings != 1 || len(v.Detections) != 0 {
				return fmt.Sprintf("deadlock %v, %d waits that open by themselves, %d declared; want one that opens, and no more", v.Deadlock, v.Openings, len(v.Detections))
			}
			return unless(r.resumedEarly("S2", "to-S5") > 0, "S2 never let S5 go with more bytes than XON was when it paused it")
		},
		spoil: []func(*run){silent, declaredBesides, func(r *run) { r.verdict.Deadlock = true }, func(r *run) { r.verdict.Openings = 0 }},
	},
	{
		// The tags share links: what turned up does not starve what goes straight.
		name: "tags share links", of: []string{"fattree-on-loop-tagger/none"},
		fault: func(r *run) string {
			for name, mbit := range rates(r.verdict) {
				if mbit < 20 {
					return fmt.Sprintf("flow %s gets %d Mbit/s of 100, want 20 or more", name, mbit)
				}
			}
			return unless(r.verdict.Policed == 0, "%d frames went into a full lossy queue", r.verdict.Policed)
		},
		spoil: []func(*run){starved, func(r *run) { r.verdict.Policed++ }},
	},
	{
		// What the cures cost is counted apart, and by nothing else.
		name: "no flood drops what has no entry", of: []string{"guo-fig4-no-flood/none"},
		fault: func(r *run) string {
			v := r.verdict
			if v.IncompleteARP < 1000 || v.Policed != 0 || v.LosslessLost != 0 {
				return fmt.Sprintf("%d dropped with an incomplete ARP entry, %d policed, %d lost; want 1000 or more, 0, 0", v.IncompleteARP, v.Policed, v.LosslessLost)
			}
			mbit := rates(v)
			return unless(mbit["black"] >= 19000 && mbit["incast"] >= 19000, "%v, want half a link each for black and incast", mbit)
		},
		spoil: []func(*run){starved, func(r *run) { r.verdict.IncompleteARP = 0 }, func(r *run) { r.verdict.Policed++ }, func(r *run) { r.verdict.LosslessLost++ }},
	},
	{
		name: "a limit takes what is above it", of: []string{"hu-fig4-limit/none"},
		fault: func(r *run) string {
			v := r.verdict
			got := rates(v)["flow3"]
			return unless(got >= 1900 && got <= 2000 && v.Policed > 0 && v.LosslessLost == 0, "flow3 gets %d Mbit/s, %d policed, %d lost; want 2000 less headers, some, 0", got, v.Policed, v.LosslessLost)
		},
		spoil: []func(*run){starved, func(r *run) { r.verdict.Policed = 0 }, func(r *run) { r.verdict.LosslessLost++ }},
	},
	{
		name: "rates let all flows through", of: []string{"hu-fig4-gfc/itsy"},
		fault: func(r *run) string {
			v, mbit := r.verdict, rates(r.verdict)
			// Room for 0.5 % of a direction of four links for 10 ms, in messages of 84 bytes on the wire.
			const most = 4 * 40e9 * 0.010 * 0.005 / (84 * 8)
			return unless(v.LosslessLost == 0 && mbit["flow1"] > 5000 && mbit["flow2"] > 5000 && mbit["flow3"] > 5000 && float64(v.ControlMessages) < most,
				"%v, %d lost, %d messages; want 5000 Mbit/s or more each, 0, less than %.0f", mbit, v.LosslessLost, v.ControlMessages, most)
		},
		spoil: []func(*run){starved, func(r *run) { r.verdict.LosslessLost++ }, func(r *run) { r.verdict.ControlMessages *= 10 }},
	},
	{
		name: "rates fall on all sides of a ring", of: []string{"ring-gfc/itsy"},
		fault: func(r *run) string {
			mbit := rates(r.verdict)
			return unless(mbit["f1"] > 0 && mbit["f1"] < 200, "f1 gets %d Mbit/s, want some and less than 200 of 40000", mbit["f1"])
		},
		spoil: []func(*run){starved, func(r *run) {
			r.verdict.Flows = slices.Clone(r.verdict.Flows)
			r.verdict.Flows[0].Throughput = 10e9
		}},
	},
	{
		name: "a bubble lets all flows through", of: []string{"ring-bubble/itsy"},
		fault: func(r *run) string {
			mbit := rates(r.verdict)
			return unless(mbit["f1"] > 12000 && mbit["f5"] > 12000, "f1 and f5 get %d and %d Mbit/s, want 12000 of a third of 40000", mbit["f1"], mbit["f5"])
		},
		spoil: []func(*run){starved},
	},
	{
		name: "a limit takes one of a hundred", of: []string{"hu-case1-limit/none"},
		fault: func(r *run) string {
			v := r.verdict
			share := float64(v.Policed) / float64(v.Flows[0].Sent)
			return unless(share >= 0.005 && share <= 0.015, "%d of %d frames policed, want one of a hundred", v.Policed, v.Flows[0].Sent)
		},
		spoil: []func(*run){func(r *run) { r.verdict.Policed = 0 }, func(r *run) { r.verdict.Policed *= 2 }},
	},
	{
		name: "what goes round is lost to the TTL alone", of: []string{"hu-case1-above/itsy", "hu-case1-below/itsy", "hu-case1-limit/itsy", "hu-case1-ttl-bands/itsy"},
		fault: func(r *run) string {
			v := r.verdict
			return unless(v.LosslessLost > 0 && v.LosslessLostBy["ttl_expired"] == v.LosslessLost, "%d lossless frames lost: %v; want some, all for their TTL", v.LosslessLost, v.LosslessLostBy)
		},
		spoil: []func(*run){func(r *run) { r.verdict.LosslessLost++ }, func(r *run) { r.verdict.LosslessLost, r.verdict.LosslessLostBy = 0, nil }},
	},
	{
		// The dual-ToR loop outlives what it came of: the servers are slow for 2 ms.
		name: "the loop stays", of: []string{"rdma/sonic-dualtor/none"},
		fault: func(r *run) string { return unless(!r.verdict.Recovered, "it recovered") },
		spoil: []func(*run){func(r *run) { r.verdict.Recovered = true }},
	},
	{
		// Two failed links stop an all-reduce: nobody completes it.
		name: "nobody completes it", of: []string{"rdma/allreduce-failures/none"},
		fault: func(r *run) string {
			done := r.verdict.Completion.All.Done
			return unless(done == 0 && len(r.scenario.Events) == 2, "%d of %d messages arrived, with %d failures; want none, with two", done, len(r.scenario.Flows), len(r.scenario.Events))
		},
		spoil: []func(*run){func(r *run) {
			c := *r.verdict.Completion
			c.All.Done++
			r.verdict.Completion = &c
		}},
	},
	{
		// A ToR dies, and all connections that left by it are completed by the other NIC.
		name: "all go on by the other NIC", of: []string{"rdma/dual-homed/none", "rdma/dual-homed/itsy"},
		fault: func(r *run) string {
			all, moves, after := r.verdict.Completion.All, 0, 0
			for _, h := range r.verdict.Hosts {
				moves += h.Moves
				for _, n := range h.NICs {
					if n.Switch == "leaf1" {
						after += n.Flows
					}
				}
			}
			return unless(all.Done == all.Flows && moves > 0 && after == 0, "%d of %d flows done, %d moves, %d flows by leaf1 at the end", all.Done, all.Flows, moves, after)
		},
		spoil: []func(*run){
			func(r *run) { r.verdict.Hosts = nil },
			func(r *run) {
				c := *r.verdict.Completion
				c.All.Done--
				r.verdict.Completion = &c
			},
		},
	},
	{
		// A member of a LAG that is cut loses what waits for it, and nothing else is lost; before and
		// after that each member has its part of the flows.
		name: "only the cut member loses", of: []string{"lag/none", "lag/itsy"},
		fault: func(r *run) string {
			v := r.verdict
			if at := v.LosslessLostAt; len(at) != 1 || at[0].Node != "s1" || at[0].Reason != "link_down" {
				return fmt.Sprintf("lost are %v, want frames at s1 alone, as the link is down", at)
			}
			i := slices.IndexFunc(v.LAGs, func(l verdict.LAG) bool { return l.Switch == "s1" })
			if i < 0 || len(v.LAGs[i].Members) != 3 {
				return fmt.Sprintf("LAGs are %v, want three members at s1", v.LAGs)
			}
			members := v.LAGs[i].Members
			sum := lists.Sum(members, func(m verdict.LAGMember) uint64 { return m.Bytes })
			idle := slices.ContainsFunc(members, func(m verdict.LAGMember) bool { return !m.Up || m.Bytes < sum/4 })
			return unless(!idle, "members are %v, want all up, each with a quarter of the bytes or more", members)
		},
		spoil: []func(*run){
			func(r *run) { r.verdict.LosslessLostAt = nil },
			func(r *run) {
				r.verdict.LosslessLostAt = []verdict.Loss{{Node: "s2", Reason: "headroom_full", Frames: 1}}
			},
			func(r *run) { r.verdict.LAGs = nil },
			func(r *run) {
				lags := slices.Clone(r.verdict.LAGs)
				lags[0].Members = slices.Clone(lags[0].Members)
				lags[0].Members[1].Up = false
				r.verdict.LAGs = lags
			},
		},
	},
	{
		// An incast pauses its senders at the NIC that sends to it, and at no other.
		name: "pauses stay in their rail", of: []string{"rdma/rails/none", "rdma/rails/itsy"},
		fault: func(r *run) string {
			want := []string{"h2 eth3", "h3 eth3", "h4 eth3", "h5 eth3", "h6 eth3", "h7 eth3", "h8 eth3"}
			got := pausedNICs(r.verdict)
			return unless(slices.Equal(got, want), "paused are %v, want %v", got, want)
		},
		spoil: []func(*run){func(r *run) { r.verdict.Hosts = r.verdict.Hosts[3:] }},
	},
}

// pausedNICs are those of hosts with several that were paused: "h2 eth3".
func pausedNICs(v *verdict.Verdict) (paused []string) {
	for _, h := range v.Hosts {
		for _, n := range h.NICs {
			if n.Pauses > 0 {
				paused = append(paused, h.Host+" "+n.NIC)
			}
		}
	}
	return paused
}

// unless is the text of a fault, "" if all is well.
func unless(well bool, format string, args ...any) string {
	if well {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// What is wrong with a run that was spoilt: nothing happened in it, a switch declared
// besides, or a flow got nothing.
func silent(r *run) { r.log = nil }

func declaredBesides(r *run) {
	r.verdict.Detections = append(r.verdict.Detections[:len(r.verdict.Detections):len(r.verdict.Detections)], verdict.Detection{Switch: "another"})
}

func starved(r *run) {
	flows := make([]verdict.FlowResult, len(r.verdict.Flows))
	for i, f := range r.verdict.Flows {
		f.Throughput = 0
		flows[i] = f
	}
	r.verdict.Flows = flows
}

// pause adds to the log that a link is paused: "A>B".
func (r *run) pause(link string) {
	from, to, _ := strings.Cut(link, ">")
	r.log = append(r.log, line{event.Node{Name: from, Ports: []string{"to-" + to}}, event.Event{Type: event.Paused}})
}

// step adds a step of a switch's detector to the log.
func (r *run) step(node string, step detect.Step) {
	r.log = append(r.log, line{event.Node{Name: node}, event.Event{Type: event.Trace, Step: step}})
}

// rates are the throughputs of flows in Mbit/s, by name.
func rates(v *verdict.Verdict) map[string]int64 {
	mbit := map[string]int64{}
	for _, f := range v.Flows {
		mbit[f.Name] = f.Throughput / 1e6
	}
	return mbit
}

// declarers are the switches that declared, by how often.
func declarers(r *run) map[string]int {
	by := map[string]int{}
	for _, d := range r.verdict.Detections {
		by[d.Switch]++
	}
	return by
}

// steps are how often switches took a step.
func (r *run) steps(step detect.Step) map[string]int {
	by := map[string]int{}
	for _, l := range r.log {
		if l.Type == event.Trace && l.Step == step {
			by[l.Name]++
		}
	}
	return by
}

// links are the pauses of links, named by the nodes at their ends in the direction of
// frames: "A>B".
type links struct {
	names  []string
	paused map[string]bool // at the end
	count  map[string]int  // of pauses
	last   map[string]unit.Time
	all    int // times at which all of names were paused at once
}

// follow goes through the log of a run.
func follow(r *run, names ...string) *links {
	l := &links{names: names, paused: map[string]bool{}, count: map[string]int{}, last: map[string]unit.Time{}}
	for _, e := range r.log {
		l.add(e.Node, e.Event)
	}
	return l
}

func (l *links) add(n event.Node, e event.Event) {
	switch e.Type {
	case event.Paused, event.Resumed, event.Expired:
	case event.PauseSent, event.RefreshSent:
		if int(e.Port) < len(n.Ports) {
			l.last[strings.TrimPrefix(n.Ports[e.Port], "to-")+">"+n.Name] = e.At
		}
		return
	default:
		return
	}
	name := n.Name + ">" + strings.TrimPrefix(n.Ports[e.Out], "to-")
	l.paused[name] = e.Type == event.Paused
	if l.paused[name] {
		l.count[name]++
	}
	together := true
	for _, name := range l.names {
		together = together && l.paused[name]
	}
	if together {
		l.all++
	}
}

// pg is the priority group that an event is about.
func (l *line) pg() oracle.PG {
	return oracle.PG{NodePort: unit.NodePort{Node: l.ID, Port: l.Port}, Priority: l.Priority}
}

// declaredOnLittle is how often a priority group was declared that held up to XON in the queue.
func (r *run) declaredOnLittle() (n int) {
	held := map[oracle.PG]map[unit.Port]int32{}
	for _, l := range r.log {
		b := l.pg()
		switch l.Type {
		case event.Held:
			if held[b] == nil {
				held[b] = map[unit.Port]int32{}
			}
			held[b][l.Out] = l.Bytes
			if l.Bytes > l.Limit {
				held[b][l.Out] = -1
			}
		case event.Deadlock:
			if held[b][l.Out] > 0 {
				n++
			}
		}
	}
	return n
}

// passedResumed is how often a check passed a port that was resumed since the label of its
// Seq came by.
func (r *run) passedResumed() (n int) {
	type where struct {
		node unit.NodeID
		out  unit.Port
		seq  uint16
		by   unit.NodePort
	}
	passed, resumed := map[where]unit.Time{}, map[unit.NodePort]unit.Time{}
	for _, l := range r.log {
		at := where{l.ID, l.Out, l.Label.Seq, l.Label.Initiator}
		switch {
		case l.Type == event.Resumed:
			resumed[unit.NodePort{Node: l.ID, Port: l.Out}] = l.At
		case l.Type != event.Trace:
		case l.Step == detect.StepForward && passed[at] == 0:
			passed[at] = l.At
		case l.Step == detect.StepCheck && passed[at] > 0 && resumed[unit.NodePort{Node: l.ID, Port: l.Out}] > passed[at]:
			n++
		}
	}
	return n
}

// resumedEarly is how often a switch resumed a port with more bytes than XON was when it
// paused it.
func (r *run) resumedEarly(node, port string) (n int) {
	xon := map[oracle.PG]int32{}
	for _, l := range r.log {
		switch {
		case l.Type == event.XOFF:
			xon[l.pg()] = l.Limit
		case l.Type == event.XON && l.Name == node && l.Ports[l.Port] == port && l.Bytes > xon[l.pg()]:
			n++
		}
	}
	return n
}

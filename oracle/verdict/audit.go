package verdict

import (
	"fmt"
	"slices"

	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/unit"
)

// A verdict states much twice: what a flow sent and what became of it; when a deadlock
// began and ended, and how long it lasted. audit compares these figures. Those of one
// run cannot contradict each other, so where they do, a program or a clock is wrong and
// the run is not valid. That holds for relations that no timing can break: where a live node or a
// wire may rightly make two figures differ, the rule leaves room for it or does not apply.

// auditor checks a verdict for contradictions, in itself and with its run.
type auditor struct {
	v      *Verdict
	r      *Run
	broken []string
}

// rule is one relation between figures. A broken rule is reported with the figures.
type rule struct {
	name  string
	check func(*auditor)
}

var rules = []rule{
	{"flows add up", (*auditor).flowsAddUp},
	{"losses add up", (*auditor).lossesAddUp},
	{"in flight fits the fabric", (*auditor).inFlightFits},
	{"flows keep to their wires", (*auditor).flowsKeepToWires},
	{"bins add up", (*auditor).binsAddUp},
	{"messages add up", (*auditor).messagesAddUp},
	{"flows are sent", (*auditor).flowsAreSent},
	{"receivers miss what was sent", (*auditor).lossIsOfWhatWasSent},
	{"declarations add up", (*auditor).declarationsAddUp},
	{"declarations are in time", (*auditor).declarationsAreInTime},
	{"declarations need a detector", (*auditor).declarationsNeedADetector},
	{"intervals are in order", (*auditor).intervalsAreInOrder},
	{"the deadlock is that of the intervals", (*auditor).deadlockIsThatOfIntervals},
	{"the end is that of the log", (*auditor).endIsThatOfTheLog},
	{"the time line is in order", (*auditor).timelineIsInOrder},
	{"the time line tells of each deadlock", (*auditor).timelineTellsOfDeadlocks},
	{"what is dropped on purpose was an action", (*auditor).dropsAreActions},
	{"pauses add up", (*auditor).pausesAddUp},
	{"nothing is below zero", (*auditor).nothingIsBelowZero},
}

// audit returns the contradictions in the verdict, nil if there are none.
func (v *Verdict) audit(r *Run) []string {
	a := auditor{v: v, r: r}
	for _, rule := range rules {
		rule.check(&a)
	}
	return a.broken
}

func (a *auditor) broke(format string, args ...any) {
	a.broken = append(a.broken, "the figures contradict each other: "+fmt.Sprintf(format, args...))
}

// reported says whether both ends of a flow reported their counts. Of others the figures are incomplete, and
// rules that need both say nothing.
func (a *auditor) reported(f *FlowResult) bool {
	return f.ProgramEnd == "" && a.host(f.From) != nil && a.host(f.To) != nil
}

// host is the report of a host, nil if there is none.
func (a *auditor) host(name string) *observe.Host {
	i := slices.IndexFunc(a.r.Hosts, func(h observe.Host) bool { return h.Name == name })
	if i < 0 {
		return nil
	}
	return &a.r.Hosts[i]
}

// span is the time in which a flow may send.
func (a *auditor) span(f *scenario.Flow) unit.Time {
	end := a.v.Duration
	if f.Stop > 0 && f.RC == nil { // a connection ends its messages afterwards
		end = min(end, f.Stop)
	}
	return max(0, end-f.Start)
}

// flowsAddUp: each frame that was sent came, was lost, or is in flight. What is in flight is the rest, so
// the rule breaks where more came or was lost than was sent.
func (a *auditor) flowsAddUp() {
	for i := range a.v.Flows {
		f := &a.v.Flows[i]
		if a.reported(f) && (f.InFlight < 0 || f.Received+f.Lost+f.InFlight != f.Sent) {
			a.broke("flow %s: sent %d, received %d, lost %d, in flight %d", f.Name, f.Sent, f.Received, f.Lost, f.InFlight)
		}
		if on := f.Response + f.OverRate + f.IncompleteARP; on > f.Lost {
			a.broke("flow %s: %d dropped on purpose, of %d lost", f.Name, on, f.Lost)
		}
		if f.Reordered > f.Received {
			a.broke("flow %s: reordered %d of %d received", f.Name, f.Reordered, f.Received)
		}
	}
}

// lossesAddUp: what was lost is the same by reason and by node, and of each node by port and by
// priority; a node tells of no flow that it lost less than of its ports.
func (a *auditor) lossesAddUp() {
	v := a.v
	by := lists.Sum(append(lossReasons(), WireLoss), func(reason string) int { return v.LosslessLostBy[reason] })
	at := lists.Sum(v.LosslessLostAt, func(l Loss) int { return l.Frames })
	short := lists.Sum(v.HeadroomShort, func(h HeadroomShort) int { return h.Lost })
	if by != v.LosslessLost || at != v.LosslessLost {
		a.broke("%d lossless frames lost, %d by reason, %d by node", v.LosslessLost, by, at)
	}
	if full := v.LosslessLostBy[dataplane.DropHeadroom.String()]; short != full {
		a.broke("%d lossless frames found headroom full, %d by priority group", full, short)
	}
	for i := range a.r.Switches {
		w := &a.r.Switches[i]
		var reasons, priorities uint64
		for k := range w.Ports {
			r, c := sums(&w.Ports[k].Loss)
			reasons, priorities = reasons+r, priorities+c
		}
		flows := lists.Sum(w.Flows, func(f observe.FlowDrops) uint64 { return f.Lost })
		if reasons != w.LosslessLost || priorities != w.LosslessLost || flows+w.OtherDrops.Lost < w.LosslessLost {
			a.broke("%s lost %d lossless frames: %d by reason, %d by priority, %d by flow", w.Name, w.LosslessLost, reasons, priorities, flows+w.OtherDrops.Lost)
		}
	}
	for i := range a.r.Hosts {
		h := &a.r.Hosts[i]
		if reasons, priorities := sums(&h.Loss); reasons != h.LosslessLost || priorities != h.LosslessLost {
			a.broke("%s lost %d lossless frames: %d by reason, %d by priority", h.Name, h.LosslessLost, reasons, priorities)
		}
	}
}

// sums are those of a loss by reason and by priority.
func sums(l *observe.Loss) (reasons, priorities uint64) {
	reasons = lists.Sum(lossReasons(), func(reason string) uint64 { return l.LostBy[reason] })
	return reasons, lists.Sum(l.LostOf[:], func(n uint64) uint64 { return n })
}

// Frames of which no account is kept: ringFrames wait at most at a port that is not read (what a
// live node's receive ring holds, and a simulated one that is stopped), and onWire are at the two
// ends of a wire: one that leaves and one that comes.
const (
	ringFrames = 1024
	onWire     = 2
)

// inFlightFits: what is in flight waits in queues, is on its way over a link, or was on one that
// went down. A node that was killed, or a wire that loses frames, takes others with it.
func (a *auditor) inFlightFits() {
	p := a.r.Plan
	if len(a.v.Killed) > 0 || len(a.r.Switches) < len(p.Switches) || slices.ContainsFunc(p.Links, func(l scenario.Link) bool { return l.Rate == 0 || l.Loss > 0 }) {
		return
	}
	unwanted := map[uint32]int64{} // copies of flooded frames that arrived where nobody wants them
	room := int64(0)
	for i := range a.r.Switches {
		w := &a.r.Switches[i]
		for k := range w.Ports {
			for _, q := range w.Ports[k].Queue {
				room += int64(q.Bytes)
			}
		}
		for _, f := range w.Flows {
			unwanted[f.Flow] += int64(f.Unwanted)
		}
	}
	longest := int64(config.MaxFrame(p.Scenario.MTU) + ether.VLANLen)
	room += a.onLinks(longest)
	bytes := int64(0)
	for i := range a.v.Flows {
		f, s := &a.v.Flows[i], &p.Scenario.Flows[i]
		if !a.reported(f) {
			continue
		}
		frame, n := int64(s.Frame), f.InFlight-unwanted[p.Hash(i)]
		if s.RC != nil { // the last frame of a message may be as short as one can be
			frame = host.AckFrame
		} else if s.Size > 0 {
			n-- // the last may be shorter
		}
		bytes += max(0, n) * frame
	}
	if bytes > room {
		a.broke("%d bytes in flight, where queues and links hold %d", bytes, room)
	}
}

// onLinks is how many bytes all links hold at most, and how many those held that went down: those are
// lost, and no node counts them. Twice the delay, because a frame that others should overtake takes as
// long (link/impair); twice the sum, because a link has two directions.
func (a *auditor) onLinks(longest int64) (bytes int64) {
	p := a.r.Plan
	stopped := slices.ContainsFunc(p.Events, func(e scenario.Event) bool { return e.Do == scenario.Stop })
	for i := range p.Links {
		l := &p.Links[i]
		way := carried(l.Rate, 2*l.Delay+l.Jitter) + onWire*longest
		times := int64(1)
		for _, e := range p.Events {
			if e.Do == scenario.Fail && e.Link == i {
				times++
			}
		}
		bytes += 2 * times * way
		if a.v.World == "live" || stopped {
			bytes += 2 * ringFrames * longest
		}
	}
	return bytes
}

// carried is how many bytes a rate carries in a time, rounded up.
func carried(r unit.Rate, in unit.Time) int64 {
	return int64(float64(r)/8*float64(in)/float64(unit.Second)) + 1
}

// wire is the rate of a host's link, the fastest if it has several; 0 is unlimited.
func (a *auditor) wire(node int) (rate unit.Rate) {
	for _, p := range a.r.Plan.Fabric.Nodes[node].Ports {
		l := a.r.Plan.Links[p.Link].Rate
		if l == 0 {
			return 0
		}
		rate = max(rate, l)
	}
	return rate
}

// moves is how often flow i left by another NIC of its host from then on: the next frame does not wait for
// one that the link took away as it went down.
func (a *auditor) moves(i int) int64 {
	h := a.host(a.v.Flows[i].From)
	if h == nil {
		return 0
	}
	return lists.Sum(h.Sent, func(f host.Sent) int64 {
		if int(f.Number) != i {
			return 0
		}
		return int64(f.Moves)
	})
}

// flowsKeepToWires: a flow sends no more than its rate and its link can carry in its
// time: a frame at its start, one after every frame time, and so one at the very end
// where the time is a whole number of them. A longer path can only be slower.
func (a *auditor) flowsKeepToWires() {
	for i := range a.v.Flows {
		f, s := &a.v.Flows[i], &a.r.Plan.Scenario.Flows[i]
		frame := max(unit.Rate(s.Rate).FrameTime(s.Frame), a.wire(s.From).FrameTime(s.Frame))
		if s.RC != nil { // the last frame of each message may be as short as one can be
			frame = a.wire(s.From).FrameTime(host.AckFrame)
		}
		if frame == 0 {
			continue
		}
		most := int64(a.span(s)/frame) + 1 + a.moves(i)
		if f.Sent > most {
			a.broke("flow %s: sent %d frames, where its link carries %d in its time", f.Name, f.Sent, most)
		}
		if limit := perSecond(uint64(most)*uint64(s.Frame), a.span(s)); f.Throughput > limit {
			a.broke("flow %s: %d bit/s, where its link carries %d", f.Name, f.Throughput, limit)
		}
	}
}

// binsAddUp: the bytes of all bins are no more than those received. A bin is a rate, rounded down, so
// its bytes are rounded up, and a byte for each bin is forgiven. The product is taken in parts, as it
// does not fit 64 bits. What came in the last odd nanoseconds is in no bin, so there may be less.
func (a *auditor) binsAddUp() {
	bin := int64(a.r.Plan.Scenario.Bin())
	for i := range a.v.Flows {
		f, s := &a.v.Flows[i], &a.r.Plan.Scenario.Flows[i]
		bits := int64(0)
		for _, rate := range f.OverTime {
			whole, part := bin/int64(unit.Second), bin%int64(unit.Second)
			bits += rate*whole + rate/int64(unit.Second)*part + (rate%int64(unit.Second)*part+int64(unit.Second)-1)/int64(unit.Second)
		}
		if all := f.Received * int64(s.Frame) * 8; bits/8 > all/8+int64(len(f.OverTime)) {
			a.broke("flow %s: %d bytes over time, of %d received", f.Name, bits/8, all/8)
		}
		if f.Received > 0 && s.RC == nil && f.Throughput == 0 && perSecond(uint64(f.Received)*uint64(s.Frame), a.span(s)) > 0 {
			a.broke("flow %s: received %d frames at 0 bit/s", f.Name, f.Received)
		}
	}
}

// messagesAddUp: of a connection with an end no more is acknowledged than it has, and all of
// it if it reached its end.
func (a *auditor) messagesAddUp() {
	for i := range a.v.Flows {
		f := &a.v.Flows[i]
		m := f.Messages
		if m != nil && m.Size > 0 && (m.Bytes > m.Size || m.Completion > 0 && m.Bytes < m.Size) {
			a.broke("flow %s: %d of %d bytes acknowledged, completed after %s ms", f.Name, m.Bytes, m.Size, ms(m.Completion))
		}
	}
}

// flowsAreSent: a flow whose time had come, and that nothing held back, was sent.
func (a *auditor) flowsAreSent() {
	for i := range a.v.Flows {
		f, s := &a.v.Flows[i], &a.r.Plan.Scenario.Flows[i]
		h := a.host(f.From)
		begin := a.v.Duration - s.Start // within which it may: also a connection begins no message after its stop
		if s.Stop > 0 {
			begin = min(begin, s.Stop-s.Start)
		}
		held := h == nil || f.ProgramEnd != "" || h.Counters.RxPause[s.Priority] > 0 || h.Counters.LinkDown > 0 || begin < patience
		if f.Sent == 0 && !held {
			a.broke("flow %s sent nothing in %s ms, and neither a pause nor its link held it", f.Name, ms(begin))
		}
	}
}

// patience is how long a flow may run before it must have sent a frame: the flows of a
// host take turns on its link, and a live host keeps its schedule to a millisecond.
const patience = 20 * unit.Millisecond

// lossIsOfWhatWasSent: no more lossless frames were lost than were sent and did not
// arrive.
func (a *auditor) lossIsOfWhatWasSent() {
	s := a.r.Plan.Scenario
	twice := slices.ContainsFunc(s.Links, func(l scenario.LinkSpeed) bool { return l.Duplicate > 0 })
	if twice || len(s.Dead) > 0 || len(s.NICs) > 0 || slices.ContainsFunc(s.Flows, func(f scenario.Flow) bool { return f.RC != nil }) {
		return // a frame that comes twice, or is flooded, is lost once per copy; programs and acknowledgements are not counted as flows
	}
	missing := int64(0)
	for i := range a.v.Flows {
		f := &a.v.Flows[i]
		if !a.reported(f) {
			return
		}
		if s.OwnClasses() || slices.Contains(s.Lossless(), f.Priority) { // by a port's map any may be
			missing += f.Sent - f.Received
		}
	}
	if lost := int64(a.v.LosslessLost); lost > missing {
		a.broke("%d lossless frames lost, where %d of those that were sent did not come", lost, missing)
	}
}

// declarationsAddUp: each declaration is judged to be one thing, and counted as that.
func (a *auditor) declarationsAddUp() {
	v := a.v
	judged := map[string]int{}
	for _, d := range v.Detections {
		judged[d.Judged]++
		if d.TruePositive != (d.Judged == oracle.TruePositive.String()) {
			a.broke("%s declares at %s ms: true %t, and judged %q", d.Switch, ms(d.At), d.TruePositive, d.Judged)
		}
	}
	if n := v.truePositives() + v.FalsePositives + v.Premature + v.Late + v.Undecided; n != len(v.Detections) {
		a.broke("%d declarations, of which %d true, %d false, %d premature, %d late, %d undecided", len(v.Detections), v.truePositives(), v.FalsePositives, v.Premature, v.Late, v.Undecided)
	}
	for _, of := range []struct {
		outcome oracle.Outcome
		n       int
	}{{oracle.FalsePositive, v.FalsePositives}, {oracle.Premature, v.Premature}, {oracle.Late, v.Late}, {oracle.Undecided, v.Undecided}} {
		if judged[of.outcome.String()] != of.n {
			a.broke("%d declarations judged %v, counted %d", judged[of.outcome.String()], of.outcome, of.n)
		}
	}
	if v.FalseNegatives > len(a.r.Truth.Deadlocks) {
		a.broke("%d deadlocks missed of %d", v.FalseNegatives, len(a.r.Truth.Deadlocks))
	}
}

// declarationsAreInTime: none is before the deadlock that it names, or after the end.
func (a *auditor) declarationsAreInTime() {
	for _, d := range a.v.Detections {
		switch {
		case d.At > a.v.Duration:
			a.broke("%s declares at %s ms, after the end at %s ms", d.Switch, ms(d.At), ms(a.v.Duration))
		case !d.TruePositive && d.Latency != 0:
			a.broke("%s declares what is not true %s ms after its onset", d.Switch, ms(d.Latency))
		case d.TruePositive && len(d.Loop) == 0:
			a.broke("%s declares truly at %s ms, and there is no loop", d.Switch, ms(d.At))
		case a.v.Clocks != nil: // its time and the onset each have bounds of their own
		case d.TruePositive && (d.Latency < 0 || !a.v.Deadlock || d.At-d.Latency < a.v.Onset):
			a.broke("%s declares at %s ms, %s ms after an onset; the first was at %s ms", d.Switch, ms(d.At), ms(d.Latency), ms(a.v.Onset))
		}
	}
}

// declarationsNeedADetector: without one nobody declares and nobody sends messages, but for rates.
func (a *auditor) declarationsNeedADetector() {
	v := a.r.Plan.Scenario.Prevention
	rates := v != nil && v.GFC != nil
	if a.v.Detector == "none" && (len(a.v.Detections) > 0 || a.v.ControlMessages > 0 && !rates) {
		a.broke("%d declarations and %d control messages without a detector", len(a.v.Detections), a.v.ControlMessages)
	}
}

// intervalsAreInOrder: intervals with a deadlock do not overlap, and only the last may
// be open.
func (a *auditor) intervalsAreInOrder() {
	all := a.r.Truth.Intervals
	for i, in := range all {
		switch {
		case in.To < in.From || in.To > a.r.Truth.End:
			a.broke("a deadlock from %s to %s ms, in a run until %s ms", ms(in.From-a.r.Start), ms(in.To-a.r.Start), ms(a.r.Truth.End-a.r.Start))
		case in.Open && (i < len(all)-1 || in.To != a.r.Truth.End):
			a.broke("a deadlock from %s ms lasts, and yet another follows or the run goes on", ms(in.From-a.r.Start))
		case i > 0 && in.From <= all[i-1].To:
			a.broke("a deadlock from %s ms begins before the last one ends at %s ms", ms(in.From-a.r.Start), ms(all[i-1].To-a.r.Start))
		}
	}
}

// deadlockIsThatOfIntervals: what the verdict says of onset, recovery and recurrence is what the intervals
// say; and from the start over the onset and the recovery to the end it is the whole run.
func (a *auditor) deadlockIsThatOfIntervals() {
	v, all := a.v, a.r.Truth.Intervals
	if v.Deadlock != (len(all) > 0) || v.Recurrences != max(0, len(all)-1) {
		a.broke("deadlock %s with %d recurrences, by %d times of one", yesNo[v.Deadlock], v.Recurrences, len(all))
		return
	}
	if !v.Deadlock {
		if v.Onset != 0 || v.Recovered || v.FalseNegatives > 0 || v.truePositives() > 0 {
			a.broke("no deadlock, and yet onset %s ms, recovered %s, %d missed, %d truly declared", ms(v.Onset), yesNo[v.Recovered], v.FalseNegatives, v.truePositives())
		}
		return
	}
	if first := all[0].From - a.r.Start; v.Onset != first {
		a.broke("onset at %s ms, the first deadlock at %s ms", ms(v.Onset), ms(first))
	}
	if v.Recovered && (v.Recovery < 0 || v.Quiet < 0 || v.Onset+v.Recovery+v.Quiet != v.Duration) {
		a.broke("onset at %s ms, %s ms to recover and %s ms of quiet, in %s ms", ms(v.Onset), ms(v.Recovery), ms(v.Quiet), ms(v.Duration))
	}
}

// lasts reports whether a deadlock is surely there at the end.
func (v *Verdict) lasts() bool { return v.Deadlock && !v.Recovered && !v.RecoveryUndecided }

// endIsThatOfTheLog: a run that counts as recovered has no deadlock when the log ends.
func (a *auditor) endIsThatOfTheLog() {
	stuck := !a.r.Truth.History.At(a.r.Truth.End).Empty()
	if lasts := a.v.lasts(); stuck != lasts {
		a.broke("a deadlock at the end: %s, and by the log: %s", yesNo[lasts], yesNo[stuck])
	}
	if end := a.r.Truth.End - a.r.Start; end != a.v.Duration {
		a.broke("the logs end at %s ms, the run at %s ms", ms(end), ms(a.v.Duration))
	}
}

// timelineIsInOrder: moments are in order and none is after the end. The first may be before the start:
// what a live fabric does before the scenario begins is told too.
func (a *auditor) timelineIsInOrder() {
	last := unit.Time(0)
	for i, m := range a.v.Timeline {
		if i > 0 && m.At < last || m.At > a.v.Duration {
			a.broke("on the time line %s ms follows %s ms, in a run of %s ms: %s", ms(m.At), ms(last), ms(a.v.Duration), m.What)
		}
		last = m.At
	}
}

// timelineTellsOfDeadlocks: each deadlock has a moment where it begins and, unless it
// lasts, one where it ends; each interval has at least one deadlock.
func (a *auditor) timelineTellsOfDeadlocks() {
	begun, over := 0, 0
	for _, m := range a.r.Truth.Timeline {
		switch m.Kind {
		case oracle.DeadlockBegins:
			begun++
		case oracle.DeadlockEnds:
			over++
		}
	}
	times := 0
	if a.v.Deadlock {
		times = a.v.Recurrences + 1
	}
	lasts := a.v.lasts()
	if begun < times || (begun > over) != lasts {
		a.broke("on the time line %d deadlocks begin and %d end, where there were %d times of one and the last lasts: %s", begun, over, times, yesNo[lasts])
	}
	if n, all := len(a.v.Timeline), len(a.r.Truth.Timeline); n != all {
		a.broke("on the time line %d moments, of %d", n, all)
	}
}

// dropsAreActions: frames dropped on purpose need an action that drops them.
func (a *auditor) dropsAreActions() {
	v := a.v
	if v.ResponseDropped > 0 && len(v.Actions) == 0 {
		a.broke("%d frames dropped to break a deadlock, and no action taken", v.ResponseDropped)
	}
	if v.Policed > 0 && len(v.Actions) == 0 && a.r.Plan.Scenario.Prevention == nil {
		a.broke("%d frames policed, and no action taken", v.Policed)
	}
	longest := int64(config.MaxFrame(a.r.Plan.Scenario.MTU) + ether.VLANLen)
	if bytes, n := int64(v.ResponseDroppedBytes), int64(v.ResponseDropped); bytes < n*ether.MinLen || bytes > n*longest {
		a.broke("%d frames of %d bytes dropped to break a deadlock", n, bytes)
	}
	for _, f := range v.Flows {
		if f.Policed && f.Innocent {
			a.broke("flow %s is policed and innocent", f.Name)
		}
	}
	for _, m := range v.Actions {
		if m.At > v.Duration {
			a.broke("%s: %s at %s ms, after the end", m.Switch, m.Action, ms(m.At))
		}
	}
}

// pausesAddUp: only a switch that has paused can refresh. There may be more resumes
// than pauses: a pause that is obsolete by the time it can leave goes out as a resume.
func (a *auditor) pausesAddUp() {
	if p := a.v.PFC; p.Refresh > 0 && p.XOFF == 0 {
		a.broke("%d refreshes of no XOFF", p.Refresh)
	}
}

func (a *auditor) nothingIsBelowZero() {
	v := a.v
	least := min(v.FalsePositives, v.FalseNegatives, v.Premature, v.Late, v.Undecided, v.UndecidedDeadlocks, v.LosslessLost, v.ResponseDropped, v.ResponseDroppedBytes, v.Policed,
		v.IncompleteARP, v.Recurrences, v.PFC.XOFF, v.PFC.XON, v.PFC.Refresh, v.ControlMessages, v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch)
	for _, f := range v.Flows {
		least = min(least, int(min(f.Sent, f.Received, f.Lost, f.Reordered, f.Throughput, f.Final)))
	}
	if least < 0 || v.Cores < 0 {
		a.broke("a count of %d, %.2f processors", least, v.Cores)
	}
}

package verdict

import (
	"fmt"

	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/unit"
)

// check sets Expected and ExpectedMet, and Reasons where it is not met. All reasons are listed, not only the
// first. What is not expected is not checked, but for loss: a fabric with PFC should lose no lossless frame,
// whether the scenario says so or not.
func (v *Verdict) check(want scenario.Expect) {
	v.Reasons, v.Expected = nil, want != scenario.Expect{}
	miss := func(format string, args ...any) { v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)) }
	if want.Deadlock != nil && *want.Deadlock != v.Deadlock {
		miss("deadlock: %s, expected %s", yesNo[v.Deadlock], yesNo[*want.Deadlock])
	}
	if want.Opens != nil && *want.Opens != (v.Openings > 0) {
		miss("opens_by_itself: %s, expected %s", unit.Count(v.Openings, "wait"), map[bool]string{true: "at least one", false: "none"}[*want.Opens])
	}
	if want.Detected != nil {
		v.checkDetected(*want.Detected, miss)
	}
	v.checkDecided(want, miss)
	if alarms := len(v.Detections) - v.truePositives() - v.Undecided; want.FalseAlarm != nil && *want.FalseAlarm != (alarms > 0) {
		miss("false_alarm: %s not true, expected %s", unit.Count(alarms, "declaration"), map[bool]string{true: "at least one", false: "none"}[*want.FalseAlarm])
	}
	if want.Missed != nil && *want.Missed != (v.FalseNegatives > 0) {
		miss("missed: %s not declared, expected %s", unit.Count(v.FalseNegatives, "deadlock"), map[bool]string{true: "at least one", false: "none"}[*want.Missed])
	}
	for _, d := range v.Detections {
		if d.TruePositive {
			d.check(want, miss)
		}
	}
	switch {
	case want.LosslessLost == nil && v.LosslessLost > 0:
		miss("NOT lossless: %s lost: %s", unit.Count(v.LosslessLost, "lossless frame"), v.whyText())
	case want.LosslessLost != nil && v.LosslessLost > *want.LosslessLost:
		miss("lossless_lost: %s (%s), expected at most %d", unit.Count(v.LosslessLost, "frame"), v.whyText(), *want.LosslessLost)
	}
	v.checkStarved(want.Starved, miss)
	if v.PFC.XOFF < want.MinXOFF {
		miss("pfc: %d XOFF, expected at least %d", v.PFC.XOFF, want.MinXOFF)
	}
	v.ExpectedMet = len(v.Reasons) == 0
}

func (v *Verdict) checkDetected(want bool, miss func(string, ...any)) {
	switch {
	case !want && len(v.Detections) > 0:
		miss("detected: %s, expected none", unit.Count(len(v.Detections), "declaration"))
	case want && v.FalseNegatives > 0:
		miss("detected: %s not declared", unit.Count(v.FalseNegatives, "deadlock"))
	case want && v.truePositives() == 0:
		miss("detected: no true declaration, expected one")
	}
}

// checkDecided holds what is undecided against the expectation: what is expected not to be has to be
// proved, and so has that no deadlock is undeclared, which Detected asks for. What is expected to be is
// proved by one instance of it, whatever else is undecided.
func (v *Verdict) checkDecided(want scenario.Expect, miss func(string, ...any)) {
	none := func(b *bool) bool { return b != nil && !*b }
	if v.Undecided > 0 && none(want.FalseAlarm) {
		miss("false_alarm: of %d declarations it is undecided, expected none", v.Undecided)
	}
	if v.UndecidedDeadlocks > 0 && (none(want.Missed) || none(want.Deadlock) && !v.Deadlock || want.Detected != nil && *want.Detected) {
		miss("deadlock: of %d possible ones it is undecided", v.UndecidedDeadlocks)
	}
}

// check holds a true detection against what is expected of each. With several clocks the longest latency that
// is possible has to be within the limit: the first reason is that it surely is not, the second that it may
// not be.
func (d *Detection) check(want scenario.Expect, miss func(string, ...any)) {
	if want.MaxLatency > 0 && d.Latency > want.MaxLatency {
		miss("latency: %s ms at %s, expected at most %s ms", ms(d.Latency), d.Switch, ms(want.MaxLatency))
	}
	if want.MaxLatency > 0 && d.Latency <= want.MaxLatency && (d.LatencyMost == Unbounded || d.LatencyMost > want.MaxLatency) {
		miss("latency: %s ms at %s, expected at most %s ms", d.latency(), d.Switch, ms(want.MaxLatency))
	}
	t := want.Trigger
	if t == nil {
		return
	}
	if d.Trigger.Node != t.Node {
		miss("trigger: %s names %q, expected %s", d.Switch, d.Trigger.Node, t.Node)
	}
	if t.OnLoop != nil && d.Trigger.OnLoop != *t.OnLoop {
		miss("trigger: %s says on the loop: %s, expected %s", d.Switch, yesNo[d.Trigger.OnLoop], yesNo[*t.OnLoop])
	}
}

func (v *Verdict) truePositives() int {
	return len(lists.Where(v.Detections, func(d Detection) bool { return d.TruePositive }))
}

// yesNo is how a statement that is true, or is not, is shown.
var yesNo = map[bool]string{true: "yes", false: "no"}

package scenario

import (
	"fmt"

	"softswitch/unit"
)

// Wanted is what a verdict is checked against. A field that is nil or zero wants
// nothing.
type Wanted struct {
	Deadlock *bool
	// Detected: true wants every deadlock declared, and at least one; false wants no
	// declaration at all, right or wrong.
	Detected *bool
	// FalseAlarm: true wants a declaration that is not true when it is made, false
	// wants none.
	FalseAlarm *bool
	// Missed: true wants a deadlock that was not declared while it lived, false none.
	Missed *bool
	// Trigger is what every true detection has to name.
	Trigger *WantedTrigger
	// LosslessLost is the most lossless frames that may be lost.
	LosslessLost *int
	// MaxLatency bounds the latency of every true detection.
	MaxLatency unit.Time
	// MinXOFF is the fewest XOFF frames that there must be.
	MinXOFF int
}

// WantedTrigger is a node, of either kind, and perhaps where it is.
type WantedTrigger struct {
	Node   string
	OnLoop *bool
}

// Wanted is what is expected of the scenario with its detector, with nodes by name.
func (s *Scenario) Wanted() Wanted {
	e := s.expected()
	w := Wanted{Deadlock: e.Deadlock, Detected: e.Detected, FalseAlarm: e.FalseAlarm, Missed: e.Missed, LosslessLost: e.LosslessLost, MaxLatency: e.MaxLatency, MinXOFF: e.MinXOFF}
	if e.Trigger != nil {
		w.Trigger = &WantedTrigger{Node: s.Fabric.Nodes[e.Trigger.Node].Name, OnLoop: e.Trigger.OnLoop}
	}
	return w
}

// SimOnly is why what is expected of the scenario with its detector holds in a
// simulation only; "" if it is expected of a live lab too.
func (s *Scenario) SimOnly() string { return s.expected().SimOnly }

func (s *Scenario) expected() Expect {
	if e, ok := s.ExpectFor[s.Detector]; ok {
		return e
	}
	return s.Expect
}

// Check sets ExpectedMet, and Reasons where it is not met.
func (v *Verdict) Check(want Wanted) {
	v.Reasons = nil
	miss := func(format string, args ...any) { v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)) }
	if want.Deadlock != nil && *want.Deadlock != v.Deadlock {
		miss("deadlock: %s, expected %s", yesNo(v.Deadlock), yesNo(*want.Deadlock))
	}
	if want.Detected != nil {
		v.checkDetected(*want.Detected, miss)
	}
	if alarms := len(v.Detections) - v.truePositives(); want.FalseAlarm != nil && *want.FalseAlarm != (alarms > 0) {
		miss("false_alarm: %d declarations were not true, expected %s", alarms, map[bool]string{true: "at least one", false: "none"}[*want.FalseAlarm])
	}
	if want.Missed != nil && *want.Missed != (v.FalseNegatives > 0) {
		miss("missed: %d deadlocks were not declared, expected %s", v.FalseNegatives, map[bool]string{true: "at least one", false: "none"}[*want.Missed])
	}
	for _, d := range v.Detections {
		if d.TruePositive {
			d.check(want, miss)
		}
	}
	if want.LosslessLost != nil && v.LosslessLost > *want.LosslessLost {
		miss("lossless_lost: %d frames, expected at most %d", v.LosslessLost, *want.LosslessLost)
	}
	if v.PFC.XOFF < want.MinXOFF {
		miss("pfc: %d XOFF, expected at least %d", v.PFC.XOFF, want.MinXOFF)
	}
	v.ExpectedMet = len(v.Reasons) == 0
}

func (v *Verdict) checkDetected(want bool, miss func(string, ...any)) {
	switch {
	case !want && len(v.Detections) > 0:
		miss("detected: %d declarations, expected none", len(v.Detections))
	case want && v.FalseNegatives > 0:
		miss("detected: %d deadlocks were not declared", v.FalseNegatives)
	case want && v.truePositives() == 0:
		miss("detected: no true declaration, expected one")
	}
}

func (d *Detection) check(want Wanted, miss func(string, ...any)) {
	if want.MaxLatency > 0 && d.Latency > want.MaxLatency {
		miss("latency: %s ms at %s, expected at most %s ms", ms(d.Latency), d.Switch, ms(want.MaxLatency))
	}
	t := want.Trigger
	if t == nil {
		return
	}
	if d.Trigger.Node != t.Node {
		miss("trigger: %s names %q, expected %s", d.Switch, d.Trigger.Node, t.Node)
	}
	if t.OnLoop != nil && d.Trigger.OnLoop != *t.OnLoop {
		miss("trigger: %s says on the loop: %s, expected %s", d.Switch, yesNo(d.Trigger.OnLoop), yesNo(*t.OnLoop))
	}
}

func (v *Verdict) truePositives() (n int) {
	for _, d := range v.Detections {
		if d.TruePositive {
			n++
		}
	}
	return n
}

// ExitCode is 0 only if the expectation is met and the run can be trusted, 1
// otherwise.
func (v *Verdict) ExitCode() int {
	if v.ExpectedMet && v.Invalid == "" {
		return 0
	}
	return 1
}

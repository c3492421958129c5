package verdict

import (
	"slices"
	"testing"

	"softswitch/scenario"
	"softswitch/unit"
)

// False alarms and misses are held against what was expected of them.
func TestCheckAlarmsAndMisses(t *testing.T) {
	yes, no := new(bool), new(bool)
	*yes = true
	verdict := Verdict{Detections: []Detection{{TruePositive: true}, {}}, FalseNegatives: 1}
	clean := Verdict{Detections: []Detection{{TruePositive: true}}}
	for _, c := range []struct {
		v    Verdict
		want scenario.Expect
		met  bool
	}{
		{verdict, scenario.Expect{FalseAlarm: yes, Missed: yes}, true},
		{verdict, scenario.Expect{FalseAlarm: no}, false},
		{verdict, scenario.Expect{Missed: no}, false},
		{clean, scenario.Expect{FalseAlarm: no, Missed: no}, true},
		{clean, scenario.Expect{FalseAlarm: yes}, false},
		{clean, scenario.Expect{Missed: yes}, false},
	} {
		c.v.check(c.want)
		if c.v.ExpectedMet != c.met {
			t.Errorf("%d detections, %d missed, against %+v: met %v %q", len(c.v.Detections), c.v.FalseNegatives, c.want, c.v.ExpectedMet, c.v.Reasons)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(v *Verdict)
		want scenario.Expect
		miss string // "" if met
	}{
		{"nothing wanted", nil, scenario.Expect{}, ""},
		{"all wanted", func(v *Verdict) { v.Detections = v.Detections[:2] }, scenario.Expect{
			Deadlock: ptr(true), Detected: ptr(true), Trigger: &scenario.Trigger{Node: "core0", OnLoop: ptr(true)},
			LosslessLost: ptr(0), MaxLatency: 800 * unit.Microsecond, MinXOFF: 4,
		}, ""},
		{"deadlock", nil, scenario.Expect{Deadlock: ptr(false)}, "deadlock: yes, expected no"},
		{"silence", nil, scenario.Expect{Detected: ptr(false)}, "detected: 3 declarations, expected none"},
		{"missed", func(v *Verdict) { v.FalseNegatives = 1 }, scenario.Expect{Detected: ptr(true)}, "detected: 1 deadlock not declared"},
		{"no true one", func(v *Verdict) { v.Detections = v.Detections[:1] }, scenario.Expect{Detected: ptr(true)}, "detected: no true declaration, expected one"},
		{"trigger", nil, scenario.Expect{Trigger: &scenario.Trigger{Node: "core0"}}, `trigger: core1 names "h1-0-0", expected core0`},
		{"on loop", nil, scenario.Expect{Trigger: &scenario.Trigger{Node: "core0", OnLoop: ptr(true)}}, "trigger: core1 says on the loop: no, expected yes"},
		{"latency", nil, scenario.Expect{MaxLatency: 800 * unit.Microsecond}, "latency: 0.970 ms at core1, expected at most 0.800 ms"},
		{"lost", func(v *Verdict) { v.lose("h2", "headroom_full", 2) }, scenario.Expect{LosslessLost: ptr(1)}, "lossless_lost: 2 frames (2 headroom_full at h2), expected at most 1"},
		{"lost, nothing said of it", func(v *Verdict) { v.lose("h2", "headroom_full", 2) }, scenario.Expect{}, "NOT lossless: 2 lossless frames lost: 2 headroom_full at h2"},
		{"lost, any number allowed", func(v *Verdict) { v.lose("h2", "headroom_full", 2) }, scenario.Expect{LosslessLost: ptr(scenario.AnyLoss)}, ""},
		{"lost, allowed", func(v *Verdict) { v.LosslessLost = 2 }, scenario.Expect{LosslessLost: ptr(2)}, ""},
		{"pauses", nil, scenario.Expect{MinXOFF: 5}, "pfc: 4 XOFF, expected at least 5"},
	} {
		v := onLoopRun(t)
		if c.edit != nil {
			c.edit(v)
		}
		v.check(c.want)
		if v.ExpectedMet != (c.miss == "") || c.miss != "" && !slices.Contains(v.Reasons, c.miss) {
			t.Errorf("%s: met %t, reasons %q, want %q", c.name, v.ExpectedMet, v.Reasons, c.miss)
		}
	}
}

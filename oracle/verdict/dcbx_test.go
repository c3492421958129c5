package verdict

import (
	"strings"
	"testing"

	"softswitch/node/observe"
	"softswitch/scenario"
)

// TestDCBX: what the ends of links disagree on is told, and is named as a reason where lossless
// frames were lost.
func TestDCBX(t *testing.T) {
	pfc := observe.Mismatch{Feature: "pfc", Times: 1, Lasts: true, System: "h1", Own: []int{3, 4}, Peer: []int{}}
	ets := observe.Mismatch{Feature: "ets", Times: 3, System: "s1"}
	v := &Verdict{}
	v.countDCBX(
		[]observe.Switch{{Name: "s1", Ports: []observe.Port{{Name: "to-h1", LLDP: &observe.LLDP{Mismatches: []observe.Mismatch{pfc}}}, {Name: "to-s2"}}}},
		[]observe.Host{{Name: "h1", NICs: []observe.HostNIC{{LLDP: &observe.LLDP{Mismatches: []observe.Mismatch{ets}}}}}, {Name: "h2"}},
	)
	want := []string{
		"s1 to-h1 and h1 disagree on lossless priorities: 3, 4 at s1, none at h1",
		"h1 and s1 disagree on shares of the priorities (ETS); 3 times; over at the end",
	}
	if len(v.DCBX) != len(want) {
		t.Fatalf("%+v", v.DCBX)
	}
	for i, f := range v.DCBX {
		if f.String() != want[i] {
			t.Errorf("%q, want %q", f, want[i])
		}
	}
	var table table
	v.writeDCBX(&table)
	if !strings.Contains(table.String(), "dcbx        "+want[0]) {
		t.Errorf("table %q", table.String())
	}
	v.check(scenario.Expect{})
	if !v.ExpectedMet {
		t.Errorf("nothing was lost: %v", v.Reasons)
	}
	v.LosslessLost = 1
	v.check(scenario.Expect{})
	if v.ExpectedMet || !strings.HasSuffix(v.Reasons[0], want[0]) {
		t.Errorf("reasons %q", v.Reasons)
	}
}

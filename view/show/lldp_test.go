package show

import (
	"strings"
	"testing"

	"softswitch/internal/control"
	"softswitch/link/lldp"
	"softswitch/node/observe"
	"softswitch/unit"
)

// TestLLDP: neighbours and what they say, in each state.
func TestLLDP(t *testing.T) {
	own := observe.DCBX{PFC: &observe.PFC{Lossless: []int{3, 4}}, ETS: &observe.ETS{Class: [unit.Priorities]uint8{0, 1, 2, 3, 4, 5, 6, 7}}}
	own.ETS.TSA[0], own.ETS.Share[0] = lldp.Enhanced, 100
	other := observe.DCBX{PFC: &observe.PFC{Willing: true, Lossless: []int{}}, ETS: &observe.ETS{}}
	n := func(name string, d observe.DCBX) observe.Neighbour {
		return observe.Neighbour{ChassisID: "02:00:00:00:00:01", PortID: "to-s1", System: name, Capabilities: "BR", DCBX: d}
	}
	ports := []lldpPort{
		{"to-s2", observe.LLDP{Own: own, Neighbours: []observe.Neighbour{n("s2", own)}, Mismatches: []observe.Mismatch{{Feature: "pfc"}}}},
		{"to-s3", observe.LLDP{Own: own, Neighbours: []observe.Neighbour{n("s3", other)}, Mismatches: []observe.Mismatch{{Feature: "pfc", Lasts: true}, {Feature: "ets", Lasts: true}}}},
		{"to-h1", observe.LLDP{Own: own, Neighbours: []observe.Neighbour{n("", observe.DCBX{})}}},
		{"to-hub", observe.LLDP{Own: own, Neighbours: []observe.Neighbour{n("a", own), n("b", own)}}},
		{"to-h2", observe.LLDP{Own: own}},
	}
	ends := []control.Endpoint{{Name: "s1"}}
	for want, v := range map[string]View[[]lldpPort]{
		`Switch  LocalPort  RemoteDevice       RemotePortID  Capability  RemotePortDescr
------  ---------  -----------------  ------------  ----------  ---------------
s1      to-s2      s2                 to-s1         BR          -
s1      to-s3      s3                 to-s1         BR          -
s1      to-h1      02:00:00:00:00:01  to-s1         BR          -
s1      to-hub     a                  to-s1         BR          -
s1      to-hub     b                  to-s1         BR          -
Capability codes: (B) Bridge, (R) Router, (S) Station, (O) Other
Total entries displayed: 5
`: LLDPNeighbours(),
		`Switch  LocalPort  RemoteDevice       Lossless  Remote  Willing  ETS     Remote  State
------  ---------  -----------------  --------  ------  -------  ------  ------  ------------------
s1      to-s2      s2                 3,4       3,4     no       0:100%  0:100%  ok
s1      to-s3      s3                 3,4       none    yes      0:100%  strict  MISMATCH: PFC, ETS
s1      to-h1      02:00:00:00:00:01  3,4       -       -        0:100%  -       no DCBX
s1      to-hub     a                  3,4       3,4     no       0:100%  0:100%  several neighbors
s1      to-hub     b                  3,4       3,4     no       0:100%  0:100%  several neighbors
`: LLDPDCBX(),
	} {
		var out strings.Builder
		if err := v.Write(&out, ends, [][]lldpPort{ports}); err != nil || out.String() != want {
			t.Errorf("%v, got\n%swant\n%s", err, &out, want)
		}
	}
	var out strings.Builder
	if err := LLDPNeighbours().Write(&out, ends, [][]lldpPort{{}}); err != nil || out.String() != noLLDP+"\n" {
		t.Errorf("%v, %q", err, &out)
	}
}

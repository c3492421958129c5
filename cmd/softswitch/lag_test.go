package main

import (
	"encoding/json"
	"testing"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
)

// TestLAG plays a LAG of which a member is cut amid pauses in both worlds: only what waited for that member,
// or was on its wire, is lost, and each member has its part of the flows.
func TestLAG(t *testing.T) {
	const file = "../../scenarios/lag.yaml"
	b := newBed(t)
	live, _ := b.play(file)
	var simulated verdict.Verdict
	b.noError(json.Unmarshal([]byte(b.run(b.command("sim", "run", file, "--json")).stdout), &simulated))
	for world, v := range map[string]*verdict.Verdict{"live": &live, "simulated": &simulated} {
		if !v.ExpectedMet {
			t.Errorf("%s: %q", world, v.Reasons)
		}
		others := lists.Where(v.LosslessLostAt, func(l verdict.Loss) bool { return l.Reason != "wire" && (l.Node != "s1" || l.Reason != "link_down") })
		if len(v.LosslessLostAt) == 0 || len(others) > 0 {
			t.Errorf("%s: lost are %v, want frames that waited for the link at s1, and of its wire", world, v.LosslessLostAt)
		}
		if len(v.LAGs) != 2 || len(v.LAGs[0].Members) != 3 {
			t.Fatalf("%s: LAGs are %v, want both directions of three members", world, v.LAGs)
		}
		sum := lists.Sum(v.LAGs[0].Members, func(m verdict.LAGMember) uint64 { return m.Bytes })
		for _, m := range v.LAGs[0].Members {
			if !m.Up || m.Bytes < sum/4 {
				t.Errorf("%s: %s carried %d of %d bytes and is up: %v; want a quarter or more, and up", world, m.Link, m.Bytes, sum, m.Up)
			}
		}
	}
}

package scenario

import (
	"fmt"
	"testing"
)

// TestBuilders: the fabrics of every builder, rewired, compile, and flows cross them.
func TestBuilders(t *testing.T) {
	for _, c := range []struct{ topology, from, to, want string }{
		{"leafspine: {leaves: 3, spines: 2, hosts_per_leaf: 2}", "h0-0", "h2-1", "leaf0 spine0 leaf2"},
		{"leafspine: {leaves: 3, spines: 2, hosts_per_leaf: 2}, rewire: [{remove: leaf0--spine0}]", "h0-0", "h2-1", "leaf0 spine1 leaf2"},
		{"jellyfish: {switches: 8, degree: 3, hosts_per_switch: 1, seed: 1}", "h1-0", "h8-0", "s1 s7 s8"},
		{"jellyfish: {switches: 8, degree: 3, hosts_per_switch: 1, seed: 2}", "h1-0", "h8-0", "s1 s2 s8"},
		{"dragonfly: {groups: 9, routers_per_group: 4, hosts_per_router: 2, global_links: 2}", "h0-0-0", "h8-0-1", "r0-0 r0-3 r8-0"},
		{"ring: {switches: 6, hosts_per_switch: 1}, rewire: [{add: s1--s4}]", "h1-0", "h4-0", "s1 s4"},
		{"switches: [s1, s2, s3], hosts: [h1, h3], links: [s1--h1, s3--h3, s1--s2, s2--s3], rewire: [{swap: [h1--s1, s2--s3]}, {add: s1--s3}]", "h1", "h3", "s3"},
	} {
		p := compile(t, "x.yaml", fmt.Sprintf("name: x\ntopology: {%s, rate: 1Gbit/s}\nflows: [{name: A, from: %s, to: %s}]\nduration: 1s\n", c.topology, c.from, c.to))
		checkPlan(t, p)
		if got := p.Fabric.String(p.Flows[0].Hops); got != c.want || p.Flows[0].Err != nil {
			t.Errorf("%s: from %s to %s by %s (%v), want %s", c.topology, c.from, c.to, got, p.Flows[0].Err, c.want)
		}
	}
}

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/unit"
)

// TestRouting: a scenario's routes are those of its protocol, and of the AS numbers of its switches.
func TestRouting(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"routing: backups", "s2, else s5"},
		{"routing: igp", "s2"},
		{"routing: bgp", "s2"},
		{"routing: bgp, shared_as: [[s1, s3]]", "no way"},
		{"routing: bgp, shared_as: [[s1, s2]]", "s5"},
	} {
		p := compile(t, "x.yaml", fmt.Sprintf("name: x\ntopology: {ring: {switches: 5, hosts_per_switch: 1}, rate: 1Gbit/s, %s}\nduration: 1s\n", c.keys))
		names := func(ports unit.PortSet) string {
			var all []string
			for _, j := range p.list(ports) {
				all = append(all, p.Fabric.Nodes[p.Fabric.Nodes[0].Ports[j].Peer.Node].Name)
			}
			return strings.Join(all, " or ")
		}
		s3, _ := p.Fabric.Node("s3")
		g := p.Table.Group(0, p.Fabric.SubnetOf(s3))
		got := names(g.Ports)
		if !g.Backup.Empty() {
			got += ", else " + names(g.Backup)
		}
		if got == "" {
			got = "no way"
		}
		if got != c.want {
			t.Errorf("%s: s1 to s3 by %s, want %s", c.keys, got, c.want)
		}
	}
}

// TestRoutingWarns: a run does not find other routes after a failure, and says so where there is one.
func TestRoutingWarns(t *testing.T) {
	for _, c := range []struct {
		routing, do string
		warns       int
	}{
		{"backups", "fail", 0},
		{"igp", "fail", 1},
		{"bgp", "fail", 1},
		{"bgp", "heal", 0},
	} {
		p := compile(t, "x.yaml", fmt.Sprintf("name: x\ntopology: {fattree: {k: 4}, rate: 1Gbit/s, routing: %s}\nevents: [{at: 1ms, do: %s, link: core0--agg1-0}]\nduration: 1s\n", c.routing, c.do))
		n := 0
		for _, w := range p.Warnings {
			if strings.Contains(w, "topology.routing: a run keeps the routes of "+c.routing) {
				n++
			}
		}
		if n != c.warns {
			t.Errorf("%s with %s: %q, want %d of routing", c.routing, c.do, p.Warnings, c.warns)
		}
	}
}

package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/topo"
	"softswitch/unit"
)

// lagFabric is a square of switches, of which two sides are LAGs, and a diagonal.
const lagFabric = `name: x
topology:
  ring: {switches: 4, hosts_per_switch: 2}
  rewire: [{add: s1--s3}]
  lags: [{link: [s1--s2, s4--s3], members: 3}]
  rate: 1Gbit/s
  overrides: [{link: "s2--s1#3", delay: 1ms}]
flows: [{name: A, from: h1-0, to: h2-1, count: 200}, {name: B, from: h2-0, to: h4-1, count: 200}]
duration: 1s
`

// TestLAGPlan: links that a LAG lacks are there, with properties of their own, and the switches at both
// ends have the LAG.
func TestLAGPlan(t *testing.T) {
	p := compile(t, "x.yaml", lagFabric)
	checkPlan(t, p)
	var names []string
	for _, l := range p.Fabric.LAGs[0].Links {
		names = append(names, p.Links[l].Name)
	}
	if want := []string{"s1--s2", "s1--s2#2", "s1--s2#3"}; !slices.Equal(names, want) {
		t.Errorf("members %v, want %v", names, want)
	}
	if last, first := p.Links[p.Fabric.LAGs[0].Links[2]], p.Links[p.Fabric.LAGs[0].Links[0]]; last.Delay != unit.Millisecond || first.Delay != 0 {
		t.Errorf("delays %v of the third member and %v of the first, want 1ms and 0", last.Delay, first.Delay)
	}
	for _, s := range p.Switches {
		if len(s.LAGs) != 1 || s.LAGs[0].Name != "PortChannel1" || len(s.LAGs[0].Ports) != 3 {
			t.Errorf("%s has %+v, want one LAG of three", s.Name, s.LAGs)
		}
	}
	// s1 has two shortest ways to s4's subnet: by the ring, and by the diagonal with the LAG behind it.
	// Each neighbour is one, so a frame of s2 to s4 takes s1 in half of the cases, not in three quarters.
	first := map[string]int{}
	for _, f := range p.Flows[200:] {
		first[p.Fabric.Nodes[f.Hops[1].Node].Name]++
	}
	if n := first["s1"]; n < 60 || n > 140 {
		t.Errorf("of 200 flows from s2 to s4 %v take these next, want half each", first)
	}
}

// TestLAGPathsAreTheSwitches: whatever links have failed, a flow's path by the plan is the one on which the
// switches send it.
func TestLAGPathsAreTheSwitches(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	p := compile(t, "x.yaml", lagFabric)
	members := map[unit.Port]int{}
	for range testkit.Sized(100, 2000) {
		down := make([]bool, len(p.Fabric.Links))
		for l, link := range p.Fabric.Links {
			down[l] = link.B.Node < p.Fabric.Switches() && r.IntN(3) == 0
		}
		switches := lagSwitches(t, p, down)
		for i, f := range p.Scenario.Flows {
			hash := p.Hash(i)
			hops, err := p.Table.Path(topo.End{Node: f.From}, topo.End{Node: f.To}, hash, f.TTL, func(l int) bool { return down[l] })
			for k, h := range hops {
				dst := uint32(p.Fabric.Nodes[f.To].Addr)
				if out := switches[h.Node].Way(h.In, dst, f.Priority, hash); out != h.Out {
					t.Fatalf("flow %d, hop %d of %s (%v): %s sends it by port %d, and the plan has %d", i, k, p.Fabric.String(hops), err, p.Fabric.Nodes[h.Node].Name, out, h.Out)
				}
				members[h.Out]++
			}
		}
	}
	if len(members) < 5 {
		t.Errorf("frames left by these ports only: %v", members)
	}
}

// lagSwitches are the switches of a plan, with these links down.
func lagSwitches(t *testing.T, p *Plan, down []bool) (all []*dataplane.Switch) {
	t.Helper()
	for i := range p.Switches {
		s, err := dataplane.NewSwitch(p.Switches[i].Build(nil, 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		// Links come up before they fail: a route that has had no primary port has not failed.
		for _, up := range []bool{true, false} {
			for j, port := range p.Fabric.Nodes[i].Ports {
				s.SetLink(0, unit.Port(j), up || !down[port.Link])
			}
		}
		all = append(all, s)
	}
	return all
}

// TestLAGBackup: n, from which s gets frames back by links of which none is the one by which they went,
// is no backup of s; if these links are a LAG, n returns none, and all of them are.
func TestLAGBackup(t *testing.T) {
	const fabric = "name: x\ntopology: {switches: [s, n, m, d], hosts: [h], links: [s--d, s--n, s--n, n--m, m--d, d--h]%s, rate: 1Gbit/s}\nduration: 1s\n"
	for lags, want := range map[string]int{"": 0, ", lags: [{link: s--n}]": 2} {
		p := compile(t, "x.yaml", fmt.Sprintf(fabric, lags))
		at, _ := p.Fabric.Node("s")
		if g := p.Table.Group(at, 0); g.Backup.Len() != want {
			t.Errorf("%q: backup %v, want %d ports", lags, g.Backup, want)
		}
	}
}

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/unit"
)

// TestSeveralFlows: of one entry come flows from several hosts, and several of a kind,
// which differ in their source ports.
func TestSeveralFlows(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {fattree: {k: 4}, rate: 1Gbit/s}
flows:
  - {name: A, from: [h0-0-0, h0-0-1], to: h1-0-0, count: 2, priority: 4}
  - {name: B, from: [h2-0-0], to: h1-0-0}
  - {name: C, from: h3-0-0, to: h1-0-0, via: [core3], count: 40}
duration: 1s
`)
	checkPlan(t, p)
	var got []string
	ports := map[string]bool{}
	for i, f := range p.Scenario.Flows {
		if i < 6 {
			got = append(got, fmt.Sprintf("%s %s %d", f.Name, p.Fabric.Nodes[f.From].Name, f.Priority))
		}
		ports[fmt.Sprint(f.From, f.To, p.Flows[i].SrcPort)] = true
		if int(p.Flows[i].Number) != i {
			t.Errorf("flow %d has number %d", i, p.Flows[i].Number)
		}
	}
	if want := "A-h0-0-0-1 h0-0-0 4, A-h0-0-0-2 h0-0-0 4, A-h0-0-1-1 h0-0-1 4, A-h0-0-1-2 h0-0-1 4, B-h2-0-0 h2-0-0 3, C-1 h3-0-0 3"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if len(p.Scenario.Flows) != 45 || len(ports) != 45 {
		t.Errorf("%d flows with %d different source ports between two hosts, want 45, 45", len(p.Scenario.Flows), len(ports))
	}
	if n := len(p.Hosts[0].Flows); n != 2 || p.Hosts[0].Flows[1].Name != "A-h0-0-0-2" {
		t.Errorf("h0-0-0 has flows %+v", p.Hosts[0].Flows)
	}
}

// TestPath: flows go the way that is written, whichever their hash, and so does what
// others send there from a switch of it on.
func TestPath(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {fattree: {k: 4}, rate: 1Gbit/s}
flows:
  - {name: A, from: [h0-0-0, h0-0-1], to: h1-0-0, count: 8, path: [edge0-0, agg0-1, core3, agg2-1, core2, agg1-1, edge1-0]}
  - {name: B, from: h2-0-0, to: h1-0-1, path: [edge2-0, agg2-1, core2, agg1-1, edge1-0]}
  - {name: C, from: h0-1-0, to: h1-0-1, via: [agg0-1]}
  - {name: D, from: h0-0-0, to: h0-0-1, path: [edge0-0]}
duration: 1s
`)
	checkPlan(t, p)
	for i, f := range p.Scenario.Flows {
		want := map[byte]string{
			'A': "edge0-0 agg0-1 core3 agg2-1 core2 agg1-1 edge1-0",
			'B': "edge2-0 agg2-1 core2 agg1-1 edge1-0",
			'C': "edge0-1 agg0-1 core3 agg2-1 core2 agg1-1 edge1-0",
			'D': "edge0-0",
		}[f.Name[0]]
		if got := p.Fabric.String(p.Flows[i].Hops); got != want || p.Flows[i].Err != nil {
			t.Errorf("%s goes %s (%v), want %s", f.Name, got, p.Flows[i].Err, want)
		}
	}
	if n := len(p.Scenario.Routes); n != 7 {
		t.Errorf("%d routes, want one for each of the 7 switches that have to send", n)
	}
}

// TestManyFlows: many flows of a large fabric, those that need a search among them.
func TestManyFlows(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {fattree: {k: 8}, rate: 1Gbit/s}
flows:
  - {name: A, from: h0-0-0, to: h1-0-0, count: 10000}
  - {name: B, from: h0-0-1, to: h1-0-0, count: 100, via: [agg0-1, core5, agg1-1]}
routes: [{at: core5, to: h1-0-0, ports: [agg2-1]}, {at: agg2-1, to: h1-0-0, ports: [core6]}]
duration: 1s
`)
	if len(p.Flows) != 10100 || len(p.Hosts[0].Flows) != 10000 {
		t.Errorf("%d flows, %d of h0-0-0", len(p.Flows), len(p.Hosts[0].Flows))
	}
	if got, want := p.Fabric.String(p.Flows[10099].Hops), "edge0-0 agg0-1 core5 agg2-1 core6 agg1-1 edge1-0"; got != want {
		t.Errorf("the last flow goes %s, want %s", got, want)
	}
}

// TestFasterThanLinks: a file is warned of flows that are to be faster than the link of their host, once for
// an entry, and of hosts that are to be slow at more than that.
func TestFasterThanLinks(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology:
  switches: [s1]
  hosts: [h1, h2, h3]
  links: [s1--h1, s1--h2, s1--h3]
  rate: 100Mbit/s
  overrides: [{link: s1--h3, rate: 1Gbit/s}]
flows:
  - {name: A, from: [h3, h2], to: h1, rate: 200Mbit/s}
  - {name: B, from: h1, to: h2, rate: 100Mbit/s}
  - {name: C, from: h1, to: h2}
events:
  - {at: 2ms, do: slow, host: h2, rate: 1Gbit/s}
  - {at: 1ms, do: slow, host: h3, rate: 1Gbit/s}
duration: 1s
`)
	want := []string{
		"x.yaml:10: flows[0].rate: 200Mbit/s is more than the link of h2 has, which is 100Mbit/s",
		"x.yaml:14: events[0].rate: 1Gbit/s is more than the link of h2 has, which is 100Mbit/s",
	}
	if !slices.Equal(p.Scenario.Warnings, want) {
		t.Errorf("warnings %q, want %q", p.Scenario.Warnings, want)
	}
}

// TestFixedNumbers: the numbers of a connection reach both its ends; one that has none has no key.
func TestFixedNumbers(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {switches: [s1], hosts: [a, b], links: [a--s1, s1--b], rate: 1Gbit/s}
flows:
  - {name: A, from: a, to: b, transport: rc}
  - {name: B, from: a, to: b, transport: rc, rc: {message: 4096, qpn: 0x11, to_qpn: 0x22, psn: 0, r_key: 0xffffffff, address: 0xffffffffffff0000}}
duration: 1s
`)
	checkPlan(t, p)
	sends, takes := p.Hosts[0].Flows, p.Hosts[1].Peers
	if sends[0].RC.Fixed != (host.Fixed{}) || takes[0].RC != nil {
		t.Errorf("A: %+v, %+v", sends[0].RC, takes[0].RC)
	}
	k := sends[1].RC.Fixed
	if *k.QPN != 0x11 || *k.ToQPN != 0x22 || *k.PSN != 0 || *k.RKey != 1<<32-1 || *k.Address != 0xffff_ffff_ffff_0000 {
		t.Errorf("B sends with %+v", k)
	}
	if *takes[1].RC != (host.PeerRC{Message: 4096, Fixed: k}) {
		t.Errorf("B is taken with %+v", takes[1].RC)
	}
}

// TestSelectiveFlow: both ends know that a connection is selective, and the sender how much its path holds.
func TestSelectiveFlow(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {switches: [s1], hosts: [a, b], links: [a--s1, s1--b], rate: 1Gbit/s, delay: 50us}
flows:
  - {name: A, from: a, to: b, transport: rc, rc: {recovery: selective}}
  - {name: B, from: a, to: b, transport: rc, rc: {recovery: selective, in_flight: 7, timeout_low: 2ms}}
  - {name: C, from: a, to: b, transport: rc, rate: 10Mbit/s, rc: {recovery: selective}}
  - {name: D, from: a, to: b, transport: rc, rc: {recovery: go-back-n}}
duration: 1s
`)
	checkPlan(t, p)
	sends, takes := p.Hosts[0].Flows, p.Hosts[1].Peers
	// A frame takes 8.976 us on each link, and 50 us of delay; its acknowledgement 0.688 us and as long:
	// 219.3 us together, in which 24.8 frames without a RETH leave. At 10 Mbit/s one takes 884.8 us.
	for i, want := range []int{25, 7, 1, 0} {
		if got := sends[i].RC.InFlight; got != want {
			t.Errorf("%s: %d packets in flight, want %d", sends[i].Name, got, want)
		}
		if got, want := takes[i].RC.Recovery, sends[i].RC.Recovery; got != want {
			t.Errorf("%s: the receiver has %q, want %q", sends[i].Name, got, want)
		}
	}
	if p.Scenario.Flows[0].RC.InFlight != 0 {
		t.Error("the scenario is no longer what its file says")
	}
	slow, err := p.Scenario.Slow(10)
	if err != nil || *slow.Flows[1].RC.TimeoutLow != 20*unit.Millisecond || *p.Scenario.Flows[1].RC.TimeoutLow != 2*unit.Millisecond {
		t.Errorf("ten times slower: %v, %v", slow.Flows[1].RC.TimeoutLow, err)
	}
}

// TestWithoutPFC: no port has a lossless priority, and those that were lossless still mark.
func TestWithoutPFC(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology:
  switches: [s1, s2]
  hosts: [a, b]
  links: [a--s1, s1--s2, s2--b]
  rate: 1Gbit/s
  ports: [{link: s1--s2, lossless: [3]}]
flows: [{name: A, from: a, to: b, transport: rc}]
prevention: {no_flood: true}
congestion: {}
duration: 1s
`)
	s := p.Scenario
	s.WithoutPFC()
	if len(s.Lossless()) != 0 || s.Prevention != nil {
		t.Errorf("lossless are %v, prevention %v", s.Lossless(), s.Prevention)
	}
	lossy, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, sw := range lossy.Switches {
		for _, port := range sw.Ports {
			if got := sw.PFC.LosslessAt(port); len(got) != 0 {
				t.Errorf("%s %s: lossless are %v", sw.Name, port.Name, got)
			}
		}
		if !slices.Equal(sw.ECN.Priorities, []int{3, 4}) {
			t.Errorf("%s: %v mark, want 3 and 4", sw.Name, sw.ECN.Priorities)
		}
	}
	if got := *p.Switches[0].Ports[1].Lossless; !slices.Equal(got, []int{3}) {
		t.Errorf("the plan before has %v", got)
	}
}

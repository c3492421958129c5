package scenario

import (
	"reflect"
	"slices"
	"testing"

	"softswitch/scenarios"
)

// The hosts of nics are hosts like others, without flows and acts.
func TestNICs(t *testing.T) {
	p := compile(t, "two-switches.yaml", string(scenarios.NIC))
	checkPlan(t, p)
	if want := []int{2, 3}; !reflect.DeepEqual(p.Scenario.NICs, want) {
		t.Errorf("NICs at nodes %v, want %v", p.Scenario.NICs, want)
	}
	for _, h := range p.Hosts {
		if len(h.Flows)+len(h.Acts) > 0 || h.Stack != "" {
			t.Errorf("%s: %d flows, %d acts, stack %q", h.Name, len(h.Flows), len(h.Acts), h.Stack)
		}
	}
}

// A flow with a handshake is a program of its host, and one with numbers a flow or a peer; the program's end has
// neither.
func TestFlowsWithPrograms(t *testing.T) {
	p := compile(t, "x.yaml", `
name: x
topology: {switches: [s1], hosts: [h1, a, b, c], links: [h1--s1, a--s1, b--s1, c--s1], rate: 10Mbit/s}
nics: [h1]
flows:
  - {name: A, from: a, to: h1, transport: rc, size: 131072, start: 5ms±1ms, rc: {handshake: perftest, operation: send}}
  - {name: B, from: h1, to: b, transport: rc, rc: {handshake: rdma_cm}}
  - {name: C, from: h1, to: c, transport: rc, rc: {to_qpn: 0x22}}
  - {name: D, from: c, to: h1, transport: rc, rc: {to_qpn: 0x12}}
duration: 1s
`)
	h1, a, b, c := p.Hosts[0], p.Hosts[1], p.Hosts[2], p.Hosts[3]
	if len(h1.Programs)+len(h1.Flows)+len(h1.Peers)+len(a.Flows)+len(b.Peers) > 0 || len(c.Flows) != 1 || len(c.Peers) != 1 {
		t.Errorf("h1 %+v\na %+v\nb %+v\nc %+v", h1, a, b, c)
	}
	if k := a.Programs[0]; !k.Sends || !k.Client() || k.Number != 0 || k.Peer != h1.Address.IP || k.Size != 131072 || k.RC.Operation != "send" {
		t.Errorf("A: %+v", k)
	}
	if k := b.Programs[0]; k.Sends || k.Client() || k.Number != 1 || k.Peer != h1.Address.IP || k.RC.Handshake != "rdma_cm" {
		t.Errorf("B: %+v", k)
	}
	if !slices.Equal(p.Scenario.Agreeing, []int{2, 3}) {
		t.Errorf("agreeing: nodes %v", p.Scenario.Agreeing)
	}
	for i, want := range []string{"to", "from", "from", "to"} {
		if got := p.Scenario.ProgramEnd(&p.Scenario.Flows[i]); got != want {
			t.Errorf("flow %d: end %q is a program's, want %q", i, got, want)
		}
	}
	drawn := p.Drawn(7)
	if at := drawn.Hosts[1].Programs[0].Start; at != drawn.Scenario.Flows[0].Start || a.Programs[0].Start != p.Scenario.Flows[0].Start {
		t.Errorf("A starts at %v, drawn %v", at, drawn.Scenario.Flows[0].Start)
	}
}

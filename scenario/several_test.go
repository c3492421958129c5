package scenario

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/unit"
)

// dual is two hosts at two switches each, with one address, and one with an address at each of three NICs.
const dual = `name: x
topology:
  switches: [s1, s2, s3]
  hosts: [a, b, c, d]
  shared_address: [a, b]
  links: [s1--a, s2--a, s1--b, s2--b, s1--c, s2--c, s3--c, s3--d, s1--s3, s2--s3]
  rate: 10Gbit/s
flows:
  - {name: F, from: a, to: c, count: 3}
  - {name: G, from: d, to: b}
  - {name: H, from: c, to: d, nic: 1}
duration: 10ms
`

// TestSeveralNICs: the plan of hosts with several NICs.
func TestSeveralNICs(t *testing.T) {
	s, err := Parse("x.yaml", []byte(dual), Known{Detectors: []string{"itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	var flows []string
	for i := range s.Flows {
		f := &s.Flows[i]
		from, to := s.Addresses(f)
		nic := fmt.Sprint(f.NIC)
		if f.NIC == unit.NoPort {
			nic = "any"
		}
		flows = append(flows, fmt.Sprintf("%s %s %d %s %s", f.Name, nic, f.ToNIC, from, to))
	}
	want := "F-1 any 0 10.100.3.2 10.100.0.2, F-2 any 1 10.100.3.2 10.100.1.2, F-3 any 2 10.100.3.2 10.100.2.2, G 0 0 10.100.2.3 10.100.3.3, H 1 0 10.100.1.2 10.100.2.3"
	if got := strings.Join(flows, ", "); got != want {
		t.Errorf("flows\n%s\nwant\n%s", got, want)
	}
	a, c := p.Hosts[0], p.Hosts[2]
	if got := fmt.Sprintln(len(a.NICs), a.Addresses(), a.NICs[0].MAC == a.NICs[1].MAC, a.NICs[0].GatewayMAC == a.NICs[1].GatewayMAC); got != "2 10.100.3.2/24 true true\n" {
		t.Errorf("a: %s", got)
	}
	if got := fmt.Sprintln(len(c.NICs), c.Addresses(), *c.Flows[0].NIC, a.Flows[0].NIC == nil); got != "3 10.100.0.2/24 10.100.1.2/24 10.100.2.2/24 1 true\n" {
		t.Errorf("c: %s", got)
	}
	for i, sw := range p.Switches[:2] {
		sub := sw.Subnets[len(sw.Subnets)-1]
		if got := fmt.Sprint(sub.Prefix, sub.Gateway, sub.Ports, sub.Backup, sub.GatewayMAC == a.NICs[0].GatewayMAC); got != "10.100.3.0/24 10.100.3.1 [0 1] [3] true" {
			t.Errorf("s%d: %s", i+1, got)
		}
	}
}

// TestNICsOfTheirOwn: NICs have PFC of their own, and events name a NIC; what each does is in the
// configuration of its host.
func TestNICsOfTheirOwn(t *testing.T) {
	text := strings.Replace(dual, "  rate: 10Gbit/s", "  rate: 10Gbit/s\n  ports: [{link: s2--a, at: a, lossless: [4], pfc: tx}, {link: s3--c, at: c, pfc: rx}]", 1) + `events:
  - {at: 1ms, do: slow, host: a, nic: 1, rate: 1Gbit/s, for: 1ms}
  - {at: 3ms, do: storm, host: a}
  - {at: 4ms, do: slow, host: c, nic: 2, rate: 1Gbit/s}
`
	s, err := Parse("x.yaml", []byte(text), Known{Detectors: []string{"itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	a := p.Hosts[0].Build(1, 0)
	if one, two := a.NIC, a.More[0]; one.Lossless != 1<<3|1<<4 || one.PFCRxOff || two.Lossless != 1<<4 || !two.PFCRxOff || two.PFCTxOff {
		t.Errorf("NICs of a: %+v, %+v", one, two)
	}
	if c := p.Hosts[2].Build(1, 0); c.PFCTxOff || c.More[0].PFCTxOff || !c.More[1].PFCTxOff {
		t.Errorf("NICs of c: %+v, %+v", c.NIC, c.More)
	}
	var acts []string
	for _, act := range a.Acts {
		nic := "all"
		if act.NIC != unit.NoPort {
			nic = fmt.Sprint(act.NIC)
		}
		acts = append(acts, fmt.Sprint(act.At, " ", act.Do, " ", nic))
	}
	want := fmt.Sprintf("1ms %d 1, 2ms %d 1, 3ms %d all", host.Slow, host.Normal, host.Storm)
	if got := strings.Join(acts, ", "); got != want {
		t.Errorf("acts %s, want %s", got, want)
	}
	var suffer []string
	for i := range s.Flows {
		if s.Suffers(&s.Flows[i]) {
			suffer = append(suffer, s.Flows[i].Name)
		}
	}
	if got := strings.Join(suffer, " "); got != "F-3" {
		t.Errorf("%s suffer, want F-3, which goes to the slow NIC", got)
	}
}

// TestSeveralFaults: what a file cannot say of hosts with several NICs.
func TestSeveralFaults(t *testing.T) {
	for _, c := range []struct{ old, with, want string }{
		{"nic: 1}", "nic: 3}", "x.yaml:11: flows[2].nic: 3: the NICs of c are 0 to 2"},
		{"from: d, to: b}", "from: d, to: b, to_nic: 1}", "x.yaml:10: flows[1].to_nic: 1: b has one address at all of its NICs, and the switches choose by which one the flow gets there"},
		{"shared_address: [a, b]", "shared_address: [a, e]", `x.yaml:5: topology.shared_address[1]: no host of the list hosts is called "e"`},
		{"duration: 10ms", "duration: 10ms\ndead: [b]", `x.yaml:13: dead: "b" has several links: a dead host has one, and its switch floods what is for it`},
		{"duration: 10ms", "duration: 10ms\nevents: [{at: 1ms, do: slow, host: a, nic: 2, rate: 1Gbit/s}]", "x.yaml:13: events[0].nic: 2: the NICs of a are 0 to 1"},
		{"duration: 10ms", "duration: 10ms\nevents: [{at: 1ms, do: fail, link: s1--a, nic: 1}]", "x.yaml:13: events[0].nic: fail has no such key; its keys are at, do, link"},
		{"  rate: 10Gbit/s", "  rate: 10Gbit/s\n  ports: [{link: s1--a, at: a, lossless: [4]}]\nevents: [{at: 1ms, do: storm, host: a, nic: 0}]", "x.yaml:9: events[0].priority: priority 3 is lossy at the port of a; use one of [4], or add it in topology.ports"},
		{"  rate: 10Gbit/s", "  rate: 10Gbit/s\n  ports: [{link: s2--a, at: a, pfc: rx}]\nevents: [{at: 1ms, do: storm, host: a, nic: 1}]", "x.yaml:9: events[0].host: a sends no pauses: pfc of its port is rx in topology.ports; use both or tx there"},
		{"duration: 10ms", "duration: 10ms\nrewire: 1", `unknown key "rewire"`},
		{"s2--b,", "s1--b,", `host "b" has two links to "s1": with one address at all links, each leads to another switch`},
	} {
		text := strings.Replace(dual, c.old, c.with, 1)
		if _, err := Parse("x.yaml", []byte(text), Known{Detectors: []string{"itsy"}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.with, err, c.want)
		}
	}
}

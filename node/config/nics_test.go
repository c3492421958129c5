package config

import (
	"reflect"
	"strings"
	"testing"

	"softswitch/unit"
)

// several is a host with two NICs of one address.
const several = `name: h1
id: 7
nics:
  - {name: eth0, mac: 02:00:00:00:00:01, rate: 10Gbit/s, address: 10.0.1.2/24, gateway: 10.0.1.1, gateway_mac: 02:00:00:00:00:fe}
  - {name: eth1, mac: 02:00:00:00:00:01, rate: 10Gbit/s, address: 10.0.1.2/24, gateway: 10.0.1.1, gateway_mac: 02:00:00:00:00:fe}
flows:
  - {number: 0, name: any, to: 10.0.2.2, src_port: 50000, priority: 3}
  - {number: 1, name: second, to: 10.0.2.2, src_port: 50001, priority: 3, nic: 1}
`

// TestNICs: a host with several NICs is what its file says, and is written as it was read.
func TestNICs(t *testing.T) {
	h, err := LoadHost("h1.yaml", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadHost("again", h.Marshal())
	if err != nil || !reflect.DeepEqual(h, again) {
		t.Errorf("%v\n%+v\n%+v", err, h, again)
	}
	c := h.Build(1, 0)
	if len(c.NICs()) != 2 || c.Flows[0].NIC != unit.NoPort || c.Flows[1].NIC != 1 {
		t.Errorf("%d NICs, flows leave by %d and %d", len(c.NICs()), c.Flows[0].NIC, c.Flows[1].NIC)
	}
	apart, err := LoadHost("h1.yaml", []byte(strings.Replace(several, "eth1, mac: 02:00:00:00:00:01, rate: 10Gbit/s, address: 10.0.1.2/24", "eth1, mac: 02:00:00:00:00:02, rate: 10Gbit/s, address: 10.0.1.3/24", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if nic := apart.Build(1, 0).Flows[0].NIC; nic != 0 {
		t.Errorf("with two addresses a flow leaves by NIC %d unless it names another, want 0", nic)
	}
}

// TestNICsOfTheirOwn: each NIC has its own lossless priorities and PFC, and acts of its own.
func TestNICsOfTheirOwn(t *testing.T) {
	text := strings.Replace(several, "name: eth1,", "name: eth1, lossless: [5], pfc: tx,", 1)
	h, err := LoadHost("h1.yaml", []byte(text+"acts:\n  - {do: storm, priority: 5}\n  - {do: slow, rate: 1Mbit/s, nic: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := h.Build(1, 0)
	if c.Lossless != 1<<3|1<<4 || c.PFCTxOff || c.PFCRxOff {
		t.Errorf("NIC 0: %+v", c.NIC)
	}
	if n := c.More[0]; n.Lossless != 1<<5 || n.PFCTxOff || !n.PFCRxOff {
		t.Errorf("NIC 1: %+v", n)
	}
	if c.Acts[0].NIC != unit.NoPort || c.Acts[1].NIC != 1 {
		t.Errorf("acts %+v, want one of all NICs and one of NIC 1", c.Acts)
	}
}

// TestNICFaults: what is wrong with NICs is told where it is.
func TestNICFaults(t *testing.T) {
	for _, c := range []struct{ old, with, want string }{
		{"id: 7", "id: 7\nport: {name: eth2}", "h1.yaml:3: port: there is nics too, which has it for each NIC: write one of the two"},
		{"name: eth1", "name: eth0", `nics[1].name: "eth0" is another NIC's already`},
		{"nic: 1}", "nic: 2}", "flows[1].nic: 2: use 0 to 1"},
		{"to: 10.0.2.2", "to: 10.0.1.2", "flows[0].to: 10.0.1.2 is the host's own address"},
		{"gateway: 10.0.1.1", "gateway: 10.0.3.1", "nics[0].gateway: 10.0.3.1 is not another address of the subnet of 10.0.1.2/24"},
		{"id: 7", "id: 7\nstack: nic0", "nics: a host with a stack has one NIC"},
		{"name: eth1,", "name: eth1, trust: pcp,", "nics[1]: trust and dscp_map are of a switch's port; a host's priorities are DSCP / 8"},
		{"name: eth1,", "name: eth1, lossless: [3, 3],", "nics[1].lossless[1]: priority 3 is in the list already"},
		{"id: 7", "id: 7\nacts: [{do: normal, nic: 2}]", "acts[0].nic: 2: use 0 to 1"},
		{"id: 7\nnics:", "id: 7\nacts: [{do: storm, priority: 5, nic: 0}]\nnics:", "acts[0].priority: priority 5 is not lossless; use one of [3 4]"},
		{"id: 7\nnics:\n  - {name: eth0,", "id: 7\nacts: [{do: storm, priority: 3, nic: 0}]\nnics:\n  - {name: eth0, pfc: rx,", "acts[0].do: storm, and pfc of the port is rx: it sends no pauses of priority 3"},
	} {
		if _, err := LoadHost("h1.yaml", []byte(strings.Replace(several, c.old, c.with, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.with, err, c.want)
		}
	}
}

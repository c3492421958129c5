package config

import (
	"reflect"
	"strings"
	"testing"

	"softswitch/unit"
)

const portsSwitch = `
name: s1
id: 7
trust: dscp
dscp_map: {9: 1}
ports:
  - {name: a, peer: switch, lossless: [2, 3], pfc: tx, trust: pcp}
  - {name: b, peer: switch, lossless: [], pfc: rx, dscp_map: {26: 4}}
  - {name: c, peer: switch, pfc: asymmetric}
`

// TestPortsOfTheirOwn: what ports say of priorities and pauses comes into the machine's configuration,
// and a file that is written is read as it was.
func TestPortsOfTheirOwn(t *testing.T) {
	s, warnings, err := LoadSwitch("s1.yaml", []byte(portsSwitch))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	again, _, err := LoadSwitch("s1.yaml", s.Marshal())
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%v: read again it is %+v", err, again.Ports)
	}
	c := s.Build(nil, 8, 0)
	if want := []unit.PrioritySet{1<<2 | 1<<3, 0, 1<<3 | 1<<4}; !reflect.DeepEqual(c.Buffer.LosslessOf, want) || c.Buffer.Lossless != 1<<2|1<<3|1<<4 {
		t.Errorf("lossless %v by port, %v in all", c.Buffer.LosslessOf, c.Buffer.Lossless)
	}
	a, b := c.Ports[0], c.Ports[1]
	if a.PFCTxOff || !a.PFCRxOff || !b.PFCTxOff || b.PFCRxOff || b.PFCRxAll || c.Ports[2].PFCTxOff || c.Ports[2].PFCRxOff || !c.Ports[2].PFCRxAll {
		t.Errorf("pfc: %+v", c.Ports)
	}
	if !a.Classes.TrustPCP || b.Classes.TrustPCP || b.Classes.DSCP[26] != 4 || b.Classes.DSCP[9] != 1 || c.Ports[2].Classes != nil {
		t.Errorf("classes: %+v, %+v, %+v", a.Classes, b.Classes, c.Ports[2].Classes)
	}
}

// TestPortsAreRefused: what does not fit the rest of the file is a fault at its port.
func TestPortsAreRefused(t *testing.T) {
	const file = "name: s1\nid: 7\nports:\n- {name: a, peer: switch, "
	for of, want := range map[string]string{
		"lossless: [3, 3]}\n":                 "ports[0].lossless[1]: priority 3 is in the list already",
		"dscp_map: {64: 3}}\n":                "ports[0].dscp_map.64: 64: use 0 to 63",
		"dscp_map: {8: 3}}\ntrust: pcp\n":     "ports[0].dscp_map: the priority of what comes in by the port is that of its 802.1Q tag",
		"trust: pcp}\nno_flood: true\n":       "ports[0]: trust or dscp_map of its own, and no_flood marks frames",
		"lossless: [3]}\nttl_band: 20\n":      "ports[0].lossless: [3], and ttl_band gives frames priorities [3 4], which may come by any port: add [4]",
		"pfc: none}\n":                        `ports[0].pfc: "none"; use both, tx, rx, asymmetric`,
		"lossless: [3]}\nlimits: [{port: 0}]": "limits[0].rate",
	} {
		if _, _, err := LoadSwitch("s1.yaml", []byte(file+of)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", of, err, want)
		}
	}
	const host = "name: h1\nid: 8\naddress: 10.0.0.2/24\ngateway: 10.0.0.1\ngateway_mac: 02:00:00:00:00:01\nacts: [{do: storm, priority: 3}]\nport: {name: a, "
	for of, want := range map[string]string{
		"pfc: rx}\n":       "acts[0].do: storm, and pfc of the port is rx",
		"lossless: [4]}\n": "acts[0].priority",
		"trust: pcp}\n":    "port: trust and dscp_map are of a switch's port",
	} {
		if _, err := LoadHost("h1.yaml", []byte(host+of)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", of, err, want)
		}
	}
}

// TestPortsNeedHeadroom: the pool of headroom is for the groups that there are, and a port without
// lossless priorities needs none.
func TestPortsNeedHeadroom(t *testing.T) {
	s, _, err := LoadSwitch("s1.yaml", []byte(portsSwitch+"buffer: {xoff: 10000, headroom_pool: {ratio: 1, port: 0}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.BuildHeadroomPool().Bytes; got != 4*10000 {
		t.Errorf("a pool of %d bytes, want that of four groups", got)
	}
	small := strings.Replace(portsSwitch, "{name: c, peer: switch, pfc: asymmetric}", "{name: c, peer: switch, lossless: [], rate: 10Gbit/s}", 1)
	if _, warnings, err := LoadSwitch("s1.yaml", []byte(small+"buffer: {xoff: 3100}\n")); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "port a") {
		t.Errorf("%v, %q; want a warning of port a alone", err, warnings)
	}
}

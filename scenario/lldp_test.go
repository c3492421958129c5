package scenario

import (
	"strings"
	"testing"

	"softswitch/unit"
)

// TestLLDP: the key is for all nodes of the plan, off without it, and refuses an interval that LLDP
// cannot say.
func TestLLDP(t *testing.T) {
	const text = "name: x\ndetector: none\ntopology: {switches: [s1], hosts: [h1, h2], links: [h1--s1, h2--s1], rate: 100Mbit/s}\nduration: 1s\n"
	for lldp, want := range map[string]unit.Time{"": 0, "lldp: {}\n": 30 * unit.Second, "lldp: {interval: 2s}\n": 2 * unit.Second} {
		s, err := Parse("test", []byte(text+lldp), Known{})
		if err != nil {
			t.Fatalf("%q: %v", lldp, err)
		}
		p, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		sw, h := p.Switches[0].Build(nil, 1, 0), p.Hosts[1].Build(1, 0)
		if sw.LLDP.Interval != want || h.LLDP != want || h.NIC.Name != "eth0" {
			t.Errorf("%q: switch %+v, host %+v, want %v", lldp, sw.LLDP, h.LLDP, want)
		}
	}
	for interval, want := range map[string]string{
		"1500ms": `test:5: lldp.interval: 1.5s: write whole seconds from 1s to 3600s`,
		"0s":     `test:5: lldp.interval: 0s: write whole seconds from 1s to 3600s`,
		"2h":     `test:5: lldp.interval: 2h0m0s: write whole seconds from 1s to 3600s`,
		"soon":   `test:5: lldp.interval: "soon" is not a time`,
	} {
		_, err := Parse("test", []byte(text+"lldp: {interval: "+interval+"}\n"), Known{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", interval, err, want)
		}
	}
}

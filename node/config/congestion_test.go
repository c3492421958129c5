package config

import (
	"testing"

	"softswitch/host/congestion"
	"softswitch/unit"
)

// A host gets the parameters of the fast link, at rates that are divided and times that are
// multiplied; bytes stay.
func TestBuildCongestion(t *testing.T) {
	host := func(keys string) *Host {
		t.Helper()
		h, err := LoadHost("h.yaml", []byte(`
name: h1
id: 9
port: {name: eth1, mac: 02:00:00:00:00:09, rate: 100Mbit/s}
address: 10.0.1.2/24
gateway: 10.0.1.1
gateway_mac: 02:00:00:00:00:01
congestion: `+keys))
		if err != nil {
			t.Fatal(err)
		}
		return &h
	}
	c := host("{control: dcqcn, times_slower: 400}").Build(1, 0).Congestion
	if want := (congestion.DCQCN{
		Gain: 4, CNPInterval: 20 * unit.Millisecond, AlphaTimer: 22 * unit.Millisecond, RiseTimer: 22 * unit.Millisecond, RiseBytes: 10_000_000,
		Recovery: 5, AI: 100_000, HAI: 100_000, Min: 100_000,
	}); *c.DCQCN != want || c.Timely != nil || c.CNPPriority != 6 {
		t.Errorf("%+v, priority %d; want %+v, priority 6", *c.DCQCN, c.CNPPriority, want)
	}
	now, before := host("{control: dcqcn, profile: hpcc-sender}").Build(1, 0).Congestion, host("{control: dcqcn, profile: hpcc}").Build(1, 0).Congestion
	if *now.DCQCN != *before.DCQCN || now.DCQCN.AlphaTimer != unit.Microsecond {
		t.Errorf("hpcc-sender is %+v, and by the name that it had %+v", *now.DCQCN, *before.DCQCN)
	}
	c = host("{control: timely, times_slower: 400, cnp_priority: 1}").Build(1, 0).Congestion
	if c.DCQCN != nil || c.Timely.Low != 20*unit.Millisecond || c.Timely.Step != 100_000 || c.CNPPriority != 1 {
		t.Errorf("%+v, priority %d; want a T_low of 20 ms and steps of 100 kbit/s", c.Timely, c.CNPPriority)
	}
}

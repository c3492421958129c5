package config

import (
	"testing"

	"softswitch/dataplane"
)

// What a switch's file says of marking, and its defaults, is what the switch gets.
func TestECN(t *testing.T) {
	for text, want := range map[string]dataplane.ECN{
		"":                                    {},
		"ecn: {red: {}}":                      {Priorities: 1<<3 | 1<<4, RED: dataplane.RED{Kmin: 5120, Kmax: 30720, Pmax: 10}},
		"ecn: {phantom: {}, priorities: [5]}": {Priorities: 1 << 5, Phantom: dataplane.Phantom{Drain: 95, Mark: 6144}},
		"ecn: {red: {kmin: 0, kmax: 1, pmax: 100}, phantom: {drain: 90, mark: 3000}}": {
			Priorities: 1<<3 | 1<<4, RED: dataplane.RED{Kmax: 1, Pmax: 100}, Phantom: dataplane.Phantom{Drain: 90, Mark: 3000},
		},
	} {
		s, warnings, err := LoadSwitch("s1.yaml", []byte(smallSwitch+text+"\n"))
		if err != nil || len(warnings) > 0 {
			t.Errorf("%q: %v, %v", text, err, warnings)
			continue
		}
		c := s.Build(nil, 1, 0)
		if seed := c.ECN.Seed; (seed != 0) != (text != "") {
			t.Errorf("%q: seed %d", text, seed)
		}
		c.ECN.Seed = 0
		if c.ECN != want {
			t.Errorf("%q: %+v, want %+v", text, c.ECN, want)
		}
	}
	a, _, _ := LoadSwitch("s1.yaml", []byte(smallSwitch+"ecn: {red: {}}\n"))
	b, _, _ := LoadSwitch("s1.yaml", []byte(smallSwitch+"ecn: {red: {}}\nhash_seed: 8\n"))
	if a.Build(nil, 1, 0).ECN.Seed == b.Build(nil, 1, 0).ECN.Seed {
		t.Error("two switches draw the same chances")
	}
}

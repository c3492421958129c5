package scenario

import (
	"reflect"
	"strings"
	"testing"

	"softswitch/internal/schema"
	"softswitch/node/config"
)

// controlled is a scenario with a flow of transport rc and this key, and other lines.
func controlled(t *testing.T, key string) (*Scenario, error) {
	t.Helper()
	return Parse("c.yaml", []byte(`name: c
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 40Gbit/s
flows:
  - {name: A, from: h1, to: h2, transport: rc}
duration: 5ms
`+key+"\n"), known)
}

// red is the default of marking by a queue, with another kmax unless it is 0.
func red(kmax int) *config.RED {
	r := &config.RED{Kmax: kmax}
	schema.Fill(r)
	return r
}

// What a file says, and its defaults, is what the scenario has, and what each switch gets.
func TestCongestion(t *testing.T) {
	phantom := &config.Phantom{Drain: 90, Mark: 6144}
	for key, want := range map[string]*Congestion{
		"":                              nil,
		"congestion: {}":                {Control: "dcqcn", Profile: "paper", CNPPriority: new(6), TimesSlower: 1, ECN: red(0)},
		"congestion: {control: timely}": {Control: "timely", Profile: "paper", CNPPriority: new(6), TimesSlower: 1},
		"congestion: {profile: hpcc}":   {Control: "dcqcn", Profile: "hpcc-sender", CNPPriority: new(6), TimesSlower: 1, ECN: red(0)},
		"congestion: {control: none, ecn: {kmax: 9000}}":            {Control: "none", Profile: "paper", CNPPriority: new(6), TimesSlower: 1, ECN: red(9000)},
		"congestion: {phantom: {drain: 90}, profile: nvidia}":       {Control: "dcqcn", Profile: "nvidia", CNPPriority: new(6), TimesSlower: 1, Phantom: phantom},
		"congestion: {cnp_priority: 0, times_slower: 400, ecn: {}}": {Control: "dcqcn", Profile: "paper", CNPPriority: new(0), TimesSlower: 400, ECN: red(0)},
	} {
		s, err := controlled(t, key)
		if err != nil || len(s.Warnings) > 0 || !reflect.DeepEqual(s.Congestion, want) {
			t.Errorf("%s: %+v, want %+v; %v, %v", key, s.Congestion, want, err, s.Warnings)
			continue
		}
		p, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, sw := range p.Switches {
			if want == nil || want.ECN == nil && want.Phantom == nil {
				if sw.ECN != nil {
					t.Errorf("%s: %s marks by %+v, want not at all", key, sw.Name, sw.ECN)
				}
				continue
			}
			if got := sw.ECN; got == nil || !reflect.DeepEqual(got.RED, want.ECN) || !reflect.DeepEqual(got.Phantom, want.Phantom) || !reflect.DeepEqual(got.Priorities, []int{3, 4}) {
				t.Errorf("%s: %s marks by %+v, want what the scenario says in priorities 3 and 4", key, sw.Name, got)
			}
		}
	}
}

// What cannot be is refused, with what can.
func TestCongestionRefused(t *testing.T) {
	for key, want := range map[string]string{
		"congestion: {control: dqcn}":                                                `c.yaml:10: congestion.control: "dqcn" (did you mean "dcqcn"?); use none, dcqcn, timely`,
		"congestion: {profile: fast}":                                                `c.yaml:10: congestion.profile: "fast"; use paper, hpcc-sender, nvidia`,
		"congestion: {cnp_priority: 4}":                                              `c.yaml:10: congestion.cnp_priority: priority 4 is lossless, and a CNP must not be paused by what it is to end; use a priority that is not in pfc.lossless, [3 4]`,
		"congestion: {cnp_priority: 8}":                                              `c.yaml:10: congestion.cnp_priority: 8: use 0 to 7`,
		"congestion: {times_slower: 0}":                                              `c.yaml:10: congestion.times_slower: 0: use 1 to 1000000`,
		"congestion: {ecn: {kmin: 30721}}":                                           `c.yaml:10: congestion.ecn.kmin: 30721, and kmax is 30720: marking begins at kmin, so use 0 to kmax`,
		"congestion: {phantom: {drain: 101}}":                                        `c.yaml:10: congestion.phantom.drain: 101: use 1 to 100`,
		"congestion: {}\nbuffer: {dynamic_th: -9223372036854775808}":                 "c.yaml:11: buffer.dynamic_th: -9223372036854775808: use -8 to 8",
		"congestion: {}\npfc: {lossless: []}":                                        `c.yaml:10: congestion: there is no lossless priority, so that nothing is marked; name some in pfc.lossless`,
		"congestion: {ecn: {kmax: 40961}}":                                           "warning: c.yaml:10: congestion.ecn.kmax: 40961 bytes, and a priority group pauses its upstream at 40960: pauses come before every frame is marked; use at most that, or a higher buffer.static_th",
		"congestion: {ecn: {kmax: 20000}}\nbuffer: {static_th: 8192}":                "warning: c.yaml:10: congestion.ecn.kmax: 20000 bytes, and a priority group pauses its upstream at 12288: pauses come before every frame is marked; use at most that, or a higher buffer.static_th",
		"congestion: {control: none}\npfc: {lossless: []}":                           "",
		"congestion: {ecn: {kmax: 40960}}":                                           "",
		"congestion: {control: none, ecn: {kmax: 1048577}}\nbuffer: {dynamic_th: 0}": "",
	} {
		s, err := controlled(t, key)
		var got []string
		if err != nil {
			got = append(got, err.Error())
		} else {
			for _, w := range s.Warnings {
				got = append(got, "warning: "+w)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s:\n%s\nwant\n%s", key, strings.Join(got, "\n"), want)
		}
	}
	s, err := Parse("p.yaml", []byte(`name: p
topology: {switches: [s1, s2, s3], hosts: [h1, h2], links: [h1--s1, s1--s2, s2--s3, s3--h2], rate: 1Gbit/s}
duration: 5ms
prevention: {thresholds: {down: {static_th: 4096}}}
congestion: {}
`), known)
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "30720 bytes, and a priority group pauses its upstream at 8192") {
		t.Errorf("thresholds of ports: %v, warnings %q, want one with 30720 and 8192", err, s.Warnings)
	}
}

// Slowed down, a sender has the parameters of the fast link, at rates that are divided and
// times that are multiplied. Bytes stay, and the original too.
func TestCongestionSlow(t *testing.T) {
	fast, err := controlled(t, "congestion: {times_slower: 2}")
	if err != nil {
		t.Fatal(err)
	}
	slow, err := fast.Slow(200)
	if err != nil {
		t.Fatal(err)
	}
	if fast.Congestion.TimesSlower != 2 || slow.Congestion.TimesSlower != 400 || slow.Congestion.ECN.Kmax != 30720 {
		t.Fatalf("%+v and %+v, want 2 and 400 times slower, and the same bytes", fast.Congestion, slow.Congestion)
	}
	if _, err := (&Scenario{Links: []LinkSpeed{}, Congestion: &Congestion{TimesSlower: 400}, PFC: fast.PFC}).Slow(1_000_000); err == nil || !strings.Contains(err.Error(), "times_slower") {
		t.Errorf("400 times slower, and that a million times: error %v, want one of times_slower", err)
	}
}

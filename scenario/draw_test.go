package scenario

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// jittered is a scenario with two flows and a workload, of which the first and the last draw.
const jittered = `
name: x
topology: {fattree: {k: 4}, rate: 1Gbit/s}
flows:
  - {name: A, from: [h0-0-0, h0-0-1], to: h1-0-0, start: 500us±100us}
  - {name: B, from: h2-0-0, to: h1-0-0, start: 300us}
  - {name: C, from: h2-0-0, to: h1-0-0, start: 5us+-5us}
workload:
  - {name: w, pattern: incast, hosts: [h3-0-0, h3-0-1, h3-1-0], fan_in: 2, period: 100us, size: 1000, start: 800us ± 20us, transport: rc}
duration: 1ms
`

// Starts lie on both sides of what is written and no further than the jitter; each run has others, and
// the same with the same seed. The plan itself stays.
func TestDrawn(t *testing.T) {
	p := compile(t, "x.yaml", jittered)
	if !p.Scenario.Draws() {
		t.Fatal("it draws nothing")
	}
	const us = unit.Microsecond
	first := map[string]unit.Time{}
	sooner, later, others := 0, 0, 0
	for seed := range uint64(100) {
		d, again := p.Drawn(seed), p.Drawn(seed).Drawn(seed+1)
		for i, f := range d.Scenario.Flows {
			was := p.Scenario.Flows[i]
			around := map[byte]unit.Time{'A': 100 * us, 'B': 0, 'C': 5 * us, 'w': 20 * us}[f.Name[0]]
			if was.Jitter != around || f.Start < was.Start-around || f.Start > was.Start+around || f.Start < 0 || f.Jitter != 0 {
				t.Fatalf("seed %d: %s begins at %d, and is to at %d±%d", seed, f.Name, f.Start, was.Start, around)
			}
			if again.Scenario.Flows[i].Start != f.Start {
				t.Fatalf("seed %d: %s is drawn again from what is drawn", seed, f.Name)
			}
			if f.Name == "A-h0-0-0" {
				first[fmt.Sprint(f.Start)] = f.Start
				if f.Start < was.Start-around/2 {
					sooner++
				}
				if f.Start > was.Start+around/2 {
					later++
				}
				if f.Start != d.Scenario.Flows[i+1].Start {
					others++
				}
			}
		}
		checkPlan(t, d)
		for i, h := range d.Hosts {
			for k, f := range h.Flows {
				if want := d.Scenario.Flows[f.Number].Start; f.Start != want || p.Hosts[i].Flows[k].Start != p.Scenario.Flows[f.Number].Start {
					t.Fatalf("seed %d: %s has %s for flow %s, want %s", seed, h.Name, f.Start, f.Name, want)
				}
			}
		}
	}
	if len(first) < 99 || others < 99 || sooner < 10 || sooner > 40 || later < 10 || later > 40 {
		t.Errorf("%d starts of 100 seeds, %d unlike those of another flow, %d in the first quarter, %d in the last; want a quarter there", len(first), others, sooner, later)
	}
	if q := compile(t, "x.yaml", strings.Replace(jittered, "[h0-0-0, h0-0-1]", "[h0-0-0]", 1)); q.Drawn(7).Scenario.Flows[2].Start != p.Drawn(7).Scenario.Flows[3].Start {
		t.Error("without a flow another one draws something else")
	}
	if q := compile(t, "x.yaml", strings.NewReplacer("±100us", "", "+-5us", "", " ± 20us", "").Replace(jittered)); q.Scenario.Draws() || q.Drawn(1) != q {
		t.Error("something is drawn where no jitter is written")
	}
	slow, err := p.Scenario.Slow(10)
	if err != nil || slow.Flows[0].Jitter != 1000*us {
		t.Errorf("ten times slower: %v, a jitter of %d", err, slow.Flows[0].Jitter)
	}
}

// A start that may be before the scenario begins or after it ends, and what is no time, are refused.
func TestJitterRefused(t *testing.T) {
	for start, want := range map[string]string{
		"5us±6us":             `x.yaml:6: flows[2].start: 5µs±6µs may be before the start of the scenario; use at most 5µs behind the ±, or a later time before it`,
		"0s±1us":              `use at most 0s behind the ±`,
		"999us±2us":           `x.yaml:6: flows[2].start: 999µs±2µs is after the end of the scenario, 1ms`,
		"5us±":                `x.yaml:6: flows[2].start: "" is not a time`,
		"5us±2":               `"2" is not a time`,
		"±2us":                `"" is not a time`,
		"5us+-1us+-1us":       `"1us+-1us" is not a time`,
		"5us±2us, stop: 7us":  `flows[2].stop: 7µs is not after start 5µs±2µs`,
		"{middle: 1, by: 10}": `flows[2].start: `,
	} {
		_, err := Parse("x.yaml", []byte(strings.Replace(jittered[1:], "5us+-5us", start, 1)), known)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", start, err, want)
		}
	}
}

// spread is a scenario of which the rates of a flow and the delays of all links but one are drawn.
const spread = `
name: x
topology:
  switches: [s1, s2]
  hosts: [h1, h2, h3]
  links: [h1--s1, s1--s2, s2--h2, s1--h3]
  rate: 1Gbit/s
  delay: 1us±200ns
  overrides: [{link: s1--s2, delay: 5us+-5us}, {link: s1--h3, cable: 100m}]
flows:
  - {name: A, from: h1, to: h2, rate: 100Mbit/s±1%, start: 20us±10us}
  - {name: B, from: h3, to: h2, rate: 100Mbit/s+-30Mbit/s}
  - {name: C, from: h3, to: h2, rate: line, start: 20us±10us}
duration: 1ms
`

// TestSpread: rates and delays lie evenly on both sides of what is written, in the plan, the hosts and the links
// alike; what is drawn is told; and a start is the same without a spread of the rate.
func TestSpread(t *testing.T) {
	p := compile(t, "x.yaml", spread)
	plain := compile(t, "x.yaml", strings.Replace(spread, "100Mbit/s±1%", "100Mbit/s", 1))
	without := compile(t, "x.yaml", strings.NewReplacer("±1%", "", "+-30Mbit/s", "", "±10us", "", "±200ns", "", "+-5us", "").Replace(spread))
	if !p.Scenario.Draws() || without.Scenario.Draws() || without.Drawn(3) != without || p.Seed != 0 || p.Drawings != nil {
		t.Fatal("what draws is not known")
	}
	type reach struct{ least, most int64 }
	want := map[string]reach{"A": {99e6, 101e6}, "B": {70e6, 130e6}, "h1--s1": {800, 1200}, "s1--s2": {0, 10_000}, "s2--h2": {800, 1200}}
	low, high := map[string]int{}, map[string]int{}
	for seed := range uint64(200) {
		d := p.Drawn(seed)
		checkPlan(t, d)
		if d.Seed != seed || len(d.Drawings) != 6 || len(d.Drawn(seed+1).Drawings) != 6 || d.Drawn(seed+1).Seed != seed {
			t.Fatalf("seed %d: %d drawings by seed %d", seed, len(d.Drawings), d.Seed)
		}
		if got, other := d.Scenario.Flows[0].Start, plain.Drawn(seed).Scenario.Flows[0].Start; got != other {
			t.Fatalf("seed %d: flow A begins at %s, and at %s without a spread of its rate", seed, got, other)
		}
		of := map[string]int64{"A": int64(d.Scenario.Flows[0].Rate), "B": int64(d.Scenario.Flows[1].Rate)}
		for i, l := range d.Links {
			if of[l.Name] = int64(l.Delay); l.DelaySpread != 0 || d.Scenario.Links[i] != l.LinkSpeed {
				t.Fatalf("seed %d: %+v in the plan, %+v in its scenario", seed, l, d.Scenario.Links[i])
			}
		}
		for _, h := range d.Hosts {
			for _, f := range h.Flows {
				if f.Rate != d.Scenario.Flows[f.Number].Rate {
					t.Fatalf("seed %d: %s sends %s at %s, want %s", seed, h.Name, f.Name, f.Rate, d.Scenario.Flows[f.Number].Rate)
				}
			}
		}
		for _, drew := range d.Drawings {
			if drew.Rate != nil && int64(*drew.Rate) != of[drew.Flow] || drew.Delay != nil && int64(*drew.Delay) != of[drew.Link] || (drew.Start != nil) != (drew.Flow == "A" || drew.Flow == "C") {
				t.Fatalf("seed %d: %+v, want %v", seed, drew, of)
			}
		}
		if of["s1--h3"] != 505 {
			t.Fatalf("seed %d: a link with a cable of 100 m has a delay of %d ns", seed, of["s1--h3"])
		}
		for name, w := range want {
			switch n := of[name]; {
			case n < w.least || n > w.most:
				t.Fatalf("seed %d: %s is %d, want %d to %d", seed, name, n, w.least, w.most)
			case n < w.least+(w.most-w.least)/4:
				low[name]++
			case n > w.most-(w.most-w.least)/4:
				high[name]++
			}
		}
	}
	for name := range want {
		if low[name] < 25 || low[name] > 75 || high[name] < 25 || high[name] > 75 {
			t.Errorf("%s: of 200 draws %d in the lowest quarter, %d in the highest; want a quarter", name, low[name], high[name])
		}
	}
	if p.Links[0].Delay != 1000 || p.Scenario.Flows[0].Rate != 100_000_000 || p.Hosts[0].Flows[0].Rate != 100_000_000 {
		t.Error("drawing changed the plan")
	}
}

// TestSpreadHeadroom: a port has the headroom of the longest delay that can be drawn.
func TestSpreadHeadroom(t *testing.T) {
	longest := compile(t, "x.yaml", strings.NewReplacer("1us±200ns", "100us", "5us+-5us", "400us").Replace(spread))
	drawn := compile(t, "x.yaml", strings.NewReplacer("1us±200ns", "60us±40us", "5us+-5us", "300us±100us").Replace(spread))
	for i, l := range longest.Fabric.Links {
		for _, e := range []topo.End{l.A, l.B} {
			if want, got := longest.Scenario.HasHeadroom(e), drawn.Scenario.HasHeadroom(e); got != want || l.Name == "s1--s2" && got <= config.DefaultXOFF {
				t.Errorf("link %d, %s: headroom of %d, want %d", i, l.Name, got, want)
			}
		}
	}
	slow, err := drawn.Scenario.Slow(10)
	if err != nil || slow.Links[0].DelaySpread != 400_000 || slow.Flows[0].RateSpread != 100_000 {
		t.Errorf("ten times slower: %v, spreads of %d ns and %d bit/s", err, slow.Links[0].DelaySpread, slow.Flows[0].RateSpread)
	}
}

// Spreads that reach below zero, and what is no rate or time, are refused with the key and what is valid.
func TestSpreadRefused(t *testing.T) {
	for _, c := range []struct{ old, text, want string }{
		{"100Mbit/s±1%", "100Mbit/s±100%", "x.yaml:10: flows[0].rate: 100Mbit/s±100Mbit/s may be 0; use less than 100Mbit/s behind the ±"},
		{"100Mbit/s±1%", "100Mbit/s±2Gbit/s", "flows[0].rate: 100Mbit/s±2Gbit/s may be 0; use less than 100Mbit/s behind the ±"},
		{"100Mbit/s±1%", "100Mbit/s±101%", `flows[0].rate: "101%" is not a share`},
		{"100Mbit/s±1%", "100Mbit/s±fast", `flows[0].rate: "fast" is not a rate`},
		{"100Mbit/s±1%", "line±1%", `flows[0].rate: "line±1%": the rate of the link has no spread; write a rate such as 10Gbit/s±1%`},
		{"1us±200ns", "1us±2us", "x.yaml:7: topology.delay: 1µs±2µs may be less than 0s; use at most 1µs behind the ±"},
		{"1us±200ns", "900ms±200ms", "topology.delay: 900ms±200ms: at most 1s"},
		{"5us+-5us", "5us±1%", `topology.overrides[0].delay: "1%" is not a time`},
		{"delay: 5us+-5us", "jitter: 2s", "topology.overrides[0].jitter: 2s: at most 1s"},
	} {
		_, err := Parse("x.yaml", []byte(strings.Replace(spread[1:], c.old, c.text, 1)), known)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

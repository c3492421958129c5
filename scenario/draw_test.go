package scenario

import (
	"fmt"
	"strings"
	"testing"

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

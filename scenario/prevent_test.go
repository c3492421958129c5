package scenario

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"softswitch/unit"
)

const prevented = `
name: x
topology: {fattree: {k: 4}, rate: 100Mbit/s}
buffer: {xon_offset: 36864}
flows: [{name: A, from: h0-0-0, to: h1-0-0}]
prevention:
  tagger: {lossless: 2}
  no_flood: true
  limits:
    - {at: edge0-0, port: h0-0-0, flow: A, rate: 2Mbit/s}
    - {at: core0, port: agg1-0, priority: 4, rate: 50Mbit/s}
  thresholds: {down: {static_th: 20000}, up: {static_th: 50000, xon_offset: 1000}, per_level: 4000}
duration: 1s
`

// switchOf is the configuration of a switch, its parts as text.
func switchOf(t *testing.T, p *Plan, name string) (rewrite, limits, thresholds string) {
	t.Helper()
	i, ok := p.Fabric.Node(name)
	if !ok {
		t.Fatalf("no switch %s", name)
	}
	c := p.Switches[i]
	for _, r := range c.Rewrite {
		rewrite += fmt.Sprintf("%d %v %v %d; ", r.Priority, r.In, r.Out, r.To)
	}
	for _, l := range c.Limits {
		of := ""
		if l.Priority != nil {
			of = fmt.Sprintf("priority %d", *l.Priority)
		} else {
			of = fmt.Sprintf("%s to %s from %d", l.Flow.From, l.Flow.To, l.Flow.SrcPort)
		}
		limits += fmt.Sprintf("%d %s %s; ", l.Port, of, l.Rate)
	}
	for _, port := range c.Ports {
		if port.StaticTh != nil {
			thresholds += fmt.Sprintf("%d-%d ", *port.StaticTh, *port.XONOffset)
		}
	}
	return rewrite, limits, thresholds
}

// What a file says of prevention is in the switches' configurations.
func TestPreventionCompiles(t *testing.T) {
	p := compile(t, "x.yaml", prevented)
	checkPlan(t, p)
	for name, want := range map[string][3]string{
		"core0":   {"", "1 priority 4 50Mbit/s; ", "28000-44864 28000-44864 28000-44864 28000-44864 "},
		"agg0-0":  {"3 [2 3] [2 3] 4; 4 [2 3] [2 3] 0; ", "", "24000-40864 24000-40864 54000-5000 54000-5000 "},
		"edge0-0": {"3 [2 3] [2 3] 4; 4 [2 3] [2 3] 0; ", "0 10.0.0.2 to 10.1.0.2 from 49152 2Mbit/s; ", "20000-36864 20000-36864 50000-1000 50000-1000 "},
	} {
		rewrite, limits, thresholds := switchOf(t, p, name)
		if got := [3]string{rewrite, limits, thresholds}; got != want {
			t.Errorf("%s: %q\nwant %q", name, got, want)
		}
	}
	for i, c := range p.Switches {
		if !c.NoFlood || len(c.Sched) > 0 { // the tags share links evenly, as all priorities do
			t.Errorf("%s: no_flood %v, scheduling %v", p.Fabric.Nodes[i].Name, c.NoFlood, c.Sched)
		}
	}
}

func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Slow divides the rates of limits, and leaves the scenario that it is given alone.
func TestSlowLimits(t *testing.T) {
	s := parsed(t, prevented)
	slow, err := s.Slow(10)
	if err != nil {
		t.Fatal(err)
	}
	if got, was := slow.Prevention.Limits[0].Rate, s.Prevention.Limits[0].Rate; got != 200_000 || was != 2_000_000 {
		t.Errorf("limits: %d, before %d; want 200000 and 2000000", got, was)
	}
}

// looping is two switches that send what is for z to each other.
const looping = `
name: x
topology: {switches: [A, B, C], hosts: [h, i, z], links: [h--A, i--C, A--B, B--C, C--z], rate: 40Gbit/s}
routes: [{at: B, to: z, ports: [A]}]
flows:
  - {name: loop, from: h, to: z, ttl: %d}
  - {name: far, from: i, to: h}
%sduration: 1ms
`

// What Prevent chooses: limits that the loop bears, bands in which no frame goes round
// twice, as many tags as ways turn.
func TestPreventValues(t *testing.T) {
	for _, tc := range []struct {
		ttl  int
		rate unit.Rate
	}{
		{16, 5_000_000_000}, // n B / TTL
		{12, 6_666_666_666}, // ceil(11/2) = 6 crossings
		{5, 16_000_000_000}, // n B / TTL, below 20 for two crossings
	} {
		s := parsed(t, fmt.Sprintf(looping, tc.ttl, ""))
		if err := s.Prevent("limit"); err != nil {
			t.Errorf("TTL %d: %v", tc.ttl, err)
			continue
		}
		if l := s.Prevention.Limits; len(l) != 1 || l[0] != (Limit{At: 0, Port: 0, Flow: 0, Rate: tc.rate}) {
			t.Errorf("TTL %d: %+v, want %d of flow 0 at A", tc.ttl, l, tc.rate)
		}
	}
	s := parsed(t, fmt.Sprintf(looping, 64, ""))
	if err := s.Prevent("ttl-bands"); err != nil || s.Prevention.TTLBand != 10 || fmt.Sprint(s.PFC.Lossless) != "[1 2 3 4 5 6 7]" {
		t.Errorf("%v: bands of %d in %v, want 10 in 1 to 7", err, s.Prevention.TTLBand, s.PFC.Lossless)
	}
	for name, want := range map[string]string{"tagger": "the priority of its TTL already", "no-flood": "no host is dead", "tags": `use tagger, no-flood`} {
		if err := s.Prevent(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	p := read(t, "../scenarios/fattree-on-loop.yaml")
	if err := p.Scenario.Prevent("tagger"); err != nil || p.Scenario.Prevention.Tags != 2 || fmt.Sprint(p.Scenario.PFC.Lossless) != "[3 4]" {
		t.Errorf("%v: %d tags of %v, want 2 of 3 and 4", err, p.Scenario.Prevention.Tags, p.Scenario.PFC.Lossless)
	}
}

// Priorities that flows use as lossy ones stay lossy.
func TestPreventKeepsLossyPriorities(t *testing.T) {
	text := fmt.Sprintf(looping, 16, "  - {name: lossy, from: i, to: h, priority: 6}\npfc: {lossless: [3]}\n")
	s := parsed(t, text)
	if err := s.Prevent("tagger"); err != nil || fmt.Sprint(s.PFC.Lossless) != "[3 7]" {
		t.Errorf("tagger: %v, lossless %v; want 3 and 7", err, s.PFC.Lossless)
	}
	s = parsed(t, text)
	was := *s
	if err := s.Prevent("ttl-bands"); err == nil || !strings.Contains(err.Error(), "only 6") || !reflect.DeepEqual(was, *s) {
		t.Errorf("ttl-bands: %v; want that there are only 6 priorities, and no change", err)
	}
}

// A threshold by position is refused where it would be no threshold.
func TestPreventThresholdsOfDynamic(t *testing.T) {
	data, err := os.ReadFile("../scenarios/fattree-on-loop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := parsed(t, strings.Replace(string(data), "xon_offset: 38912", "dynamic_th: 0", 1))
	if err := s.Prevent("thresholds"); err == nil || !strings.Contains(err.Error(), "dynamic") {
		t.Errorf("%v, want that they are dynamic", err)
	}
}

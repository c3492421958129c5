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

// What a file says of rates and rings is in the switches' configurations, and what cannot be is refused with
// what would do.
func TestRatesAndRings(t *testing.T) {
	const text = `
name: x
topology: {ring: {switches: 4, hosts_per_switch: 1}, rate: 1Gbit/s}
buffer: {BUFFER}
prevention: {PREVENTION}
flows: [{name: A, from: h1-0, to: h2-0}]
duration: 1s
`
	with := func(buffer, prevention string) string {
		return strings.NewReplacer("BUFFER", buffer, "PREVENTION", prevention).Replace(text)
	}
	p := compile(t, "x.yaml", with("static_th: 36864", "gfc: {}"))
	if g := p.Switches[2].GFC; g == nil || g.Start != nil || g.Lowest != 8000 {
		t.Errorf("gfc: %+v, want the defaults", g)
	}
	p = compile(t, "x.yaml", with("static_th: 150000", "bubble: {rings: [[s1, s2, s3, s4]]}"))
	for i, c := range p.Switches {
		// 4 XON of 150000 less 3 of 184816, headroom of 30720 and a frame of 1518.
		const room = 4*150000 - 3*(154096+30720) - 30720 - 1518
		if len(c.Rings) != 2 || c.Rings[0].Room != room || c.Rings[0].In != c.Rings[1].Out || c.Rings[0].Out != c.Rings[1].In {
			t.Errorf("%s: rings %+v, want one in each direction with room of %d", p.Fabric.Nodes[i].Name, c.Rings, room)
		}
	}
	for _, tc := range []struct{ buffer, prevention, want string }{
		{"dynamic_th: 0", "gfc: {}", "it needs thresholds that stay"},
		{"static_th: 10000", "gfc: {}", "use a static_th that is larger by"},
		{"static_th: 36864, pool: 40000", "gfc: {}", "it has to hold what all priority groups may use of it"},
		{"static_th: 36864, headroom_pool: {ratio: 2}", "gfc: {}", "each priority group needs its own headroom"},
		{"static_th: 36864", "gfc: {start: 100000}", "use less than that"},
		{"static_th: 36864", "gfc: {lowest: 600Mbit/s}", "at most half of that"},
		{"static_th: 36864", "bubble: {rings: [[s1, s2, s3, s4]]}", "use a static_th of 136686 or more"},
		{"static_th: 136685", "bubble: {rings: [[s1, s2, s3, s4]]}", "use a static_th of 136686 or more"},
		{"static_th: 136686", "bubble: {rings: [[s1, s2, s3]]}", "have 0 links between them"},
		{"static_th: 136686", "bubble: {rings: [[s1, s2, s3, s4], [s4, s1]]}", "a link is in one ring"},
		{"static_th: 136686", "bubble: {rings: [[s1, s2, s1, s2]]}", "a ring passes a switch once"},
		{"static_th: 136686", "bubble: {rings: [[s1]]}", "two switches or more"},
		{"static_th: 136686, pool: 500000", "bubble: {rings: [[s1, s2, s3, s4]]}", "buffer.pool is 500000 bytes"},
	} {
		if _, err := Compile(parsed(t, with(tc.buffer, tc.prevention))); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %s: %v, want %q", tc.buffer, tc.prevention, err, tc.want)
		}
	}
	compile(t, "x.yaml", with("static_th: 136686", "bubble: {rings: [[s1, s2, s3, s4]]}"))
}

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/topo"
)

// expecting is a scenario with these lines for its expectation.
func expecting(t *testing.T, lines string) (*Scenario, error) {
	t.Helper()
	text := "name: x\ntopology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 1Gbit/s}\nduration: 1ms\n" + lines
	return Parse("x.yaml", []byte(text), Known{Detectors: []string{"itsypaper", "itsy"}})
}

// What is expected of one detector takes the place of what is expected of all,
// key by key.
func TestExpectFor(t *testing.T) {
	s, err := expecting(t, `expect: {deadlock: true, detected: true, lossless_lost: 0, max_latency: 5us}
expect_for:
  itsypaper: {detected: either, missed: true, false_alarm: true}
  none: {detected: either, max_latency: 1ms}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ detector, want string }{
		{"itsy", "deadlock true, detected true, false alarm any, missed any, lost 0, latency 5000"},
		{"itsypaper", "deadlock true, detected any, false alarm true, missed true, lost 0, latency 5000"},
		{"none", "deadlock true, detected any, false alarm any, missed any, lost 0, latency 1000000"},
	} {
		s.Detector = c.detector
		w := s.Wanted()
		got := fmt.Sprintf("deadlock %s, detected %s, false alarm %s, missed %s, lost %d, latency %d",
			orAny(w.Deadlock), orAny(w.Detected), orAny(w.FalseAlarm), orAny(w.Missed), *w.LosslessLost, w.MaxLatency)
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.detector, got, c.want)
		}
	}
}

func orAny(b *bool) string {
	if b == nil {
		return "any"
	}
	return fmt.Sprint(*b)
}

func TestExpectForFaults(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"expect_for: {quiet: {detected: true}}\n", `"quiet"; use none, itsypaper, itsy`},
		{"expect_for: {itsy: {detekted: true}}\n", `expect_for.itsy.detekted`},
		{"expect_for: {itsy: {lossless_lost: -1}}\n", `expect_for.itsy.lossless_lost`},
		{"expect: {lossless_lost: some}\n", `expect.lossless_lost: "some": use 0 to 1073741824, or any`},
		{"expect: {detected: false, false_alarm: true}\n", "no false_alarm to expect"},
		{"expect: {detected: true, missed: true}\n", "wants every deadlock declared"},
	} {
		_, err := expecting(t, c.lines)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.lines, err, c.want)
		}
	}
}

func TestWantedOfScenario(t *testing.T) {
	f, err := topo.FatTree(4)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	s := &Scenario{Fabric: f, Expect: Expect{Deadlock: &yes, MinXOFF: 3, Trigger: &Trigger{Node: "core0", OnLoop: &yes}}}
	w := s.Wanted()
	if w.Trigger == nil || w.Trigger.Node != "core0" || !*w.Trigger.OnLoop || w.MinXOFF != 3 || !*w.Deadlock || w.Detected != nil {
		t.Errorf("%+v", w)
	}
}

// An expectation that expects nothing is met by every run: a warning says so.
func TestExpectNothing(t *testing.T) {
	const warning = "x.yaml:4: expect: nothing is expected, so that every run will do; say what is, such as deadlock: true, or leave expect out"
	for lines, want := range map[string][]string{
		"":                             nil,
		"expect:\n":                    {warning},
		"expect: {}\n":                 {warning},
		"expect: {detected: either}":   {warning},
		"expect: {deadlock: false}":    nil,
		"expect: {sim_only: so it is}": nil,
	} {
		s, err := expecting(t, lines)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Warnings, want) {
			t.Errorf("%q: warnings %q, want %q", lines, s.Warnings, want)
		}
	}
}

package scenario

import (
	"fmt"
	"strings"
	"testing"
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
		{"expect: {detected: false, false_alarm: true}\n", "no false_alarm to expect"},
		{"expect: {detected: true, missed: true}\n", "wants every deadlock declared"},
	} {
		_, err := expecting(t, c.lines)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.lines, err, c.want)
		}
	}
}

// False alarms and misses are held against what was expected of them.
func TestCheckAlarmsAndMisses(t *testing.T) {
	yes, no := new(bool), new(bool)
	*yes = true
	verdict := Verdict{Detections: []Detection{{TruePositive: true}, {}}, FalseNegatives: 1}
	clean := Verdict{Detections: []Detection{{TruePositive: true}}}
	for _, c := range []struct {
		v    Verdict
		want Wanted
		met  bool
	}{
		{verdict, Wanted{FalseAlarm: yes, Missed: yes}, true},
		{verdict, Wanted{FalseAlarm: no}, false},
		{verdict, Wanted{Missed: no}, false},
		{clean, Wanted{FalseAlarm: no, Missed: no}, true},
		{clean, Wanted{FalseAlarm: yes}, false},
		{clean, Wanted{Missed: yes}, false},
	} {
		c.v.Check(c.want)
		if c.v.ExpectedMet != c.met {
			t.Errorf("%d detections, %d missed, against %+v: met %v %q", len(c.v.Detections), c.v.FalseNegatives, c.want, c.v.ExpectedMet, c.v.Reasons)
		}
	}
}

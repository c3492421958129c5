package scenario

import (
	"strings"
	"testing"

	"softswitch/node/config"
	"softswitch/unit"
)

// TestWatchdog: the times of the key are those of all switches, whose files keep them; the poll follows the others.
func TestWatchdog(t *testing.T) {
	const text = "name: x\ndetector: none\ntopology: {switches: [s1], hosts: [h1, h2], links: [h1--s1, h2--s1], rate: 100Mbit/s}\nduration: 1s\n"
	const ms = unit.Millisecond
	for _, c := range []struct {
		key  string
		want [3]unit.Time
	}{
		{"watchdog: {}\n", [3]unit.Time{200 * ms, 200 * ms, 200 * ms}},
		{"watchdog: {detection_time: 70ms}\n", [3]unit.Time{70 * ms, 200 * ms, 70 * ms}},
		{"watchdog: {detection_time: 900ms, restoration_time: 600ms}\n", [3]unit.Time{900 * ms, 600 * ms, 200 * ms}},
		{"watchdog: {restoration_time: 1s, poll: 30ms}\n", [3]unit.Time{200 * ms, 1000 * ms, 30 * ms}},
	} {
		s, err := Parse("test", []byte(text+c.key), Known{})
		if err != nil {
			t.Errorf("%q: %v", c.key, err)
			continue
		}
		p, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := config.LoadSwitch("again", p.Switches[0].Marshal())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []*config.Watchdog{p.Switches[0].Watchdog, again.Watchdog} {
			if got := [3]unit.Time{*w.Detection, *w.Restoration, *w.Poll}; got != c.want {
				t.Errorf("%q: %v, want %v", c.key, got, c.want)
			}
		}
	}
	for key, want := range map[string]string{
		"detection_time: 0s":               "test:5: watchdog.detection_time: 0s: write a time above 0s, and at most 24h",
		"restoration_time: 25h":            "test:5: watchdog.restoration_time: 25h0m0s: write a time above 0s, and at most 24h",
		"detection_time: 50ms, poll: 60ms": "test:5: watchdog.poll: 60ms: write a time above 0s and at most 50ms, the shorter of detection_time and restoration_time",
		"poll: 0s":                         "test:5: watchdog.poll: 0s: write a time above 0s and at most 200ms",
		"action: drop":                     "action",
	} {
		_, err := Parse("test", []byte(text+"watchdog: {"+key+"}\n"), Known{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
}

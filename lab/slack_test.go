package lab

import (
	"bytes"
	"strings"
	"testing"

	"softswitch/node/config"
	"softswitch/unit"
)

// loaded is the switch of a file, filled in.
func loaded(t *testing.T, text string) config.Switch {
	t.Helper()
	s, _, err := config.LoadSwitch("s.yaml", []byte("name: s\nid: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A switch that runs by itself gets the slack that its fastest port needs, and a line says so; one whose
// file says its slack keeps it. Where lossless frames can be lost all the same, a warning says at which port.
func TestScaleSwitch(t *testing.T) {
	const least = 606780 // at 100 Mbit/s: 51 ms, less the headroom
	for name, c := range map[string]struct {
		file      string
		least     int // of slack, -1 for none
		says, all string
	}{
		"paced":       {"ports: [{name: a, rate: 100Mbit/s}, {name: b, rate: 10Mbit/s}]", least, "bytes of slack", ""},
		"refused":     {"ports: [{name: a, rate: 100Mbit/s}]\nbuffer: {slack: 0}", 0, "", ""},
		"too fast":    {"ports: [{name: a, rate: 1Gbit/s}]\nbuffer: {slack: 0}", 0, "", "port a: headroom and slack of 30720 bytes last 245.952µs at 1Gbit/s"},
		"far faster":  {"ports: [{name: a, rate: 100Gbit/s}]", slackMax / 2, "bytes of slack", "port a: headroom and slack of"},
		"not paced":   {"ports: [{name: a}, {name: b}]", -1, "", "no rate is said of a, b:"},
		"partly":      {"ports: [{name: a, rate: 100Mbit/s}, {name: b}]", least, "bytes of slack", "no rate is said of b:"},
		"lossy alone": {"ports: [{name: a, rate: 1Gbit/s}]\npfc: {lossless: []}", -1, "", ""},
	} {
		var said bytes.Buffer
		s, warnings, err := ScaleSwitch(loaded(t, c.file), &said)
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		if s.Buffer.Slack != nil {
			got = *s.Buffer.Slack
		}
		if got < c.least || c.least <= 0 && got != c.least {
			t.Errorf("%s: slack of %d bytes, want %d", name, got, c.least)
		}
		if text := said.String(); !strings.Contains(text, c.says) || strings.Count(text, "\n") != min(1, len(c.says)) {
			t.Errorf("%s: it said %q", name, text)
		}
		if all := strings.Join(warnings, "\n"); !strings.HasPrefix(all, c.all) || c.all == "" && all != "" {
			t.Errorf("%s: warnings %q, want %q", name, all, c.all)
		}
	}
}

// A port whose wire delays needs as much more.
func TestScaleSwitchOfAWire(t *testing.T) {
	s, _, err := ScaleSwitch(loaded(t, "ports: [{name: a, rate: 100Mbit/s, wire: {delay: 10ms}}]"), new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	if least := bytesIn(100e6, 71*unit.Millisecond) - 30720; *s.Buffer.Slack < least {
		t.Errorf("slack of %d bytes, want %d or more", *s.Buffer.Slack, least)
	}
}

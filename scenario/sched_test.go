package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/scenario"
	"softswitch/unit"
)

const schedText = `
name: x
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [s1--s2, h1--s1, h2--s2]
  rate: 1Gbit/s
  overrides:
    - {link: s1--s2, scheduler: [{4: {type: dwrr, weight: 30}}, {3: {type: strict}}]}
    - {link: h2--s2, scheduler: {0: {type: dwrr, weight: 7}}}
scheduler: {4: {type: strict}, 3: {type: dwrr, weight: 10}}
duration: 1s
`

// The switch's scheduler, and over it, priority by priority, that of the port: what each machine
// has of it.
func TestSchedulers(t *testing.T) {
	s, err := scenario.Parse("x.yaml", []byte(schedText), known)
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	text := func(s dataplane.Scheduler) (text string) {
		for c := range unit.Priority(unit.Priorities) {
			text += fmt.Sprint(" ", s.Weight(c))
		}
		return strings.TrimSpace(text)
	}
	for _, w := range []struct{ at, port, want string }{
		{"s1", "to-s2", "1 1 1 10 30 1 1 1"},
		{"s1", "to-h1", "1 1 1 10 0 1 1 1"},
		{"s2", "to-s1", "1 1 1 0 0 1 1 1"},
		{"s2", "to-h2", "7 1 1 10 0 1 1 1"},
	} {
		found := false
		for _, c := range p.Switches {
			m := c.Build(nil, 1, 0)
			for i := range m.Ports {
				if c.Name == w.at && m.Ports[i].Name == w.port {
					found = true
					if got := text(m.Ports[i].Scheduler); got != w.want {
						t.Errorf("%s %s: weights %s, want %s", w.at, w.port, got, w.want)
					}
				}
			}
		}
		if !found {
			t.Errorf("no port %s at %s", w.port, w.at)
		}
	}
	const want = "x.yaml:11: scheduler: priority 4 is strict: while it has frames, lossless priority 3 sends nothing; that is starving if it lasts, and no deadlock"
	if fmt.Sprint(s.Warnings) != "["+want+"]" {
		t.Errorf("warnings: %q\nwant %s", s.Warnings, want)
	}
}

package ui_test

import (
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
	"softswitch/view/ui"
)

// selected is a page in which something is selected.
type selected struct {
	*testing.T
	tab *testbrowser.Tab
}

// selectIn opens the page of a run of a scenario, at a time in milliseconds.
func selectIn(t *testing.T, text, at string) selected {
	t.Helper()
	stream := new(ui.Stream)
	simulateFile(t, stream, "setup.yaml", []byte(text), "none", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{Width: 1366, Height: 768, ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(stateAt(" + at + "))")
	return selected{t, tab}
}

// wants selects a node or a link, and wants these rows in its details, in this order, and to see them.
func (s selected) wants(name string, rows ...string) {
	s.Helper()
	s.tab.Run("choose([...topo.nodes.map((n, i) => [n.name, { kind: 'node', i }]), ...topo.links.map((l, i) => [l.name, { kind: 'link', i }])].find(([n]) => n === '" + name + "')[1])")
	got := s.tab.Value("[...document.querySelectorAll('#details tr')].map((tr) => [...tr.children].map((c) => c.textContent).join(' | ')).join('\\n')")
	rest := got
	for _, want := range rows {
		_, after, found := strings.Cut("\n"+rest+"\n", "\n"+want+"\n")
		if !found {
			s.Errorf("%s: no row %q in this order in\n%s", name, want, got)
			return
		}
		rest = strings.TrimSuffix(after, "\n")
	}
	if !s.tab.Is("$('chosen').getBoundingClientRect().top < document.querySelector('aside').getBoundingClientRect().bottom - 60") {
		s.Errorf("%s: its details are out of sight", name)
	}
}

// TestPageSetup: what is selected tells what is set at its ports, of a link at both ends side by side, and of
// a node once for ports that are alike.
func TestPageSetup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	s := selectIn(t, `name: setup
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [s1--s2, s1--h1, s2--h2]
  rate: 100Mbit/s
  ports:
    - {link: s1--s2, lossless: [3, 5]}
    - {link: s1--s2, at: s2, lossless: [3], pfc: rx, xoff: 20000}
    - {link: s1--h1, at: s1, trust: pcp}
  overrides: [{link: s1--s2, scheduler: [{3: {type: strict}}, {3: {type: dwrr, weight: 5}}]}]
flows: [{name: a, from: h1, to: h2, rate: 1Mbit/s}]
duration: 100ms
`, "50")
	s.wants("s1--s2",
		"port | s1 to-s2 | s2 to-s1", "≠ lossless | 3, 5 | 3", "pauses | sends and honours | honours, sends none",
		"trust | DSCP | DSCP", "headroom | 30720 B a group | 20000 B a group", "scheduler | strict 3; others alike | weight 5: 3; weight 1: 0, 1, 2, 4, 5, 6, 7")
	s.wants("s1--h1", "port | s1 to-h1 | h1 eth0", "lossless | 3, 4 | 3, 4", "trust | 802.1Q tag | –", "scheduler | all alike | –")
	s.wants("s1", "at | to-s2", "lossless | 3, 5", "at | to-h1", "trust | 802.1Q tag")
	s.wants("h1", "s1 → h1 | 0 %", "at | eth0", "lossless | 3, 4")
	s.tab.Shot("setup")
}

// TestPageNICs: of a host with several NICs the page tells which is paused, and which is down.
func TestPageNICs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	s := selectIn(t, `name: nics
topology:
  switches: [s1, s2]
  hosts: [h1, h2, h3]
  links: [s1--h1, s2--h1, s1--s2, s1--h2, s2--h3]
  rate: 100Mbit/s
flows:
  - {name: a, from: h1, to: h2, nic: 0, rate: line}
events:
  - {at: 10ms, do: storm, host: h2}
  - {at: 50ms, do: fail, link: s2--h1}
duration: 100ms
`, "80")
	s.wants("h1", "h1 eth0 → s1 | 0 %, paused: priority 3", "h1 eth1 → s2 | down", "at | all ports")
	if got, want := s.tab.Text("#words"), "Down: s2--h1 (h1 eth1)"; !strings.Contains(got, want) || !strings.Contains(got, "h1 eth0 → s1") {
		t.Errorf("the page says %q, want the paused NIC and %q", got, want)
	}
	s.tab.Shot("nics")
}

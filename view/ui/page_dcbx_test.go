package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
	"softswitch/link/lldp"
	"softswitch/unit"
	"softswitch/view/ui"
)

// TestPageMismatch: a link whose ends disagree on lossless priorities has a mark until they agree.
func TestPageMismatch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	h2 := lldp.Config{Interval: unit.Second, System: "h2", Port: "eth0", Chassis: 0x020000030000, MAC: 0x020000030000, DCBX: lldp.DCBX{PFC: lldp.NewPFC(1 << 3)}}
	stream := new(ui.Stream)
	simulateFile(t, stream, "lldp.yaml", []byte(fmt.Sprintf(`name: lldp
lldp: {interval: 1s}
topology: {switches: [s1], hosts: [h1, h2], links: [h1--s1, s1--h2], rate: 100Mbit/s}
duration: 1500ms
flows: [{name: a, from: h1, to: h2, rate: 1Mbit/s}]
events:
  - {at: 20ms, do: forge, link: s1--h2, from: h2, frame: "%x"}
`, lldp.New(h2).Append(0, nil))), "none", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(stateAt(500))")
	for what, expr := range map[string]string{
		"a mark on the link": "document.querySelector('[data-mismatch]').dataset.mismatch === 'PFC'",
		"it in a sentence":   "/no link is paused. The ends of s1--h2 disagree on lossless priorities/.test($('brief').textContent)",
		"it in words":        "/The ends of s1--h2 disagree on lossless priorities: 3, 4 at s1, 3 at h2/.test($('words').textContent)",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s", what, tab.Text("#words"))
		}
	}
	tab.Run("choose({ kind: 'link', i: topo.links.findIndex((l) => l.name === 's1--h2') })")
	if got, want := tab.Text("#details"), "3, 4 at s1, 3 at h2"; !strings.Contains(got, want) {
		t.Errorf("of the link the page says %q, want %q", got, want)
	}
	tab.Shot("mismatch")
	tab.Run("go(states.length - 1)")
	if tab.Is("document.querySelector('[data-mismatch]')") {
		t.Error("the mark stays")
	}
}

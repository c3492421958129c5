package ui_test

import (
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
	"softswitch/view/ui"
)

// TestPageLAG: links that act as one are drawn side by side in a ring, with one label that says how many of
// them are up, and a link that is selected says to which it belongs.
func TestPageLAG(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	const text = `name: lag
topology:
  ring: {switches: 4, hosts_per_switch: 2}
  lags: [{link: [s1--s2, s4--s3], members: 3}]
  rate: 1Gbit/s
flows:
  - {name: a, from: h1-0, to: h2-0, count: 20}
  - {name: b, from: h3-0, to: h4-0, count: 20}
events: [{at: 5ms, do: fail, link: "s1--s2#2"}]
duration: 10ms
`
	stream := new(ui.Stream)
	simulateFile(t, stream, "lag.yaml", []byte(text), "itsy", "none")
	url := serve(t, stream, nil).URL()
	wantNoOverlaps(t, url)
	tab := testbrowser.Open(t, url, testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run(`
		texts = (i) => (go(i), [...document.querySelectorAll("[data-lag]")].map((e) => e.dataset.lag + " " + e.querySelector("text").textContent).sort().join(", "));
		lines = [...document.querySelectorAll(".hit")].filter((e) => /^s1--s2/.test(e.dataset.link)).map((e) => ["x1", "y1", "x2", "y2"].map((k) => +e.getAttribute(k)));
		side = ([x1, y1, x2, y2], x, y) => Math.sign((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1));`)
	for state, want := range map[string]string{"0": "s1--s2 LAG 3/3, s3--s4 LAG 3/3", "states.length - 1": "s1--s2 LAG 2/3, s3--s4 LAG 3/3"} {
		if got := tab.Value("texts(" + state + ")"); got != want {
			t.Errorf("state %s has the labels %q, want %q", state, got, want)
		}
	}
	if !tab.Is("lines.length === 3 && lines.every((l) => lines.every((m) => l === m || side(l, m[0], m[1]) !== 0 && side(l, m[0], m[1]) === side(l, m[2], m[3])))") {
		t.Errorf("the members are drawn at %s: on or across each other", tab.Value("JSON.stringify(lines)"))
	}
	if got := tab.Value("String(document.querySelectorAll('#lanes .bundle').length)"); got != "4" {
		t.Errorf("%s rings round members, want one at each end of two LAGs", got)
	}
	tab.Run("go(states.length - 1); choose({ kind: 'link', i: topo.links.findIndex((l) => l.name === 's1--s2#2') })")
	for what, expr := range map[string]string{
		"the member, its LAG, and that it is down": "/^link s1--s2#2, one of 3 of PortChannel1, down/.test($('details').textContent)",
		"that in a sentence":                       "/s1--s2#2 \\(one of 3 of a LAG\\) is down/.test($('brief').textContent)",
		"a mark of the LAG that lacks one":         "document.querySelectorAll('#badges .short').length === 1",
		"a line of the legend":                     "!document.querySelector('#legend [data-of=lag]').hidden && document.querySelector('#legend [data-of=lldp]').hidden",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s %s", what, tab.Text("#details"), tab.Text("#brief"))
		}
	}
	tab.Run("choose({ kind: 'node', i: 0 })")
	if got := tab.Text("#details"); !strings.Contains(got, "PortChannel1") || !strings.Contains(got, "down") {
		t.Errorf("of the switch the page says %q, want its LAG and the member that is down", got)
	}
	tab.Shot("lag")
}

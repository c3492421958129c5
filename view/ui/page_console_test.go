package ui_test

import (
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
	"softswitch/view/ui"
)

// TestPageConsoles: the page shows what guests have said under the drawing, in sight and as text, and nothing
// where there are none.
func TestPageConsoles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	simulate(t, stream, "itsy-fig2.yaml", "itsy", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{Width: 1366, Height: 768, ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(states.length - 1)")
	if !tab.Is("$('consoles').hidden && $('consoles').getBoundingClientRect().height === 0") {
		t.Error("without guests there is room for consoles")
	}
	tab.Run(`hosts = topo.nodes.flatMap((n, i) => n.kind === "host" ? [i] : []).slice(0, 3);
		spoken = "<b>run</b>: ib_write_bw -x 1 --tclass=104 -s 65536 -n 200 -u 20 10.100.0.2\n/ # \n1\n2\n3\n4\n5\nlast";
		states.push({ ...states[at], slow: false, consoles: hosts.map((n) => ({ n, text: spoken })) }, { ...states[at], slow: true });
		go(states.length - 1)`)
	tab.Shot("consoles")
	for what, expr := range map[string]string{
		"three, each named after its guest": "[...document.querySelectorAll('#consoles figcaption')].map((e) => e.textContent).join() === hosts.map((n) => 'console of ' + topo.nodes[n].name).join()",
		"text, no markup":                   "[...document.querySelectorAll('#consoles pre')].every((e) => e.textContent === spoken && !e.childElementCount)",
		"the last line":                     "[...document.querySelectorAll('#consoles pre')].every((e) => e.scrollTop + e.clientHeight >= e.scrollHeight - 1)",
		"all in sight":                      "$('consoles').getBoundingClientRect().bottom <= document.querySelector('footer').getBoundingClientRect().top",
		"a drawing that is no less than 250 pixels high": "$('mapbox').clientHeight >= 250",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it shows %s", what, strings.TrimSpace(tab.Text("#consoles")))
		}
	}
}

package ui_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/respond"
	"softswitch/internal/testbrowser"
	"softswitch/internal/testkit"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/view/ui"
)

// TestPageDeadlock plays a simulated deadlock in a browser: it forms, is declared, and the
// page says and shows where it is and who its trigger is.
func TestPageDeadlock(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0)")
	tab.Await("document.body.dataset.status === 'idle'")
	tab.Run("go(states.findIndex((s) => s.declared && s.declared.cause))")
	tab.Await("document.body.dataset.status === 'deadlock'")
	tab.Shot("sim-deadlock")
	if !tab.Is("states.some((s, i) => s.declared && !s.declared.cause && (go(i), document.querySelector('[data-trigger]').dataset.trigger === topo.nodes[s.declared.trigger].name))") {
		t.Error("before a cause is named, the page does not show the initial trigger")
	}
	tab.Run("go(states.findIndex((s) => s.declared && s.declared.cause))")
	for what, expr := range map[string]string{
		"a loop of four links":                "document.querySelectorAll('#lanes .lane.core').length === 4",
		"its order":                           "[...document.querySelectorAll('.step-text')].map((e) => e.textContent).join('') === '1234'",
		"pauses with their priority in words": "[...document.querySelectorAll('[data-paused] text')].every((e) => e.textContent === '‖3')",
		"a link that is down":                 "document.querySelectorAll('#lanes .lane.down').length === 4",
		"the likely cause, and it alone":      "document.querySelector('[data-cause]').dataset.cause === arrow(states[at].declared.cause_dir) && !document.querySelector('[data-trigger]')",
		"the loop in words":                   "/DEADLOCK of priority 3.*(core0|core1).*wait for one another.*Likely cause: .* \\(right in \\d+ of 100 such cases\\)/.test($('words').textContent)",
		"a buffer above XOFF":                 "document.querySelector('#nodes .fill.off') !== null",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s", what, tab.Text("#words"))
		}
	}
}

// TestPageResolved plays a deadlock that a response breaks.
func TestPageResolved(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "itsy-fig2.yaml", "itsy", "drop+trigger"), testbrowser.Look{Dark: true, ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(states.findIndex((s) => s.deadlock && s.deadlock.over))")
	tab.Await("document.body.dataset.status === 'cured'")
	tab.Shot("sim-cured")
	tab.Run("go(states.length - 1)")
	if s := tab.Text("#entries"); !tab.Is("/the deadlock is over/.test($('entries').textContent)") {
		t.Errorf("the events do not tell that the deadlock is over: %s", s)
	}
}

// TestPageKeyboard uses the page without a mouse.
func TestPageKeyboard(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	if tab.Is("playing") {
		t.Error("the page moves though its viewer wants no motion")
	}
	tab.Run("go(100)")
	tab.Press(" ")
	tab.Await("at > 102")
	tab.Press(" ")
	if tab.Is("playing") {
		t.Error("the space bar does not pause")
	}
	tab.Run("document.querySelector('.node[tabindex=\"0\"]').focus()")
	tab.Press(kb.ArrowRight)
	tab.Await("document.activeElement.dataset.node === 'core1'")
	tab.Press(kb.Enter)
	tab.Await("$('details').textContent.startsWith('switch core1')")
	tab.Run("$('scrub').focus()")
	tab.Run("go(100)")
	tab.Press(kb.ArrowRight)
	tab.Await("at === 101")
}

// TestPageTimeLine: the band of a deadlock is whole and as long as the deadlock was, what
// is paused has a bar even if no pause begins, and there is an axis.
func TestPageTimeLine(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0)")
	tab.Run("const i = states.findIndex((s) => s.deadlock); span = { from: states[i - 2].t, to: states[i + 9].t }; go(i)")
	tab.Run(`ink = (x, y, high) => {
		const c = $("strip"), r = devicePixelRatio || 1;
		const d = c.getContext("2d").getImageData(Math.round(x * r), y * r, 1, high * r).data;
		return d.some((v, k) => k % 4 === 3 && v > 0);
	}`)
	tab.Run("onset = deadlocks()[0][0]")
	for what, expr := range map[string]string{
		"a band without gaps from the deadlock's begin": "[...Array(Math.floor(timeX(span.to) - timeX(onset)) - 4).keys()].every((k) => ink(timeX(onset) + 2 + k, 16, 10))",
		"nothing before it":                             "[...Array(Math.floor(timeX(onset)) - 2).keys()].every((x) => !ink(x, 16, 10))",
		"bars without gaps while queues are paused":     "[...Array(Math.floor(timeX(span.to) - timeX(onset)) - 4).keys()].every((k) => ink(timeX(onset) + 2 + k, 41, 3))",
		"an axis": "ticks().length > 1 && ticks().every((t) => ink(timeX(t) - 0.5, 45, 3) || ink(timeX(t) + 0.5, 45, 3))",
	} {
		if !tab.Is(expr) {
			t.Errorf("the time line does not show %s", what)
		}
	}
	if !tab.Is("(() => { const all = states; states = all.slice(all.findIndex((s) => s.deadlock) + 1); const from = deadlocks()[0][0]; states = all; return Math.abs(from - onset) < 0.002; })()") {
		t.Error("the band of a deadlock that was there before the first state does not begin when that formed")
	}
	tab.Shot("time-line")
}

// TestPageShortDeadlock: one that a response breaks at once is not drawn for as long as the
// page goes on to tell of it.
func TestPageShortDeadlock(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "drop+trigger"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0)")
	if !tab.Is("states.filter((s) => s.deadlock && s.deadlock.over).length >= 10") {
		t.Error("no deadlock lingers")
	}
	tab.Run(`red = (x) => {
		const d = $("strip").getContext("2d").getImageData(Math.round(x * devicePixelRatio), 16 * devicePixelRatio, 1, 10 * devicePixelRatio).data;
		return d.some((v, k) => k % 4 === 3 && v > 0);
	}`)
	if !tab.Is("[...Array($('strip').clientWidth - 20).keys()].filter((k) => red(10 + k)).length <= 5") {
		t.Error("a deadlock of less than a millisecond is drawn longer than five pixels")
	}
	if !tab.Is("red(timeX(deadlocks()[0][0]) + 1)") {
		t.Error("it is not drawn at all")
	}
}

// TestPageEvents: who steps from event to event sees pauses begin.
func TestPageEvents(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0); $('by').value = 'pause'")
	tab.Click("#next")
	if !tab.Is("states[at].paused.length > 0 && !(states[at - 1].paused || []).length") {
		t.Errorf("the first event is not the first pause, it is state %s", tab.Text("#clock"))
	}
}

// TestPageStorm: a host that pauses without end has a mark and an event.
func TestPageStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	simulateFile(t, stream, "storm.yaml", []byte(`name: storm
topology: {switches: [s1], hosts: [h1, h2], links: [h1--s1, s1--h2], rate: 100Mbit/s}
duration: 100ms
flows: [{name: a, from: h1, to: h2}]
events:
  - {at: 20ms, do: storm, host: h2}
  - {at: 60ms, do: normal, host: h2}
  - {at: 70ms, do: slow, host: h2, rate: 4Mbit/s}
  - {at: 90ms, do: normal, host: h2}
`), "none", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0)")
	tab.Click("#next")
	for what, expr := range map[string]string{
		"the storm as the first event": "/h2 storms: it pauses priority 3 without end/.test($('entries').textContent)",
		"a mark at the host":           "document.querySelector('[data-storm]').dataset.storm === 'h2'",
		"it in words":                  "/h2 storms/.test($('words').textContent)",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s", what, tab.Text("#words"))
		}
	}
	tab.Shot("storm")
	tab.Run("go(states.length - 1)")
	if tab.Is("document.querySelector('[data-storm]')") || !tab.Is("/the storm of h2 in priority 3 is over/.test($('entries').textContent)") {
		t.Error("the storm does not end")
	}
	tab.Run("go(stateAt(80))")
	if !tab.Is("document.querySelector('[data-slow]').dataset.slow === 'h2' && /h2 takes only 4Mbit.s of its 100Mbit.s/.test($('entries').textContent)") {
		t.Error("a slow host has no mark or no event")
	}
}

// TestPageMessages: messages of reliable connections are summed up for the fabric, and told
// of for a host that is selected. Of UDP there are none.
func TestPageMessages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	v := simulateFile(t, stream, "messages.yaml", []byte(`name: messages
topology: {switches: [s1], hosts: [h1, h2, h3], links: [h1--s1, h2--s1, s1--h3], rate: 100Mbit/s}
duration: 100ms
flows:
  - {name: a, from: h1, to: h3, transport: rc, size: 200000}
  - {name: b, from: h2, to: h3, transport: rc}
  - {name: c, from: h2, to: h3, rate: 1Mbit/s}
`), "none", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(states.length - 1)")
	all := fmt.Sprintf("flows completed1 of 2messages completed%d", v.Flows[0].Messages.Done+v.Flows[1].Messages.Done)
	if !tab.Is(fmt.Sprintf("$('sums').textContent.startsWith(%q)", all)) {
		t.Errorf("the page sums up %q, not %q", tab.Text("#sums"), all)
	}
	tab.Run("choose({kind: 'node', i: topo.nodes.findIndex((n) => n.name === 'h1')})")
	one := fmt.Sprintf("flows completed1 of 1messages completed%dtime of a messagemean ", v.Flows[0].Messages.Done)
	if !tab.Is(fmt.Sprintf("$('details').textContent.includes(%q)", one)) {
		t.Errorf("of h1 the page tells %q, not %q", tab.Text("#details"), one)
	}
	tab.Shot("messages")
	tab = testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	if !tab.Is("$('messages').hidden") {
		t.Error("the page sums up messages that there are not")
	}
}

// TestPagePrice: what a cure costs is told by flow, those that no cause names apart. Without a cure
// nobody pays.
func TestPagePrice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	file, err := scenarios.FS.ReadFile("fattree-on-loop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v := simulateFile(t, stream, "fattree-on-loop.yaml", file, "itsy", "drop+trigger")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	if !tab.Is("go(0), $('price').hidden") {
		t.Error("a price is shown before anything is dropped")
	}
	tab.Run("go(states.length - 1)")
	if len(v.DroppedOf) == 0 {
		t.Fatal("the run costs nobody a frame")
	}
	for _, d := range v.DroppedOf {
		row := fmt.Sprintf("flow %s%d frames, ", d.Flow, d.Frames)
		if !tab.Is(fmt.Sprintf("!$('price').hidden && $('dropped').textContent.includes(%q)", row)) {
			t.Errorf("the page says %q, without %q", tab.Text("#dropped"), row)
		}
	}
	if n := strings.Count(tab.Text("#dropped"), "named as a cause"); n != namedOf(v) {
		t.Errorf("the page says of %d flows that a cause names them, the verdict of %d: %q", n, namedOf(v), tab.Text("#dropped"))
	}
	tab.Shot("price")
}

// namedOf is how many of the flows that paid are named.
func namedOf(v *verdict.Verdict) (n int) {
	for _, d := range v.DroppedOf {
		if d.Named {
			n++
		}
	}
	return n
}

// TestPageShapes: in no fabric does a box cover another.
func TestPageShapes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	shapes := map[string]string{
		"circle-4":      "{ring: {switches: 4, hosts_per_switch: 1}, ",
		"circle-40":     "{ring: {switches: 40, hosts_per_switch: 1}, ",
		"circle-187":    "{ring: {switches: 187, hosts_per_switch: 1}, ",
		"fattree-8":     "{fattree: {k: 8}, ",
		"leafspine":     "{leafspine: {leaves: 16, spines: 4, hosts_per_leaf: 4}, ",
		"jellyfish-50":  "{jellyfish: {switches: 50, degree: 4, hosts_per_switch: 1}, ",
		"jellyfish-200": "{jellyfish: {switches: 200, degree: 4, hosts_per_switch: 1}, ",
	}
	for _, name := range testkit.Sized([]string{"circle-40", "fattree-8"}, slices.Sorted(maps.Keys(shapes))) {
		t.Run(name, func(t *testing.T) { wantApart(t, name, shapes[name]) })
	}
}

func wantApart(t *testing.T, name, shape string) {
	stream := new(ui.Stream)
	simulateFile(t, stream, name, []byte("name: shape\ntopology: "+shape+"rate: 100Mbit/s}\nduration: 1ms\nworkload: [{name: w, pattern: ring-allreduce, size: 10000}]\n"), "none", "none")
	tab := testbrowser.Open(t, serve(t, stream, nil).URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	if covered := tab.Value(`(() => {
		const boxes = [...document.querySelectorAll(".node .box")].map((e) => e.getBoundingClientRect());
		return String(boxes.filter((a, i) => boxes.slice(0, i).some((b) => a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top)).length);
	})()`); covered != "0" {
		t.Errorf("%s: %s boxes cover others", name, covered)
	}
	tab.Shot("shape-" + name)
}

// TestPageLooks: at every size, in light, dark and without colour, all that matters is in
// sight; the pictures are there to be looked at.
func TestPageLooks(t *testing.T) {
	t.Parallel()
	url := simulated(t, "fattree-on-loop.yaml", "itsy", "drop+trigger")
	looks := map[string]testbrowser.Look{
		"1366": {Width: 1366, Height: 768}, "1366-dark": {Width: 1366, Height: 768, Dark: true}, "1366-grey": {Width: 1366, Height: 768, Grey: true},
		"1920": {Width: 1920, Height: 1080}, "1920-dark": {Width: 1920, Height: 1080, Dark: true}, "1920-grey": {Width: 1920, Height: 1080, Grey: true},
		"390": {Width: 390, Height: 844}, "390-dark": {Width: 390, Height: 844, Dark: true}, "390-grey": {Width: 390, Height: 844, Grey: true},
	}
	for _, name := range testkit.Sized([]string{"1366", "1920-dark", "390-grey"}, slices.Sorted(maps.Keys(looks))) {
		t.Run(name, func(t *testing.T) { wantInSight(t, name, url, looks[name]) })
	}
}

func wantInSight(t *testing.T, name, url string, look testbrowser.Look) {
	look.ReducedMotion = true
	tab := testbrowser.Open(t, url, look)
	tab.Await("states.length >= 600")
	tab.Run("go(states.findIndex((s) => s.declared)); zoom(1 / 256)")
	for what, expr := range map[string]string{
		"the verdict, in the window":   "(() => { const r = $('verdict').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth && $('verdict').contains(document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2)); })()",
		"no page wider than it is":     "document.documentElement.scrollWidth <= innerWidth",
		"a map that can be read":       "$('map').getBoundingClientRect().height >= 300",
		"names of 9 pixels or more":    "[...document.querySelectorAll('.node text')].every((e) => e.getBoundingClientRect().height >= 9)",
		"the sentence, as a whole":     "$('brief').scrollHeight <= $('brief').clientHeight + 1 && $('brief').textContent.length > 20",
		"the time line, in the window": "$('strip').getBoundingClientRect().bottom <= innerHeight",
	} {
		if !tab.Is(expr) {
			t.Errorf("%s: the page does not have %s", name, what)
		}
	}
	tab.Shot("look-" + name)
}

// TestPageClipsNothing: on every shipped scenario, at the sizes of a projector and of a screen, and in
// the view for the back of a room, no sentence is cut off and no name sticks out of its box, at the
// first and the last state and where most is shown.
func TestPageClipsNothing(t *testing.T) {
	t.Parallel()
	for _, file := range testkit.Sized([]string{"fattree-on-loop", "hu-fig4"}, scenarios.Names()) {
		t.Run(file, func(t *testing.T) {
			url := simulated(t, file+".yaml", "itsy", "cure")
			for name, look := range map[string]testbrowser.Look{"1366": {Width: 1366, Height: 768}, "1920": {Width: 1920, Height: 1080}} {
				look.ReducedMotion = true
				tab := testbrowser.Open(t, url, look)
				tab.Await("states.length >= 600")
				tab.Run(`faults = () => [
					...["#brief", "#act", "#behind"].map((q) => document.querySelector(q)).filter((e) => e.offsetParent && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)).map((e) => "#" + e.id + " is cut off: " + e.textContent),
					...[...document.querySelectorAll(".node")].filter((n) => {
						const box = n.querySelector(".box").getBoundingClientRect(), text = n.querySelector("text").getBoundingClientRect();
						const air = text.height / 4; // above capitals, and below the base line
						return text.left < box.left - 1 || text.right > box.right + 1 || text.top + air < box.top - 1 || text.bottom - air > box.bottom + 1;
					}).map((n) => n.dataset.node + " sticks out of its box"),
				];
				most = (of) => states.reduce((best, s, i) => (of(s) > of(states[best]) ? i : best), 0);
				found = [];
				for (const big of [false, true]) {
					present(big);
					for (const i of new Set([0, states.length - 1, most((s) => s.brief.length), most((s) => s.words.length), most((s) => (s.paused || []).length)])) {
						go(i);
						found.push(...faults().map((f) => (big ? "presented, " : "") + f));
					}
				}
				present(false);`)
				if found := tab.Value("[...new Set(found)].join('\\n')"); found != "" {
					t.Errorf("%s:\n%s", name, found)
				}
			}
		})
	}
}

// TestPageFollows: a browser that draws four states a second follows a lab all the same: half of
// what it is behind is made up for in six seconds.
func TestPageFollows(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{})
	tab.Await("states.length >= 600")
	tab.Run(`drawn = draw;
		draw = () => { for (const from = performance.now(); performance.now() - from < 250;); drawn(); };
		states.forEach((s) => { s.slow = true; });
		topo.world = 'live'; playing = false; follow = true; at = 0;`)
	tab.Await("follow && at > 0 && at > states.length / 2")
}

// TestPageKeepsUp: by the clock of the page, whatever the browser's: what has come is drawn or left out
// within the bound, however few frames are drawn and however much comes; what an order, a detector or
// a response has brought is drawn, where there are frames for it; and slow motion shows more.
func TestPageKeepsUp(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{})
	tab.Await("states.length >= 600")
	tab.Run(`one = states[0];
		// follows plays ten seconds, with so many frames a second and states in 200 ms, and returns the longest
		// that anything had waited after a frame, and which part of the key states was drawn.
		follows = (frames, many) => {
			topo.world = 'live'; playing = false; follow = true; states = [{ ...one, came: 0, slow: true, log: [] }]; at = 0; stepped = 0;
			let worst = 0, drawn = 0, seen = 0, next = 0;
			for (let now = 0; now < 10000; now += 1000 / frames) {
				for (; next <= now; next += 200) for (let i = 0; i < many; i++) {
					const key = i === (many >> 1) && next % 1000 === 0;
					states.push({ ...one, t: states.length, came: now, slow: true, log: key ? [{ k: "declared", t: 0, text: "" }] : [{ k: "act", t: 0, text: "" }] });
				}
				if (goOn(now)) seen++, drawn += isKey(states[at]);
				worst = Math.max(worst, lag(now));
			}
			follow = false;
			return { worst, keys: states.slice(0, at + 1).filter(isKey).length, drawn, seen };
		};
		results = [60, 10, 2, 0.5].flatMap((frames) => [1, 20, 300].map((many) => ({ frames, many, ...follows(frames, many) })));
		$("slowly").checked = true;
		slowly = follows(60, 20);
		$("slowly").checked = false;`)
	if !tab.Is("results.every((r) => r.worst <= LAG)") {
		t.Errorf("the page is behind by more than it says: %s", tab.Value("JSON.stringify(results)"))
	}
	if !tab.Is("results.filter((r) => r.frames >= 10).every((r) => r.drawn >= r.keys)") {
		t.Errorf("what matters is left out: %s", tab.Value("JSON.stringify(results)"))
	}
	if !tab.Is("slowly.worst > LAG && slowly.worst <= SLOW_LAG && slowly.drawn >= slowly.keys && slowly.keys > 0") {
		t.Errorf("slow motion: %s", tab.Value("JSON.stringify(slowly)"))
	}
}

// TestPageFollowsNothingLate: of what came long ago nothing is drawn but the end, whatever was told
// there: a browser that draws hardly anything shows what a lab does now.
func TestPageFollowsNothingLate(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{})
	tab.Await("states.length >= 600")
	tab.Run(`drawn = draw, draws = 0;
		draw = () => { draws++; drawn(); };
		states.forEach((s) => { s.slow = true; s.log = [states.find((s) => s.log).log[0]]; s.came = -1e6; });
		topo.world = 'live'; playing = false; follow = true; at = 0;`)
	tab.Await("at === states.length - 1")
	if n := tab.Value("String(draws)"); n != "1" {
		t.Errorf("it is drawn %s times, want once", n)
	}
}

// TestPageDrawsOnceAFrame: states that come in many messages between two frames are drawn once, so
// a browser that draws seldom has no more to do than one that draws often.
func TestPageDrawsOnceAFrame(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{})
	tab.Await("states.length >= 600")
	tab.Run(`drawn = draw, draws = 0;
		topo.world = 'live'; playing = false; follow = true; at = states.length - 1;
		requestAnimationFrame(() => {
			draw = () => { draws++; drawn(); };
			for (let i = 0; i < 100; i++) take([{ ...states[0], slow: false, t: states.at(-1).t + 1 }]);
			requestAnimationFrame(() => requestAnimationFrame(() => (ended = true)));
		});
		ended = false;`)
	tab.Await("ended && at === states.length - 1")
	if n := tab.Value("String(draws)"); n != "1" {
		t.Errorf("the page is drawn %s times, want once", n)
	}
}

// TestPageButtonsStay: what is told of a link has more lines and fewer from state to state, the pace
// changes and an order is answered, while the buttons stay under the mouse.
func TestPageButtonsStay(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "pause.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run(`topo.choices = { detectors: [], responses: [] };
		buildControl();
		choose({ kind: "link", i: topo.links.findIndex((l) => l.name === "s1--s2") });
		places = new Set(), heights = new Set();
		states.forEach((_, i) => {
			go(i);
			$("answer").textContent = i % 2 ? "done: fail s1--s2" : "";
			places.add([document.querySelector("[data-order=impair]"), $("in")].map((b) => b.getBoundingClientRect()).map((r) => r.left + " " + r.top).join());
			heights.add($("details").getBoundingClientRect().height);
		});`)
	if !tab.Is("heights.size > 1") {
		t.Errorf("what is told is always as high: %s", tab.Value("JSON.stringify([...heights])"))
	}
	if !tab.Is("places.size === 1") {
		t.Errorf("the buttons Impair and Zoom in are at %s", tab.Value("JSON.stringify([...places])"))
	}
}

// TestPageEnds: a page whose server ends says so, and does not try again.
func TestPageEnds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	simulate(t, stream, "pause.yaml", "itsy", "none")
	srv, err := ui.Listen("127.0.0.1:0", stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	tab := testbrowser.Open(t, srv.URL(), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	tab.Await("$('link-state').classList.contains('bad')")
	if text := tab.Text("#link-state"); text != "the run has ended" {
		t.Errorf("the page says %q", text)
	}
}

// TestPageFile: the file that a run is written to shows, without a server, what the page
// shows, at fifty instants; and it asks nobody for anything.
func TestPageFile(t *testing.T) {
	t.Parallel()
	stream := new(ui.Stream)
	if err := stream.WriteHTML(io.Discard); err == nil {
		t.Error("a file is written of a run that was not played")
	}
	simulate(t, stream, "fattree-on-loop.yaml", "itsy", "drop+trigger")
	var page bytes.Buffer
	if err := stream.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	const most = 2 << 20
	if page.Len() > most {
		t.Errorf("%d bytes, want %d or less", page.Len(), most)
	}
	file := filepath.Join(t.TempDir(), "run.html")
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	look := testbrowser.Look{ReducedMotion: true}
	tabs := [2]*testbrowser.Tab{testbrowser.Open(t, serve(t, stream, nil).URL(), look), testbrowser.Open(t, "file://"+file, look)}
	for _, tab := range tabs {
		tab.Await("states.length >= 600")
		tab.Run(`picture = (k) => {
			go(Math.floor((k * (states.length - 1)) / 49));
			return ["stage", "entries", "clock", "pace"].map((id) => $(id).outerHTML).join("\n");
		}`)
	}
	seen := map[string]bool{}
	for k := range 50 {
		expr := fmt.Sprintf("picture(%d)", k)
		want, got := tabs[0].Value(expr), tabs[1].Value(expr)
		if got != want {
			t.Errorf("instant %d of 50: the file and the page differ", k)
		}
		seen[want] = true
	}
	if len(seen) < 40 {
		t.Errorf("only %d of 50 pictures differ from each other", len(seen))
	}
	if n := tabs[1].Value("String(performance.getEntriesByType('resource').length)"); n != "0" {
		t.Errorf("the file asks for %s resources", n)
	}
	tabs[1].Run("go(states.findIndex((s) => s.deadlock))")
	tabs[1].Shot("file-deadlock")
}

// simulated is the address of a page that shows a scenario.
func simulated(t testing.TB, file, detector, response string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	simulate(t, stream, file, detector, response)
	return serve(t, stream, nil).URL()
}

func simulate(t testing.TB, stream *ui.Stream, file, detector, response string) *verdict.Verdict {
	t.Helper()
	data, err := scenarios.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return simulateFile(t, stream, file, data, detector, response)
}

func simulateFile(t testing.TB, stream *ui.Stream, file string, data []byte, detector, response string) *verdict.Verdict {
	t.Helper()
	s, err := scenario.Parse(file, data, scenario.Known{Detectors: []string{"itsy", "itsypaper"}, Responses: respond.Names()[1:]})
	if err != nil {
		t.Fatal(err)
	}
	s.Detector, s.Response = detector, response
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ui.Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New, "none": detect.NewNone}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// serve serves a stream until the test ends.
func serve(t testing.TB, stream *ui.Stream, act func(context.Context, ui.Order) error) *ui.Server {
	t.Helper()
	srv, err := ui.Listen("127.0.0.1:0", stream, act)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, srv)
	return srv
}

// begin lets a server serve until the test ends.
func begin(t testing.TB, srv *ui.Server) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
}

// TestPageAccessible: what a program can check of accessibility has no fault, in light and in
// dark, in each view.
func TestPageAccessible(t *testing.T) {
	t.Parallel()
	url := simulated(t, "fattree-on-loop.yaml", "itsy", "drop+trigger")
	for _, look := range []testbrowser.Look{{}, {Dark: true}, {Width: 390, Height: 844}} {
		look.ReducedMotion = true
		tab := testbrowser.Open(t, url, look)
		tab.Await("states.length >= 600")
		for _, view := range [][2]string{
			{"flowing", "go(0)"},
			{"deadlock", "go(states.findIndex((s) => s.declared)); choose({ kind: 'node', i: 0 }); $('show-waits').click()"},
			{"resolved", "go(states.findIndex((s) => s.deadlock && s.deadlock.over))"},
			{"for a back row", "present(true)"},
		} {
			tab.Run(view[1])
			for _, fault := range tab.Audit() {
				t.Errorf("%+v, %s: %s", look, view[0], fault)
			}
		}
	}
}

// BenchmarkFrames plays a busy fabric of 80 switches and 128 hosts as fast as the page can
// draw it: the times between two frames, and what one costs the page's own thread.
func BenchmarkFrames(b *testing.B) {
	stream := new(ui.Stream)
	simulateFile(b, stream, "frames", []byte("name: frames\ntopology: {fattree: {k: 8}, rate: 1Gbit/s}\nduration: 20ms\nworkload: [{name: w, pattern: random, load: 0.9, size: 100000}]\n"), "none", "none")
	tab := testbrowser.Open(b, serve(b, stream, nil).URL(), testbrowser.Look{})
	tab.Await("states.length >= 600")
	for b.Loop() {
		tab.Run(`frames = []; go(300); $("speed").append(new Option("60", "60")); $("speed").value = "60"; playing = true;
			(function next(now) { frames.push(now); if (playing && at < 500) requestAnimationFrame(next); })(performance.now())`)
		tab.Await("at >= 500")
	}
	report := func(expr, unit string) {
		v, err := strconv.ParseFloat(tab.Value("String("+expr+")"), 64)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(v, unit)
	}
	tab.Run("gaps = frames.slice(1).map((x, i) => x - frames[i]).sort((a, b) => a - b)")
	report("gaps[gaps.length >> 1]", "ms/frame-median")
	report("gaps[Math.floor(gaps.length * 0.95)]", "ms/frame-p95")
	report("(() => { const t = performance.now(); for (let i = 300; i < 500; i++) { go(i); document.body.offsetHeight; } return (performance.now() - t) / 200; })()", "ms/draw")
}

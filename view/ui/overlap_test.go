package ui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
	"softswitch/internal/testkit"
	"softswitch/scenarios"
	"softswitch/view/ui"
)

// overlaps defines, in a page, overlaps(): what lies on what by more than a pixel, of badges, tags,
// boxes of nodes and the window of the drawing; and crowded(n): the n states that have most to draw.
const overlaps = `
	box = (e) => e.getBoundingClientRect();
	deep = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
	label = (e) => e.dataset.node || e.parentNode.dataset.node || [...e.querySelectorAll("text")].map((t) => t.textContent).join(" ");
	overlaps = () => {
		const upper = [...document.querySelectorAll("#badges > g, #tags > g")].map((e) => [label(e), box(e)]), map = box($("map"));
		const lower = [...document.querySelectorAll("#nodes .box")].map((e) => [label(e), box(e)]);
		const out = upper.filter(([, r]) => r.left < map.left - 1 || r.right > map.right + 1 || r.top < map.top - 1 || r.bottom > map.bottom + 1).map(([n]) => n + " is cut off");
		upper.forEach(([n, r], i) => [...upper.slice(0, i), ...lower].filter(([, q]) => deep(r, q) > 1).forEach(([m]) => out.push(n + " lies on " + m)));
		return out;
	};
	drawn = (s) => (s.paused || []).length + (s.actions || []).length + 2 * (s.down || []).length + (s.deadlock ? s.deadlock.core.length : 0) + (s.declared ? 3 : 0) + 2 * (s.storms || []).length + (s.starving || []).length;
	crowded = (n) => {
		const kinds = new Map();
		states.forEach((s, i) => kinds.set(JSON.stringify([s.paused, s.actions, s.down, s.deadlock && s.deadlock.core, s.declared && [s.declared.node, s.declared.trigger], s.storms, s.slow_hosts, (s.starving || []).map((q) => [q.d, q.c])]), i));
		return [...kinds.values()].sort((a, b) => drawn(states[b]) - drawn(states[a])).slice(0, n);
	};
	everywhere = (indices) => {
		const found = [];
		for (const big of [false, true]) {
			present(big);
			for (const i of indices) go(i), found.push(...overlaps().map((f) => (big ? "presented, " : "") + "state " + i + ": " + f));
		}
		present(false);
		return found;
	};
`

var projectors = map[string]testbrowser.Look{
	"1366": {Width: 1366, Height: 768, ReducedMotion: true}, "1920": {Width: 1920, Height: 1080, ReducedMotion: true},
}

// stormy are failures that are made by hand on the stage, all at once.
const stormy = `
events:
  - {at: 20ms, do: fail, link: core0--agg1-0}
  - {at: 40ms, do: fail, link: core1--agg1-0}
  - {at: 60ms, do: fail, link: core1--agg3-0}
  - {at: 80ms, do: storm, host: h3-0-0}
  - {at: 80ms, do: slow, host: h1-0-0, rate: 10Mbit/s}
  - {at: 80ms, do: storm, host: h0-0-0}
`

// TestPageOverlaps: on every shipped scenario, with each way to respond, no badge and no tag lies on
// another, on a node, or off the drawing, where most is drawn.
func TestPageOverlaps(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	for _, file := range testkit.Sized([]string{"itsy-fig3"}, scenarios.Names()) {
		for _, response := range testkit.Sized([]string{"drop+trigger"}, []string{"none", "drop+trigger", "cure"}) {
			t.Run(file+"/"+response, func(t *testing.T) { wantNoOverlaps(t, simulated(t, file+".yaml", "itsy", response)) })
		}
	}
	t.Run("stage by hand", func(t *testing.T) {
		file, err := scenarios.Read("stage")
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(file), "\nduration:")
		stream := new(ui.Stream)
		simulateFile(t, stream, "stage.yaml", []byte(text+"\nduration: 700ms\n"+stormy), "itsy", "cure")
		wantNoOverlaps(t, serve(t, stream, nil).URL())
	})
}

func wantNoOverlaps(t *testing.T, url string) {
	for name, look := range projectors {
		tab := testbrowser.Open(t, url, look)
		tab.Await("states.length >= 600")
		tab.Run(overlaps)
		if found := tab.Value("everywhere(crowded(25)).slice(0, 20).join('\\n')"); found != "" {
			t.Errorf("%s:\n%s", name, found)
		}
	}
}

// TestShowOverlaps: nor do they in any act of the show.
func TestShowOverlaps(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	var runs [3]ui.Recording
	for i, response := range []string{"none", "drop", "cure"} {
		stream := new(ui.Stream)
		simulate(t, stream, "fattree-on-loop.yaml", "itsy", response)
		var err error
		if runs[i], err = stream.Recording(); err != nil {
			t.Fatal(err)
		}
	}
	show, err := ui.NewShow(runs[0], runs[1], runs[2])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "show.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := show.WriteHTML(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for name, look := range projectors {
		tab := testbrowser.Open(t, "file://"+file, look)
		tab.Await("show && states.length >= 600")
		tab.Run(overlaps)
		found := tab.Value(`show.acts.flatMap((a, i) => (goAct(i), everywhere([a.from, a.from + ((a.to - a.from) >> 1), a.to]).map((f) => "act " + (i + 1) + ", " + f))).join("\n")`)
		if found != "" {
			t.Errorf("%s:\n%s", name, found)
		}
	}
}

// TestOverlapsRings: the check of overlaps finds a badge that is moved onto another, onto a node, and
// off the drawing.
func TestOverlapsRings(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run(overlaps)
	tab.Run("go(states.length - 1)")
	for what, to := range map[string]string{
		"on another":      "document.querySelectorAll('#badges > g')[1].getAttribute('transform')",
		"on a node":       "`translate(${nodes[0].p.x} ${nodes[0].p.y})`",
		"off the drawing": "'translate(2 400)'",
	} {
		tab.Run("draw(); document.querySelector('#badges > g').setAttribute('transform', " + to + ")")
		if !tab.Is("overlaps().length > 0") {
			t.Errorf("a badge %s is not found", what)
		}
	}
}

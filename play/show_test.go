package play_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/testbrowser"
	"softswitch/play"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/view/ui"
)

var rewrite = flag.Bool("rewrite", false, "write docs/show-acts.md and its pictures")

const actsPage = "../docs/show-acts.md"

// TestShow gives the show, of simulated runs, from start to end by the space bar, and holds
// the page of the documentation against it.
func TestShow(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	show := simulatedShow(t)
	titles := []string{"Traffic", "A link fails", "Another link fails", "Pauses spread", "Deadlock", "Detection", "Without a response it stays", "The break alone", "Cured"}
	if len(show.Acts) != len(titles) {
		t.Fatalf("%d acts: %+v", len(show.Acts), show.Acts)
	}
	tab := testbrowser.Open(t, serve(t, show), testbrowser.Look{Width: 1366, Height: 768})
	tab.Await("show && states.length > 0")
	tab.Press("p")
	tab.Await("document.body.classList.contains('present')")
	tab.Run("went = goOn; goOn = () => false; goAct(0)") // an act goes on while it is looked at
	for i, want := range titles {
		tab.Await(fmt.Sprintf("act === %d", i))
		a := show.Acts[i]
		if a.Title != want || tab.Text("#act-title") != want || tab.Text("#act-text") != a.Text {
			t.Errorf("act %d is %q, and the page says %q: %q; want %q", i+1, a.Title, tab.Text("#act-title"), tab.Text("#act-text"), want)
		}
		if a.To > a.From && !tab.Is(fmt.Sprintf("playing && at < %d && until === %d", a.To, a.To)) {
			t.Errorf("act %d is not played: state %s of %d to %d", i+1, tab.Value("String(at)"), a.From, a.To)
		}
		tab.Press(" ")
		tab.Await(fmt.Sprintf("!playing && at === %d", a.To))
		if small := tab.Value(`JSON.stringify([...document.querySelectorAll(".node text")].map((e) => e.getBoundingClientRect().height).filter((h) => h < 18))`); small != "[]" {
			t.Errorf("names are less than 18 pixels high: %s", small)
		}
		if hidden := tab.Value(`JSON.stringify([...document.querySelectorAll(".node")].filter((n) => {
			const r = n.querySelector(".box").getBoundingClientRect(), e = document.elementFromPoint(r.left + r.width / 2, r.top + 4);
			return !e || !e.closest("#map");
		}).map((n) => n.dataset.node))`); hidden != "[]" {
			t.Errorf("act %d does not show %s", i+1, hidden)
		}
		tab.Shot(fmt.Sprintf("act-%d", i+1))
		tab.Press(" ")
	}
	tab.Await("act === 0")
	tab.Run("goOn = went; goAct(4)")
	tab.Await("act === 4 && !playing && at === until")
	for i, status := range map[int]string{4: "deadlock", 6: "deadlock", 8: "cured"} {
		tab.Run(fmt.Sprintf("goAct(%d); go(until)", i))
		if got := tab.Value("document.body.dataset.status"); got != status {
			t.Errorf("act %d ends %s, want %s", i+1, got, status)
		}
	}
	tab.Press("b")
	tab.Await(`[...document.querySelectorAll("#sides iframe")].map((f) => f.contentDocument.querySelector("#act-title")?.textContent && f.contentDocument.querySelector("#play")?.textContent === "Play").every((s) => s)`)
	if both := tab.Value(`[...document.querySelectorAll("#sides iframe")].map((f) => f.contentDocument.body.dataset.status).join()`); !strings.HasPrefix(both, "deadlock,") || strings.HasSuffix(both, "deadlock") {
		t.Errorf("side by side: %s", both)
	}
	if !tab.Is(`[...document.querySelectorAll("#sides iframe")].every((f) => [...f.contentDocument.querySelectorAll(".node")].every((n) => {
		const r = n.querySelector(".box").getBoundingClientRect(), e = f.contentDocument.elementFromPoint(r.left + r.width / 2, r.top + 2);
		return e && e.closest("#map");
	}))`) {
		t.Error("side by side, not all of the fabric is seen")
	}
	tab.Shot("act-sides")
	holdPage(t, show)
	if *rewrite {
		film(tab)
		failures(t)
	}
}

// failures takes the pictures of docs/failures.md: the stage, and what somebody does there by hand.
func failures(t *testing.T) {
	file, err := scenarios.Read("stage")
	if err != nil {
		t.Fatal(err)
	}
	for name, events := range map[string]string{
		"links": "{at: 50ms, do: fail, link: core0--agg1-0}, {at: 50ms, do: fail, link: core1--agg3-0}",
		"loop":  "{at: 50ms, do: fail, link: core0--agg1-0}, {at: 50ms, do: fail, link: core1--agg1-0}",
		"storm": "{at: 50ms, do: storm, host: h3-0-0}",
		"slow":  "{at: 50ms, do: slow, host: h3-0-0, rate: 10Mbit/s}",
	} {
		text := strings.Replace(string(file), "duration: 5s", "events: ["+events+"]\nduration: 200ms", 1)
		plan, err := load.Plan("stage.yaml", []byte(text), load.Instead{Detector: "itsy"})
		if err != nil {
			t.Fatal(err)
		}
		run, err := simulate(plan)
		if err != nil {
			t.Fatal(err)
		}
		last := len(run.States) - 1
		tab := testbrowser.Open(t, serve(t, &ui.Show{Runs: []ui.Recording{run}, Acts: []ui.Act{{To: last, Title: name}}}), testbrowser.Look{Width: 1366, Height: 768})
		tab.Await("show && states.length > 0")
		tab.Press("p")
		tab.Run(fmt.Sprintf(`document.body.classList.remove("show"); $("act").hidden = true; go(%d)`, last))
		tab.Shot("failure-" + name)
	}
}

// film takes the pictures of the moving one in README: how the deadlock forms, is declared and is cured.
func film(tab *testbrowser.Tab) {
	tab.Press("b")
	tab.Run(`goAct(8); document.body.classList.remove("show"); $("act").hidden = true;
		onset = states.findIndex((s) => s.status === "deadlock"); cured = states.findIndex((s, i) => i > onset && s.status === "cured");
		told = (i) => i >= 0 && states[i].brief !== states[i - 1]?.brief;
		frames = states.map((_, i) => i).filter((i) => i >= onset - 12 && i <= cured + 12).filter((i, k, all) => k % Math.ceil(all.length / 28) === 0 || told(i));`)
	n, _ := strconv.Atoi(tab.Value("String(frames.length)"))
	for i := range n {
		tab.Run(fmt.Sprintf("go(frames[%d])", i))
		tab.Shot(fmt.Sprintf("film-%02d", i))
	}
}

// TestShowFile: the show needs no server.
func TestShowFile(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	show := simulatedShow(t)
	var page bytes.Buffer
	if err := show.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 2<<20 {
		t.Errorf("%d bytes", page.Len())
	}
	file := filepath.Join(t.TempDir(), "show.html")
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	tab := testbrowser.Open(t, "file://"+file, testbrowser.Look{ReducedMotion: true})
	for i, a := range show.Acts {
		tab.Await(fmt.Sprintf("show && act === %d && at === %d", i, a.To))
		if got := tab.Text("#act-text"); got != a.Text {
			t.Errorf("act %d: %q, want %q", i+1, got, a.Text)
		}
		tab.Press(" ")
	}
}

// TestShowNeedsRuns: runs that cannot be told in acts are refused with the reason.
func TestShowNeedsRuns(t *testing.T) {
	show := simulatedShow(t)
	none, drop, both := show.Runs[0], show.Runs[1], show.Runs[2]
	cut := none
	cut.States = none.States[:show.Acts[1].From]
	for want, runs := range map[string][3]ui.Recording{
		"no link fails":                     {cut, drop, both},
		"the deadlock goes away by itself":  {both, drop, both},
		"the response none breaks no deadl": {none, none, both},
		"the response cure breaks no deadl": {none, drop, {Topology: both.Topology, States: cut.States}},
	} {
		if _, err := ui.NewShow(runs[0], runs[1], runs[2]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// simulatedShow is the show of the shipped scenario, simulated.
func simulatedShow(t *testing.T) *ui.Show {
	t.Helper()
	var runs [3]ui.Recording
	for i, response := range play.Responses {
		plan, err := load.Plan("show.yaml", play.ShowFile, load.Instead{Response: response})
		if err != nil {
			t.Fatal(err)
		}
		if runs[i], err = simulate(plan); err != nil {
			t.Fatal(err)
		}
	}
	show, err := ui.NewShow(runs[0], runs[1], runs[2])
	if err != nil {
		t.Fatal(err)
	}
	return show
}

func simulate(plan *scenario.Plan) (ui.Recording, error) {
	stream := new(ui.Stream)
	if _, err := ui.Simulate(plan, sim.Options{Seed: 1, Detectors: catalog.Factories()}, stream); err != nil {
		return ui.Recording{}, err
	}
	return stream.Recording()
}

func serve(t *testing.T, show *ui.Show) string {
	t.Helper()
	srv, err := ui.ListenShow("127.0.0.1:0", show)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return srv.URL()
}

// holdPage holds docs/show-acts.md against the acts, or writes it.
func holdPage(t *testing.T, show *ui.Show) {
	t.Helper()
	var page strings.Builder
	page.WriteString(actsHead)
	for i, a := range show.Acts {
		fmt.Fprintf(&page, "\n## %d. %s\n\n%s\n\n![%s](show-acts/act-%d.png)\n", i+1, a.Title, a.Text, a.Title, i+1)
	}
	if *rewrite {
		if err := os.WriteFile(actsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(actsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page.String() {
		t.Errorf("docs/show-acts.md is not what the show says; make show-acts")
	}
}

const actsHead = `# The show, act by act

` + "`sudo softswitch demo --show`" + ` plays its scenario three times on a lab, without a response, with
` + "`drop`" + ` and with ` + "`cure`" + `, and then tells of it in a browser. Below are its acts as the
simulation plays them, in the view for the back of a room; times differ a little live. ` + "`make\nshow-acts`" + ` makes this page again.

| key | does |
|---|---|
| space | ends the act that is being told, or begins the next; after the last the first |
| ← → | the act before, the next |
| Home | the first act |
| P | the view for the back of a room, and back |
| B | without a response and cured, side by side, and back |
| W | what waits for what |
`

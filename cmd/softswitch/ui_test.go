package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testbrowser"
	"softswitch/internal/testkit"
)

// besideALab is a window that a browser without a graphics card can draw often enough while a lab
// takes most of the machine.
var besideALab = testbrowser.Look{Width: 1024, Height: 700}

// restartsTold counts the restarts of nodes that the page tells of.
const restartsTold = "states.flatMap((s) => s.log || []).filter((e) => e.k === 'restart').length"

// lagOf clicks, and tells when asked how long it took until the page showed what came of it.
func lagOf(tab *testbrowser.Tab, button, shown string) func(what string) {
	tab.Run(`took = null; clicked = 0; drawn = draw;
		document.querySelector("` + button + `").addEventListener("click", () => { clicked = performance.now(); }, { once: true });
		draw = () => { drawn(); if (clicked && took === null && (` + shown + `)) took = performance.now() - clicked, draw = drawn; };`)
	tab.Click(button)
	return func(what string) {
		tab.Await("took !== null")
		tab.Logf("%s: shown %s ms after the click", what, tab.Value("took.toFixed(0)"))
	}
}

// TestDemoUI plays the demo in a browser: a deadlock is seen to form and to be declared;
// a click has the running switches break it, and it is seen to be resolved, with what was before
// still to go back to, also after the switches are restarted; a click fails a link of the running
// lab, and another heals it.
func TestDemoUI(t *testing.T) {
	testbrowser.Need(t)
	b := newLoneBed(t) // a browser beside 36 nodes
	demo := b.start(b.command("demo", "--ui", "--listen", "127.0.0.1:0", "--name", b.name, "--detector", "itsy"))
	url := pageOf(demo)
	demo.await("begins when a browser")
	tab := testbrowser.Open(t, url, besideALab)
	demo.await("the page stays")

	tab.Await("document.body.dataset.status === 'deadlock' && states[at].declared && states[at].declared.true")
	// Counters are asked for every now and then: of traffic that stopped soon they tell after the deadlock.
	tab.Await("states.some((s) => s.load.some((l) => l > 0))")
	tab.Shot("live-deadlock")
	for what, expr := range map[string]string{
		"a loop of four links":  "document.querySelectorAll('#lanes .lane.core').length === 4",
		"where it comes from":   "document.querySelector('[data-cause], [data-trigger]') !== null",
		"pauses":                "document.querySelectorAll('[data-paused]').length > 4",
		"the loop in words":     "/DEADLOCK of priority 3 .* wait for one another/.test($('words').textContent)",
		"a state without it":    "states.some((s) => !s.deadlock)",
		"when it was declared":  "/declares/.test($('entries').textContent)",
		"that it may act on it": "!$('restart').disabled",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s", what, tab.Text("#words"))
		}
	}

	tab.Run("go(states.findIndex((s) => s.deadlock) - 1)")
	tab.Await("document.body.dataset.status !== 'deadlock'")
	tab.Shot("live-scrubbed-back")
	tab.Click("#live")

	tab.Await("!$('breaks').hidden && $('break-by').value === 'cure'")
	tab.Run("restarts = " + restartsTold)
	shows := lagOf(tab, "#break", "document.body.dataset.status === 'cured'")
	tab.Await("states.some((s) => s.deadlock && s.deadlock.over)")
	shows("cured")
	tab.Await("$('response').textContent === 'cure'")
	if tab.Is(restartsTold + " > restarts") {
		t.Error("a switch was restarted to break the deadlock")
	}
	tab.Run("go(states.findIndex((s) => s.deadlock && s.deadlock.over))")
	tab.Shot("live-resolved")
	tab.Run("go(states.findIndex((s) => s.deadlock) - 1)")
	tab.Await("document.body.dataset.status !== 'deadlock'")
	tab.Shot("live-before-the-cure")
	tab.Click("#live")

	tab.Run("first = states[0].t; $('responses').value = 'drop'")
	tab.Click("#restart")
	tab.Await("$('response').textContent === 'drop' && " + restartsTold + " > restarts")
	if !tab.Is("states[0].t === first && states.some((s) => s.deadlock)") {
		t.Error("what was before the restart is forgotten")
	}

	link := "core3--agg3-1"
	b.choose(tab, "link "+link)
	shows = lagOf(tab, "[data-order=fail]", "(states[at].down || []).includes(topo.links.findIndex((l) => l.name === '"+link+"'))")
	tab.Await("(states[at].down || []).includes(topo.links.findIndex((l) => l.name === '" + link + "'))")
	shows("link down")
	if !b.isDown(link) {
		t.Errorf("the page shows %s as down, and it is not", link)
	}
	tab.Click("[data-order=heal]")
	tab.Await("!(states[at].down || []).includes(topo.links.findIndex((l) => l.name === '" + link + "'))")
	if b.isDown(link) {
		t.Errorf("the page shows %s as up, and it is not", link)
	}

	demo.signal(os.Interrupt)
	if r := demo.end(); r.code != 0 && r.code != cli.ExitUnmet {
		t.Errorf("after Ctrl-C: exit status %d", r.code)
	}
	tab.Await("$('link-state').classList.contains('bad')")
}

// TestSlowMotionUI plays the demo with a response, which breaks the deadlock within a
// millisecond: who follows the page sees it, and each hop of the label that finds it; so
// does who opens the file of the run.
func TestSlowMotionUI(t *testing.T) {
	testkit.LongOnly(t) // a browser beside a fabric: TestDemoUI has one in make test
	testbrowser.Need(t)
	b := newLoneBed(t)
	b.untilValid(func() (invalid string) {
		var wrong []string
		file := filepath.Join(t.TempDir(), "run.html")
		demo := b.start(b.command("demo", "--ui", "--listen", "127.0.0.1:0", "--name", b.name, "--response", "drop+trigger", "--html", file))
		url := pageOf(demo)
		demo.await("begins when a browser")
		tab := testbrowser.Open(t, url, besideALab)
		tab.Run("$('slowly').checked = true")
		tab.Run(`watched = [];
		new MutationObserver(() => watched.push({ at, status: document.body.dataset.status, now: performance.now(), labels: document.querySelectorAll("#travel .label").length }))
			.observe($("words"), { childList: true });`)
		demo.await("the page stays")
		tab.Await("/the run is over/.test($('entries').textContent)")
		for what, expr := range map[string]string{
			"the deadlock, while it is followed": "watched.some((s) => s.status === 'deadlock')",
			"it in slow motion":                  "(() => { const d = watched.filter((s) => s.status === 'deadlock'); return d.at(-1).now - d[0].now > 300; })()",
			"labels in it":                       "watched.some((s) => s.status === 'deadlock' && s.labels > 0)",
			"what the terminal says":             "/the run is over; deadlock: yes, from .* for the rest of the run/.test($('entries').textContent)",
		} {
			if !tab.Is(expr) {
				wrong = append(wrong, fmt.Sprintf("the page does not show %s; it saw %s", what, tab.Value("JSON.stringify(watched.map((s) => s.status).filter((s, i, all) => s !== all[i - 1]))")))
			}
		}
		shot := testbrowser.Open(t, "file://"+file, testbrowser.Look{ReducedMotion: true})
		shot.Await("states.length > 10")
		shot.Run(`loop = new Set(states.find((s) => s.deadlock).deadlock.core.map((q) => q.d));
		hops = new Map();
		for (const s of states) for (const l of s.labels || []) if (loop.has(l.d) && s.deadlock && !s.deadlock.over) hops.set(l.d, s.t);`)
		for what, expr := range map[string]string{
			"a label on each link of the loop":     "loop.size === 4 && hops.size === 4",
			"these at different times":             "new Set(hops.values()).size >= 3",
			"what the detector did":                "states.some((s) => (s.steps || []).some((e) => e.k === 'loop'))",
			"the band of the deadlock":             "deadlocks().length === 1 && deadlocks()[0][1] - deadlocks()[0][0] < 50",
			"no buttons for a lab that is no more": "$('control').hidden && $('live').hidden",
		} {
			if !shot.Is(expr) {
				wrong = append(wrong, "the file does not show "+what)
			}
		}
		shot.Run("go(states.findIndex((s) => s.deadlock && !s.deadlock.over && s.labels)); $('show-waits').click(); zoom(1 / 64)")
		shot.Shot("live-slow-motion")
		demo.signal(os.Interrupt)
		r := demo.end()
		if _, invalid, ok := strings.Cut(r.stdout, "run not valid: "); ok {
			return invalid
		}
		if r.code != 0 {
			wrong = append(wrong, fmt.Sprintf("after Ctrl-C: exit status %d", r.code))
		}
		for _, w := range wrong {
			t.Error(w)
		}
		return ""
	})
}

// TestDemoShow records the show on a lab, and gives it from its file.
func TestDemoShow(t *testing.T) {
	testkit.LongOnly(t) // a browser beside a fabric: TestDemoUI has one in make test
	testbrowser.Need(t)
	b := newLoneBed(t)
	file := filepath.Join(t.TempDir(), "show.html")
	if r := b.run(b.command("demo", "--show", "--name", b.name, "--html", file)); r.code != 0 {
		t.Fatalf("exit status %d: %s", r.code, r.stderr)
	}
	tab := testbrowser.Open(t, "file://"+file, testbrowser.Look{ReducedMotion: true})
	tab.Await("show && topo.world === 'live'")
	var titles []string
	for n := 1; ; n++ {
		tab.Await(fmt.Sprintf("act === %d && at === until", n-1))
		titles = append(titles, tab.Text("#act-title"))
		if tab.Is("act === show.acts.length - 1") {
			break
		}
		tab.Press(" ")
	}
	want := []string{"Traffic", "A link fails", "Another link fails", "Pauses spread", "Deadlock", "Detection", "Without a response it stays", "The break alone", "The trigger handled"}
	if !slices.Equal(titles, want) {
		t.Errorf("acts %q, want %q", titles, want)
	}
}

// TestMessagesUI: the page of a lab tells of its connections.
func TestMessagesUI(t *testing.T) {
	testbrowser.Need(t)
	b := newBigBed(t)
	run := b.start(b.command("lab", "run", "testdata/rdma.yaml", "--ui", "--listen", "127.0.0.1:0", "--name", b.name))
	tab := testbrowser.Open(t, pageOf(run), testbrowser.Look{ReducedMotion: true})
	run.await("the page stays")
	tab.Await("/^flows completed2 of 2messages completed32time of a messagemean /.test($('sums').textContent)")
	if !tab.Is("/congestion notifications[1-9]/.test($('sums').textContent)") {
		t.Errorf("no notifications: %s", tab.Text("#sums"))
	}
	tab.Shot("live-messages")
	run.signal(os.Interrupt)
	if r := run.end(); r.code != 0 && !strings.Contains(r.stdout, "run not valid: ") {
		t.Errorf("after Ctrl-C: exit status %d", r.code)
	}
}

// TestLabUI follows a lab that somebody else deploys and removes.
func TestLabUI(t *testing.T) {
	testbrowser.Need(t)
	b := newBigBed(t)
	if r := b.lab("ui"); r.code != cli.ExitError || !strings.Contains(r.stderr, "is not up") {
		t.Errorf("without a lab: exit status %d, %q", r.code, r.stderr)
	}
	file := b.endless()
	b.must("deploy", "-t", file)
	b.refusesTakenPort()

	page := b.start(b.command("lab", "ui", "--listen", "127.0.0.1:0", "--name", b.name))
	tab := testbrowser.Open(t, pageOf(page), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length > 0 && document.body.dataset.status === 'idle'")
	tab.Click("#start")
	tab.Await("states[at].load.some((l) => l > 50)")
	b.choose(tab, "host h2")
	tab.Click("[data-order=slow]")
	tab.Await("(states[at].paused || []).length > 0")
	tab.Shot("live-slow-host")
	tab.Click("[data-order=normal]")
	tab.Await("/done: normal/.test($('answer').textContent)")
	b.choose(tab, "link s1--s2")
	tab.Click("[data-order=impair]")
	tab.Await("/done: impair/.test($('answer').textContent)")
	if r := b.must("impair"); !strings.Contains(r.stdout, "s1:to-s2  s2  5ms    -       -             1%") {
		t.Errorf("after a click on Impair links do\n%s", r.stdout)
	}
	tab.Run("send({do: 'impair', link: 's1--s2', wire: {delay: '1us'}})")
	tab.Await("/a live wire keeps time to 1ms/.test($('answer').textContent)")
	tab.Run("send({do: 'impair', link: 's1--s2', wire: {}})")
	tab.Await("/done: impair/.test($('answer').textContent)")
	tab.Run("send({do: 'fail', link: 's1-s2'})")
	tab.Await(`/no link "s1-s2" \(did you mean "s1--s2"\?\)/.test($('answer').textContent)`)
	tab.Run("send({do: 'restart', detector: 'itzy', response: 'none'})")
	tab.Await(`/detector "itzy": valid: none, /.test($('answer').textContent)`)
	tab.Click("#stop")
	tab.Await("states[at].load.every((l) => l === 0)")

	b.must("destroy")
	tab.Await("document.body.dataset.status === 'gone'")
	tab.Shot("live-gone")
	b.must("deploy", "-t", file)
	tab.Await("document.body.dataset.status === 'idle'")
	page.signal(os.Interrupt)
	if r := page.end(); r.code != 0 {
		t.Errorf("after Ctrl-C: exit status %d", r.code)
	}
}

// TestSimUI serves a simulated run, prints its verdict, and goes on until Ctrl-C.
func TestSimUI(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation takes a second")
	}
	b := &bed{T: t}
	sim := b.start(b.command("sim", "run", "../../scenarios/itsy-fig2.yaml", "--detector", "itsy", "--ui", "--listen", "127.0.0.1:0"))
	base, _, _ := strings.Cut(pageOf(sim), "#")
	sim.await("the page stays")
	resp, err := http.Get(base + "stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	head := make([]byte, 200)
	if _, err := io.ReadFull(resp.Body, head); err != nil || !strings.Contains(string(head), `"title":"itsy-fig2"`) {
		t.Errorf("the stream begins with %q, %v", head, err)
	}
	sim.signal(os.Interrupt)
	if r := sim.end(); r.code != 0 || !strings.Contains(r.stdout, "expectation met") {
		t.Errorf("after Ctrl-C: exit status %d, %s", r.code, r.stdout)
	}
}

// endless is a scenario file whose flow does not stop.
func (b *bed) endless() string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "endless.yaml")
	err := os.WriteFile(path, []byte(`name: endless
description: Two switches.
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 100Mbit/s
flows:
  - {name: A, from: h1, to: h2, rate: line}
duration: 10s
`), 0o644)
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// refusesTakenPort checks what is said if the page's port is in use.
func (b *bed) refusesTakenPort() {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	addr := ln.Addr().String()
	if r := b.lab("ui", "--listen", addr); r.code != cli.ExitError || !strings.Contains(r.stderr, addr+" is in use") {
		b.Errorf("port in use: exit status %d, %q", r.code, r.stderr)
	}
}

// pageOf is the address of the page that a command says it serves.
func pageOf(s *started) string {
	s.b.Helper()
	_, url, _ := strings.Cut(strings.TrimSpace(s.await("page: ")), "page: ")
	return url
}

// choose selects a node or link by the list.
func (b *bed) choose(tab *testbrowser.Tab, what string) {
	b.Helper()
	tab.Run(fmt.Sprintf(`{ const p = $('pick'); p.selectedIndex = [...p.options].findIndex((o) => o.text === %q); p.dispatchEvent(new Event('change')) }`, what))
}

// isDown asks the kernel, not the page.
func (b *bed) isDown(link string) bool {
	b.Helper()
	for _, l := range b.inspect().Links {
		if l.A.Node+"--"+l.B.Node == link {
			return !l.Up
		}
	}
	b.Fatalf("the lab has no link %s", link)
	return false
}

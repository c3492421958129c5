package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	"softswitch/view/show"
)

// show runs `softswitch show WORDS... --name NAME` and wants it to succeed.
func (b *bed) show(words ...string) string {
	b.Helper()
	return b.ok(append([]string{"show"}, words...)...)
}

// ok runs a command on the bed's lab and wants it to succeed.
func (b *bed) ok(args ...string) string {
	b.Helper()
	r := b.try(args...)
	if r.code != 0 {
		b.Fatalf("%s: exit status %d", strings.Join(args, " "), r.code)
	}
	return r.stdout
}

// try runs a command on the bed's lab.
func (b *bed) try(args ...string) result {
	b.Helper()
	return b.run(b.command(append(args, "--name", b.name)...))
}

// showJSON reads what `show --json` says of one switch.
func showJSON[T any](b *bed, node string, words ...string) T {
	b.Helper()
	var all map[string]T
	if err := json.Unmarshal([]byte(b.show(append(words, node, "--json")...)), &all); err != nil {
		b.Fatal(err)
	}
	v, ok := all[node]
	if !ok || len(all) != 1 {
		b.Fatalf("show %v says something of %d switches, want %s alone", words, len(all), node)
	}
	return v
}

func (b *bed) wantMatch(text, rule string) {
	b.Helper()
	if !regexp.MustCompile(`(?m)` + rule).MatchString(text) {
		b.Errorf("nothing matches %s in:\n%s", rule, text)
	}
}

// TestShowDeadlock looks at a fabric that is deadlocked by every way that there is.
func TestShowDeadlock(t *testing.T) {
	b := newBigBed(t)
	v, _ := b.play("../../scenarios/fattree-on-loop.yaml", "--set", decided, "--detector", "itsy", "--keep", "--replace") // a run that is not valid leaves its lab
	if !v.Deadlock || len(v.Detections) == 0 {
		t.Fatalf("deadlock %v, declared %d; want both", v.Deadlock, len(v.Detections))
	}
	b.wantDeadlockShown()
	b.wantPausesShown()
	b.wantMetrics()
	b.wantEventsFollowed()
}

// wantDeadlockShown: which of several congested switches was the first differs from run
// to run.
func (b *bed) wantDeadlockShown() {
	b.Helper()
	text := b.show("deadlock")
	b.wantMatch(text, `^Switch +Declared at +Queue +Priority group +Trigger +On loop +State`)
	b.wantMatch(text, `^(core|agg)\S+ .* to-\S+:3 +to-\S+:3 +(core|agg)\S+ to-\S+ +(yes|no) +lasts +\d+ of (core|agg)\S+ to-`)
	if r := b.try("show", "deadlock", "--check-deadlock"); r.code != cli.ExitUnmet {
		b.Errorf("--check-deadlock: exit status %d, want %d", r.code, cli.ExitUnmet)
	}
	if r := b.try("show", "deadlock", "--check-deadlock", "edge3-1"); r.code != 0 || r.stdout != "No deadlock has been declared.\n" {
		b.Errorf("--check-deadlock of a switch off the loop: exit status %d, %q", r.code, r.stdout)
	}
	b.wantMatch(b.show("causes"), `^(core|agg)\S+ .* 1: (contention|no-single-cause) +(core|agg)\S+ to-\S+ +to-\S+ +(yes|no) .* [0-9a-f]{8} +\d+ %$`)
	b.wantMatch(b.show("itsy", "labels", "agg0-0"), `^agg0-0 +to-core0 +3 +yes +\d+ of .* trigger .* no +-$`)
}

// wantPausesShown: the queue of core0 on the loop is paused, and stays so. Counters can
// be cleared, for all who look at them.
func (b *bed) wantPausesShown() {
	b.Helper()
	pfc := func() show.PFCPort {
		return showJSON[show.PFCCounters](b, "core0", "pfc", "counters").Ports[2]
	}
	before := pfc()
	if h := before.History[0]; before.Port != "to-agg2-0" || before.Rx[3] == 0 || h.Priority != 3 || !h.Paused || h.Transitions == 0 || h.Total < h.Recent || h.Recent == 0 {
		b.Errorf("pfc counters of core0 to-agg2-0: %+v", before)
	}
	b.ok("clear", "pfc", "counters", "core0")
	after := pfc()
	if h := after.History[0]; after.Rx[3] >= before.Rx[3] || h.Transitions != 0 || h.Total >= before.History[0].Total || !h.Paused {
		b.Errorf("cleared: %+v, before %+v", after, before)
	}
	b.wantMatch(b.show("pfc", "counters", "core0"), `^Last cached time was \d{4}-`)
	b.wantMatch(b.show("pfc", "counters", "--history", "core0"), `^to-agg2-0 +PFC3 +0 +[\d.]+ +[\d.]+ +\d{4}-`)

	group := func() int {
		return *showJSON[show.Watermarks](b, "core0", "priority-group", "watermark", "shared").Ports[0].Bytes[3]
	}
	stats := showJSON[show.Watermarks](b, "core0", "queue", "watermark").Ports[2]
	if *stats.Bytes[3] == 0 || group() == 0 {
		b.Errorf("watermarks of core0: queue %d, priority group %d", *stats.Bytes[3], group())
	}
	b.ok("clear", "watermarks", "core0")
	if group() == 0 {
		b.Error("a cleared watermark of a group that holds bytes is 0")
	}
	b.wantMatch(b.show("priority-group", "watermark", "headroom", "core0"), `^to-agg0-0 +N/A +N/A +N/A +\d+ +0 +N/A`)
	b.wantMatch(b.show("queue", "counters", "core0"), `^to-agg2-0 +UC3 +\d+ +[\d,]+ +0 +N/A$`)
	b.wantMatch(b.show("interfaces", "counters", "core0"), `^to-agg1-0 +D +0`)
}

// wantMetrics: the lab's metrics tell of the deadlock, and of a node that is gone.
func (b *bed) wantMetrics() {
	b.Helper()
	m := b.start(b.command("lab", "metrics", "--name", b.name, "--listen", ":0"))
	url := strings.Fields(m.await("serving http://127.0.0.1:"))[1]
	var text string
	b.await("every node is scraped in time", func() bool {
		text = b.fetch(url)
		return !regexp.MustCompile(`(?m)^softswitch_up\{.*\} 0$`).MatchString(text)
	})
	lab := `lab="` + b.name + `"`
	for _, want := range []string{
		`softswitch_up{kind="switch",` + lab + `,node="core0"} 1`, `softswitch_up{kind="host",` + lab + `,node="h0-0-0"} 1`,
		`softswitch_queue_paused{` + lab + `,port="to-agg2-0",priority="3",switch="core0"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			b.Errorf("no metric %s", want)
		}
	}
	b.wantMatch(text, `^softswitch_deadlocks_declared_total\{`+lab+`,switch="(core|agg)\S+"\} 1$`)
	b.wantMatch(text, `^softswitch_queue_deadlocked\{`+lab+`,port="to-\S+",priority="3",switch="(core|agg)\S+"\} 1$`)
	b.wantMatch(text, `^softswitch_switch_info\{detector="itsy",`+lab+`,response="none",switch="core0",version="\S+"\} 1$`)
	first := regexp.MustCompile(`(?m)^softswitch_pfc_pause_seconds_total\{` + lab + `,port="to-agg2-0",priority="3",switch="core0"\} (\S+)`)
	paused := func(text string) (seconds float64) {
		found := first.FindStringSubmatch(text)
		if found == nil {
			b.Fatalf("nothing matches %v in:\n%s", first, head(text))
		}
		fmt.Sscan(found[1], &seconds)
		return seconds
	}
	b.await("the paused queue is paused for longer", func() bool {
		is := b.fetch(url)
		return first.MatchString(is) && paused(is) > paused(text)
	})
	if r := b.try("lab", "metrics", "--listen", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")); r.code != cli.ExitError || !strings.Contains(r.stderr, "another program listens there") {
		b.Errorf("a second server: exit status %d", r.code)
	}
	b.must("kill", "core3")
	if text := b.fetch(url); !strings.Contains(text, `softswitch_up{kind="switch",`+lab+`,node="core3"} 0`+"\n") {
		b.Error("the node that was killed is not told to be down")
	}
	if r := b.try("show", "mac", "core3", "core2"); r.code != cli.ExitError || !strings.Contains(r.stderr, "core3: control: dial unix") || !strings.Contains(r.stdout, "core2:\n") {
		b.Errorf("show of a node that was killed and one that lives: exit status %d", r.code)
	}
	m.signal(os.Interrupt)
	if r := m.end(); r.code != 0 {
		b.Errorf("lab metrics: exit status %d", r.code)
	}
}

func (b *bed) killProcess(pid int) {
	b.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) fetch(url string) string {
	b.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	r, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		b.Fatalf("%s: status %d, %v", url, r.StatusCode, err)
	}
	return string(text)
}

// wantEventsFollowed: the stream of all logs is in order, tells what happens, and ends
// with the lab.
func (b *bed) wantEventsFollowed() {
	b.Helper()
	last, nodes := int64(0), map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(b.ok("lab", "events", "--json")), "\n") {
		var e struct {
			At   int64  `json:"ts"`
			Node string `json:"node"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.At < last {
			b.Fatalf("%s: %v; the event before was at %d", line, err, last)
		}
		last, nodes[e.Node] = e.At, true
	}
	if len(nodes) < 20 {
		b.Errorf("events of %d nodes, want all that had links", len(nodes))
	}
	b.wantMatch(b.ok("lab", "events", "edge0-0", "agg2-0"), `^\d\d:\d\d:\d\d\.\d{6}  (edge0-0|agg2-0 ) .*queue to-\S+:3 paused`)

	f := b.start(b.command("lab", "events", "--follow", "--name", b.name, "edge1-0"))
	f.await("edge1-0  link to-agg1-1 up")
	b.must("fail", "edge1-0", "agg1-1")
	f.await("edge1-0  link to-agg1-1 down")
	b.must("heal", "edge1-0", "agg1-1")
	f.await("edge1-0  link to-agg1-1 up")
	b.must("destroy")
	f.await("the lab is gone")
	if r := f.end(); r.code != 0 {
		b.Errorf("lab events --follow: exit status %d", r.code)
	}
}

// TestWatchdogAtRunTime starts and stops watchdogs on switches that run.
func TestWatchdogAtRunTime(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", "../../scenarios/pause.yaml", "--detector", "none")
	if got := b.show("pfcwd", "config"); got != "No PFC watchdog runs.\n" {
		t.Errorf("pfcwd config: %q", got)
	}
	b.ok("pfcwd", "start", "--action", "drop", "all", "200", "--restoration-time", "300")
	text := b.ok("pfcwd", "show", "config")
	b.wantMatch(text, `^Switch +PORT +ACTION +DETECTION TIME +RESTORATION TIME`)
	for _, port := range []string{"s1 +to-h1", "s1 +to-s2", "s2 +to-s1", "s2 +to-h2"} {
		b.wantMatch(text, `^`+port+` +drop +200 +300 +200$`)
	}
	b.ok("pfcwd", "start", "--switch", "s2", "to-s1", "400")
	b.wantMatch(b.show("pfcwd", "config", "s2"), `^s2 +to-s1 +drop +400 +800 +200$`)
	if strings.Contains(b.show("pfcwd", "config", "s2"), "to-h2") {
		t.Error("a port that is not named is watched")
	}
	b.wantMatch(b.show("pfcwd", "stats", "--empty", "s1"), `^s1 +to-h1:3 +operational +0/0 +0/0 +0/0 +0/0 +0/0$`)
	b.ok("pfcwd", "stop", "--switch", "s1", "to-h1")
	b.wantMatch(b.show("pfcwd", "config", "s1"), `^s1 +to-s2 +drop`)
	b.ok("pfcwd", "interval", "100", "--switch", "s1")
	b.wantMatch(b.show("pfcwd", "config", "s1"), `^s1 +to-s2 +drop +200 +300 +100$`)
	b.ok("pfcwd", "counter_poll", "disable", "--switch", "s1")
	b.wantMatch(b.show("pfcwd", "config", "s1"), `^s1 +to-s2 +drop \(counter polling disabled\) +200`)
	b.ok("pfcwd", "counter_poll", "enable", "--switch", "s1")
	b.ok("pfcwd", "big_red_switch", "enable", "--switch", "s1")
	b.wantMatch(b.show("pfcwd", "config", "s1"), `^s1 +to-s2 +drop \(BIG_RED_SWITCH\) +200`)
	b.wantMatch(b.show("pfcwd", "stats", "s1"), `^s1 +to-s2:3 +stormed +1/0`)
	if r := b.try("show", "pfcwd", "stats", "--check-storm", "--name", b.name); r.code != cli.ExitUnmet {
		t.Errorf("--check-storm: exit status %d, want %d", r.code, cli.ExitUnmet)
	}
	b.ok("pfcwd", "big_red_switch", "disable", "--switch", "s1")
	b.wantMatch(b.show("pfcwd", "stats", "s1"), `^s1 +to-s2:3 +operational +1/1`)
	b.ok("pfcwd", "start_default")
	b.wantMatch(b.show("pfcwd", "config", "s1"), `^s1 +to-h1 +drop +200 +200 +100$`)
	b.wantMatch(b.show("pfcwd", "config", "s2"), `^s2 +to-h2 +drop +200 +200 +200$`)
	b.ok("pfcwd", "stop")
	b.wantMatch(b.show("pfcwd", "stats", "--empty"), `^s1 +to-s2:3 +N/A +1/1`)
	for _, c := range []struct{ args, want string }{
		{"pfcwd interval 50", `polling interval "50"; valid: 100 to 1000 (ms)`},
		{"pfcwd interval 500", `s1, s2: pfcwd: no watchdog runs; start one with pfcwd start or start_default`},
		{"pfcwd big_red_switch on", `big_red_switch: "on"; valid: enable, disable`},
		{"pfcwd start all 99", `detection time "99"; valid: 100 to 5000`},
		{"pfcwd start all 200 -r 1", `--restoration-time: 1; valid: 100 to 60000`},
		{"pfcwd start all 200 -r 200 --action shout", `action "shout"; valid: drop, forward, alert`},
		{"lab response cure --name " + b.name, `response: the detector none names no loop that could be broken; detectors that do: itsypaper, itsy, itsy-unchecked`},
		{"lab response cur --name " + b.name, `response: "cur" is none; valid: none, cure`},
		{"lab storm h1 --budget 0s --name " + b.name, `--budget: "0s": want a time above 0, or off`},
		{"pfcwd start --switch s1 to-h2 200", `s1: no port "to-h2" (did you mean "to-h1" or "to-s2"?); there is: to-h1, to-s2`},
	} {
		if r := b.try(strings.Fields(c.args)...); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
	b.wantWatched()
	b.wantSocket()
	b.wantCompletion()
	b.wantStrangers()
}

// wantSocket: a switch of no lab is shown by its control socket.
func (b *bed) wantSocket() {
	b.Helper()
	path := filepath.Join(b.TempDir(), "own.sock")
	s := b.start(b.command("lab", "exec", "--name", b.name, "s1", "softswitch", "run", "--control", path, "--metrics", ":0", "lo"))
	show := func(words ...string) result {
		return b.run(b.command(append([]string{"show", "--socket", path}, words...)...))
	}
	for late := time.Now().Add(limit); show("mac").code != 0; {
		if time.Now().After(late) {
			b.Fatal("the switch does not answer")
		}
	}
	b.wantMatch(show("interfaces", "status").stdout, `^Interface +Speed +MTU +Oper +MAC +Far end\n-.*\n +lo +unlimited +1500 `)
	b.wantMatch(show("deadlock").stdout, `^No deadlock has been declared\.$`)
	b.wantMatch(show("buffer", "configuration", "--json").stdout, `^  "name": "switch",$`)
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		b.Errorf("run: exit status %d", r.code)
	}
}

// wantCompletion: the shell is offered the switches of the lab, not its hosts.
func (b *bed) wantCompletion() {
	b.Helper()
	for _, words := range [][]string{{"show", "mac"}, {"clear", "watermarks"}, {"pfcwd", "stop", "--switch"}} {
		r := b.run(b.command(append(append([]string{"__complete"}, words[0], "--name", b.name), append(words[1:], "")...)...))
		b.wantMatch(r.stdout, `\As1\ns2\n:4\n`)
	}
}

// wantWatched: --watch shows again and again, and ends without complaint.
func (b *bed) wantWatched() {
	b.Helper()
	w := b.start(b.command("show", "mac", "s1", "--json", "--watch=100ms", "--name", b.name))
	for range 3 {
		w.await(`{"s1":[{"mac":`)
	}
	w.signal(os.Interrupt)
	if r := w.end(); r.code != 0 {
		b.Errorf("show --watch: exit status %d", r.code)
	}
}

// wantStrangers: a thousand clients that never read do not keep the switch from
// switching, nor others from asking when they are gone.
func (b *bed) wantStrangers() {
	b.Helper()
	path := filepath.Join(b.runDir, b.name, "s1", "control.sock")
	for range 1000 {
		c, err := net.Dial("unix", path)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintln(c, strings.Repeat(`{"do":"stats"}`, 100)) // an error says that there was no room for it
	}
	b.wantPing("h1", b.address("h2"))
	for late := time.Now().Add(limit); ; {
		r := b.try("show", "mac", "s1")
		if r.code == 0 {
			return
		}
		if !strings.Contains(r.stderr, "busy: 128 clients are connected") || time.Now().After(late) {
			b.Fatalf("show beside a thousand clients: exit status %d", r.code)
		}
	}
}

// TestMeasureOfWatchdog lets a watchdog that is started at run time break a deadlock.
func TestMeasureOfWatchdog(t *testing.T) {
	b := newBigBed(t)
	b.play("../../scenarios/fattree-on-loop.yaml", "--set", decided, "--detector", "none", "--keep", "--replace")
	if r := b.try("show", "deadlock", "--check-deadlock"); r.code != 0 || !strings.Contains(r.stdout, "No detector runs") {
		t.Errorf("--check-deadlock without detectors: exit status %d", r.code)
	}
	f := b.start(b.command("lab", "events", "--follow", "--name", b.name))
	b.ok("pfcwd", "start", "all", "200", "--restoration-time", "30000")
	f.await("DEADLOCK declared")
	f.await("action: discard")
	b.wantMatch(b.show("pfcwd", "stats"), `^(core|agg|edge)\S+ +to-\S+:3 +stormed +1/0`)
	b.wantMatch(b.show("actions"), `^(core|agg|edge)\S+ .* discard \d+ B +- +to-\S+:3 +- +what waits there would hold others up +no pause comes for a time$`)
	b.ok("pfcwd", "stop")
	f.await("action: admit")
	b.wantMatch(b.show("pfcwd", "stats"), `^(core|agg|edge)\S+ +to-\S+:3 +N/A +1/1`)
	if got := b.show("pfcwd", "config"); got != "No PFC watchdog runs.\n" {
		t.Errorf("pfcwd config after stop: %q", got)
	}
	f.signal(os.Interrupt)
	if r := f.end(); r.code != 0 {
		t.Errorf("lab events --follow: exit status %d", r.code)
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/internal/testkit"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
)

// pids are the nodes' processes, in the order of the nodes.
func pids(r netnslab.Report) (pids []int) {
	for _, n := range r.Nodes {
		pids = append(pids, n.PID)
	}
	return pids
}

// TestKillAndRestart: a switch that was killed forwards again when it is started again.
func TestKillAndRestart(t *testing.T) {
	b := newBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	addr := b.address("h2")
	b.must("kill", "s1")
	b.wantNodes("dead", "s1")
	if b.lab("exec", "h1", "ping", "-c", "1", "-W", "1", addr).code == 0 {
		t.Error("a killed switch forwards")
	}
	b.must("restart", "s1", "s2")
	b.wantNodes("")
	b.wantPing("h1", addr)
	if r := b.lab("restart", "s1", "s9"); r.code != cli.ExitError || !strings.Contains(r.stderr, `no node "s9"`) {
		t.Errorf("a restart of a node that is not there: exit status %d", r.code)
	}
}

// TestRestartOfConnectedHosts: a reliable connection goes on after a restart of either end, in the
// midst of its messages.
func TestRestartOfConnectedHosts(t *testing.T) {
	b := newBed(t)
	text, err := os.ReadFile(b.endless())
	b.noError(err)
	file := filepath.Join(t.TempDir(), "rc.yaml")
	b.noError(os.WriteFile(file, []byte(strings.Replace(string(text), "rate: line}", "transport: rc, rc: {message: 300000, window: 1, timeout: 500ms}}", 1)), 0o644))
	b.must("deploy", "-t", file)
	done := func() uint64 {
		m := b.host("h1").Sent[0].Messages
		if m.Failed {
			t.Fatalf("h1 gave up: %+v", m)
		}
		return m.Done
	}
	b.must("start", "h1", "h2")
	b.await("messages are done", func() bool { return done() > 2 })
	for range 3 {
		b.must("restart", "h2")
		before := done()
		b.await("messages are done with another h2", func() bool { return done() > before+1 })
		b.must("restart", "h1")
		b.must("start", "h1")
		b.await("messages are done by another h1", func() bool { return done() > 2 })
	}
}

// TestRestartLetsGo: what was killed had paused its neighbour. What is started in its place lets it
// go, a switch and a host that stormed.
func TestRestartLetsGo(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", b.endless())
	port := func(node, name string) observe.Port {
		s, err := b.stats(node)
		b.noError(err)
		return s.Ports[slices.IndexFunc(s.Ports, func(p observe.Port) bool { return p.Name == name })]
	}
	b.must("start", "h1")
	b.must("storm", "h2", "--priority", "3") // contained 500 ms later: only then may it find s2 without a frame
	b.await("s2 pauses s1", func() bool { return port("s1", "to-s2").RxPause[3] > 0 })
	b.must("stop")
	before := port("s1", "to-s2").RxResume[3]
	b.must("restart", "s2")
	b.await("s1 is let go", func() bool { return port("s1", "to-s2").RxResume[3] > before })

	b.await("h2 pauses s2", func() bool { return port("s2", "to-h2").RxPause[3] > 0 })
	before = port("s2", "to-h2").RxResume[3]
	b.must("restart", "h2")
	b.await("s2 is let go", func() bool { return port("s2", "to-h2").RxResume[3] > before })
}

// TestFatTree uses a k=4 fat-tree as a user would: inspect, ping through it, trace a route, watch
// a switch's port, take a link away.
func TestFatTree(t *testing.T) {
	b := newBigBed(t, "ip", "ping", "tcpdump", "sh")
	const file = "../../scenarios/fattree-on-loop.yaml"
	b.must("deploy", "-t", file)
	lab := b.inspect()
	b.wantUp(lab, 36, 48)

	if r := b.must("deploy", "-t", file); !strings.Contains(r.stderr, "up already") {
		t.Errorf("a second deploy says %q", r.stderr)
	}
	if again := b.inspect(); !slices.Equal(pids(again), pids(lab)) {
		t.Errorf("processes after a second deploy: %v, before: %v", pids(again), pids(lab))
	}

	addr := b.address("h1-0-0")
	b.wantPingSeen("h0-0-0", addr, "edge0-0", "to-h0-0-0")
	gateway := b.gateway("h0-0-0")
	b.wantPing("h0-0-0", gateway)
	b.wantRoute("h0-0-0", addr, append(routers(lab), gateway+" edge0-0"), "edge0-0", "agg0-[01]", "core[0-3]", "agg1-[01]", "edge1-0")

	// The other path: edge0-0 has two aggregation switches.
	b.must("fail", "edge0-0", "agg0-0")
	if l := b.link("edge0-0", "agg0-0"); l.Up {
		t.Errorf("the failed link is up: %+v", l)
	}
	b.wantPing("h0-0-0", addr)
	b.must("heal", "edge0-0", "agg0-0")
	if l := b.link("edge0-0", "agg0-0"); !l.Up {
		t.Errorf("the healed link is down: %+v", l)
	}
	b.must("fail", "agg0-1", "edge0-0")
	b.wantPing("h0-0-0", addr)

	b.wantRefused(file)
}

// wantUp: all nodes run, all links are up.
func (b *bed) wantUp(lab netnslab.Report, nodes, links int) {
	b.Helper()
	if !lab.Complete || len(lab.Nodes) != nodes || len(lab.Links) != links {
		b.Errorf("complete %t, %d nodes, %d links; want %d and %d", lab.Complete, len(lab.Nodes), len(lab.Links), nodes, links)
	}
	for _, n := range lab.Nodes {
		if n.Process != "running" || n.Problem != "" || n.Namespace != b.name+"-"+n.Name {
			b.Errorf("node %+v", n)
		}
	}
	for _, l := range lab.Links {
		if !l.Up {
			b.Errorf("link %+v", l)
		}
	}
}

// link is the link between two nodes.
func (b *bed) link(a, z string) netnslab.LinkReport {
	b.Helper()
	for _, l := range b.inspect().Links {
		if l.A.Node == a && l.B.Node == z || l.A.Node == z && l.B.Node == a {
			return l
		}
	}
	b.Fatalf("there is no link between %s and %s", a, z)
	return netnslab.LinkReport{}
}

var inet = regexp.MustCompile(`inet ([0-9.]+)/`)

// address is the IPv4 address of a host.
func (b *bed) address(host string) string {
	b.Helper()
	testkit.Need(b.T, "ip")
	found := inet.FindStringSubmatch(b.must("exec", host, "ip", "-4", "addr", "show", "dev", "eth0").stdout)
	if found == nil {
		b.Fatalf("%s has no address", host)
	}
	return found[1]
}

var via = regexp.MustCompile(`via ([0-9.]+)`)

// gateway is the router that a host sends to.
func (b *bed) gateway(host string) string {
	b.Helper()
	testkit.Need(b.T, "ip")
	found := via.FindStringSubmatch(b.must("exec", host, "ip", "-4", "route", "show", "default").stdout)
	if found == nil {
		b.Fatalf("%s has no gateway", host)
	}
	return found[1]
}

// routers are the lines "ADDRESS NAME" of the lab's nodes with their router IDs.
func routers(lab netnslab.Report) (lines []string) {
	for i, n := range lab.Nodes {
		lines = append(lines, fmt.Sprintf("198.18.0.%d %s", i+1, n.Name))
	}
	return lines
}

// wantRoute: each router on the way to addr says who it is once a ping's time to live ends there,
// as traceroute has it, and the host behind them answers. names are lines "ADDRESS NAME"; of the
// want, which match names, each hop has one.
func (b *bed) wantRoute(from, addr string, names []string, want ...string) {
	b.Helper()
	testkit.Need(b.T, "ping")
	for i, w := range want {
		r := b.lab("exec", from, "ping", "-n", "-c", "3", "-i", "0.2", "-W", "1", "-t", fmt.Sprint(i+1), addr)
		hop := regexp.MustCompile(`From ([0-9.]+) icmp_seq=\d+ Time to live exceeded`).FindStringSubmatch(r.stdout)
		named := hop != nil && slices.ContainsFunc(names, func(line string) bool {
			return regexp.MustCompile("^" + regexp.QuoteMeta(hop[1]) + " " + w + "$").MatchString(line)
		})
		if !named {
			b.Errorf("hop %d from %s to %s is not %s:\n%s", i+1, from, addr, w, r.stdout)
		}
	}
	if r := b.lab("exec", from, "ping", "-n", "-c", "3", "-i", "0.2", "-W", "1", "-t", fmt.Sprint(len(want)+1), addr); r.code != 0 {
		b.Errorf("%s is further than %d routers from %s:\n%s", addr, len(want), from, r.stdout)
	}
}

func (b *bed) wantPing(from, addr string) {
	b.Helper()
	testkit.Need(b.T, "ping")
	if r := b.lab("exec", from, "ping", "-c", "2", "-i", "0.2", "-W", "1", addr); r.code != 0 {
		b.Errorf("no answer from %s to %s", addr, from)
	}
}

// wantPingSeen: tcpdump at a switch's port sees the ping.
func (b *bed) wantPingSeen(from, addr, node, port string) {
	b.Helper()
	testkit.Need(b.T, "tcpdump")
	dump := b.start(b.command("lab", "exec", "--name", b.name, node, "tcpdump", "-l", "-n", "--immediate-mode", "-i", port, "-c", "1", "icmp"))
	dump.await("listening on " + port)
	b.wantPing(from, addr)
	dump.await("> " + addr + ": ICMP echo request")
	if r := dump.end(); r.code != 0 {
		b.Errorf("tcpdump: exit status %d", r.code)
	}
}

// wantRefused: what cannot be done with the lab, and what is said of it.
func (b *bed) wantRefused(file string) {
	b.Helper()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"exec", "edge0-0", "softswitch", "run", "to-h0-0-0"}, cli.ExitError, "port to-h0-0-0: another softswitch runs on this interface"},
		{[]string{"exec", "edge0-0", "softswitch", "run", "nosuch0"}, cli.ExitError, `"nosuch0"`},
		{[]string{"exec", "edge9-9", "true"}, cli.ExitError, `no node "edge9-9" (did you mean "edge0-0" or "edge0-1" or "edge1-0"?); there is: core0, core1`},
		{[]string{"exec", "edge0-0", "no-such-program"}, cli.ExitError, `"no-such-program": executable file not found`},
		{[]string{"exec", "edge0-0", "sh", "-c", "exit 7"}, 7, ""},
		{[]string{"exec", "edge0-0", "--", "sh", "-c", "exit 7"}, 7, ""},
		{[]string{"deploy", "-t", "../../scenarios/pause.yaml"}, cli.ExitError, "a lab of that name is up, made from another description: give this one another name (--name), or remove that one with: softswitch lab destroy " + b.name + "; or give --replace"},
		{[]string{"run", "../../scenarios/pause.yaml"}, cli.ExitError, "or give --replace"},
		{[]string{"fail", "core0", "h0-0-0"}, cli.ExitError, `no link between "core0" and "h0-0-0"; beside core0 there is: agg0-0, agg1-0, agg2-0, agg3-0`},
	} {
		if r := b.lab(c.args[0], c.args[1:]...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			b.Errorf("lab %v: exit status %d, want %d and %q", c.args, r.code, c.code, c.want)
		}
	}
	// A lab of another run directory has the same names for its namespaces.
	other := b.command("lab", "deploy", "--name", b.name, "-t", file)
	other.Env = append(other.Env, netnslab.RunDirVariable+"="+b.TempDir())
	if r := b.run(other); r.code != cli.ExitError || !strings.Contains(r.stderr, "not ours and in the way") {
		b.Errorf("a lab over another one: exit status %d", r.code)
		remove := b.command("lab", "destroy", "--name", b.name)
		remove.Env = other.Env
		b.run(remove)
	}
}

// TestHostsOnCommand: after deploy a user starts and stops flows, slows a host and lets one
// storm, as on the page.
func TestHostsOnCommand(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", b.endless())
	sent := func() uint64 { return b.host("h1").Sent[0].Frames }
	if n := sent(); n != 0 {
		t.Errorf("%d frames before the start", n)
	}
	b.must("start", "h1")
	b.await("h1 sends", func() bool { return sent() > 0 })
	b.must("stop")
	stopped := sent()
	b.must("start")
	b.await("h1 sends again", func() bool { return sent() > stopped })

	pauses := func() uint64 { return b.host("h2").Counters.TxPause[4] }
	if n := pauses(); n != 0 {
		t.Errorf("%d pauses before the storm", n)
	}
	b.must("storm", "h2", "--priority", "4")
	b.await("h2 storms", func() bool { return pauses() > 0 })
	resumes := b.host("h2").Counters.TxResume[4] // one when it began
	b.must("normal", "h2")
	b.await("h2 ends its storm", func() bool { return b.host("h2").Counters.TxResume[4] > resumes })
	b.must("slow", "h2", "1Mbit/s")
	b.await("h2 is slow", func() bool { return b.host("h2").Counters.TxPause[3] > 0 })

	for _, verb := range []string{"start", "stop", "storm", "slow", "normal"} {
		if r := b.run(b.command("__complete", "lab", "--name", b.name, verb, "")); !strings.HasPrefix(r.stdout, "h1\nh2\n:4") {
			t.Errorf("lab %s is completed by %q, want the hosts", verb, r.stdout)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"start", "s1"}, "s1 is a switch; want a host: h1, h2"},
		{[]string{"stop", "h3"}, `no node "h3" (did you mean "h1" or "h2"?); there is: h1, h2`},
		{[]string{"slow", "h2", "fast"}, `rate: "fast"`},
		{[]string{"storm", "h2", "--priority", "5"}, "priority"},
	} {
		if r := b.lab(c.args[0], c.args[1:]...); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("lab %v: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
}

// host is what a host says of itself.
func (b *bed) host(name string) (h observe.Host) {
	b.Helper()
	if err := control.Call(filepath.Join(b.runDir, b.name, name, "control.sock"), "stats", nil, &h); err != nil {
		b.Fatal(err)
	}
	return h
}

// await asks until it is so. Each question waits for the answer of a node, which rests
// after it.
func (b *bed) await(what string, so func() bool) {
	b.Helper()
	for deadline := time.Now().Add(limit); !so(); {
		if time.Now().After(deadline) {
			b.Fatalf("not after %v: %s", limit, what)
		}
	}
}

// TestLabOfRoot: what another user is told of a lab that he may not look into. It is not
// that something is wrong with it, unless that can be seen.
func TestLabOfRoot(t *testing.T) {
	b := newBed(t)
	if err := os.Chmod(filepath.Dir(b.runDir), 0o755); err != nil {
		t.Fatal(err)
	}
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	asUser := func(args ...string) string {
		t.Helper()
		return b.run(b.program("softswitch-unprivileged", args...)).stdout
	}
	b.wantMatch(asUser("lab", "list"), `^`+b.name+` +2 +2 +3 +unknown: .*operation not permitted; run with sudo$`)
	b.wantMatch(asUser("doctor"), `^note +labs +1 of 1 may not be looked into\n +-> run with sudo$`)
	inspected := asUser("lab", "inspect", b.name)
	b.wantMatch(inspected, `^s1 .* running .*operation not permitted; run with sudo$`)
	b.wantMatch(inspected, `^s1:to-s2 .* unknown$`)
	b.wantMatch(b.run(b.command("lab", "list")).stdout, `^`+b.name+` .* up$`)

	b.killProcess(b.inspect().Nodes[0].PID)
	b.await("the list says what is dead", func() bool { return strings.Contains(asUser("lab", "list"), " of node s1 and 3 others is dead\n") })
}

// TestWatchdogBesideADetector: the refusal names the flag that helps, and it helps.
func TestWatchdogBesideADetector(t *testing.T) {
	b := newBed(t)
	const file = "../../scenarios/pause.yaml"
	start := func() result { return b.run(b.command("pfcwd", "start", "--name", b.name, "all", "200")) }
	b.must("deploy", "-t", file)
	if r := start(); r.code != cli.ExitError || !strings.Contains(r.stderr, "the switch runs detector itsy, and a switch has one; give lab deploy, lab run or run the flag --detector none") {
		t.Errorf("exit status %d, want %d and what to do", r.code, cli.ExitError)
	}
	b.must("deploy", "-t", file, "--detector", "none", "--replace")
	if r := start(); r.code != 0 {
		t.Errorf("exit status %d with detector none", r.code)
	}
}

// TestDotsInNames: whatever a scenario may call a node, a lab can hold.
func TestDotsInNames(t *testing.T) {
	b := newBed(t, "true")
	text, err := os.ReadFile("../../scenarios/pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dots.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "h2", "rack.1_h2")), 0o644); err != nil {
		t.Fatal(err)
	}
	b.must("deploy", "-t", file)
	b.wantUp(b.inspect(), 4, 3)
	b.must("exec", "rack.1_h2", "--", "true")
}

// TestLostNamespace: somebody removes a node's namespace. It is named, another
// deploy makes the lab anew, and destroy does not mind.
func TestLostNamespace(t *testing.T) {
	b := newBed(t, "ip", "true")
	const file = "../../scenarios/pause.yaml"
	b.must("deploy", "-t", file)
	before := b.inspect()
	removeNamespace := func() {
		t.Helper()
		if out, err := exec.Command("ip", "netns", "del", b.name+"-s2").CombinedOutput(); err != nil {
			t.Fatalf("ip netns del: %v: %s", err, out)
		}
	}
	removeNamespace()
	if r := b.lab("exec", "s2", "true"); r.code != cli.ExitError || !strings.Contains(r.stderr, "node s2: open /run/netns/"+b.name+"-s2: no such file or directory") {
		t.Errorf("exec without the namespace: exit status %d", r.code)
	}
	if lab := b.inspect(); lab.Nodes[1].Name != "s2" || lab.Nodes[1].Problem == "" {
		t.Errorf("inspect says of s2: %+v", lab.Nodes[1])
	}
	if r := b.must("deploy", "-t", file); !strings.Contains(r.stderr, "removing it first") {
		t.Errorf("deploy says %q", r.stderr)
	}
	after := b.inspect()
	b.wantUp(after, 4, 3)
	for i, pid := range pids(after) {
		if pid == pids(before)[i] {
			t.Errorf("%s has the process that it had before", after.Nodes[i].Name)
		}
	}
	removeNamespace()
	b.must("destroy")
	b.wantNothing()
}

// TestScriptsPlay runs scripts/ one after the other.
func TestScriptsPlay(t *testing.T) {
	b := newBed(t, "sh", "sed", "awk", "mkfifo", "mktemp", "tcpdump")
	tree := scriptTree(t)
	script := func(name string, args ...string) *exec.Cmd {
		return b.program(filepath.Join(tree, "scripts", name), args...)
	}
	must := func(name string, args ...string) {
		t.Helper()
		if r := b.run(script(name, args...)); r.code != 0 {
			t.Fatalf("%s: exit status %d", name, r.code)
		}
	}
	must("deploy.sh", filepath.Join(tree, "scenarios", "pause.yaml"))
	b.wantUp(b.inspect(), 4, 3)
	must("fail-link.sh", "s1", "s2")
	if b.link("s1", "s2").Up {
		t.Error("fail-link.sh: the link is up")
	}
	must("heal-link.sh", "s2", "s1")
	if !b.link("s1", "s2").Up {
		t.Error("heal-link.sh: the link is down")
	}
	b.wantStormSeen(script("capture.sh", "s2"))
	b.wantLinesApart(script("capture.sh", "s2"))
	must("destroy.sh")
	b.wantNothing()
	must("destroy.sh")
	must("destroy.sh", "--all")
}

// wantLinesApart: what the tcpdumps of two ports say comes in whole lines, each with its
// port, although both have begun a line when the first ends its own.
func (b *bed) wantLinesApart(capture *exec.Cmd) {
	b.Helper()
	dir := b.TempDir()
	meet := filepath.Join(dir, "meet")
	if err := unix.Mkfifo(meet, 0o600); err != nil {
		b.Fatal(err)
	}
	const tcpdump = `#!/bin/sh
printf 'listening ' >&2
case "$*" in
*to-s1*) port=to-s1; : >"$MEET" ;;
*) port=to-h2; : <"$MEET" ;;
esac
echo "on $port" >&2
`
	if err := os.WriteFile(filepath.Join(dir, "tcpdump"), []byte(tcpdump), 0o755); err != nil {
		b.Fatal(err)
	}
	capture.Env = append(capture.Env, "MEET="+meet, "PATH="+dir+":"+os.Getenv("PATH"))
	r := b.run(capture)
	for _, port := range []string{"to-s1", "to-h2"} {
		if want := port + ": listening on " + port + "\n"; !strings.Contains(r.stderr, want) {
			b.Errorf("capture.sh does not say %q", want)
		}
	}
}

// wantStormSeen: capture.sh on s2 shows that h2 pauses it, and ends by Ctrl-C.
func (b *bed) wantStormSeen(capture *exec.Cmd) {
	b.Helper()
	temp := b.TempDir()
	capture.Env = append(capture.Env, "TMPDIR="+temp)
	s := b.start(capture)
	for range 2 { // ports
		s.await("listening on")
	}
	if err := control.Call(filepath.Join(b.runDir, b.name, "h2", "control.sock"), "act", map[string]any{"do": "storm", "priority": 3}, nil); err != nil {
		b.Fatal(err)
	}
	if line := s.await("PFC 3:65535"); !strings.HasPrefix(line, "to-h2 1 ") {
		b.Errorf("the first pause is shown as %q", line)
	}
	s.signal(os.Interrupt)
	s.end()
	if !strings.Contains(s.said.String(), "to-s1 0 frames: 0 PFC") {
		b.Error("no summary of the other port")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		b.Errorf("capture.sh left %v (%v)", left, err)
	}
}

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
	"softswitch/topo"
)

var big = flag.Bool("big", false, "play fabrics of 208 nodes, which takes minutes")

// state is the lab's record.
func (b *bed) state() *netnslab.State {
	b.Helper()
	st, err := netnslab.LoadDir(b.dir())
	b.noError(err)
	return st
}

// noError ends the test if something of a lab cannot be done.
func (b *bed) noError(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// wantNodes: these nodes are so, and all others run.
func (b *bed) wantNodes(process string, names ...string) {
	b.Helper()
	for _, n := range b.inspect().Nodes {
		want := "running"
		if slices.Contains(names, n.Name) {
			want = process
		}
		if n.Process != want || n.Problem != "" {
			b.Errorf("node %s is %s (%s), want %s", n.Name, n.Process, n.Problem, want)
		}
	}
}

// TestHosted uses a fabric whose nodes share two processes as one whose nodes have their
// own; stops, kills and restarts one node, and then kills a process.
func TestHosted(t *testing.T) {
	b := newBigBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/fattree-on-loop.yaml", "--nodes-per-process", "20")
	lab := b.inspect()
	b.wantUp(lab, 36, 48)
	all := pids(lab)
	if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n != 2 || lab.Nodes[0].Beside != 19 {
		t.Fatalf("%d processes, the first of %d nodes; want 2 and 20", n, lab.Nodes[0].Beside+1)
	}
	b.wantMatch(b.must("inspect").stdout, `^core0 .* running \(one of 20 in the process\)$`)
	addr := b.address("h1-0-0")
	b.wantPingSeen("h0-0-0", addr, "edge0-0", "to-h0-0-0")
	b.must("fail", "edge0-0", "agg0-0")
	b.wantPing("h0-0-0", addr)
	b.must("heal", "edge0-0", "agg0-0")
	if r := b.lab("exec", "edge0-0", "softswitch", "run", "to-h0-0-0"); r.code != cli.ExitError || !strings.Contains(r.stderr, "another softswitch runs on this interface") {
		t.Errorf("a second switch on an interface: exit status %d", r.code)
	}

	st := b.state()
	ping := func() int { return b.lab("exec", "h0-0-0", "ping", "-c", "1", "-W", "1", addr).code }
	b.noError(st.Stop("edge0-0"))
	b.wantNodes("stopped", "edge0-0")
	if ping() == 0 {
		t.Error("a stopped switch forwards")
	}
	b.noError(st.Continue("edge0-0"))
	b.wantNodes("")
	b.wantPing("h0-0-0", addr)

	b.noError(st.Stop("edge0-0"))
	b.noError(st.Kill("edge0-0")) // SIGKILL ends a stopped process, too
	b.wantNodes("dead", "edge0-0")
	if ping() == 0 {
		t.Error("a killed switch forwards")
	}
	if err := st.Kill("edge0-0"); err == nil || !strings.Contains(err.Error(), "process already finished") {
		t.Errorf("a second kill: %v", err)
	}
	b.wantPing("h0-1-0", addr) // others of the process go on
	b.wantMatch(b.run(b.command("lab", "list")).stdout, `^`+b.name+` .* broken: node edge0-0 is dead; process \d+, which ran it, lives$`)
	if r := b.lab("exec", "edge0-0", "ip", "link", "show", "to-h0-0-0"); r.code != 0 {
		t.Error("a killed switch has lost its namespace")
	}

	b.must("restart", "edge0-0")
	b.wantNodes("")
	b.wantPing("h0-0-0", addr)
	b.noError(st.Stop("edge0-0"))
	b.must("restart", "edge0-0") // one that does not run, and then one that does
	b.wantPing("h0-0-0", addr)
	b.must("restart", "edge0-0")
	b.wantPing("h0-0-0", addr)
	if after := pids(b.inspect()); !slices.Equal(after, all) {
		t.Errorf("restarts of a node changed processes %v to %v", all, after)
	}

	b.killProcess(all[0])
	b.await("the list says what is dead", func() bool {
		return strings.Contains(b.run(b.command("lab", "list")).stdout, " of node core0 and 19 others is dead\n")
	})
	if err := st.Kill("core0"); err == nil || !strings.Contains(err.Error(), "process already finished") {
		t.Errorf("a kill of a node whose process is dead: %v", err)
	}
	if r := b.lab("restart", "core0"); r.code != cli.ExitError || !strings.Contains(r.stderr, "has ended, and with it 19 other nodes; valid: a lab that is deployed again") {
		t.Errorf("a restart of a node whose process is dead: exit status %d, %s", r.code, r.stderr)
	}
	// The record is lost: marks find what is left.
	b.noError(os.Remove(filepath.Join(b.runDir, b.name, "state.json")))
	if r := b.lab("destroy"); r.code != cli.ExitError || !strings.Contains(r.stderr, fmt.Sprintf("%d (", all[35])) {
		t.Errorf("lab destroy without a record: exit status %d, want the process that lives", r.code)
	}
	b.must("destroy", "--lost")
}

// TestHostedThatCannotStart: what is refused of a lab whose nodes share processes, and
// that nothing of it stays.
func TestHostedThatCannotStart(t *testing.T) {
	b := newBed(t)
	const file = "../../scenarios/pause.yaml"
	long := b.command("lab", "deploy", "--name", b.name, "-t", file, "--nodes-per-process", "4")
	deep := filepath.Join(b.runDir, strings.Repeat("deep/", 15))
	long.Env = append(long.Env, netnslab.RunDirVariable+"="+deep)
	if r := b.run(long); r.code != cli.ExitError || !strings.Contains(r.stderr, "control.sock: a path of") {
		t.Errorf("a run directory with a long path: exit status %d", r.code)
	}
	if left, err := os.ReadDir(deep); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	b.noError(os.RemoveAll(filepath.Join(b.runDir, "deep")))
	for _, args := range [][]string{{"deploy", "-t", file}, {"run", file}} {
		if r := b.lab(args[0], append(args[1:], "--nodes-per-process", "-1")...); r.code != cli.ExitError || !strings.Contains(r.stderr, "--nodes-per-process: -1; valid: 1 or more") {
			t.Errorf("lab %v: exit status %d", args, r.code)
		}
	}
}

// TestPolled uses a fabric whose nodes share a process that polls: a node of it can be
// stopped and killed, and a wire impaired, as where each is woken by its frames.
func TestPolled(t *testing.T) {
	needTwoProcessors(t)
	b := newLoneBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/fattree-on-loop.yaml", "--poll")
	b.wantUp(b.inspect(), 36, 48)
	addr := b.address("h1-0-0")
	b.wantPingSeen("h0-0-0", addr, "edge0-0", "to-h0-0-0")
	st := b.state()
	ping := func() int { return b.lab("exec", "h0-0-0", "ping", "-c", "1", "-W", "1", addr).code }

	b.noError(st.Stop("edge0-0"))
	b.wantNodes("stopped", "edge0-0")
	if ping() == 0 {
		t.Error("a stopped switch forwards")
	}
	b.wantPing("h0-1-0", addr) // nobody waits for it
	b.noError(st.Continue("edge0-0"))
	b.wantNodes("")
	b.wantPing("h0-0-0", addr)

	b.must("impair", "h0-0-0", "edge0-0", "--delay", "30ms")
	if least := b.ping("h0-0-0", addr); least < 30*time.Millisecond {
		t.Errorf("a ping over a link of 30 ms took %v", least)
	}
	b.must("impair", "h0-0-0", "edge0-0", "--clear")

	b.must("fail", "edge0-0", "agg0-0")
	b.wantPing("h0-0-0", addr)
	b.must("heal", "edge0-0", "agg0-0")

	b.noError(st.Stop("edge0-0"))
	b.noError(st.Kill("edge0-0"))
	b.wantNodes("dead", "edge0-0")
	b.wantPing("h0-1-0", addr)
	b.must("restart", "edge0-0", "core0")
	b.wantNodes("")
	b.wantPing("h0-0-0", addr)
	b.must("destroy")
	b.wantNothing()

	for _, c := range []struct{ flag, want string }{
		{"1", "--poll: for nodes that share a process; give --nodes-per-process 2 or more, or leave it out"},
		{"2", "--poll: a process that polls keeps a processor busy, and one has to be left; here are "},
	} {
		if r := b.lab("deploy", "-t", "../../scenarios/fattree-on-loop.yaml", "--poll", "--nodes-per-process", c.flag); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("--poll --nodes-per-process %s: exit status %d, %s", c.flag, r.code, r.stderr)
		}
	}
	b.wantNothing()
}

// needTwoProcessors skips a test in which a process keeps one of them busy.
func needTwoProcessors(t *testing.T) {
	t.Helper()
	if n := runtime.GOMAXPROCS(0); n < 2 {
		t.Skipf("--poll needs two processors, here is %d", n)
	}
}

// TestKillsInAFabric kills ten switches (eight without -big), drawn at random, while traffic flows. What the
// scenario expects comes true all the same, for they are not on the paths of its flows;
// nothing stays; and so with nodes that share a process, woken or polled, as with a process each.
func TestKillsInAFabric(t *testing.T) {
	k := 4
	if *big {
		k = 8
	}
	nodes := 5*k*k/4 + k*k*k/4
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	file, victims := scenarioOfKills(t, k, 10, rand.New(rand.NewPCG(seed, 0)))
	for _, mode := range []struct {
		name, flag string
		shared     int
		polled     bool
	}{{"a process each", "--nodes-per-process=1", 0, false}, {"hosted", "--nodes-per-process=1000", nodes, false}, {"polled", "--poll", nodes, true}} {
		t.Run(mode.name, func(t *testing.T) {
			make := newBigBed
			if mode.polled {
				needTwoProcessors(t)
				make = newLoneBed
			}
			b := make(t)
			v, r := b.play(file, mode.flag, "--set", "duration=2s")
			if v.NodesPerProcess != mode.shared || v.Polled != mode.polled {
				t.Errorf("%d nodes shared a process, polled %t, want %d, %t", v.NodesPerProcess, v.Polled, mode.shared, mode.polled)
			}
			if r.code != 0 || !v.Deadlock || v.FalsePositives+v.FalseNegatives+v.Premature+v.Late != 0 || !slices.ContainsFunc(v.Detections, func(d verdict.Detection) bool { return d.Judged == "true" }) {
				t.Errorf("exit status %d, deadlock %t, %+v", r.code, v.Deadlock, v.Detections)
			}
			if got := slices.Sorted(slices.Values(v.Killed)); !slices.Equal(got, victims) {
				t.Errorf("killed %v, want %v", got, victims)
			}
			b.wantNothing()
		})
	}
}

// scenarioOfKills is a file of fattree-on-loop in a fat-tree of that k in which up to so
// many switches die, none on the paths of its flows.
func scenarioOfKills(t *testing.T, k, kills int, r *rand.Rand) (file string, victims []string) {
	t.Helper()
	text, err := os.ReadFile("../../scenarios/fattree-on-loop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{
		"core0", "core1", "agg0-0", "agg1-0", "agg2-0", "agg3-0",
		"edge0-0", "edge0-1", "edge1-0", "edge2-0", "edge3-0", "edge3-1",
	}
	var others []string
	fabric, err := topo.FatTree(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range fabric.Nodes {
		if n.Kind == topo.Switch && !slices.Contains(paths, n.Name) {
			others = append(others, n.Name)
		}
	}
	kills = min(kills, len(others)) // a k=4 fabric has eight
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	victims = others[:kills]
	var events strings.Builder
	for i, name := range victims {
		fmt.Fprintf(&events, "  - {at: %dms, do: kill, switch: %s}\n", 600+100*i+r.IntN(100), name)
	}
	said := strings.Replace(string(text), "k: 4", fmt.Sprintf("k: %d", k), 1)
	said = strings.Replace(said, "\nduration:", events.String()+"\nduration:", 1)
	file = filepath.Join(t.TempDir(), "kills.yaml")
	if err := os.WriteFile(file, []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, slices.Sorted(slices.Values(victims))
}

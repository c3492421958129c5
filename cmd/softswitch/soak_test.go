package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/internal/strictyaml"
	"softswitch/internal/testkit"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/topo"
	"softswitch/unit"
)

var soakTime = flag.Duration("soak", 0, "wear a lab down for so long")

// soak is a lab that is worn down, round by round. What must not be is reported with the round and
// the seed; the soak goes on.
type soak struct {
	*bed
	rng   *rand.Rand
	seed  uint64
	round int
	st    *netnslab.State
	plan  *scenario.Plan
	files []string // scenarios to be judged, each on a lab of its own

	changed map[int]bool      // links that failed, or that were impaired, in this round
	anew    map[string]bool   // nodes that were stopped, or began anew, in this round
	did     map[string]int    // disturbances, by kind
	wear    []map[string]wear // by round, by name, of processes that live as long as the soak
	long    map[string]*started
	declare map[string]uint64 // what the switches have declared, by switch, at the last look
	tally
}

// tally is what a soak has seen.
type tally struct {
	frames, declared, runs, invalid, deadlocks uint64
	whole                                      uint64 // rounds in which every frame of every flow was accounted for
}

// mortal are the nodes that may be killed: of the others it is seen what they use.
func mortal(n topo.Node) bool { return strings.HasSuffix(n.Name, "1") }

// TestSoak wears a lab down: links fail and flap, hosts storm and are slow, switches crash and begin
// anew, somebody attacks, captures and looks on. After each round, when traffic has ended, what was
// sent is held against what was received and dropped, on each port and priority, and against the
// kernel's counters; nothing may wait for anything; and what the processes use must not grow. In
// each round a scenario is played beside, with failures and kills of its own, and the oracle judges
// it.
func TestSoak(t *testing.T) {
	if *soakTime == 0 {
		testkit.LongOnly(t) // a round of it takes what ten other labs do
	}
	s := newSoak(t)
	begun := time.Now()
	for {
		s.round++
		s.play()
		s.report(time.Since(begun))
		if time.Since(begun) >= *soakTime {
			break
		}
	}
	s.wantFlat()
	s.Logf("%+v; done to it: %v", s.tally, s.did)
	if s.round >= gentleEvery && s.whole == 0 {
		t.Error("in no round every frame was accounted for: the soak proves little")
	}
	if *soakTime > 0 && (s.declared == 0 || s.deadlocks == 0) {
		t.Error("no deadlock on the lab, or none beside it: the soak proves little")
	}
}

func newSoak(t *testing.T) *soak {
	s := &soak{bed: newLoneBed(t), seed: testkit.Seed(t), did: map[string]int{}, long: map[string]*started{}, declare: map[string]uint64{}}
	s.rng = rand.New(rand.NewPCG(s.seed, 0))
	plan, err := planOf("testdata/soak.yaml")
	s.noError(err)
	s.plan = plan
	s.must("deploy", "-t", "testdata/soak.yaml", "--nodes-per-process", "1")
	s.Setenv(netnslab.RunDirVariable, s.runDir) // lab.Orders goes by it
	s.st = s.state()
	s.files = judgeable(t)
	for name, args := range map[string][]string{
		"page":    {"lab", "ui", "--name", s.name, "--listen", "127.0.0.1:0"},
		"metrics": {"lab", "metrics", "--name", s.name, "--listen", "127.0.0.1:0"},
	} {
		cmd := exec.Command("softswitch", args...)
		cmd.Env = append(os.Environ(), netnslab.RunDirVariable+"="+s.runDir)
		s.long[name] = s.start(cmd)
		t.Cleanup(func() { s.long[name].signal(os.Interrupt); s.long[name].end() })
	}
	s.lookOn(s.long["page"].await("http://"))
	s.scrape(s.long["metrics"].await("http://"))
	return s
}

func planOf(file string) (*scenario.Plan, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return load.Plan(file, text, load.Instead{})
}

// judgeable are the scenarios that a live lab plays in a few seconds.
func judgeable(t *testing.T) (files []string) {
	all, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(all) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range all {
		p, err := planOf(file)
		if err == nil && lab.Refuse(p.Scenario) == nil && p.Scenario.Duration <= 4*unit.Second {
			files = append(files, file)
		}
	}
	return files
}

// address is the first URL in a line.
func address(line string) string {
	_, rest, _ := strings.Cut(line, "http://")
	host, _, _ := strings.Cut(rest, "/")
	return "http://" + strings.TrimSpace(host)
}

// watch runs a watcher beside the soak, whose ctx ends with the test.
func (s *soak) watch(do func(ctx context.Context)) {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	s.Cleanup(func() {
		end()
		<-done
	})
}

// lookOn has the page open, as a browser has, until the test ends.
func (s *soak) lookOn(line string) {
	s.watch(func(ctx context.Context) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address(line)+"/stream", nil)
		if err != nil {
			s.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if ctx.Err() == nil {
			s.Errorf("the page's stream has ended: %v", err)
		}
	})
}

// scrape reads all metrics every two seconds until the test ends.
func (s *soak) scrape(line string) {
	s.watch(func(ctx context.Context) {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			resp, err := http.Get(address(line) + "/metrics")
			if err != nil {
				s.Errorf("metrics: %v", err)
				return
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("softswitch_up")) {
				s.Errorf("metrics: %s (%v)", resp.Status, err)
			}
		}
	})
}

// wrong reports what must not be.
func (s *soak) wrong(format string, args ...any) {
	s.Helper()
	s.Errorf("seed %d, round %d: %s", s.seed, s.round, fmt.Sprintf(format, args...))
}

// quietly runs a command of which nothing is logged unless its exit status is none of these.
func (s *soak) quietly(args []string, good ...int) (stdout string) {
	s.Helper()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if code := s.status(cmd.Run()); !slices.Contains(good, code) {
		s.wrong("softswitch %s: exit status %d\n%s%s", strings.Join(args, " "), code, head(out.String()), head(errs.String()))
	}
	return out.String()
}

// onLab runs a command on the lab.
func (s *soak) onLab(args ...string) string {
	s.Helper()
	return s.quietly(append(args, "--name", s.name), 0)
}

func (s *soak) path(node string) string {
	return filepath.Join(s.dir(), node, lab.ControlName)
}

func (s *soak) node() topo.Node {
	return s.plan.Fabric.Nodes[s.rng.IntN(len(s.plan.Fabric.Nodes))]
}

func (s *soak) nodeThat(fits func(topo.Node) bool) topo.Node {
	for {
		if n := s.node(); fits(n) {
			return n
		}
	}
}

func isHost(n topo.Node) bool   { return n.Kind == topo.Host }
func isSwitch(n topo.Node) bool { return n.Kind == topo.Switch }

// play is a round: traffic and disturbances, calm, the reckoning.
func (s *soak) play() {
	s.changed, s.anew = map[int]bool{}, map[string]bool{}
	before, calm := s.quiet()
	s.onLab("lab", "start")
	length := 20 * time.Second
	if *soakTime == 0 {
		length = 4 * time.Second
	}
	gentle := s.round%gentleEvery == 0
	if !gentle && s.rng.IntN(2) == 0 {
		s.lock()
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		s.disturb(gentle)
		time.Sleep(time.Duration(100+s.rng.IntN(1500)) * time.Millisecond) // traffic goes on for a random time: no event ends it
	}
	s.calm()
	if after, ok := s.quiet(); ok && calm {
		s.balance(before, after)
	}
	s.lookAtProcesses()
	if *soakTime > 0 {
		s.judge()
	}
}

// gentleEvery is how often a round leaves all links and nodes alone, so that every frame of every flow
// can be accounted for.
const gentleEvery = 5

// disturb does one thing that a fabric has to stand; if it is to be gentle, one by which no frame is
// lost uncounted.
func (s *soak) disturb(gentle bool) {
	type kind struct {
		name string
		do   func()
	}
	kinds := []kind{
		{"a host storms", func() { s.onLab("lab", "storm", s.nodeThat(isHost).Name) }},
		{"a host is slow", func() { s.onLab("lab", "slow", s.nodeThat(isHost).Name, "1Mbit/s") }},
		{"hosts are normal", s.normal},
		{"a capture", s.capture},
		{"a look", s.look},
	}
	if !gentle {
		kinds = append(kinds, []kind{
			{"both links of the detours fail", s.detour},
			{"a link fails", func() { s.setLink(s.rng.IntN(len(s.st.Links)), false) }},
			{"all links are healed", s.healAll},
			{"a link flaps", s.flap},
			{"a link is impaired", s.impair},
			{"a switch begins anew", s.beginAnew},
			{"a node is killed and restarted", s.killAndRestart},
			{"a node is stopped for a while", s.stopForAWhile},
			{"an attack", s.attack},
		}...)
	}
	k := kinds[s.rng.IntN(len(kinds))]
	s.did[k.name]++
	k.do()
}

func (s *soak) link(name string) int {
	return slices.IndexFunc(s.plan.Links, func(l scenario.Link) bool { return l.Name == name })
}

// lock has the lab deadlock before anything else happens to it.
func (s *soak) lock() {
	s.did["deadlocks are left to come"]++
	s.detour()
	time.Sleep(2 * time.Second) // as long as it is left alone: a deadlock may come, or not
}

func (s *soak) detour() {
	s.fail("core0--agg1-0")
	s.fail("core1--agg3-0")
}

func (s *soak) fail(name string) { s.setLink(s.link(name), false) }

func (s *soak) setLink(i int, up bool) {
	s.changed[i] = true
	set := s.st.Fail
	if up {
		set = s.st.Heal
	}
	s.noError(set(s.st.Links[i]))
}

func (s *soak) healAll() {
	for i := range s.st.Links {
		if s.changed[i] {
			s.setLink(i, true)
		}
	}
}

func (s *soak) flap() {
	i := s.rng.IntN(len(s.st.Links))
	for range 5 {
		s.setLink(i, false)
		s.setLink(i, true)
	}
}

func (s *soak) normal() {
	args := []string{"lab", "normal"}
	for _, h := range s.plan.Hosts {
		args = append(args, h.Name)
	}
	s.onLab(args...)
}

func (s *soak) impair() {
	i := s.rng.IntN(len(s.st.Links))
	s.changed[i] = true
	wires := []config.Wire{
		{Delay: "2ms"}, {Delay: "3ms", Jitter: "1ms"}, {ControlLoss: "1%"}, {Loss: "0.5%"}, {Duplicate: "0.5%"}, {Delay: "1ms", Reorder: "0.5%"},
	}
	s.noError(lab.OrdersTo(s.st).Impair(s.Context(), wires[s.rng.IntN(len(wires))], s.st.Links[i]))
}

// beginAnew has a switch begin anew in its process, as the page does.
func (s *soak) beginAnew() {
	n := s.nodeThat(isSwitch)
	s.anew[n.Name] = true
	s.restart(n.Name, "cure")
	s.declare[n.Name] = 0
}

func (s *soak) killAndRestart() {
	n := s.nodeThat(mortal)
	s.anew[n.Name] = true
	s.noError(s.st.Kill(n.Name))
	time.Sleep(time.Duration(s.rng.IntN(1000)) * time.Millisecond) // it is dead for a while
	s.noError(s.st.Restart(s.Context(), n.Name))
	s.declare[n.Name] = 0
}

func (s *soak) stopForAWhile() {
	n := s.node()
	s.anew[n.Name] = true // its ring may overflow
	s.noError(s.st.Stop(n.Name))
	time.Sleep(time.Duration(50+s.rng.IntN(400)) * time.Millisecond)
	s.noError(s.st.Continue(n.Name))
}

// capture captures on some nodes for a moment.
func (s *soak) capture() {
	file := filepath.Join(s.TempDir(), "lab.pcapng")
	cmd := s.command("lab", "capture", "--name", s.name, "-w", file, "--node", s.node().Name, "--node", "core0", "--node", "agg0-0")
	c := s.start(cmd)
	c.await("capturing on")
	time.Sleep(time.Second)
	c.signal(os.Interrupt)
	if r := c.end(); r.code != 0 {
		s.wrong("a capture ends with %d: %s", r.code, r.stdout)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		s.wrong("a capture of nothing (%v)", err)
	}
	os.Remove(file)
}

func (s *soak) look() {
	for _, args := range [][]string{
		{"show", "pfc", "counters"},
		{"show", "interfaces", "counters", "--json"},
		{"show", "deadlock"},
		{"show", "queue", "counters"},
		{"show", "auth"},
		{"show", "lldp", "neighbors"},
		{"show", "itsy", "labels"},
		{"lab", "inspect"},
		{"lab", "impair"},
		{"lab", "graph"},
	} {
		s.onLab(args...)
	}
}

// attack sends forged and replayed frames on a link for a moment. They are refused there, and are
// not counted as sent by anybody.
func (s *soak) attack() {
	l := s.plan.Links[s.rng.IntN(len(s.plan.Links))]
	for s.plan.Fabric.Nodes[l.A.Node].Kind == topo.Host || s.plan.Fabric.Nodes[l.B.Node].Kind == topo.Host {
		l = s.plan.Links[s.rng.IntN(len(s.plan.Links))]
	}
	s.changed[s.link(l.Name)] = true
	s.anew[l.A.Name], s.anew[l.B.Name] = true, true
	s.quietly([]string{"attack", l.A.Name, l.B.Name, "--name", s.name, "--for", "1s"}, 0, cli.ExitUnmet)
}

// calm ends traffic and all disturbances.
func (s *soak) calm() {
	s.onLab("lab", "stop")
	s.normal()
	s.healAll()
	for i := range s.changed {
		s.noError(lab.OrdersTo(s.st).Impair(s.Context(), config.Wire{}, s.st.Links[i]))
	}
}

// quiet waits until nothing waits in any switch and no frame is on its way, and returns the account
// of that time: two in a row are the same, or ok is false.
func (s *soak) quiet() (now account, ok bool) {
	const patience = 30 * time.Second
	last, why := s.reckon(), ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); last = now {
		if now = s.reckon(); now.waits() == "" && maps.Equal(now.kernel, last.kernel) {
			return now, true
		}
		why = cmp.Or(now.waits(), "frames are on their way")
	}
	s.wrong("%v after all traffic has ended, %s", patience, why)
	return now, false
}

// judge plays a scenario with random failures on a lab of its own: what the oracle says of it must
// not be that a declaration was wrong, or that one is missing.
func (s *soak) judge() {
	file := s.files[s.rng.IntN(len(s.files))]
	args := []string{"lab", "run", file, "--name", s.name + "j", "--json", "--detector", "itsy", "--response", []string{"none", "cure"}[s.rng.IntN(2)]}
	for _, m := range s.mishaps(file) {
		args = append(args, "--set", m.Path+"="+m.Text)
	}
	if s.rng.IntN(3) == 0 {
		args = append(args, "--pcap", filepath.Join(s.TempDir(), "pcap"))
	}
	out := s.quietly(args, 0, cli.ExitUnmet)
	var v verdict.Verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		s.wrong("%v: no verdict: %v", args, err)
		return
	}
	s.runs++
	switch {
	case strings.Contains(v.Invalid, "contradict"):
		s.wrong("%v: %s", args, v.Invalid)
	case v.Invalid != "":
		s.invalid++
	case v.FalsePositives+v.Premature+v.FalseNegatives > 0:
		s.wrong("%v: %d false, %d premature, %d missed", args, v.FalsePositives, v.Premature, v.FalseNegatives)
	case v.Deadlock:
		s.deadlocks++
	}
}

// mishaps are failures and kills, at random, with which the scenario can be played.
func (s *soak) mishaps(file string) []strictyaml.Setting {
	text, err := os.ReadFile(file)
	s.noError(err)
	plan, err := load.Plan(file, text, load.Instead{})
	s.noError(err)
	for {
		var all []strictyaml.Setting
		for range s.rng.IntN(4) {
			event := fmt.Sprintf("do: fail, link: %s", plan.Links[s.rng.IntN(len(plan.Links))].Name)
			if s.rng.IntN(2) == 0 {
				event = "do: kill, switch: " + plan.Switches[s.rng.IntN(len(plan.Switches))].Name
			}
			all = append(all, strictyaml.Setting{
				Path: fmt.Sprintf("events[%d]", len(plan.Events)+len(all)),
				Text: fmt.Sprintf("{at: %dms, %s}", 100+s.rng.IntN(2500), event),
			})
		}
		// Nothing may be asked of a switch that is dead, and each flow needs its way.
		if _, err := load.Plan(file, text, load.Instead{Set: all}); err == nil {
			return all
		}
	}
}

// report says on standard error how far it is, if it is to last.
func (s *soak) report(since time.Duration) {
	for _, w := range s.plan.Switches {
		var d observe.Deadlocks
		s.noError(control.Call(s.path(w.Name), "deadlocks", nil, &d))
		if d.Declared > s.declare[w.Name] {
			s.declared += d.Declared - s.declare[w.Name]
		}
		s.declare[w.Name] = d.Declared
	}
	text := fmt.Sprintf("%v: round %d, seed %d: %d frames sent by hosts, %d deadlocks declared; %d scenarios judged, %d of them with a deadlock, %d runs not valid", since.Round(time.Second), s.round, s.seed, s.frames, s.declared, s.runs, s.deadlocks, s.invalid)
	if *soakTime > 0 {
		fmt.Fprintln(os.Stderr, text)
	}
}

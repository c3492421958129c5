package netnslab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"softswitch/internal/testkit"
)

func TestUpThenDown(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	if got := len(b.namespaces()); got != 3 {
		t.Errorf("%d namespaces, want 3", got)
	}
	if got := len(b.processes()); got != 3 {
		t.Errorf("%d processes, want 3", got)
	}
	b.wantBacklog(DefaultBacklog)
	r := st.Inspect()
	for _, n := range r.Nodes {
		if n.Process != "running" || n.Problem != "" {
			t.Errorf("node %+v, want it running and without a problem", n)
		}
		text, err := os.ReadFile(filepath.Join(n.Dir, "etc/node.yaml"))
		if err != nil || string(text) != "name: "+n.Name+"\n" {
			t.Errorf("file of %s: %q, %v", n.Name, text, err)
		}
	}
	for _, l := range r.Links {
		if !l.Up {
			t.Errorf("link %+v is not up", l)
		}
	}
	b.down()
	b.wantNothing()
	b.down() // again: nothing to do
}

// TestInterfaces looks at the links with other programs than those that made them.
func TestInterfaces(t *testing.T) {
	b := newBench(t)
	testkit.Need(t, "ip", "ethtool")
	st := b.up(b.lab())
	for _, c := range []struct{ node, command, want string }{
		{"s0", "ip -o link show to-h0", "mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000"},
		{"s0", "ip -o link show to-h0", "link/ether 02:00:00:00:00:01 "},
		{"s0", "ip -o link show to-h0", "alias s0:to-h0 <-> h0:eth0"},
		{"h1", "ip -o link show eth0", "mtu 1400 "},
		{"h1", "ip -o link show eth0", "link/ether 02:00:00:00:00:04 "},
		{"h1", "ip -o link show eth0", "alias h1:eth0 <-> s0:to-h1"},
		{"h0", "ip -o link show lo", "LOWER_UP"},
		{"h0", "ip -4 -o addr show eth0", "inet 10.9.0.2/24"},
		{"h0", "ip route", "default via 10.9.0.1 dev eth0"},
		{"h0", "cat /proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1\n"},
		{"h0", "cat /proc/sys/net/ipv6/conf/lo/disable_ipv6", "1\n"},
		{"h0", "ethtool -k eth0", "\ntx-checksumming: off\n"},
		{"s0", "ethtool -k to-h0", "\ngeneric-segmentation-offload: off\n"},
		{"s0", "ethtool -k to-h0", "\ntcp-segmentation-offload: off\n"},
		{"s0", "ethtool -k to-h1", "\ngeneric-receive-offload: off\n"},
	} {
		if got := b.run(st, c.node, c.command); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\n got %s\nwant %s", c.node, c.command, got, c.want)
		}
	}
}

// run returns what a command prints in a node.
func (b *bench) run(st *State, node, command string) string {
	b.Helper()
	var out bytes.Buffer
	code, err := st.Exec(b.Context(), node, strings.Fields(command), Stdio{Out: &out, Err: &out})
	if err != nil || code != 0 {
		b.Fatalf("%s: %s: status %d, %v: %s", node, command, code, err, &out)
	}
	return out.String()
}

// TestPrintedPlanMakesTheSameLab is the reference of Up: the shell walks the
// printed steps, and the interfaces must come out the same.
func TestPrintedPlanMakesTheSameLab(t *testing.T) {
	b := newBench(t)
	src, dir := t.TempDir(), t.TempDir()
	testkit.Need(t, "sh", "ip", "ethtool", "sysctl", "setsid", "env", "install", "timeout")
	lab := b.lab()
	look := func(node string) []string {
		awaitState(t, b.name+"-"+node)
		var words []string
		for _, command := range []string{"ip -o -d link", "ip -o -4 addr", "ip route", "ethtool -k eth0", "ethtool -k to-h0", "sysctl net.ipv6.conf.all.disable_ipv6"} {
			out, err := exec.Command("ip", strings.Fields("netns exec "+b.name+"-"+node+" "+command)...).CombinedOutput()
			words = append(words, fmt.Sprintln("#", command, err))
			for _, word := range strings.Fields(strings.NewReplacer(Dir(b.name), "DIR", dir, "DIR").Replace(string(out))) {
				if !strings.Contains(word, "@") && !isNumber(strings.TrimSuffix(word, ":")) { // indexes differ
					words = append(words, word)
				}
			}
		}
		return words
	}
	b.up(lab)
	fast := map[string][]string{}
	for _, n := range lab.Nodes {
		fast[n.Name] = look(n.Name)
	}
	b.down()

	for _, n := range lab.Nodes {
		for _, f := range n.Files {
			path := filepath.Join(src, n.Name, f.Path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, script, _ := strings.Cut(planText(t, lab, dir), "\n") // without the host's backlog
	sh := exec.Command("sh", "-ex")
	sh.Dir, sh.Stdin = src, strings.NewReader(script)
	out, err := sh.CombinedOutput()
	t.Cleanup(func() {
		b.wipe()
		awaitNone(t, b.processes)
	})
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, n := range lab.Nodes {
		slow, fast := look(n.Name), fast[n.Name]
		for i := range max(len(slow), len(fast)) {
			if i >= len(slow) || i >= len(fast) || slow[i] != fast[i] {
				t.Errorf("node %s: after %q\nby the shell %q\nby Up %q", n.Name, fast[max(0, i-8):min(i, len(fast))], slow[min(i, len(slow)):], fast[min(i, len(fast)):])
				break
			}
		}
	}
	if got := len(b.processes()); got < 3 {
		t.Errorf("%d processes, want 3", got)
	}
}

func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil }

// awaitNone waits until list returns nothing.
func awaitNone(t *testing.T, list func() []string) {
	t.Helper()
	deadline := time.Now().Add(readyTimeout)
	for len(list()) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v", list())
		}
	}
}

func TestUpLeavesAnEqualLabAlone(t *testing.T) {
	b := newBench(t)
	first := b.up(b.lab())
	if again := b.up(b.lab()); again.Token != first.Token || again.Nodes[0].PID != first.Nodes[0].PID {
		t.Error("the second Up made the lab anew")
	}
	changed := b.lab()
	changed.Nodes[1].Files[0].Data = []byte("other")
	var exists *ExistsError
	if _, err := Up(t.Context(), changed, nil); !errors.As(err, &exists) {
		t.Errorf("error %v, want that the lab exists", err)
	}
	if st, err := Load(b.name); err != nil || st.Token != first.Token || st.Problem() != nil {
		t.Errorf("the lab that was refused is not there as before: %v", err)
	}
	changed.Replace = true
	second := b.up(changed)
	if second.Token == first.Token {
		t.Error("another description left the lab as it was")
	}
	if err := second.Kill("h0"); err != nil {
		t.Fatal(err)
	}
	third := b.up(changed)
	if third.Token == second.Token {
		t.Error("a lab with a dead process was left as it was")
	}
	b.remove(third, "h1")
	if fourth := b.up(changed); fourth.Token == third.Token {
		t.Error("a lab without one of its namespaces was left as it was")
	}
}

// TestUpOverAPassingLab: one whose maker lives is another's, one whose maker died is
// nobody's; and whoever made a lab removes no other of its name.
func TestUpOverAPassingLab(t *testing.T) {
	b := newBench(t)
	lab := b.lab()
	lab.Passing = true
	first := b.up(lab)
	var exists *ExistsError
	if _, err := Up(t.Context(), Lab{Name: b.name}, nil); !errors.As(err, &exists) || exists.Owner != os.Getpid() {
		t.Errorf("error %v, want that process %d has it", err, os.Getpid())
	}
	testkit.Need(t, "true")
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	first.Owner = process{dead.Process.Pid, first.Owner.Start}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	second := b.up(Lab{Name: b.name, Nodes: []Node{{Name: "alone", Kind: "host"}}})
	if err := first.Remove(nil); err != nil {
		t.Error(err)
	}
	if st, err := Load(b.name); err != nil || st.Token != second.Token {
		t.Errorf("the maker of the first lab removed the second: %v", err)
	}
	if err := second.Remove(nil); err != nil {
		t.Error(err)
	}
	b.wantNothing()
}

// remove takes a node's namespace away behind the lab's back.
func (b *bench) remove(st *State, node string) {
	b.Helper()
	n, err := st.node(node)
	if err == nil {
		err = netns.DeleteNamed(n.Namespace)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// TestKilledOnTheWayUp kills Up with SIGKILL at every checkpoint: after each step,
// after each record on disk, and between the halves of what takes two calls.
func TestKilledOnTheWayUp(t *testing.T) {
	b := newBench(t)
	var killed int
	for b.runAndKill("up", killed) {
		if b.down(); t.Failed() {
			t.Fatalf("killed at checkpoint %d", killed)
		}
		if b.wantNothing(); t.Failed() {
			t.Fatalf("killed at checkpoint %d", killed)
		}
		killed++
	}
	steps, err := Plan(b.lab(), Dir(b.name))
	if err != nil {
		t.Fatal(err)
	}
	if killed < len(steps)+2*3 { // and two more for each namespace
		t.Errorf("killed %d times, want %d or more", killed, len(steps)+2*3)
	}
	t.Logf("killed at %d checkpoints of %d steps", killed, len(steps))
}

// TestKilledOnTheWayDown kills Down at every checkpoint.
func TestKilledOnTheWayDown(t *testing.T) {
	b := newBench(t)
	var killed int
	for {
		b.up(b.lab())
		if !b.runAndKill("down", killed) {
			break
		}
		if b.down(); t.Failed() {
			t.Fatalf("killed at checkpoint %d", killed)
		}
		if b.wantNothing(); t.Failed() {
			t.Fatalf("killed at checkpoint %d", killed)
		}
		killed++
	}
	if killed < 8 {
		t.Errorf("killed %d times, want 8 or more", killed)
	}
}

// TestKilledOnTheWayUpThenUp makes the lab over what a killed Up left.
func TestKilledOnTheWayUpThenUp(t *testing.T) {
	b := newBench(t)
	for _, at := range []int{1, 7, 20} {
		if !b.runAndKill("up", at) {
			t.Fatalf("no checkpoint %d", at)
		}
		b.up(b.lab())
		b.down()
	}
}

// runAndKill has another program take the role for the lab; it is killed at the
// checkpoint of that number. It returns whether it came that far.
func (b *bench) runAndKill(role string, at int) bool {
	b.Helper()
	text, err := json.Marshal(b.lab())
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self(b.T))
	cmd.Env = append(os.Environ(), roleVariable+"="+role, labVariable+"="+string(text), backlogVariable+"="+b.backlog, fmt.Sprintf("%s=%d", dieVariable, at))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		b.Fatalf("%s until checkpoint %d: %v:\n%s", role, at, err, out)
	}
	return true
}

func TestFailingStepRollsBack(t *testing.T) {
	testkit.Need(t, "sh")
	b := newBench(t)
	lab := b.lab()
	lab.Nodes[2].Command = []string{"sh", "-c", "echo no such port >&2; exit 3"}
	_, err := Up(t.Context(), lab, nil)
	var step *StepError
	if !errors.As(err, &step) || !strings.Contains(err.Error(), "node h1") || !strings.Contains(err.Error(), "no such port") {
		t.Errorf("error %v, want a StepError with the node and the end of its log", err)
	}
	b.wantNothing()

	lab = b.lab()
	lab.Nodes[1].Routes = []Route{{"default", "192.0.2.1"}} // not reachable from h0
	_, err = Up(t.Context(), lab, nil)
	if !errors.As(err, &step) || !errors.Is(err, syscall.ENETUNREACH) || !strings.Contains(step.Step, "route add default via 192.0.2.1") {
		t.Errorf("error %v, want the kernel's for the route", err)
	}
	b.wantNothing()

	lab = b.lab()
	lab.Nodes[0].Command = []string{"no-such-program-4711"}
	if _, err = Up(t.Context(), lab, nil); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error %v, want one that the program is not found", err)
	}
	b.wantNothing()
}

// TestFullDisk: when there is no room for the record, there is no lab, and nothing of one.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	dir := RunDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	rest := filepath.Join(dir, "rest")
	if err := os.WriteFile(rest, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if _, err := Up(t.Context(), b.lab(), nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want one of the full disk", err)
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	b.wantNothing()
}

func TestCancelRollsBack(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	lab := b.lab()
	lab.Nodes[0].Ready = "never"
	done := make(chan error, 1)
	go func() { _, err := Up(ctx, lab, nil); done <- err }()
	deadline := time.Now().Add(readyTimeout)
	for len(b.processes()) < 3 && time.Now().Before(deadline) { // they run, it waits
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	b.wantNothing()
}

func TestNamespaceInTheWay(t *testing.T) {
	b := newBench(t)
	ns, err := createNamespace(b.name+"-h1", func(uint64, uint64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	_, err = Up(t.Context(), b.lab(), nil)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(NamespaceDir, b.name+"-h1")) {
		t.Errorf("error %v, want one that names the namespace", err)
	}
	b.down()
	if got := b.namespaces(); len(got) != 1 {
		t.Errorf("namespaces %v, want the foreign one alone", got)
	}
	if err := netns.DeleteNamed(b.name + "-h1"); err != nil {
		t.Error(err)
	}
}

// TestForeignNamespaces: one that took a node's name since, and its inode, as the
// kernel is free to give it; and one whose name merely begins like ours.
func TestForeignNamespaces(t *testing.T) {
	b := newBench(t)
	lab := b.lab()
	lab.Nodes[1].Command, lab.Nodes[1].Ready = nil, "" // a process would keep the old one alive
	st := b.up(lab)
	if st.Nodes[1].Cookie == 0 {
		t.Skip("needs the cookie of a namespace: Linux 5.14")
	}
	b.remove(st, "h0")
	for _, name := range []string{"h0", "h00"} {
		ns, err := createNamespace(b.name+"-"+name, func(inode, _ uint64) error {
			if name == "h0" {
				st.Nodes[1].Inode = inode
			}
			return st.save()
		})
		if err != nil {
			t.Fatal(err)
		}
		ns.Close()
	}
	b.down()
	if got := len(b.namespaces()); got != 2 {
		t.Errorf("%d namespaces, want the two foreign ones: %v", got, b.namespaces())
	}
	for _, name := range b.namespaces() {
		if err := netns.DeleteNamed(filepath.Base(name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLinksAreGoneWhenDownReturns: also where something else keeps a namespace.
func TestLinksAreGoneWhenDownReturns(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	ns, err := st.Nodes[0].open()
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	nl, err := netlink.NewHandleAt(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer nl.Close()
	for _, want := range []int{3, 1} { // lo and two links, then lo
		links, err := nl.LinkList()
		if err != nil || len(links) != want {
			t.Errorf("%d links, %v, want %d", len(links), err, want)
		}
		b.down()
	}
}

func TestReusedPIDIsLeftAlone(t *testing.T) {
	b := newBench(t)
	testkit.Need(t, "sleep")
	lab := b.lab()
	lab.Nodes[0].Command, lab.Nodes[0].Ready = nil, ""
	st := b.up(lab)
	other := exec.Command("sleep", "infinity")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	stat, err := readStat(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	st.Nodes[0].PID, st.Nodes[0].Start = other.Process.Pid, stat.Starttime-1
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	for _, act := range []func(string) error{st.Stop, st.Continue, st.Kill} {
		if err := act("s0"); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("error %v, want %v", err, os.ErrProcessDone)
		}
	}
	b.down()
	if after, err := readStat(other.Process.Pid); err != nil || after.State == "Z" {
		t.Errorf("the foreign process was ended: %+v, %v", after, err)
	}
}

func TestRecordOfEarlierBoot(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	token, dir := st.Token, st.dir
	st.Boot = "another"
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	b.down()
	if got := len(b.namespaces()); got != 3 {
		t.Errorf("%d namespaces, want the 3 of this boot untouched", got)
	}
	if procs, err := marked(token); err != nil || len(procs) != 3 {
		t.Errorf("processes %v, %v, want the 3 of this boot untouched", procs, err)
	}
	// Take them away with the true record.
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	st.Boot = boot
	if err := errors.Join(os.MkdirAll(dir, 0o755), st.save()); err != nil {
		t.Fatal(err)
	}
	b.down()
	if err := os.WriteFile(b.backlog, []byte("1000"), 0o644); err != nil { // a boot would have
		t.Fatal(err)
	}
}

func TestUnreadableState(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(Dir(b.name), stateName)
	for text, want := range map[string]string{"{": "unexpected end", `{"version": 99}`: "version 99: want 1"} {
		if err := errors.Join(os.MkdirAll(Dir(b.name), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{Down(b.name, nil), second(Up(t.Context(), b.lab(), nil))} {
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %s and %q", err, path, want)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func second(_ *State, err error) error { return err }

// TestHardToEnd: a process that is stopped, and yet is to hear SIGTERM; one that
// ignores SIGTERM; one whose child left its session; one that was killed before.
func TestHardToEnd(t *testing.T) {
	testkit.Need(t, "sh", "sleep", "setsid", "touch")
	b := newBench(t)
	sh := func(name, script string) Node {
		return Node{Name: name, Kind: "host", Ready: "up", Command: []string{"sh", "-c", script}}
	}
	heard := filepath.Join(t.TempDir(), "heard")
	st := b.up(Lab{Name: b.name, Nodes: []Node{
		sh("stopped", "trap 'touch "+heard+"; exit' TERM; touch up; while :; do sleep 0.1; done"),
		sh("deaf", "trap '' TERM; touch up; while :; do sleep 0.1; done"),
		sh("parent", "setsid sleep infinity & touch up; wait"),
		sh("killed", "touch up; exec sleep infinity"),
	}})
	if err := errors.Join(st.Stop("stopped"), st.Kill("killed")); err != nil {
		t.Fatal(err)
	}
	b.down()
	b.wantNothing()
	if !exists(heard) {
		t.Error("the stopped process was not told to end")
	}
}

func TestSocketPathLongerThanItsAddressMay(t *testing.T) {
	b := newBench(t)
	t.Setenv(RunDirVariable, filepath.Join(t.TempDir(), strings.Repeat("long/", 30)))
	if err := os.MkdirAll(RunDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	b.up(b.lab())
	b.down()
	b.wantNothing()
}

func TestTwoLabsShareTheBacklog(t *testing.T) {
	b := newBench(t)
	one, two := b.lab(), b.lab()
	two.Name, two.Backlog = b.name+"x", 200_000
	b.up(one)
	b.wantBacklog(100_000)
	b.up(two)
	b.wantBacklog(200_000)
	b.down()
	b.wantBacklog(200_000)
	if err := Down(two.Name, nil); err != nil {
		t.Fatal(err)
	}
	b.wantNothing()

	b.up(one)
	if err := os.WriteFile(b.backlog, []byte("5000"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.down()
	b.wantBacklog(5000) // others changed it
	if err := os.WriteFile(b.backlog, []byte("1000"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLabsOfTwoRunDirectoriesShareTheBacklog: whichever goes first leaves it to the other.
func TestLabsOfTwoRunDirectoriesShareTheBacklog(t *testing.T) {
	b := newBench(t)
	dirs := [2]string{RunDir(), t.TempDir()}
	labs := [2]Lab{b.lab(), b.lab()}
	labs[1].Name += "x"
	in := func(i int) { t.Setenv(RunDirVariable, dirs[i]) }
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		for i := range labs {
			in(i)
			b.up(labs[i])
		}
		in(order[0])
		if err := Down(labs[order[0]].Name, nil); err != nil {
			t.Fatal(err)
		}
		b.wantBacklog(100_000)
		in(order[1])
		if err := Down(labs[order[1]].Name, nil); err != nil {
			t.Fatal(err)
		}
		b.wantBacklog(1000)
	}
	in(0)
}

func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	unlock, err := lock(b.name, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 10)
	done := make(chan error, 1)
	go func() { done <- Down(b.name, chanWriter(said)) }()
	if got := <-said; !strings.Contains(got, "waiting for another lab command") {
		t.Errorf("it said %q", got)
	}
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type chanWriter chan string

func (c chanWriter) Write(p []byte) (int, error) { c <- string(p); return len(p), nil }

func TestFatTreeIsUpInUnderTenSeconds(t *testing.T) {
	testkit.Need(t, "sleep")
	if testing.Short() {
		t.Skip("36 namespaces take seconds")
	}
	b := newBench(t)
	lab := fatTree(b.name, []string{"sleep", "infinity"})
	began := time.Now()
	st := b.up(lab)
	took := time.Since(began)
	began = time.Now()
	r := st.Inspect()
	t.Logf("36 nodes, 48 links: up in %v, seen in %v", took, time.Since(began))
	if took > 10*time.Second {
		t.Errorf("up in %v, want under 10 s", took)
	}
	if i := slices.IndexFunc(r.Links, func(l LinkReport) bool { return !l.Up }); i >= 0 || len(r.Links) != 48 {
		t.Errorf("not all of %d links are up: %d", len(r.Links), i)
	}
	began = time.Now()
	b.down()
	t.Logf("down in %v", time.Since(began))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("down in %v, want under 10 s", took)
	}
}

// awaitState waits until the kernel has told of all veths of a namespace that they are up: a worker
// of its own does, sometime after the other end has come.
func awaitState(t *testing.T, namespace string) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		out, err := exec.Command("ip", "-n", namespace, "-o", "link", "show", "type", "veth").CombinedOutput()
		if err == nil && strings.Count(string(out), "\n") == strings.Count(string(out), " state UP ") {
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%v: not all are up:\n%s", err, out)
		}
	}
}

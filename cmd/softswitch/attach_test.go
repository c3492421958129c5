package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/link/decode"
	"softswitch/oracle/verdict"
)

// list writes a list of the nodes of a lab that is up, made of a scenario file, for somebody
// who does not know how it was made.
func (b *bed) list(scenario string) string {
	b.Helper()
	path, err := filepath.Abs(scenario)
	if err != nil {
		b.Fatal(err)
	}
	text := fmt.Sprintf("scenario: %s\ndir: %s/{node}\nnodes:\n", path, filepath.Join(b.runDir, b.name))
	for _, n := range b.inspect().Nodes {
		text += fmt.Sprintf("  %s: ip netns exec %s\n", n.Name, n.Namespace)
	}
	file := filepath.Join(b.TempDir(), "nodes.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	return file
}

// wantLetGo wants nothing to be left of a lab of somebody else's nodes.
func (b *bed) wantLetGo() {
	b.Helper()
	files, err := os.ReadDir(b.runDir)
	if procs := b.processes(); err != nil || len(files) > 0 || len(procs) > 0 {
		b.Errorf("left behind: %v, %v (%v)", files, procs, err)
	}
}

// TestAttach: what works on a lab works on one that somebody else built, and letting go of it
// leaves it as it is.
func TestAttach(t *testing.T) {
	b, other := newBed(t, "ip", "ping"), makeBed(t)
	other.must("deploy", "-t", "../../scenarios/pause.yaml")
	list := other.list("../../scenarios/pause.yaml")
	b.must("attach", list)
	now := b.inspect()
	if now.Nodes[0].Process != "running" || now.Nodes[0].Via == nil || !now.Links[1].Up || now.Nodes[0].PID != other.inspect().Nodes[0].PID {
		t.Errorf("the lab is %+v", now)
	}
	if r := b.lab("attach", list); r.code != 0 || !strings.Contains(r.stderr, "is up already") {
		t.Errorf("attached again: exit status %d", r.code)
	}
	b.must("fail", "s1", "s2")
	if other.inspect().Links[1].Up {
		t.Error("the link is still up")
	}
	b.must("heal", "s1", "s2")
	if !other.inspect().Links[1].Up {
		t.Error("the link is still down")
	}
	if r := b.lab("kill", "s2"); r.code != cli.ExitError || !strings.Contains(r.stderr, "runs other nodes too, which it would hit; valid: nodes with a process each") {
		t.Errorf("a kill of one of several nodes of a process: exit status %d", r.code)
	}
	file := filepath.Join(t.TempDir(), "s2.pcapng")
	s := b.capture("--node", "s2", "-w", file)
	b.wantPing("h1", b.address("h2"))
	b.must("start")
	b.act("h2", "storm")
	b.awaitFrame(file, func(r decode.Record) bool { return r.Interface == "s2:to-h2" && r.Kind == decode.KindPFC })
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		t.Errorf("capture: exit status %d", r.code)
	}
	if r := b.run(b.command("show", "pfc", "counters", "s2", "--name", b.name)); r.code != 0 || !strings.Contains(r.stdout, "to-h2") {
		t.Errorf("show: exit status %d", r.code)
	}
	if r := b.must("events"); !strings.Contains(r.stdout, "s2") {
		t.Error("the logs have nothing of s2")
	}
	if r := b.lab("run", "--attach", list); r.code != cli.ExitError || !strings.Contains(r.stderr, "a lab of that name is up") {
		t.Errorf("a run on nodes that a lab has: exit status %d", r.code)
	}
	b.must("destroy")
	b.wantLetGo()
	if r := b.lab("run", "--attach", list); r.code != cli.ExitError || !strings.Contains(r.stderr, "it was started before") {
		t.Errorf("a run on nodes that were started: exit status %d", r.code)
	}
	b.wantLetGo()
	for _, n := range other.inspect().Nodes {
		if n.Process != "running" {
			t.Errorf("%s is %s", n.Name, n.Process)
		}
	}
}

// TestAttachedNodeIsGone: who asks a node that is not reached any more is told so.
func TestAttachedNodeIsGone(t *testing.T) {
	b, other := newBed(t, "ip"), makeBed(t)
	other.must("deploy", "-t", "../../scenarios/pause.yaml")
	b.must("attach", other.list("../../scenarios/pause.yaml"))
	agent := slices.IndexFunc(b.processes(), func(environ string) bool {
		words, err := os.ReadFile(filepath.Join(filepath.Dir(environ), "cmdline"))
		return err == nil && strings.Contains(string(words), "agent\x00") && strings.Contains(string(words), "/s1/")
	})
	var pid int
	if _, err := fmt.Sscanf(b.processes()[agent], "/proc/%d/", &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("node s1 is not reached any more: ip netns exec %s-s1: signal: killed", other.name)
	if r := b.run(b.command("show", "pfc", "counters", "--name", b.name)); r.code == 0 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit status %d", r.code)
	}
	if r := b.lab("fail", "s1", "s2"); r.code != cli.ExitError || !strings.Contains(r.stderr, want) {
		t.Errorf("exit status %d", r.code)
	}
	if r := b.run(b.command("lab", "list")); !strings.Contains(r.stdout, "broken: node s1") {
		t.Errorf("the list says %s", r.stdout)
	}
}

// TestAttachedRun: a scenario is played on nodes that somebody else built, with failures and
// faults; they are not taken a second time.
func TestAttachedRun(t *testing.T) {
	data, err := os.ReadFile("../../scenarios/pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(t.TempDir(), "faults.yaml")
	text := strings.Replace(string(data), "events:\n", `events:
  - {at: 2200ms, do: fail, link: s1--s2}
  - {at: 2300ms, do: heal, link: s1--s2}
  - {at: 2400ms, do: stop, switch: s2}
  - {at: 2500ms, do: continue, switch: s2}
  - {at: 2600ms, do: kill, switch: s2}
`, 1)
	if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBed(t, "ip")
	b.untilValid(func() (invalid string) {
		other := makeBed(t)
		other.must("deploy", "-t", scenario, "--nodes-per-process", "1") // of which one is killed
		list := other.list(scenario)
		r := b.lab("run", "--attach", list, "--json")
		var v verdict.Verdict
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatal(err)
		}
		for _, says := range []string{"fail s1--s2", "heal s1--s2", "stop s2", "continue s2", "kill s2"} {
			if !strings.Contains(r.stderr, says) {
				t.Errorf("it did not %s", says)
			}
		}
		for _, n := range other.inspect().Nodes {
			if want := map[bool]string{true: "dead", false: "running"}[n.Name == "s2"]; n.Process != want {
				t.Errorf("%s is %s, want %s", n.Name, n.Process, want)
			}
		}
		if v.Invalid == "" && (len(v.Flows) != 1 || v.Flows[0].Sent == 0 || v.PFC.XOFF == 0) {
			t.Errorf("the verdict is %+v", v)
		}
		b.wantLetGo()
		return v.Invalid
	})
}

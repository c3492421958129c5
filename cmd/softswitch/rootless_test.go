package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"softswitch/cmd/softswitch/cli"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
)

// asNobody is a user without rights, with softswitch in a directory that it can read.
type asNobody struct {
	*bed
	dir string
}

// newNobody skips the test where users cannot make user namespaces.
func newNobody(t *testing.T) *asNobody {
	b := newBed(t, "sh", "ping") // its checks find what is left behind
	for _, c := range netnslab.Doctor() {
		if c.Name == "rootless" && !c.OK {
			t.Skipf("no user namespaces: %s", c.Detail)
		}
	}
	program, err := exec.LookPath("softswitch")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "softswitch-rootless")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	u := &asNobody{b, dir}
	u.copy(program, "softswitch", 0o755)
	u.copy("../../scenarios/pause.yaml", "pause.yaml", 0o644)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return u
}

// copy copies a file. No other test may start a process meanwhile: it would have the copy open for
// writing until it runs its program, and a file that is open for writing cannot be run (ETXTBSY).
func (u *asNobody) copy(from, to string, mode os.FileMode) {
	u.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		u.Fatal(err)
	}
	syscall.ForkLock.RLock()
	err = os.WriteFile(filepath.Join(u.dir, to), text, mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		u.Fatal(err)
	}
}

// command is softswitch as the user would start it.
func (u *asNobody) command(args ...string) *exec.Cmd {
	cmd := u.program(filepath.Join(u.dir, "softswitch"), args...)
	cmd.Dir = u.dir
	cmd.Env = append(cmd.Env, "SHELL=/bin/sh", "PATH="+u.dir+":"+os.Getenv("PATH"))
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// TestRootlessRun: a user without rights plays a scenario. A deadlock or none, pauses
// and counts are as with rights; a busy machine may make the run invalid, for nodes
// have no real-time priority.
func TestRootlessRun(t *testing.T) {
	u := newNobody(t)
	r := u.run(u.command("lab", "run", "--rootless", "--json", "pause.yaml"))
	var v verdict.Verdict
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("the verdict is no JSON: %v", err)
	}
	if v.Deadlock || v.PFC.XOFF < 5 || len(v.Flows) != 1 || v.Flows[0].Received == 0 {
		t.Errorf("verdict %s", r.stdout)
	}
	if (r.code == 0) != (v.ExpectedMet && v.Invalid == "") {
		t.Errorf("exit status %d, expectation met %t, invalid %q", r.code, v.ExpectedMet, v.Invalid)
	}
}

// TestRootlessSession: several commands use one lab, and nothing of it outlives the
// session, whoever ends it.
func TestRootlessSession(t *testing.T) {
	u := newNobody(t)
	session := u.command("lab", "rootless")
	session.Stdin = strings.NewReader(`
softswitch lab deploy -t pause.yaml 2>/dev/null &&
until softswitch lab exec h1 ping -q -c 1 -W 2 10.100.1.2 | grep " 1 received"; do :; done
softswitch lab exec h1 sleep 1000 &
exit 6
`)
	if r := u.run(session); r.code != 6 || !strings.Contains(r.stdout, "1 packets transmitted, 1 received") {
		t.Errorf("the session: exit status %d", r.code)
	}

	killed := u.start(u.command("lab", "rootless", "sh", "-c", "softswitch lab deploy -t pause.yaml; echo deployed; exec sleep 1000"))
	killed.await("deployed")
	killed.signal(os.Kill)
	killed.end() // when nobody has its outputs any more

	told := u.start(u.command("lab", "rootless", "sh", "-c", "trap 'echo told; exit 9' TERM; echo here; while :; do sleep 0.02; done"))
	told.await("here")
	told.signal(syscall.SIGTERM)
	if r := told.end(); r.code != 9 || !strings.Contains(r.stdout, "told") {
		t.Errorf("a session that is told to end: exit status %d", r.code)
	}

	for range 10 { // told as soon as it runs anything, by what it runs
		r := u.run(u.command("lab", "rootless", "sh", "-c", "trap 'exit 9' TERM; kill -TERM 1; sleep 1; sleep 1"))
		if r.code != 9 {
			t.Errorf("a session that is told to end at once: exit status %d", r.code)
		}
	}
}

// TestRootlessRefused: what cannot be done, and what is said of it.
func TestRootlessRefused(t *testing.T) {
	u := newNobody(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"lab", "run", "--rootless", "--keep", "pause.yaml"}, "--rootless goes with none of --keep, --show, --ui"},
		{[]string{"demo", "--rootless", "--show"}, "--rootless goes with none of --keep, --show, --ui"},
		{[]string{"demo", "--rootless", "--ui"}, "--rootless goes with none of --keep, --show, --ui"},
		{[]string{"lab", "rootless", "no-such-program"}, `"no-such-program": executable file not found`},
		{[]string{"lab", "run", "--rootless", "missing.yaml"}, "open missing.yaml: no such file"},
		{[]string{"rootless-init", "true"}, "not the first process of a namespace"},
	} {
		if r := u.run(u.command(c.args...)); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
}

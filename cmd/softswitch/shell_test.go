package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
)

// TestComfort: what a shell in a node sees and says, what completion offers of a lab
// that is up, and the lab drawn with a link down.
func TestComfort(t *testing.T) {
	b := newBed(t, "sh", "ls", "grep", "sort")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")

	typed := b.command("lab", "shell", "--name", b.name, "s1")
	typed.Env = append(typed.Env, "SHELL=/bin/sh")
	typed.Stdin = strings.NewReader("echo $SOFTSWITCH_LAB/$SOFTSWITCH_NODE; ls /proc/self/net/dev_snmp6 >/dev/null; grep -o 'to-[a-z0-9]*' /proc/net/dev | sort; exit 5\n")
	if r, want := b.run(typed), b.name+"/s1\nto-h1\nto-s2\n"; r.code != 5 || r.stdout != want {
		t.Errorf("a shell says %q, exit status %d; want %q and 5", r.stdout, r.code, want)
	}
	for _, sh := range []string{"/bin/bash", "/bin/sh"} {
		b.wantPrompt(sh)
	}
	if r := b.lab("shell", "s3"); r.code != cli.ExitError || !strings.Contains(r.stderr, `no node "s3" (did you mean "s1" or "s2"?)`) {
		t.Errorf("a shell in a node that is not there: exit status %d", r.code)
	}

	b.wantOffered([]string{"s1", "s2", "h1", "h2"}, "exec")
	b.wantOffered([]string{"s1", "s2", "h1", "h2"}, "shell")
	b.wantOffered([]string{"h1", "s2"}, "fail", "s1")
	b.wantOffered(nil, "fail", "s1", "s2")

	b.must("fail", "s1", "s2")
	if r := b.must("graph"); !strings.Contains(r.stdout, `"s1" -- "s2" [style=dashed, color=red, label="down"]`) {
		t.Errorf("the failed link is drawn as %s", r.stdout)
	}
}

// wantPrompt: the shell's prompt, on a terminal, says where it is.
func (b *bed) wantPrompt(shell string) {
	b.Helper()
	terminal, err := exec.LookPath("script")
	if err == nil {
		_, err = exec.LookPath(shell)
	}
	if err != nil {
		b.Logf("nobody sees the prompt: %v", err)
		return
	}
	cmd := b.program(terminal, "-qec", "softswitch lab shell --name "+b.name+" h2", "/dev/null")
	cmd.Env = append(cmd.Env, "SHELL="+shell, "HOME="+b.TempDir(), "TERM=dumb")
	cmd.Stdin = strings.NewReader("exit 3\n")
	if r := b.run(cmd); r.code != 3 || !strings.Contains(r.stdout, "["+b.name+" h2] ") {
		b.Errorf("%s: exit status %d, want 3 and a prompt with [%s h2]", shell, r.code, b.name)
	}
}

// wantOffered: so does completion go on after `lab ARGS...`.
func (b *bed) wantOffered(want []string, args ...string) {
	b.Helper()
	all := append([]string{"__complete", "lab", args[0], "--name", b.name}, args[1:]...)
	lines := strings.Split(b.run(b.command(append(all, "")...)).stdout, "\n")
	got := slices.DeleteFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, ":") })
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		b.Errorf("after lab %v: offered %q, want %q", args, got, want)
	}
}

package netnslab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

func TestFailAndHeal(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	link := st.Links[0] // h0 to s0
	want := func(want bool) {
		t.Helper()
		r := st.Inspect()
		if r.Links[0].Up != want || !r.Links[1].Up {
			t.Errorf("links %+v, want the first up: %t, the second up", r.Links, want)
		}
	}
	if err := st.Fail(link); err != nil {
		t.Fatal(err)
	}
	want(false)
	if again := b.up(b.lab()); again.Token != st.Token {
		t.Error("a lab with a failed link was made anew")
	}
	if err := st.Heal(link); err != nil {
		t.Fatal(err)
	}
	want(true)
	b.remove(st, "h0")
	if err := st.Fail(link); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that the namespace is gone", err)
	}
}

// TestRestart: a node begins anew in its namespace, whether it was alive or not, and the lab is as
// complete as before.
func TestRestart(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	pid := func() int { n, _ := st.node("s0"); return n.PID }
	for _, alive := range []bool{true, false} {
		was := pid()
		if !alive {
			if err := st.Kill("s0"); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Restart(t.Context(), "s0"); err != nil {
			t.Fatal(err)
		}
		if now := pid(); now == was || st.Problem() != nil {
			t.Errorf("process %d, before %d; %v", now, was, st.Problem())
		}
		if there := b.up(b.lab()); there.Token != st.Token {
			t.Error("a lab with a node that was restarted was made anew")
		}
	}
	if err := st.Restart(t.Context(), "s9"); err == nil || !strings.Contains(err.Error(), `no node "s9"`) {
		t.Errorf("error %v, want one that lists the nodes", err)
	}
	b.down()
	if err := st.Restart(t.Context(), "s0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that the lab is gone", err)
	}
}

func TestExec(t *testing.T) {
	testkit.Need(t, "sh")
	b := newBench(t)
	st := b.up(b.lab())
	for _, c := range []struct {
		script   string
		code     int
		out, err string
	}{
		{"cat; echo oops >&2", 0, "hello", "oops\n"},
		{"exit 7", 7, "", ""},
		{"kill -9 $$", 137, "", ""},
		{"ls /proc/self/net/dev_snmp6 >/dev/null; grep -c eth0 /proc/net/dev", 0, "1\n", ""},
	} {
		var out, errs bytes.Buffer
		code, err := st.Exec(t.Context(), "h0", []string{"sh", "-c", c.script}, Stdio{In: strings.NewReader("hello"), Out: &out, Err: &errs})
		if err != nil || code != c.code || out.String() != c.out || errs.String() != c.err {
			t.Errorf("%s: status %d (%v), output %q, %q; want %d, %q, %q", c.script, code, err, &out, &errs, c.code, c.out, c.err)
		}
	}
	if _, err := st.Exec(t.Context(), "h9", []string{"true"}, Stdio{}); err == nil || !strings.Contains(err.Error(), `no node "h9"; there is: s0, h0, h1`) {
		t.Errorf("error %v, want one that lists the nodes", err)
	}
	if _, err := st.Exec(t.Context(), "h0", []string{"no-such-program-4711"}, Stdio{}); err == nil {
		t.Error("no error for a program that is not there")
	}
	if _, err := st.Exec(t.Context(), "h0", nil, Stdio{}); err == nil {
		t.Error("no error for no command")
	}
	wantThreadsHome(t)
}

// TestExecInterrupted: a command may finish its work when the context ends, and is
// killed if it does not end.
func TestExecInterrupted(t *testing.T) {
	testkit.Need(t, "sh")
	b := newBench(t)
	st := b.up(b.lab())
	for _, c := range []struct {
		script string
		code   int
		out    string
	}{
		{"trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.02; done", 3, "ready\nbye\n"},
		{"trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.02; done", 0, "ready\nbye\n"},
		{"trap '' INT; echo ready; while :; do sleep 0.02; done", 137, "ready\n"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out := cancelling{cancel: cancel}
		code, err := st.Exec(ctx, "h0", []string{"sh", "-c", c.script}, Stdio{Out: &out})
		if err != nil || code != c.code || out.text.String() != c.out {
			t.Errorf("%s: status %d (%v), output %q; want %d, %q", c.script, code, err, &out.text, c.code, c.out)
		}
	}
}

// cancelling keeps what is written and calls cancel at the first of it.
type cancelling struct {
	text   bytes.Buffer
	cancel context.CancelFunc
}

func (c *cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return c.text.Write(b)
}

func TestStopContinueKill(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	want := func(state string) {
		t.Helper()
		if got := st.Inspect().Nodes[1].Process; got != state {
			t.Errorf("h0 is %s, want %s", got, state)
		}
	}
	for _, c := range []struct {
		act  func(string) error
		want string
	}{{st.Stop, "stopped"}, {st.Continue, "running"}, {st.Kill, "dead"}} {
		if err := c.act("h0"); err != nil {
			t.Fatal(err)
		}
		want(c.want)
	}
	if err := st.Kill("h0"); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a second Kill: %v, want %v", err, os.ErrProcessDone)
	}
}

// TestAnotherProgramSeesTheLab: what Load returns serves as well as what Up did.
func TestAnotherProgramSeesTheLab(t *testing.T) {
	b := newBench(t)
	if _, err := Load(b.name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load without a lab: %v, want %v", err, fs.ErrNotExist)
	}
	up := b.up(b.lab())
	st, err := Load(b.name)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := json.Marshal(up.Inspect())
	two, err2 := json.Marshal(st.Inspect())
	if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("Inspect after Up:\n%s\nafter Load:\n%s", one, two)
	}
	if names, err := Labs(); err != nil || len(names) != 1 || names[0] != b.name {
		t.Errorf("Labs() = %v, %v, want %s", names, err, b.name)
	}
}

package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/testkit"
	"softswitch/link"
	"softswitch/node/observe"
	"softswitch/unit"
)

// lab is a fresh namespace for a switch, with two veths whose far ends the test
// holds, in a namespace of their own:
//
//	far[0] "f0" ═══ veth ═══ "p0" │ softswitch run │ "p1" ═══ veth ═══ "f1" far[1]
type lab struct {
	t       testing.TB
	in, out *testkit.Namespace // the switch's, and that of the far ends
	dir     string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{t: t, in: testkit.NewNamespace(t), out: testkit.NewNamespace(t), dir: t.TempDir()}
	l.addVeth(0)
	l.addVeth(1)
	return l
}

// addVeth makes port p's wire, with both ends up.
func (l *lab) addVeth(p int) {
	l.t.Helper()
	l.out.Veth(fmt.Sprintf("f%d", p), l.in, fmt.Sprintf("p%d", p))
}

// openFar opens the far end of port p's wire.
func (l *lab) openFar(p int) link.Link {
	l.t.Helper()
	var far *link.Packet
	if err := l.out.Do(func() (err error) {
		far, err = link.Open(fmt.Sprintf("f%d", p), link.Options{RingBytes: 4 << 20})
		return err
	}); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { far.Close() })
	return far
}

// program is a running softswitch.
type program struct {
	t       testing.TB
	cmd     *exec.Cmd
	out     bytes.Buffer // stdout and stderr; read it after done
	done    chan struct{}
	err     error  // of Wait; read it after done
	control string // its socket
}

// run starts softswitch with args in the switch's namespace. It is killed with the
// test, if it still runs.
func (l *lab) run(args ...string) *program {
	l.t.Helper()
	p := &program{t: l.t, cmd: exec.Command(softswitch(l.t), args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := l.in.Do(p.cmd.Start); err != nil {
		l.t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	l.t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
		if l.t.Failed() {
			l.t.Logf("softswitch %s said:\n%s", strings.Join(args, " "), p.out.String())
		}
	})
	return p
}

// runSwitch starts a switch over p0 and p1 with more lines of configuration, and
// waits until both links are up.
func (l *lab) runSwitch(more string) *program {
	l.t.Helper()
	socket, file := filepath.Join(l.dir, "control.sock"), filepath.Join(l.dir, "switch.yaml")
	text := fmt.Sprintf("name: s\nid: 1\nlive: {control: %s}\n%s\n", socket, more)
	if !strings.Contains(more, "ports:") {
		text += "ports: [{name: p0, peer: switch}, {name: p1, peer: switch}]\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
	p := l.run("run", "-c", file)
	p.control = socket
	p.awaitStats("both links to be up", func(s observe.Switch) bool { return s.Ports[0].Up && s.Ports[1].Up })
	return p
}

// awaitStats asks the switch for its snapshot until it is as wanted.
func (p *program) awaitStats(what string, ok func(observe.Switch) bool) (s observe.Switch) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		s = observe.Switch{}
		err := control.Call(p.control, "stats", nil, &s)
		if err == nil && ok(s) {
			return s
		}
		select {
		case <-p.done:
			p.t.Fatalf("softswitch ended while waiting for %s: %v\n%s", what, p.err, p.out.String())
		case <-time.After(2 * time.Millisecond): // the switch announces nothing
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("waited in vain for %s: %v, %+v", what, err, s)
		}
	}
}

// exit waits for the program's end and returns its exit status and what it said.
func (p *program) exit() (code int, said string) {
	p.t.Helper()
	await(p.t, p.done, "softswitch to end")
	var failed *exec.ExitError
	if p.err != nil && !errors.As(p.err, &failed) {
		p.t.Fatal(p.err)
	}
	return p.cmd.ProcessState.ExitCode(), p.out.String()
}

// built is the program, built once, in a folder that any user may enter.
var built struct {
	once sync.Once
	path string
	err  error
}

func softswitch(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		var dir string
		if dir, built.err = os.MkdirTemp("", "softswitch-test-"); built.err != nil {
			return
		}
		removeAtEnd = append(removeAtEnd, dir)
		if built.err = os.Chmod(dir, 0o755); built.err != nil {
			return
		}
		built.path = filepath.Join(dir, "softswitch")
		out, err := exec.Command("go", "build", "-o", built.path, "softswitch/cmd/softswitch").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	switch err := built.err; {
	case errors.Is(err, exec.ErrNotFound):
		t.Skip("builds the program: needs the go command")
	case err != nil && strings.Contains(err.Error(), "permission denied"):
		t.Skipf("builds the program: this user may not: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	return built.path
}

// wantForwarding lets a frame go from one port to the other until it arrives: a
// link that is up for one end may not yet be for the other.
func (l *lab) wantForwarding(fars [2]link.Link, from int, n uint64) {
	l.t.Helper()
	src, dst := fars[from], fars[1-from]
	got := make(chan error, 1)
	go func() {
		for {
			frames, err := readFrames(dst, 1)
			if err != nil || number(frames[0]) == n {
				got <- err
				return
			}
		}
	}()
	for {
		_, err := src.Write([][]byte{frame(unit.Port(from), unit.Port(1-from), n, true)})
		if err != nil && !errors.Is(err, link.ErrDown) && !errors.Is(err, link.ErrBusy) {
			l.t.Fatal(err)
		}
		select {
		case err := <-got:
			if err != nil {
				l.t.Fatalf("frame %d never came from port %d: %v", n, from, err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

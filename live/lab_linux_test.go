package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"softswitch/internal/control"
	"softswitch/internal/unit"
	"softswitch/link"
	"softswitch/observe"
)

// lab is a fresh namespace for a switch, with two veths whose far ends the test
// holds, in a namespace of their own:
//
//	far[0] "f0" ═══ veth ═══ "p0" │ softswitch run │ "p1" ═══ veth ═══ "f1" far[1]
type lab struct {
	t            testing.TB
	inner, outer netns.NsHandle // the switch's, and that of the far ends
	in, out      *netlink.Handle
	dir          string
}

// needRoot skips a test that cannot run as another user.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("makes network namespaces and veths: needs root")
	}
}

func newLab(t testing.TB) *lab {
	t.Helper()
	needRoot(t)
	l := &lab{t: t, inner: newNamespace(t), outer: newNamespace(t), dir: t.TempDir()}
	l.in, l.out = handleIn(t, l.inner), handleIn(t, l.outer)
	l.addVeth(0)
	l.addVeth(1)
	return l
}

// addVeth makes port p's wire, with both ends up.
func (l *lab) addVeth(p int) {
	l.t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("p%d", p)
	far := fmt.Sprintf("f%d", p)
	if err := l.in.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsFd(int(l.outer))}); err != nil {
		l.t.Fatalf("add veth: %v", err)
	}
	l.setUp(l.out, far, true)
	l.setUp(l.in, attrs.Name, true)
}

func (l *lab) setUp(h *netlink.Handle, name string, up bool) {
	l.t.Helper()
	i, err := h.LinkByName(name)
	if err == nil && up {
		err = h.LinkSetUp(i)
	} else if err == nil {
		err = h.LinkSetDown(i)
	}
	if err != nil {
		l.t.Fatalf("set %s up (%v): %v", name, up, err)
	}
}

func (l *lab) delete(h *netlink.Handle, name string) {
	l.t.Helper()
	i, err := h.LinkByName(name)
	if err == nil {
		err = h.LinkDel(i)
	}
	if err != nil {
		l.t.Fatalf("delete %s: %v", name, err)
	}
}

// openFar opens the far end of port p's wire.
func (l *lab) openFar(p int) link.Link {
	l.t.Helper()
	var (
		far *link.Packet
		err error
	)
	inNamespace(l.t, l.outer, func() { far, err = link.Open(fmt.Sprintf("f%d", p), link.Options{RingBytes: 1 << 20}) })
	if err != nil {
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
	var err error
	inNamespace(l.t, l.inner, func() { err = p.cmd.Start() })
	if err != nil {
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
		text += "ports: [{name: p0}, {name: p1}]\n"
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

// --- namespaces ---

// newNamespace makes a network namespace without a name: it ends with its handle,
// its sockets and its processes. IPv6 is off, so that nothing but the test sends.
func newNamespace(t testing.TB) (ns netns.NsHandle) {
	t.Helper()
	onRestoredThread(t, func() {
		var err error
		if ns, err = netns.New(); err != nil {
			t.Errorf("new network namespace: %v", err)
			return
		}
		for _, which := range []string{"all", "default"} {
			// A kernel without IPv6 has no such file and needs none.
			_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}

func handleIn(t testing.TB, ns netns.NsHandle) *netlink.Handle {
	t.Helper()
	h, err := netlink.NewHandleAt(ns)
	if err != nil {
		t.Fatalf("netlink: %v", err)
	}
	t.Cleanup(h.Close)
	return h
}

// inNamespace runs f in ns. f must start no goroutine.
func inNamespace(t testing.TB, ns netns.NsHandle, f func()) {
	t.Helper()
	onRestoredThread(t, func() {
		if err := netns.Set(ns); err != nil {
			t.Errorf("enter namespace: %v", err)
			return
		}
		f()
	})
	if t.Failed() {
		t.FailNow()
	}
}

// onRestoredThread runs f, which may change the thread's namespace, and puts the
// thread back. A thread that cannot be put back stays locked, so that no other
// goroutine runs on it.
func onRestoredThread(t testing.TB, f func()) {
	t.Helper()
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		t.Fatalf("this thread's namespace: %v", err)
	}
	defer home.Close()
	f()
	if err := netns.Set(home); err != nil {
		t.Fatalf("restore namespace: %v", err)
	}
	runtime.UnlockOSThread()
}

package netnslab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// roleVariable makes the test binary act as something else than the tests.
const roleVariable = "NETNSLAB_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "node":
		actAsNode()
	case "lateness":
		tellLateness()
	case "lock":
		actAsLocker(os.Args[1])
	case "looker":
		looker()
	case "up":
		actAsLab(func(lab Lab) error { _, err := Up(context.Background(), lab, os.Stderr); return err })
	case "down":
		actAsLab(func(lab Lab) error { return Down(lab.Name, os.Stderr) })
	}
	os.Exit(0)
}

// actAsNode listens on control.sock and runs until SIGTERM.
func actAsNode() {
	done := make(chan os.Signal, 1)
	signal.Notify(done, syscall.SIGTERM)
	if _, err := net.Listen("unix", "control.sock"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	<-done
}

// Variables of a program that acts as the lab command and dies on its way.
const (
	labVariable     = "NETNSLAB_TEST_LAB"     // JSON of the Lab
	backlogVariable = "NETNSLAB_TEST_BACKLOG" // file in place of the host's setting
	dieVariable     = "NETNSLAB_TEST_DIE"     // number of the checkpoint at which it is killed
)

func actAsLab(act func(Lab) error) {
	var lab Lab
	if err := json.Unmarshal([]byte(os.Getenv(labVariable)), &lab); err != nil {
		panic(err)
	}
	die, err := strconv.Atoi(os.Getenv(dieVariable))
	if err != nil {
		panic(err)
	}
	backlogPath = os.Getenv(backlogVariable)
	backlogHome = filepath.Dir(backlogPath)
	for _, v := range []string{roleVariable, labVariable, backlogVariable, dieVariable} {
		os.Unsetenv(v)
	}
	var one sync.Mutex // the nodes' steps are side by side
	checkpoint = func() {
		one.Lock()
		defer one.Unlock()
		if die--; die < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if err := act(lab); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// createNamespace makes a namespace of that name, which is told to record before.
func createNamespace(name string, record func(inode, cookie uint64) error) (netns.NsHandle, error) {
	ns, inode, cookie, err := newNamespace()
	if err == nil {
		err = errors.Join(record(inode, cookie), nameNamespace(ns, name))
	}
	return ns, err
}

// needRoot skips a test that needs rights that this program lacks.
func needRoot(t *testing.T) {
	t.Helper()
	if c := checkCapabilities(); !c.OK {
		t.Skipf("needs root: %s", c.Detail)
	}
	if c := checkVeth(); !c.OK {
		t.Skipf("needs veth: %s", c.Detail)
	}
}

// bench is a test's own run directory, backlog and lab name. When the test ends,
// it removes the lab and checks that nothing is left.
type bench struct {
	*testing.T
	name    string
	backlog string
}

var benches atomic.Int32

func newBench(t *testing.T) *bench {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	t.Setenv(RunDirVariable, dir)
	b := &bench{T: t, name: fmt.Sprintf("t%d-%d", os.Getpid(), benches.Add(1)), backlog: filepath.Join(t.TempDir(), "backlog")}
	if err := os.WriteFile(b.backlog, []byte("1000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	host, home := backlogPath, backlogHome
	backlogPath, backlogHome = b.backlog, filepath.Dir(b.backlog)
	t.Cleanup(func() {
		b.down()
		b.wantNothing()
		b.wipe()
		backlogPath, backlogHome = host, home
	})
	return b
}

// wipe takes away what a test that failed has left, by other means than the state.
func (b *bench) wipe() {
	b.Helper()
	for _, path := range b.processes() {
		if pid, err := strconv.Atoi(strings.Split(path, "/")[2]); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, path := range b.namespaces() {
		unix.Unmount(path, unix.MNT_DETACH) // fails on a name without a namespace
		if err := os.Remove(path); err != nil {
			b.Error(err)
		}
	}
}

// lab is h0 -- s0 -- h1, each with a process that listens on a control socket.
func (b *bench) lab() Lab {
	node := func(name, kind string) Node {
		return Node{
			Name: name, Kind: kind, Command: []string{self(b.T)}, Env: []string{roleVariable + "=node", "GORACE=atexit_sleep_ms=0"},
			Files: []File{{Path: "etc/node.yaml", Data: []byte("name: " + name + "\n")}}, Ready: "control.sock",
		}
	}
	host := func(name, address string) Node {
		n := node(name, "host")
		n.Addresses = []Address{{"eth0", address}}
		n.Routes = []Route{{"default", "10.9.0.1"}}
		return n
	}
	return Lab{
		Name:  b.name,
		Nodes: []Node{node("s0", "switch"), host("h0", "10.9.0.2/24"), host("h1", "10.9.0.3/24")},
		Links: []Link{
			{End{"s0", "to-h0", "02:00:00:00:00:01"}, End{"h0", "eth0", "02:00:00:00:00:02"}, 1500},
			{End{"s0", "to-h1", "02:00:00:00:00:03"}, End{"h1", "eth0", "02:00:00:00:00:04"}, 1400},
		},
	}
}

func self(t testing.TB) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (b *bench) up(lab Lab) *State {
	b.Helper()
	var text bytes.Buffer
	st, err := Up(b.Context(), lab, &text)
	b.Logf("up:\n%s", &text)
	if err != nil {
		b.Fatal(err)
	}
	return st
}

func (b *bench) down() {
	b.Helper()
	var text bytes.Buffer
	err := Down(b.name, &text)
	b.Logf("down:\n%s", &text)
	if err != nil {
		b.Error(err)
	}
}

// wantNothing checks by other means than the state that the lab has left nothing:
// no name, no process with our run directory in its environment, no interface in
// the host, no file, no thread away from home, the backlog as it was.
func (b *bench) wantNothing() {
	b.Helper()
	if names := b.namespaces(); len(names) > 0 {
		b.Errorf("left behind: namespaces %v", names)
	}
	if pids := b.processes(); len(pids) > 0 {
		b.Errorf("left behind: processes %v", pids)
	}
	links, err := netlink.LinkList()
	if err != nil {
		b.Error(err)
	}
	for _, l := range links {
		if name := l.Attrs().Name; name == "to-h0" || name == "to-h1" || name == "eth0" && l.Type() == "veth" && l.Attrs().Alias != "" {
			b.Errorf("left behind: link %s %q in the host", name, l.Attrs().Alias)
		}
	}
	files, err := os.ReadDir(RunDir())
	if err != nil {
		b.Error(err)
	}
	if len(files) > 0 {
		b.Errorf("left behind: %v in %s", files, RunDir())
	}
	b.wantBacklog(1000)
	if _, err := os.Stat(backlogRecordPath()); err == nil {
		b.Error("left behind: the record of the backlog")
	}
	wantThreadsHome(b)
}

func (b *bench) namespaces() []string {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(NamespaceDir, b.name+"-*"))
	if err != nil {
		b.Fatal(err)
	}
	return names
}

// processes returns the pids that have our run directory in their environment.
func (b *bench) processes() []string {
	b.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(all, func(path string) bool {
		env, err := os.ReadFile(path)
		return err != nil || !strings.Contains("\x00"+string(env), "\x00"+RunDirVariable+"="+RunDir()+"\x00")
	})
}

func (b *bench) wantBacklog(want int) {
	b.Helper()
	text, err := os.ReadFile(b.backlog)
	if err != nil {
		b.Fatal(err)
	}
	if got := strings.TrimSpace(string(text)); got != strconv.Itoa(want) {
		b.Errorf("backlog is %s, want %d", got, want)
	}
}

// wantThreadsHome checks that no thread of this program has stayed in a namespace.
func wantThreadsHome(t testing.TB) {
	t.Helper()
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob("/proc/self/task/*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range threads {
		if at, err := os.Readlink(path); err == nil && at != home {
			t.Errorf("%s is %s, want %s", path, at, home)
		}
	}
}

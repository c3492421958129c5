package testkit

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
)

// NeedRoot skips a test that needs root if the user is not root.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("makes network namespaces and interfaces: needs root")
	}
}

// Namespace is a network namespace without a name.
type Namespace struct {
	NL *netlink.Handle // in the namespace
	t  testing.TB
	ns netns.NsHandle
}

// NewNamespace makes a namespace, or skips the test without root. It ends when nothing uses it
// any more: the test, a socket, a process. IPv6 is off in it, so that only the test
// sends.
func NewNamespace(t testing.TB) *Namespace {
	t.Helper()
	NeedRoot(t)
	n := &Namespace{t: t}
	var err error
	n.ns, err = netspace.New(func(netns.NsHandle) error {
		_ = netspace.DisableIPv6() // a container may not let it
		return nil
	})
	if err != nil {
		t.Fatalf("new network namespace: %v", err)
	}
	t.Cleanup(func() { n.ns.Close() })
	if n.NL, err = netlink.NewHandleAt(n.ns); err != nil {
		t.Fatalf("netlink: %v", err)
	}
	t.Cleanup(n.NL.Close)
	return n
}

// lastIndex is the interface index of the last Veth's near end, above all that the kernel gives.
var lastIndex atomic.Int32

func init() { lastIndex.Store(10_000) }

// Veth joins the new interface name with the new interface far of peer. Both are up. Their
// indices differ, so that the kernel tells of a carrier at once, as in a lab.
func (n *Namespace) Veth(name string, peer *Namespace, far string) {
	n.t.Helper()
	n.veth(name, peer, far, int(lastIndex.Add(1)))
}

// LateVeth is Veth with the indices that the kernel gives. The first of two new namespaces are equal,
// and the kernel takes note of a carrier up to a second late.
func (n *Namespace) LateVeth(name string, peer *Namespace, far string) {
	n.t.Helper()
	n.veth(name, peer, far, 0)
}

func (n *Namespace) veth(name string, peer *Namespace, far string, index int) {
	n.t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Index = name, index
	if err := n.NL.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsFd(int(peer.ns))}); err != nil {
		n.t.Fatalf("add veth: %v", err)
	}
	n.SetUp(name)
	peer.SetUp(far)
	n.AwaitRunning(name)
	peer.AwaitRunning(far)
}

// Link is the interface of that name, as it is now.
func (n *Namespace) Link(name string) netlink.Link {
	n.t.Helper()
	l, err := n.NL.LinkByName(name)
	if err != nil {
		n.t.Fatalf("find %s: %v", name, err)
	}
	return l
}

// SetUp sets an interface up.
func (n *Namespace) SetUp(name string) { n.t.Helper(); n.change("set up", name, n.NL.LinkSetUp) }

// AwaitRunning waits until an interface can send: a veth can a little after its far end
// has come up. The kernel may answer before it has completed that change.
func (n *Namespace) AwaitRunning(name string) {
	n.t.Helper()
	for n.Link(name).Attrs().OperState != netlink.OperUp {
		runtime.Gosched()
	}
}

// SetDown sets an interface down.
func (n *Namespace) SetDown(name string) { n.t.Helper(); n.change("set down", name, n.NL.LinkSetDown) }

// Rename gives an interface another name, while it is down.
func (n *Namespace) Rename(name, to string) {
	n.t.Helper()
	n.SetDown(name)
	n.change("rename", name, func(l netlink.Link) error { return n.NL.LinkSetName(l, to) })
	n.SetUp(to)
}

// Delete deletes an interface, and a veth's far end with it.
func (n *Namespace) Delete(name string) { n.t.Helper(); n.change("delete", name, n.NL.LinkDel) }

func (n *Namespace) change(what, name string, change func(netlink.Link) error) {
	n.t.Helper()
	if err := change(n.Link(name)); err != nil {
		n.t.Fatalf("%s %s: %v", what, name, err)
	}
}

// Do runs f in the namespace and returns its error. Processes that f starts are in the
// namespace, goroutines are not.
func (n *Namespace) Do(f func() error) error { return netspace.Here(netspace.Enter(n.ns), f) }

// Enter moves the calling goroutine into the namespace for good: its thread ends with
// it. It may be called from any goroutine.
func (n *Namespace) Enter() error {
	runtime.LockOSThread() // and never unlocked
	return netns.Set(n.ns)
}

// WrongSums is how many TCP segments with a wrong checksum came to the namespace's stack.
func (n *Namespace) WrongSums() (segments int) {
	n.t.Helper()
	if err := n.Do(func() error {
		p, err := procfs.NewProc(unix.Gettid())
		if err != nil {
			return err
		}
		snmp, err := p.Snmp()
		if err == nil {
			segments = int(*snmp.Tcp.InCsumErrors)
		}
		return err
	}); err != nil {
		n.t.Fatal(err)
	}
	return segments
}

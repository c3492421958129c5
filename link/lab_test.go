package link

import (
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// wire is a veth pair in two fresh network namespaces that end with the test:
//
//	namespace A, "left" ═════ veth ═════ "right", namespace B
type wire struct {
	t        testing.TB
	nsA, nsB netns.NsHandle
	a, b     *netlink.Handle
}

// newWire makes a pair that is up. It needs root.
func newWire(t testing.TB) *wire {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("makes network namespaces and veths: needs root")
	}
	w := &wire{t: t, nsA: newNamespace(t), nsB: newNamespace(t)}
	w.a, w.b = handleIn(t, w.nsA), handleIn(t, w.nsB)
	w.addVeth()
	return w
}

func (w *wire) addVeth() {
	w.t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "left"
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "right", PeerNamespace: netlink.NsFd(int(w.nsB))}
	if err := w.a.LinkAdd(veth); err != nil {
		w.t.Fatalf("add veth: %v", err)
	}
	w.setUp(w.a, "left")
	w.setUp(w.b, "right")
}

func (w *wire) link(h *netlink.Handle, name string) netlink.Link {
	w.t.Helper()
	l, err := h.LinkByName(name)
	if err != nil {
		w.t.Fatalf("find %s: %v", name, err)
	}
	return l
}

func (w *wire) setUp(h *netlink.Handle, name string) {
	w.t.Helper()
	if err := h.LinkSetUp(w.link(h, name)); err != nil {
		w.t.Fatalf("set %s up: %v", name, err)
	}
}

func (w *wire) setDown(h *netlink.Handle, name string) {
	w.t.Helper()
	if err := h.LinkSetDown(w.link(h, name)); err != nil {
		w.t.Fatalf("set %s down: %v", name, err)
	}
}

func (w *wire) delete(h *netlink.Handle, name string) {
	w.t.Helper()
	if err := h.LinkDel(w.link(h, name)); err != nil {
		w.t.Fatalf("delete %s: %v", name, err)
	}
}

// openLeft and openRight open the two ends.
func (w *wire) openLeft(opt Options) *Packet  { w.t.Helper(); return w.open(w.nsA, "left", opt) }
func (w *wire) openRight(opt Options) *Packet { w.t.Helper(); return w.open(w.nsB, "right", opt) }

func (w *wire) open(ns netns.NsHandle, name string, opt Options) *Packet {
	w.t.Helper()
	var (
		p   *Packet
		err error
	)
	inNamespace(w.t, ns, func() { p, err = Open(name, opt) })
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { p.Close() })
	return p
}

// newNamespace makes a network namespace without a name: it ends with its handle
// and its sockets. IPv6 is off in it, so that nothing but the test sends.
func newNamespace(t testing.TB) netns.NsHandle {
	t.Helper()
	var ns netns.NsHandle
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

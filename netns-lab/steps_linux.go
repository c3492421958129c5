package netnslab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
	"softswitch/link/offload"
)

// builder carries out steps. It belongs to one goroutine.
type builder struct {
	st       *State
	seats    map[string]*seat // by node
	kids     map[int]process  // processes started, by handle
	progress io.Writer
}

// seat is an open namespace with a netlink socket in it: the socket stays in the
// namespace, whatever thread uses it.
type seat struct {
	ns netns.NsHandle
	nl *netlink.Handle
}

// newSeat opens the socket. It takes ownership of ns.
func newSeat(ns netns.NsHandle) (*seat, error) {
	nl, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		ns.Close()
		return nil, err
	}
	return &seat{ns, nl}, nil
}

// seatAt opens the namespace at a path.
func seatAt(path string) (*seat, error) {
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return nil, err
	}
	return newSeat(ns)
}

// seat opens the node's namespace.
func (n *NodeState) seat() (*seat, error) {
	ns, err := n.open()
	if err != nil {
		return nil, err
	}
	return newSeat(ns)
}

func (s *seat) close() {
	s.nl.Close()
	s.ns.Close()
}

// close closes everything the builder has open. It may be called twice.
func (b *builder) close() {
	for node, s := range b.seats {
		s.close()
		delete(b.seats, node)
	}
	for fd := range b.kids {
		unix.Close(fd)
		delete(b.kids, fd)
	}
}

func (s raiseBacklog) do(_ context.Context, b *builder) error {
	return raiseTo(s.Least, b.st.dir, b.st.Boot, b.progress)
}

// makeNamespaces makes the namespaces of all nodes, still without names, and records them.
func (b *builder) makeNamespaces() error {
	nodes := b.st.Nodes
	seats := make([]*seat, len(nodes))
	err := beside(len(nodes), func(i int) error {
		ns, inode, cookie, err := newNamespace()
		if err != nil {
			return err
		}
		nodes[i].Inode, nodes[i].Cookie = inode, cookie
		seats[i], err = newSeat(ns)
		return err
	})
	for i, s := range seats {
		if s != nil {
			b.seats[nodes[i].Name] = s
		}
	}
	return errors.Join(err, b.st.save())
}

func (s addNamespace) do(_ context.Context, b *builder) error {
	return nameNamespace(b.seats[s.Node].ns, s.Namespace)
}

func (s disableIPv6) do(_ context.Context, b *builder) error {
	return inside(b.seats[s.Node].ns, func() error {
		for _, scope := range []string{"all", "default"} {
			err := os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/disable_ipv6", []byte("1"), 0)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6 needs no setting
				return err
			}
		}
		return nil
	})
}

func (s upLoopback) do(_ context.Context, b *builder) error {
	nl := b.seats[s.Node].nl
	lo, err := nl.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := nl.LinkSetAlias(lo, markOf(s.Dir)); err != nil {
		return err
	}
	return nl.LinkSetUp(lo)
}

func (s addLink) do(_ context.Context, b *builder) error {
	macA, err := net.ParseMAC(s.A.MAC)
	if err != nil {
		return err
	}
	macB, err := net.ParseMAC(s.B.MAC)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs() // a zero LinkAttrs would ask for a queue of length 0
	attrs.Name, attrs.Index, attrs.MTU, attrs.HardwareAddr = s.A.Iface, s.Index, s.MTU, macA
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerMTU, veth.PeerHardwareAddr = s.B.Iface, uint32(s.MTU), macB
	veth.PeerNamespace = netlink.NsFd(int(b.seats[s.B.Node].ns))
	return b.seats[s.A.Node].nl.LinkAdd(veth)
}

func (s offloadsOff) do(_ context.Context, b *builder) error {
	return inside(b.seats[s.Node].ns, func() error { return offload.Off(s.Iface) })
}

func (s upLink) do(_ context.Context, b *builder) error {
	nl := b.seats[s.Node].nl
	link, err := nl.LinkByName(s.End.Iface)
	if err != nil {
		return err
	}
	if err := nl.LinkSetAlias(link, s.alias()); err != nil {
		return err
	}
	return nl.LinkSetUp(link)
}

func (s addAddress) do(_ context.Context, b *builder) error {
	nl := b.seats[s.Node].nl
	link, err := nl.LinkByName(s.Iface)
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(s.CIDR)
	if err != nil {
		return err
	}
	addr.Broadcast = net.IPv4zero // none, as `ip addr add` has it without "brd"
	return nl.AddrAdd(link, addr)
}

func (s addRoute) do(_ context.Context, b *builder) error {
	route := &netlink.Route{Gw: net.ParseIP(s.Via)}
	if s.Dst != "default" {
		_, dst, err := net.ParseCIDR(s.Dst)
		if err != nil {
			return err
		}
		route.Dst = dst
	}
	return b.seats[s.Node].nl.RouteAdd(route)
}

func (s makeDir) do(context.Context, *builder) error { return safefile.MkdirAll(s.Dir, 0o755) }

func (s writeFile) do(context.Context, *builder) error {
	path := filepath.Join(s.Dir, s.Path)
	if err := safefile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return safefile.WriteFile(path, s.Data, s.mode())
}

func (s start) do(_ context.Context, b *builder) error {
	ns := netns.None()
	if seat := b.seats[s.Node]; seat != nil {
		ns = seat.ns
	}
	pid, handle, err := spawn(ns, s, b.st.Token)
	if err != nil {
		return err
	}
	checkpoint()
	stat, err := readStat(pid)
	if err != nil {
		unix.Close(handle)
		return fmt.Errorf("process %s: %w", strings.Join(s.Command, " "), err)
	}
	b.kids[handle] = process{pid, stat.Start}
	for i := range b.st.Nodes {
		if n := &b.st.Nodes[i]; n.Name == s.Node || n.Hosting != 0 && hostingPlace(b.st.dir, n.Hosting).Node == s.Node {
			n.PID, n.Start = pid, stat.Start
		}
	}
	return b.st.save()
}

func (s await) do(ctx context.Context, b *builder) error {
	return awaitReady(ctx, filepath.Join(s.Dir, s.Ready), b.kids, s.Limit)
}

// allRun returns a *deadError if a process has ended.
func (b *builder) allRun() error {
	for _, n := range b.st.Nodes {
		if n.PID != 0 && n.process().status() == "dead" {
			return &deadError{n.PID}
		}
	}
	return nil
}

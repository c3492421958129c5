package netnslab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
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

// makeNamespaces makes the namespaces of all nodes, still without names, and records them.
func (b *builder) makeNamespaces() error {
	nodes := b.st.Nodes
	seats := make([]*seat, len(nodes))
	err := sideBySide(len(nodes), func(i int) error {
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

// disableIPv6 keeps IPv6 off the interfaces that will be there.
func (s *seat) disableIPv6() error { return netspace.Inside(s.ns, netspace.DisableIPv6) }

// raise gives an interface an alias and sets it up.
func (s *seat) raise(iface, alias string) error {
	link, err := s.nl.LinkByName(iface)
	if err != nil {
		return err
	}
	if err := s.nl.LinkSetAlias(link, alias); err != nil {
		return err
	}
	return s.nl.LinkSetUp(link)
}

// addLink makes end A of a link here, with this index, and end B at peer.
func (s *seat) addLink(l Link, index int, peer *seat) error {
	macA, errA := net.ParseMAC(l.A.MAC)
	macB, errB := net.ParseMAC(l.B.MAC)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs() // a zero LinkAttrs would ask for a queue of length 0
	attrs.Name, attrs.Index, attrs.MTU, attrs.HardwareAddr = l.A.Iface, index, l.MTU, macA
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerMTU, veth.PeerHardwareAddr = l.B.Iface, uint32(l.MTU), macB
	veth.PeerNamespace = netlink.NsFd(int(peer.ns))
	return s.nl.LinkAdd(veth)
}

func (s *seat) addAddress(a Address) error {
	link, err := s.nl.LinkByName(a.Iface)
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(a.CIDR)
	if err != nil {
		return err
	}
	addr.Broadcast = net.IPv4zero // none, as `ip addr add` has it without "brd"
	return s.nl.AddrAdd(link, addr)
}

func (s *seat) addRoute(r Route) error {
	route := &netlink.Route{Gw: net.ParseIP(r.Via)}
	if r.Dst != "default" {
		_, dst, err := net.ParseCIDR(r.Dst)
		if err != nil {
			return err
		}
		route.Dst = dst
	}
	return s.nl.RouteAdd(route)
}

// start starts a process and records it.
func (b *builder) start(s start) error {
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
	b.kids[handle] = process{pid, stat.Starttime}
	for i := range b.st.Nodes {
		if n := &b.st.Nodes[i]; n.Name == s.Node || n.Hosting != 0 && hostingPlace(b.st.dir, n.Hosting).Node == s.Node {
			n.PID, n.Start = pid, stat.Starttime
		}
	}
	return b.st.save()
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

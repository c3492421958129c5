package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"softswitch/internal/netspace"
	"softswitch/link/offload"
	netnslab "softswitch/netns-lab"
)

// room is a network namespace without a name, with a netlink socket in it. The kernel removes it
// after close, when its last process has ended.
type room struct {
	ns netns.NsHandle
	nl *netlink.Handle
}

// newRoom creates a namespace in which the kernel itself sends nothing.
func newRoom() (r room, err error) {
	r.ns, err = netspace.New(func(netns.NsHandle) error { return netspace.DisableIPv6() })
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; run with sudo", err)
	}
	if err != nil {
		return r, fmt.Errorf("new network namespace: %w", err)
	}
	if r.nl, err = netlink.NewHandleAt(r.ns); err != nil {
		r.ns.Close()
	}
	return r, err
}

func (r room) close() {
	r.nl.Close()
	r.ns.Close()
}

// rooms creates n namespaces.
func rooms(n int) ([]room, error) {
	var rs []room
	for range n {
		r, err := newRoom()
		if err != nil {
			closeRooms(rs)
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}

func closeRooms(rs []room) {
	for _, r := range rs {
		r.close()
	}
}

// nearIndex is the interface index of end A of a wire. It is above all indexes that the kernel assigns
// to ends B: the kernel reports a carrier at once only if the two indexes differ.
const nearIndex = 10_000

// wire joins interface nameA of a with nameB of b by a veth pair, up, without offloads, so that whole
// frames are sent. A room may be a of one wire at most.
func wire(a room, nameA string, b room, nameB string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Index = nameA, nearIndex
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: nameB, PeerNamespace: netlink.NsFd(int(b.ns))}
	if err := a.nl.LinkAdd(pair); err != nil {
		return fmt.Errorf("add veth %s-%s: %w", nameA, nameB, err)
	}
	for _, end := range []struct {
		room
		name string
	}{{a, nameA}, {b, nameB}} {
		if err := within(end.ns, anyCPU, func() error { return offload.Off(end.name) }); err != nil {
			return err
		}
		if err := netnslab.SetInterface(end.nl, end.name, true); err != nil {
			return fmt.Errorf("set %s up: %w", end.name, err)
		}
	}
	return nil
}

// bed is the setup in which a DUT is measured.
type bed struct {
	rooms             []room
	source, dut, sink room
}

// newBed creates the three namespaces and the two wires src-p0 and p1-dst.
func newBed() (*bed, error) {
	rs, err := rooms(3)
	if err != nil {
		return nil, err
	}
	b := &bed{rooms: rs, source: rs[0], dut: rs[1], sink: rs[2]}
	if err := errors.Join(wire(b.source, "src", b.dut, "p0"), wire(b.dut, "p1", b.sink, "dst")); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bed) close() { closeRooms(b.rooms) }

// offered returns the number of frames given to p0, delivered that of dst. A veth counts a frame
// only if the processor of the far end had room for it.
func (b *bed) offered() (uint64, error)   { return received(b.dut, "p0") }
func (b *bed) delivered() (uint64, error) { return received(b.sink, "dst") }

func received(r room, name string) (uint64, error) {
	l, err := r.nl.LinkByName(name)
	if err != nil {
		return 0, fmt.Errorf("counters of %s: %w", name, err)
	}
	return l.Attrs().Statistics.RxPackets, nil
}

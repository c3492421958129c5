package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/ether"
	"softswitch/link"
)

// ringBytes of a port's receive ring: 1024 frames of 1500 bytes.
const ringBytes = 2 << 20

// OpenPacket opens an interface of this namespace with AF_PACKET.
func OpenPacket(p Port) (link.Link, error) {
	return link.Open(p.Name, link.Options{RingBytes: ringBytes})
}

// watchNetlink tells update the state of each named interface, now and whenever
// it changes, until ctx ends.
func watchNetlink(ctx context.Context, names []string, update func(LinkState)) error {
	updates := make(chan netlink.LinkUpdate, 64)
	failed := make(chan error, 1)
	done := make(chan struct{})
	defer close(done)
	err := netlink.LinkSubscribeWithOptions(updates, done, netlink.LinkSubscribeOptions{
		ListExisting:  true,
		ErrorCallback: func(err error) {
			select {
			case failed <- err:
			default: // one is enough
			}
		},
	})
	if err != nil {
		return fmt.Errorf("netlink: watch links: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return fmt.Errorf("netlink: watch links: %w", err)
		case u, ok := <-updates:
			if !ok {
				return errors.New("netlink: watch links: the socket was closed")
			}
			if name := u.Attrs().Name; slices.Contains(names, name) {
				update(linkState(u))
			}
		}
	}
}

func linkState(u netlink.LinkUpdate) LinkState {
	a := u.Attrs()
	s := LinkState{Name: a.Name, MAC: mac(a.HardwareAddr)}
	if u.Header.Type == unix.RTM_DELLINK {
		return s
	}
	s.Index = a.Index
	const running = unix.IFF_UP | unix.IFF_LOWER_UP
	s.Running = u.IfInfomsg.Flags&running == running
	return s
}

func mac(a net.HardwareAddr) ether.MAC {
	if len(a) != 6 {
		return 0
	}
	return ether.ReadMAC(a)
}

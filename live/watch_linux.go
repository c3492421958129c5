package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/ether"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

// ringBytes is the size of a port's receive ring: 1024 frames of any length with an MTU
// of 1500. With jumboRingBytes they are 448 with one of 9216. One in a crowd has a quarter:
// the memory is the kernel's, and to get and to return it takes most of the time in which a
// large fabric comes up and goes.
const (
	ringBytes      = 2 << 20
	jumboRingBytes = 4 << 20
	crowdedShare   = 4
)

// usualMTU is the MTU that an interface has unless somebody sets another.
const usualMTU = 1500

// OpenPacket opens an interface of this namespace with AF_PACKET. An interface whose MTU
// is below that of a port of jumbo frames is refused. The link is deaf until the node begins to read from it.
func OpenPacket(p Port) (link.Link, error) {
	opt := link.Options{RingBytes: ringBytes, Polled: p.Polled, Deaf: true, Offload: p.offload}
	if p.MTU > usualMTU {
		opt.RingBytes, opt.MTU = jumboRingBytes, p.MTU
	}
	if p.Crowded {
		opt.RingBytes /= crowdedShare
	}
	if p.RingBytes > 0 {
		opt.RingBytes = p.RingBytes
	}
	return link.Open(p.Name, opt)
}

// watchRetry is how long watchNetlink waits before it subscribes again.
const watchRetry = 20 * time.Millisecond

// errMissed says that netlink lost messages: too many came at once, or links changed
// while they were being listed.
var errMissed = errors.New("netlink: link messages were missed")

// here runs fn in the namespace of this process.
func here(fn func() error) error { return fn() }

// lookNetlink asks netlink once for the state of each named interface, in the namespace where within
// runs functions.
func lookNetlink(within func(fn func() error) error, names []string) (states []LinkState, err error) {
	err = within(func() error {
		for _, name := range names {
			l, err := netlink.LinkByName(name)
			_, gone := errors.AsType[netlink.LinkNotFoundError](err)
			switch {
			case gone:
				states = append(states, LinkState{Name: name})
			case err != nil:
				return fmt.Errorf("netlink: look at %q: %w", name, err)
			default:
				states = append(states, linkState(l.Attrs()))
			}
		}
		return nil
	})
	return states, err
}

// watchNetlink reports the state of each named interface to update, now and whenever it
// changes, until ctx ends. If netlink loses messages it starts over.
func watchNetlink(ctx context.Context, within func(fn func() error) error, names []string, update func(LinkState)) error {
	for {
		err := watchOnce(ctx, within, names, update)
		if !errors.Is(err, errMissed) {
			return err
		}
		if err := timer.Sleep(ctx, watchRetry); err != nil {
			return err
		}
	}
}

// watchOnce is watchNetlink up to the first lost message.
func watchOnce(ctx context.Context, within func(fn func() error) error, names []string, update func(LinkState)) error {
	updates := make(chan netlink.LinkUpdate, 64)
	failed := make(chan error, 1)
	done := make(chan struct{})
	var missing []string // the list does not mention them
	err := within(func() error {
		err := netlink.LinkSubscribeWithOptions(updates, done, netlink.LinkSubscribeOptions{
			ListExisting: true,
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
		for _, name := range names {
			_, err := netlink.LinkByName(name)
			if _, gone := errors.AsType[netlink.LinkNotFoundError](err); gone {
				missing = append(missing, name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer func() {
		close(done)
		for range updates { // wait until the subscription's goroutine has ended
		}
	}()
	for _, name := range missing {
		update(LinkState{Name: name})
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return fmt.Errorf("%w: %w", errMissed, err)
		case u, ok := <-updates:
			switch {
			case !ok:
				return errMissed
			case u.IfInfomsg.Family == unix.AF_BRIDGE: // about a bridge port; its DELLINK does not mean that the interface is gone
			case slices.Contains(names, u.Attrs().Name):
				s := linkState(u.Attrs())
				if u.Header.Type == unix.RTM_DELLINK {
					s.Index, s.Running = 0, false
				}
				update(s)
			}
		}
	}
}

func linkState(a *netlink.LinkAttrs) LinkState {
	// With only the carrier, a veth has no queue yet and drops what it should send.
	const running = unix.IFF_UP | unix.IFF_LOWER_UP | unix.IFF_RUNNING
	return LinkState{Name: a.Name, Index: a.Index, Running: a.RawFlags&running == running, MAC: mac(a.HardwareAddr)}
}

func mac(a net.HardwareAddr) unit.MAC {
	if len(a) != 6 {
		return 0
	}
	return ether.ReadMAC(a)
}

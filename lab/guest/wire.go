package guest

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"softswitch/node/config"
)

// The interfaces between a guest and the host's NIC, in the host's namespace.
const (
	tapName    = "vm0" // what QEMU opens
	bridgeName = "br0"
)

// wire joins, in the calling thread's namespace, the host's stack interface with a TAP device for a guest,
// which takes over the host's addresses: the stack interface keeps no IP address, and gets a MAC address
// that is nobody's. What is there already stays.
func wire(h config.Host) error {
	stack, err := netlink.LinkByName(h.Stack)
	if err != nil {
		return fmt.Errorf("%s: %w", h.Stack, err)
	}
	addresses, err := netlink.AddrList(stack, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		if err := netlink.AddrDel(stack, &a); err != nil {
			return fmt.Errorf("%s: address %v: %w", h.Stack, a.IP, err)
		}
	}
	nobodys := h.Port.MAC.Bytes() // a bridge keeps what is for an address of its ports
	nobodys[0] ^= 0x40
	if err := netlink.LinkSetHardwareAddr(stack, nobodys[:]); err != nil {
		return fmt.Errorf("%s: MAC address: %w", h.Stack, err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = bridgeName, h.MTU
	snooping := false
	bridge, err := have(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping})
	if err != nil {
		return err
	}
	attrs.Name = tapName
	tap, err := have(&netlink.Tuntap{LinkAttrs: attrs, Mode: netlink.TUNTAP_MODE_TAP})
	if err != nil {
		return err
	}
	for _, port := range []netlink.Link{stack, tap} {
		if err := netlink.LinkSetMaster(port, bridge); err != nil {
			return fmt.Errorf("%s into %s: %w", port.Attrs().Name, bridgeName, err)
		}
	}
	for _, l := range []netlink.Link{bridge, tap} {
		if err := netlink.LinkSetUp(l); err != nil {
			return fmt.Errorf("%s: %w", l.Attrs().Name, err)
		}
	}
	return nil
}

// have makes a link unless it is there.
func have(l netlink.Link) (netlink.Link, error) {
	name := l.Attrs().Name
	if there, err := netlink.LinkByName(name); err == nil {
		return there, nil
	}
	if err := netlink.LinkAdd(l); err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	return netlink.LinkByName(name)
}

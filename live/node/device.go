package node

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/strictyaml"
	"softswitch/link"
	"softswitch/node/config"
)

// claimWire keeps the kernel's stack off an interface of a NIC, which what says: "wire" or "stack". It
// refuses an interface that has an address, and turns off ARP there, because the kernel would also answer
// for addresses of other interfaces. restore turns ARP back on if it was on before.
func claimWire(what, name string) (restore func(), err error) {
	var addrs []netlink.Addr
	wire, err := findWire(name)
	if err == nil {
		addrs, err = netlink.AddrList(wire, unix.AF_INET)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, name, err)
	}
	if len(addrs) > 0 {
		return nil, fmt.Errorf("%s %s has the address %s, and what the kernel sends from there bypasses the NIC; remove it with `ip addr del %s dev %s`", what, name, addrs[0].IPNet, addrs[0].IPNet, name)
	}
	if wire.Attrs().RawFlags&unix.IFF_NOARP != 0 {
		return func() {}, nil
	}
	if err := netlink.LinkSetARPOff(wire); err != nil {
		return nil, fmt.Errorf("%s %s: arp off: %w", what, name, err)
	}
	return func() {
		err := netlink.LinkSetARPOn(wire)
		if _, gone := errors.AsType[netlink.LinkNotFoundError](err); err != nil && !gone && !errors.Is(err, unix.ENODEV) {
			fmt.Fprintf(os.Stderr, "%s %s: arp on: %v\n", what, name, err)
		}
	}, nil
}

// checkTaken refuses an interface that cannot be the stack of a NIC: what is sent there does not go to
// the station behind it, or what comes from the station goes elsewhere too.
func checkTaken(cfg config.Host) error {
	stack, err := findWire(cfg.Stack)
	if err != nil {
		return fmt.Errorf("%w; with an address the NIC creates one", err)
	}
	a := stack.Attrs()
	if a.Flags&net.FlagLoopback != 0 {
		return errors.New("it is the loopback: name the TAP of a guest, or this end of a container's veth")
	}
	switch kind := stack.Type(); kind {
	case "bridge", "bond", "team":
		return fmt.Errorf("it is a %s: name the interface of one station, which is in none", kind)
	case "macvtap", "macvlan", "ipvtap", "ipvlan":
		return fmt.Errorf("it is a %s: what is sent there goes to its lower device, and not to a guest; put that device on one end of a veth, and name the other end", kind)
	}
	if a.MasterIndex != 0 {
		return fmt.Errorf("it is in a bridge or a bond, which would take its frames past the NIC; take it out with `ip link set dev %s nomaster`", cfg.Stack)
	}
	wire, err := findWire(cfg.Port.Name)
	if err != nil {
		return err
	}
	if most := min(wire.Attrs().MTU, cfg.MTU); a.MTU > most {
		return fmt.Errorf("its MTU is %d, and frames for one of %d pass the wire; lower it with `ip link set dev %s mtu %d`, and that of the station", a.MTU, most, cfg.Stack, most)
	}
	return nil
}

// findWire finds an interface. The error lists those that exist.
func findWire(name string) (netlink.Link, error) {
	wire, err := netlink.LinkByName(name)
	if _, none := errors.AsType[netlink.LinkNotFoundError](err); !none {
		return wire, err
	}
	names := interfaces()
	return nil, fmt.Errorf("no such interface%s; there is: %s", strictyaml.DidYouMean(name, names), strings.Join(names, ", "))
}

// openStack creates the interface for programs.
func openStack(cfg config.Host) (link.Link, error) {
	s, err := link.OpenStack(cfg.Stack)
	if _, there := net.InterfaceByName(cfg.Stack); err != nil && there == nil {
		return nil, fmt.Errorf("%w; without --address, or address in the file, the NIC takes an interface that exists", err)
	}
	if err != nil {
		return nil, err
	}
	if why := s.Plain(); why != nil {
		fmt.Fprintf(os.Stderr, "%s: stack %s: %v; each frame is a system call of its own\n", cfg.Name, cfg.Stack, why)
	}
	if err := setUpStack(cfg); err != nil {
		s.Close()
		return nil, fmt.Errorf("stack %s: %w", cfg.Stack, err)
	}
	return s, nil
}

// setUpStack configures the addresses, MTU and route of the interface for programs.
func setUpStack(cfg config.Host) error {
	wire, err := netlink.LinkByName(cfg.Port.Name)
	if err != nil {
		return err
	}
	stack, err := netlink.LinkByName(cfg.Stack)
	if err != nil {
		return err
	}
	if cfg.Port.MAC != 0 {
		b := cfg.Port.MAC.Bytes()
		mac := net.HardwareAddr(b[:])
		if bytes.Equal(mac, wire.Attrs().HardwareAddr) {
			return fmt.Errorf("its address %s is that of the wire %s too, where the kernel would take frames past the NIC; give the wire another", mac, cfg.Port.Name)
		}
		if err := netlink.LinkSetHardwareAddr(stack, mac); err != nil {
			return fmt.Errorf("address %s: %w", mac, err)
		}
	}
	if err := netlink.LinkSetMTU(stack, min(wire.Attrs().MTU, cfg.MTU)); err != nil {
		return fmt.Errorf("MTU: %w", err)
	}
	addr, err := netlink.ParseAddr(cfg.Address.String())
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(stack, addr); err != nil {
		return fmt.Errorf("address %s: %w", cfg.Address, err)
	}
	if err := netlink.LinkSetUp(stack); err != nil {
		return err
	}
	if cfg.Gateway == 0 {
		return nil
	}
	if err := netlink.RouteAdd(&netlink.Route{Gw: cfg.Gateway.Netip().AsSlice()}); err != nil {
		return fmt.Errorf("default route via %s: %w", cfg.Gateway, err)
	}
	return nil
}

// socketLosses is how many datagrams this network namespace has lost because a socket's
// buffer was full.
func socketLosses() (uint64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	snmp, err := self.Snmp()
	if err != nil {
		return 0, err
	}
	if snmp.Udp.RcvbufErrors == nil {
		return 0, errors.New("/proc/self/net/snmp has no Udp RcvbufErrors")
	}
	return uint64(*snmp.Udp.RcvbufErrors), nil
}

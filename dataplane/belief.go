package dataplane

import (
	"slices"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// What a router neither believes nor forwards. Each row is a test in router_test.go.
//
//	frame                                    rule                     what becomes of it
//	IPv4, wrong header checksum              RFC 1812, 5.2.2          ip_checksum
//	IPv4 to or from 0/8, 127/8, 224/4, 240/4 RFC 1812, 5.3.4 to 5.3.7 martian
//	IPv4 to or from a subnet's broadcast     RFC 2644, 2; 1812, 5.3.7 martian
//	for an address of the switch, not IPv4   802.1Q, 8.8              not_for_us
//	for that of another port of the subnet   802.1Q, 8.8              not_for_us
//	ARP whose sender has a group address,    RFC 1812, 3.3.2          arp_sender
//	none, or one of the switch
//	ARP whose sender is the gateway, or the  RFC 5227, 2.4;           arp_sender
//	subnet's broadcast or network address    RFC 1122, 3.2.1.3
//	ARP of an address outside the subnet     RFC 1812, 3.3.2          not learned
//	any frame from such a MAC address        802.1Q, 8.8              not learned
//
// What is only bridged is not looked at as IPv4: a bridge does not read it.

// unroutable is why a datagram whose header is whole is not routed, NoReason if it may be. The
// checksum first: in a header that is damaged no address means anything. Preconditions: p.Valid,
// for HeaderLen.
func (s *Switch) unroutable(p ether.IPv4) Reason {
	switch {
	case !p.HasChecksum():
		return DropIPChecksum
	case s.martian(p.Src()) || s.martian(p.Dst()):
		return DropMartian
	}
	return NoReason
}

// martian reports whether ip is an address to which and from which no datagram is routed:
// of this net, of the loopback net, a group, of class E, or a broadcast.
func (s *Switch) martian(ip uint32) bool {
	// 224 and above are groups, class E and 255.255.255.255. 0/8 includes 0.0.0.0, so that no
	// datagram is for a router ID of 0, which is none.
	net := ip >> 24
	return net == 0 || net == 127 || net >= 224 || s.isBroadcast(ip)
}

// broadcasts are the broadcast addresses of subnets. One of 31 or 32 bits has none (RFC 3021).
func broadcasts(subnets []Subnet) (ips []uint32) {
	for _, s := range subnets {
		if s.Prefix.Bits() < 31 {
			ips = append(ips, addr32(s.Prefix.Masked().Addr())|^mask(s.Prefix.Bits()))
		}
	}
	return ips
}

// isBroadcast reports whether ip is the broadcast address of a subnet. The last two bits of one
// are ones, since its prefix has 30 bits at the most; most addresses need not be looked for.
func (s *Switch) isBroadcast(ip uint32) bool { return ip&3 == 3 && slices.Contains(s.broadcasts, ip) }

// isOwn reports whether mac is the address of a port of the switch, or of a gateway.
func (s *Switch) isOwn(mac unit.MAC) bool { return slices.Contains(s.own, mac) }

// isStation reports whether a station can have the address mac: it is no group, not all
// zeros, and not of a router itself. Those of a bridge are of the host that it is part of.
func (s *Switch) isStation(mac unit.MAC) bool {
	return mac != 0 && !mac.IsGroup() && !(s.routed && s.isOwn(mac))
}

// isSender reports whether the sender that an ARP packet in sub names can be a neighbour.
// One without an IP address yet asks whether somebody has it (RFC 5227, 2.1.1).
func (s *Switch) isSender(a ether.ARP, sub *Subnet) bool {
	// The gateway's address is refused from anybody: a host that claims it would take what the
	// others send to the router. 31 and 32 bits have neither network nor broadcast address (RFC
	// 3021).
	ip, network := a.SenderIP(), addr32(sub.Prefix.Masked().Addr())
	return s.isStation(a.SenderMAC()) && ip != addr32(sub.Gateway) &&
		(sub.Prefix.Bits() >= 31 || ip == 0 || ip != network && !s.isBroadcast(ip))
}

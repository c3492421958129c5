package dataplane

import (
	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// Receive takes parsed frames that arrived at in. All branching of the ingress is
// here. A frame that waits for nothing costs one pass; nothing blocks. Ownership: every frame of
// fs is in a queue or free when it returns.
func (s *Switch) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	s.now, s.before = now, before{}
	p := &s.ports[in]
	for _, f := range fs {
		// The order of the cases is part of the contract. A malformed frame counts by its own
		// reason, at a port that is down too. A control frame over the budget is dropped before
		// anything acts on it. Pauses come before the MMU is asked for anything, so a full buffer
		// stops none.
		f.In = in
		switch {
		case f.Info.Kind == kindBad:
			s.drop(f, Reason(f.Info.Reason))
		case !p.up:
			s.drop(f, DropLinkDown)
		case s.overBudget(p, f):
			s.drop(f, DropControlBudget)
		case f.Info.Kind == kindPFC:
			s.receivePause(in, f)
		case f.Info.Kind == kindMessage:
			s.receiveMessage(in, f)
		case f.Info.Kind == kindPause:
			s.receivePause8023(in, f)
		case f.Info.Kind == kindLLDP:
			s.receiveLLDP(in, f)
		default:
			c := f.Info.Priority
			// Of RxDropped, Drops[DropPoliced] and RxFrames a frame counts in one: what a
			// detector reads of them (detect.Frames) adds up. Discarded frames use up no rate of
			// a policer.
			if p.acted.discard.Has(c) {
				p.count.RxDropped[c]++
				s.drop(f, DropResponse)
				continue
			}
			if len(p.policers) > 0 && s.overRate(p, f) {
				s.drop(f, DropPoliced)
				continue
			}
			if p.mustBeSilent(now, c) {
				s.late(in, c)
			}
			p.count.RxFrames[c]++
			p.count.RxBytes[c] += uint64(f.Len)
			s.receiveData(in, p, f)
		}
	}
}

// receiveData forwards a data frame: it bridges, routes, or answers ARP. It is in RxFrames
// already; what drops it from here on counts in Drops.
func (s *Switch) receiveData(in unit.Port, p *port, f *buffer.Frame) {
	switch {
	case !s.routed:
		s.learn(in, f)
		s.bridge(in, f, s.up)
	case p.subnet >= 0:
		s.receiveHost(in, p, f)
	// A port of no subnet is a routed link. The address of its far end is configured (PeerMAC),
	// so there is no ARP on it, and nothing is bridged to or from it.
	case isIPv4(f) && unit.MAC(f.Info.DstMAC) == p.cfg.MAC:
		s.route(in, f)
	default:
		s.drop(f, DropNotForUs)
	}
}

// receiveHost forwards a data frame that came in by a port of a subnet. The router has the
// gateway's address there, and that of the port.
func (s *Switch) receiveHost(in unit.Port, p *port, f *buffer.Frame) {
	// Before the frame is judged: also one that is dropped below shows by which port its sender
	// is reached.
	s.learn(in, f)
	switch {
	case f.Info.Kind == kindARP:
		s.receiveARP(in, p, f)
	case unit.MAC(f.Info.DstMAC) != p.cfg.MAC && unit.MAC(f.Info.DstMAC) != s.gatewayMAC(p.subnet):
		s.bridge(in, f, s.up.And(s.cfg.Subnets[p.subnet].Ports))
	// From here on the frame is addressed to the router. What is not IPv4 has no receiver, and
	// must not be flooded as if its station were unknown (802.1Q, 8.8).
	case isIPv4(f):
		s.route(in, f)
	default:
		s.drop(f, DropNotForUs)
	}
}

// before is what is known of the frames that Receive takes at once from those before: most are of one station to
// another. src has an entry, which is young; dst is bridged by out. Where src changes, it may be dst that is heard
// at another port now, so nothing is known.
type before struct {
	src, dst unit.MAC // 0 for none
	out      unit.Port
}

// learn notes by which port a station is reached. A LAG is one port: a station may be heard at any of
// its members.
func (s *Switch) learn(in unit.Port, f *buffer.Frame) {
	mac, at := unit.MAC(f.Info.SrcMAC), s.station[in]
	if mac == s.before.src {
		return
	}
	key := stationKey(s.ports[in].subnet, mac)
	// Most frames are of a station that has an entry, and cost one look. Whether the address can
	// be a station's is asked only for a new one: no other has an entry that was learned.
	s.before = before{}
	if s.macs.refresh(s.now, key, mac, at) {
		s.before.src = mac
	} else if s.isStation(mac) && !s.macs.learn(s.now, key, mac, at) {
		s.ports[in].count.Drops[OddMACTable]++
	}
}

// receiveARP learns the sender's address, answers for the gateway, and bridges
// the rest in the subnet. RFC 826 updates an entry by any packet, and adds one only if the packet
// is for oneself. Here any packet adds one: it comes by anyway, and a request is saved.
func (s *Switch) receiveARP(in unit.Port, p *port, f *buffer.Frame) {
	a := ether.ARP(f.Data[f.Info.L3:])
	sub := &s.cfg.Subnets[p.subnet]
	if !s.isSender(a, sub) {
		s.drop(f, DropARPSender)
		return
	}
	// A sender of another subnet is bridged like others, and not believed (RFC 1812, 3.3.2): the
	// entry would stand beside the route to that subnet.
	if contains(sub.Prefix, a.SenderIP()) && !s.arps.hear(s.now, a.SenderIP(), a.SenderMAC(), s.station[in]) {
		p.count.Drops[OddARPTable]++
	}
	if a.TargetIP() != addr32(sub.Gateway) {
		s.bridge(in, f, s.up.And(sub.Ports))
		return
	}
	if a.Op() != ether.ARPRequest {
		// The answer to a request of the switch's own: it has done its work, so it is no drop.
		s.free(f)
		return
	}
	// Read before PutARP overwrites them. The answer goes back in the slot of the request, by the
	// port by which that came, in its priority and with its 802.1Q tag.
	ip, mac, gateway := a.SenderIP(), a.SenderMAC(), s.gatewayMAC(p.subnet)
	ether.SetAddresses(f.Data, mac, gateway)
	ether.PutARP(a, ether.ARPReply, gateway, addr32(sub.Gateway), mac, ip)
	s.enqueue(f, in)
}

package dataplane

import (
	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// Receive takes parsed frames that arrived at in. All branching of the ingress is
// here. A frame that waits for nothing costs one pass; nothing blocks.
func (s *Switch) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	s.now = now
	p := &s.ports[in]
	for _, f := range fs {
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
		default:
			c := f.Info.Class
			if p.acted.discard.Has(c) {
				p.count.RxDropped[c]++
				s.drop(f, DropResponse)
				continue
			}
			if len(p.policers) > 0 && s.overRate(p, f) {
				s.drop(f, DropPoliced)
				continue
			}
			p.count.RxFrames[c]++
			p.count.RxBytes[c] += uint64(f.Len)
			s.receiveData(in, p, f)
		}
	}
}

// receiveData forwards a data frame: it bridges, routes, or answers ARP.
func (s *Switch) receiveData(in unit.Port, p *port, f *buffer.Frame) {
	switch {
	case !s.routed:
		s.learn(in, f)
		s.bridge(in, f, s.up)
	case p.subnet >= 0:
		s.receiveHost(in, p, f)
	case isIPv4(f) && ether.MAC(f.Info.DstMAC) == p.cfg.MAC:
		s.route(in, f)
	default:
		s.drop(f, DropNotForUs)
	}
}

// receiveHost forwards a data frame that came in by a port of a subnet. The router has the
// gateway's address there, and that of the port.
func (s *Switch) receiveHost(in unit.Port, p *port, f *buffer.Frame) {
	s.learn(in, f)
	switch {
	case f.Info.Kind == kindARP:
		s.receiveARP(in, p, f)
	case ether.MAC(f.Info.DstMAC) != p.cfg.MAC && ether.MAC(f.Info.DstMAC) != s.gatewayMAC(p.subnet):
		s.bridge(in, f, s.up&s.cfg.Subnets[p.subnet].Ports)
	case isIPv4(f):
		s.route(in, f)
	default:
		s.drop(f, DropNotForUs)
	}
}

// learn notes by which port a station is reached.
func (s *Switch) learn(in unit.Port, f *buffer.Frame) {
	mac := ether.MAC(f.Info.SrcMAC)
	key := stationKey(s.ports[in].subnet, mac)
	if !s.macs.refresh(s.now, key, mac, in) && s.isStation(mac) && !s.macs.learn(s.now, key, mac, in) {
		s.ports[in].count.Drops[OddMACTable]++
	}
}

// receiveARP learns the sender's address, answers for the gateway, and bridges
// the rest in the subnet.
func (s *Switch) receiveARP(in unit.Port, p *port, f *buffer.Frame) {
	a := ether.ARP(f.Data[f.Info.L3:])
	sub := &s.cfg.Subnets[p.subnet]
	if !s.isSender(a, sub) {
		s.drop(f, DropARPSender)
		return
	}
	if contains(sub.Prefix, a.SenderIP()) && !s.arps.hear(s.now, a.SenderIP(), a.SenderMAC(), in) {
		p.count.Drops[OddARPTable]++
	}
	if a.TargetIP() != addr32(sub.Gateway) {
		s.bridge(in, f, s.up&sub.Ports)
		return
	}
	if a.Op() != ether.ARPRequest {
		s.free(f)
		return
	}
	ip, mac, gateway := a.SenderIP(), a.SenderMAC(), s.gatewayMAC(p.subnet)
	ether.SetAddresses(f.Data, mac, gateway)
	ether.PutARP(a, ether.ARPReply, gateway, addr32(sub.Gateway), mac, ip)
	s.enqueue(f, in)
}

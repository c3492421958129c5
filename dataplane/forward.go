package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// bridge sends a frame to the port of its destination, or floods it among the
// ports of the bridge if that is unknown or a group.
func (s *Switch) bridge(in unit.Port, f *buffer.Frame, bridge unit.PortSet) {
	bridge.Remove(in)
	dst := ether.MAC(f.Info.DstMAC)
	if !dst.IsGroup() {
		if out, ok := s.macs.lookup(s.now, s.ports[in].subnet, dst); ok {
			switch {
			case bridge.Has(out):
				s.enqueue(f, out)
			case s.up.Has(out): // it is where the frame came from, or not of this bridge
				s.drop(f, DropFiltered)
			default:
				s.drop(f, DropNoPort)
			}
			return
		}
		if s.routed && s.isOwn(dst) {
			s.drop(f, DropNotForUs)
			return
		}
	}
	s.flood(f, bridge)
}

// route takes an IPv4 frame that is addressed to the router: it is for the router itself, or
// sent towards its destination address.
func (s *Switch) route(in unit.Port, f *buffer.Frame) {
	if why := Reason(f.Info.Reason); why != NoReason {
		s.drop(f, why)
		return
	}
	e := s.fib.lookup(f.Info.DstIP)
	switch {
	case f.Info.DstIP == s.routerID || e != nil && e.subnet >= 0 && f.Info.DstIP == e.gateway:
		s.receiveOwn(f)
	case e == nil:
		s.tell(f, icmpUnreachable, codeNet)
		s.drop(f, DropNoRoute)
	case f.Info.TTL <= 1:
		s.tell(f, icmpTimeExceeded, codeTTL)
		s.drop(f, DropTTL)
	default:
		s.forward(in, f, e)
	}
}

// forward sends an IPv4 frame on: into a connected subnet, or out of an ECMP group's port.
func (s *Switch) forward(in unit.Port, f *buffer.Frame, e *fibEntry) {
	if e.subnet >= 0 {
		s.deliver(f, int(e.subnet))
		return
	}
	out := choose(e.ways(in, s.ports[in].acted.avoid), f.Info.Hash, s.cfg.HashSeed)
	if out == unit.NoPort {
		s.tell(f, icmpUnreachable, codeNet)
		s.drop(f, DropNoPort)
		return
	}
	p := &s.ports[out]
	ether.IPv4(f.Data[f.Info.L3:]).DecrementTTL()
	ether.SetAddresses(f.Data, p.cfg.PeerMAC, p.cfg.MAC)
	s.enqueue(f, out)
}

// deliver sends a frame into a connected subnet: the ARP table gives the station,
// the MAC table its port. A station without a MAC entry is flooded (Guo et al.,
// section 4.2: what makes a deadlock out of a dead server).
func (s *Switch) deliver(f *buffer.Frame, subnet int) {
	mac, renew, ok := s.arps.lookup(s.now, f.Info.DstIP)
	if renew || !ok {
		if silent := s.askARP(f.Info.DstIP, subnet); silent && !ok {
			s.tell(f, icmpUnreachable, codeHost)
		}
	}
	if !ok {
		s.drop(f, DropARPUnresolved)
		return
	}
	ether.IPv4(f.Data[f.Info.L3:]).DecrementTTL()
	if out, ok := s.macs.lookup(s.now, subnet, mac); ok {
		ether.SetAddresses(f.Data, mac, s.gatewayMAC(subnet))
		if !s.up.Has(out) {
			s.drop(f, DropNoPort)
			return
		}
		s.enqueue(f, out)
		return
	}
	if s.cfg.NoFlood && s.lossless.Has(f.Info.Class) {
		s.drop(f, DropIncompleteARP)
		return
	}
	ether.SetAddresses(f.Data, mac, s.gatewayMAC(subnet))
	s.flood(f, s.floods(f.In, subnet))
}

// gatewayMAC is the address of a subnet's gateway, which hosts see at all of its ports: that
// of the first. RFC 826 has a host take the sender's address of each ARP packet for an address
// that it knows, so there is one.
func (s *Switch) gatewayMAC(subnet int) ether.MAC {
	return s.own[s.cfg.Subnets[subnet].Ports.First()]
}

// floods are the ports to which a frame that came by in is flooded whose station is in
// a connected subnet and has no MAC entry.
func (s *Switch) floods(in unit.Port, subnet int) unit.PortSet {
	sub := &s.cfg.Subnets[subnet]
	outs := s.up & (sub.Ports | sub.Flood)
	outs.Remove(in)
	return outs
}

// askARP broadcasts a request for ip in its subnet, at most once in arpRetry. silent says that
// there was no answer to the one before.
func (s *Switch) askARP(ip uint32, subnet int) (silent bool) {
	may, silent := s.arps.mayAsk(s.now, ip)
	if !may || s.pool.Free() <= s.reserve {
		return silent
	}
	f := s.pool.Get()
	f.Data = f.Data[:ether.MinLen]
	clear(f.Data)
	sub := &s.cfg.Subnets[subnet]
	in, mac := sub.Ports.First(), s.gatewayMAC(subnet)
	ether.SetAddresses(f.Data, ether.Broadcast, mac)
	f.Data[12], f.Data[13] = ether.TypeARP>>8, ether.TypeARP&0xff
	ether.PutARP(f.Data[ether.HeaderLen:], ether.ARPRequest, mac, addr32(sub.Gateway), 0, ip)
	f.Len, f.In, f.Info = len(f.Data), in, buffer.Info{Kind: kindARP, L3: ether.HeaderLen}
	s.flood(f, s.up&sub.Ports)
	return silent
}

// flood puts a frame into the queue of every port of outs. Its bytes are charged
// once, until the last copy has left.
func (s *Switch) flood(f *buffer.Frame, outs unit.PortSet) {
	if outs == 0 {
		s.drop(f, DropNoPort)
		return
	}
	if s.cfg.NoFlood && s.lossless.Has(f.Info.Class) {
		s.setClass(f, s.classes.lossy)
	} else {
		same := s.sameAccount(f, outs)
		if same != outs {
			s.floodAlso(f, outs&^same)
		}
		outs = same
		s.setClass(f, s.outClass(f, outs.First()))
	}
	if outs = s.withoutDropping(outs, f.OutClass); outs == 0 {
		s.drop(f, DropResponse)
		return
	}
	if ok, xoff := s.admit(f, outs.First()); ok {
		s.pushAll(f, outs, xoff)
	}
}

// pushAll puts an admitted frame into the queue of every port of outs, which is not
// empty.
func (s *Switch) pushAll(f *buffer.Frame, outs unit.PortSet, xoff bool) {
	first := outs.First()
	outs.Remove(first)
	f.Flooded = f.Charged && outs != 0
	for ; outs != 0; outs &= outs - 1 {
		c := s.pool.Copy(f)
		if c == nil {
			s.noCopies(f, outs)
			break
		}
		s.push(c, outs.First(), xoff)
		xoff = false
	}
	s.push(f, first, xoff)
}

// noCopies counts the copies of f that the ports of outs do not get.
func (s *Switch) noCopies(f *buffer.Frame, outs unit.PortSet) {
	for range outs.Len() {
		s.countDrop(f, DropNoCopy)
	}
}

// enqueue admits a frame and puts it into the queue of one port.
func (s *Switch) enqueue(f *buffer.Frame, out unit.Port) {
	s.setClass(f, s.outClass(f, out))
	m := &s.ports[out].acted
	if m.dropping().Has(f.OutClass) {
		s.ports[out].count.TxDropped[f.OutClass]++
		s.drop(f, DropResponse)
		return
	}
	if ok, xoff := s.admit(f, out); ok {
		s.push(f, out, xoff)
	}
}

// admit charges a frame of a lossless class, which is to leave by out, to its bucket, or
// drops it; one for a lossy queue, or of a lossy turn, is charged to nobody. xoff says that
// the frame made its bucket XOFF, which push tells when the frame is queued.
func (s *Switch) admit(f *buffer.Frame, out unit.Port) (ok, xoff bool) {
	if s.pool.Free() <= s.reserve {
		s.drop(f, DropNoSlot)
		return false, false
	}
	b, q := detect.Bucket{Port: f.In, Class: f.InClass}, detect.Queue{Port: out, Class: f.OutClass}
	if !s.lossless.Has(f.InClass) || !s.lossless.Has(f.OutClass) || s.isLossy(b, q) {
		return true, false
	}
	v, xoff := s.mmu.Admit(f.In, f.InClass, f.Len)
	if v == buffer.HeadroomFull {
		s.drop(f, s.ports[f.In].full())
		return false, false
	}
	f.Charged = true
	s.eventHeadrooms()
	return true, xoff
}

// full is why a frame is dropped that finds no room in its bucket.
func (p *port) full() Reason {
	if p.cfg.FacesStack {
		return DropStack
	}
	return DropHeadroom
}

// push puts an admitted frame into (out, f.OutClass) and tells what that changes.
func (s *Switch) push(f *buffer.Frame, out unit.Port, xoff bool) {
	if !f.Charged {
		s.pushLossy(f, out)
		return
	}
	p := &s.ports[out]
	c := f.OutClass
	f.Out = out
	p.queues[c].Push(f)
	if f.Flooded {
		s.flooded++
		f.Orig().Waiting.Add(out)
	}
	p.backlog.Add(c)
	s.ready.Add(out)
	bucket, queue := detect.Bucket{Port: f.In, Class: f.InClass}, detect.Queue{Port: out, Class: c}
	n := s.mmu.Charge(f.Len)
	held := s.mmu.Hold(f.In, f.InClass, out, c, n)
	s.detector.Enqueue(s.now, bucket, queue, flowOf(f), n)
	if xoff {
		s.pauseBucket(bucket, queue)
	} else if p.paused.Has(c) {
		s.heldRose(bucket, queue, held, held-n)
	}
}

// pushLossy puts a frame that is charged to nobody into (out, f.OutClass), or drops it
// if there is no room.
func (s *Switch) pushLossy(f *buffer.Frame, out unit.Port) {
	p := &s.ports[out]
	t := s.turnOfFrame(f, detect.Queue{Port: out, Class: f.OutClass})
	if why := s.noRoom(f, p, t); why != NoReason {
		s.drop(f, why)
		return
	}
	if t != nil {
		t.bytes += f.Len
	}
	if orig := f.Orig(); !orig.Uncharged {
		orig.Uncharged = true
		s.uncharged++
	}
	f.Out = out
	p.queues[f.OutClass].Push(f)
	p.backlog.Add(f.OutClass)
	s.ready.Add(out)
}

// noRoom is why a frame that is charged to nobody finds no room in its queue of p;
// NoReason if it does. t is the lossy turn that it takes, nil if it takes none.
func (s *Switch) noRoom(f *buffer.Frame, p *port, t *turn) Reason {
	switch {
	case !f.Orig().Uncharged && s.uncharged >= s.cfg.Slots:
		return DropNoSlot
	case t != nil && !p.acted.unheeded().Has(f.OutClass):
		if !s.press(t, f.Len) {
			return DropLossyTurn
		}
	case s.mmu.AdmitLossy(p.queues[f.OutClass].Bytes(), f.Len):
	case s.lossless.Has(f.InClass):
		return DropLossyPort
	default:
		return DropLossyQueue
	}
	return NoReason
}

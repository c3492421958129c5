package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// bridge sends a frame to the port of its destination, or floods it among the
// ports of the bridge if that is unknown or a group. In a router these are the ports of one
// subnet.
func (s *Switch) bridge(in unit.Port, f *buffer.Frame, bridge unit.PortSet) {
	dst := unit.MAC(f.Info.DstMAC)
	if dst == s.before.dst && dst != 0 {
		s.enqueue(f, s.before.out)
		return
	}
	// Invariant: nothing is bridged back to the port by which it came: that segment has had it.
	bridge = bridge.Without(s.lag[in])
	if !dst.IsGroup() {
		if station, ok := s.macs.lookup(s.now, s.ports[in].subnet, dst); ok {
			out := s.memberFor(f, station)
			switch {
			case bridge.Has(out):
				if len(s.cfg.LAGs) == 0 {
					s.before.dst, s.before.out = dst, out
				}
				s.enqueue(f, out)
			case s.up.Has(out): // it is where the frame came from, or not of this bridge
				s.drop(f, DropFiltered)
			default:
				s.drop(f, DropNoPort)
			}
			return
		}
		// An address of the router is never learned (isStation), so it would be flooded as
		// unknown. A bridge has none: those of its ports are of the host that it is part of.
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
	// Parse finds the reason, outside the lock; only route acts on it, since a frame that is
	// bridged is not read as a router reads it.
	if why := Reason(f.Info.Reason); why != NoReason {
		s.drop(f, why)
		return
	}
	e := s.fib.lookup(f.Info.DstIP)
	switch {
	// Before the TTL, which is for frames that go on (RFC 1812, 5.3.1). A router ID needs no
	// entry: no route leads to it. 0, for none, is a martian and does not come so far.
	case f.Info.DstIP == s.routerID || e != nil && e.subnet >= 0 && f.Info.DstIP == e.gateway:
		s.receiveOwn(f)
	case e == nil:
		// tell comes before drop: it quotes the frame, which drop gives back.
		s.tell(f, icmpUnreachable, codeNet)
		s.drop(f, DropNoRoute)
	case f.Info.TTL <= 1:
		s.tell(f, icmpTimeExceeded, codeTTL)
		s.drop(f, DropTTL)
	default:
		s.forward(in, f, e)
	}
}

// forward sends an IPv4 frame on: into a connected subnet, or out of an ECMP group's port. from is
// the port whose segment has had it, unit.NoPort if it is the switch's own.
func (s *Switch) forward(from unit.Port, f *buffer.Frame, e *fibEntry) {
	if e.subnet >= 0 {
		s.deliver(from, f, e)
		return
	}
	// All frames of a flow have one hash, and so one way and one order. With one seed everywhere
	// each switch would choose as the one before it did, and leave some of its ways unused.
	out := choose(e.ways(f.In, s.lag[f.In], s.ports[f.In].acted.avoid), s.cfg.LAGs, f.Info.Hash, s.cfg.HashSeed)
	if out == unit.NoPort {
		s.tell(f, icmpUnreachable, codeNet)
		s.drop(f, DropNoPort)
		return
	}
	p := &s.ports[out]
	// Not before a way is known: tell quotes the datagram as it came. And before enqueue: a band
	// (TTLBands) depends on the TTL with which the frame leaves.
	ether.IPv4(f.Data[f.Info.L3:]).DecrementTTL()
	ether.SetAddresses(f.Data, p.cfg.PeerMAC, p.cfg.MAC)
	s.enqueue(f, out)
}

// deliver sends a frame into a connected subnet: the ARP table gives the station,
// the MAC table its port. A station without a MAC entry is flooded (Guo et al.,
// section 4.2: what makes a deadlock out of a dead server). A station whose port is down has
// another way where further switches lead to it (Subnet.Backup).
func (s *Switch) deliver(from unit.Port, f *buffer.Frame, e *fibEntry) {
	subnet := int(e.subnet)
	mac, renew, ok := s.arps.lookup(s.now, f.Info.DstIP)
	// An entry that is asked for again still serves, so that no frame is lost by ageing.
	if renew || !ok {
		if silent := s.askARP(f.Info.DstIP, subnet); silent && !ok {
			s.tell(f, icmpUnreachable, codeHost)
		}
	}
	// Dropped, not kept until the host has answered: see docs/router.md.
	if !ok {
		s.drop(f, DropARPUnresolved)
		return
	}
	ether.IPv4(f.Data[f.Info.L3:]).DecrementTTL()
	if station, ok := s.macs.lookup(s.now, subnet, mac); ok {
		out := s.memberFor(f, station)
		// A static entry: those that were learned went with the link (forget).
		if s.up.Has(out) {
			ether.SetAddresses(f.Data, mac, s.gatewayMAC(subnet))
			s.enqueue(f, out)
			return
		}
		if out = choose(e.ways(f.In, s.lag[f.In], s.ports[f.In].acted.avoid), s.cfg.LAGs, f.Info.Hash, s.cfg.HashSeed); out == unit.NoPort {
			s.drop(f, DropNoPort)
			return
		}
		ether.SetAddresses(f.Data, s.ports[out].cfg.PeerMAC, s.ports[out].cfg.MAC)
		s.enqueue(f, out)
		return
	}
	// Option 3 of Guo et al., section 4.2: of an incomplete entry lossless frames are dropped,
	// which is what keeps the ring from closing. It is on purpose, and no loss.
	if s.cfg.NoFlood && s.isLossless(f) {
		s.drop(f, DropIncompleteARP)
		return
	}
	ether.SetAddresses(f.Data, mac, s.gatewayMAC(subnet))
	s.flood(f, s.floods(from, subnet))
}

// gatewayMAC is the address of a subnet's gateway, which hosts see at all of its ports: that
// of the first, or what all switches of the subnet have. By RFC 826 a host updates an address that it knows from the sender of each ARP
// packet, so there is only one. It is read each time, since SetMAC may change it.
func (s *Switch) gatewayMAC(subnet int) unit.MAC {
	if m := s.cfg.Subnets[subnet].GatewayMAC; m != 0 {
		return m
	}
	return s.own[s.cfg.Subnets[subnet].Ports.First()]
}

// floods are the ports to which a frame is flooded whose station is in a connected subnet and has
// no MAC entry: not from, by which it came, nor another member of its LAG.
func (s *Switch) floods(from unit.Port, subnet int) unit.PortSet {
	sub := &s.cfg.Subnets[subnet]
	outs := s.up.And(sub.Ports.Or(sub.Flood))
	if from != unit.NoPort {
		outs = outs.Without(s.lag[from])
	}
	return outs
}

// askARP broadcasts a request for ip in its subnet, at most once in arpRetry. silent says that
// there was no answer to the one before.
func (s *Switch) askARP(ip uint32, subnet int) (silent bool) {
	may, silent := s.arps.mayAsk(s.now, ip)
	// What is not sent is not noted: nobody is silent for it.
	if !may || !s.hasSlot() {
		return silent
	}
	s.arps.ask(s.now, ip)
	// The request counts as come in by the subnet's first port, whose address it bears, in priority
	// 0, like any untagged frame that is not IPv4: what becomes of it is in that port's counters.
	f := s.pool.Get()
	f.Data = f.Data[:ether.MinLen]
	// A slot has bytes of an older frame: none of them may leave as padding.
	clear(f.Data)
	sub := &s.cfg.Subnets[subnet]
	in, mac := sub.Ports.First(), s.gatewayMAC(subnet)
	ether.SetAddresses(f.Data, unit.Broadcast, mac)
	f.Data[12], f.Data[13] = ether.TypeARP>>8, ether.TypeARP&0xff
	ether.PutARP(f.Data[ether.HeaderLen:], ether.ARPRequest, mac, addr32(sub.Gateway), 0, ip)
	f.Len, f.In, f.Info = len(f.Data), in, buffer.Info{Kind: kindARP, L3: ether.HeaderLen}
	s.flood(f, s.up.And(sub.Ports))
	return silent
}

// flood puts a frame into the queue of every port of outs. Its bytes are charged
// once, until the last copy has left. A LAG gets one copy.
func (s *Switch) flood(f *buffer.Frame, outs unit.PortSet) {
	outs = s.oneCopyEach(f, outs)
	if outs.Empty() {
		s.drop(f, DropNoPort)
		return
	}
	if s.cfg.NoFlood && s.isLossless(f) {
		// A flooded frame waits in queues that are not on its way. If it is charged, a pause at
		// any of them holds up its sender: so flooding closes a ring (Guo et al., section 4.2).
		// In a lossy priority it is charged to nobody.
		s.setPriority(f, s.priorities.lossy)
	} else {
		// Copies share the bytes, and so what is written into them (the priority) and the one
		// charge. Ports for which either differs are flooded to apart, by a frame of its own.
		same := s.sameAccount(f, outs)
		if same != outs {
			s.floodAlso(f, outs.Without(same))
		}
		outs = same
		s.setPriority(f, s.outPriority(f, outs.First()))
	}
	if outs = s.withoutDropping(f, outs); outs.Empty() {
		s.free(f) // each of its copies is counted
		return
	}
	// Any port of outs will do: all of them charge alike.
	if ok, xoff := s.admit(f, outs.First()); ok {
		s.pushAll(f, outs, xoff)
	}
}

// pushAll puts an admitted frame into the queue of every port of outs, which is not
// empty.
func (s *Switch) pushAll(f *buffer.Frame, outs unit.PortSet, xoff bool) {
	first := outs.First()
	outs.Remove(first)
	// Flooded is about M(b, q), which knows only what is charged. It is set before Copy, which
	// copies it.
	f.Flooded = f.Charged && !outs.Empty()
	for ; !outs.Empty(); outs.Pop() {
		c := s.pool.Copy(f)
		if c == nil {
			s.noCopies(f, outs)
			break
		}
		s.push(c, outs.First(), xoff)
		// One crossing is told once, by the first queue that the frame is put into.
		xoff = false
	}
	// Last: push may drop a frame that finds no room in a lossy queue, and what is given back
	// cannot be copied.
	s.push(f, first, xoff)
}

// noCopies counts the copies of f that the ports of outs do not get. Each is a loss of its own,
// like a copy that a queue drops.
func (s *Switch) noCopies(f *buffer.Frame, outs unit.PortSet) {
	for range outs.Len() {
		s.countDrop(f, DropNoCopy)
	}
}

// enqueue admits a frame and puts it into the queue of one port.
func (s *Switch) enqueue(f *buffer.Frame, out unit.Port) {
	s.setPriority(f, s.outPriority(f, out))
	// Before admit: what a queue drops is charged to nobody. The frame counts at both ends of
	// its way, TxDropped at the egress and Drops at the ingress.
	m := &s.ports[out].acted
	if m.dropping().Has(f.OutPriority) {
		s.ports[out].count.TxDropped[f.OutPriority]++
		s.drop(f, DropResponse)
		return
	}
	if ok, xoff := s.admit(f, out); ok {
		s.push(f, out, xoff)
	}
}

// admit charges a frame of a lossless priority, which will leave by out, to its priority group, or drops
// it; one for a lossy queue, or of a lossy turn, is charged to nobody. xoff says that the
// frame made its priority group XOFF, which push tells when the frame is queued. Preconditions:
// setPriority has set InPriority and OutPriority, which with In and Len are fixed from here on. A frame
// that is not ok is gone.
func (s *Switch) admit(f *buffer.Frame, out unit.Port) (ok, xoff bool) {
	// The frame has its slot already. Refusing it gives that back, so that the reserve stays
	// whole, from which pauses are received and sent.
	if s.pool.Free() <= s.reserve {
		s.drop(f, DropNoSlot)
		return false, false
	}
	b, q := detect.PG{Port: f.In, Priority: f.InPriority}, detect.Queue{Port: out, Priority: f.OutPriority}
	// Both priorities have to be lossless: a lossy one at the ingress has no account, and by a lossy
	// one at the egress the frame may be dropped, so it must hold nobody up. At the egress it is
	// enough that the priority is lossless at some port: where the port does not honour its pauses
	// the queue never waits, and the frame is lossless all the same.
	if !s.isLossless(f) || !s.lossless.Has(f.OutPriority) || s.isLossy(b, q) {
		return true, false
	}
	v, xoff := s.mmu.Admit(f.In, f.InPriority, f.Len)
	// The upstream did not stop in time, or does not know pauses.
	if v == buffer.HeadroomFull {
		s.drop(f, s.ports[b.Port].full())
		if xoff {
			s.pausePG(b, s.fullest(b, q))
		}
		return false, false
	}
	f.Charged = true
	s.restage(f.In, f.InPriority)
	s.eventHeadrooms()
	return true, xoff
}

// fullest is the queue in which b holds most, the lowest of several; or, where all of b is leaving.
func (s *Switch) fullest(b detect.PG, or detect.Queue) detect.Queue {
	q, most := or, 0
	for out := range s.ports {
		for c := range unit.Priority(unit.Priorities) {
			if held := s.mmu.Held(b.Port, b.Priority, unit.Port(out), c); held > most {
				q, most = detect.Queue{Port: unit.Port(out), Priority: c}, held
			}
		}
	}
	return q
}

// hasSlot reports whether there is a slot for a frame more that no driver has read: one that admit
// does not take back.
func (s *Switch) hasSlot() bool { return s.pool.Free()-1 > s.reserve }

// full is why a frame is dropped that finds no room in its priority group.
func (p *port) full() Reason {
	if p.cfg.FacesStack {
		return DropStack
	}
	return DropHeadroom
}

// push puts an admitted frame into (out, f.OutPriority) and tells what that changes. The order is
// what detectors and logs rely on: the frame is in the queue and in M when the detector hears of
// it (detect: a View shows the state after the event), Enqueue comes before XOFF, and XOFF before
// the pause frame is asked for.
func (s *Switch) push(f *buffer.Frame, out unit.Port, xoff bool) {
	if !f.Charged {
		s.pushLossy(f, out)
		return
	}
	p := &s.ports[out]
	c := f.OutPriority
	p.queues[c].Push(f)
	if f.Flooded {
		s.flooded++
		f.Orig().Waiting.Add(out)
	}
	p.backlog.Add(c)
	s.ready.Add(out)
	pg, queue := detect.PG{Port: f.In, Priority: f.InPriority}, detect.Queue{Port: out, Priority: c}
	n := s.mmu.Charge(f.Len)
	held := s.mmu.Hold(f.In, f.InPriority, out, c, n)
	s.ringMoved(pg, queue, held)
	s.detector.Enqueue(s.now, pg, queue, flowOf(f), n)
	// A priority group that has just gone XOFF has all its edges logged, this one among them; otherwise
	// only this one has changed.
	if xoff {
		s.pausePG(pg, queue)
	} else if p.paused.Has(c) {
		s.heldMoved(pg, queue, held-n, held)
	}
}

// pushLossy puts a frame that is charged to nobody into (out, f.OutPriority), or drops it
// if there is no room. The frame is in no M, and the detector is not told: a priority group that is not
// charged for it does not wait for it. The queue may be of a lossless priority, made lossy by an
// action or for one turn; the frame takes its place at the end like any other, so order is kept.
func (s *Switch) pushLossy(f *buffer.Frame, out unit.Port) {
	p := &s.ports[out]
	t := s.turnOfFrame(f, detect.Queue{Port: out, Priority: f.OutPriority})
	if why := s.noRoom(f, p, t); why != NoReason {
		s.drop(f, why)
		return
	}
	if t != nil {
		t.add(f.Len, s.mmu.Charge(f.Len))
	}
	// Once for all copies, which share a slot: s.uncharged counts slots (Config.Slots). free
	// takes it off with the last.
	if orig := f.Orig(); !orig.Uncharged {
		orig.Uncharged = true
		s.uncharged++
	}
	p.queues[f.OutPriority].Push(f)
	p.backlog.Add(f.OutPriority)
	s.ready.Add(out)
}

// noRoom is why a frame that is charged to nobody finds no room in its queue of p;
// NoReason if it does. t is the lossy turn that it takes, nil if it takes none.
func (s *Switch) noRoom(f *buffer.Frame, p *port, t *turn) Reason {
	switch {
	case !f.Orig().Uncharged && s.uncharged >= s.cfg.Slots:
		return DropNoSlot
	// A lossy turn has a bound of its own, beside what waits in its queue from elsewhere, unless
	// the queue is lossy as a whole. press counts the frame whether or not it finds room.
	case t != nil && !p.acted.lossyQueues().Has(f.OutPriority):
		if !s.press(t, f.Len) {
			return DropLossyTurn
		}
	case s.mmu.AdmitLossy(p.queues[f.OutPriority].Bytes(), f.Len):
	// The reason tells whose doing it is: a rule or an action made the way of a lossless frame
	// lossy, or the frame was lossy from the start.
	case s.isLossless(f):
		return DropLossyPort
	default:
		return DropLossyQueue
	}
	return NoReason
}

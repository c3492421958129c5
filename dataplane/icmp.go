package dataplane

import (
	"encoding/binary"
	"slices"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// What a router with an address says by ICMP (RFC 792; RFC 1812, 4.3 and 5.2.7): it answers an
// echo to its addresses, and tells the source of a datagram that its time is over or that there
// is no way on. It does so in the lowest lossy priority, and of frames of lossy priorities only: what
// a lossless priority loses is counted, and must not create frames of another priority.

// Types and codes of ICMP messages (RFC 792).
const (
	icmpEchoReply    = 0
	icmpUnreachable  = 3
	icmpSourceQuench = 4
	icmpRedirect     = 5
	icmpEcho         = 8
	icmpTimeExceeded = 11
	icmpParameter    = 12

	codeNet  = 0 // of icmpUnreachable
	codeHost = 1
	codeTTL  = 0 // of icmpTimeExceeded
)

const (
	icmpLen     = 8
	icmpLongest = 576    // of a datagram that tells an error, which quotes as much as fits (RFC 1812, 4.3.2.3)
	icmpTTL     = 64 + 1 // 64 is the Internet's default; the way out takes one
	// icmpEach and icmpBurst limit the errors sent about what came in by a port (RFC 1812,
	// 4.3.2.8): a hundred a second, and ten at once.
	icmpEach  = 10 * unit.Millisecond
	icmpBurst = 10
)

// icmpErrors are the types about which no error is sent (RFC 1812, 4.3.2.7).
var icmpErrors = []byte{icmpUnreachable, icmpSourceQuench, icmpRedirect, icmpTimeExceeded, icmpParameter}

func newICMPBudget() budget { return budget{each: icmpEach, burst: icmpEach * (icmpBurst - 1)} }

// saysICMP reports whether there is a priority in which ICMP messages may leave.
func (s *Switch) saysICMP() bool { return !s.lossless.Has(s.priorities.lossy) }

// receiveOwn takes a datagram for the switch itself: an echo is answered, and there is no use for
// anything else.
func (s *Switch) receiveOwn(f *buffer.Frame) {
	p := ether.IPv4(f.Data[f.Info.L3:])
	// An answer needs a lossy priority to leave in and a way back. An echo from an address of the
	// switch itself is forged.
	e := s.fib.lookup(p.Src())
	if !s.saysICMP() || !isEcho(p) || e == nil || s.isOwnIP(p.Src()) {
		s.drop(f, DropNotForUs)
		return
	}
	// setPriority writes the priority into the frame while Info.Priority is still the old one; after that
	// the frame is one of the lossy priority, for accounts, bands and rules too. The TTL is that of
	// a new datagram, and ECN bits are not echoed.
	s.setPriority(f, s.priorities.lossy)
	f.Info.Priority = s.priorities.lossy
	ether.PutIPv4(p, p[1]&^ether.CE, icmpTTL, ether.ProtoICMP, p.TotalLen(), p.Dst(), p.Src())
	setICMPType(p[ether.IPv4Len:], icmpEchoReply)
	s.addressed(f)
	s.forward(unit.NoPort, f, e)
}

// isEcho reports whether p is an echo that can be answered as it is: whole, and without options,
// of which some would have to be turned round.
func isEcho(p ether.IPv4) bool {
	const more, offset = 0x2000, 0x1fff
	return p.Proto() == ether.ProtoICMP && p.HeaderLen() == ether.IPv4Len &&
		min(len(p), p.TotalLen()) >= ether.IPv4Len+icmpLen &&
		binary.BigEndian.Uint16(p[6:])&(more|offset) == 0 && p[ether.IPv4Len] == icmpEcho && p[ether.IPv4Len+1] == 0
}

// setICMPType replaces the type and updates the checksum incrementally (RFC 1624, equation 3).
// So what was damaged on the way arrives damaged at the sender of the echo.
func setICMPType(m []byte, kind uint8) {
	old := binary.BigEndian.Uint16(m)
	m[0] = kind
	sum := uint64(^binary.BigEndian.Uint16(m[2:])) + uint64(^old) + uint64(binary.BigEndian.Uint16(m))
	binary.BigEndian.PutUint16(m[2:], ^ether.Fold(sum))
}

// addressed notes in f.Info where a datagram goes once the switch has changed its
// addresses.
func (s *Switch) addressed(f *buffer.Frame) {
	p := ether.IPv4(f.Data[f.Info.L3:])
	sport, dport := p.Ports()
	f.Info.DstIP, f.Info.TTL = p.Dst(), p.TTL()
	f.Info.Hash = ether.FlowHash(p.Src(), p.Dst(), p.Proto(), sport, dport)
}

// tell tells the source of f, which is about to be dropped, why. Preconditions: f is IPv4 and its
// TTL is as it came, since it is quoted. What is not told is counted nowhere. The budget is asked
// last, so that only what is sent uses it.
func (s *Switch) tell(f *buffer.Frame, kind, code uint8) {
	p := ether.IPv4(f.Data[f.Info.L3:])
	e, from := s.fib.lookup(p.Src()), s.ownAddress(f.In)
	if e == nil || from == 0 || !s.isTold(f, p) || !s.hasSlot() || s.uncharged >= s.cfg.Slots || !s.ports[s.station[f.In]].icmp.take(s.now) {
		return
	}
	// The message counts as received at the port of the datagram that it is about.
	g := s.pool.Get()
	// How long the message is depends on the datagram, not on how much of it is kept (buffer.Frame.Data),
	// nor on what the slot has grown to for an older frame.
	const head = ether.HeaderLen + ether.IPv4Len + icmpLen
	quote := p[:min(len(p), p.TotalLen())]
	total := ether.IPv4Len + icmpLen + min(p.TotalLen(), min(icmpLongest+ether.HeaderLen, s.cfg.MaxFrame)-head)
	g.Len = max(ether.HeaderLen+total, ether.MinLen)
	g.Data = g.Data[:min(g.Len, s.pool.SlotBytes())]
	// What an older frame left in the slot must not leave in the padding.
	clear(g.Data)
	g.Data[12], g.Data[13] = ether.TypeIPv4>>8, ether.TypeIPv4&0xff
	datagram := g.Data[ether.HeaderLen:]
	ether.PutIPv4(datagram, s.priorities.dscp[s.priorities.lossy]<<2, icmpTTL, ether.ProtoICMP, total, from, p.Src())
	m := datagram[ether.IPv4Len:min(total, len(datagram))]
	m[0], m[1] = kind, code
	copy(m[icmpLen:], quote)
	binary.BigEndian.PutUint16(m[2:], ether.Checksum(m))
	g.In, g.Info = f.In, buffer.Info{Kind: kindData, Priority: s.priorities.lossy, L3: ether.HeaderLen}
	s.addressed(g)
	s.forward(unit.NoPort, g, e)
}

// isTold reports whether the source of f, whose header is p, is told that f is dropped: not of
// a lossless frame, of an ICMP error, of a fragment that is not the first, nor if it is
// the switch itself (RFC 1812, 4.3.2.7). No datagram to a group, from a martian, or
// in a frame for a group comes so far.
func (s *Switch) isTold(f *buffer.Frame, p ether.IPv4) bool {
	switch h := p.HeaderLen(); {
	case s.isLossless(f) || !s.saysICMP() || p.IsFragment() || s.isOwnIP(p.Src()):
		return false
	case p.Proto() == ether.ProtoICMP:
		return len(p) > h && p.TotalLen() > h && !slices.Contains(icmpErrors, p[h])
	}
	return true
}

// isOwnIP reports whether ip is the switch's own.
func (s *Switch) isOwnIP(ip uint32) bool {
	own := slices.ContainsFunc(s.cfg.Subnets, func(sub Subnet) bool { return addr32(sub.Gateway) == ip })
	return own || s.routerID != 0 && s.routerID == ip
}

// ownAddress is the address by which the switch speaks of what came in by a port: the gateway of
// its subnet, the router ID if the port is in none, or the first gateway without a router ID; 0
// if there is neither.
func (s *Switch) ownAddress(in unit.Port) uint32 {
	subnet := s.ports[in].subnet
	if len(s.cfg.Subnets) == 0 || subnet < 0 && s.routerID != 0 {
		return s.routerID
	}
	return addr32(s.cfg.Subnets[max(0, subnet)].Gateway)
}

package dataplane

import (
	"encoding/binary"
	"errors"

	"softswitch/detect"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/lldp"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Kinds of frame, in buffer.Info.Kind. Their order counts: overBudget compares with kindARP, and
// kindBad is the zero value, so that Parse drops what it returns early for.
const (
	kindBad  uint8 = iota // drop for Info.Reason
	kindData              // anything to forward
	kindLLDP              // LLDP to the nearest bridge, not yet decoded, where the switch speaks it
	// What follows is control frames: see budget.go.
	kindARP     // a valid ARP packet
	kindPFC     // a valid PFC frame
	kindMessage // an ITSY message frame, not yet decoded
	kindPause   // a valid 802.3x PAUSE
)

// reservedGroups are the sixteen group addresses 01-80-C2-00-00-0X, which no bridge
// forwards (IEEE 802.1Q, 8.6.3): LLDP, STP and the like.
const reservedGroups = 0x0180c2000000

// Parse reads what the switch needs to know of a frame, outside the driver's
// lock. It is pure: f.Info depends on f.Data, f.In and the configuration alone. A MAC Control
// frame is padded.
//
// The order of the cases matters. MAC Control frames are recognised first, by address or
// EtherType, since none is ever forwarded. Messages come before the groups to which their own
// address belongs. Both have lengths of their own, so the longest frame is checked last.
func (s *Switch) Parse(f *buffer.Frame) {
	i := &f.Info
	*i = buffer.Info{}
	etherType, off, pcp, tagged, ok := ether.Layer(f.Data)
	if !ok {
		i.Reason = uint8(DropShort)
		return
	}
	i.DstMAC, i.SrcMAC = uint64(ether.Dst(f.Data)), uint64(ether.Src(f.Data))
	switch {
	case pfcframe.IsMACControl(f.Data):
		f.Data = pfcframe.Pad(f.Data)
		f.Len = max(f.Len, len(f.Data))
		i.Kind, i.Reason = parseControl(f.Data)
		return
	case itsyhdr.IsMessage(f.Data):
		i.Kind = kindMessage
		return
	case i.DstMAC&^0xf == reservedGroups:
		if s.cfg.LLDP.Interval > 0 && lldp.Is(f.Data) {
			i.Kind = kindLLDP
			return
		}
		i.Reason = uint8(DropReservedGroup)
		return
	case f.Len > s.cfg.MaxFrame+off-ether.HeaderLen:
		i.Reason = uint8(DropLong)
		return
	}
	if tagged {
		// Also where the DSCP is trusted: a frame that is not IPv4 has no other field for it.
		i.Priority = unit.Priority(pcp)
	}
	i.Kind, i.L3 = kindData, int16(off)
	switch etherType {
	case ether.TypeIPv4:
		s.parseIPv4(f.In, i, ether.IPv4(f.Data[off:]), f.Len-off)
	case ether.TypeARP:
		i.Kind = kindARP
		if !ether.ARP(f.Data[off:]).Valid() {
			i.Kind, i.Reason = kindBad, uint8(DropMalformedARP)
		}
	default:
		// L3 is the offset of a header that the switch reads; 0 says that it reads none.
		i.L3 = 0
	}
}

func (s *Switch) parseIPv4(in unit.Port, i *buffer.Info, p ether.IPv4, n int) {
	if !p.Valid(n) {
		i.Kind, i.Reason = kindBad, uint8(DropMalformedIP)
		return
	}
	if c := s.classesAt(in); !c.TrustPCP {
		i.Priority = c.DSCP[p.DSCP()]
	}
	i.DstIP, i.TTL = p.Dst(), p.TTL()
	// Kind stays kindData: only route acts on the reason. It is found here because this runs
	// outside the lock.
	if s.routed {
		i.Reason = uint8(s.unroutable(p))
	}
	// All fragments of a datagram have one hash, that of addresses and protocol alone, and so one
	// way.
	sport, dport := p.Ports()
	i.Hash = ether.FlowHash(p.Src(), i.DstIP, p.Proto(), sport, dport)
}

// parseControl tells PFC and PAUSE frames from every other MAC control frame. None
// is ever forwarded (IEEE 802.3, 31.3).
func parseControl(b []byte) (kind, reason uint8) {
	_, _, err := pfcframe.Parse(b)
	switch {
	case err == nil:
		return kindPFC, 0
	case errors.Is(err, pfcframe.ErrPause):
		if _, _, err := pfcframe.ParsePause(b); err == nil {
			return kindPause, 0
		}
		return kindBad, uint8(DropPause8023)
	case errors.Is(err, pfcframe.ErrShort):
		return kindBad, uint8(DropPFCShort)
	case errors.Is(err, pfcframe.ErrLong):
		return kindBad, uint8(DropPFCLong)
	case errors.Is(err, pfcframe.ErrAddress):
		return kindBad, uint8(DropPFCAddress)
	case errors.Is(err, pfcframe.ErrReserved):
		return kindBad, uint8(DropPFCReserved)
	}
	return kindBad, uint8(DropPFCOpcode)
}

// flowOf is the flow of a frame, 0 if it is not IPv4: of no other Parse makes a hash.
func flowOf(f *buffer.Frame) detect.FlowID { return detect.FlowID(f.Info.Hash) }

// isIPv4 reports whether a data frame carries IPv4, whose header Info.L3 locates.
func isIPv4(f *buffer.Frame) bool {
	return f.Info.L3 != 0 && binary.BigEndian.Uint16(f.Data[f.Info.L3-2:]) == ether.TypeIPv4
}

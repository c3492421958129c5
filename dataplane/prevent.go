package dataplane

import (
	"encoding/binary"
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// This file is what keeps buffers from waiting for one another in a ring: the priority
// in which a frame leaves, and limits on what comes in. A frame that changes its
// priority is charged to the one in which it came, whose pauses its sender honours; one
// that goes on in a lossy priority is charged to nobody.

// Rewrite gives a lossless frame that came in Priority by a port of In and leaves by a
// port of Out the priority To. No two have a priority and a pair of ports in common.
type Rewrite struct {
	Priority unit.Priority
	In, Out  unit.PortSet
	To       unit.Priority
}

// TTLBands makes the priority of a lossless frame that is routed follow the TTL with
// which it leaves (Hu et al., "Deadlocks in Datacenter Networks", section 4): the last
// of Priorities has those up to Width, the one before it those up to twice Width, and so
// on; the first has all that are left. No bands if Width is 0.
type TTLBands struct {
	Width      int
	Priorities []unit.Priority
}

// priority is the priority of a TTL. A frame that is only bridged may have one of 0: it is in the last
// band, as one of 1.
func (b *TTLBands) priority(ttl uint8) unit.Priority {
	return b.Priorities[max(0, len(b.Priorities)-1-(int(max(ttl, 1))-1)/b.Width)]
}

// Limit drops lossless frames that come in at In above Rate, which is above 0: those
// of Priority if OfPriority is set, else those of Flow.
type Limit struct {
	In         unit.Port
	OfPriority bool
	Priority   unit.Priority
	Flow       detect.FlowID
	Rate       unit.Rate
}

// priorities is what gives frames another priority.
type priorities struct {
	rewrite []unit.Priority // by priority, ingress and egress port; nil if there are no rules
	ports   int
	dscp    [unit.Priorities]uint8 // the code point that a priority is marked with
	lossy   unit.Priority          // of frames that must not be lossless
}

// newPriorities prepares c's rules. The error names a priority that no code point maps to.
func newPriorities(c *Config) (k priorities, err error) {
	k.ports = len(c.Ports)
	// lossy is the lowest lossy priority, or 7 if there is none: then saysICMP says no, and package
	// config refuses no_flood.
	for k.lossy < unit.Priorities-1 && c.Buffer.Lossless.Has(k.lossy) {
		k.lossy++
	}
	marked := unit.PrioritySet(0)
	if c.NoFlood {
		marked.Add(k.lossy)
	}
	// A priority that no rule changes goes on as itself.
	if len(c.Rewrites) > 0 {
		k.rewrite = make([]unit.Priority, unit.Priorities*k.ports*k.ports)
		for i := range k.rewrite {
			k.rewrite[i] = unit.Priority(i / (k.ports * k.ports))
		}
	}
	for _, r := range c.Rewrites {
		marked.Add(r.To)
		for ins := r.In; !ins.Empty(); ins.Pop() {
			for outs := r.Out; !outs.Empty(); outs.Pop() {
				k.rewrite[k.at(r.Priority, ins.First(), outs.First())] = r.To
			}
		}
	}
	if c.Bands.Width > 0 {
		for _, priority := range c.Bands.Priorities {
			marked.Add(priority)
		}
	}
	// Only priorities in which frames leave need a code point, and only where the DSCP is what
	// gives the priority.
	for priority := range unit.Priority(unit.Priorities) {
		dscp, ok := codePoint(&c.DSCP, priority)
		if !ok && marked.Has(priority) && !c.TrustPCP {
			return k, fmt.Errorf("no DSCP maps to priority %d, in which frames are to leave; map one", priority)
		}
		k.dscp[priority] = dscp
	}
	return k, nil
}

func (k *priorities) at(priority unit.Priority, in, out unit.Port) int {
	return (int(priority)*k.ports+int(in))*k.ports + int(out)
}

// codePoint is the DSCP to mark a priority with: 26 for priority 3 and 8 x priority for others,
// as hosts have it, or else the lowest that the switch maps to the priority.
func codePoint(priorities *[64]unit.Priority, c unit.Priority) (dscp uint8, ok bool) {
	usual := uint8(c) << 3
	if c == 3 {
		usual = 26
	}
	if priorities[usual] == c {
		return usual, true
	}
	lowest := slices.Index(priorities[:], c)
	return uint8(max(0, lowest)), lowest >= 0
}

// outPriority is the priority in which f leaves by out. A frame without a field that says
// its priority keeps it.
func (s *Switch) outPriority(f *buffer.Frame, out unit.Port) unit.Priority {
	c := f.Info.Priority
	switch {
	case s.priorities.rewrite == nil && s.cfg.Bands.Width == 0 || !s.isLossless(f):
		return c
	// A switch that only bridges lowers no TTL, so bands mean nothing there. Package config
	// allows no rules beside bands.
	case s.cfg.Bands.Width > 0 && s.routed && isIPv4(f):
		return s.cfg.Bands.priority(ether.IPv4(f.Data[f.Info.L3:]).TTL())
	case s.priorities.rewrite != nil && (s.byDSCP(f) || isTagged(f)):
		return s.priorities.rewrite[s.priorities.at(c, f.In, out)]
	}
	return c
}

// setPriority makes f leave in priority c, and says so in the field that the next switch
// trusts. InPriority stays that of arrival: its priority group is charged, and its pauses are those that the
// sender honours. Preconditions: nobody shares the bytes of f yet.
func (s *Switch) setPriority(f *buffer.Frame, c unit.Priority) {
	f.InPriority, f.OutPriority = f.Info.Priority, c
	if c == f.Info.Priority {
		return
	}
	switch {
	case s.byDSCP(f):
		setDSCP(ether.IPv4(f.Data[f.Info.L3:]), s.priorities.dscp[c])
	case isTagged(f):
		f.Data[ether.HeaderLen] = f.Data[ether.HeaderLen]&0x1f | byte(c)<<5
	}
}

// byDSCP reports whether f's priority is that of its DSCP.
func (s *Switch) byDSCP(f *buffer.Frame) bool { return !s.cfg.TrustPCP && isIPv4(f) }

func isTagged(f *buffer.Frame) bool {
	return binary.BigEndian.Uint16(f.Data[ether.HeaderLen-2:]) == ether.TypeVLAN
}

// setDSCP replaces the code point and leaves the ECN bits alone.
func setDSCP(p ether.IPv4, dscp uint8) { setTOS(p, p[1]&3|dscp<<2) }

// setTOS replaces the octet of code point and ECN bits, and updates the checksum
// incrementally (RFC 1624, equation 3). So a header that came damaged leaves damaged, and the
// receiver sees it.
func setTOS(p ether.IPv4, tos uint8) {
	old := binary.BigEndian.Uint16(p)
	p[1] = tos
	sum := uint32(^binary.BigEndian.Uint16(p[10:])) + uint32(^old) + uint32(binary.BigEndian.Uint16(p))
	sum = sum&0xffff + sum>>16
	sum += sum >> 16
	binary.BigEndian.PutUint16(p[10:], ^uint16(sum))
}

// sameAccount are the ports of outs, which is not empty, by which f leaves in the same
// priority as by the first of them, and is charged to its priority group as there.
func (s *Switch) sameAccount(f *buffer.Frame, outs unit.PortSet) (same unit.PortSet) {
	c, b := s.outPriority(f, outs.First()), detect.PG{Port: f.In, Priority: f.Info.Priority}
	lossy := s.isLossy(b, detect.Queue{Port: outs.First(), Priority: c})
	for ; !outs.Empty(); outs.Pop() {
		out := outs.First()
		if s.outPriority(f, out) == c && s.isLossy(b, detect.Queue{Port: out, Priority: c}) == lossy {
			same.Add(out)
		}
	}
	return same
}

// floodAlso floods f to further ports, by which it leaves in another priority, or charged
// otherwise, than by those that it is flooded to next: copies share their bytes, and so
// the priority in them and the charge. It is a frame of its own.
func (s *Switch) floodAlso(f *buffer.Frame, outs unit.PortSet) {
	// Unlike a copy it takes a slot of its own, and so stops at the reserve.
	if !s.hasSlot() {
		s.noCopies(f, outs)
		return
	}
	g := s.pool.Get()
	g.Data = append(g.Data[:0], f.Data...)
	g.Len, g.In, g.Info = f.Len, f.In, f.Info
	s.flood(g, outs)
}

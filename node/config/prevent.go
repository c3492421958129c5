package config

import (
	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Rewrite gives a lossless frame that came in Priority by a port of In and leaves by a
// port of Out another priority, To: it is queued in To and marked with it. It is still
// accounted to Priority at the ingress if To is lossless; if To is lossy it is not
// accounted.
type Rewrite struct {
	Priority int   `yaml:"priority" schema:"0..7" was:"class"`
	In       []int `yaml:"in" schema:"0..255,required"`
	Out      []int `yaml:"out" schema:"0..255,required"`
	To       int   `yaml:"to" schema:"0..7"`
}

// Limit drops frames of a priority or of one flow that arrive at Port above Rate.
type Limit struct {
	Port int `yaml:"port" schema:"0..255"`
	// Exactly one of Priority and Flow is set.
	Priority *int       `yaml:"priority,omitempty" schema:"0..7" was:"class"`
	Flow     *LimitFlow `yaml:"flow,omitempty"`
	Rate     unit.Rate  `yaml:"rate" schema:"rate,required"` // bits on the wire per second, above zero
}

// GFC is Gentle Flow Control between switches: the fuller a priority group, the lower the rate that the
// switch before it is told, a half, a quarter and so on of the link's. None is stopped. Hosts are paused
// as ever.
type GFC struct {
	// Start is how many bytes of a priority group halve the rate of the switch before it; default the
	// XOFF threshold less the headroom and two frames. With more, frames may be lost before a message
	// has its effect.
	Start *int `yaml:"start,omitempty" schema:"1..1073741824"`
	// Lowest is the rate below which nobody is slowed down: at most half of every link's.
	Lowest unit.Rate `yaml:"lowest,omitempty" schema:"rate,default=8kbit/s"`
}

// Ring is the place of a switch in a ring of switches, in one direction: what comes by port In goes on by
// port Out. Other frames leave by Out only while no more than Room bytes of those wait there in their
// priority.
type Ring struct {
	In   int `yaml:"in" schema:"0..255"`
	Out  int `yaml:"out" schema:"0..255"`
	Room int `yaml:"room" schema:"0..1073741824"`
}

// LongestCharge is what the longest frame is charged.
func (s *Switch) LongestCharge() int {
	c := buffer.Config{Cell: s.Buffer.Cell}
	return c.Charge(MaxFrame(s.MTU) + ether.VLANLen)
}

// gfc is that of a port, nil if the port has none.
func (s *Switch) gfc(port int) *dataplane.GFC {
	if s.GFC == nil || s.Ports[port].Peer == "host" {
		return nil
	}
	threshold, _ := s.Thresholds(port)
	// Rates are of bytes that flow, and a frame comes whole: one that has begun, and the one behind it.
	full := threshold + s.XOFFOf(port) - 2*s.LongestCharge()
	c := dataplane.GFC{Start: full - 2*s.XOFFOf(port), Full: full, Lowest: s.GFC.Lowest}
	if s.GFC.Start != nil {
		c.Start = *s.GFC.Start
	}
	return &c
}

// LimitFlow is a stream of UDP frames to port 4791.
type LimitFlow struct {
	From    unit.Addr `yaml:"from" schema:"ip,required"` // addresses
	To      unit.Addr `yaml:"to" schema:"ip,required"`
	SrcPort uint16    `yaml:"src_port" schema:"1..65535,required"`
}

// ID is how a switch identifies the flow.
func (f LimitFlow) ID() detect.FlowID {
	return detect.FlowID(ether.FlowHash(uint32(f.From), uint32(f.To), ether.ProtoUDP, f.SrcPort, host.Port))
}

// buildPrevention adds the settings that prevent deadlocks to c.
func (s *Switch) buildPrevention(c *dataplane.Config) {
	for _, r := range s.Rewrite {
		c.Rewrites = append(c.Rewrites, dataplane.Rewrite{Priority: unit.Priority(r.Priority), In: portSet(r.In), Out: portSet(r.Out), To: unit.Priority(r.To)})
	}
	if c.Bands.Width = s.TTLBand; s.TTLBand > 0 {
		c.Bands.Priorities = lists.Map(s.PFC.Lossless, func(c int) unit.Priority { return unit.Priority(c) })
	}
	c.NoFlood = s.NoFlood
	for _, r := range s.Rings {
		c.Rings = append(c.Rings, dataplane.Ring{In: unit.Port(r.In), Out: unit.Port(r.Out), Room: r.Room})
	}
	for _, l := range s.Limits {
		limit := dataplane.Limit{In: unit.Port(l.Port), Rate: l.Rate}
		if l.Flow != nil {
			limit.Flow = l.Flow.ID()
		} else {
			limit.OfPriority, limit.Priority = true, unit.Priority(*l.Priority)
		}
		c.Limits = append(c.Limits, limit)
	}
}

// Thresholds is where the priority groups of a port go XOFF and XON, in bytes, in an s that is filled in
// and has static thresholds.
func (s *Switch) Thresholds(port int) (xoff, xon int) {
	own := s.Buffer.at(s.Ports[port])
	_, xoff = own.thresholds()
	return xoff, min(max(*own.XON, xoff-*own.XONOffset), xoff)
}

// thresholds returns those of the ports, nil if all have the profile's.
func (s *Switch) thresholds() (ts []buffer.Threshold) {
	own := false
	for _, p := range s.Ports {
		b := s.Buffer.at(p)
		own = own || p.StaticTh != nil || p.XONOffset != nil
		if b.StaticTh != nil {
			ts = append(ts, buffer.Threshold{StaticTh: *b.StaticTh, XONOffset: *b.XONOffset})
		}
	}
	if !own {
		return nil
	}
	return ts
}

// at is the profile for the priority groups of a port.
func (b Buffer) at(p Port) Buffer {
	if p.StaticTh != nil {
		b.StaticTh = p.StaticTh
	}
	if p.XONOffset != nil {
		b.XONOffset = p.XONOffset
	}
	return b
}

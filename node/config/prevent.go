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

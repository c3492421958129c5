package dataplane

import "softswitch/unit"

// Ways returns the ports by which a frame of priority c that enters at port in may leave, if it
// is routed to the address dst: one of them, by the hash of its flow, or all if it is
// flooded, of a LAG one. The set is empty if the frame is dropped. Nothing is forwarded: the static check
// uses Ways to find cyclic buffer dependencies. It has to follow forward and deliver step by
// step: an edge that it leaves out is a ring that the check does not find.
func (s *Switch) Ways(in unit.Port, dst uint32, c unit.Priority) (outs unit.PortSet, flooded bool) {
	e := s.fib.lookup(dst)
	if e == nil {
		return unit.PortSet{}, false
	}
	if e.subnet < 0 {
		return e.ways(in, s.lag[in], s.ports[in].acted.avoid), false
	}
	mac, _, ok := s.arps.lookup(s.now, dst)
	if !ok {
		return unit.PortSet{}, false
	}
	if out, ok := s.macs.lookup(s.now, int(e.subnet), mac); ok {
		if members := s.lag[out].And(s.up); !members.Empty() {
			return members, false
		}
		return e.ways(in, s.lag[in], s.ports[in].acted.avoid), false
	}
	if s.cfg.NoFlood && s.ports[in].lossless.Has(c) {
		return unit.PortSet{}, false
	}
	return s.floods(in, int(e.subnet)), true
}

// Way is the port of Ways by which a frame leaves that is not flooded, if its flow has
// this hash; unit.NoPort if there is none.
func (s *Switch) Way(in unit.Port, dst uint32, c unit.Priority, hash uint32) unit.Port {
	outs, _ := s.Ways(in, dst, c)
	return Choose(s, outs, hash)
}

// Choose is the port of outs by which a frame leaves s if its flow has this hash; unit.NoPort if there is
// none.
func Choose(s *Switch, outs unit.PortSet, hash uint32) unit.Port {
	return choose(outs, s.cfg.LAGs, hash, s.cfg.HashSeed)
}

// WaysBy is s.Ways of a frame that is routed by these ports, or while all of them are down by those of backup,
// whatever route the switch has: by what a routing protocol would give it, say.
func WaysBy(s *Switch, in unit.Port, ports, backup unit.PortSet) unit.PortSet {
	e := fibEntry{active: ports.And(s.up)}
	if e.active.Empty() {
		e.active = backup.And(s.up)
	}
	return e.ways(in, s.lag[in], s.ports[in].acted.avoid)
}

// PriorityOut is the priority in which such a frame leaves by out with a TTL of ttl, if it
// says its priority in the field that the switch trusts.
func (s *Switch) PriorityOut(c unit.Priority, in, out unit.Port, ttl uint8) unit.Priority {
	switch {
	case !s.ports[in].lossless.Has(c):
		return c
	case s.cfg.Bands.Width > 0:
		return s.cfg.Bands.priority(ttl)
	case s.priorities.rewrite != nil:
		return s.priorities.rewrite[s.priorities.at(c, in, out)]
	}
	return c
}

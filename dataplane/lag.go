package dataplane

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// LAG is links to one neighbour that act as one (IEEE 802.1AX); SONiC calls it a PortChannel. To
// routes, the MAC table and flooding it is one way. Its members are links like any other to pauses,
// priority groups, queues and the detector.
//
// It is static: no LACP is spoken, and a member takes part as long as its link is up.
type LAG struct {
	Name  string
	Ports unit.PortSet
}

// checkLAGs refuses what the switch cannot run with: a port of two LAGs.
func (c *Config) checkLAGs() error {
	var all unit.PortSet
	for _, l := range c.LAGs {
		if l.Ports.Empty() || !l.Ports.Without(unit.PortsBelow(len(c.Ports))).Empty() || !l.Ports.And(all).Empty() {
			return fmt.Errorf("%s: ports %s; valid: some of the %d, of no other LAG", l.Name, l.Ports, len(c.Ports))
		}
		all = all.Or(l.Ports)
	}
	return nil
}

// setLAGs tells each port which ports act as one with it.
func (s *Switch) setLAGs() {
	s.lag, s.station = make([]unit.PortSet, len(s.ports)), make([]unit.Port, len(s.ports))
	for i := range s.ports {
		s.lag[i], s.station[i] = unit.Port(i).Set(), unit.Port(i)
	}
	for _, l := range s.cfg.LAGs {
		for ports := l.Ports; !ports.Empty(); ports.Pop() {
			s.lag[ports.First()], s.station[ports.First()] = l.Ports, l.Ports.First()
		}
	}
}

// choose chooses one of several ports by a flow's hash: the neighbour first, so that a LAG has the
// part of one link, then the member of a LAG, by another part of the hash. unit.NoPort of none.
func choose(ways unit.PortSet, lags []LAG, hash, seed uint32) unit.Port {
	n := ways.Len()
	switch {
	case n == 0:
		return unit.NoPort
	case n == 1:
		return ways.First()
	case len(lags) == 0:
		return ways.Nth(ether.Pick(hash, seed, n))
	}
	// Of each LAG the lowest port stands for all.
	first := oneOfEach(ways, lags)
	out := first.Nth(ether.Pick(hash, seed, first.Len()))
	for i := range lags {
		if lags[i].Ports.Has(out) {
			return member(ways.And(lags[i].Ports), hash, seed)
		}
	}
	return out
}

// oneOfEach leaves of each LAG the lowest port of ports.
func oneOfEach(ports unit.PortSet, lags []LAG) unit.PortSet {
	for i := range lags {
		rest := ports.And(lags[i].Ports)
		rest.Pop()
		ports = ports.Without(rest)
	}
	return ports
}

// member chooses one of the ports of a LAG; unit.NoPort of none.
func member(ports unit.PortSet, hash, seed uint32) unit.Port {
	if n := ports.Len(); n > 1 {
		return ports.Nth(ether.PickMember(hash, seed, n))
	}
	return ports.First()
}

// memberFor is the port by which f leaves towards a station of port p: p itself, or of its LAG one
// that is up; unit.NoPort if none of the LAG is.
func (s *Switch) memberFor(f *buffer.Frame, p unit.Port) unit.Port {
	if len(s.cfg.LAGs) == 0 {
		return p
	}
	return s.memberOfLAG(f, p)
}

func (s *Switch) memberOfLAG(f *buffer.Frame, p unit.Port) unit.Port {
	return member(s.up.And(s.lag[p]), frameHash(f), s.cfg.HashSeed)
}

// frameHash is the hash of what f belongs to: of its flow, or of its two stations if it is not IPv4.
func frameHash(f *buffer.Frame) uint32 {
	if f.Info.Hash != 0 {
		return f.Info.Hash
	}
	return uint32(stat.Mix(f.Info.SrcMAC<<16^f.Info.DstMAC) >> 32)
}

// oneCopyEach leaves of each LAG the port by which f leaves: a LAG gets one copy of what is flooded.
func (s *Switch) oneCopyEach(f *buffer.Frame, outs unit.PortSet) unit.PortSet {
	for i := range s.cfg.LAGs {
		if members := outs.And(s.cfg.LAGs[i].Ports); members.Len() > 1 {
			outs = outs.Without(members).Or(member(members, frameHash(f), s.cfg.HashSeed).Set())
		}
	}
	return outs
}

// eventMembers logs how many members of the LAG of port n, whose link has changed, are up.
func (s *Switch) eventMembers(n unit.Port) {
	if all := s.lag[n]; all.Len() > 1 {
		s.event(event.Event{Type: event.Members, Port: n, Bytes: int32(s.up.And(all).Len())})
	}
}

// LAGOf is the LAG that a port is in, nil if it is in none.
func (c *Config) LAGOf(p unit.Port) *LAG {
	for i := range c.LAGs {
		if c.LAGs[i].Ports.Has(p) {
			return &c.LAGs[i]
		}
	}
	return nil
}

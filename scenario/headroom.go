package scenario

import (
	"cmp"
	"fmt"

	"softswitch/buffer"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// XOFF is the headroom of each priority group of a switch's port in bytes.
func (s *Scenario) XOFF(e topo.End) int {
	if n := s.headroom(e); n > 0 {
		return n
	}
	return *s.Buffer.XOFF
}

// HasHeadroom is the headroom of each priority group at an end of a link, in bytes: of a switch's port
// XOFF, of a host its part of the receive buffer.
func (s *Scenario) HasHeadroom(e topo.End) int {
	if s.Fabric.Nodes[e.Node].Kind == topo.Switch {
		return s.XOFF(e)
	}
	return cmp.Or(s.headroom(e), s.RxBuffer) / rxShare
}

// headroom is what Headrooms has of an end.
func (s *Scenario) headroom(e topo.End) int { return s.Headrooms.at(s.Fabric, e) }

// rxShare is which part of a host's receive buffer is headroom: it pauses at three quarters.
const rxShare = 4

// mostHeadroom bounds what an end of a link gets by default, in bytes: it leaves room for the slack
// of a live run in the gigabyte that a buffer may have.
const mostHeadroom = 1<<30 - 1<<27

// platform gives s what the tables of a platform have and the file does not say. It returns the
// platform, nil for none.
func (p *parser) platform(s *Scenario, name string) *buffer.Platform {
	if name == "" {
		return nil
	}
	m, err := buffer.PlatformNamed(name)
	if err != nil {
		p.Choice("platform", name, buffer.Platforms())
		return nil
	}
	b := &s.Buffer
	if !p.Has("buffer.cell") {
		b.Cell = m.Cell
	}
	if m.Dynamic && b.StaticTh == nil && b.DynamicTh == nil {
		b.DynamicTh = &m.DynamicTh
	}
	if m.XONOffset > 0 && b.XONOffset == nil {
		b.XONOffset = &m.XONOffset
	}
	if b.XON == nil {
		with := *b
		with.XON = &m.XON
		if with.Fill(); with.XONCounts() && m.XON < with.XOFFThreshold() {
			b.XON = &m.XON
		}
	}
	return m
}

// headrooms gives each end of a link of s what it needs, as far as the file does not say it, and
// tells where the file says too little. A far end sends half of the usual headroom at once
// (buffer.MMU.AtOnce), so that nobody gets less than that. m is the platform of the switches, or nil;
// xoff and rxBuffer are whether the file says them.
func (p *parser) headrooms(s *Scenario, m *buffer.Platform, xoff, rxBuffer bool) {
	if s.Fabric == nil || p.Err() != nil || len(s.Lossless()) == 0 {
		return
	}
	rooms := make(PerEnd[int], len(s.Links))
	var short config.Shortages
	own := false
	for _, l := range s.Fabric.Links {
		for _, e := range [2]topo.End{l.A, l.B} {
			to := rooms.of(s.Fabric, e)
			if s.Fabric.Nodes[e.Node].Kind == topo.Switch {
				*to = p.portHeadroom(s, m, e, xoff, &short)
			} else {
				*to = s.hostBuffer(e, rxBuffer, &short)
			}
			own = own || *to > 0
		}
	}
	s.Warnings = append(s.Warnings, short.Warnings(p.Doc)...)
	if own {
		s.Headrooms = rooms
	}
	p.warnPools(s)
}

// portHeadroom is that of a switch's port, 0 if it is Buffer's.
func (p *parser) portHeadroom(s *Scenario, m *buffer.Platform, e topo.End, written bool, short *config.Shortages) int {
	link, needs := s.end(e, s.Buffer.Cell)
	link.Key, link.Has, link.Step = "buffer.xoff", *s.Buffer.XOFF, 1
	speed := s.Links[s.Fabric.Nodes[e.Node].Ports[e.Port].Link]
	switch {
	case s.port(e).XOFF != nil:
		link.Key, link.Has = s.port(e).key+".xoff", *s.port(e).XOFF
	case written:
		link.Or = ", or leave it out"
	case m != nil:
		n, err := m.XOFF(speed.Rate, config.CableOf(speed.Longest()))
		if err != nil && !p.Faulty("platform") {
			p.Faultf("platform", "%v (%s); write buffer.xoff, or another platform", err, link.End)
		}
		link.Key, link.Has, link.Or = "platform", n, " as buffer.xoff"
	default:
		link.Has = min(max(link.Has, config.RoundHeadroom(needs)), mostHeadroom)
	}
	if len(s.LosslessAt(e)) > 0 {
		short.Add(link)
	}
	if link.Has == *s.Buffer.XOFF {
		return 0
	}
	return link.Has
}

// hostBuffer is the receive buffer of a host, 0 if it is the default one.
func (s *Scenario) hostBuffer(e topo.End, written bool, short *config.Shortages) int {
	end, needs := s.end(e, 0)
	size := s.RxBuffer
	if end.Or = ", or leave it out"; !written {
		size = min(max(config.DefaultRxBuffer, rxShare*config.RoundHeadroom(needs)), mostHeadroom)
	}
	end.Key, end.Has, end.Step = "host.rx_buffer", size/rxShare, rxShare
	if len(s.LosslessAt(e)) > 0 {
		short.Add(end)
	}
	if size == config.DefaultRxBuffer {
		return 0
	}
	return size
}

// NeedsHeadroom is the headroom that an end of a link needs in bytes ([buffer.LinkEnd.Headroom]):
// a host counts bytes, a switch cells, if it has them.
func (s *Scenario) NeedsHeadroom(e topo.End) int {
	cell := s.Buffer.Cell
	if s.Fabric.Nodes[e.Node].Kind != topo.Switch {
		cell = 0
	}
	_, needs := s.end(e, cell)
	return needs
}

// end is the end of a link, and the headroom that it needs with such a cell.
func (s *Scenario) end(e topo.End, cell int) (end config.Shortage, needs int) {
	port := s.Fabric.Nodes[e.Node].Ports[e.Port]
	l := s.Links[port.Link]
	delay := l.Longest()
	needs = s.PFC.NeedsHeadroom(l.Rate, delay, s.MTU, cell)
	return config.Shortage{
		End:  fmt.Sprintf("%s to %s", s.Fabric.Nodes[e.Node].Name, s.Fabric.Nodes[port.Peer.Node].Name),
		Link: config.LinkText(l.Rate, delay), Needs: needs,
	}, needs
}

// warnPools tells of switches whose pool of headroom is less than all groups can need, those that
// are alike in one line.
func (p *parser) warnPools(s *Scenario) {
	short := s.poolsShort()
	for _, text := range short.Keys {
		who := short.Of[text][0]
		if more := len(short.Of[text]) - 1; more > 0 {
			who = fmt.Sprintf("%s and %s", who, unit.Count(more, "more switch"))
		}
		s.Warnings = append(s.Warnings, p.At("buffer.headroom_pool", who+": "+text).String())
	}
}

// PoolsShort are the names of the switches whose pool of headroom is less than all groups can need.
func (s *Scenario) PoolsShort() (names []string) {
	short := s.poolsShort()
	for _, text := range short.Keys {
		names = append(names, short.Of[text]...)
	}
	return names
}

// poolsShort are the names of these switches, by the text that says by how much.
func (s *Scenario) poolsShort() (short lists.Groups[string, string]) {
	if s.Buffer.HeadroomPool == nil {
		return short
	}
	for i, n := range s.Fabric.Nodes[:s.Fabric.Switches()] {
		sw := config.Switch{Buffer: s.Buffer, PFC: s.PFC}
		for j := range n.Ports {
			e := topo.End{Node: i, Port: unit.Port(j)}
			xoff, lossless := s.XOFF(e), s.LosslessAt(e)
			sw.Ports = append(sw.Ports, config.Port{XOFF: &xoff, Lossless: &lossless})
		}
		if text, ok := sw.PoolShort(); ok {
			short.Add(text, n.Name)
		}
	}
	return short
}

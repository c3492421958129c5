package model

import (
	"fmt"

	"softswitch/unit"
)

// plan is a Fabric with what is looked up in it.
type plan struct {
	Fabric
	ends  [maxSwitches + 1][maxPorts]*end
	turns [maxSwitches + 1][maxPorts][]portMask // of the frames that come in by a port
}

// end is an end of a link.
type end struct {
	link  int
	from  bool // its queue sends frames; the priority group at the other end takes them
	other unit.NodePort
}

// newPlan panics if f is larger than this package is made for.
func newPlan(f Fabric) *plan {
	if f.Switches > maxSwitches || len(f.Links) > maxLinks {
		panic(fmt.Sprintf("model: %s: %d switches, %d links: want at most %d and %d", f.Name, f.Switches, len(f.Links), maxSwitches, maxLinks))
	}
	p := &plan{Fabric: f}
	for l, k := range f.Links {
		p.ends[k.From.Node][k.From.Port] = &end{l, true, k.To}
		p.ends[k.To.Node][k.To.Port] = &end{l, false, k.From}
	}
	for _, t := range f.Turns {
		p.turns[t.At][t.In] = append(p.turns[t.At][t.In], maskOf(t.Outs))
	}
	return p
}

// end is the end of a link at port p of switch k, nil if a host is there.
func (pl *plan) end(k unit.NodeID, p unit.Port) *end { return pl.ends[k][p] }

// linksFrom are the links that leave switch k by the ports of m.
func (pl *plan) linksFrom(k unit.NodeID, m portMask) (set links) {
	for rest := m &^ leaving; rest != 0; rest &= rest - 1 {
		if e := pl.ends[k][rest.first()]; e != nil {
			set |= 1 << e.link
		}
	}
	return set
}

// A link has two wires: 2l the way of frames, by which messages go downstream, and 2l+1 back.

// out is the wire on which this end sends.
func (e *end) out() int { return 2*e.link + one(!e.from) }

// receiver is the end at which a wire's frames arrive.
func (pl *plan) receiver(wire int) unit.NodePort {
	l := pl.Links[wire/2]
	if wire%2 == 0 {
		return l.To
	}
	return l.From
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

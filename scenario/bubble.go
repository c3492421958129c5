package scenario

import (
	"errors"
	"fmt"
	"slices"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// Bubble is bubble injection (Carrión et al., "A Flow Control Mechanism to Avoid Message Deadlock in k-ary
// n-cube Networks", HiPC 1997) in rings of switches, in both directions: what is new to a ring waits while the
// ring has no room at the switch where it comes in.
//
// Of n priority groups on a ring that all wait, each holds more than XON of it. So a ring moves as long as it
// holds no more than n XON. When a frame is let in at one switch the other n - 1 groups hold at most K each,
// which is XOFF and the headroom; that switch's own holds Room, and at most its headroom H is on the way to it:
//
//	(n-1) K + Room + H + frame = n XON
//
// and from the last frame that is let in on a ring holds no more than then.
type Bubble struct {
	Rings [][]int // of switches, in order; each link of a ring is the only one between its switches
}

// ringPort is the place of a switch in a ring, in one direction.
type ringPort struct {
	at      int
	in, out unit.Port
}

// around are the places in a ring of switches in one direction. The error names what is no ring.
func (s *Scenario) around(ring []int) (all []ringPort, err error) {
	n := len(ring)
	if n < 2 {
		return nil, errors.New("a ring has two switches or more")
	}
	for k, at := range ring {
		if slices.Contains(ring[:k], at) {
			return nil, fmt.Errorf("%s is there twice: a ring passes a switch once", s.Fabric.Nodes[at].Name)
		}
		in, err := s.onlyPort(at, ring[(k+n-1)%n])
		if err != nil {
			return nil, err
		}
		out, err := s.onlyPort(at, ring[(k+1)%n])
		if err != nil {
			return nil, err
		}
		all = append(all, ringPort{at, in, out})
	}
	return all, nil
}

// onlyPort is the port of a switch to another one beside it.
func (s *Scenario) onlyPort(at, to int) (unit.Port, error) {
	n, found := 0, 0
	for j, p := range s.Fabric.Nodes[at].Ports {
		if p.Peer.Node == to {
			n, found = n+1, j
		}
	}
	if n != 1 {
		return 0, fmt.Errorf("%s and %s have %s between them: a ring has one", s.Fabric.Nodes[at].Name, s.Fabric.Nodes[to].Name, unit.Count(n, "link"))
	}
	return unit.Port(found), nil
}

// ringGroup is what a priority group on a ring may hold, in bytes.
type ringGroup struct{ xoff, xon, headroom int }

// injects puts the rings of the scenario into the configurations of switches, which are there.
func (p *Plan) injects(doc *strictyaml.Doc) {
	s := p.Scenario
	if s.Prevention == nil || s.Prevention.Bubble == nil {
		return
	}
	for i, ring := range s.Prevention.Bubble.Rings {
		back := slices.Clone(ring)
		slices.Reverse(back)
		directions := [][]int{ring, back}
		if len(ring) == 2 {
			directions = directions[:1] // it is its own way back
		}
		for _, ring := range directions {
			if err := p.inject(ring); err != nil {
				doc.Faultf(fmt.Sprintf("prevention.bubble.rings[%d]", i), "%v", err)
				break
			}
		}
	}
}

// inject puts one direction of a ring into the configurations of its switches.
func (p *Plan) inject(ring []int) error {
	all, err := p.Scenario.around(ring)
	if err != nil {
		return err
	}
	groups := lists.Map(all, func(at ringPort) ringGroup {
		c := &p.Switches[at.at]
		xoff, xon := c.Thresholds(int(at.in))
		return ringGroup{xoff, xon, c.XOFFOf(int(at.in))}
	})
	frame := p.Switches[ring[0]].LongestCharge()
	for k, at := range all {
		room := -groups[k].headroom - frame
		for j, g := range groups {
			room += g.xon
			if j != k {
				room -= g.xoff + g.headroom
			}
		}
		if room < 0 {
			g := groups[k]
			return fmt.Errorf("it may hold as much as locks it even if no more comes in: with headroom of %d bytes and XON %d below XOFF a ring of %d has to have XON at %d bytes or more, and at %s it is at %d: use a static_th of %d or more",
				g.headroom, g.xoff-g.xon, len(ring), g.needs(len(ring), frame), p.Fabric.Nodes[at.at].Name, g.xon, g.needs(len(ring), frame)+g.xoff-g.xon-p.Scenario.Buffer.Size)
		}
		c := &p.Switches[at.at]
		c.Rings = append(c.Rings, config.Ring{In: int(at.in), Out: int(at.out), Room: room})
	}
	return nil
}

// needs is the least XON with which a ring of n groups as g has room, at the same distance from XOFF.
func (g ringGroup) needs(n, frame int) int {
	return g.headroom + frame + (n-1)*(g.xoff-g.xon+g.headroom)
}

// bubbleOffset is how far below XOFF preventByBubble puts XON, at most: the less, the less buffer it takes.
const bubbleOffset = 4096

// preventByBubble makes rings of the cycles that the ways of the flows close, and gives all priority groups
// the buffer that the longest of them takes.
func (s *Scenario) preventByBubble() error {
	if s.Buffer.StaticTh == nil {
		return errors.New("its thresholds are dynamic")
	}
	p, err := Compile(s)
	if err != nil {
		return err
	}
	rings, err := p.rings()
	if err != nil {
		return err
	}
	v := s.prevented()
	v.Bubble = &Bubble{Rings: rings}
	t := *s
	t.Prevention, t.doc = v, nil
	offset := min(*s.Buffer.XONOffset, bubbleOffset)
	for _, ring := range rings {
		all, err := s.around(ring)
		if err != nil {
			return err
		}
		for _, at := range all {
			g := ringGroup{xoff: offset, headroom: s.XOFF(topo.End{Node: at.at, Port: at.in})}
			if th := g.needs(len(ring), p.Switches[at.at].LongestCharge()) + offset - s.Buffer.Size; th > *t.Buffer.StaticTh {
				t.Buffer.StaticTh = &th
			}
		}
	}
	t.Buffer.XONOffset = &offset
	if _, err := Compile(&t); err != nil {
		return err
	}
	s.Buffer, s.Prevention = t.Buffer, v
	return nil
}

// rings are the cycles of buffers that the paths of the lossless flows close, each as a list of switches.
// The error says why they are no rings.
func (p *Plan) rings() (rings [][]int, err error) {
	on, next := p.cycle(), map[topo.End]topo.End{}
	var starts []topo.End
	for flow, path := range p.Flows {
		for i := 1; i < len(path.Hops) && p.lossless(flow); i++ {
			a, b := path.Hops[i-1], path.Hops[i]
			from, to := topo.End{Node: a.Node, Port: a.In}, topo.End{Node: b.Node, Port: b.In}
			if !on[from] || !on[to] {
				continue
			}
			if was, ok := next[from]; ok && was != to {
				return nil, fmt.Errorf("at %s cycles of buffers part: they are no rings", p.Fabric.Nodes[b.Node].Name)
			}
			if _, ok := next[from]; !ok {
				next[from] = to
				starts = append(starts, from)
			}
		}
	}
	if len(starts) == 0 {
		return nil, errors.New("the ways of the flows close no cycle of buffers: there is no ring")
	}
	seen := map[topo.End]bool{}
	for _, e := range starts {
		var ring []int
		for ; !seen[e]; e = next[e] {
			seen[e] = true
			ring = append(ring, e.Node)
		}
		if ring == nil || slices.ContainsFunc(rings, func(r []int) bool { return sameRing(r, ring) }) {
			continue
		}
		rings = append(rings, ring)
	}
	return rings, nil
}

// sameRing reports whether two rings are one, in one direction or both.
func sameRing(a, b []int) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// bubble reads the rings of a file.
func (p *parser) bubble(path string, f *fileBubble) *Bubble {
	b := &Bubble{}
	if len(f.Rings) == 0 {
		p.Faultf(path+".rings", "no ring: write its switches in order, such as [[s1, s2, s3]]")
	}
	for i, names := range f.Rings {
		var ring []int
		for j, name := range names {
			at, ok := p.node(fmt.Sprintf("%s.rings[%d][%d]", path, i, j), name, "switch")
			if !ok {
				return b
			}
			ring = append(ring, at)
		}
		b.Rings = append(b.Rings, ring)
	}
	return b
}

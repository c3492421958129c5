package topo

import (
	"fmt"
	"maps"
	"slices"

	"softswitch/unit"
)

// LAG is links between two switches that act as one (IEEE 802.1AX), all that there are between the
// two, by index and in ascending order.
type LAG struct{ Links []int }

// Aggregation is a LAG to be made: of all links between the two switches that Link joins. Links that are
// missing until there are Members of them are added, behind all others; 0 adds none.
type Aggregation struct {
	Link    string // the name of a link, either way round
	Members int
}

// minMembers is the fewest links that there is a use for acting as one.
const minMembers = 2

// AggregationError is a LAG that cannot be made.
type AggregationError struct {
	Index int // of the aggregation
	Text  string
}

func (e *AggregationError) Error() string { return fmt.Sprintf("LAG %d: %s", e.Index, e.Text) }

// Aggregate is f with LAGs. The error, an *AggregationError, is of the first that cannot be made.
func Aggregate(f *Fabric, list []Aggregation) (*Fabric, error) {
	if len(list) == 0 {
		return f, nil
	}
	w := newWiring(f)
	pairs := map[[2]int]int{} // of nodes, the lower first: index in list
	order := make([][2]int, len(list))
	for i, a := range list {
		pair, err := w.aggregate(a)
		if err != nil {
			return nil, &AggregationError{i, err.Error()}
		}
		if _, twice := pairs[pair]; twice {
			return nil, &AggregationError{i, fmt.Sprintf("the links between %s and %s act as one already", f.Nodes[pair[0]].Name, f.Nodes[pair[1]].Name)}
		}
		pairs[pair], order[i] = i, pair
	}
	g := w.build()
	g.LAGs = make([]LAG, len(list))
	for l, link := range g.Links {
		if i, is := pairs[nodePair(link.A.Node, link.B.Node)]; is {
			g.LAGs[i].Links = append(g.LAGs[i].Links, l)
		}
	}
	for _, lag := range g.LAGs {
		ports := map[int]unit.PortSet{}
		for _, l := range lag.Links {
			for _, e := range [2]End{g.Links[l].A, g.Links[l].B} {
				set := ports[e.Node]
				set.Add(e.Port)
				ports[e.Node] = set
			}
		}
		for _, n := range slices.Sorted(maps.Keys(ports)) {
			g.Nodes[n].LAGs = append(g.Nodes[n].LAGs, ports[n])
		}
	}
	return g, nil
}

func nodePair(a, z int) [2]int { return [2]int{min(a, z), max(a, z)} }

// aggregate adds the links that a LAG lacks, and returns its two switches.
func (w *wiring) aggregate(a Aggregation) (pair [2]int, err error) {
	first, ok := w.byName[a.Link]
	if !ok {
		_, err = w.remove(a.Link) // says why there is none
		return pair, err
	}
	c := w.cables[first]
	x, y := w.f.Nodes[c.a], w.f.Nodes[c.z]
	if x.Kind != Switch || y.Kind != Switch {
		return pair, fmt.Errorf("link %s leads to a host; links between two switches act as one", a.Link)
	}
	pair = nodePair(c.a, c.z)
	n := 0
	for _, other := range w.cables {
		if nodePair(other.a, other.z) == pair {
			n++
		}
	}
	switch {
	case a.Members == 0 && n < minMembers:
		return pair, fmt.Errorf("there is one link between %s and %s; say how many members there are to be, such as members: 2", x.Name, y.Name)
	case a.Members > 0 && n > a.Members:
		return pair, fmt.Errorf("%d members, and there are %d links between %s and %s, which all act as one", a.Members, n, x.Name, y.Name)
	}
	for ; n < a.Members; n++ {
		w.cables = append(w.cables, cable{})
		if err := w.add(len(w.cables)-1, c.a, c.z); err != nil {
			return pair, err
		}
	}
	return pair, nil
}

// LAG is the ports that act as one with port p, itself among them.
func (n *Node) LAG(p unit.Port) unit.PortSet {
	for _, ports := range n.LAGs {
		if ports.Has(p) {
			return ports
		}
	}
	return p.Set()
}

// LAGOf is the index of the LAG that a link is in, -1 for none.
func (f *Fabric) LAGOf(link int) int {
	return slices.IndexFunc(f.LAGs, func(l LAG) bool { return slices.Contains(l.Links, link) })
}

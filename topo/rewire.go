package topo

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/unit"
)

// Change is a change of a fabric's links; one of its fields is set.
type Change struct {
	Remove string    // the name of a link, either way round
	Add    string    // two nodes, "a--b", which get a link, another one if they have one
	Swap   [2]string // links a--b and c--d, which become a--d and c--b: two cables mixed up
}

// maxChanges limits the changes of a fabric.
const maxChanges = 1000

// ChangeError is a change that cannot be made.
type ChangeError struct {
	Index int // of the change
	Text  string
}

func (e *ChangeError) Error() string { return fmt.Sprintf("change %d: %s", e.Index, e.Text) }

// Rewire is f with its links changed, one change after the other. While that goes on,
// every link keeps its name. In the end links are named, and ports numbered, as if the
// fabric had been built so: in the order of links, where a swapped link has the place of
// the one that it replaces, and an added one comes last. A switch keeps its subnet; one
// that gets its first host has the next that is free.
//
// The error, a *ChangeError, is of the first change that cannot be made, or of the one
// from which on the fabric is in pieces.
func Rewire(f *Fabric, changes []Change) (*Fabric, error) {
	if len(changes) > maxChanges {
		return nil, &ChangeError{maxChanges, fmt.Sprintf("%d changes: at most %d", len(changes), maxChanges)}
	}
	w := newWiring(f)
	for i, c := range changes {
		if err := w.change(c); err != nil {
			return nil, &ChangeError{i, err.Error()}
		}
	}
	if x := w.apart(); x >= 0 {
		return nil, &ChangeError{cutBy(f, changes), fmt.Sprintf("%q is no longer connected to %q: all nodes of a fabric are", f.Nodes[x].Name, f.Nodes[0].Name)}
	}
	return w.build(), nil
}

// cutBy is the change from which on a fabric that ends in pieces is in pieces.
func cutBy(f *Fabric, changes []Change) int {
	cut, w := 0, newWiring(f)
	for i, c := range changes {
		whole := w.apart() < 0
		if whole {
			cut = i
		}
		_ = w.change(c) // it could be made before
	}
	return cut
}

// wiring is the links of a fabric while they change.
type wiring struct {
	f      *Fabric
	cables []cable
	byName map[string]int // of cables, both ways round
	degree []int          // by node
}

// cable is a link; its name is "" once it is removed.
type cable struct {
	name string
	a, z int // nodes
}

func newWiring(f *Fabric) *wiring {
	w := &wiring{f: f, byName: map[string]int{}, degree: make([]int, len(f.Nodes))}
	for _, l := range f.Links {
		w.cables = append(w.cables, cable{})
		w.put(len(w.cables)-1, l.A.Node, l.B.Node)
	}
	return w
}

func (w *wiring) change(c Change) error {
	switch {
	case c.Remove != "":
		_, err := w.remove(c.Remove)
		return err
	case c.Add != "":
		a, z, err := w.ends(c.Add)
		if err == nil {
			w.cables = append(w.cables, cable{})
			err = w.add(len(w.cables)-1, a, z)
		}
		return err
	}
	return w.swap(c.Swap)
}

func (w *wiring) swap(links [2]string) error {
	x, err := w.remove(links[0])
	if err != nil {
		return err
	}
	y, err := w.remove(links[1])
	if err != nil {
		return err
	}
	a, b, _ := w.ends(links[0])
	c, d, _ := w.ends(links[1])
	if err := w.add(x, a, d); err != nil {
		return err
	}
	return w.add(y, c, b)
}

// ends are the nodes in the name of a link, in its order.
func (w *wiring) ends(name string) (a, z int, err error) {
	pair, _, _ := strings.Cut(name, "#")
	first, second, _ := strings.Cut(pair, "--")
	a, ok1 := w.f.Node(first)
	z, ok2 := w.f.Node(second)
	if !ok1 || !ok2 {
		if ok1 {
			first = second
		}
		return 0, 0, fmt.Errorf("%q: no node is called %q", name, first)
	}
	return a, z, nil
}

// remove takes the link of this name away and returns its place in cables.
func (w *wiring) remove(name string) (int, error) {
	i, ok := w.byName[name]
	if !ok {
		a, _, err := w.ends(name)
		if err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("no link is called %q; those of %s are %s", name, w.f.Nodes[a].Name, w.linksOf(a))
	}
	c := w.cables[i]
	forth, back := c.name, w.reverse(c)
	delete(w.byName, forth)
	delete(w.byName, back)
	w.degree[c.a]--
	w.degree[c.z]--
	w.cables[i] = cable{}
	return i, nil
}

// linksOf lists the links of a node, up to eight.
func (w *wiring) linksOf(node int) string {
	var names []string
	for _, c := range w.cables {
		if c.name != "" && (c.a == node || c.z == node) {
			names = append(names, c.name)
		}
	}
	if n := len(names); n > 8 {
		names = append(names[:8], fmt.Sprintf("... (%d in all)", n))
	}
	return strings.Join(names, ", ")
}

// add makes a link between nodes a and z, at place i of cables.
func (w *wiring) add(i, a, z int) error {
	x, y := w.f.Nodes[a], w.f.Nodes[z]
	if a == z {
		return fmt.Errorf("%q is linked to itself", x.Name)
	}
	if x.Kind == Host && y.Kind == Host {
		return fmt.Errorf("%q and %q are hosts: a host is linked to a switch", x.Name, y.Name)
	}
	for _, n := range []int{a, z} {
		switch node := w.f.Nodes[n]; {
		case node.Kind == Host && w.degree[n] >= len(node.Ports):
			return fmt.Errorf("host %q gets another link: it keeps the number that it has, here %s", node.Name, w.linksOf(n))
		case node.Shared && w.joined(a, z):
			return fmt.Errorf("host %q gets two links to one switch: with one address at all links, each leads to another one", node.Name)
		case w.degree[n] == unit.MaxPorts:
			return fmt.Errorf("switch %q has no port left: it has %d links, the most there can be", node.Name, unit.MaxPorts)
		}
	}
	w.put(i, a, z)
	return nil
}

// joined reports whether there is a link between two nodes.
func (w *wiring) joined(a, z int) bool {
	return slices.ContainsFunc(w.cables, func(c cable) bool {
		return c.name != "" && (c.a == a && c.z == z || c.a == z && c.z == a)
	})
}

func (w *wiring) put(i, a, z int) {
	pair := w.f.Nodes[a].Name + "--" + w.f.Nodes[z].Name
	c := cable{name: pair + suffixOf(pair, w.byName), a: a, z: z}
	w.cables[i] = c
	w.byName[c.name], w.byName[w.reverse(c)] = i, i
	w.degree[a]++
	w.degree[z]++
}

// suffixOf is what the name of a further link between two nodes ends in, given the names that are taken.
func suffixOf(pair string, taken map[string]int) (suffix string) {
	for n := 2; ; n++ {
		if _, ok := taken[pair+suffix]; !ok {
			return suffix
		}
		suffix = fmt.Sprintf("#%d", n)
	}
}

// reverse is the name of c the other way round.
func (w *wiring) reverse(c cable) string {
	_, number, many := strings.Cut(c.name, "#")
	name := w.f.Nodes[c.z].Name + "--" + w.f.Nodes[c.a].Name
	if many {
		name += "#" + number
	}
	return name
}

// apart is a node without a path to the first one, -1 if there is none.
func (w *wiring) apart() int {
	at := make([][]int, len(w.f.Nodes))
	for _, c := range w.cables {
		if c.name != "" {
			at[c.a], at[c.z] = append(at[c.a], c.z), append(at[c.z], c.a)
		}
	}
	clear(at[w.f.Switches():]) // frames do not go through a host
	return firstApart(at)
}

func (w *wiring) build() *Fabric {
	b := newBuilder()
	for _, n := range w.f.Nodes {
		i := b.node(n.Kind, "%s", n.Name)
		b.f.Nodes[i].Shared = n.Shared
	}
	for _, c := range w.cables {
		if c.name != "" {
			b.link(c.a, c.z)
		}
	}
	next := len(w.f.Subnets)
	return b.done(func(i, n int) unit.Addr {
		if d := w.f.ownSubnet(i); d >= 0 {
			return w.f.Subnets[d].Addr
		}
		next++
		return inOrder(i, next-1)
	})
}

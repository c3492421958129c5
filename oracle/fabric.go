package oracle

import (
	"errors"
	"fmt"
	"strconv"

	"softswitch/buffer"
	"softswitch/unit"
)

// Node is a switch or a host of a fabric.
type Node struct {
	ID   unit.NodeID
	Name string
	Host bool
	// Rules are those by which the priority groups of a switch resume, by port, if they share a pool
	// that may be short; nil if not: then each priority group's XON is what the events say.
	Rules []buffer.Rule
	// Ports are the names of ports 0, 1, ..., one for each port that the node has. A
	// port with an empty name is named by its number.
	Ports []string
}

// Link joins two ports.
type Link struct{ A, B unit.NodePort }

// Fabric is how switches and hosts are wired. It does not change: a link that fails is
// still wired. The facts tell of the failure: a switch that sees a link go down ends the active
// pauses of its queues there, with an event, and a queue that is not paused is not stuck.
type Fabric struct {
	nodes []Node
	slot  []int32           // by NodeID: index into nodes + 1, 0 for unused
	far   [][]unit.NodePort // by slot and port; zero if not wired
	nth   [][]int           // by slot and port: the how-manieth link between its two nodes, from 1
	pools bool              // some node has Rules
}

// NewFabric makes a fabric of nodes and links. The error lists every fault: a node
// number that is 0 or taken, a name that is empty or taken, more than unit.MaxPorts
// ports, a link with an end that does not exist or is taken.
func NewFabric(nodes []Node, links []Link) (*Fabric, error) {
	f := &Fabric{nodes: nodes, far: make([][]unit.NodePort, len(nodes)), nth: make([][]int, len(nodes))}
	var faults []error
	names := make(map[string]bool, len(nodes))
	for i, n := range nodes {
		faults = append(faults, f.addNode(i, n, names))
	}
	for _, l := range links {
		faults = append(faults, f.addLink(l))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return f, nil
}

// addNode checks node i and makes room for its links. Number 0 stays free, so that the zero NodePort
// can mean "not wired", and the zero Queue and PG "none".
func (f *Fabric) addNode(i int, n Node, names map[string]bool) error {
	switch {
	case n.ID == 0:
		return fmt.Errorf("node %q: number 0: want 1 to 65535", n.Name)
	case f.node(n.ID) != nil:
		return fmt.Errorf("node %q: number %d is taken by %q", n.Name, n.ID, f.node(n.ID).Name)
	case n.Name == "" || names[n.Name]:
		return fmt.Errorf("node %d: name %q is empty or taken", n.ID, n.Name)
	case len(n.Ports) > unit.MaxPorts:
		return fmt.Errorf("node %q: %d ports: want at most %d", n.Name, len(n.Ports), unit.MaxPorts)
	}
	names[n.Name] = true
	f.pools = f.pools || n.Rules != nil
	for int(n.ID) >= len(f.slot) {
		f.slot = append(f.slot, 0)
	}
	f.slot[n.ID] = int32(i) + 1
	f.far[i], f.nth[i] = make([]unit.NodePort, len(n.Ports)), make([]int, len(n.Ports))
	return nil
}

// addLink wires two ports to each other. Invariant: far is symmetric, and a port is wired once; so
// Down and Up are each other's inverse.
func (f *Fabric) addLink(l Link) error {
	for _, end := range [...]unit.NodePort{l.A, l.B} {
		if err := f.check(end); err != nil {
			return fmt.Errorf("link %v to %v: %w", l.A, l.B, err)
		}
		if far, wired := f.Far(end); wired {
			return fmt.Errorf("link %v to %v: %s is wired to %s", l.A, l.B, f.PortName(end), f.PortName(far))
		}
	}
	if l.A == l.B {
		return fmt.Errorf("link %v to %v: both ends are one port", l.A, l.B)
	}
	a, b := f.slot[l.A.Node]-1, f.slot[l.B.Node]-1
	nth := 1
	for _, far := range f.far[a] {
		if far.Node == l.B.Node {
			nth++
		}
	}
	f.far[a][l.A.Port], f.far[b][l.B.Port] = l.B, l.A
	f.nth[a][l.A.Port], f.nth[b][l.B.Port] = nth, nth
	return nil
}

// check returns an error if np is not a port of the fabric.
func (f *Fabric) check(np unit.NodePort) error {
	n := f.node(np.Node)
	if n == nil {
		return fmt.Errorf("node %d: not in the fabric of %d nodes", np.Node, len(f.nodes))
	}
	if int(np.Port) >= len(n.Ports) {
		return fmt.Errorf("%s: port %d: it has %d ports, counted from 0", n.Name, np.Port, len(n.Ports))
	}
	return nil
}

// has reports whether np is a port of the fabric. It is check without the words: each fact asks it.
func (f *Fabric) has(np unit.NodePort) bool {
	return int(np.Node) < len(f.slot) && f.slot[np.Node] != 0 && int(np.Port) < len(f.far[f.slot[np.Node]-1])
}

// node returns nil for an unused number.
func (f *Fabric) node(id unit.NodeID) *Node {
	if int(id) >= len(f.slot) || f.slot[id] == 0 {
		return nil
	}
	return &f.nodes[f.slot[id]-1]
}

// Far is the other end of np's link; wired is false if np is not a port of the fabric
// or has no link.
func (f *Fabric) Far(np unit.NodePort) (far unit.NodePort, wired bool) {
	if !f.has(np) {
		return far, false
	}
	far = f.far[f.slot[np.Node]-1][np.Port]
	return far, !far.IsZero()
}

// Down is the priority group that q's frames are charged to at the far end of its link. Its priority is that
// of the queue, by which the frames are sent. A switch that rewrites priorities does so before it queues a
// frame: a priority group of one priority may wait in a queue of another there.
func (f *Fabric) Down(q Queue) (b PG, wired bool) {
	far, wired := f.Far(q.NodePort)
	return PG{far, q.Priority}, wired
}

// Up is the queue that b pauses: b = Down(Up(b)).
func (f *Fabric) Up(b PG) (q Queue, wired bool) {
	far, wired := f.Far(b.NodePort)
	return Queue{far, b.Priority}, wired
}

// sharesPool reports whether a node's priority groups share a pool that may be short. If so, what a priority
// group holds moves the XON of all others of the node, and facts about priority groups that are not XOFF
// count too.
func (f *Fabric) sharesPool(id unit.NodeID) bool { return f.node(id).Rules != nil }

// FacesHost reports whether the far end of np is a host. A host forwards nothing, so its priority group waits
// for no queue, and a queue that waits for it is on no cycle.
func (f *Fabric) FacesHost(np unit.NodePort) bool {
	far, wired := f.Far(np)
	return wired && f.node(far.Node).Host
}

// Name is a node's name, "#17" for an unused number.
func (f *Fabric) Name(id unit.NodeID) string {
	if n := f.node(id); n != nil {
		return n.Name
	}
	return "#" + strconv.Itoa(int(id))
}

// PortName is np as "core0:eth1", or "core0:1" for a port without a name.
func (f *Fabric) PortName(np unit.NodePort) string {
	return f.Name(np.Node) + ":" + f.Port(np)
}

// Port is the name of np on its node, "eth1", or its number if it has none.
func (f *Fabric) Port(np unit.NodePort) string {
	if n := f.node(np.Node); n != nil && int(np.Port) < len(n.Ports) && n.Ports[np.Port] != "" {
		return n.Ports[np.Port]
	}
	return strconv.Itoa(int(np.Port))
}

// LinkName is the link of np in the direction that leaves np: "core0--agg1-0". Further
// links between the same two nodes, in the order given to NewFabric, end in "#2", "#3",
// ...
func (f *Fabric) LinkName(np unit.NodePort) string {
	far, wired := f.Far(np)
	if !wired {
		return f.PortName(np) + "--nothing"
	}
	name := f.Name(np.Node) + "--" + f.Name(far.Node)
	if nth := f.nth[f.slot[np.Node]-1][np.Port]; nth > 1 {
		name += "#" + strconv.Itoa(nth)
	}
	return name
}

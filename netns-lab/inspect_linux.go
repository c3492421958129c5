package netnslab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"text/tabwriter"

	"github.com/vishvananda/netlink"
)

// Report is the present state of a lab.
type Report struct {
	Name     string       `json:"name"`
	Dir      string       `json:"dir"`
	Complete bool         `json:"complete"`
	Nodes    []NodeReport `json:"nodes"`
	Links    []LinkReport `json:"links"`
}

// NodeReport is the present state of a node.
type NodeReport struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	// Via is how somebody else's node is reached.
	Via []string `json:"via,omitempty"`
	Dir string   `json:"dir"`
	PID int      `json:"pid"` // 0: the node has no process
	// Process is "running", "stopped", "dead", or "none" if the node has none.
	Process string `json:"process"`
	// Beside is how many other nodes the process runs.
	Beside int `json:"beside,omitempty"`
	// Problem is what is wrong with the namespace, or why nobody could look; empty if it is
	// the lab's.
	Problem string `json:"problem,omitempty"`

	err error // of Problem; fs.ErrPermission if this user may not look
}

// LinkReport is the present state of a link.
type LinkReport struct {
	A      End  `json:"a"`
	B      End  `json:"b"`
	AThere bool `json:"a_there"`
	BThere bool `json:"b_there"`
	// Up: both ends exist and are up.
	Up bool `json:"up"`
}

// Inspect returns the present state of the lab. What cannot be inspected counts as
// missing, with the reason in the node's Problem.
func (st *State) Inspect() Report {
	r := Report{Name: st.Name, Dir: st.dir, Complete: st.Complete}
	ups := map[string]map[string]bool{} // by node, interface
	shared := statuses{}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		node := NodeReport{Name: n.Name, Kind: n.Kind, Namespace: n.Namespace, Via: n.Via, Dir: n.Dir, PID: n.PID, Process: "none", Beside: st.beside(n)}
		if len(n.Command) > 0 {
			node.Process = "dead"
		}
		var there map[string]bool
		var err, unasked error
		if boot, err := bootID(); err == nil && boot == st.Boot && n.PID != 0 {
			node.Process = n.process().status()
			if n.Hosting != 0 {
				node.Process, unasked = shared.of(st, n)
			}
		}
		if n.Via != nil {
			node.PID, node.Process, there, err = n.look()
		} else {
			there, err = n.interfaces()
		}
		err = cmp.Or(err, unasked)
		if err != nil {
			node.Problem, node.err = err.Error(), err
			if node.hidden() {
				node.Problem += "; run with sudo"
			}
		}
		ups[n.Name] = there
		r.Nodes = append(r.Nodes, node)
	}
	for _, l := range st.Links {
		a, aThere := ups[l.A.Node][l.A.Iface]
		b, bThere := ups[l.B.Node][l.B.Iface]
		r.Links = append(r.Links, LinkReport{A: l.A, B: l.B, AThere: aThere, BThere: bThere, Up: a && b})
	}
	return r
}

// look asks the agent of an attached node what is there.
func (n *NodeState) look() (pid int, status string, interfaces map[string]bool, err error) {
	var l Look
	if err := n.ask("look", nil, &l); err != nil {
		return 0, "dead", nil, err
	}
	return l.PID, l.Process, l.Interfaces, nil
}

// with says how many nodes share the node's process.
func (n *NodeReport) with() string {
	if n.Beside == 0 {
		return ""
	}
	return fmt.Sprintf(" (one of %d in the process)", n.Beside+1)
}

// hidden reports whether this user may not look into the namespace.
func (n *NodeReport) hidden() bool { return errors.Is(n.err, fs.ErrPermission) }

// Problem returns what part of the lab is missing, nil if none is. Links that are down and
// processes that are stopped are not missing. It is fs.ErrPermission if nothing is missing as
// far as this user may look.
func (st *State) Problem() error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	return st.problem(boot)
}

func (st *State) problem(boot string) error {
	switch {
	case st.Boot != boot:
		return errors.New("its record is of an earlier boot")
	case !st.Complete:
		return errors.New("it is not complete")
	}
	report := st.Inspect()
	var hidden error
	for i := range report.Nodes {
		n := &report.Nodes[i]
		switch {
		case n.err != nil && !n.hidden():
			return fmt.Errorf("node %s: %w", n.Name, n.err)
		case n.Process == "dead" && n.Beside > 0 && st.Nodes[i].process().status() == "dead":
			return fmt.Errorf("the process %d of node %s and %d others is dead", n.PID, n.Name, n.Beside)
		case n.Process == "dead" && n.Beside > 0:
			return fmt.Errorf("node %s is dead; process %d, which ran it, lives", n.Name, n.PID)
		case n.Process == "dead":
			return fmt.Errorf("the process %d of node %s is dead", n.PID, n.Name)
		case n.hidden():
			hidden = n.err
		}
	}
	if hidden != nil {
		return hidden
	}
	for _, l := range report.Links {
		if !l.AThere || !l.BThere {
			return fmt.Errorf("link %v <-> %v is gone", l.A, l.B)
		}
	}
	return nil
}

// WriteText writes a line for each node and each link.
func (r Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	where := "NAMESPACE"
	if len(r.Nodes) > 0 && r.Nodes[0].Via != nil {
		where = "REACHED BY"
	}
	fmt.Fprintf(w, "NODE\tKIND\t%s\tPID\tPROCESS\n", where)
	hidden := map[string]bool{}
	for _, n := range r.Nodes {
		hidden[n.Name] = n.hidden()
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", n.Name, n.Kind, n.Namespace+strings.Join(n.Via, " "), n.PID, strings.TrimSpace(n.Process+n.with()+" "+n.Problem))
	}
	fmt.Fprintln(w, "\nLINK\tSTATE")
	for _, l := range r.Links {
		state := "up"
		switch {
		case hidden[l.A.Node] || hidden[l.B.Node]:
			state = "unknown"
		case !l.Up:
			state = "down"
		}
		fmt.Fprintf(w, "%v\t%s\n", Link{A: l.A, B: l.B}, state)
	}
	return w.Flush()
}

// interfaces returns which interfaces are in the node's namespace, and whether each is up.
func (n *NodeState) interfaces() (map[string]bool, error) {
	s, err := n.seat()
	if err != nil {
		return nil, err
	}
	defer s.close()
	return Interfaces(s.nl)
}

// Interfaces returns which interfaces a namespace has, and whether each is up.
func Interfaces(nl *netlink.Handle) (map[string]bool, error) {
	links, err := nl.LinkList()
	if err != nil {
		return nil, err
	}
	ups := make(map[string]bool, len(links))
	for _, l := range links {
		ups[l.Attrs().Name] = l.Attrs().Flags&net.FlagUp != 0
	}
	return ups, nil
}

// SetInterface sets an interface of a namespace up or down.
func SetInterface(nl *netlink.Handle, name string, up bool) error {
	link, err := nl.LinkByName(name)
	switch {
	case err != nil:
		return err
	case up:
		return nl.LinkSetUp(link)
	}
	return nl.LinkSetDown(link)
}

package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/safefile"
	"softswitch/internal/strictyaml"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
)

// Neighbours are the nodes linked to node.
func Neighbours(st *netnslab.State, node string) (names []string) {
	for _, l := range st.Links {
		switch node {
		case l.A.Node:
			names = append(names, l.B.Node)
		case l.B.Node:
			names = append(names, l.A.Node)
		}
	}
	return names
}

// Between are the links between two nodes, or the one that is named by an interface of one of them:
// NODE:INTERFACE. The error says to what there are links.
func Between(st *netnslab.State, a, b string) (links []netnslab.LinkState, err error) {
	nodeA, _, _ := strings.Cut(a, ":")
	nodeB, _, _ := strings.Cut(b, ":")
	if _, err := Pick(st, []string{nodeA, nodeB}, ""); err != nil {
		return nil, err
	}
	fits := func(e netnslab.End, want string) bool { return e.Node == want || e.String() == want }
	var ends []string // that a link between the nodes has
	for _, l := range st.Links {
		if fits(l.A, a) && fits(l.B, b) || fits(l.A, b) && fits(l.B, a) {
			links = append(links, l)
		}
		if nodes := [2]string{l.A.Node, l.B.Node}; nodes == [2]string{nodeA, nodeB} || nodes == [2]string{nodeB, nodeA} {
			ends = append(ends, l.String())
		}
	}
	switch {
	case len(links) == 0 && len(ends) > 0:
		return nil, fmt.Errorf("lab %s: no link between %q and %q; there is: %s", st.Name, a, b, strings.Join(ends, ", "))
	case len(links) == 0:
		return nil, fmt.Errorf("lab %s: no link between %q and %q; beside %s there is: %s", st.Name, a, b, nodeA, strings.Join(Neighbours(st, nodeA), ", "))
	}
	return links, nil
}

// Load loads the lab of this name. The error lists the labs that are up.
func Load(name string) (*netnslab.State, error) {
	st, err := netnslab.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		labs, _ := netnslab.Labs()
		if len(labs) == 0 {
			return nil, fmt.Errorf("lab %q is not up, nor is any other; see `softswitch lab deploy`", name)
		}
		return nil, fmt.Errorf("lab %q is not up; up: %s", name, strings.Join(labs, ", "))
	}
	return st, err
}

// Await returns when a lab of this name is up and complete, or with ctx's error.
func Await(ctx context.Context, name string) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		st, err := netnslab.Load(name)
		if err == nil && st.Complete || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runsNIC reports whether a node's process is softswitch nic.
func runsNIC(n netnslab.NodeState) bool { return len(n.Command) > 1 && n.Command[1] == nicCommand }

// NICs are the names of the hosts whose process is softswitch nic.
func NICs(st *netnslab.State) []string { return called(lists.Where(st.Nodes, runsNIC)) }

// called are the names of nodes.
func called(nodes []netnslab.NodeState) []string {
	return lists.Map(nodes, func(n netnslab.NodeState) string { return n.Name })
}

// Pick returns the nodes with these names, or all if there are no names. They must be
// of kind "switch" or "host"; "" allows both.
func Pick(st *netnslab.State, names []string, kind string) (nodes []netnslab.NodeState, err error) {
	if len(names) == 0 {
		nodes = ofKind(st, kind)
	}
	all := Names(st, kind)
	for _, name := range names {
		i := slices.IndexFunc(st.Nodes, func(n netnslab.NodeState) bool { return n.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("lab %s: no node %q%s; there is: %s", st.Name, name, strictyaml.DidYouMean(name, all), strings.Join(all, ", "))
		case kind != "" && st.Nodes[i].Kind != kind:
			return nil, fmt.Errorf("lab %s: %s is a %s; want a %s: %s", st.Name, name, st.Nodes[i].Kind, kind, strings.Join(all, ", "))
		}
		nodes = append(nodes, st.Nodes[i])
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("lab %s has no %s", st.Name, kind)
	}
	return nodes, nil
}

// Names are the names of the nodes of a kind; "" means all nodes.
func Names(st *netnslab.State, kind string) []string { return called(ofKind(st, kind)) }

func ofKind(st *netnslab.State, kind string) []netnslab.NodeState {
	return lists.Where(st.Nodes, func(n netnslab.NodeState) bool { return kind == "" || n.Kind == kind })
}

// Endpoints are the control sockets of nodes.
func Endpoints(nodes []netnslab.NodeState) []control.Endpoint {
	return lists.Map(nodes, func(n netnslab.NodeState) control.Endpoint {
		return control.Endpoint{Name: n.Name, Path: ControlPath(n)}
	})
}

// PickSwitches returns the switches with these names; without names, all switches.
func PickSwitches(st *netnslab.State, names []string) ([]netnslab.NodeState, error) {
	return Pick(st, names, "switch")
}

// PickSenders returns the hosts with these names; without names, all hosts that have flows.
func PickSenders(st *netnslab.State, names []string) ([]netnslab.NodeState, error) {
	if len(names) == 0 {
		names = Senders(st)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("lab %s has no host with flows", st.Name)
	}
	nodes, err := Pick(st, names, "host")
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if runsPrograms(n) {
			return nil, fmt.Errorf("lab %s: programs send on %s, which start and stop by themselves; hosts with flows: %s", st.Name, n.Name, strings.Join(Senders(st), ", "))
		}
	}
	return nodes, nil
}

// PickNICs returns the hosts with these names, all of which must have NICs; without
// names, all hosts that have one.
func PickNICs(st *netnslab.State, names []string) ([]netnslab.NodeState, error) {
	all := NICs(st)
	if len(all) == 0 {
		return nil, fmt.Errorf(`lab %s has no NIC: list hosts under "nics" in its scenario file`, st.Name)
	}
	if len(names) == 0 {
		names = all
	}
	nodes, err := Pick(st, names, "host")
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if !runsNIC(n) {
			return nil, fmt.Errorf("lab %s: %s has no NIC for programs%s; those that have: %s", st.Name, n.Name, strictyaml.DidYouMean(n.Name, all), strings.Join(all, ", "))
		}
	}
	return nodes, nil
}

// PickForGuests returns the hosts with these names, as PickNICs does, which have no flow with a handshake: its end
// is the host itself. Without names, all such hosts.
func PickForGuests(st *netnslab.State, names []string) (hosts []netnslab.NodeState, err error) {
	all, err := PickNICs(st, names)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		switch {
		case !agrees(n):
			hosts = append(hosts, n)
		case len(names) > 0:
			return nil, fmt.Errorf("lab %s: %s is itself the end of a flow with a handshake, and can have no guest", st.Name, n.Name)
		}
	}
	return hosts, nil
}

// agrees reports whether a node with a NIC is the end of a flow with a handshake.
func agrees(n netnslab.NodeState) bool {
	data, err := safefile.Read(ConfigPath(n), 1<<20)
	if err != nil {
		return false
	}
	cfg, err := config.LoadNIC(n.Name, data)
	return err == nil && len(cfg.Programs) > 0
}

// runsPrograms reports whether a node has a NIC whose programs start and stop by themselves.
func runsPrograms(n netnslab.NodeState) bool { return runsNIC(n) && !agrees(n) }

// Senders are the hosts that have flows of their own.
func Senders(st *netnslab.State) []string {
	return called(slices.DeleteFunc(ofKind(st, "host"), runsPrograms))
}

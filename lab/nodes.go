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
	"softswitch/internal/strictyaml"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
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

// SetLinks sets the links between two nodes up or down. When it returns the switches at their ends
// have noticed, if they answer: the kernel tells them of it, some milliseconds later.
func SetLinks(ctx context.Context, st *netnslab.State, a, b string, up bool) error {
	links, err := Between(st, a, b)
	if err != nil {
		return err
	}
	set := (*netnslab.State).Fail
	if up {
		set = (*netnslab.State).Heal
	}
	for _, l := range links {
		if err := set(st, l); err != nil {
			return err
		}
	}
	for _, l := range links {
		for _, e := range []netnslab.End{l.A, l.B} {
			if err := awaitNotice(ctx, st, e, up); err != nil {
				return err
			}
		}
	}
	return nil
}

// noticeMax is how long a switch may take to notice that a link went up or down.
const noticeMax = 10 * time.Second

// awaitNotice waits until the switch at the end of a link has noticed that it is up or down. Nobody is
// waited for who does not answer.
func awaitNotice(ctx context.Context, st *netnslab.State, e netnslab.End, up bool) error {
	if !slices.Contains(Names(st, "switch"), e.Node) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, noticeMax, fmt.Errorf("%s does not notice that %s is %s", e.Node, e.Iface, map[bool]string{true: "up", false: "down"}[up]))
	defer cancel()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		var snap observe.Switch
		if err := control.CallWithin(time.Second, controlPath(st, e.Node), "stats", nil, &snap); err != nil {
			return nil
		}
		if slices.ContainsFunc(snap.Ports, func(p observe.Port) bool { return p.Name == e.Iface && p.Up == up }) {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Between are the links between two nodes. The error says to what there are links.
func Between(st *netnslab.State, a, b string) (links []netnslab.LinkState, err error) {
	if _, err := Pick(st, []string{a, b}, ""); err != nil {
		return nil, err
	}
	for _, l := range st.Links {
		ends := [2]string{l.A.Node, l.B.Node}
		if ends == [2]string{a, b} || ends == [2]string{b, a} {
			links = append(links, l)
		}
	}
	if len(links) == 0 {
		return nil, fmt.Errorf("lab %s: no link between %q and %q; beside %s there is: %s", st.Name, a, b, a, strings.Join(Neighbours(st, a), ", "))
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

// runsNIC reports whether a node's process is softswitch nic.
func runsNIC(n netnslab.NodeState) bool { return len(n.Command) > 1 && n.Command[1] == nicCommand }

// NICs are the names of the hosts whose process is softswitch nic.
func NICs(st *netnslab.State) (names []string) {
	for _, n := range st.Nodes {
		if runsNIC(n) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Pick returns the nodes with these names, or all if there are no names. They must be
// of kind "switch" or "host"; "" allows both.
func Pick(st *netnslab.State, names []string, kind string) (nodes []netnslab.NodeState, err error) {
	byName := map[string]netnslab.NodeState{}
	for _, n := range st.Nodes {
		byName[n.Name] = n
		if len(names) == 0 && (kind == "" || n.Kind == kind) {
			nodes = append(nodes, n)
		}
	}
	all := Names(st, kind)
	for _, name := range names {
		n, ok := byName[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("lab %s: no node %q%s; there is: %s", st.Name, name, strictyaml.DidYouMean(name, all), strings.Join(all, ", "))
		case kind != "" && n.Kind != kind:
			return nil, fmt.Errorf("lab %s: %s is a %s; want a %s: %s", st.Name, name, n.Kind, kind, strings.Join(all, ", "))
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("lab %s has no %s", st.Name, kind)
	}
	return nodes, nil
}

// Names are the names of the nodes of a kind; "" means all nodes.
func Names(st *netnslab.State, kind string) (names []string) {
	for _, n := range st.Nodes {
		if kind == "" || n.Kind == kind {
			names = append(names, n.Name)
		}
	}
	return names
}

// Endpoints are the control sockets of nodes.
func Endpoints(nodes []netnslab.NodeState) (ends []control.Endpoint) {
	for _, n := range nodes {
		ends = append(ends, control.Endpoint{Name: n.Name, Path: ControlPath(n)})
	}
	return ends
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
		if runsNIC(n) {
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

package netnslab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"softswitch/internal/lists"
)

// Step is one piece of work. Its String is a shell line of equal effect.
type Step interface {
	String() string
	// phase names what the step is part of; steps of a phase are neighbours.
	phase() string
	// do does the work. If it returns an error, nothing of it is left that is not in
	// the state.
	do(ctx context.Context, b *builder) error
}

// namespacePhase is the phase of the steps that make a node's namespace: addNamespace, and
// what follows it of the same phase.
const namespacePhase = "namespaces"

// LogName is the lab's own file in a node's run directory: what its process says.
const LogName = "log"

// WritePlan writes the steps that Up would take, a line each.
func WritePlan(w io.Writer, l Lab) error {
	steps, err := Plan(l, Dir(l.Name))
	if err != nil {
		return err
	}
	for _, s := range steps {
		if _, err := fmt.Fprintln(w, s); err != nil {
			return err
		}
	}
	return nil
}

// Plan returns the steps that make the lab, in order; dir is the lab's directory,
// [Dir] of its name. Plan is pure. It returns all faults of the lab at once.
//
// The order is: the host's backlog; all namespaces, each with IPv6 off before an
// interface can appear in it; the links; addresses and routes; run directories
// and files; the processes; and last the wait for each to be ready, so that they
// start side by side.
//
// Printed, one per line, the steps are a script for sh. It reads the files of node N
// from ./N/, and its processes lack the mark by which Down finds them.
func Plan(lab Lab, dir string) ([]Step, error) {
	lab = lab.withDefaults()
	if err := lab.check(); err != nil {
		return nil, err
	}
	at := make(map[string]place, len(lab.Nodes))
	for _, n := range lab.Nodes {
		at[n.Name] = place{Node: n.Name, Namespace: namespace(lab.Name, n.Name), Dir: filepath.Join(dir, n.Name)}
	}
	steps := []Step{raiseBacklog{Least: lab.Backlog}}
	for _, n := range lab.Nodes {
		p := at[n.Name]
		steps = append(steps, addNamespace{p}, disableIPv6{p}, upLoopback{p})
	}
	for i, l := range lab.Links {
		a, b := at[l.A.Node], at[l.B.Node]
		steps = append(steps, addLink{l, a, b, firstIndex + i},
			offloadsOff{a, l.A.Iface}, offloadsOff{b, l.B.Iface},
			upLink{a, l.A, l.B}, upLink{b, l.B, l.A})
	}
	for _, n := range lab.Nodes {
		for _, a := range n.Addresses {
			steps = append(steps, addAddress{at[n.Name], a})
		}
		for _, r := range n.Routes {
			steps = append(steps, addRoute{at[n.Name], r})
		}
	}
	for _, n := range lab.Nodes {
		steps = append(steps, makeDir{at[n.Name]})
		for _, f := range n.Files {
			steps = append(steps, writeFile{at[n.Name], f})
		}
	}
	for i := range lab.Hosting {
		p := hostingPlace(dir, i+1)
		steps = append(steps, makeDir{p}, writeFile{p, listFile(hosted(lab, at, i+1))})
	}
	return append(steps, processes(lab, dir, at)...), nil
}

// processes returns the steps that start all processes and then wait for each.
func processes(lab Lab, dir string, at map[string]place) []Step {
	var starts, waits []Step
	for i, h := range lab.Hosting {
		p, nodes := hostingPlace(dir, i+1), len(hosted(lab, at, i+1))
		starts = append(starts, start{p, append(slices.Clone(h.Command), hostingList), h.Env, h.Realtime})
		waits = append(waits, await{p, HostingSocket, readyTimeout + time.Duration(nodes)*readyMore})
	}
	for _, n := range lab.Nodes {
		if len(n.Command) == 0 || n.Hosting != 0 {
			continue
		}
		starts = append(starts, start{at[n.Name], n.Command, n.Env, n.Realtime})
		if n.Ready != "" {
			waits = append(waits, await{at[n.Name], n.Ready, readyTimeout})
		}
	}
	return append(starts, waits...)
}

// place is where a node is on this machine.
type place struct {
	Node      string
	Namespace string // name in NamespaceDir; "" for that of the process that makes the lab
	Dir       string // run directory
}

type raiseBacklog struct{ Least int }

func (s raiseBacklog) phase() string { return "host settings" }
func (s raiseBacklog) String() string {
	return fmt.Sprintf(`test "$(sysctl -n net.core.netdev_max_backlog)" -ge %d || sysctl -qw net.core.netdev_max_backlog=%[1]d`, s.Least)
}

type addNamespace struct{ place }

func (s addNamespace) phase() string  { return namespacePhase }
func (s addNamespace) String() string { return "ip netns add " + s.Namespace }

// disableIPv6 keeps router solicitations and MLD reports off the links.
type disableIPv6 struct{ place }

func (s disableIPv6) phase() string { return namespacePhase }
func (s disableIPv6) String() string {
	return "ip netns exec " + s.Namespace + " sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1"
}

// upLoopback sets lo up and marks the namespace as the lab's.
type upLoopback struct{ place }

func (s upLoopback) phase() string { return namespacePhase }
func (s upLoopback) String() string {
	return fmt.Sprintf("ip -n %s link set dev lo alias %s up", s.Namespace, quote(markOf(s.Dir)))
}

// firstIndex is the interface index of end A of the first link, above all that the kernel
// gives to the ends B: it counts from 2 on in each namespace.
const firstIndex = 10_000

// addLink creates both ends where they belong: no end is ever moved or renamed,
// and none is seen in the host's namespace. Their indices differ, as the ones that the kernel
// would choose in two namespaces need not: of a carrier it tells at once only then, and else
// once a second (linkwatch_urgent_event in net/core/link_watch.c).
type addLink struct {
	Link
	At, Peer place
	Index    int // of end A
}

func (s addLink) phase() string { return "links" }
func (s addLink) String() string {
	return fmt.Sprintf("ip -n %s link add name %s index %d mtu %d address %s type veth peer name %s netns %s mtu %[4]d address %[8]s",
		s.At.Namespace, s.A.Iface, s.Index, s.MTU, s.A.MAC, s.B.Iface, s.Peer.Namespace, s.B.MAC)
}

// offloadsOff makes every frame on the link look as on a wire: at most one MTU long,
// with valid checksums.
type offloadsOff struct {
	place
	Iface string
}

func (s offloadsOff) phase() string { return "links" }
func (s offloadsOff) String() string {
	return fmt.Sprintf("ip netns exec %s ethtool -K %s gro off gso off tso off tx off", s.Namespace, s.Iface)
}

type upLink struct {
	place
	End, Far End
}

func (s upLink) phase() string { return "links" }
func (s upLink) String() string {
	return fmt.Sprintf("ip -n %s link set dev %s alias %s up", s.Namespace, s.End.Iface, quote(s.alias()))
}

func (s upLink) alias() string { return s.End.String() + " <-> " + s.Far.String() }

type addAddress struct {
	place
	Address
}

func (s addAddress) phase() string { return "addresses" }
func (s addAddress) String() string {
	return fmt.Sprintf("ip -n %s addr add %s dev %s", s.Namespace, s.CIDR, s.Iface)
}

type addRoute struct {
	place
	Route
}

func (s addRoute) phase() string { return "addresses" }
func (s addRoute) String() string {
	return fmt.Sprintf("ip -n %s route add %s via %s", s.Namespace, s.Dst, s.Via)
}

type makeDir struct{ place }

func (s makeDir) phase() string  { return "files" }
func (s makeDir) String() string { return "mkdir -p " + quote(s.Dir) }

type writeFile struct {
	place
	File
}

func (s writeFile) phase() string { return "files" }
func (s writeFile) mode() os.FileMode {
	if s.Secret {
		return 0o600
	}
	return 0o644
}

func (s writeFile) String() string {
	return fmt.Sprintf("install -D -m %o %s %s # %d bytes", s.mode(),
		quote(filepath.Join(s.Node, s.Path)), quote(filepath.Join(s.Dir, s.Path)), len(s.Data))
}

type start struct {
	place
	Command, Env []string
	Realtime     bool
}

func (s start) phase() string { return "processes" }
func (s start) String() string {
	var words []string
	if s.Namespace != "" {
		words = append(words, "ip netns exec", s.Namespace)
	}
	if s.Realtime {
		words = append(words, "chrt --rr 1")
	}
	words = append(words, "setsid env -C", quote(s.Dir))
	words = append(words, lists.Map(slices.Concat(s.Env, s.Command), quote)...)
	return strings.Join(words, " ") + " </dev/null >" + quote(filepath.Join(s.Dir, LogName)) + " 2>&1 &"
}

type await struct {
	place
	Ready string
	Limit time.Duration
}

func (s await) phase() string { return "ready" }
func (s await) String() string {
	return fmt.Sprintf("timeout %d sh -c 'until test -e \"$0\"; do sleep 0.01; done' %s",
		int(s.Limit.Seconds()), quote(filepath.Join(s.Dir, s.Ready)))
}

// quote quotes the word for sh.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

package netnslab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// DefaultName is the name of a lab without one.
const DefaultName = "ss"

// DefaultBacklog is the lowest net.core.netdev_max_backlog of a lab that does not set
// one, in frames per CPU. The kernel's own default of 1000 is less than two bursts of a
// link; frames above it are lost without a trace in the switch.
const DefaultBacklog = 100_000

// Lab describes a network: its nodes, their links, their processes. It is plain
// data; its owner may share it.
type Lab struct {
	// Name is the first part of every namespace's name; default [DefaultName].
	Name  string
	Nodes []Node
	Links []Link
	// Hosting are the processes that run several nodes each; see Node.Hosting.
	Hosting []Hosting `json:",omitempty"`
	// Replace allows Up to remove another lab of that name.
	Replace bool `json:"-"`
	// Passing is for a lab whose maker removes it before it ends: Up removes an
	// existing lab of that name if its maker has died.
	Passing bool `json:"-"`
	// Backlog is the lowest net.core.netdev_max_backlog, in frames per CPU; default
	// [DefaultBacklog]. The setting applies to the whole host.
	Backlog int
}

// Node is one namespace and at most one process in it.
type Node struct {
	Name string
	// Kind is "switch" or "host". It is reported by Inspect and changes nothing.
	Kind string
	// Command is the argv of the node's process; empty for a node without one. A
	// name without a slash is looked up in PATH, a path must be absolute. The
	// process starts in the node's run directory, in its own session, with
	// /dev/null as input and the file "log" of the run directory as output.
	Command []string
	// Env is added to the environment of the process: "GOMAXPROCS=1".
	Env []string
	// Realtime runs the process at the lowest real-time priority (SCHED_RR 1), where
	// permitted, so that other work on the machine does not delay it. The kernel
	// reserves a part of the processor for that other work (sched_rt_runtime_us).
	Realtime bool
	// Files are written into the run directory before the process starts.
	Files     []File
	Addresses []Address
	Routes    []Route
	// Via is the command that runs another one beside the node, such as docker exec -i
	// NAME, and Agent the one to be run there to reach it, for Attach alone: the lab did not
	// make the node.
	Via   []string `json:",omitempty"`
	Agent []string `json:",omitempty"`
	// Ready is the path, relative to the run directory, of the file that the process
	// makes when it is ready: a listening unix socket (which gets one connection that
	// closes at once) or any other file. Empty: ready as soon as it runs.
	Ready string
	// Hosting is the number, from 1, of the one of Lab.Hosting that runs the node: Command
	// is then told to it, instead of a process that it makes, and it says when the node is
	// ready. 0: the node has a process of its own.
	Hosting int `json:",omitempty"`
}

// File is a file of a node.
type File struct {
	Path string // relative to the node's run directory
	Data []byte
	// Secret: nobody but its owner may read it.
	Secret bool
}

// Address is an address of an interface of a node.
type Address struct {
	Iface string
	CIDR  string // "10.0.1.2/24"; IPv6 is off in a lab
}

// Route is a route of the kernel's stack in a node.
type Route struct {
	Dst string // "default" or "10.1.0.0/16"
	Via string // "10.0.1.1"
}

// Link is a veth pair.
type Link struct {
	A, B End
	MTU  int // bytes, 68 to 65535
}

// End is one end of a link.
type End struct {
	Node  string `json:"node"`
	Iface string `json:"iface"` // at most 15 characters, as the kernel has it
	MAC   string `json:"mac"`   // "02:00:00:00:00:01"
}

// String returns "node:iface".
func (e End) String() string { return e.Node + ":" + e.Iface }

// String returns "node:iface <-> node:iface".
func (l Link) String() string { return l.A.String() + " <-> " + l.B.String() }

// namespace is the name of a node's namespace, as `ip netns` shows it.
func namespace(lab, node string) string { return lab + "-" + node }

// withDefaults returns the lab with its defaults filled in.
func (l Lab) withDefaults() Lab {
	if l.Name == "" {
		l.Name = DefaultName
	}
	if l.Backlog == 0 {
		l.Backlog = DefaultBacklog
	}
	return l
}

// nameRule holds for the names of labs and nodes: they become file names, words
// of a shell line and parts of a namespace's name.
var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// CheckName returns what is wrong with a lab's name, nil if nothing.
func CheckName(name string) error {
	if !nameRule.MatchString(name) {
		return fmt.Errorf("netnslab: lab name %q: want %s", name, nameWanted)
	}
	return nil
}

// CheckNode returns what is wrong with a node's name, nil if nothing.
func CheckNode(name string) error {
	switch {
	case !nameRule.MatchString(name):
		return fmt.Errorf("netnslab: node name %q: want %s", name, nameWanted)
	case strings.HasPrefix(name, stateName):
		return fmt.Errorf("netnslab: node name %q: want one that does not begin with %q, the lab's own file", name, stateName)
	}
	return nil
}

const nameWanted = "1 to 63 letters, digits, '.', '-' or '_', the first a letter or digit"

// check returns all faults of the lab at once, or nil.
func (l Lab) check() error {
	var c checker
	if err := CheckName(l.Name); err != nil {
		c.faults = append(c.faults, err)
	}
	for _, h := range l.Hosting {
		if len(h.Command) == 0 {
			c.fault("a process for several nodes without a command")
			continue
		}
		c.process("a process for several nodes", h.Command, h.Env)
	}
	if l.Backlog < 0 {
		c.fault("backlog %d: want a number of frames, or 0 for %d", l.Backlog, DefaultBacklog)
	}
	ifaces := map[string][]string{} // by node
	for _, n := range l.Nodes {
		if _, twice := ifaces[n.Name]; twice {
			c.fault("node %q: the name is used twice", n.Name)
		}
		ifaces[n.Name] = nil
	}
	for i, link := range l.Links {
		c.link(i, link, ifaces)
	}
	for _, n := range l.Nodes {
		c.node(n, ifaces[n.Name])
		if n.Hosting < 0 || n.Hosting > len(l.Hosting) || n.Hosting > 0 && len(n.Command) == 0 {
			c.fault("node %s: process %d of the lab, command %q: want 0 for one of its own, or one of the lab's %d, which needs a command", n.Name, n.Hosting, n.Command, len(l.Hosting))
		}
		if (n.Via == nil) != (l.Nodes[0].Via == nil) {
			c.fault("node %s: a lab is made or attached, not some of its nodes this way and some that", n.Name)
		}
	}
	return errors.Join(c.faults...)
}

// checker collects faults.
type checker struct{ faults []error }

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("netnslab: "+format, args...))
}

func (c *checker) link(i int, l Link, ifaces map[string][]string) {
	if l.MTU < 68 || l.MTU > 65535 {
		c.fault("link %d (%v): MTU %d: want 68 to 65535 bytes", i, l, l.MTU)
	}
	for _, e := range []End{l.A, l.B} {
		switch have, known := ifaces[e.Node]; {
		case !known:
			c.fault("link %d (%v): no node %q", i, l, e.Node)
		case slices.Contains(have, e.Iface):
			c.fault("link %d (%v): interface %v is used twice", i, l, e)
		default:
			ifaces[e.Node] = append(have, e.Iface)
		}
		if e.Iface == "" || e.Iface == "lo" || len(e.Iface) > 15 || strings.ContainsAny(e.Iface, "/: \t\n") {
			c.fault("link %d (%v): interface %q: want 1 to 15 characters without space, '/' or ':', and not \"lo\"", i, l, e.Iface)
		}
		if mac, err := net.ParseMAC(e.MAC); err != nil || len(mac) != 6 || mac[0]&1 != 0 {
			c.fault("link %d (%v): MAC %q of %v: want six octets of a station, such as 02:00:00:00:00:01", i, l, e.MAC, e)
		}
	}
}

// process checks a command and its environment.
func (c *checker) process(whose string, command, env []string) {
	if len(command) > 0 && strings.Contains(command[0], "/") && !filepath.IsAbs(command[0]) {
		c.fault("%s: command %q: want an absolute path or a name to look up in PATH", whose, command[0])
	}
	for _, e := range env {
		if !strings.Contains(e, "=") || strings.HasPrefix(e, markVariable+"=") {
			c.fault("%s: environment %q: want NAME=value, and not %s", whose, e, markVariable)
		}
	}
}

func (c *checker) node(n Node, ifaces []string) {
	if err := CheckNode(n.Name); err != nil {
		c.faults = append(c.faults, err)
	}
	if n.Kind != "switch" && n.Kind != "host" {
		c.fault("node %s: kind %q: want switch or host", n.Name, n.Kind)
	}
	c.process("node "+n.Name, n.Command, n.Env)
	if n.Ready != "" && (!filepath.IsLocal(n.Ready) || len(n.Command) == 0) {
		c.fault("node %s: ready %q: want a path inside the run directory, of a node with a command", n.Name, n.Ready)
	}
	for _, f := range n.Files {
		if !filepath.IsLocal(f.Path) || f.Path == LogName {
			c.fault("node %s: file %q: want a path inside the run directory, and not %q", n.Name, f.Path, LogName)
		}
	}
	for _, a := range n.Addresses {
		if !slices.Contains(ifaces, a.Iface) {
			c.fault("node %s: address %s: no interface %q; there is: %s", n.Name, a.CIDR, a.Iface, strings.Join(ifaces, ", "))
		}
		if p, err := netip.ParsePrefix(a.CIDR); err != nil || !p.Addr().Is4() {
			c.fault("node %s: address %q of %s: want an IPv4 address such as 10.0.1.2/24", n.Name, a.CIDR, a.Iface)
		}
	}
	for _, r := range n.Routes {
		if p, err := netip.ParsePrefix(r.Dst); (err != nil || !p.Addr().Is4()) && r.Dst != "default" {
			c.fault("node %s: route to %q: want \"default\" or an IPv4 prefix such as 10.1.0.0/16", n.Name, r.Dst)
		}
		if via, err := netip.ParseAddr(r.Via); err != nil || !via.Is4() {
			c.fault("node %s: route via %q: want an IPv4 address such as 10.0.1.1", n.Name, r.Via)
		}
	}
}

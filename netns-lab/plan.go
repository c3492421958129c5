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
	"softswitch/internal/netspace"
	"softswitch/internal/safefile"
	"softswitch/link/offload"
)

// Step is one piece of work.
type Step struct {
	phase string // names what the step is part of; steps of a phase are neighbours
	at    place  // the node that it is for, or the process of several; zero for none
	text  string
	// do does the work. If it returns an error, nothing of it is left that is not in
	// the state.
	do func(ctx context.Context, b *builder) error
}

// String returns a shell line of equal effect.
func (s Step) String() string { return s.text }

// namespacePhase is the phase of the steps that make a node's namespace.
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
	var p plan
	p.add("host settings", place{},
		fmt.Sprintf(`test "$(sysctl -n net.core.netdev_max_backlog)" -ge %d || sysctl -qw net.core.netdev_max_backlog=%[1]d`, lab.Backlog),
		func(_ context.Context, b *builder) error {
			return raiseTo(lab.Backlog, b.st.dir, b.st.Boot, b.progress)
		})
	for _, n := range lab.Nodes {
		p.namespace(at[n.Name])
	}
	for i, l := range lab.Links {
		p.link(l, at[l.A.Node], at[l.B.Node], firstIndex+i)
	}
	for _, n := range lab.Nodes {
		p.addresses(at[n.Name], n)
	}
	for _, n := range lab.Nodes {
		p.files(at[n.Name], n.Files...)
	}
	for i := range lab.Hosting {
		p.files(hostingPlace(dir, i+1), listFile(hosted(lab, at, i+1)))
	}
	p.processes(lab, dir, at)
	return p.steps, nil
}

// place is where a node is on this machine.
type place struct {
	Node      string
	Namespace string // name in NamespaceDir; "" for that of the process that makes the lab
	Dir       string // run directory
}

// plan collects steps.
type plan struct{ steps []Step }

func (p *plan) add(phase string, at place, text string, do func(ctx context.Context, b *builder) error) {
	p.steps = append(p.steps, Step{phase, at, text, do})
}

// within adds a step that is done in a node's namespace.
func (p *plan) within(phase string, at place, text string, do func(s *seat) error) {
	p.add(phase, at, text, func(_ context.Context, b *builder) error { return do(b.seats[at.Node]) })
}

// namespace adds the steps that make a node's namespace. IPv6 is off to keep router solicitations and
// MLD reports off the links. The alias of lo marks the namespace as the lab's.
func (p *plan) namespace(at place) {
	p.within(namespacePhase, at, "ip netns add "+at.Namespace, func(s *seat) error { return nameNamespace(s.ns, at.Namespace) })
	p.within(namespacePhase, at,
		"ip netns exec "+at.Namespace+" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1", (*seat).disableIPv6)
	p.within(namespacePhase, at, fmt.Sprintf("ip -n %s link set dev lo alias %s up", at.Namespace, quote(markOf(at.Dir))),
		func(s *seat) error { return s.raise("lo", markOf(at.Dir)) })
}

// firstIndex is the interface index of end A of the first link, above all that the kernel
// gives to the ends B: it counts from 2 on in each namespace.
const firstIndex = 10_000

// link adds the steps that make a link between two places. They create both ends where they belong: no end
// is ever moved or renamed, and none is seen in the host's namespace. The index is that of end A. Those of
// the ends differ, as the ones that the kernel would choose in two namespaces need not: of a carrier it
// tells at once only then, and else once a second (linkwatch_urgent_event in net/core/link_watch.c).
//
// Without offloads every frame on the link looks as on a wire: at most one MTU long, with valid checksums.
func (p *plan) link(l Link, a, b place, index int) {
	add := fmt.Sprintf("ip -n %s link add name %s index %d mtu %d address %s type veth peer name %s netns %s mtu %[4]d address %[8]s",
		a.Namespace, l.A.Iface, index, l.MTU, l.A.MAC, l.B.Iface, b.Namespace, l.B.MAC)
	p.add("links", a, add, func(_ context.Context, on *builder) error {
		return on.seats[a.Node].addLink(l, index, on.seats[b.Node])
	})
	ends := []struct {
		at       place
		end, far End
	}{{a, l.A, l.B}, {b, l.B, l.A}}
	for _, e := range ends {
		p.within("links", e.at,
			fmt.Sprintf("ip netns exec %s ethtool -K %s gro off gso off tso off tx off", e.at.Namespace, e.end.Iface),
			func(s *seat) error { return netspace.Inside(s.ns, func() error { return offload.Off(e.end.Iface) }) })
	}
	for _, e := range ends {
		alias := Link{A: e.end, B: e.far}.String()
		p.within("links", e.at, fmt.Sprintf("ip -n %s link set dev %s alias %s up", e.at.Namespace, e.end.Iface, quote(alias)),
			func(s *seat) error { return s.raise(e.end.Iface, alias) })
	}
}

// addresses adds the steps that give a node its addresses and routes.
func (p *plan) addresses(at place, n Node) {
	for _, a := range n.Addresses {
		p.within("addresses", at, fmt.Sprintf("ip -n %s addr add %s dev %s", at.Namespace, a.CIDR, a.Iface),
			func(s *seat) error { return s.addAddress(a) })
	}
	for _, r := range n.Routes {
		p.within("addresses", at, fmt.Sprintf("ip -n %s route add %s via %s", at.Namespace, r.Dst, r.Via),
			func(s *seat) error { return s.addRoute(r) })
	}
}

// files adds the steps that make a run directory and the files in it.
func (p *plan) files(at place, files ...File) {
	p.add("files", at, "mkdir -p "+quote(at.Dir), func(context.Context, *builder) error { return safefile.MkdirAll(at.Dir, 0o755) })
	for _, f := range files {
		path, mode := filepath.Join(at.Dir, f.Path), os.FileMode(0o644)
		if f.Secret {
			mode = 0o600
		}
		p.add("files", at,
			fmt.Sprintf("install -D -m %o %s %s # %d bytes", mode, quote(filepath.Join(at.Node, f.Path)), quote(path), len(f.Data)),
			func(context.Context, *builder) error {
				if err := safefile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				return safefile.WriteFile(path, f.Data, mode)
			})
	}
}

// processes adds the steps that start all processes and then wait for each.
func (p *plan) processes(lab Lab, dir string, at map[string]place) {
	var waits plan
	for i, h := range lab.Hosting {
		place, nodes := hostingPlace(dir, i+1), len(hosted(lab, at, i+1))
		p.start(start{place, append(slices.Clone(h.Command), hostingList), h.Env, h.Realtime})
		waits.await(place, HostingSocket, readyTimeout+time.Duration(nodes)*readyMore)
	}
	for _, n := range lab.Nodes {
		if len(n.Command) == 0 || n.Hosting != 0 {
			continue
		}
		p.start(start{at[n.Name], n.Command, n.Env, n.Realtime})
		if n.Ready != "" {
			waits.await(at[n.Name], n.Ready, readyTimeout)
		}
	}
	p.steps = append(p.steps, waits.steps...)
}

// start is a process to be started.
type start struct {
	place
	Command, Env []string
	Realtime     bool
}

func (p *plan) start(s start) {
	var words []string
	if s.Namespace != "" {
		words = append(words, "ip netns exec", s.Namespace)
	}
	if s.Realtime {
		words = append(words, "chrt --rr 1")
	}
	words = append(words, "setsid env -C", quote(s.Dir))
	words = append(words, lists.Map(slices.Concat(s.Env, s.Command), quote)...)
	text := strings.Join(words, " ") + " </dev/null >" + quote(filepath.Join(s.Dir, LogName)) + " 2>&1 &"
	p.add("processes", s.place, text, func(_ context.Context, b *builder) error { return b.start(s) })
}

// await adds the step that waits, for at most limit, until a file in a run directory says that its process is ready.
func (p *plan) await(at place, ready string, limit time.Duration) {
	path := filepath.Join(at.Dir, ready)
	p.add("ready", at,
		fmt.Sprintf("timeout %d sh -c 'until test -e \"$0\"; do sleep 0.01; done' %s", int(limit.Seconds()), quote(path)),
		func(ctx context.Context, b *builder) error { return awaitReady(ctx, path, b.kids, limit) })
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

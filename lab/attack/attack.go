// Package attack attacks a lab that runs: it puts control frames on a wire with a raw socket, as a
// stranger at a link between two switches would, or a host, and says what the switches did.
//
//	raw socket at a node's interface --heard--> frames of both ends
//	   ^                                           |
//	   '--- forge, replay, reflect, mutate ... <---'   then: counters before and after
//
// Read in this order: Options and Run (this file), kinds.go (what is sent), report.go.
//
// Invariants:
//   - only the lab: frames go into an interface of a namespace of the lab, and nowhere else;
//   - no key: what it sends is made of what it hears and of the fabric's numbers.
//
// It judges no deadlock: a lab run beside it does, by its oracle.
package attack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"softswitch/internal/control"
	"softswitch/internal/ether"
	"softswitch/internal/netspace"
	"softswitch/internal/strictyaml"
	"softswitch/lab"
	"softswitch/link/forge"
	"softswitch/link/impair"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Options are the settings of an attack.
type Options struct {
	// Link is the two nodes of a link, the first of which the frames seem to come from. A
	// host's own link is an attack by that host.
	Link  [2]string
	Kinds []string // of Kinds
	Rate  int      // frames a second
	For   time.Duration
	Seed  uint64
}

// RateMax is the most frames a second.
const RateMax = 200_000

// Check says which option is out of range, and names it by its flag of "softswitch lab attack".
func (o *Options) Check() error {
	switch {
	case o.Rate < 1 || o.Rate > RateMax:
		return fmt.Errorf("--rate: %d; valid: 1 to %d frames a second", o.Rate, RateMax)
	case o.For <= 0 || o.For > 24*time.Hour:
		return fmt.Errorf("--for: %v; valid: above 0s, at most 24h", o.For)
	case len(o.Kinds) == 0:
		return fmt.Errorf("--kinds: none; valid: %s", strings.Join(KindNames(), ", "))
	}
	for _, k := range o.Kinds {
		if !slices.Contains(KindNames(), k) {
			return fmt.Errorf("--kinds: %q%s; valid: %s", k, strictyaml.DidYouMean(k, KindNames()), strings.Join(KindNames(), ", "))
		}
	}
	return nil
}

// Run attacks a lab until the time is up, or ctx ends, which is no error: the report is of what
// was done until then.
func Run(ctx context.Context, st *netnslab.State, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if st.Attached() {
		return nil, errors.New("its nodes are elsewhere: attack from a machine that has their interfaces")
	}
	from, err := endOf(st, o.Link[0], o.Link[1])
	if err != nil {
		return nil, err
	}
	before, err := counts(ctx, st)
	if err != nil {
		return nil, err
	}
	a := &attacker{rng: rand.New(rand.NewPCG(o.Seed, 0)), fabric: before.fabric(), report: newReport(o)}
	if err := a.open(st, from); err != nil {
		return nil, err
	}
	a.send(ctx, o)
	a.close()
	after, err := counts(context.WithoutCancel(ctx), st)
	if err != nil {
		return nil, err
	}
	a.report.compare(before, after)
	return a.report, nil
}

// endOf is the end of the link between two nodes at the first of them.
func endOf(st *netnslab.State, a, b string) (netnslab.End, error) {
	links, err := lab.Between(st, a, b)
	if err != nil {
		return netnslab.End{}, err
	}
	if links[0].A.Node == a {
		return links[0].A, nil
	}
	return links[0].B, nil
}

// attacker is an attack that runs.
type attacker struct {
	conn   *packet.Conn
	src    unit.MAC // of the frames that seem to come from the node
	rng    *rand.Rand
	fabric forge.Fabric
	report *Report

	mu        sync.Mutex
	own, far  impair.Tape // guarded by mu: control frames of the node, and of its far end
	listening sync.WaitGroup
}

// open opens a raw socket at an end of a link.
func (a *attacker) open(st *netnslab.State, from netnslab.End) error {
	nodes, err := lab.Pick(st, []string{from.Node}, "")
	if err != nil {
		return err
	}
	if err := a.src.UnmarshalText([]byte(from.MAC)); err != nil {
		return err
	}
	if nodes[0].Kind == "switch" {
		a.src = lab.PortMAC(a.src)
	}
	ns, err := netspace.Open(filepath.Join(netnslab.NamespaceDir, nodes[0].Namespace))
	if err != nil {
		return err
	}
	defer ns.Close()
	err = netspace.Inside(ns, func() error {
		ifi, err := net.InterfaceByName(from.Iface)
		if err != nil {
			return fmt.Errorf("interface %s of %s: %w", from.Iface, from.Node, err)
		}
		a.conn, err = packet.Listen(ifi, packet.Raw, unix.ETH_P_ALL, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	a.listening.Go(a.listen)
	return nil
}

// listen keeps the control frames that pass in either direction, but not those of the attack.
func (a *attacker) listen() {
	buf := make([]byte, 1<<16)
	for {
		n, _, err := a.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		a.mu.Lock()
		if ether.Src(buf[:n]) == a.src {
			a.own.See(buf[:n])
		} else {
			a.far.See(buf[:n])
		}
		a.mu.Unlock()
	}
}

func (a *attacker) close() {
	a.conn.Close()
	a.listening.Wait()
}

// batch is how often frames are sent.
const batch = 2 * time.Millisecond

// send sends frames until the time is up or ctx ends.
func (a *attacker) send(ctx context.Context, o Options) {
	begun := time.Now()
	tick := time.NewTicker(batch)
	defer tick.Stop()
	defer func() { a.report.Seconds = time.Since(begun).Seconds() }()
	for sent := 0; ; {
		lasted := min(time.Since(begun), o.For)
		for ; sent < int(lasted.Seconds()*float64(o.Rate)); sent++ {
			a.sendOne(o.Kinds[a.rng.IntN(len(o.Kinds))])
		}
		if lasted == o.For {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sendOne sends a frame of a kind.
func (a *attacker) sendOne(kind string) {
	a.mu.Lock()
	frame := kinds[slices.Index(KindNames(), kind)].make(a)
	a.mu.Unlock()
	if len(frame) < ether.HeaderLen {
		a.report.None++
		return
	}
	if _, err := a.conn.WriteTo(frame, &packet.Addr{HardwareAddr: frame[:6]}); err != nil {
		a.report.Failed++
		if a.report.Failure == "" {
			a.report.Failure = err.Error()
		}
		return
	}
	a.report.Sent[kind]++
}

// switches are what all switches of a lab count, by name.
type switches map[string]observe.Sample

func counts(ctx context.Context, st *netnslab.State) (switches, error) {
	nodes, err := lab.PickSwitches(st, nil)
	if err != nil {
		return nil, err
	}
	return control.AskByName(ctx, lab.Endpoints(nodes), client.Sample)
}

// fabric is what an attacker knows.
func (s switches) fabric() forge.Fabric {
	f := forge.Fabric{Quanta: config.DefaultQuanta}
	for _, one := range s {
		for len(f.Ports) < int(one.Switch.ID) {
			f.Ports = append(f.Ports, 1)
		}
		f.Ports[one.Switch.ID-1] = len(one.Switch.Ports)
		f.Lossless = one.Switch.Lossless
	}
	if len(f.Lossless) == 0 {
		f.Lossless = []int{3}
	}
	return f
}

package node

import (
	"context"
	"encoding/json"
	"fmt"

	"softswitch/dataplane"
	"softswitch/host/nic"
	"softswitch/internal/control"
	"softswitch/link"
	"softswitch/link/lldp"
	"softswitch/live"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// wireRing is the wire's receive ring: a window of TCP, which a far end without a rate sends
// at once.
const wireRing = link.DefaultRingBytes

// TakesStack reports whether the stack of a NIC is an interface that exists, and not one that it
// creates.
func TakesStack(cfg config.Host) bool { return cfg.Address.IP == 0 }

// RunNIC runs a NIC until ctx ends.
func RunNIC(ctx context.Context, cfg config.Host) error {
	n, err := nic.New(cfg.BuildNIC(live.Batch, live.Granularity))
	if err != nil {
		return err
	}
	before, err := socketLosses()
	if err != nil {
		return err
	}
	restore, err := claimWire("wire", cfg.Port.Name)
	if err != nil {
		return err
	}
	defer restore()
	stack, sockets := live.Port{Name: cfg.Stack}, socketLosses
	if TakesStack(cfg) {
		if err := checkTaken(cfg); err != nil {
			return fmt.Errorf("stack %s: %w", cfg.Stack, err)
		}
		restore, err := claimWire("stack", cfg.Stack)
		if err != nil {
			return err
		}
		defer restore()
		stack.MTU, stack.RingBytes = cfg.MTU, wireRing
		// The sockets of this namespace are not those of the station.
		before, sockets = 0, func() (uint64, error) { return 0, nil }
	}
	port, err := portOf(cfg.Port, cfg.MTU)
	if err != nil {
		return err
	}
	port.RingBytes = wireRing
	r := runner{
		name: cfg.Name, id: unit.NodeID(cfg.ID), live: cfg.Live, machine: n,
		ports:  []live.Port{port, stack},
		header: replay.Header{Kind: "nic"},
		lldp:   func(p unit.Port) *lldp.Agent { return dataplane.LLDPOf(n.Switch, p) },
		openPort: func(p live.Port) (link.Link, error) {
			if p.Name == cfg.Stack && !TakesStack(cfg) {
				return openStack(cfg)
			}
			return live.OpenPacket(p)
		},
	}
	flows, err := startPrograms(cfg, r.at.says())
	if err != nil {
		return err
	}
	defer flows.close()
	return r.run(ctx, func(node *live.Node, req control.Request) (any, error) {
		if req.Do != "stats" {
			return nil, nicRequest(node, n, cfg, flows, req)
		}
		node.Sync()
		lost, err := sockets()
		if err != nil {
			return nil, err
		}
		out := r.takeNIC(node, n, lost-before)
		flows.report(&out)
		return out, nil
	})
}

func (r *runner) takeNIC(node *live.Node, n *nic.NIC, sockets uint64) (out observe.NIC) {
	var at unit.Time
	links := node.AllStats()
	node.Do(func(now unit.Time) { at, out = now, observe.TakeNIC(n, links, sockets) })
	out.Live = r.files.live(node, at)
	return out
}

// nicRequest handles the requests to a NIC, which are those to a host. Its programs
// start and stop on their own, and so does the far end of a flow with a handshake, so it takes no snapshots: its
// statistics are always as of now.
func nicRequest(node *live.Node, n *nic.NIC, cfg config.Host, flows *programs, req control.Request) (err error) {
	switch req.Do {
	case "start":
		var a replay.Start
		if err := json.Unmarshal(req.Args, &a); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		flows.start(a.At)
		return nil
	case "stop":
		flows.stop()
		return nil
	case "keep":
		return nil
	case "act":
		a, err := replay.ReadAct(req.Args, &cfg)
		if err != nil {
			return err
		}
		node.Do(func(now unit.Time) { err = n.Do(now, a.Build()) })
		return err
	}
	return unknown(req.Do, "stats", "keep", "start", "stop", "act")
}

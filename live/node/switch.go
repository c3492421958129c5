package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/link/auth"
	"softswitch/link/lldp"
	"softswitch/live"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/unit"
)

// RunSwitch runs a switch at a place until ctx ends. When asked to restart, it runs another in its
// place, with empty buffers and zero counters.
func RunSwitch(ctx context.Context, cfg config.Switch, record string, at Place) error {
	for restarts := 0; ; restarts++ {
		next, err := runOnce(ctx, cfg, record, at, restarts)
		if next == nil || err != nil {
			return err
		}
		cfg.Detector, cfg.Response = next.Detector, next.Response
		runtime.GC() // the next one's buffer takes the memory of this one's
	}
}

// runOnce runs a switch until ctx ends, or until it is asked to restart: then next says
// how.
func runOnce(ctx context.Context, cfg config.Switch, record string, at Place, restarts int) (next *restart, err error) {
	d, err := catalog.Named("detector", cfg.Detector)
	if err != nil {
		return nil, err
	}
	policy, err := respond.Parse(cfg.Response)
	if err != nil {
		return nil, err
	}
	wrap := respond.New // what names no loop gives a response nothing to act on, and may be a watchdog that pfcwd replaces
	if d.NamesLoops {
		wrap = respond.NewChangeable
	}
	built := cfg.Build(wrap(cfg.Watchdog.Timed(d.New), policy), live.Batch, live.Granularity)
	first, err := setKeys(&built, cfg, at)
	if err != nil {
		return nil, fmt.Errorf("switch %s: %w", cfg.Name, err)
	}
	sw, err := dataplane.NewSwitch(built)
	if err != nil {
		return nil, err
	}
	ports, hosts := make([]live.Port, len(cfg.Ports)), unit.PortSet{}
	for i, p := range cfg.Ports {
		if ports[i], err = portOf(p, cfg.MTU); err != nil {
			return nil, err
		}
		if ports[i].FacesHost {
			hosts.Add(unit.Port(i))
		}
	}
	node := newSwitchNode(sw, "")
	node.response = policy.String()
	node.loadKeys = func() (auth.Keys, error) { return LoadKeys(at.path(cfg.Live.Keys)) }
	if record != "" {
		node.fixed = "the switch is recorded, and its recording cannot tell of another detector, or of other keys; run it without --record"
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	node.again = func(r restart) { stop(&r) }
	r := runner{
		at: at, name: cfg.Name, id: unit.NodeID(cfg.ID), live: cfg.Live, machine: sw, ports: ports,
		record: record, header: replay.Header{Kind: replay.Switch, Config: string(cfg.Marshal()), Delay: built.Delay, FirstCounter: first},
		journal: node.journal, sample: node.metrics, hosts: hosts,
		lldp: func(p unit.Port) *lldp.Agent { return dataplane.LLDPOf(sw, p) },
	}
	r.files.restarts, node.files = restarts, &r.files
	if err := r.run(ctx, node.handle); err != nil {
		return nil, err
	}
	errors.As(context.Cause(ctx), &next)
	return next, nil
}

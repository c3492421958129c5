package node

import (
	"context"
	"os"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/live"
	"softswitch/live/rdma"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/node/metrics"
	"softswitch/node/observe"
	"softswitch/unit"
)

// RunHost runs a host at a place until ctx ends.
func RunHost(ctx context.Context, cfg config.Host, record string, at Place) error {
	h, err := host.New(cfg.Build(live.Batch, live.Granularity))
	if err != nil {
		return err
	}
	var silent *os.File
	err = at.within(func() (err error) {
		silent, err = rdma.SilentPort()
		return err
	})
	if err != nil {
		return err
	}
	defer silent.Close()
	var ports []live.Port
	for _, p := range cfg.Ports() {
		port, err := portOf(p, cfg.MTU)
		if err != nil {
			return err
		}
		ports = append(ports, port)
	}
	var end keeper[observe.Host]
	var r runner
	r = runner{
		at: at, name: cfg.Name, id: unit.NodeID(cfg.ID), live: cfg.Live, machine: h,
		ports: ports, lldp: h.LLDP,
		record: record, header: replay.Header{Kind: replay.Host, Config: string(cfg.Marshal())},
		sample: func(n *live.Node) metrics.Sample { return metrics.Sample{Hosts: []observe.Host{r.takeHost(n, h)}} },
	}
	return r.run(ctx, func(n *live.Node, req control.Request) (any, error) { return r.hostRequest(n, h, &end, cfg, req) })
}

func (r *runner) hostRequest(n *live.Node, h *host.Host, end *keeper[observe.Host], cfg config.Host, req control.Request) (_ any, err error) {
	switch req.Do {
	case "keep":
		return nil, end.keep(n, req.Args, func() observe.Host { return observe.TakeHost(h, nil) })
	case "stats":
		return end.stats(n, req.Args, func() observe.Host { return r.takeHost(n, h) }, func(out *observe.Host, at unit.Time) {
			r.files.flush()
			out.SetLinks(n.AllStats())
			out.Live = r.files.live(n, at)
		})
	case "start", "stop", "act":
		do := replay.Request{Do: req.Do, Args: req.Args}
		n.Do(func(now unit.Time) {
			if err = do.Apply(h, &cfg, now); err == nil && r.files.recording != nil {
				r.files.recording.Request(now, do)
			}
		})
		return nil, err
	}
	return nil, unknown(req.Do, "stats", "keep", "start", "stop", "act")
}

func (r *runner) takeHost(n *live.Node, h *host.Host) (out observe.Host) {
	var at unit.Time
	links := n.AllStats()
	n.Do(func(now unit.Time) { at, out = now, observe.TakeHost(h, links) })
	out.Live = r.files.live(n, at)
	return out
}

package node

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/live"
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
	var silent int
	err = at.within(func() (err error) {
		silent, err = silentPort()
		return err
	})
	if err != nil {
		return err
	}
	defer unix.Close(silent)
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

// silentPort binds the flows' UDP port in the kernel's stack and drops what arrives
// there, so that the kernel does not answer the flows' frames with ICMP errors. It
// returns the socket.
func silentPort() (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // takes 0 bytes of each
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &none})
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: host.Port})
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("udp port %d: %w", host.Port, err)
	}
	return fd, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"softswitch/config"
	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/internal/unit"
	"softswitch/live"
	"softswitch/observe"
)

func hostCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "host -c FILE",
		Short: "Run an end host: flows, PFC, measurement, misbehaviour",
		Long: `Run an end host on a network interface until SIGINT or SIGTERM: it sends the
flows of its file, honours PFC, counts what it receives, and misbehaves when its
file, or a control request, says so. The kernel's stack on the same interface
keeps answering ping.`,
		Example: "  sudo softswitch host -c host.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			cfg, err := config.LoadHost(file, data)
			if err != nil {
				return err
			}
			return runHost(cmd.Context(), cfg)
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file (YAML)")
	c.MarkFlagRequired("config")
	c.MarkFlagFilename("config", "yaml", "yml")
	return c
}

// startArgs are the arguments of the request "start": when the time line begins,
// on CLOCK_MONOTONIC; 0 is now.
type startArgs struct {
	At unit.Time `json:"at"`
}

func runHost(ctx context.Context, cfg config.Host) error {
	h, err := host.New(cfg.Build(live.Batch, live.Granularity))
	if err != nil {
		return err
	}
	silent, err := silentPort()
	if err != nil {
		return err
	}
	defer unix.Close(silent)
	r := runner{
		name: cfg.Name, id: unit.NodeID(cfg.ID), live: cfg.Live, machine: h,
		ports: []live.Port{{Name: cfg.Port.Name, KeepMAC: cfg.Port.MAC != ""}},
	}
	return r.run(ctx, func(n *live.Node, req control.Request) (any, error) { return hostRequest(n, h, cfg, req) })
}

func hostRequest(n *live.Node, h *host.Host, cfg config.Host, req control.Request) (any, error) {
	switch req.Do {
	case "stats":
		n.Sync()
		var out observe.Host
		n.Do(func(unit.Time) { out = observe.TakeHost(h, n.Stats) })
		out.Live = liveStats(n)
		return out, nil
	case "start":
		var a startArgs
		if err := json.Unmarshal(req.Args, &a); err != nil {
			return nil, err
		}
		if a.At == 0 {
			a.At = timer.Now()
		}
		n.Do(func(unit.Time) { h.Start(a.At) })
		return nil, nil
	case "stop":
		n.Do(func(unit.Time) { h.Stop() })
		return nil, nil
	case "act":
		var a config.Act
		if err := json.Unmarshal(req.Args, &a); err != nil {
			return nil, err
		}
		if err := a.Check("act", cfg.PFC.Lossless); err != nil {
			return nil, err
		}
		n.Do(func(now unit.Time) { h.Do(now, a.Build()) })
		return nil, nil
	}
	return nil, fmt.Errorf("unknown request %q; valid: stats, start, stop, act", req.Do)
}

// silentPort takes the flows' UDP port from the kernel's stack and drops all that
// comes there, so that the kernel does not answer the flows' frames with ICMP
// errors. It returns the socket.
func silentPort() (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	none, err := bpf.Assemble([]bpf.Instruction{bpf.RetConstant{Val: 0}})
	if err == nil {
		filter := make([]unix.SockFilter, len(none))
		for i, ins := range none {
			filter[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
		}
		err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: host.Port})
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("udp port %d: %w", host.Port, err)
	}
	return fd, nil
}

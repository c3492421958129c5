package nodecmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/lab"
	"softswitch/live/node"
	"softswitch/node/config"
	"softswitch/play/validate"
	"softswitch/unit"
)

// Run returns the command that runs a switch or a host.
func Run() *cobra.Command {
	var file, detector, record, metricsAddr, socket string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "run [-c FILE] [PORT...]",
		Short: "Run a switch or a host on network interfaces",
		Long: `Run a switch on network interfaces until SIGINT or SIGTERM. It first prints its
configuration and the ports that are down.

Without a file it is a learning bridge over the given interfaces, with PFC on
priorities 3 and 4. With a file, the interfaces are those of the file.

A file with the key "port" or "nics" configures an end host: it sends the flows of its file, honours
PFC, counts the frames it receives, and misbehaves when its file or a control request says
so. The kernel's stack on the same interface keeps answering ping.

It measures how late the machine wakes this process, adds as much slack to the headroom of each
priority group as a port of that rate needs, and says how much; "buffer: {slack: 0}" in the file
turns that off. It warns of ports where lossless frames can be lost all the same, and says when
the carrier of a port goes or comes, and which port's far end leaves checksums to a NIC.

It is tested on veths. A NIC may consume the pauses it receives, so that the switch never
sees them: "ethtool -A NIC rx off tx off" turns link-level flow control off, and the
driver's own tool turns PFC off; docs/lab.md says what else to expect.`,
		Example: `  sudo softswitch run veth0 veth1
  sudo softswitch run -c switch.yaml --record s1.rec
  softswitch run replay s1.rec`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var data []byte
			if file != "" && len(args) == 0 {
				var err error
				if data, err = cli.ReadFile(file); err != nil {
					return err
				}
				if validate.KindOf(cli.Called(file), data) == "host" {
					return runHost(cmd, file, data, record, wait)
				}
			}
			cfg, warnings, err := switchConfig(file, data, detector, args)
			if err != nil {
				return err
			}
			cfg.Live.Metrics = cmp.Or(metricsAddr, cfg.Live.Metrics)
			if socket != "" {
				if cfg.Live.Control, err = filepath.Abs(socket); err != nil {
					return err
				}
			}
			ports := lists.Map(cfg.Ports, func(p config.Port) string { return p.Name })
			if err := node.Await(cmd.Context(), os.Stderr, ports, wait); err != nil {
				return err
			}
			cfg, short, err := lab.ScaleSwitch(cfg, os.Stderr)
			if err != nil {
				return err
			}
			for _, w := range append(warnings, short...) {
				fmt.Fprintln(os.Stderr, "warning:", w)
			}
			node.Announce(os.Stderr, cfg)
			return node.RunSwitch(cmd.Context(), cfg, record, node.Place{})
		},
	}
	configFlags(c, &file, &wait, "configuration file (YAML)")
	cli.DetectorFlag(c, &detector, "", "deadlock detector: %s (default: the file's, or none)")
	c.Flags().StringVar(&record, "record", "", "record every call of the node in this file, for run replay")
	c.Flags().StringVar(&metricsAddr, "metrics", "", "listen address for Prometheus, HOST:PORT; the default host is 127.0.0.1")
	c.Flags().StringVar(&socket, "control", "", "control socket to create, for softswitch show, clear and pfcwd")
	c.MarkFlagFilename("record")
	return c
}

// configFlags adds the flag --config, with this usage, and --wait, for a node that starts before its
// interfaces exist, as in a container.
func configFlags(c *cobra.Command, file *string, wait *time.Duration, usage string) {
	c.Flags().StringVarP(file, "config", "c", "", usage)
	c.MarkFlagFilename("config", "yaml", "yml")
	c.Flags().DurationVar(wait, "wait", 0, `how long to wait for interfaces that do not exist yet, "60s"`)
}

// switchConfig returns the configuration from a file, or of a bridge over ports, and warnings about it.
func switchConfig(file string, data []byte, detector string, ports []string) (cfg config.Switch, warnings []string, err error) {
	switch {
	case file != "" && len(ports) > 0:
		return cfg, nil, errors.New("run: give the interfaces in the file or as arguments, not both")
	case file != "":
		if cfg, warnings, err = config.LoadSwitch(cli.Called(file), data); err != nil {
			return cfg, nil, err
		}
	case len(ports) == 0:
		return cfg, nil, errors.New("run: no interfaces; give at least one, or a file with -c")
	default:
		if cfg, warnings, err = config.Bridge(ports...); err != nil {
			return cfg, nil, err
		}
	}
	if detector != "" {
		if _, err := catalog.Named("--detector", detector); err != nil {
			return cfg, nil, err
		}
		if err := catalog.Fits(detector, "this one", unit.NodeID(cfg.ID), len(cfg.Ports)); err != nil {
			return cfg, nil, fmt.Errorf("--detector: %w", err)
		}
		cfg.Detector = detector
	}
	return cfg, warnings, nil
}

// runHost runs the host that a file configures. It refuses flags of switches.
func runHost(cmd *cobra.Command, file string, data []byte, record string, wait time.Duration) error {
	for _, flag := range []string{"detector", "metrics", "control"} {
		if cmd.Flags().Changed(flag) && cmd.Name() == "run" {
			return fmt.Errorf("run: --%s is for a switch; %s is the file of a host", flag, cli.Called(file))
		}
	}
	cfg, err := config.LoadHost(cli.Called(file), data)
	if err != nil {
		return err
	}
	if cfg.Stack != "" {
		return fmt.Errorf("%s: stack: %q is for programs, which softswitch nic serves; take it out, or run softswitch nic -c %s", file, cfg.Stack, file)
	}
	if err := node.Await(cmd.Context(), os.Stderr, lists.Map(cfg.Ports(), func(p config.Port) string { return p.Name }), wait); err != nil {
		return err
	}
	return node.RunHost(cmd.Context(), cfg, record, node.Place{})
}

// Host returns the hidden command with which labs run hosts. It is the former name of "run" for hosts.
func Host() *cobra.Command {
	var file, record string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "host -c FILE",
		Short: "Run an end host",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := cli.ReadFile(file)
			if err != nil {
				return err
			}
			return runHost(cmd, file, data, record, wait)
		},
	}
	configFlags(c, &file, &wait, "configuration file (YAML)")
	c.MarkFlagRequired("config")
	c.Flags().StringVar(&record, "record", "", "record every call of the host in this file, for run replay")
	c.MarkFlagFilename("record")
	return c
}

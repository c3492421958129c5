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
	"softswitch/live/node"
	"softswitch/node/config"
)

// Commands are those that run a node, and those that speak to running ones.
func Commands() []*cobra.Command {
	return []*cobra.Command{runCommand(), hostCommand(), nicCommand(), showCommand(), clearCommand(), pfcwdCommand(), authCommand(), attackCommand()}
}

func runCommand() *cobra.Command {
	var file, detector, record, metricsAddr, socket string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "run [-c FILE] [PORT...]",
		Short: "Run a switch on network interfaces",
		Long: `Run a switch on network interfaces until SIGINT or SIGTERM. It says what it runs, and
which of its ports are down.

Without a file it is a learning bridge over the given interfaces, with PFC on
classes 3 and 4. With a file, the interfaces are those of the file.

It is tested on veths. A NIC may take the pauses that it receives for itself, and
the switch never sees them: "ethtool -A NIC rx off tx off" switches link-level flow control
off, the driver's own tool PFC; docs/lab.md says what else is to be expected.`,
		Example: `  sudo softswitch run veth0 veth1
  sudo softswitch run -c switch.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := switchConfig(file, detector, args)
			if err != nil {
				return err
			}
			cfg.Live.Metrics = cmp.Or(metricsAddr, cfg.Live.Metrics)
			if socket != "" {
				if cfg.Live.Control, err = filepath.Abs(socket); err != nil {
					return err
				}
			}
			var ports []string
			for _, p := range cfg.Ports {
				ports = append(ports, p.Name)
			}
			if err := node.Await(cmd.Context(), os.Stderr, ports, wait); err != nil {
				return err
			}
			node.Announce(os.Stderr, cfg)
			return node.RunSwitch(cmd.Context(), cfg, record, node.Place{})
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file (YAML)")
	cli.DetectorFlag(c, &detector, "", "deadlock detector: %s (default: the file's, or none)")
	c.Flags().StringVar(&record, "record", "", "file for every call of the switch, to play back with softswitch replay")
	c.Flags().StringVar(&metricsAddr, "metrics", "", "where to listen for Prometheus, HOST:PORT; without a host it is 127.0.0.1")
	c.Flags().StringVar(&socket, "control", "", "control socket to make, for softswitch show, clear and pfcwd")
	waitFlag(c, &wait)
	c.MarkFlagFilename("config", "yaml", "yml")
	c.MarkFlagFilename("record")
	return c
}

// waitFlag is for who starts before its interfaces are there, as in a container.
func waitFlag(c *cobra.Command, wait *time.Duration) {
	c.Flags().DurationVar(wait, "wait", 0, `how long to wait for interfaces that are not there yet, "60s"`)
}

// switchConfig is the configuration of a file, or of a bridge over ports.
func switchConfig(file, detector string, ports []string) (cfg config.Switch, err error) {
	var warnings []string
	switch {
	case file != "" && len(ports) > 0:
		return cfg, errors.New("run: give the interfaces in the file or as arguments, not both")
	case file != "":
		data, err := cli.ReadFile(file)
		if err != nil {
			return cfg, err
		}
		if cfg, warnings, err = config.LoadSwitch(cli.Called(file), data); err != nil {
			return cfg, err
		}
	case len(ports) == 0:
		return cfg, errors.New("run: no interfaces; give at least one, or a file with -c")
	default:
		if cfg, warnings, err = config.Bridge(ports...); err != nil {
			return cfg, err
		}
	}
	if detector != "" {
		if _, err := catalog.Named("--detector", detector); err != nil {
			return cfg, err
		}
		cfg.Detector = detector
	}
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	return cfg, nil
}

func hostCommand() *cobra.Command {
	var file, record string
	var wait time.Duration
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
			data, err := cli.ReadFile(file)
			if err != nil {
				return err
			}
			cfg, err := config.LoadHost(cli.Called(file), data)
			if err != nil {
				return err
			}
			if cfg.Stack != "" {
				return fmt.Errorf("%s: stack: %q is for programs, which softswitch nic serves; take it out, or run softswitch nic -c %s", file, cfg.Stack, file)
			}
			if err := node.Await(cmd.Context(), os.Stderr, []string{cfg.Port.Name}, wait); err != nil {
				return err
			}
			return node.RunHost(cmd.Context(), cfg, record, node.Place{})
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file (YAML)")
	c.MarkFlagRequired("config")
	c.Flags().StringVar(&record, "record", "", "file for every call of the host, to play back with softswitch replay")
	waitFlag(c, &wait)
	c.MarkFlagFilename("config", "yaml", "yml")
	c.MarkFlagFilename("record")
	return c
}

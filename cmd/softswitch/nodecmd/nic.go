package nodecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/live/node"
	"softswitch/node/config"
	"softswitch/play/nicdemo"
	"softswitch/unit"
	"softswitch/view/show"
)

// NIC returns the command that runs a NIC.
func NIC() *cobra.Command {
	var file string
	var h config.Host
	var wait time.Duration
	c := &cobra.Command{
		Use:   "nic {-c FILE | --wire INTERFACE {--address ADDRESS | --stack INTERFACE}}",
		Short: "Run a NIC with PFC for programs of a host",
		Long: `Run the NIC of a host until SIGINT or SIGTERM, for programs such as ping and iperf3. It
creates an interface for them, a TAP device with the host's address, and puts their packets
into one queue per priority, by DSCP. A queue waits while the far end pauses its priority; when
the queue is full, the host drops further packets, because programs do not wait. If a priority
arrives faster than the stack takes it, the NIC pauses it in turn.

Without an address it takes an interface that exists instead of creating one: the TAP of a guest, or
this end of a container's veth. What is behind that has an address of its own.

The interface of the wire must have no address: packets that the kernel sent by it would
bypass the NIC; so must such an interface. The configuration file is that of a host with the key "stack"; a lab runs
one NIC for each host that the scenario lists under "nics".`,
		Example: `  sudo softswitch nic --wire eth1 --address 10.0.0.2/24 --rate 100Mbit/s
  sudo softswitch nic --wire eth1 --stack tap-a --rate 100Mbit/s
  sudo softswitch lab exec h1 iperf3 -c 10.100.1.2 -u -b 80M --dscp 26
  sudo softswitch nic show
  sudo softswitch nic slow h2 20Mbit/s`,
	}
	c.AddCommand(nicShow(), nicSlow(), nicNormal(), nicRDMA())
	cli.Formerly(c, NICDemo("demo"))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q; valid: show, slow, normal, rdma", args[0], cmd.CommandPath())
		}
		cfg, err := nicConfig(file, h, cmd.Flags().Changed("stack"))
		if err != nil {
			return err
		}
		needs := []string{cfg.Port.Name}
		if node.TakesStack(cfg) {
			needs = append(needs, cfg.Stack)
		}
		if err := node.Await(cmd.Context(), os.Stderr, needs, wait); err != nil {
			return err
		}
		return node.RunNIC(cmd.Context(), cfg)
	}
	f := c.Flags()
	configFlags(c, &file, &wait, "configuration file (YAML), instead of the other flags")
	f.StringVar(&h.Port.Name, "wire", "", "interface to the fabric")
	f.StringVar(&h.Stack, "stack", "nic0", "interface to create for programs; without an address, one that exists")
	f.TextVar(&h.Address, "address", h.Address, `address of the host with its prefix length, "10.0.0.2/24"`)
	f.TextVar(&h.Gateway, "gateway", h.Gateway, "gateway of the default route")
	f.TextVar(&h.Port.Rate, "rate", h.Port.Rate, `rate of the wire, which determines how long a pause lasts, "100Mbit/s"; "0" is unlimited`)
	f.StringVar(&h.Live.Control, "control", "", "control socket to create, for show, slow and normal")
	return c
}

// nicConfig loads the configuration from file or, without one, takes it from flags, of which stacked says
// that they name the stack.
func nicConfig(file string, flags config.Host, stacked bool) (_ config.Host, err error) {
	switch {
	case file != "" && flags.Port.Name != "":
		return flags, errors.New("nic: the file names the wire; give --config or --wire, not both")
	case file == "" && (flags.Port.Name == "" || flags.Address.IP == 0 && !stacked):
		return flags, errors.New("nic: give a file with -c, or --wire and --address, or --wire and the --stack of an interface that exists; see `softswitch nic --help`")
	case file == "":
		flags.Name, flags.ID = "nic", 1
		flags.Fill()
		if flags.Live.Control != "" {
			if flags.Live.Control, err = filepath.Abs(flags.Live.Control); err != nil {
				return flags, err
			}
		}
		return flags, flags.Check("flags")
	}
	data, err := cli.ReadFile(file)
	if err != nil {
		return flags, err
	}
	return config.LoadNIC(cli.Called(file), data)
}

func nicSlow() *cobra.Command {
	return nicAct(&cobra.Command{
		Use:   "slow [HOST] RATE",
		Short: "Limit the rate at which the stack of a host takes frames",
		Long: `Limit the rate at which the stack of a host takes frames, of all priorities together. When
the receive buffer of a lossless priority is three quarters full, the NIC pauses the priority;
when it is half empty, the NIC resumes it.`,
		Example: "  sudo softswitch nic slow h2 20Mbit/s",
		Args:    cli.Arguments(cobra.RangeArgs(1, 2)),
	}, func(ctx context.Context, t *cli.Target, args []string) error {
		last := len(args) - 1
		rate, err := unit.ParseRate(args[last])
		if err != nil || rate == 0 {
			return fmt.Errorf("RATE: %q; give one above zero such as 10Mbit/s, as the last argument", args[last])
		}
		nic, err := t.NIC(args[:last])
		if err != nil {
			return err
		}
		return nic.Slow(ctx, rate, args[:last]...)
	})
}

func nicNormal() *cobra.Command {
	return nicAct(&cobra.Command{
		Use:     "normal [HOST]",
		Short:   "End the rate limit of the stack of a host",
		Example: "  sudo softswitch nic normal h2",
		Args:    cli.Arguments(cobra.MaximumNArgs(1)),
	}, func(ctx context.Context, t *cli.Target, args []string) error {
		nic, err := t.NIC(args)
		if err != nil {
			return err
		}
		return nic.Normal(ctx, args...)
	})
}

// nicAct makes c run do on NICs.
func nicAct(c *cobra.Command, do func(ctx context.Context, t *cli.Target, args []string) error) *cobra.Command {
	t := &cli.Target{}
	t.Flags(c, c.Flags(), "NIC")
	c.ValidArgsFunction = t.Complete(cli.NICNames)
	c.RunE = func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), t, args) }
	return c
}

func nicShow() *cobra.Command {
	s := &shower{}
	c := &cobra.Command{
		Use:   "show [HOST...]",
		Short: "Show what NICs sent, received and paused, and where frames were lost",
		Long: `Show the frames that NICs sent and received by priority, the pauses they received and sent,
and where frames were lost: in the hosts and, separately, in the fabric.

  Send queue    the queue of the priority was full: programs do not wait while it is paused
  Device queue  the kernel's queue to the NIC was full
  Sockets       the buffer of the receiving socket was full
  On arrival    the NIC lost frames that the fabric had delivered`,
		Example:           "  sudo softswitch nic show\n  sudo softswitch nic show h1 --watch=1s",
		ValidArgsFunction: s.target.Complete(cli.NICNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			ends, err := s.target.Nics(names)
			if err != nil {
				return err
			}
			var switches []control.Endpoint // none without a lab
			if s.target.Socket == "" {
				switches, _ = s.target.Switches(nil)
			}
			return s.repeat(cmd.Context(), func(w io.Writer) error {
				return show.ShowNICs(cmd.Context(), w, ends, switches, s.format())
			})
		},
	}
	s.flags(c, c.Flags(), "NIC", "host")
	return c
}

// NICDemo returns the command, named use, that demonstrates a NIC.
func NICDemo(use string) *cobra.Command {
	var name string
	c := cli.Printed(&cobra.Command{
		Use:   use,
		Short: "Run iperf3 and ping through two switches to a slow receiver, and show that the fabric loses nothing",
		Long: `Build a lab of two switches and two hosts with NICs, slow the receiver's NIC down to half
the rate of iperf3 (UDP in lossless priority 3, DSCP 26), run ping at the same time in priority
0, and show who was paused and where frames were lost; then remove everything.

Exit status: 0 the pauses reached the sender's NIC and no frame was lost in the fabric; 1
not, or the machine was too busy to tell; 2 it could not be played.`,
		Example: "  sudo softswitch demo nic\n  sudo softswitch demo nic --json 2>/dev/null",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print the result as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		d, err := nicdemo.Play(cmd.Context(), name, os.Stderr)
		if err != nil {
			return nil, err
		}
		return cli.Judged(d, d.Result.OK)
	})
	cli.NameFlag(c, c.Flags(), &name, "nic")
	return c
}

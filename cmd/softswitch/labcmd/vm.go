package labcmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	"softswitch/lab/guest"
	netnslab "softswitch/netns-lab"
	"softswitch/play/rdmademo"
)

func labVM(name *string) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "vm",
		Short: "Run guests",
		Long: `Run guests, virtual machines, as hosts of a lab that is up: with a kernel of their own and
Soft-RoCE (rdma_rxe), so that unmodified RDMA programs send through the switches. A host for
a guest is one that the scenario lists under "nics"; its NIC heeds pauses for the guest. A
guest ends with its lab.

The guest has ib_write_bw, ib_send_bw, ib_read_bw, ib_write_lat (perftest), ibv_rc_pingpong,
ibv_devinfo, rping, rdma, and the programs of busybox. Its device is rxe0; GID index 1 is that of
its IPv4 address; traffic class 104 is DSCP 26, priority 3.`,
		Example: `  sudo softswitch lab deploy -t scenarios/nic/two-switches.yaml
  sudo softswitch lab vm start
  sudo softswitch lab vm exec h2 ib_write_bw -x 1 --tclass=104 &
  sudo softswitch lab vm exec h1 ib_write_bw -x 1 --tclass=104 10.100.1.2
  sudo softswitch lab destroy`,
	}, vmBuild(), vmStart(name), vmExec(name), vmConsole(name), vmStop(name))
}

func vmBuild() *cobra.Command {
	c := &cobra.Command{
		Use:   "build",
		Short: "Build what guests boot from",
		Long: `Build the kernel and the file system that guests boot from, in ` + guest.Dir + `,
from packages of Debian 12 or later that apt-get downloads and nothing installs: about 80 MB, in
half a minute. "lab vm start" does so by itself where it is missing; this command also replaces what
is there, with the packages of today.`,
		Example: "  sudo softswitch lab vm build",
		Args:    cli.Arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return guest.Build(cmd.Context(), cmd.ErrOrStderr()) },
	}
	cli.NoNameFlag(c)
	return c
}

func vmStart(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "start [HOST...]",
		Short: "Boot guests",
		Long: `Boot guests on these hosts, or on all that have a NIC for programs, and return when they
answer, after 5 to 15 s. A guest has the addresses of its host, whose namespace has none any
more, and up to 256 MiB of memory. Without KVM its processor is an emulated one.

Needs QEMU: apt-get install --no-install-recommends qemu-system-x86.`,
		Example:           "  sudo softswitch lab vm start\n  sudo softswitch lab vm start h1 h2",
		ValidArgsFunction: cli.Offer(name, cli.NICNames),
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			hosts, err := lab.PickForGuests(st, args)
			if err != nil {
				return err
			}
			return guest.Start(cmd.Context(), st, hosts, cmd.ErrOrStderr())
		}),
	}
}

func vmExec(name *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "exec HOST [--] COMMAND [ARG...]",
		Short: "Run a command in a guest",
		Long: `Run a command in the guest of a host, and print what it prints, on both its outputs, on
standard output. Its input is empty. It waits for a guest that still boots. Ctrl-C kills the
command. A guest runs up to 8 commands at a time.

Exit status: the command's; 2 it could not be run.`,
		Example:               "  sudo softswitch lab vm exec h1 ibv_devinfo\n  sudo softswitch lab vm exec h1 sh -c 'ip address; dmesg | tail'",
		Args:                  cli.Arguments(nodeAndCommand),
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     cli.UpTo(1, cli.Offer(name, cli.NICNames)),
		RunE: inGuest(name, func(cmd *cobra.Command, st *netnslab.State, host netnslab.NodeState, args []string) error {
			return cli.PassOn(guest.Exec(cmd.Context(), st, host, commandOf(args), os.Stdout))
		}),
	}
	c.Flags().SetInterspersed(false) // arguments after HOST belong to the command
	return c
}

func vmConsole(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "console HOST",
		Short: "Open the console of a guest",
		Long: `Join the terminal with the serial line of a guest, where a shell runs. Ctrl-] leaves it, and
the guest runs on.`,
		Example:           "  sudo softswitch lab vm console h1",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.Offer(name, cli.NICNames)),
		RunE: inGuest(name, func(cmd *cobra.Command, _ *netnslab.State, host netnslab.NodeState, _ []string) (err error) {
			if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
				was, err := term.MakeRaw(fd)
				if err != nil {
					return err
				}
				defer term.Restore(fd, was)
				fmt.Fprint(cmd.ErrOrStderr(), "Ctrl-] leaves\r\n")
			}
			return guest.Console(cmd.Context(), host, os.Stdin, os.Stdout)
		}),
	}
}

func vmStop(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "stop [HOST...]",
		Short: "End guests",
		Long: `End the guests of these hosts, or all of the lab, as if their plugs were pulled. "lab destroy"
ends them too. The host's NIC stays a guest's, until "lab restart".`,
		Example:           "  sudo softswitch lab vm stop h1",
		ValidArgsFunction: cli.Offer(name, cli.NICNames),
		RunE: cli.InLab(name, func(_ *cobra.Command, st *netnslab.State, args []string) error {
			hosts, err := lab.PickNICs(st, args)
			if err != nil {
				return err
			}
			var errs []error
			for _, h := range hosts {
				errs = append(errs, guest.Stop(st, h, len(args) > 0))
			}
			return errors.Join(errs...)
		}),
	}
}

// inGuest returns a RunE that calls do with the lab and the host that the first argument names.
func inGuest(name *string, do func(cmd *cobra.Command, st *netnslab.State, host netnslab.NodeState, args []string) error) func(*cobra.Command, []string) error {
	return cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
		hosts, err := lab.PickNICs(st, args[:1])
		if err != nil {
			return err
		}
		return do(cmd, st, hosts[0], args)
	})
}

// RDMADemo returns the command that shows a deadlock of real RDMA programs.
func RDMADemo() *cobra.Command {
	var opt rdmademo.Options
	c := cli.Printed(&cobra.Command{
		Use:   "rdma",
		Short: "Lock a ring with real RDMA programs in guests, and cure it",
		Long: `Build a lab of three switches in a ring, boot a guest on each of its three hosts, and run
ib_write_bw between them (Soft-RoCE, priority 3) until the ring locks. The programs hang and
nobody tells them why; a switch declares the deadlock. Then the switches cure it, and the
programs end. Everything is removed at the end. It takes about a minute, and needs QEMU:
apt-get install --no-install-recommends qemu-system-x86. The first time guests are built:
see "lab vm build". "lab vm console h1" in another terminal opens the console of a guest.

Exit status: 0 the ring locked, it was detected and cured, and all programs ended with 0; 1
not, or the machine was too busy to tell; 2 it could not be played.`,
		Example: "  sudo softswitch demo rdma\n  sudo softswitch demo rdma --ui",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print the result as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		if err := cli.GoesWith(cmd, "listen", "--ui", opt.Page); err != nil {
			return nil, err
		}
		d, err := rdmademo.Play(cmd.Context(), opt, os.Stderr)
		if err != nil {
			return nil, err
		}
		return cli.Judged(d, d.Result.OK)
	})
	cli.PageFlags(c, &opt.Page, &opt.Listen)
	cli.NameFlag(c, c.Flags(), &opt.Name, "rdma")
	return c
}

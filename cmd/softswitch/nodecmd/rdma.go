package nodecmd

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/host"
	"softswitch/host/ibperf"
	"softswitch/host/verbs"
	"softswitch/live/rdma"
	"softswitch/unit"
)

// nicRDMA returns the command that exchanges RDMA with programs of verbs.
func nicRDMA() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "rdma",
		Short: "Exchange RDMA with verbs programs: perftest, ibv_rc_pingpong, rping",
		Long: `Be the other end of programs of verbs that run unmodified on a machine with an RDMA NIC or with
Linux's rdma_rxe: of ib_write_bw, ib_send_bw, ib_read_bw and ibv_rc_pingpong, which begin over TCP, and
of rping, which begins with rdma_cm. Packets leave and arrive by the kernel's interfaces. For pauses to be heeded, the
interface has to be that of "softswitch nic", as those of the hosts that a scenario lists under "nics".`,
	},
		rdmaServe(),
		rdmaRun(verbs.Write, "write", "ib_write_bw", ""),
		rdmaRun(verbs.Send, "send", "ib_send_bw", " and --iters, the number of messages"),
		rdmaRun(verbs.Read, "read", "ib_read_bw", ""),
		rdmaPing(),
		rdmaPingPong(),
	)
}

// rdmaFlags are flags that several commands have.
type rdmaFlags struct {
	priority       int
	rate           unit.Rate
	port           uint16
	size, messages int
	retries        string
	cm             bool
}

func (f *rdmaFlags) addPackets(c *cobra.Command) {
	c.Flags().TextVar(&f.rate, "rate", unit.Rate(0), `most that is sent, "100Mbit/s"; "0" is unlimited`)
	c.Flags().IntVar(&f.priority, "priority", 3, "priority of the packets, by DSCP")
}

func (f *rdmaFlags) add(c *cobra.Command, port uint16, size, messages int) {
	f.addPackets(c)
	c.Flags().Uint16Var(&f.port, "port", port, "port of the server")
	c.Flags().IntVar(&f.size, "size", size, "bytes of each message")
	c.Flags().IntVar(&f.messages, "messages", messages, "number of messages")
	c.Flags().StringVar(&f.retries, "retries", "7", `timeouts in a row before it gives up, or "forever"`)
}

// order checks the flags.
func (f *rdmaFlags) order(op verbs.Op, sizeMax int) (rdma.Order, error) {
	o := rdma.Order{Op: op, Size: f.size, Messages: f.messages, Retries: verbs.Forever, CM: f.cm}
	if f.retries != "forever" {
		n, err := strconv.Atoi(f.retries)
		if err != nil || n < 0 {
			return o, fmt.Errorf(`rdma: --retries %s; valid: 0 or more, or "forever"`, f.retries)
		}
		o.Retries = n
	}
	switch {
	case f.size < 1 || f.size > sizeMax:
		return o, fmt.Errorf("rdma: --size %d; valid: 1 to %d", f.size, sizeMax)
	case f.messages < 1:
		return o, fmt.Errorf("rdma: --messages %d; valid: 1 or more", f.messages)
	}
	return o, nil
}

// with calls do with a port.
func (f *rdmaFlags) with(do func(*rdma.Port) (*rdma.Test, error)) (cli.Finding, error) {
	if f.priority < 0 || f.priority >= unit.Priorities {
		return nil, fmt.Errorf("rdma: --priority %d; valid: 0 to %d", f.priority, unit.Priorities-1)
	}
	p, err := rdma.Open(unit.Priority(f.priority), f.rate)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	t, err := do(p)
	if bad := p.BadPackets(); bad != (host.BadPackets{}) {
		fmt.Fprintf(os.Stderr, "dropped: %d malformed, %d with a wrong ICRC, %d of an unknown queue pair\n", bad.Malformed, bad.ICRC, bad.UnknownQP)
	}
	if err != nil && t != nil {
		t.WriteText(os.Stderr)
	}
	return t, err
}

func rdmaServe() *cobra.Command {
	var f rdmaFlags
	var turns int
	c := cli.Printed(&cobra.Command{
		Use:   "serve",
		Short: "Wait for a client of perftest, ibv_rc_pingpong or rping, and serve its test",
		Long: fmt.Sprintf(`Wait for the client that comes first, serve its test, and print what each queue pair counted: an
ib_write_bw, ib_send_bw or ib_read_bw with reliable connections, by TCP or, with its option -R, by rdma_cm
on port %d, an ibv_rc_pingpong on that port of TCP, which says nothing of its --messages (-n), or an rping
on rdma_cm's port %d. Tests in both directions at once (-b) are not served.

Where the wire is slower than this machine, give its --rate: nothing slows what answers READs, and the
queue of a NIC drops what it cannot hold. Lost is packets that are missing between two that came one
after the other, each time that they were sent.`, ibperf.Port, rdma.RpingPort),
		Example: `  sudo softswitch nic rdma serve                                 # and elsewhere: ib_write_bw -x 1 10.0.0.2
  sudo softswitch lab exec h1 softswitch nic rdma serve --json`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print the counters as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		if turns < 1 {
			return nil, fmt.Errorf("rdma: --messages %d; valid: 1 or more", turns)
		}
		return f.with(func(p *rdma.Port) (*rdma.Test, error) {
			return p.Serve(cmd.Context(), turns, func() {
				fmt.Fprintf(os.Stderr, "waiting for perftest or ibv_rc_pingpong on TCP port %d, rping on rdma_cm port %d\n", ibperf.Port, rdma.RpingPort)
			})
		})
	})
	f.addPackets(c)
	c.Flags().IntVar(&turns, "messages", ibperf.PingPongMessages, "number of messages of an ibv_rc_pingpong")
	return c
}

func rdmaRun(op verbs.Op, use, program, same string) *cobra.Command {
	var f rdmaFlags
	c := f.client(&cobra.Command{
		Use:   use + " ADDRESS",
		Short: fmt.Sprintf("Be the client of an %s", program),
		Long: fmt.Sprintf(`Be the client of an %s that waits at an IPv4 address, with one queue pair. The server
has to be given the same --size%s.`, program, same),
		Example: fmt.Sprintf("  sudo softswitch nic rdma %s 10.0.0.1 --size 65536 --messages 1000", use),
	}, op, ibperf.Port, 65536, 1000, 1<<31-1, (*rdma.Port).RunPerftest)
	c.Flags().BoolVar(&f.cm, "rdma-cm", false, "connect by rdma_cm, as the server with its option -R expects it")
	return c
}

func rdmaPing() *cobra.Command {
	var f rdmaFlags
	return f.client(&cobra.Command{
		Use:   "ping ADDRESS",
		Short: "Be the client of an rping",
		Long: `Be the client of an rping that waits at an IPv4 address, as "rping -c -V" is: in each turn the server
reads data here and writes it back, and it is compared. The server has to be given the same -S size.`,
		Example: "  sudo softswitch nic rdma ping 10.0.0.1 --messages 20",
	}, verbs.Send, rdma.RpingPort, 64, 10, 1<<16-1, (*rdma.Port).RunRping)
}

func rdmaPingPong() *cobra.Command {
	var f rdmaFlags
	return f.client(&cobra.Command{
		Use:   "pingpong ADDRESS",
		Short: "Be the client of an ibv_rc_pingpong",
		Long: `Be the client of an ibv_rc_pingpong that waits at an IPv4 address: in each turn a SEND goes there and
one comes back. The server has to be given the same -s size and -n messages; its -m is 1024, as it is by default.`,
		Example: "  sudo softswitch nic rdma pingpong 10.0.0.1 --messages 200",
	}, verbs.Send, ibperf.Port, ibperf.PingPongSize, ibperf.PingPongMessages, 8<<20, (*rdma.Port).RunPingPong)
}

// client makes c a command that runs a test with the server at its argument.
func (f *rdmaFlags) client(c *cobra.Command, op verbs.Op, port uint16, size, messages, sizeMax int, run func(*rdma.Port, context.Context, netip.AddrPort, rdma.Order) (*rdma.Test, error)) *cobra.Command {
	c.Args = cli.Arguments(cobra.ExactArgs(1))
	f.add(c, port, size, messages)
	return cli.Printed(c, "print the counters as JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		o, err := f.order(op, sizeMax)
		if err != nil {
			return nil, err
		}
		server, err := netip.ParseAddr(args[0])
		if err != nil || !server.Is4() {
			return nil, fmt.Errorf("rdma: ADDRESS: %q; valid: an IPv4 address", args[0])
		}
		return f.with(func(p *rdma.Port) (*rdma.Test, error) {
			return run(p, cmd.Context(), netip.AddrPortFrom(server, f.port), o)
		})
	})
}

package nicdemo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"softswitch/internal/progress"
	"softswitch/internal/timer"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/play"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/unit"
	"softswitch/view/show"
)

// Rates of the demonstration, on links of 20 Mbit/s.
const (
	demoOffered  = "16M"                // what iperf3 sends
	demoDrain    = unit.Rate(8_000_000) // what the receiver takes
	demoSeconds  = 5
	demoPriority = 3
	demoDSCP     = "26" // of demoPriority
)

// Demo is a lab of two hosts with NICs, and the result. Its JSON is that of Result.
type Demo struct {
	progress     io.Writer
	*play.NICLab // its hosts are the sender and the receiver
	Result       Result
}

// MarshalJSON encodes Result.
func (d *Demo) MarshalJSON() ([]byte, error) { return json.Marshal(d.Result) }

// Result is the result of a demonstration.
type Result struct {
	OK bool `json:"ok"`
	// Reasons why it went wrong; Invalid, why the run proves nothing.
	Reasons []string  `json:"reasons"`
	Invalid string    `json:"invalid"`
	Iperf   iperf     `json:"iperf3"`
	Ping    pingCount `json:"ping"`
	// OnWire is how many frames of the lossless priority the sender's NIC put on the wire,
	// Arrived how many the receiver's NIC received and gave to its stack.
	OnWire  uint64 `json:"on_wire"`
	Arrived uint64 `json:"arrived"`
	// Pauses of the sender's NIC, and their total duration.
	Pauses     uint64           `json:"pauses"`
	PausedTime unit.Time        `json:"paused_time_ns"`
	Fabric     uint64           `json:"lost_in_fabric"`
	Sender     observe.HostLoss `json:"lost_in_sender"`
	Receiver   observe.HostLoss `json:"lost_in_receiver"`
}

// Play builds a lab of this name, runs the programs and removes the lab.
func Play(ctx context.Context, name string, out io.Writer) (_ *Demo, err error) {
	ctx, out = progress.WhileWatched(ctx, out)
	for _, program := range []string{"iperf3", "ping"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w; install it, on Debian with `apt-get install iperf3 iputils-ping`", err)
		}
	}
	plan, err := load.Plan("scenarios/nic/two-switches.yaml", scenarios.NIC, load.Instead{})
	if err != nil {
		return nil, err
	}
	d := &Demo{progress: out}
	if d.NICLab, err = play.UpNICs(ctx, plan, name, out); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.State.Remove(out)) }()
	if err := d.programs(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err) // of a program that was ended it says nothing new
	}
	return d, d.judge(ctx)
}

// programs runs iperf3 and ping.
func (d *Demo) programs(ctx context.Context) error {
	to := d.Plan.Hosts[1].Address.IP.String()
	if err := lab.OrdersTo(d.State).Slow(ctx, demoDrain, d.Hosts[1].Name); err != nil {
		return err
	}
	fmt.Fprintf(d.progress, "%s takes %s only; in %s iperf3 sends it %sbit/s of UDP in priority %d for %d s, and ping runs in priority 0\n",
		d.Hosts[1].Name, demoDrain, d.Hosts[0].Name, demoOffered, demoPriority, demoSeconds)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server, err := d.serve(ctx)
	if err != nil {
		return err
	}
	var both errgroup.Group
	both.Go(func() error {
		out, err := d.exec(ctx, "iperf3", "-c", to, "-u", "-b", demoOffered, "-l", "1400", "--dscp", demoDSCP, "-t", strconv.Itoa(demoSeconds), "--json")
		if err != nil {
			return err
		}
		d.Result.Iperf, err = parseIperf(out)
		return err
	})
	both.Go(func() error {
		out, err := d.exec(ctx, "ping", "-q", "-i", "0.2", "-c", strconv.Itoa(5*demoSeconds), to)
		if err != nil {
			return err
		}
		d.Result.Ping, err = parsePing(string(out))
		return err
	})
	if err := both.Wait(); err != nil {
		return err
	}
	return <-server // it ends after one test
}

// serve starts iperf3's server in the receiver, and returns when it listens. The
// channel delivers its exit.
func (d *Demo) serve(ctx context.Context) (<-chan error, error) {
	done := make(chan error, 1)
	said, says := io.Pipe()
	go func() {
		code, err := d.State.Exec(ctx, d.Hosts[1].Name, []string{"iperf3", "-s", "-1", "--forceflush"}, netnslab.Stdio{Out: says, Err: says})
		if err == nil && code != 0 {
			err = fmt.Errorf("iperf3 -s: exit status %d", code)
		}
		says.Close()
		done <- err
	}()
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), "listening") {
			go io.Copy(io.Discard, said)
			return done, nil
		}
	}
	return nil, fmt.Errorf("iperf3 -s does not listen: %w: %s", <-done, &all)
}

// exec runs a program in the sender and returns its output; it is an error if it fails.
func (d *Demo) exec(ctx context.Context, argv ...string) ([]byte, error) {
	var out, problem bytes.Buffer
	code, err := d.State.Exec(ctx, d.Hosts[0].Name, argv, netnslab.Stdio{Out: &out, Err: &problem})
	if err == nil && code != 0 {
		err = fmt.Errorf("%s: exit status %d: %s%s", strings.Join(argv, " "), code, &problem, &out)
	}
	return out.Bytes(), err
}

// judge waits for frames in transit, and asks all nodes.
func (d *Demo) judge(ctx context.Context) error {
	if err := lab.OrdersTo(d.State).Normal(ctx, d.Hosts[1].Name); err != nil {
		return err
	}
	late := time.Now().Add(drainPatience)
	for {
		if err := d.Ask(ctx); err != nil {
			return err
		}
		d.sum()
		if d.Result.OnWire == d.Result.Arrived+d.Result.Fabric && d.NICs[0].Priorities[demoPriority].Send.Bytes == 0 || time.Now().After(late) {
			break
		}
		if err := timer.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	d.conclude()
	return nil
}

// sum fills in the result from the answers of the nodes.
func (d *Demo) sum() {
	r := &d.Result
	from, to := &d.NICs[0].Priorities[demoPriority], &d.NICs[1].Priorities[demoPriority]
	r.OnWire, r.Arrived = from.Sent, to.Received
	r.Pauses, r.PausedTime = from.Pause.Count, from.Pause.Total(from.Paused, d.NICs[0].At)
	r.Sender, r.Receiver = d.NICs[0].InHost, d.NICs[1].InHost
	r.Fabric = d.Lost()
}

// conclude decides whether it went as it should.
func (d *Demo) conclude() {
	r := &d.Result
	r.Reasons = []string{}
	unless := func(ok bool, format string, args ...any) {
		if !ok {
			r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
		}
	}
	unless(r.Fabric == 0, "lost in the fabric: %s", unit.Count(r.Fabric, "frame"))
	unless(r.OnWire == r.Arrived, "%s went onto the wire, and %d arrived", unit.Count(r.OnWire, "frame"), r.Arrived)
	unless(r.OnWire > 0 && r.Pauses > 0, "no pause reached the NIC of %s", d.Hosts[0].Name)
	unless(r.Sender.SendQueue > 0, "the send queue of %s was never full", d.Hosts[0].Name)
	unless(uint64(r.Iperf.Lost) <= r.Sender.Sum()+r.Receiver.Sum()+r.Fabric, "iperf3 misses %d datagrams, and %d are accounted for", r.Iperf.Lost, r.Sender.Sum()+r.Receiver.Sum()+r.Fabric)
	unless(r.Ping.Received == r.Ping.Sent, "ping: %d of %d came back", r.Ping.Received, r.Ping.Sent)
	r.OK = len(r.Reasons) == 0
	if r.Fabric > 0 {
		r.Invalid = d.TooBusy()
	}
}

// WriteText writes the result for people.
func (d *Demo) WriteText(w io.Writer) error {
	r := &d.Result
	if err := show.NICs(w, d.NICs, d.Switches, d.Stats); err != nil {
		return err
	}
	fmt.Fprintf(w, "\niperf3: %s datagrams sent, %s of them missed by the receiver, %.1f Mbit/s received\n", show.Thousands(r.Iperf.Sent), show.Thousands(r.Iperf.Lost), r.Iperf.Rate/1e6)
	fmt.Fprintf(w, "ping:   %d sent, %d received, %s ms there and back on average\n", r.Ping.Sent, r.Ping.Received, r.Ping.Average)
	fmt.Fprintf(w, "fabric: %s frames onto the wire in priority %d, %s off it, %s lost\n", show.Thousands(r.OnWire), demoPriority, show.Thousands(r.Arrived), show.Thousands(r.Fabric))
	fmt.Fprintf(w, "pauses: %s reached %s and lasted %s ms in all; %s frames that its programs did not wait to send were dropped there\n",
		show.Thousands(r.Pauses), d.Hosts[0].Name, show.Milliseconds(r.PausedTime), show.Thousands(r.Sender.SendQueue))
	for _, why := range r.Reasons {
		fmt.Fprintln(w, "NOT AS EXPECTED:", why)
	}
	if r.Invalid != "" {
		fmt.Fprintln(w, "run not valid:", r.Invalid)
	}
	return nil
}

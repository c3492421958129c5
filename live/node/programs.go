package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"softswitch/host"
	"softswitch/host/ibperf"
	"softswitch/host/rdmacm"
	"softswitch/host/roce"
	"softswitch/host/verbs"
	"softswitch/internal/timer"
	"softswitch/live/rdma"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// redial is how long a client waits for its server to listen before it tries again.
const redial = 100 * time.Millisecond

// programs are the flows of a NIC whose far ends are programs of perftest.
type programs struct {
	flows []*programFlow
	says  io.Writer
}

// programFlow is one of them. A server waits for clients as long as the node runs; a client runs a test from
// its start on, which an order to stop cuts short.
type programFlow struct {
	config.ProgramFlow
	port *rdma.Port
	end  context.CancelFunc // of all
	all  sync.WaitGroup
	ctx  context.Context

	mu         sync.Mutex
	stop       context.CancelFunc // the client's test; nil before the first
	over       chan struct{}      // closed when it has ended
	completion unit.Time
	failed     bool
	problem    string
}

// startPrograms opens the flows of cfg, whose NIC is up, and begins those that wait for a client.
func startPrograms(cfg config.Host, says io.Writer) (*programs, error) {
	p := &programs{says: says}
	for _, f := range cfg.Programs {
		rate := unit.Rate(f.Rate)
		if rate == 0 {
			rate = cfg.Port.Rate
		}
		port, err := rdma.Open(unit.Priority(f.Priority), rate)
		if err != nil {
			p.close()
			return nil, err
		}
		port.Timeout = *f.RC.Timeout
		flow := &programFlow{ProgramFlow: f, port: port}
		flow.ctx, flow.end = context.WithCancel(context.Background())
		p.flows = append(p.flows, flow)
		if !f.Client() {
			flow.all.Go(func() { p.serve(flow) })
		}
	}
	return p, nil
}

func (p *programs) close() {
	for _, f := range p.flows {
		f.end()
		f.all.Wait()
		f.port.Close()
	}
}

func (f *programFlow) cm() bool { return f.RC.Handshake == "rdma_cm" }

// say notes what went wrong.
func (p *programs) say(f *programFlow, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
	f.problem = fmt.Sprintf("flow %s: %v", f.Name, err)
	fmt.Fprintln(p.says, f.problem)
}

// serve serves clients until the node ends.
func (p *programs) serve(f *programFlow) {
	err := f.port.ServePerftest(f.ctx, f.cm(), f.Peer.Netip(), func(_ *rdma.Test, err error) {
		if err != nil {
			p.say(f, err)
		}
	})
	if err != nil {
		p.say(f, err)
	}
}

// start has clients begin at a time, by the clock of this process, or now if that is 0.
func (p *programs) start(at unit.Time) {
	if at == 0 {
		at = timer.Now()
	}
	p.stop()
	for _, f := range p.flows {
		if !f.Client() {
			continue
		}
		ctx, stop := context.WithCancel(f.ctx)
		over := make(chan struct{})
		f.mu.Lock()
		f.stop, f.over, f.completion, f.failed, f.problem = stop, over, 0, false, ""
		f.mu.Unlock()
		f.all.Go(func() {
			defer close(over)
			defer stop()
			p.run(ctx, f, at)
		})
	}
}

// stop ends the tests of clients.
func (p *programs) stop() {
	for _, f := range p.flows {
		f.mu.Lock()
		stop, over := f.stop, f.over
		f.mu.Unlock()
		if stop != nil {
			stop()
			<-over
		}
	}
}

// run runs the test of a client.
func (p *programs) run(ctx context.Context, f *programFlow, start unit.Time) {
	begin := start + f.Start
	if timer.Sleep(ctx, time.Duration(begin-timer.Now())) != nil {
		return
	}
	o := rdma.Order{Op: opOf(f.RC), Size: f.RC.Message, Messages: math.MaxInt, Retries: int(*f.RC.Retries), CM: f.cm()}
	if f.Size > 0 {
		o.Messages = f.Size / f.RC.Message
	}
	if f.Stop > 0 {
		enough, cancel := context.WithTimeout(ctx, time.Duration(start+f.Stop-timer.Now()))
		defer cancel()
		o.Enough = enough.Done()
	}
	server := netip.AddrPortFrom(f.Peer.Netip(), ibperf.Port)
	for {
		_, err := f.port.RunPerftest(ctx, server, o)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, rdmacm.NoService):
			f.mu.Lock()
			f.problem = fmt.Sprintf("flow %s: nothing listens at %s yet", f.Name, server)
			f.mu.Unlock()
			if timer.Sleep(ctx, redial) != nil {
				return
			}
			continue
		case err != nil:
			p.say(f, err)
		default:
			f.mu.Lock()
			f.completion, f.problem = timer.Now()-begin, ""
			f.mu.Unlock()
		}
		return
	}
}

func opOf(k *host.RC) verbs.Op {
	switch k.Operation {
	case "send":
		return verbs.Send
	case "read":
		return verbs.Read
	}
	return verbs.Write
}

// report adds the flows to what a NIC tells.
func (p *programs) report(out *observe.NIC) {
	for _, f := range p.flows {
		c := f.port.Counted()
		f.mu.Lock()
		if f.problem != "" {
			out.Problems = append(out.Problems, f.problem)
		}
		sent := host.Sent{Number: f.Number, Name: f.Name}
		if f.Client() {
			m := &host.Messages{Done: c.Done, Bytes: c.Done * uint64(f.RC.Message), Completion: f.completion, Failed: f.failed, CNPs: c.CNPs}
			m.RequesterCounters = roce.RequesterCounters{Packets: c.Sent, Again: c.Again, AgainBytes: c.AgainBytes, Naks: c.Naks, Timeouts: c.Timeouts, OutsideRange: c.OutsideRange}
			sent.Messages = m
		}
		f.mu.Unlock()
		packets, taken := c.Sent, c.Received
		if f.RC.Operation == "read" {
			packets, taken = c.Answers, c.Responses
		}
		if f.Sends {
			sent.Frames, sent.Bytes = packets, c.Frames.Sent
		} else {
			out.Received = append(out.Received, host.Received{
				Number: f.Number, Priority: unit.Priority(f.Priority), Frames: taken, Bytes: c.Frames.Received, Lost: c.Lost,
				Packets: &roce.Received{
					Packets: taken, Bytes: c.Bytes, Duplicates: c.Duplicates, OutOfOrder: c.OutOfOrder, Outside: c.Outside, AccessErrors: c.AccessErrors,
				},
			})
		}
		if f.Sends || f.Client() {
			out.Sent = append(out.Sent, sent)
		}
	}
}

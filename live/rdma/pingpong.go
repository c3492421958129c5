package rdma

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"softswitch/host/ibperf"
	"softswitch/host/verbs"
)

const pingPongProgram = "ibv_rc_pingpong"

// pingPonger is an end of an ibv_rc_pingpong. Its fields are read and written under the port's lock.
type pingPonger struct {
	*exchange
	*pair
	got    int // messages
	octets int // of the last
}

// newPingPonger is an exchange with an ibv_rc_pingpong, over TCP.
func (p *Port) newPingPonger(c *net.TCPConn) (*pingPonger, error) {
	x, err := p.overTCP(c)
	if err != nil {
		return nil, err
	}
	x.mtu = min(x.mtu, ibperf.PingPongMTU) // neither end tells
	return &pingPonger{exchange: x}, nil
}

// open makes the queue pair that both lines are about.
func (g *pingPonger) open(ours ibperf.Line, told []byte, retries int) error {
	theirs, err := ibperf.ParsePingPong(told)
	if err != nil {
		return err
	}
	if g.pair, err = g.exchange.pair(ours, theirs, nil, retries); err != nil {
		return err
	}
	memory := make([]byte, memorySize)
	g.do(func() {
		g.test = true
		g.receiveInto(func() []byte { return memory }, func(b []byte) { g.got, g.octets = g.got+1, len(b) })
	})
	return nil
}

// result is what it has counted.
func (g *pingPonger) result() *Test {
	t := &Test{Program: pingPongProgram, Peer: g.peer()}
	if g.pair != nil {
		g.do(func() { t.Pairs = []PairCounters{{g.Local, g.Count}} })
	}
	return t
}

func (g *pingPonger) peer() netip.Addr { return g.exchange.peer }

// servePingPong does what ibv_rc_pingpong does as a server: it sends a message back for each that comes, so many
// times. begin is what the client has told so far.
func (p *Port) servePingPong(ctx context.Context, c *net.TCPConn, begin []byte, turns int) (*Test, error) {
	g, err := p.newPingPonger(c)
	if err != nil {
		return nil, err
	}
	if err := g.echo(ctx, begin, turns); err != nil {
		return g.result(), fmt.Errorf("client %s: %w", g.peer(), err)
	}
	return g.result(), nil
}

func (g *pingPonger) echo(ctx context.Context, begin []byte, turns int) error {
	rest, err := g.read(ibperf.PingPongLen - len(begin))
	if err != nil {
		return err
	}
	ours := g.newLine()
	if err := g.open(ours, append(begin, rest...), verbs.Forever); err != nil {
		return err
	}
	if err := g.exchange.write(ours.PingPongText()); err != nil {
		return err
	}
	if b, err := g.read(len(ibperf.Done)); err != nil {
		return err
	} else if string(b) != ibperf.Done {
		return fmt.Errorf("%s: the client says %q; valid: %q", pingPongProgram, b, ibperf.Done)
	}
	data := make([]byte, memorySize)
	for n := range turns {
		if err := g.wait(ctx, func() bool { return g.got > n }); err != nil {
			return err
		}
		g.do(func() { g.Post(verbs.Request{Op: verbs.Send, Data: data[:g.octets]}) })
	}
	return g.wait(ctx, func() bool { return g.Pending() == 0 })
}

// RunPingPong is the client of an ibv_rc_pingpong at an address: it sends a message, waits for one that comes back,
// and so on. The server has to be told the same number of messages, and their size.
func (p *Port) RunPingPong(ctx context.Context, server netip.AddrPort, o Order) (*Test, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp4", server.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	g, err := p.newPingPonger(c.(*net.TCPConn))
	if err != nil {
		return nil, err
	}
	if err := g.play(ctx, o); err != nil {
		return g.result(), fmt.Errorf("server %s: %w", server, err)
	}
	return g.result(), nil
}

func (g *pingPonger) play(ctx context.Context, o Order) error {
	ours := g.newLine()
	told, err := g.swap(true, ours.PingPongText())
	if err != nil {
		return err
	}
	if err := g.open(ours, told, o.Retries); err != nil {
		return err
	}
	if err := g.exchange.write([]byte(ibperf.Done)); err != nil {
		return err
	}
	data := make([]byte, o.Size)
	for n := range o.Messages {
		g.do(func() { g.Post(verbs.Request{Op: verbs.Send, Data: data}) })
		octets := 0
		if err := g.wait(ctx, func() bool { octets = g.octets; return g.got > n && g.Pending() == 0 }); err != nil {
			return err
		}
		if octets != o.Size {
			return fmt.Errorf("%s: %d octets came back, of %d", pingPongProgram, octets, o.Size)
		}
	}
	return nil
}

// errPingPong is a client that a server of perftest alone does not serve.
var errPingPong = errors.New(pingPongProgram + ": it says nothing of its messages, and is served by softswitch nic rdma serve alone")

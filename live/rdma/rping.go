package rdma

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"softswitch/host/verbs"
)

// RpingPort is the usual port of rping, in rdma_cm's port space of TCP.
const RpingPort = 7174

// Rping's messages (rdma-core, librdmacm/examples/rping.c): a region's address, key and size.
const (
	noticeLen = 16
	rpingMax  = 64<<10 - 1 // octets of data, its option -S
)

type notice struct {
	address   uint64
	key, size uint32
}

func (n notice) text() []byte {
	b := binary.BigEndian.AppendUint64(nil, n.address)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, n.key), n.size)
}

func parseNotice(b []byte) (n notice, err error) {
	if len(b) != noticeLen {
		return n, fmt.Errorf("rping: message of %d octets; valid: %d", len(b), noticeLen)
	}
	n = notice{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])}
	if n.size > rpingMax {
		return n, fmt.Errorf("rping: data of %d octets; valid: up to %d", n.size, rpingMax)
	}
	return n, nil
}

// serveRping does what `rping -s` does until the client ends the connection: it reads the client's
// data and writes it back.
func (c *connection) serveRping(ctx context.Context) (*Test, error) {
	err := c.echo(ctx)
	if err != nil {
		err = fmt.Errorf("client %s: %w", c.peer, err)
	}
	return c.test("rping"), err
}

func (c *connection) echo(ctx context.Context) error {
	for {
		var data []byte
		for _, op := range []verbs.Op{verbs.Read, verbs.Write} {
			b, ok, err := c.message(ctx)
			if err != nil || !ok {
				return err
			}
			n, err := parseNotice(b)
			if err != nil {
				return err
			}
			if op == verbs.Read {
				data = make([]byte, n.size)
			}
			if err := c.carryOut(ctx, verbs.Request{Op: op, Data: data[:min(len(data), int(n.size))], Address: n.address, RKey: n.key}); err != nil {
				return err
			}
			if err := c.carryOut(ctx, verbs.Request{Op: verbs.Send, Data: make([]byte, noticeLen)}); err != nil { // go on
				return err
			}
		}
	}
}

// RunRping does what `rping -c -V` does: the server reads data here and writes it back, so many times, and
// what comes back is compared.
func (p *Port) RunRping(ctx context.Context, server netip.AddrPort, o Order) (*Test, error) {
	if o.Size > rpingMax {
		return nil, fmt.Errorf("rping: data of %d octets; valid: up to %d", o.Size, rpingMax)
	}
	source := verbs.Region{Key: rand.Uint32(), Address: 1 << 32, Data: make([]byte, o.Size)}
	sink := verbs.Region{Key: source.Key + 1, Address: 1 << 33, Data: make([]byte, o.Size)}
	c, err := p.connect(ctx, server, o.Retries, verbs.Memory{source, sink})
	if err != nil {
		return nil, err
	}
	for i := range o.Messages {
		if err := c.ping(ctx, i, source, sink); err != nil {
			return c.test("rping"), fmt.Errorf("server %s: turn %d: %w", server, i+1, err)
		}
	}
	return c.test("rping"), c.disconnect(ctx)
}

// ping lets the server read data and write it back.
func (c *connection) ping(ctx context.Context, turn int, source, sink verbs.Region) error {
	for i := range source.Data { // letters and a zero: rping takes it for text
		source.Data[i] = 'A' + byte((turn+i)%58)
	}
	source.Data[len(source.Data)-1] = 0
	clear(sink.Data)
	for _, r := range []verbs.Region{source, sink} {
		n := notice{r.Address, r.Key, uint32(len(r.Data))}
		if err := c.carryOut(ctx, verbs.Request{Op: verbs.Send, Data: n.text()}); err != nil {
			return err
		}
		if _, ok, err := c.message(ctx); err != nil || !ok {
			if err == nil {
				err = errEnded
			}
			return err
		}
	}
	same := false
	c.do(func() { same = bytes.Equal(source.Data, sink.Data) })
	if !same {
		return fmt.Errorf("what the server wrote back is not what it read")
	}
	return nil
}

// test is what the connection has counted.
func (c *connection) test(program string) *Test {
	t := &Test{Program: program, Peer: c.peer}
	c.do(func() { t.Pairs = []PairCounters{{c.Local, c.Count}} })
	return t
}

package rdma

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"

	"softswitch/host"
	"softswitch/host/rdmacm"
	"softswitch/host/roce"
	"softswitch/host/verbs"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// How often a message that has no answer is sent, and after what time again.
const (
	attempts = 10
	patience = time.Second
)

// connection is a connection of rdma_cm. Its fields are read and written under the port's lock.
type connection struct {
	port              *Port
	localID, remoteID uint32
	transaction       uint64
	local, peer       netip.Addr
	*pair                    // nil until the far end has told its own
	told              []byte // the message that is repeated when the far end repeats its own
	reply             *rdmacm.Message
	established       bool
	closed            bool
	refused           rdmacm.Reason
	memory            verbs.Memory
	inbox             [][]byte
}

// listener is a port of rdma_cm on which connections are accepted.
type listener struct {
	port     uint16
	accepted []*connection
}

// listen accepts connections to a port of rdma_cm.
func (p *Port) listen(port uint16) *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &listener{port: port}
	p.listeners[port] = l
	return l
}

// accept waits for a connection that is established.
func (p *Port) accept(ctx context.Context, l *listener) (c *connection, err error) {
	err = p.wait(ctx, func() (bool, error) {
		for i, a := range l.accepted {
			if a.established {
				c = a
				l.accepted = append(l.accepted[:i], l.accepted[i+1:]...)
				return true, nil
			}
		}
		return false, nil
	})
	return c, err
}

// connectionsMax bounds the connections of a port: whoever reaches it may ask for one.
const connectionsMax = 1024

// newConnection makes a connection with a number that no other has. The lock is held.
func (p *Port) newConnection(local, peer netip.Addr) *connection {
	c := &connection{port: p, local: local, peer: peer, localID: rand.Uint32(), transaction: rand.Uint64()}
	for p.connections[c.localID] != nil {
		c.localID++
	}
	p.connections[c.localID] = c
	return c
}

// takeMessage acts on a message of a far end. The lock is held.
func (p *Port) takeMessage(from, to netip.Addr, m *rdmacm.Message) {
	if m.Kind == rdmacm.REQ {
		p.takeRequest(from, to, m)
		return
	}
	c := p.connections[m.RemoteID]
	if c == nil || c.peer != from || c.remoteID != 0 && c.remoteID != m.LocalID {
		if m.Kind == rdmacm.DREQ { // the answer to the first was lost
			p.tell(to, from, &rdmacm.Message{Kind: rdmacm.DREP, Transaction: m.Transaction, LocalID: m.RemoteID, RemoteID: m.LocalID})
		}
		return
	}
	switch m.Kind {
	case rdmacm.REP:
		if c.reply == nil {
			c.reply, c.remoteID = m, m.LocalID
		} else if c.told != nil {
			p.tellText(to, from, c.told)
		}
	case rdmacm.RTU:
		c.established = true
	case rdmacm.REJ:
		c.refused, c.closed = m.Reason, true
	case rdmacm.DREQ:
		c.closed = true
		p.tell(to, from, &rdmacm.Message{Kind: rdmacm.DREP, Transaction: m.Transaction, LocalID: c.localID, RemoteID: c.remoteID})
	case rdmacm.DREP:
		c.closed = true
	}
	p.news.Broadcast()
}

// takeRequest answers a REQ.
func (p *Port) takeRequest(from, to netip.Addr, m *rdmacm.Message) {
	for _, c := range p.connections {
		if c.peer == from && c.remoteID == m.LocalID && c.told != nil { // the answer was lost
			p.tellText(to, from, c.told)
			return
		}
	}
	refuse := func(why rdmacm.Reason) {
		p.tell(to, from, &rdmacm.Message{Kind: rdmacm.REJ, Transaction: m.Transaction, RemoteID: m.LocalID, Reason: why})
	}
	l := p.listeners[m.Port]
	mtu, err := pathMTU(to)
	switch {
	case l == nil || err != nil:
		refuse(rdmacm.NoService)
		return
	case len(p.connections) == connectionsMax:
		refuse(rdmacm.NoResources)
		return
	}
	c := p.newConnection(to, from)
	c.remoteID, c.transaction = m.LocalID, m.Transaction
	local := rdmacm.Message{
		Kind: rdmacm.REP, Transaction: m.Transaction, LocalID: c.localID, RemoteID: m.LocalID,
		QPN: p.newQPN(), PSN: newPSN(), Takes: m.Reads, Reads: m.Takes,
	}
	c.open(&local, m, min(mtu, m.MTU), verbs.Forever)
	c.told = local.Text()
	p.tellText(to, from, c.told)
	l.accepted = append(l.accepted, c)
}

// open makes the queue pair of a connection, by what both ends have told. The lock is held.
func (c *connection) open(ours, theirs *rdmacm.Message, mtu, retries int) {
	c.pair = c.port.add(verbs.Config{
		Local: ours.QPN, LocalPSN: theirs.PSN, Remote: theirs.QPN, RemotePSN: ours.PSN, MTU: mtu,
		Window: window, Reads: min(readsOnce, max(1, int(theirs.Takes))), Timeout: c.port.Timeout, Retries: retries, Memory: c.memory,
	}, c.local, c.peer)
	c.receiveInto(func() []byte { return make([]byte, messageMax) }, func(b []byte) {
		c.established = true // its RTU was lost
		c.inbox = append(c.inbox, b)
	})
}

// messageMax is the longest message of a SEND of a connection, in octets.
const messageMax = 4096

// connected takes the queue pair of a connection that a listener has accepted, by that of its far end; nil without
// one.
func (p *Port) connected(l *listener, peer netip.Addr, remote uint32) *pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l == nil {
		return nil
	}
	i := slices.IndexFunc(l.accepted, func(c *connection) bool { return c.peer == peer && c.Remote == remote })
	if i < 0 {
		return nil
	}
	q := l.accepted[i].pair
	l.accepted = slices.Delete(l.accepted, i, i+1)
	return q
}

// connect makes a connection to a port of rdma_cm. Memory is what the far end may write and read.
func (p *Port) connect(ctx context.Context, to netip.AddrPort, retries int, memory verbs.Memory) (*connection, error) {
	local, err := localTo(to)
	if err != nil {
		return nil, err
	}
	mtu, err := pathMTU(local)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	c := p.newConnection(local, to.Addr())
	c.memory = memory
	m := rdmacm.Message{
		Kind: rdmacm.REQ, Transaction: c.transaction, LocalID: c.localID, QPN: p.newQPN(), PSN: newPSN(), Takes: readsOnce, Reads: readsOnce,
		Port: to.Port(), MTU: mtu, From: local, To: to.Addr(), FromPort: uint16(sourcePorts | c.localID&0x3fff), TrafficClass: host.DSCP(p.priority) << 2,
	}
	p.mu.Unlock()
	err = c.ask(ctx, &m, func() (bool, error) {
		if c.closed {
			return false, fmt.Errorf("refused: %w", c.refused)
		}
		return c.reply != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("rdma_cm: connection to %s: %w", to, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.open(&m, c.reply, mtu, retries)
	ready := rdmacm.Message{Kind: rdmacm.RTU, Transaction: c.transaction, LocalID: c.localID, RemoteID: c.remoteID}
	c.told, c.established = ready.Text(), true
	p.tellText(local, c.peer, c.told)
	return c, nil
}

// disconnect ends a connection, and waits until the far end knows.
func (c *connection) disconnect(ctx context.Context) error {
	m := rdmacm.Message{Kind: rdmacm.DREQ, Transaction: c.transaction + 1, LocalID: c.localID, RemoteID: c.remoteID, RemoteQPN: c.Remote}
	return c.ask(ctx, &m, func() (bool, error) { return c.closed, nil })
}

// ask sends a message until it is answered.
func (c *connection) ask(ctx context.Context, m *rdmacm.Message, answered func() (bool, error)) error {
	for range attempts {
		c.port.mu.Lock()
		c.port.tell(c.local, c.peer, m)
		c.port.mu.Unlock()
		turn, cancel := context.WithTimeout(ctx, patience)
		err := c.port.wait(turn, answered)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return fmt.Errorf("no answer to %s, sent %s", m.Kind, unit.Count(attempts, "time"))
}

// message waits for the next message of a SEND; ok is false if the far end ended the connection.
func (c *connection) message(ctx context.Context) (b []byte, ok bool, err error) {
	err = c.wait(ctx, func() bool {
		if len(c.inbox) > 0 {
			b, ok = c.inbox[0], true
			c.inbox = c.inbox[1:]
		}
		return ok || c.closed
	})
	return b, ok, err
}

// carryOut posts a request and waits until it is complete, or the far end ends the connection.
func (c *connection) carryOut(ctx context.Context, r verbs.Request) error {
	c.do(func() { c.Post(r) })
	return c.wait(ctx, func() bool { return c.Pending() == 0 || c.closed })
}

// tell sends a message to a far end. The lock is held.
func (p *Port) tell(from, to netip.Addr, m *rdmacm.Message) { p.tellText(from, to, m.Text()) }

func (p *Port) tellText(from, to netip.Addr, text []byte) {
	p.datagrams++
	packet := verbs.Packet{
		Header:  roce.Header{Opcode: roce.Datagram, DestQP: rdmacm.QP, PSN: p.datagrams & roce.PSNMask, QKey: rdmacm.QKey, SrcQP: rdmacm.QP},
		Payload: text,
	}
	p.send(from, to, sourcePorts|rdmacm.QP, &packet)
}

// takeDatagram takes a packet to queue pair 1.
func (p *Port) takeDatagram(ip ether.IPv4, h *roce.Header, payload []byte) {
	m, err := rdmacm.Parse(payload)
	if err != nil || h.QKey != rdmacm.QKey {
		p.bad.Malformed++
		return
	}
	m.Private = nil // shares the packet's octets
	p.takeMessage(unit.Addr(ip.Src()).Netip(), unit.Addr(ip.Dst()).Netip(), &m)
}

// localTo is the address from which packets to another one are sent.
func localTo(to netip.AddrPort) (netip.Addr, error) {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return netip.Addr{}, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

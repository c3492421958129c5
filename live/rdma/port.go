package rdma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/host"
	"softswitch/host/rdmacm"
	"softswitch/host/roce"
	"softswitch/host/verbs"
	"softswitch/internal/ether"
	"softswitch/internal/pacer"
	"softswitch/unit"
)

// Lengths in octets.
const (
	packetMax = 1 << 16
	headers   = ether.IPv4Len + ether.UDPLen
	// socketBuffer is that of the raw socket, for packets that come while this process waits for a
	// processor.
	socketBuffer = 8 << 20
)

// The UDP source ports of queue pairs (RoCEv2, annex A17.9.1: the upper quarter).
const sourcePorts = 0xc000

// Port sends and receives the packets of queue pairs. Use Open to make one.
type Port struct {
	// Timeout is how long its requesters wait for an acknowledgement before they send again: what RDMA
	// programs usually choose, unless it is changed before a test.
	Timeout unit.Time

	socket   *net.IPConn
	write    func(ip []byte, to netip.Addr) error // does not keep ip
	silent   *os.File
	priority unit.Priority
	rate     unit.Rate // at most, 0: unlimited
	began    time.Time

	mu    sync.Mutex
	wire  pacer.Wire
	news  *sync.Cond // a queue pair's state has changed
	pairs map[uint32]*pair
	// connections are those of rdma_cm by their local IDs, listeners by their ports.
	connections map[uint32]*connection
	listeners   map[uint16]*listener
	datagrams   uint32  // sent
	past        Counted // of tests that are over
	bad         host.BadPackets
	id          uint16 // of the last IPv4 packet
	buf         []byte
	err         error // of sending
}

// pair is a queue pair with the way to its far end.
type pair struct {
	*verbs.QueuePair
	port        *Port
	local, peer netip.Addr
	source      uint16 // UDP port
	timer       *time.Timer
	buffer      func() []byte // for the next SEND
	received    func([]byte)  // unless nil, is called for each message of one, under the lock
	test        bool          // it carries a test, and not what both ends tell each other of it
	frames      Frames
}

// Frames are the bytes of frames, without FCS, that carry messages.
type Frames struct{ Sent, Received uint64 }

// Counted is what the queue pairs of tests have counted.
type Counted struct {
	verbs.Counters
	Frames Frames
}

func (c *Counted) add(q *pair) {
	c.Counters.Add(&q.Count)
	c.Frames.Sent += q.frames.Sent
	c.Frames.Received += q.frames.Received
}

// Counted returns what all tests have counted so far.
func (p *Port) Counted() Counted {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.past
	for _, q := range p.pairs {
		if q.test {
			c.add(q)
		}
	}
	return c
}

// forget ends the queue pairs of tests.
func (p *Port) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, q := range p.pairs {
		if q.test {
			p.past.add(q)
			q.timer.Stop()
			delete(p.pairs, n)
		}
	}
}

// granularity is how late timers are.
const granularity = unit.Millisecond

// Open begins to receive packets to UDP port 4791. What is sent has this priority, and leaves at no more than
// this rate; 0 is unlimited.
func Open(priority unit.Priority, rate unit.Rate) (*Port, error) {
	socket, err := net.ListenIP("ip4:udp", nil)
	if err != nil {
		return nil, fmt.Errorf("raw socket for UDP port %d: %w", roce.Port, err)
	}
	p := newPort(priority, func(ip []byte, to netip.Addr) error {
		_, err := socket.WriteToIP(ip, &net.IPAddr{IP: to.AsSlice()})
		return err
	})
	p.socket, p.rate = socket, rate
	if err := p.prepare(); err != nil {
		socket.Close()
		return nil, err
	}
	go p.receive()
	return p, nil
}

// newPort returns a port that sends packets by write.
func newPort(priority unit.Priority, write func(ip []byte, to netip.Addr) error) *Port {
	p := &Port{
		Timeout: timeout, write: write, priority: priority, began: time.Now(), id: uint16(rand.Uint32()), buf: make([]byte, packetMax),
		pairs: map[uint32]*pair{}, connections: map[uint32]*connection{}, listeners: map[uint16]*listener{},
	}
	p.news = sync.NewCond(&p.mu)
	return p
}

// prepare sets what the sockets need.
func (p *Port) prepare() error {
	raw, err := p.socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		// What is not to port 4791 is not copied: the UDP destination is 2 octets behind the IPv4 header.
		filter := []unix.SockFilter{
			{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0},
			{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: 2},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: roce.Port, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: packetMax},
			{Code: unix.BPF_RET | unix.BPF_K},
		}
		failed = errors.Join(
			unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}),
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_HDRINCL, 1),
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketBuffer),
		)
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("raw socket for UDP port %d: %w", roce.Port, err)
	}
	if p.silent, err = SilentPort(); errors.Is(err, syscall.EADDRINUSE) { // who has it keeps it silent
		return nil
	}
	return err
}

// SilentPort binds the UDP port of RoCEv2 in the kernel's stack and drops what arrives there, so
// that the kernel does not answer it with ICMP errors.
func SilentPort() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // takes 0 bytes of each
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &none})
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: roce.Port})
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("udp port %d: %w", roce.Port, err)
	}
	return os.NewFile(uintptr(fd), "udp"), nil
}

// Close ends all queue pairs.
func (p *Port) Close() error {
	p.mu.Lock()
	for _, q := range p.pairs {
		q.timer.Stop()
	}
	clear(p.pairs)
	p.mu.Unlock()
	if p.silent != nil {
		p.silent.Close()
	}
	if p.socket != nil {
		return p.socket.Close()
	}
	return nil
}

// BadPackets returns what came and was of no queue pair.
func (p *Port) BadPackets() host.BadPackets {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bad
}

func (p *Port) now() unit.Time { return unit.Time(time.Since(p.began)) }

// add makes a queue pair. The lock is held.
func (p *Port) add(c verbs.Config, local, peer netip.Addr) *pair {
	q := &pair{QueuePair: verbs.New(c), port: p, local: local, peer: peer, source: sourcePorts | uint16(c.Local)}
	q.timer = time.AfterFunc(time.Hour, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		q.pump()
	})
	q.timer.Stop()
	p.pairs[c.Local] = q
	return q
}

// newQPN is a number that no queue pair has: 0 and 1 are the subnet's own (volume 1, 3.5.10).
// The lock is held.
func (p *Port) newQPN() uint32 {
	for {
		n := rand.Uint32N(roce.QPMask)
		if _, has := p.pairs[n]; !has && n > 1 {
			return n
		}
	}
}

func newPSN() uint32 { return rand.Uint32N(roce.PSNMask + 1) }

// receive takes packets until the socket is closed.
func (p *Port) receive() {
	b := make([]byte, packetMax)
	for {
		n, _, _, _, err := p.socket.ReadMsgIP(b, nil)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error of a packet that was sent
		}
		p.mu.Lock()
		p.take(ether.IPv4(b[:n]))
		p.mu.Unlock()
	}
}

// take hands a packet to its queue pair.
func (p *Port) take(ip ether.IPv4) {
	total := 0
	if len(ip) >= headers && ip.Valid(len(ip)) {
		total = ip.TotalLen()
	}
	if total < headers+roce.BTHLen+roce.ICRCLen || ip.IsFragment() || ip.HeaderLen() != ether.IPv4Len {
		p.bad.Malformed++
		return
	}
	ip = ip[:total]
	h, octets, err := roce.Parse(ip[headers:], total-headers)
	switch {
	case err != nil:
		p.bad.Malformed++
		return
	case !roce.Sealed(ip):
		p.bad.ICRC++
		return
	}
	from := headers + h.Opcode.Len()
	payload := ip[from : from+octets]
	if h.Opcode == roce.Datagram && h.DestQP == rdmacm.QP {
		p.takeDatagram(ip, &h, payload)
		return
	}
	q, ok := p.pairs[h.DestQP]
	if !ok || unit.Addr(ip.Src()).Netip() != q.peer {
		p.bad.UnknownQP++
		return
	}
	if h.Opcode.IsData() || h.Opcode.IsReadResponse() {
		q.frames.Received += uint64(ether.HeaderLen + total)
	}
	q.Receive(p.now(), &h, payload)
	for {
		b, ok := q.Arrived()
		if !ok {
			break
		}
		q.PostReceive(q.buffer())
		if q.received != nil {
			q.received(b)
		}
	}
	q.pump()
}

// receiveInto lets SENDs find buffers, and calls received, unless nil, for what they brought. The lock is held.
func (q *pair) receiveInto(buffer func() []byte, received func([]byte)) {
	q.buffer, q.received = buffer, received
	q.ForgetReceives()
	for range receives {
		q.PostReceive(buffer())
	}
}

// pump sends what a queue pair has to send, and sets its timer. The port's lock is held.
func (q *pair) pump() {
	p := q.port
	now := p.now()
	q.Expire(now)
	at := unit.Never
	p.wire.Begin(now, p.rate, granularity)
	for {
		if !p.wire.Ready(now) {
			p.wire.Wait()
			at = p.wire.At()
			break
		}
		packet, ok := q.Next(now)
		if !ok {
			break
		}
		n := p.send(q.local, q.peer, q.source, &packet)
		if packet.Opcode.IsData() || packet.Opcode.IsReadResponse() {
			q.frames.Sent += uint64(n)
		}
	}
	if at = min(at, q.Deadline(now)); at != unit.Never {
		q.timer.Reset(time.Duration(max(0, at-now)))
	} else {
		q.timer.Stop()
	}
	p.news.Broadcast()
}

// send sends a packet, and returns the bytes of its frame without FCS. The lock is held.
func (p *Port) send(from, to netip.Addr, source uint16, packet *verbs.Packet) int {
	head := headers + packet.Opcode.Len()
	total := head + len(packet.Payload) + int(packet.Pad) + roce.ICRCLen
	p.wire.Send(p.rate.FrameTime(ether.HeaderLen + total))
	b := p.buf[:total]
	clear(b)
	ether.PutIPv4(b, host.DSCP(p.priority)<<2, 64, ether.ProtoUDP, total, uint32(unit.AddrOf(from)), uint32(unit.AddrOf(to)))
	// The kernel gives a packet whose identification is 0 another one, and the ICRC counts it.
	if p.id++; p.id == 0 {
		p.id++
	}
	ether.SetID(b, p.id)
	udp := b[ether.IPv4Len:] // without a checksum (RFC 768)
	binary.BigEndian.PutUint16(udp, source)
	binary.BigEndian.PutUint16(udp[2:], roce.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(total-ether.IPv4Len))
	packet.Put(b[headers:])
	copy(b[head:], packet.Payload)
	roce.Seal(b)
	err := p.write(b, to)
	// If the interface's queue is full, the packet is lost like any other.
	if err != nil && !errors.Is(err, syscall.ENOBUFS) && p.err == nil {
		p.err = fmt.Errorf("sending to %s: %w", to, err)
	}
	return ether.HeaderLen + total
}

// wait waits until done reports true or returns an error, or ctx ends. done is called under the lock.
func (p *Port) wait(ctx context.Context, done func() (bool, error)) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.news.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch ok, err := done(); {
		case ok || err != nil:
			return err
		case p.err != nil:
			return p.err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		p.news.Wait()
	}
}

// wait waits until done reports true, the queue pair has failed, or ctx ends.
func (q *pair) wait(ctx context.Context, done func() bool) error {
	return q.port.wait(ctx, func() (bool, error) {
		ok := done()
		if !ok && q.Failed() != "" {
			return false, fmt.Errorf("queue pair %#x: %s", q.Local, q.Failed())
		}
		return ok, nil
	})
}

// do calls f under the lock, and sends what has become ready.
func (q *pair) do(f func()) {
	q.port.mu.Lock()
	defer q.port.mu.Unlock()
	f()
	q.pump()
}

// pathMTU is the greatest path MTU whose packets the interface with this address can send.
func pathMTU(local netip.Addr) (int, error) {
	list, err := net.Interfaces()
	if err != nil {
		return 0, err
	}
	for _, i := range list {
		addrs, err := i.Addrs()
		if err != nil {
			return 0, err
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(local.AsSlice()) {
				mtu := host.MTUMax
				for mtu > host.MTUMin && headers+roce.WriteOnly.Len()+mtu+roce.ICRCLen > i.MTU {
					mtu /= 2
				}
				return mtu, nil
			}
		}
	}
	return 0, fmt.Errorf("no interface has the address %s", local)
}

package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/link/gso"
	"softswitch/link/offload"
	"softswitch/unit"
)

// stack is a TAP device in a namespace of its own, which ends with the test, and the
// stack's side of it: a packet socket that a program might have.
//
//	s ═════ "nic0" ───── program
type stack struct {
	t       testing.TB
	ns      *testkit.Namespace
	s       *Stack
	program *Packet
}

// newStack makes a device that is up. It needs root.
func newStack(t testing.TB) *stack { t.Helper(); return newStackWith(t, offloads) }

// newStackWith makes one that asks for other offloads.
func newStackWith(t testing.TB, offloads int) *stack {
	t.Helper()
	k := &stack{t: t, ns: testkit.NewNamespace(t)}
	err := k.ns.Do(func() (err error) { k.s, err = openStackWith("nic0", offloads); return err })
	if errors.Is(err, os.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.s.Close() })
	k.ns.SetUp("nic0")
	k.program = openIn(t, k.ns, "nic0", Options{})
	return k
}

func TestStackBothWays(t *testing.T) {
	k := newStack(t)
	want := [][]byte{numbered(1, 60), numbered(2, 1514), numbered(3, 18)}
	send(t, k.program, want...)
	wantFrames(t, receive(t, k.s, 3), want)
	send(t, k.s, want...)
	wantFrames(t, receive(t, k.program, 3), want)
	if s := k.s.Stats(); s != (Stats{Received: 3, Sent: 3}) {
		t.Errorf("%+v", s)
	}
}

// With the MTU of jumbo frames, they pass both ways.
func TestStackJumboFrames(t *testing.T) {
	k := newStack(t)
	if err := k.ns.NL.LinkSetMTU(k.ns.Link("nic0"), 9216); err != nil {
		t.Fatal(err)
	}
	program := openIn(t, k.ns, "nic0", Options{MTU: 9216})
	want := [][]byte{numbered(1, 9230), numbered(2, 60)}
	send(t, program, want...)
	wantFrames(t, receive(t, k.s, 2), want)
	send(t, k.s, want...)
	wantFrames(t, receive(t, program, 2), want)
}

// Nobody reads: the kernel's queue fills, and what finds it full is counted.
func TestStackCountsDrops(t *testing.T) {
	k := newStack(t)
	queue := k.ns.Link("nic0").Attrs().TxQLen
	const more = 7
	for i := range queue + more {
		if _, err := k.program.Write([][]byte{numbered(i, 60)}); err != nil && !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
	}
	got := receive(t, k.s, queue)
	if !bytes.Equal(got[queue-1], numbered(queue-1, 60)) {
		t.Errorf("the last of the queue is %x", got[queue-1])
	}
	if s := k.s.Stats(); s.Drops != more || int(s.Received) != queue {
		t.Errorf("%+v; want %d received, %d lost", s, queue, more)
	}
}

// A device that is down takes nothing; up again, it does.
func TestStackDown(t *testing.T) {
	k := newStack(t)
	k.ns.SetDown("nic0")
	if n, err := k.s.Write([][]byte{numbered(1, 60)}); n != 0 || !errors.Is(err, ErrDown) {
		t.Errorf("Write while it is down: %d, %v", n, err)
	}
	k.ns.SetUp("nic0")
	send(t, k.s, numbered(2, 60))
	wantFrames(t, receive(t, k.program, 1), [][]byte{numbered(2, 60)})
}

func TestStackRefusesShortFrames(t *testing.T) {
	k := newStack(t)
	n, err := k.s.Write([][]byte{numbered(1, 60), make([]byte, 5)})
	var frame *FrameError
	if n != 1 || !errors.As(err, &frame) || frame.Len != 5 {
		t.Errorf("Write: %d, %v", n, err)
	}
}

// A Read that waits ends with Close, and with the device.
func TestStackReadEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*stack) error
		want error
	}{
		{"close", func(k *stack) error { return k.s.Close() }, net.ErrClosed},
		{"delete", func(k *stack) error { k.ns.Delete("nic0"); return nil }, ErrGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newStack(t)
			done := make(chan error, 1)
			go func() {
				_, err := k.s.Read(frameBuffers(1, 2048))
				done <- err
			}()
			if err := c.end(k); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Errorf("Read: %v, want %v", err, c.want)
				}
			case <-time.After(patience):
				t.Fatal("Read goes on")
			}
			if _, err := k.s.Write([][]byte{numbered(1, 60)}); !errors.Is(err, c.want) {
				t.Errorf("Write: %v, want %v", err, c.want)
			}
			k.s.Stats()
		})
	}
}

// The device is the link's alone, and goes with it.
func TestStackName(t *testing.T) {
	k := newStack(t)
	open := func(name string) error {
		return k.ns.Do(func() error { _, err := OpenStack(name); return err })
	}
	wantError(t, open("nic0"), "exists already")
	wantError(t, open("a-name-that-is-too-long"), "1 to 15")
	if err := k.s.Close(); err != nil {
		t.Fatal(err)
	}
	var gone netlink.LinkNotFoundError
	if _, err := k.ns.NL.LinkByName("nic0"); !errors.As(err, &gone) {
		t.Errorf("after Close: %v", err)
	}
}

// Reading and writing allocate nothing.
func TestStackAllocations(t *testing.T) {
	k := newStack(t)
	bufs, out := frameBuffers(1, 2048), [][]byte{numbered(1, 60)}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := k.s.Write(out); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Write allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		send(t, k.program, out...)
		bufs[0] = bufs[0][:0]
		if _, err := k.s.Read(bufs); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Read allocates %v times", n)
	}
}

// The kernel is asked for an offload that there is none of, and refuses: frames pass
// without offloads, and Plain says why.
func TestStackWithoutOffloads(t *testing.T) {
	const unknown = 1 << 30
	k := newStackWith(t, offloads|unknown)
	if why := k.s.Plain(); !errors.Is(why, errRefused) || !errors.Is(why, unix.EINVAL) {
		t.Errorf("Plain: %v; want that the kernel refuses", why)
	}
	want := [][]byte{numbered(1, 60), numbered(2, 1514)}
	send(t, k.program, want...)
	wantFrames(t, receive(t, k.s, 2), want)
	send(t, k.s, want...)
	wantFrames(t, receive(t, k.program, 2), want)
}

// TCP between two stacks, over IPv4 and IPv6: every byte arrives, the frames between are as
// a wire carries them, the kernel finds no wrong checksum, and it hands over and takes far
// fewer than there are frames.
//
//	program ──▶ "nic0" ═══ a ──▶ relay, which looks ──▶ b ═══ "nic0" ──▶ program
func TestStackCutsAndJoins(t *testing.T) {
	for _, address := range []string{"10.9.0.%d", "fd00::%d"} {
		t.Run(address, func(t *testing.T) {
			a, b := newStack(t), newStack(t)
			for i, k := range []*stack{a, b} {
				if err := k.s.Plain(); err != nil {
					t.Skip(err)
				}
				k.program.Close() // it would see the stack's frames whole, and has no use here
				k.address(fmt.Sprintf(address, i+1))
			}
			longest := relay(t, a.s, b.s)
			relay(t, b.s, a.s)
			payload := make([]byte, 32<<20)
			for i := range payload {
				payload[i] = byte(i ^ i>>8 ^ i>>16)
			}
			if got := a.transfer(b, fmt.Sprintf(address, 2), payload); !bytes.Equal(got, payload) {
				t.Errorf("%d bytes arrived, of %d, or others", len(got), len(payload))
			}
			if got := longest.Load(); got != 1514 {
				t.Errorf("the longest frame has %d bytes, want 1514", got)
			}
			frames, handed, taken := a.s.Stats().Received, a.counters().TxPackets, b.counters().RxPackets
			if frames < 10*handed || frames < 4*taken {
				t.Errorf("%d frames were %d to the stack that sent them and %d to the one that took them", frames, handed, taken)
			}
			for _, k := range []*stack{a, b} {
				if n := k.ns.WrongSums(); n != 0 {
					t.Errorf("%v segments with a wrong checksum", n)
				}
			}
		})
	}
}

// The same over a wire that carries frames as they are, to which TCP is handed joined:
// what comes off it is, byte for byte and in order, what was written.
//
//	program ──▶ "nic0" ═══ a ──▶ left ~~~ right ──▶ b ═══ "nic0" ──▶ program
func TestWireCarriesWhatWasJoined(t *testing.T) {
	for _, address := range []string{"10.9.0.%d", "fd00::%d"} {
		t.Run(address, func(t *testing.T) {
			w := newPlainWire(t)
			left, right := w.openLeft(Options{}), w.openRight(Options{})
			if !left.tx.headed {
				t.Fatal("the wire is plain, and nothing is to be joined")
			}
			a, b := newStack(t), newStack(t)
			for i, k := range []*stack{a, b} {
				k.program.Close()
				k.address(fmt.Sprintf(address, i+1))
			}
			written, read := &trace{Link: left}, &trace{Link: right}
			relay(t, a.s, written)
			relay(t, read, b.s)
			relay(t, b.s, right)
			relay(t, left, a.s)
			payload := make([]byte, 8<<20)
			for i := range payload {
				payload[i] = byte(i ^ i>>8 ^ i>>16)
			}
			if got := a.transfer(b, fmt.Sprintf(address, 2), payload); !bytes.Equal(got, payload) {
				t.Errorf("%d bytes arrived, of %d, or others", len(got), len(payload))
			}
			if d := right.Stats().Drops; d > 0 {
				t.Skipf("the ring was full: %d frames are missing", d)
			}
			got, want := read.frames(), written.frames()
			wantFrames(t, got, want[:len(got)])
			if len(got) < len(payload)/1460 || written.joined.Load() < 10 {
				t.Errorf("%d frames compared, at most %d in a message", len(got), written.joined.Load())
			}
		})
	}
}

// newPlainWire makes a wire that offloads nothing.
func newPlainWire(t testing.TB) *wire {
	t.Helper()
	w := newWire(t)
	for ns, name := range map[*testkit.Namespace]string{w.a: "left", w.b: "right"} {
		if err := ns.Do(func() error { return offload.Off(name) }); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// trace is a link that keeps copies of the TCP frames with payload that pass it.
type trace struct {
	Link
	mu     sync.Mutex
	all    [][]byte     // guarded by mu
	joined atomic.Int64 // the most frames of a message
}

// keep wants mu held.
func (c *trace) keep(frames [][]byte) {
	for _, f := range frames {
		if len(f) > 1000 {
			c.all = append(c.all, bytes.Clone(f))
		}
	}
}

func (c *trace) frames() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

func (c *trace) Read(bufs [][]byte) (int, error) {
	n, err := c.Link.Read(bufs)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(bufs[:n])
	return n, err
}

// Write holds the lock while the frames go out: who has read one at the far end finds it here.
func (c *trace) Write(frames [][]byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Link.Write(frames)
	c.keep(frames[:n])
	c.joined.Store(max(c.joined.Load(), int64(c.Link.(*Packet).tx.carries[0])))
	return n, err
}

// A kernel that refuses a message of several frames is given them one by one. Here it
// takes the header, which is zero before a single frame, for the beginning of a frame: what
// was joined is too long for the wire then.
func TestJoinedFramesAreRefused(t *testing.T) {
	w := newPlainWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	var err error
	if cerr := left.sc.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_PACKET, unix.PACKET_VNET_HDR, 0)
	}); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	var frames, want [][]byte
	for i := range 4 {
		frames = append(frames, tcpFrame(uint32(i*446), make([]byte, 446)))
		want = append(want, append(make([]byte, gso.HeaderLen), frames[i]...))
		ether.SetID(frames[i][14:34], uint16(i))
		copy(want[i][gso.HeaderLen:], frames[i])
	}
	send(t, left, frames...)
	wantFrames(t, receive(t, right, 4), want)
	if !left.tx.alone {
		t.Error("nothing was refused")
	}
}

// tcpFrame is a frame of one TCP connection, with right checksums.
func tcpFrame(seq uint32, payload []byte) []byte {
	f := make([]byte, 54, 54+len(payload))
	ether.SetAddresses(f, unit.Broadcast, 0x020000000001)
	binary.BigEndian.PutUint16(f[12:], ether.TypeIPv4)
	f = append(f, payload...)
	ether.PutIPv4(f[14:], 0, 64, ether.ProtoTCP, len(f)-14, 1, 2)
	binary.BigEndian.PutUint32(f[38:], seq)
	f[46], f[47] = 5<<4, 0x10 // a header of 20 bytes, ACK
	sum := ether.Sum(uint64(len(f)-34)+ether.ProtoTCP, f[26:34])
	binary.BigEndian.PutUint16(f[50:], ^ether.Fold(ether.Sum(sum, f[34:])))
	return f
}

// A datagram whose checksum the stack leaves to the device arrives.
func TestStackCompletesChecksums(t *testing.T) {
	a, b := newStack(t), newStack(t)
	a.address("10.9.0.1")
	b.address("10.9.0.2")
	relay(t, a.s, b.s)
	relay(t, b.s, a.s)
	var from, to net.PacketConn
	for _, c := range []struct {
		k    *stack
		conn *net.PacketConn
		at   string
	}{{a, &from, "10.9.0.1:7"}, {b, &to, "10.9.0.2:7"}} {
		if err := c.k.ns.Do(func() (err error) { *c.conn, err = net.ListenPacket("udp", c.at); return err }); err != nil {
			t.Fatal(err)
		}
		defer (*c.conn).Close()
	}
	want := []byte("an odd one")
	if _, err := from.WriteTo(want, to.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	to.SetReadDeadline(time.Now().Add(patience))
	n, _, err := to.ReadFrom(got)
	if err != nil || !bytes.Equal(got[:n], want) {
		t.Errorf("received %q, %v", got[:n], err)
	}
}

// address gives the device an IP address of a network that it shares with the other's.
func (k *stack) address(ip string) {
	k.t.Helper()
	bits := 24
	if strings.Contains(ip, ":") {
		bits = 64
		if err := k.ns.Do(func() error {
			return os.WriteFile("/proc/sys/net/ipv6/conf/nic0/disable_ipv6", []byte("0"), 0)
		}); err != nil {
			k.t.Skip(err)
		}
	}
	addr, err := netlink.ParseAddr(fmt.Sprintf("%s/%d", ip, bits))
	if err != nil {
		k.t.Fatal(err)
	}
	addr.Flags = unix.IFA_F_NODAD // it may be used at once
	if err := k.ns.NL.AddrAdd(k.ns.Link("nic0"), addr); err != nil {
		k.t.Fatal(err)
	}
}

// relay passes on what it reads until the test ends, and keeps the length of the longest
// frame.
func relay(t *testing.T, from, to Link) (longest *atomic.Int64) {
	longest = new(atomic.Int64)
	var done sync.WaitGroup
	t.Cleanup(func() { from.Close(); done.Wait() })
	done.Go(func() {
		for bufs := frameBuffers(64, 2048); ; {
			n, err := from.Read(bufs)
			if err != nil {
				return
			}
			for _, f := range bufs[:n] {
				longest.Store(max(longest.Load(), int64(len(f))))
			}
			for sent := 0; sent < n; {
				k, err := to.Write(bufs[sent:n])
				if err != nil && !errors.Is(err, ErrBusy) {
					return
				}
				sent += k
			}
		}
	})
	return longest
}

// transfer sends payload to a program in the other's namespace, and returns what came.
func (k *stack) transfer(to *stack, ip string, payload []byte) (got []byte) {
	k.t.Helper()
	var ln net.Listener
	if err := to.ns.Do(func() (err error) { ln, err = net.Listen("tcp", net.JoinHostPort(ip, "5201")); return err }); err != nil {
		k.t.Fatal(err)
	}
	defer ln.Close()
	received := make(chan []byte, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			received <- nil
			return
		}
		defer conn.Close()
		b, _ := io.ReadAll(conn)
		received <- b
	}()
	var conn net.Conn
	if err := k.ns.Do(func() (err error) { conn, err = net.Dial("tcp", ln.Addr().String()); return err }); err != nil {
		k.t.Fatal(err)
	}
	if _, err := conn.Write(payload); err != nil {
		k.t.Fatal(err)
	}
	conn.Close()
	return <-received
}

func (k *stack) counters() *netlink.LinkStatistics {
	k.t.Helper()
	return k.ns.Link("nic0").Attrs().Statistics
}

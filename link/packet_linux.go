package link

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"softswitch/internal/lists"
	"softswitch/link/offload"
	"softswitch/unit"
)

// DefaultRingBytes is the size of a receive ring unless Options say otherwise: a
// burst of 4096 frames on an interface with an MTU of 1500.
const DefaultRingBytes = 8 << 20

// maxRingBytes keeps blocks and offsets of a ring within what the kernel can count.
const maxRingBytes = 1 << 30

// Options are the settings of an interface. The zero value is the default.
type Options struct {
	// RingBytes is the size of the receive ring in bytes, rounded up to blocks of
	// 64 KiB; 0 means DefaultRingBytes. Each frame takes a slot of 2048 bytes, or more
	// where the MTU asks for it: seven slots fit 64 KiB if that is 9216. Frames that come while all slots are full
	// are lost and counted in Stats.Drops. The memory is the kernel's, not
	// swappable, and is taken when the interface is opened.
	RingBytes int
	// Filter is a BPF program that selects the frames to receive; nil means all. The
	// kernel runs it after removing the outermost 802.1Q tag.
	Filter []bpf.RawInstruction
	// MTU is the least MTU in bytes of an interface that may be opened; 0 means any.
	MTU int
	// Polled says that frames are taken with Poll. A Read then waits for the end of the link,
	// and nobody is woken by a frame.
	Polled bool
	// Deaf says that nothing is received before Hear.
	Deaf bool
	// Offload, unless nil, is called once, by Read or Poll, before the first frame that the sender
	// left to a NIC to finish is delivered: see Stats.Offloaded.
	Offload func()
}

// Packet is a Link on a network interface: a packet socket that receives through
// a TPACKET_V2 ring, and another that sends with sendmmsg.
//
// The sending socket is not registered with the netpoller. The kernel notifies a poller
// of each frame that has left the socket; with one socket for both directions, that
// would take a tenth of the time of sending, and wake the netpoller for nothing.
type Packet struct {
	name   string
	index  int
	conn   *packet.Conn
	rc     syscall.RawConn // of conn
	sender *os.File
	sc     syscall.RawConn // of sender
	polled *os.File        // the socket of the ring, if that is not conn; not registered with the netpoller

	rx   receiver
	tx   transmitter
	down downWatch

	closed atomic.Bool
	drops  atomic.Uint64 // accumulated: reading resets the kernel's counter

	closeOnce sync.Once
	closeErr  error
}

var _ Link = (*Packet)(nil)

// Open opens the interface ifname of the calling thread's network namespace for all
// frames, in promiscuous mode. The link keeps working when the thread moves to another
// namespace. An interface that is down can be opened too; the first Read then returns
// ErrDown.
//
// It needs CAP_NET_RAW. It fails if the interface does not exist or is not Ethernet, if
// the right is missing, if its MTU is too small, or if the kernel has no memory for the ring; the
// error says which.
func Open(ifname string, opt Options) (*Packet, error) {
	p, err := open(ifname, opt)
	if err != nil {
		return nil, fmt.Errorf("link: open %q: %w", ifname, err)
	}
	return p, nil
}

func open(ifname string, opt Options) (*Packet, error) {
	if opt.RingBytes < 0 || opt.RingBytes > maxRingBytes {
		return nil, fmt.Errorf("RingBytes is %d; it must be 1 to %d, or 0 for %d", opt.RingBytes, maxRingBytes, DefaultRingBytes)
	}
	ifi, err := net.InterfaceByName(ifname)
	if err != nil {
		return nil, unknownInterface(err)
	}
	if ifi.MTU < opt.MTU {
		return nil, fmt.Errorf("its MTU is %d, and frames for one of %d are to pass; raise it with `ip link set dev %s mtu %d`", ifi.MTU, opt.MTU, ifname, opt.MTU)
	}
	protocol, filter := 0, opt.Filter // receiveBy binds it to all frames
	if opt.Polled {
		protocol, filter = unix.ETH_P_LOOPBACK, []bpf.RawInstruction{{Op: unix.BPF_RET | unix.BPF_K}} // hears of the interface only
	}
	conn, err := packet.Listen(ifi, packet.Raw, protocol, &packet.Config{Filter: filter})
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("a packet socket needs CAP_NET_RAW, run with sudo: %w", err)
	}
	if err != nil {
		return nil, err
	}
	p := &Packet{name: ifname, conn: conn}
	if err := errors.Join(p.setUp(ifi, opt), p.openSender(ifi)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// openSender opens the socket for sending. It is bound to no protocol and receives
// nothing.
//
// It bypasses the queueing discipline that a real interface has: that would hold
// frames, including pauses, reorder or drop them. A veth has none unless someone
// configured one, so there nothing is bypassed, and a tcpdump sees frames that are sent
// as well as those received. On other interfaces it does not see those sent.
//
// Where the kernel cuts what is joined before anyone looks, TCP is handed to it joined. The
// bypass would drop it instead.
func (p *Packet) openSender(ifi *net.Interface) error {
	fd, err := p.socket(&p.sender)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: ifi.Index}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	switch {
	case driver(fd, ifi.Name) != "veth":
		if err := set(fd, "PACKET_QDISC_BYPASS", unix.PACKET_QDISC_BYPASS, 1); err != nil {
			return err
		}
	case offload.IsOff(ifi.Name) && unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1) == nil:
		p.tx.joinTCP(ifi.MTU + headerBytes)
	}
	p.sc, err = p.sender.SyscallConn()
	return err
}

// socket opens a packet socket that hears of nothing. A blocking descriptor, as this is, is not registered
// with the netpoller.
func (p *Packet) socket(file **os.File) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		*file = os.NewFile(uintptr(fd), p.name)
	}
	return fd, os.NewSyscallError("socket", err)
}

// driver is the name of an interface's driver, "" if unknown.
func driver(fd int, ifname string) string {
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, ifname)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// unknownInterface adds the names of the existing interfaces to the error.
func unknownInterface(err error) error {
	ifis, lerr := net.Interfaces()
	if lerr != nil || len(ifis) == 0 {
		return err
	}
	names := lists.Map(ifis, func(ifi net.Interface) string { return ifi.Name })
	return fmt.Errorf("%w; this network namespace has %s", err, strings.Join(names, ", "))
}

// setUp configures the socket of p as Read and Write expect.
func (p *Packet) setUp(ifi *net.Interface, opt Options) error {
	var err error
	if p.rc, err = p.conn.SyscallConn(); err != nil {
		return err
	}
	if err := p.conn.SetPromiscuous(true); err != nil {
		return fmt.Errorf("promiscuous mode: %w", err)
	}
	var optErr error
	if err := p.rc.Control(func(fd uintptr) {
		if optErr = requireEthernet(int(fd)); optErr != nil || opt.Polled {
			return
		}
		optErr = p.receiveBy(int(fd), ifi, opt)
	}); err != nil {
		return err
	}
	if optErr != nil {
		return optErr
	}
	p.rx.readable, p.rx.stamps = p.readable, newStamps()
	p.tx.init(p.send)
	if opt.Polled {
		return p.openPolled(ifi, opt)
	}
	return nil
}

// receiveBy makes fd, which is bound to no protocol, the socket with the ring, and binds it to
// all frames.
//
// The ring comes first: a socket that the kernel is giving one misses that its interface comes
// up, and receives nothing from then on.
func (p *Packet) receiveBy(fd int, ifi *net.Interface, opt Options) (err error) {
	if err := setOptions(fd); err != nil {
		return err
	}
	if p.rx.ring, err = mapRing(fd, slotBytes(ifi.MTU), opt.RingBytes); err != nil {
		return err
	}
	p.rx.fd, p.rx.offload, p.index = fd, opt.Offload, ifi.Index
	if opt.Deaf {
		return nil
	}
	return p.hear(fd)
}

// hear binds the socket with the ring to all frames of the interface.
func (p *Packet) hear(fd int) error {
	const all = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8 // in the order of the network
	return os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: p.index}))
}

// Hear implements Hearer.
func (p *Packet) Hear() (err error) {
	rc := p.rc
	if p.polled != nil {
		if rc, err = p.polled.SyscallConn(); err != nil {
			return err
		}
	}
	var heard error
	if err = rc.Control(func(fd uintptr) { heard = p.hear(int(fd)) }); err == nil {
		err = heard
	}
	if err != nil {
		return fmt.Errorf("link: hear %q: %w", p.name, err)
	}
	return nil
}

// openPolled opens the socket of the ring of a link that is polled. The netpoller does not
// know it: the kernel would wake a thread for each frame.
func (p *Packet) openPolled(ifi *net.Interface, opt Options) error {
	fd, err := p.socket(&p.polled)
	if err != nil {
		return err
	}
	return p.receiveBy(fd, ifi, opt)
}

// requireEthernet refuses interfaces whose frames have no Ethernet header.
func requireEthernet(fd int) error {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	hatype := sa.(*unix.SockaddrLinklayer).Hatype
	if hatype != unix.ARPHRD_ETHER && hatype != unix.ARPHRD_LOOPBACK {
		return fmt.Errorf("its hardware type is %d; only Ethernet (%d) carries Ethernet frames", hatype, unix.ARPHRD_ETHER)
	}
	return nil
}

func setOptions(fd int) error {
	// SO_SNDBUF stays at its default: it allows a few hundred frames in transit, fewer than
	// net.core.netdev_max_backlog, so that a receiver that cannot keep up shows as
	// ErrBusy here instead of losing frames in the backlog.
	//
	// Frames that this machine sends through the interface, including ours, are not
	// received.
	if err := set(fd, "PACKET_IGNORE_OUTGOING", unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return err
	}
	// Version 2 shows each frame at once. Version 3 collects frames in a block
	// until it is full or its timer fires, which takes milliseconds.
	if err := set(fd, "PACKET_VERSION", unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return err
	}
	// What is left to do comes with each frame, and what is longer than a slot by the socket's queue.
	// To that queue alone SO_RCVBUF applies, by force beyond net.core.rmem_max; without that
	// right it is as large as that allows.
	if err := set(fd, "PACKET_VNET_HDR", unix.PACKET_VNET_HDR, 1); err != nil {
		return err
	}
	if err := set(fd, "PACKET_RESERVE", unix.PACKET_RESERVE, slotReserve); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, longBytes); err != nil {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, longBytes); err != nil {
			return os.NewSyscallError("setsockopt SO_RCVBUF", err)
		}
	}
	return set(fd, "PACKET_COPY_THRESH", unix.PACKET_COPY_THRESH, 1)
}

// longBytes bounds the frames that are longer than a slot and wait to be read: a window of TCP.
const longBytes = 4 << 20

// set sets an option of a packet socket.
func set(fd int, name string, option, value int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, option, value); err != nil {
		return fmt.Errorf("setsockopt %s to %d: %w", name, value, err)
	}
	return nil
}

// Stats implements Link.
func (p *Packet) Stats() Stats {
	p.collectDrops()
	return Stats{
		Received:  p.rx.received.Load(),
		Sent:      p.tx.sent.Load(),
		Drops:     p.drops.Load(),
		Truncated: p.rx.truncated.Load(),
		Offloaded: p.rx.offloaded.Load(),
		Busy:      p.tx.busy.Load(),
		Waited:    unit.Time(p.rx.waited.Load()),
	}
}

// collectDrops adds the kernel's drop counter to ours. After Close the last value
// stays.
func (p *Packet) collectDrops() {
	if p.polled != nil {
		rc, err := p.polled.SyscallConn()
		if err != nil {
			return
		}
		rc.Control(func(fd uintptr) {
			if s, err := unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
				p.drops.Add(uint64(s.Drops))
			}
		})
		return
	}
	if s, err := p.conn.Stats(); err == nil {
		p.drops.Add(uint64(s.Drops))
	}
}

// Close implements Link.
func (p *Packet) Close() error {
	p.closeOnce.Do(func() {
		p.collectDrops()
		p.closed.Store(true)
		// Close wakes a blocked Read and waits until no call uses the descriptor any
		// more; from then on nobody touches the ring.
		p.closeErr = errors.Join(p.conn.Close(), p.rx.ring.unmap(), p.sender.Close())
		if p.polled != nil {
			p.closeErr = errors.Join(p.closeErr, p.polled.Close())
		}
	})
	return p.closeErr
}

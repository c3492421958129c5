package link

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/link/gso"
)

// Stack is a Link to the kernel's network stack: a TAP device, which the stack sees as
// an Ethernet interface. Read returns what the stack sends, Write passes frames to the
// stack. The device exists as long as the link is open.
//
// The device offloads what a NIC does (IFF_VNET_HDR): the stack hands over TCP in up to 64
// KiB at once, which Read cuts into frames, and leaves checksums to Read; frames of one
// connection that follow one another in a Write are handed to the stack as one. So frames
// of a Stack are always as a wire has them, and a system call moves many of them.
//
// The kernel queues frames that have not been read (1000, the device's txqueuelen). It
// does not make programs that send datagrams wait: when the queue is full they are
// lost, and counted in Stats.Drops.
type Stack struct {
	name  string
	index int
	file  *os.File
	rc    syscall.RawConn
	plain error // why the device offloads nothing; nil if it does

	mu sync.Mutex
	nl *netlink.Handle // guarded by mu: in the device's namespace; nil once closed

	// State of the Read, and of the Write, in progress.
	readable func(fd uintptr) bool // Stack.read, bound once: binding allocates
	writable func(fd uintptr)
	bufs     [][]byte
	n        int
	readErr  error
	frames   [][]byte
	wrote    int
	writeErr error

	in   []byte // what the stack handed over last, behind its header
	cut  gso.Cutter
	join gso.Joiner
	out  [1 + maxJoin]unix.Iovec

	received, sent, truncated, offloaded, drops atomic.Uint64

	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

var _ Link = (*Stack)(nil)

// OpenStack creates a TAP device called ifname in the calling thread's network
// namespace. The device is down, and has no IP address and a MAC address chosen by the
// kernel.
//
// It needs CAP_NET_ADMIN. It fails if an interface of that name exists already, if the
// right is missing, or if the kernel has no TAP devices. Where the kernel refuses offloads
// it does without: see Plain.
func OpenStack(ifname string) (*Stack, error) { return openStackWith(ifname, offloads) }

// offloads are what the device does for the stack: checksums, and to cut TCP.
const offloads = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6

// maxJoin limits how many frames are handed to the stack as one: those of a batch.
const maxJoin = 64

// errRefused says that the kernel refuses offloads.
var errRefused = errors.New("the kernel refuses its offloads")

// openStackWith is OpenStack with other offloads.
func openStackWith(ifname string, offloads int) (*Stack, error) {
	s, err := openStack(ifname, offloads)
	if errors.Is(err, errRefused) {
		why := err
		if s, err = openStack(ifname, 0); err == nil {
			s.plain = why
		}
	}
	if err != nil {
		return nil, fmt.Errorf("link: TAP device %q: %w", ifname, err)
	}
	return s, nil
}

func openStack(ifname string, offloads int) (*Stack, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	if err := attach(fd, ifname, offloads); err != nil {
		unix.Close(fd)
		return nil, err
	}
	// The netpoller registers the descriptor here, so it must be a device's by now.
	s := &Stack{name: ifname, file: os.NewFile(uintptr(fd), ifname), in: make([]byte, gso.HeaderLen+gso.MaxFrame)}
	s.readable, s.writable = s.read, s.write
	if err := s.setUp(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// attach creates the device and attaches fd to it. With offloads, what is read and written
// has a header before it; the error is errRefused if the kernel does not have that.
func attach(fd int, ifname string, offloads int) error {
	req, err := unix.NewIfreq(ifname)
	if err != nil {
		return fmt.Errorf("its name: want 1 to 15 characters: %w", err)
	}
	flags := uint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_TUN_EXCL)
	if offloads != 0 {
		has, err := unix.IoctlGetInt(fd, unix.TUNGETFEATURES)
		if err != nil || has&unix.IFF_VNET_HDR == 0 {
			return fmt.Errorf("%w: ioctl TUNGETFEATURES: no IFF_VNET_HDR in %#x, %v", errRefused, has, err)
		}
		flags |= unix.IFF_VNET_HDR
	}
	req.SetUint16(flags)
	switch err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); {
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EEXIST):
		return fmt.Errorf("an interface of that name exists already, or none can have it: %w", err)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("it needs CAP_NET_ADMIN, run with sudo: %w", err)
	case err != nil:
		return os.NewSyscallError("ioctl TUNSETIFF", err)
	}
	if offloads != 0 {
		if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, offloads); err != nil {
			return fmt.Errorf("%w: ioctl TUNSETOFFLOAD: %w", errRefused, err)
		}
	}
	return nil
}

func (s *Stack) setUp() (err error) {
	if s.rc, err = s.file.SyscallConn(); err != nil {
		return err
	}
	nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	s.nl = nl
	l, err := nl.LinkByName(s.name)
	if err != nil {
		return err
	}
	s.index = l.Attrs().Index
	return nil
}

// Plain is why the device offloads nothing: each frame from or to the stack is then a
// system call of its own. It is nil if it does.
func (s *Stack) Plain() error { return s.plain }

// Read implements Link. A device that is down sends nothing; Read does not report it.
func (s *Stack) Read(bufs [][]byte) (int, error) {
	if len(bufs) == 0 {
		return 0, nil
	}
	s.bufs, s.n, s.readErr = bufs, 0, nil
	err := s.rc.Read(s.readable)
	s.bufs = nil
	s.received.Add(uint64(s.n))
	switch {
	case s.n > 0:
		return s.n, nil
	case s.closed.Load():
		return 0, net.ErrClosed
	case errors.Is(s.readErr, unix.EBADFD), errors.Is(s.readErr, unix.EIO), err != nil && s.attributes() == nil:
		return 0, ErrGone
	case err == nil:
		err = os.NewSyscallError("read", s.readErr)
	}
	return 0, fmt.Errorf("link: read %q: %w", s.name, err)
}

// read takes the frames that are there; false if there are none yet.
func (s *Stack) read(fd uintptr) bool {
	for s.n < len(s.bufs) {
		if s.cut.More() {
			frame, whole := s.cut.Next(s.bufs[s.n])
			if !whole {
				s.truncated.Add(1)
				continue
			}
			s.bufs[s.n] = frame
			s.n++
			continue
		}
		switch n, errno := s.readOne(fd); errno {
		case 0:
			if gso.IsUnfinished(s.in[:n]) {
				s.offloaded.Add(1)
			}
			if s.cut.Start(s.in[:n]) != nil {
				s.truncated.Add(1)
			}
		case unix.EINTR:
		case unix.EAGAIN:
			return s.n > 0
		default:
			s.readErr = errno
			return true
		}
	}
	return true
}

// readOne reads what the stack has handed over, behind its header, into s.in.
func (s *Stack) readOne(fd uintptr) (n int, errno unix.Errno) {
	skip := 0
	if s.plain != nil {
		skip = gso.HeaderLen // the header stays zero: nothing is left to do
	}
	// As in transmitter.sendmmsg: the descriptor does not block, so the call need not be
	// announced to the scheduler.
	b := s.in[skip:]
	r, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return skip + int(r), errno
}

// Write implements Link.
func (s *Stack) Write(frames [][]byte) (int, error) {
	s.frames, s.wrote, s.writeErr = frames, 0, nil
	err := s.rc.Control(s.writable)
	s.frames = nil
	s.sent.Add(uint64(s.wrote))
	switch errno := s.writeErr; {
	case s.closed.Load():
		return s.wrote, net.ErrClosed
	case err != nil:
		return s.wrote, fmt.Errorf("link: write %q: %w", s.name, err)
	case errno == nil:
		return s.wrote, nil
	case errors.Is(errno, unix.EAGAIN), errors.Is(errno, unix.ENOBUFS), errors.Is(errno, unix.ENOMEM):
		return s.wrote, ErrBusy
	case errors.Is(errno, unix.EBADFD):
		return s.wrote, ErrGone
	case errors.Is(errno, unix.EIO):
		return s.wrote, ErrDown
	case errors.Is(errno, unix.EINVAL):
		return s.wrote, &FrameError{Interface: s.name, Len: len(frames[s.wrote]), Err: errno}
	default:
		return s.wrote, fmt.Errorf("link: write %q: %w", s.name, errno)
	}
}

// write hands the frames to the stack until one is refused.
func (s *Stack) write(fd uintptr) {
	for s.wrote < len(s.frames) {
		n, errno := s.writeSome(fd, s.frames[s.wrote:])
		switch errno {
		case 0:
			s.wrote += n
		case unix.EINTR:
		default:
			s.writeErr = errno
			return
		}
	}
}

// writeSome hands the first frames to the stack in one write, as many as can be joined.
func (s *Stack) writeSome(fd uintptr, frames [][]byte) (n int, errno unix.Errno) {
	vec := s.out[:0]
	skip := 0
	if n = 1; s.plain == nil {
		var head []byte
		n, head, skip = s.join.Join(frames[:min(len(frames), maxJoin)])
		vec = append(vec, iovec(head))
	}
	for _, f := range frames[:n] {
		vec = append(vec, iovec(f[skip:]))
	}
	_, _, errno = unix.RawSyscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&vec[0])), uintptr(len(vec)))
	return n, errno
}

// iovec is b for the kernel. Base is typed as a pointer, and keeps b alive.
func iovec(b []byte) (v unix.Iovec) {
	v.Base = unsafe.SliceData(b)
	v.SetLen(len(b))
	return v
}

// attributes are the kernel's attributes of the device; nil if it is gone.
func (s *Stack) attributes() *netlink.LinkAttrs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nl == nil {
		return nil
	}
	l, err := s.nl.LinkByIndex(s.index)
	if err != nil {
		return nil
	}
	return l.Attrs()
}

// Stats implements Link.
func (s *Stack) Stats() Stats {
	s.collectDrops()
	return Stats{Received: s.received.Load(), Sent: s.sent.Load(), Drops: s.drops.Load(), Truncated: s.truncated.Load(), Offloaded: s.offloaded.Load()}
}

// collectDrops copies the kernel's counter, which exists as long as the device; the
// last value stays.
func (s *Stack) collectDrops() {
	if a := s.attributes(); a != nil && a.Statistics != nil {
		s.drops.Store(a.Statistics.TxDropped)
	}
}

// Close implements Link. It removes the device.
func (s *Stack) Close() error {
	s.closeOnce.Do(func() {
		s.collectDrops()
		s.closed.Store(true)
		s.closeErr = s.file.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.nl != nil {
			s.nl.Close()
			s.nl = nil
		}
	})
	return s.closeErr
}

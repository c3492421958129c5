package link

import (
	"fmt"
	"net"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxSend is the number of frames per sendmmsg call. It limits how long the call keeps
// its processor from the Go scheduler: 64 frames take about 60 us.
const maxSend = 64

// mmsghdr is struct mmsghdr of sendmmsg(2).
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32 // bytes sent, by the kernel
	_   [4]byte
}

// transmitter is the sending side of a Packet. Only Write uses it, except for the
// counters.
type transmitter struct {
	msgs [maxSend]mmsghdr
	iovs [maxSend]unix.Iovec
	send func(fd uintptr) // Packet.send, bound once: binding allocates

	// State of the Write in progress.
	frames [][]byte
	n      int
	errno  unix.Errno

	// refused says that the kernel had no room the last time. The cause may be a
	// missing carrier: the kernel then first refuses frames, and later takes and drops
	// them.
	refused bool

	sent atomic.Uint64
	busy atomic.Uint64
}

// init points each message at its one vector. The transmitter must not move afterwards;
// it is part of a Packet on the heap.
func (tx *transmitter) init(send func(fd uintptr)) {
	for i := range tx.msgs {
		tx.msgs[i].hdr.Iov = &tx.iovs[i]
		tx.msgs[i].hdr.SetIovlen(1)
	}
	tx.send = send
}

// Write implements Link.
func (p *Packet) Write(frames [][]byte) (int, error) {
	tx := &p.tx
	if tx.refused && p.lacksCarrier() {
		return 0, ErrDown
	}
	tx.frames, tx.n, tx.errno, tx.refused = frames, 0, 0, false
	// Control holds the descriptor, so that Close cannot free it in the meantime.
	err := p.sc.Control(tx.send)
	tx.frames = nil
	tx.sent.Add(uint64(tx.n))
	if tx.n == len(frames) && err == nil {
		return tx.n, nil
	}
	return tx.n, p.whyUnsent(frames, err)
}

// send hands the frames of the Write in progress to the kernel until all are sent or
// one is refused.
func (p *Packet) send(fd uintptr) {
	tx := &p.tx
	for tx.n < len(tx.frames) {
		sent, errno := tx.sendmmsg(fd, tx.frames[tx.n:])
		switch {
		case errno == 0:
			tx.n += sent
		case errno != unix.EINTR:
			tx.errno = errno
			return
		}
	}
}

// sendmmsg sends up to maxSend frames with one system call. The kernel stops at the
// first frame that it refuses and reports the error only if that is the first of a
// call.
func (tx *transmitter) sendmmsg(fd uintptr, frames [][]byte) (int, unix.Errno) {
	k := min(len(frames), maxSend)
	for i, f := range frames[:k] {
		tx.iovs[i].Base = unsafe.SliceData(f) // typed as a pointer: keeps f alive
		tx.iovs[i].SetLen(len(f))
	}
	// RawSyscall6 does not announce the call to the scheduler, which would otherwise
	// give this goroutine's processor to another thread and then look for a new one;
	// with MSG_DONTWAIT the call cannot block. The conversion is in the argument list,
	// so msgs stays put for the call; it holds the only other pointers.
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&tx.msgs[0])), uintptr(k), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// whyUnsent turns the reason why frames[tx.n] was not sent into the error of Write.
func (p *Packet) whyUnsent(frames [][]byte, err error) error {
	errno := p.tx.errno
	p.tx.refused = errno == unix.ENOBUFS
	switch {
	case p.closed.Load():
		return net.ErrClosed
	case err != nil:
		return fmt.Errorf("link: write %q: %w", p.name, err)
	case errno == unix.ENOBUFS && p.lacksCarrier():
		return ErrDown
	case errno == unix.EAGAIN || errno == unix.ENOBUFS:
		p.tx.busy.Add(1)
		return ErrBusy
	case errno == unix.ENETDOWN:
		p.down.begin(p.conn, false)
		return ErrDown
	case errno == unix.ENXIO || errno == unix.ENODEV:
		p.down.begin(p.conn, false)
		return ErrGone
	case errno == unix.EMSGSIZE || errno == unix.EINVAL:
		return &FrameError{Interface: p.name, Len: len(frames[p.tx.n]), Err: errno}
	default:
		return fmt.Errorf("link: write %q: sendmmsg: %w", p.name, errno)
	}
}

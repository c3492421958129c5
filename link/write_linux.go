package link

import (
	"fmt"
	"net"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"softswitch/link/gso"
)

// maxSend is the most frames of a sendmmsg call. It limits how long the call keeps
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
	iovs [2 * maxSend]unix.Iovec
	send func(fd uintptr) // Packet.send, bound once: binding allocates

	// Where the kernel can cut TCP, frames of one connection that follow one another are
	// one message, behind a header that says where to cut: see joinTCP.
	headed  bool                // each message has a header
	join    [maxSend]gso.Joiner // by message
	carries [maxSend]int        // by message: how many frames it is
	alone   bool                // the kernel refused a message of several frames: no more of them

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

// init binds send. The transmitter must not move afterwards, since its messages point at
// its vectors; it is part of a Packet on the heap.
func (tx *transmitter) init(send func(fd uintptr)) { tx.send = send }

// joinTCP has TCP frames of up to longest bytes joined, on a socket whose messages have a
// header.
func (tx *transmitter) joinTCP(longest int) {
	tx.headed = true
	for i := range tx.join {
		tx.join[i] = gso.Joiner{Exact: true, Longest: longest}
	}
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
// first message that it refuses and reports the error only if that is the first of a
// call.
func (tx *transmitter) sendmmsg(fd uintptr, frames [][]byte) (sent int, errno unix.Errno) {
	k := tx.fill(frames[:min(len(frames), maxSend)])
	// RawSyscall6 does not announce the call to the scheduler, which would otherwise
	// give this goroutine's processor to another thread and then look for a new one;
	// with MSG_DONTWAIT the call cannot block. The conversion is in the argument list,
	// so msgs stays put for the call; it holds the only other pointers.
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&tx.msgs[0])), uintptr(k), unix.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == 0:
	case tx.carries[0] > 1 && (errno == unix.EINVAL || errno == unix.EMSGSIZE || errno == unix.EOPNOTSUPP):
		tx.alone = true
		return 0, unix.EINTR // once more, frame by frame
	default:
		return 0, errno
	}
	for _, frames := range tx.carries[:n] {
		sent += frames
	}
	return sent, 0
}

// fill makes messages of the frames, and returns how many.
func (tx *transmitter) fill(frames [][]byte) (msgs int) {
	v := 0
	for ; len(frames) > 0; msgs++ {
		first, n, skip := v, 1, 0
		if tx.headed {
			most := len(frames)
			if tx.alone {
				most = 1
			}
			var head []byte
			n, head, skip = tx.join[msgs].Join(frames[:most])
			tx.iovs[v] = iovec(head)
			v++
		}
		for _, f := range frames[:n] {
			tx.iovs[v] = iovec(f[skip:])
			v++
		}
		tx.carries[msgs] = n
		tx.msgs[msgs].hdr.Iov = &tx.iovs[first]
		tx.msgs[msgs].hdr.SetIovlen(v - first)
		frames = frames[n:]
	}
	return msgs
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

package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"softswitch/link/gso"
	"softswitch/unit"
)

// tagBytes is the length of an 802.1Q tag, macBytes that of the two addresses before
// it.
const (
	tagBytes = 4
	macBytes = 12
)

// receiver is the receiving side of a Packet. Only Read uses it, except for the
// counters.
type receiver struct {
	fd       int // the socket of the ring; used only while that is held open
	ring     ring
	stamps   stamps
	readable func(fd uintptr) bool // Packet.readable, bound once: binding allocates

	// State of the Read in progress.
	bufs  [][]byte
	at    []unit.Time // of ReadStamped; nil for nobody
	n     int
	errno error

	// What the sender left to a NIC, behind its header; nil before there was any: see begin.
	in      []byte
	cut     gso.Cutter
	cutAt   unit.Time // stamp of what is cut, on the wall clock
	offload func()    // called before the first of it is delivered; nil for nobody

	pending atomic.Uintptr // unix.Errno of the socket, found by begin; 0 for none

	received  atomic.Uint64
	truncated atomic.Uint64
	offloaded atomic.Uint64
	waited    atomic.Int64 // ns
}

// Read implements Link. It checks the ring first, and waits in the netpoller only if
// the ring is empty.
func (p *Packet) Read(bufs [][]byte) (int, error) { return p.read(bufs, nil) }

// ReadStamped implements Stamper.
func (p *Packet) ReadStamped(bufs [][]byte, at []unit.Time) (int, error) {
	n, err := p.read(bufs, at)
	p.rx.stamps.convert(at[:n])
	return n, err
}

// read is Read, which also puts the stamps of the frames, on the wall clock, into at unless that is nil.
func (p *Packet) read(bufs [][]byte, at []unit.Time) (int, error) {
	if len(bufs) == 0 {
		return 0, nil
	}
	rx := &p.rx
	for {
		rx.bufs, rx.at, rx.n, rx.errno = bufs, at, 0, nil
		err := p.rc.Read(rx.readable)
		rx.bufs, rx.at = nil, nil
		if rx.n > 0 {
			rx.received.Add(uint64(rx.n))
			return rx.n, nil
		}
		if err := p.whyEmpty(err); err != nil {
			return 0, err
		}
	}
}

// readable fills the buffers of the Read in progress from the ring. It reports whether
// Read should return; otherwise the netpoller calls it again at the next event. It runs
// while the descriptor is held, so Close cannot unmap the ring in the meantime.
func (p *Packet) readable(fd uintptr) bool {
	rx := &p.rx
	if p.polled == nil {
		if rx.n = rx.take(rx.bufs, rx.at); rx.n > 0 {
			return true
		}
	}
	rx.errno = socketError(fd)
	if pending := unix.Errno(rx.pending.Swap(0)); pending != 0 {
		rx.errno = pending
	}
	return rx.errno != nil
}

// take is the frames that are in the ring, and their stamps unless at is nil, as for Read.
func (rx *receiver) take(bufs [][]byte, at []unit.Time) (n int) {
	if since, ready := rx.ring.since(); ready {
		rx.waited.Store(max(rx.waited.Load(), int64(rx.stamps.ago(since))))
	} else if !rx.cut.More() {
		return 0
	}
	for n < len(bufs) {
		if rx.cut.More() {
			if at != nil {
				at[n] = rx.cutAt
			}
			n += rx.finish(bufs[n:])
			continue
		}
		var stamps []unit.Time
		if at != nil {
			stamps = at[n:]
		}
		got, truncated, unfinished := rx.ring.take(bufs[n:], stamps)
		n += got
		if truncated > 0 {
			rx.truncated.Add(truncated)
		}
		if !unfinished {
			break
		}
		rx.begin()
	}
	return n
}

// A station on the same machine, a guest with virtio or the other end of a veth, may leave to a NIC
// what the wire needs: checksums, and to cut what is longer than its MTU. The kernel says so in the
// status of the slot, and in a header before the frame what is left to do. A frame that is longer
// than a slot is in the queue of the socket, as a whole, in the order of the slots.

// unfinished is the bits of such a slot's status.
const unfinished = unix.TP_STATUS_CSUMNOTREADY | unix.TP_STATUS_COPY

// begin takes the next slot, which is unfinished, for finish.
func (rx *receiver) begin() {
	if rx.in == nil {
		rx.in = make([]byte, tagBytes+gso.HeaderLen+gso.MaxFrame)
	}
	hdr, slot := rx.ring.head()
	rx.cutAt = stampOf(hdr)
	room := rx.in[tagBytes:] // what is before it is for the tag
	var n int
	if hdr.Status&unix.TP_STATUS_COPY != 0 {
		n = rx.copied(room)
	} else {
		n = copy(room, slot[int(hdr.Mac)-gso.HeaderLen:uint32(hdr.Mac)+hdr.Snaplen])
	}
	b := room[:n]
	if hdr.Status&unix.TP_STATUS_VLAN_VALID != 0 && n >= gso.HeaderLen+macBytes {
		gso.Shift(b, tagBytes)
		b = rx.in[:tagBytes+n]
		at := copy(b, b[tagBytes:][:gso.HeaderLen+macBytes])
		putTag(b[at:], hdr)
	}
	rx.ring.release()
	if n >= gso.HeaderLen && gso.IsUnfinished(b) {
		if rx.offloaded.Add(1) == 1 && rx.offload != nil {
			rx.offload()
		}
	}
	if rx.cut.Start(b) != nil {
		rx.truncated.Add(1)
	}
}

// copied takes the oldest frame of the socket's queue, behind its header; 0 if the kernel gives none.
func (rx *receiver) copied(room []byte) int {
	for range 2 { // the first call may return, and so end, an error of the socket
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(rx.fd), uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)), unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			return int(n)
		}
		rx.pending.Store(uintptr(errno))
	}
	return 0
}

// finish writes the next frame of what begin took to bufs[0], and returns 1, or 0 if it does not
// fit.
func (rx *receiver) finish(bufs [][]byte) int {
	frame, whole := rx.cut.Next(bufs[0])
	if !whole {
		rx.truncated.Add(1)
		return 0
	}
	bufs[0] = frame
	return 1
}

// Poll implements Poller. The link has to have been opened to be polled.
func (p *Packet) Poll(bufs [][]byte) int {
	n := p.rx.take(bufs, nil)
	if n > 0 {
		p.rx.received.Add(uint64(n))
	}
	return n
}

// socketError fetches and clears a socket's pending error. It runs each time a ring is
// found empty, and does not announce the system call, which cannot block, to Go's
// scheduler: see docs/decisions/realtime.md.
func socketError(fd uintptr) error {
	var pending int32
	size := uint32(unsafe.Sizeof(pending))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_ERROR, uintptr(unsafe.Pointer(&pending)), uintptr(unsafe.Pointer(&size)), 0)
	switch {
	case errno != 0:
		return errno
	case pending != 0:
		return unix.Errno(pending)
	default:
		return nil
	}
}

// whyEmpty turns the reason why no frame came, either the netpoller's error or the
// socket's pending error, into the error of Read; nil means that Read should wait
// again.
func (p *Packet) whyEmpty(poll error) error {
	switch {
	case p.closed.Load():
		return net.ErrClosed
	case errors.Is(p.rx.errno, unix.ENETDOWN):
		p.down.begin(p.conn, true)
		return p.checkDown()
	case p.rx.errno != nil:
		return fmt.Errorf("link: read %q: %w", p.name, p.rx.errno)
	case errors.Is(poll, os.ErrDeadlineExceeded):
		return p.checkDown()
	default:
		return p.notPollable(poll)
	}
}

// ring is a TPACKET_V2 receive ring: slots that the kernel fills in turn and hands over
// by setting TP_STATUS_USER, and that take returns by setting TP_STATUS_KERNEL.
type ring struct {
	mem   []byte // shared with the kernel
	slot  int    // bytes of a slot, a multiple of TPACKET_ALIGNMENT
	slots int    // as many in each block as fit it
	next  int    // offset in mem of the slot that the kernel fills next
}

// blockBytes is the unit in which the kernel allocates the ring; a slot lies within one
// block.
const blockBytes = 64 << 10

// slotHead is the space in a slot before the frame: the header, the address and
// padding. The kernel puts the network header at a multiple of 16, behind
// TPACKET2_HDRLEN = 52 and at least 16 bytes for the MAC header, at 80, and moves it on by
// what is reserved and by the header that says what is left to do. 2048 bytes hold a frame of 1966.
const slotHead = 80 + slotReserve + gso.HeaderLen

// slotReserve keeps the network header at a multiple of 16 behind that header of 10. Otherwise the kernel,
// where the same is so, copies long frames a tenth slower.
const slotReserve = 6

// slotBytes is the size of a slot for an MTU: 2048, or an equal share of a block, which
// is the largest. Longer frames are in the socket's queue: see begin.
func slotBytes(mtu int) int {
	least := max(2048, slotHead+mtu)
	return blockBytes / max(1, blockBytes/least) / unix.TPACKET_ALIGNMENT * unix.TPACKET_ALIGNMENT
}

// mapRing gives the socket a receive ring of about this many bytes and maps it.
func mapRing(fd, slot, bytes int) (ring, error) {
	if bytes == 0 {
		bytes = DefaultRingBytes
	}
	blocks := (bytes + blockBytes - 1) / blockBytes
	slots := blocks * (blockBytes / slot)
	req := unix.TpacketReq{
		Block_size: blockBytes,
		Block_nr:   uint32(blocks),
		Frame_size: uint32(slot),
		Frame_nr:   uint32(slots),
	}
	if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return ring{}, fmt.Errorf("receive ring of %d bytes: setsockopt PACKET_RX_RING: %w", blocks*blockBytes, err)
	}
	// Not unix.Mmap and unix.Munmap, which hold a lock of the process meanwhile: with the
	// ring goes the socket, for which the kernel waits for tens of milliseconds.
	mem, err := unix.MmapPtr(fd, 0, nil, uintptr(blocks*blockBytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return ring{}, fmt.Errorf("receive ring of %d bytes: mmap: %w", blocks*blockBytes, err)
	}
	return ring{mem: unsafe.Slice((*byte)(mem), blocks*blockBytes), slot: slot, slots: slots}, nil
}

func (r *ring) unmap() error {
	if r.mem == nil {
		return nil
	}
	return os.NewSyscallError("munmap", unix.MunmapPtr(unsafe.Pointer(&r.mem[0]), uintptr(len(r.mem))))
}

// since is when the kernel put the first frame that take will find into the ring; ok is
// false if there is none. It is wall-clock time.
func (r *ring) since() (at time.Duration, ok bool) {
	hdr := (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.mem[r.next]))
	if atomic.LoadUint32(&hdr.Status)&unix.TP_STATUS_USER == 0 {
		return 0, false
	}
	return time.Duration(stampOf(hdr)), true
}

// stampOf is when the kernel put the frame of a slot into the ring, in ns of the wall clock.
func stampOf(hdr *unix.Tpacket2Hdr) unit.Time {
	return unit.Time(hdr.Sec)*unit.Second + unit.Time(hdr.Nsec)
}

// take copies the frames that are ready into bufs, at most len(bufs), and returns their
// slots. It returns how many it copied and how many it skipped because they were
// truncated; and whether it ended before a slot that is unfinished. It checks each slot at most
// once. at, unless nil, gets the stamps of those that it copied.
func (r *ring) take(bufs [][]byte, at []unit.Time) (n int, truncated uint64, isUnfinished bool) {
	for looked := 0; n < len(bufs) && looked < r.slots; looked++ {
		hdr, slot := r.head()
		// Acquire: read nothing of the slot before its status says that the kernel has
		// written it.
		status := atomic.LoadUint32(&hdr.Status)
		if status&unix.TP_STATUS_USER == 0 {
			break
		}
		if status&unfinished != 0 && (status&unix.TP_STATUS_COPY != 0 || hdr.Snaplen == hdr.Len) {
			return n, truncated, true
		}
		if frame, whole := copyFrame(bufs[n], hdr, slot); whole {
			bufs[n] = frame
			if at != nil {
				at[n] = stampOf(hdr)
			}
			n++
		} else {
			truncated++
		}
		r.release()
	}
	return n, truncated, false
}

// head is the next slot, and its header.
func (r *ring) head() (hdr *unix.Tpacket2Hdr, slot []byte) {
	// The kernel aligns slots to TPACKET_ALIGNMENT (16) in pages, so the header's fields are
	// aligned; next+slot <= len(mem).
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.mem[r.next])), r.mem[r.next : r.next+r.slot]
}

// release returns the next slot to the kernel, and goes to the one behind it. What is left at the end
// of a block holds none.
func (r *ring) release() {
	hdr, _ := r.head()
	// Release: the kernel must not write the slot before we have read it.
	atomic.StoreUint32(&hdr.Status, unix.TP_STATUS_KERNEL)
	r.next += r.slot
	if used := r.next % blockBytes; used+r.slot > blockBytes {
		r.next += blockBytes - used
	}
	if r.next == len(r.mem) {
		r.next = 0
	}
}

// copyFrame copies the frame of a slot to the front of buf and puts back the tag that
// the kernel has removed. whole is false if the slot does not hold the whole frame or
// buf is too small.
func copyFrame(buf []byte, hdr *unix.Tpacket2Hdr, slot []byte) (frame []byte, whole bool) {
	if hdr.Snaplen < hdr.Len {
		return nil, false
	}
	data := slot[hdr.Mac : uint32(hdr.Mac)+hdr.Snaplen]
	buf = buf[:cap(buf)]
	if hdr.Status&unix.TP_STATUS_VLAN_VALID == 0 || len(data) < macBytes {
		if len(data) > len(buf) {
			return nil, false
		}
		return buf[:copy(buf, data)], true
	}
	if len(data)+tagBytes > len(buf) {
		return nil, false
	}
	copy(buf, data[:macBytes])
	putTag(buf[macBytes:], hdr)
	copy(buf[macBytes+tagBytes:], data[macBytes:])
	return buf[:len(data)+tagBytes], true
}

// putTag writes the removed tag.
func putTag(b []byte, hdr *unix.Tpacket2Hdr) {
	binary.BigEndian.PutUint16(b, tpid(hdr))
	binary.BigEndian.PutUint16(b[2:], hdr.Vlan_tci)
}

// tpid is the EtherType of the removed tag.
func tpid(hdr *unix.Tpacket2Hdr) uint16 {
	if hdr.Status&unix.TP_STATUS_VLAN_TPID_VALID == 0 {
		return unix.ETH_P_8021Q
	}
	return hdr.Vlan_tpid
}

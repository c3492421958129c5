// Package link moves Ethernet frames between byte slices and a wire, in batches.
//
// A Link is one end of a wire. It deals in bytes and errors and has no idea of
// switches, priorities or buffers: a frame is a []byte starting at its destination MAC,
// without FCS, with the 802.1Q tag in place.
//
//	          Read(bufs)                              Write(frames)
//	             ▲                                        │
//	one copy,    │                                        │ sendmmsg,
//	tag put back │                                        │ up to 64 a call
//	       ┌─────┴──────────────┐                         ▼
//	       │ TPACKET_V2 ring    │  Packet         no queueing discipline
//	       └─────▲──────────────┘                         │
//	tcpdump ◀────┤                                        ├────▶ tcpdump
//	             │ the kernel's copy, on the sender's core │
//	─────────────┴──────────── veth ───────────────────────┴──────▶
//
// Read in this order: link.go (the contract), packet_linux.go (opening an
// interface), read_linux.go (the receive ring), write_linux.go, down_linux.go
// (interfaces that go down, come back or vanish), far_linux.go (the far end of a veth),
// stack_linux.go (a TAP device: the kernel's stack instead of a wire), pipe.go (a wire in memory), tap.go (seeing the frames of a link), taps.go (of a node's links) and capture.go
// (writing them to a file); the folder pcapng has the file format, the folder merge
// makes one capture of many.
//
// Invariants:
//   - order: frames leave in the order of Write and arrive in the order of the wire.
//   - whole: a delivered frame is complete; one that does not fit its buffer is
//     counted as truncated and never delivered in part.
//   - no-echo: a link does not deliver what it sent itself.
//   - counted: a frame that the kernel or the link lost on receive is counted in Stats.
//   - as on a wire: what Read delivers and Write takes are frames of a wire, with checksums,
//     however many the kernel is handed, or hands over, as one (link/gso).
//   - no-allocation: Read and Write of Packet and Stack allocate nothing, but for 64 KiB when the
//     first frame comes that its sender left to a NIC to finish.
//
// It does not retry, pace, reconnect or watch carriers: the caller keeps a refused
// frame, reopens a vanished interface and follows link states by netlink.
package link

import (
	"errors"
	"fmt"

	"softswitch/unit"
)

// Link is one end of a wire. Read, Write and Close may be called from different
// goroutines, but Read from one at a time and Write from one at a time.
type Link interface {
	// Read blocks until at least one frame is there, then takes all that are there, at
	// most len(bufs). Frame i goes to the front of bufs[i], whatever its length was,
	// and bufs[i] is cut to the frame's length; bufs[n:] are untouched. Each capacity
	// must hold the longest frame of the wire and 4 bytes for a tag. The link keeps no
	// reference to the buffers.
	//
	// Errors, always with n = 0:
	//   - ErrDown: the interface is down. It is returned once; the next Read blocks
	//     until a frame comes, the interface is deleted, or Close.
	//   - ErrGone: the interface was deleted. Close the link and open it again.
	//   - net.ErrClosed: after Close.
	Read(bufs [][]byte) (n int, err error)

	// Write sends frames in order and does not block. It does not keep the frames after
	// it returns. The wire took the first n; if n < len(frames), err says why frames[n]
	// was not sent:
	//   - ErrBusy: the kernel has no room. Hold frames[n:] and try again.
	//   - ErrDown: the interface is down or has no carrier (the other end of a veth is
	//     down). It is returned each time. Just after a wire is cut, the kernel may
	//     return ErrBusy first, or take a frame and drop it.
	//   - ErrGone, net.ErrClosed: as above.
	//   - *FrameError: the wire does not carry this frame. Skip it.
	Write(frames [][]byte) (n int, err error)

	// Stats returns the counts since the link was opened. It may be called from any
	// goroutine, also after Close.
	Stats() Stats

	// Close ends a Read that blocks and frees the link. Closing twice is fine.
	Close() error
}

// A Poller is a Link whose frames come by Poll. Its Read delivers none, and returns when
// the link has ended.
type Poller interface {
	Link
	// Poll takes the frames that are there, as Read does, and does not wait. One goroutine
	// at a time may call it, and not while Close is called or after that.
	Poll(bufs [][]byte) (n int)
}

// A Stamper is a Link that knows when each frame came.
type Stamper interface {
	Link
	// ReadStamped is Read, and puts when frame i came into at[i], which is as long as bufs: a point of the
	// clock of package timer. It is the kernel's stamp, made where the frame enters this machine, or of a
	// veth where it is sent; if the wall clock is set meanwhile it may be too late, and never too early.
	ReadStamped(bufs [][]byte, at []unit.Time) (n int, err error)
}

// A Hearer is a Link that can be opened deaf: it receives nothing before Hear, as if it were not
// opened, and can send.
type Hearer interface {
	Link
	Hear() error
}

// Stats counts a link's frames, from its opening on.
type Stats struct {
	Received uint64 `json:"received"` // frames that Read delivered
	Sent     uint64 `json:"sent"`     // frames that Write sent
	Drops    uint64 `json:"drops"`    // frames that came while the receive ring was full
	// Truncated counts frames that were longer than the caller's buffer, or than a ring slot with no
	// room beside it, or that have to be cut in a way that is not known here.
	Truncated uint64 `json:"truncated"`
	// Offloaded counts frames, as the kernel handed them over, that their sender left to a NIC to
	// finish: Read completed their checksum or cut them.
	Offloaded uint64 `json:"offloaded"`
	Busy      uint64 `json:"busy"` // times that Write returned ErrBusy
	// Lost and Reopened are counted by the driver of the link, and are 0 in a Link's
	// own statistics: frames for a link that was down, gone or refused them, and how
	// often a link that could not be read was opened again.
	Lost     uint64 `json:"lost"`
	Reopened uint64 `json:"reopened"`
	// Waited is the longest time that a frame lay in the receive ring, 0 without a
	// ring.
	Waited unit.Time `json:"waited_ns"`
}

// Plus adds up what two links counted; the wait is the longer one.
func (s Stats) Plus(o Stats) Stats {
	return Stats{
		s.Received + o.Received, s.Sent + o.Sent, s.Drops + o.Drops, s.Truncated + o.Truncated, s.Offloaded + o.Offloaded, s.Busy + o.Busy,
		s.Lost + o.Lost, s.Reopened + o.Reopened, max(s.Waited, o.Waited),
	}
}

// Errors of a Link.
var (
	// ErrDown says that the interface is down: set down, or for Write also without a
	// carrier.
	ErrDown = errors.New("link: interface is down")
	// ErrGone says that the interface was deleted or moved to another namespace.
	ErrGone = errors.New("link: interface is gone")
	// ErrBusy says that the kernel had no room for a frame.
	ErrBusy = errors.New("link: no room to send")
)

// FrameError says that a wire does not carry a frame.
type FrameError struct {
	Interface string
	Len       int   // the frame's length in bytes
	Err       error // the kernel's reason
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("link: write %q: a frame of %d bytes: %v; its length must be at least 14 and at most the MTU + 14, or + 18 with an 802.1Q tag",
		e.Interface, e.Len, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }

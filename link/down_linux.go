package link

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"
)

// A packet socket survives its interface going down: the kernel detaches it, leaves
// ENETDOWN as a pending error, and attaches it again when the interface is up. It
// announces neither that nor the interface's deletion. So while the interface is down,
// a waiting Read wakes up now and then to check:
//
//	          ENETDOWN                       up again
//	  up ───────────────▶ down (look every ──────────▶ up
//	                       downPoll)
//	                          └── deleted ──▶ ErrGone, for good

// downPoll is the time between two checks of an interface that is down.
const downPoll = 50 * time.Millisecond

// downWatch is what a Packet knows about its interface being down.
type downWatch struct {
	mu       sync.Mutex
	down     bool // guarded by mu: Read's deadline is set, so that it looks
	reported bool // guarded by mu: Read has said ErrDown for this time down
}

// begin records that Read (with fresh set) or Write found the interface down, and makes Read check
// it.
func (w *downWatch) begin(conn *packet.Conn, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fresh {
		w.reported = false
	}
	if w.down {
		return
	}
	w.down, w.reported = true, false
	// This only fails on a closed link, which Read notices by itself.
	_ = conn.SetReadDeadline(time.Now().Add(downPoll))
}

// checkDown checks an interface that was down and sets Read's deadline accordingly. It
// returns ErrGone, or ErrDown the first time, or nil if Read should go on waiting.
func (p *Packet) checkDown() error {
	w := &p.down
	w.mu.Lock()
	defer w.mu.Unlock()
	flags, err := p.interfaceFlags()
	switch {
	case err != nil:
		return err
	case flags&unix.IFF_UP != 0:
		w.down = false
		return p.setReadDeadline(time.Time{})
	}
	if err := p.setReadDeadline(time.Now().Add(downPoll)); err != nil {
		return err
	}
	if !w.reported {
		w.reported = true
		return ErrDown
	}
	return nil
}

func (p *Packet) setReadDeadline(t time.Time) error {
	if err := p.conn.SetReadDeadline(t); err != nil {
		return p.closedOr(err)
	}
	return nil
}

// lacksCarrier reports whether the interface is up but cannot send. The kernel then
// refuses a frame with ENOBUFS, as it does when it has no room. The flag follows the
// carrier within microseconds, or within a second if many links change at once.
func (p *Packet) lacksCarrier() bool {
	flags, err := p.interfaceFlags()
	return err == nil && flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING == 0
}

// interfaceFlags asks the kernel for the interface's flags (IFF_UP, IFF_RUNNING), in
// the namespace of the socket and by interface index, because names may change. ErrGone
// means that the interface does not exist any more.
func (p *Packet) interfaceFlags() (flags uint16, err error) {
	var sysErr error
	if err := p.rc.Control(func(fd uintptr) { flags, sysErr = boundFlags(int(fd)) }); err != nil {
		return 0, p.closedOr(err)
	}
	return flags, sysErr
}

// boundFlags are the flags of the interface that fd is bound to.
func boundFlags(fd int) (uint16, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	index := sa.(*unix.SockaddrLinklayer).Ifindex
	if index <= 0 {
		return 0, ErrGone
	}
	req, err := unix.NewIfreq("")
	if err != nil {
		return 0, err
	}
	req.SetUint32(uint32(index))
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFNAME, req); err != nil {
		return 0, ErrGone
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return 0, ErrGone
	}
	return req.Uint16(), nil
}

// notPollable handles a netpoller that refuses to wait. It does so after an event that
// was only an error, which a packet socket reports only when it goes down with a full
// send buffer; the next event ends it.
func (p *Packet) notPollable(poll error) error {
	if poll == nil {
		return nil
	}
	time.Sleep(downPoll)
	p.down.begin(p.conn, false)
	return p.checkDown()
}

// closedOr is net.ErrClosed on a closed link, else err with the link's name.
func (p *Packet) closedOr(err error) error {
	if p.closed.Load() {
		return net.ErrClosed
	}
	return fmt.Errorf("link: %q: %w", p.name, err)
}

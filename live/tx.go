package live

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

// busyRetry is how long a port waits before it offers a frame again that the
// kernel had no room for.
const busyRetry = 50 * unit.Microsecond

// tx is a port's sending side.
type tx struct {
	again atomic.Bool   // the port has to be drained, once more if a goroutine is draining it
	late  atomic.Int64  // ns: the most that a deadline was missed by
	lost  atomic.Uint64 // frames that no link took
	timer *timer.Timer  // nil if a Poller looks at due
	wait  func() error  // of timer
	due   atomic.Int64  // ns: armed, for the Poller

	// Only kick takes mu. It sets again first; if mu is held it returns, and the holder,
	// which looks at again after it has released mu, drains once more.
	mu    sync.Mutex
	lend  lend      // guarded by mu: what Transmit lent; [0, n) is not yet Sent
	n     int       // guarded by mu
	wrote int       // guarded by mu: of those, how many the link took
	stage stage     // of the wire
	armed unit.Time // guarded by mu: the timer's deadline
	// Of frames that were lost for a reason that nobody else tells of:
	untold int       // guarded by mu: since the last warning
	told   unit.Time // guarded by mu: the last warning
}

func (t *tx) init(tm *timer.Timer) {
	if tm != nil {
		t.timer, t.wait = tm, tm.Wait
	}
	t.armed = unit.Never
	t.due.Store(int64(unit.Never))
	t.lend = newLend()
}

// txLoop drains the port at its deadlines; where the kernel does not keep them, once a
// second.
func (p *port) txLoop() {
	for {
		err := p.tx.wait()
		switch {
		case errors.Is(err, os.ErrClosed), p.node.over():
			return
		case err != nil:
			p.node.opt.Warn("port %s: its deadlines are kept to a second only: %v", p.opt.Name, err)
			p.node.sleep(time.Second)
		}
		p.node.kickAll(p.n.Set())
	}
}

// kick sends what the port has to send, or, if another goroutine is doing so,
// makes that one look again. It returns the other ports that became ready by it.
// Each batch that it sends takes one off budget; at 0 the rest is txLoop's.
func (p *port) kick(budget *int) (others unit.PortSet) {
	p.tx.again.Store(true)
	for p.tx.again.Load() && p.tx.mu.TryLock() {
		p.tx.again.Store(false)
		others = others.Or(p.drain(budget))
		p.tx.mu.Unlock()
	}
	return others
}

// drain sends until the machine has nothing more for this port or budget is used
// up, and arms the timer for when there is more to do. It returns the other ports
// that became ready by it. Preconditions: p.tx.mu is held.
func (p *port) drain(budget *int) (others unit.PortSet) {
	t, n := &p.tx, p.node
	t.stage.obey()
	if t.stage.on {
		p.deliver(timer.Now())
	}
	for {
		if t.wrote < t.n {
			if *budget == 0 {
				p.arm(timer.Now())
				return others
			}
			*budget--
			if !p.write() {
				p.arm(timer.Now() + busyRetry)
				return others
			}
		}
		n.mu.Lock()
		now := n.clock()
		n.machine.Sent(now, p.n, t.lend.frames[:t.n])
		var next unit.Time
		t.n, next = n.machine.Transmit(now, p.n, t.lend.frames)
		ready := n.work(now)
		n.mu.Unlock()
		ready.Remove(p.n)
		others = others.Or(ready)
		t.wrote = 0
		if t.n == 0 {
			p.arm(next)
			return others
		}
		for i, f := range t.lend.frames[:t.n] {
			t.lend.bytes[i] = f.Data
		}
	}
}

// write offers the frames that were lent to the link, or to its wire if that is impaired;
// false if the link is busy.
func (p *port) write() bool {
	t := &p.tx
	t.stage.obey() // an order may have come before these frames did
	if t.stage.on {
		now := timer.Now()
		t.stage.send(now, t.lend.bytes[t.wrote:t.n])
		t.wrote = t.n
		p.deliver(now)
		return true
	}
	n, busy := p.offer(t.lend.bytes[t.wrote:t.n])
	t.wrote += n
	return !busy
}

// offer offers frames to the link, which has taken n when it is busy, else all. What has no
// link to leave by, or cannot leave, is lost as on a cut wire, and counts as taken.
func (p *port) offer(frames [][]byte) (n int, busy bool) {
	l := p.current()
	if l == nil {
		p.lose(len(frames), link.ErrGone)
		return len(frames), false
	}
	for n < len(frames) {
		k, err := l.Write(frames[n:])
		n += k
		_, refused := errors.AsType[*link.FrameError](err)
		switch {
		case err == nil:
		case errors.Is(err, link.ErrBusy):
			return n, true
		case refused:
			p.lose(1, err)
			n++
		default:
			p.lose(len(frames)-n, err)
			return len(frames), false
		}
	}
	return n, false
}

// lose counts n frames that the link did not take. It warns of it at most once a second,
// and not of a link that is down or gone, which the machine says. Preconditions: p.tx.mu is
// held.
func (p *port) lose(n int, err error) {
	t := &p.tx
	t.lost.Add(uint64(n))
	if errors.Is(err, link.ErrDown) || errors.Is(err, link.ErrGone) || errors.Is(err, net.ErrClosed) {
		return
	}
	t.untold += n
	now := timer.Now()
	if now-t.told < unit.Second {
		return
	}
	select {
	case p.node.log.losses <- loss{p, t.untold, err}:
		t.untold, t.told = 0, now
	default: // the next one tells of these
	}
}

// arm sets the port's timer to at, or to when a frame reaches the end of the wire, unless
// it fires before anyway. Preconditions: p.tx.mu is held.
func (p *port) arm(at unit.Time) {
	t := &p.tx
	at = min(at, t.stage.next())
	if now := timer.Now(); t.armed <= now {
		t.late.Store(max(t.late.Load(), int64(now-t.armed)))
		t.armed = unit.Never // it has fired
	}
	if at < t.armed {
		t.armed = at
		if t.timer != nil {
			t.timer.Arm(at)
		}
	}
	t.due.Store(int64(t.armed))
}

package link

import (
	"errors"
	"net"
	"sync"
)

// pipeFrames is how many frames can be in transit in one direction of a Pipe before
// Write returns ErrBusy.
const pipeFrames = 1024

// headerBytes is the length of an Ethernet header: the shortest frame there is.
const headerBytes = 14

var errNoHeader = errors.New("shorter than an Ethernet header")

// Pipe returns the two ends of a wire in memory. What one end writes the other reads,
// in order and without loss; 1024 frames can be in transit in each direction, of any
// length from 14 bytes on. When one end is closed, the other has no carrier: its Write
// returns ErrDown and its Read delivers what is still in transit and then waits.
//
// It only blocks on a sync.Cond, so it works inside a testing/synctest bubble.
func Pipe() (a, b Link) {
	ab, ba := newLane(), newLane()
	return &pipeEnd{in: ba, out: ab}, &pipeEnd{in: ab, out: ba}
}

// pipeEnd is one end: it reads from a lane and writes to the other.
type pipeEnd struct{ in, out *lane }

func (e *pipeEnd) Read(bufs [][]byte) (int, error)    { return e.in.read(bufs) }
func (e *pipeEnd) Write(frames [][]byte) (int, error) { return e.out.write(frames) }

// Poll is that of a Poller, whose Read would deliver nothing, though.
func (e *pipeEnd) Poll(bufs [][]byte) int {
	e.in.mu.Lock()
	defer e.in.mu.Unlock()
	return e.in.takeLocked(bufs)
}

func (e *pipeEnd) Stats() Stats {
	received, _ := e.in.stats()
	_, sent := e.out.stats()
	return Stats{
		Received:  received.Received,
		Truncated: received.Truncated,
		Sent:      sent.Sent,
		Busy:      sent.Busy,
	}
}

func (e *pipeEnd) Close() error {
	e.in.close(&e.in.readerGone)
	e.out.close(&e.out.writerGone)
	return nil
}

// lane is one direction of a pipe: a ring of frames. Slots keep their memory.
type lane struct {
	mu      sync.Mutex
	arrived sync.Cond // there is a frame, or an end is gone

	slots      [pipeFrames][]byte // guarded by mu
	head, size int                // guarded by mu: the oldest frame; the number of frames
	readerGone bool               // guarded by mu
	writerGone bool               // guarded by mu
	received   Stats              // guarded by mu: the reading end's part
	written    Stats              // guarded by mu: the writing end's part
}

func newLane() *lane {
	l := &lane{}
	l.arrived.L = &l.mu
	return l
}

func (l *lane) read(bufs [][]byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n == 0 && len(bufs) > 0 {
		for l.size == 0 && !l.readerGone {
			l.arrived.Wait()
		}
		if l.readerGone {
			return 0, net.ErrClosed
		}
		n = l.takeLocked(bufs)
	}
	return n, nil
}

// takeLocked moves frames into bufs and skips those that do not fit.
func (l *lane) takeLocked(bufs [][]byte) int {
	n := 0
	for ; l.size > 0 && n < len(bufs); l.size-- {
		f := l.slots[l.head]
		l.head = (l.head + 1) % pipeFrames
		if len(f) > cap(bufs[n]) {
			l.received.Truncated++
			continue
		}
		bufs[n] = append(bufs[n][:0], f...)
		n++
	}
	l.received.Received += uint64(n)
	return n
}

func (l *lane) write(frames [][]byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, f := range frames {
		if err := l.putLocked(f); err != nil {
			return n, err
		}
	}
	return len(frames), nil
}

func (l *lane) putLocked(f []byte) error {
	switch {
	case l.writerGone:
		return net.ErrClosed
	case l.readerGone:
		return ErrDown
	case len(f) < headerBytes:
		return &FrameError{Interface: "pipe", Len: len(f), Err: errNoHeader}
	case l.size == pipeFrames:
		l.written.Busy++
		return ErrBusy
	}
	tail := &l.slots[(l.head+l.size)%pipeFrames]
	*tail = append((*tail)[:0], f...)
	l.size++
	l.written.Sent++
	l.arrived.Signal()
	return nil
}

func (l *lane) stats() (read, written Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.received, l.written
}

// close sets gone, readerGone or writerGone.
func (l *lane) close(gone *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*gone = true
	l.arrived.Broadcast()
}

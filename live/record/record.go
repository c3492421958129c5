package record

import (
	"fmt"
	"io"
	"sync"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/live/replay"
	"softswitch/unit"
)

// waitingMax limits the data waiting to be written, in bytes: a quarter of a second of
// frames at a million a second. A recorder that fills it ends the recording, so that
// the data path never waits for a disk.
const waitingMax = 32 << 20

// batchBytes is how much is collected before it is written, so that a quiet node is not
// woken for every frame; a node that is killed loses up to this much.
const batchBytes = 64 << 10

// Recorder is a [replay.Machine] that passes every call on to another one and records it for
// package replay. Its calls must not overlap, as for any Machine; a Node makes them
// under its lock.
type Recorder struct {
	replay.Machine
	enc  replay.Encoder
	max  int
	done chan struct{} // closed when write has ended

	mu     sync.Mutex
	buf    []byte // guarded by mu: not yet taken by write
	spare  []byte // guarded by mu: the buffer that write has finished with
	full   bool   // guarded by mu: buf holds the end entry, nothing may follow
	closed bool   // guarded by mu
	err    error  // guarded by mu: of a write
	more   sync.Cond
}

// New starts a recording of m to w. One goroutine writes to w until Close. node is the
// name and number in the events.
func New(m replay.Machine, w io.Writer, h replay.Header, node event.Node) *Recorder {
	return newBounded(m, w, h, node, waitingMax)
}

func newBounded(m replay.Machine, w io.Writer, h replay.Header, node event.Node, limit int) *Recorder {
	r := &Recorder{Machine: m, enc: replay.Encoder{Node: node}, max: limit, done: make(chan struct{})}
	r.more.L = &r.mu
	r.buf = replay.AppendHeader(nil, h)
	go r.write(w)
	return r
}

// Close ends the recording and returns when all of it has been written. The error says
// why it is incomplete.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if !r.full {
		r.buf = r.enc.End(r.buf, false)
	}
	r.closed = true
	r.more.Signal()
	r.mu.Unlock()
	<-r.done
	return r.Err()
}

// Err says why the recording is incomplete, nil so far if it is not.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return fmt.Errorf("recording: %w", r.err)
	case r.full:
		return fmt.Errorf("recording: ended early: %d MiB waited to be written", r.max>>20)
	}
	return nil
}

// write writes what is buffered until the recording is closed or cannot be written.
func (r *Recorder) write(w io.Writer) {
	defer close(r.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for !r.closed && len(r.buf) < batchBytes && (!r.full || len(r.buf) == 0) {
			r.more.Wait()
		}
		if len(r.buf) == 0 || r.err != nil {
			return
		}
		batch := r.buf
		r.buf, r.spare = r.spare[:0], nil
		r.mu.Unlock()
		_, err := w.Write(batch)
		r.mu.Lock()
		r.spare, r.err = batch, err
	}
}

// add calls put to append an entry, unless the recording has ended. If that makes the
// buffer too large, the end entry follows.
func (r *Recorder) add(put func(b []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full || r.closed || r.err != nil {
		return
	}
	if r.buf = put(r.buf); len(r.buf) > r.max {
		r.buf, r.full = r.enc.End(r.buf, true), true
	}
	if len(r.buf) >= batchBytes || r.full {
		r.more.Signal()
	}
}

// Lend records the call and passes it on.
func (r *Recorder) Lend(in unit.Port, dst []*buffer.Frame) {
	r.add(func(b []byte) []byte { return r.enc.Lend(b, in, len(dst)) })
	r.Machine.Lend(in, dst)
}

// Receive records the call and passes it on.
func (r *Recorder) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	r.add(func(b []byte) []byte { return r.enc.Receive(b, now, in, fs) })
	r.Machine.Receive(now, in, fs)
}

// Transmit passes the call on and records its result.
func (r *Recorder) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	n, next = r.Machine.Transmit(now, out, fs)
	r.add(func(b []byte) []byte { return r.enc.Transmit(b, now, out, len(fs), n, next) })
	return n, next
}

// Sent records the call and passes it on.
func (r *Recorder) Sent(now unit.Time, out unit.Port, fs []*buffer.Frame) {
	r.add(func(b []byte) []byte { return r.enc.Sent(b, now, out, len(fs)) })
	r.Machine.Sent(now, out, fs)
}

// SetLink records the call and passes it on.
func (r *Recorder) SetLink(now unit.Time, p unit.Port, up bool) {
	r.add(func(b []byte) []byte { return r.enc.SetLink(b, now, p, up) })
	r.Machine.SetLink(now, p, up)
}

// SetMAC records the call and passes it on.
func (r *Recorder) SetMAC(p unit.Port, m unit.MAC) {
	r.add(func(b []byte) []byte { return r.enc.SetMAC(b, p, m) })
	r.Machine.SetMAC(p, m)
}

// Request records that the host was asked to do req. Call it under the node's lock,
// before any other call.
func (r *Recorder) Request(now unit.Time, req replay.Request) {
	r.add(func(b []byte) []byte { return r.enc.Request(b, now, req) })
}

// Work passes the call on and records the events.
func (r *Recorder) Work(ev []event.Event) (ready unit.PortSet, _ []event.Event) {
	had := len(ev)
	ready, ev = r.Machine.Work(ev)
	if len(ev) > had {
		r.add(func(b []byte) []byte { return r.enc.Events(b, ev[had:]) })
	}
	return ready, ev
}

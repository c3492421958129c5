package link

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/link/pcapng"
)

// captureBytes and captureFrames bound what a Capture holds for its file, once
// being filled and once being written. What does not fit is missed and counted.
const (
	captureBytes  = 4 << 20
	captureFrames = captureBytes / 64
)

// Capture writes the frames of several links to one pcapng file, each link an
// interface of the file, without slowing the links beyond a copy of each frame:
//
//	Tap(eth0) ─┐
//	Tap(eth1) ─┼─copy─▶ filling ──swap──▶ draining ──▶ writeLoop ──▶ file
//	Tap(eth2) ─┘        (bounded)
//
// Time stamps are the wall clock's at the start of the capture, and go on from
// there with CLOCK_MONOTONIC; the file's comment says the difference of the two,
// so that frames can be matched with logs that count on CLOCK_MONOTONIC. Frames of
// different links, or of the two directions of one, may stand in the file in
// another order than their time stamps; those of one direction do not.
//
// After Close its links keep working.
type Capture struct {
	out     *pcapng.Writer
	comment func(frame []byte) string
	start   time.Time

	mu      sync.Mutex
	work    sync.Cond    // filling or names has grown, or closed was set
	names   []string     // guarded by mu: the links, by their number in the file
	filling []captured   // guarded by mu: what writeLoop takes next
	bytes   []byte       // guarded by mu: the frames of filling
	missed  []uint64     // guarded by mu: by link, since its last captured frame
	stats   CaptureStats // guarded by mu
	closed  bool         // guarded by mu: add takes no more
	failed  bool         // guarded by mu: the file takes no more

	ended chan struct{} // closed when writeLoop has returned
	err   error         // of the file; valid when ended is closed
}

// CaptureStats counts the frames that a Capture has seen.
type CaptureStats struct {
	Captured uint64 // written, or waiting to be
	Missed   uint64 // not captured, because the file was too slow or failed
}

// captured is a frame of Capture.filling.
type captured struct {
	at     int64 // ns since 1970
	link   int32
	dir    Direction
	end    int // of its bytes; they begin at the end of the frame before
	missed uint64
}

// NewCapture starts a capture to w and a goroutine that writes it. comment, unless
// nil, says what to remark on a frame, "" for nothing; that goroutine calls it and
// lends the frame for the call. The capture does not close w.
func NewCapture(w io.Writer, comment func(frame []byte) string) (*Capture, error) {
	start, offset, err := clockOffset()
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("CLOCK_MONOTONIC = time - %d ns", offset)
	out, err := pcapng.NewWriter(w, "softswitch", note)
	if err != nil {
		return nil, err
	}
	c := &Capture{
		out:     out,
		comment: comment,
		start:   start,
		bytes:   make([]byte, 0, captureBytes),
		ended:   make(chan struct{}),
	}
	c.work.L = &c.mu
	go c.writeLoop()
	return c, nil
}

// clockOffset is the difference, at time now, between the wall clock and
// CLOCK_MONOTONIC.
func clockOffset() (now time.Time, offsetNs int64, err error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return now, 0, fmt.Errorf("link: capture: clock_gettime: %w", err)
	}
	now = time.Now()
	return now, now.UnixNano() - ts.Nano(), nil
}

// Tap returns a link that is l and whose frames are captured as those of interface
// name. Call it before l is in use.
func (c *Capture) Tap(l Link, name string) Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := int32(len(c.names))
	c.names = append(c.names, name)
	c.missed = append(c.missed, 0)
	c.work.Signal()
	return Tap(l, func(dir Direction, at time.Time, frames [][]byte) { c.add(number, dir, at, frames) })
}

// add copies frames to what writeLoop takes next.
func (c *Capture) add(link int32, dir Direction, at time.Time, frames [][]byte) {
	ns := c.start.UnixNano() + int64(at.Sub(c.start))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	for _, f := range frames {
		if c.failed || len(c.bytes)+len(f) > captureBytes || len(c.filling) == captureFrames {
			c.missed[link]++
			c.stats.Missed++
			continue
		}
		c.bytes = append(c.bytes, f...)
		c.filling = append(c.filling, captured{at: ns, link: link, dir: dir, end: len(c.bytes), missed: c.missed[link]})
		c.missed[link] = 0
		c.stats.Captured++
	}
	c.work.Signal()
}

// writeLoop writes to the file what add has collected, until Close.
func (c *Capture) writeLoop() {
	defer close(c.ended)
	var (
		draining []captured
		bytes    = make([]byte, 0, captureBytes)
		known    int // links that the file describes
	)
	for {
		c.mu.Lock()
		for len(c.filling) == 0 && len(c.names) == known && !c.closed {
			c.work.Wait()
		}
		draining, c.filling = c.filling, draining[:0]
		bytes, c.bytes = c.bytes, bytes[:0]
		fresh := c.names[known:]
		closed := c.closed
		c.mu.Unlock()

		known += len(fresh)
		if err := c.write(fresh, draining, bytes); err != nil {
			c.err = err
			c.fail()
			return
		}
		// add takes nothing more once closed is set.
		if closed {
			return
		}
	}
}

// write puts links and frames into the file, so that it is whole afterwards.
func (c *Capture) write(names []string, frames []captured, bytes []byte) error {
	for _, name := range names {
		if _, err := c.out.AddInterface(name); err != nil {
			return err
		}
	}
	start := 0
	for _, f := range frames {
		data := bytes[start:f.end]
		start = f.end
		p := pcapng.Packet{Interface: int(f.link), Time: f.at, Direction: pcapng.Inbound, Data: data, Dropped: f.missed}
		if f.dir == Out {
			p.Direction = pcapng.Outbound
		}
		if c.comment != nil {
			p.Comment = c.comment(data)
		}
		if err := c.out.WritePacket(p); err != nil {
			return err
		}
	}
	return c.out.Flush()
}

func (c *Capture) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = true
}

// Stats returns what was counted since the capture began.
func (c *Capture) Stats() CaptureStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Close ends the capture: what is captured is written, and the file's first error
// returned. Frames that pass the links later are neither captured nor counted.
// Closing twice is fine.
func (c *Capture) Close() error {
	c.mu.Lock()
	c.closed = true
	c.work.Signal()
	c.mu.Unlock()
	<-c.ended
	return c.err
}

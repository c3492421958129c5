package link

import (
	"fmt"
	"io"
	"sync"
	"time"

	"softswitch/internal/timer"
	"softswitch/link/pcapng"
)

// captureBytes and captureFrames limit what a Capture buffers for its file, in each of
// two buffers: the one being filled and the one being written. What does not fit is
// missed and counted.
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
// Time stamps are CLOCK_MONOTONIC plus a fixed offset. The file's comment says which,
// so that frames can be matched with logs that use CLOCK_MONOTONIC. Frames of one
// direction of a link are in order in the file; others may be out of order.
//
// Taps.Capture makes one. After Close its links keep working.
type Capture struct {
	out     *pcapng.Writer
	comment func(frame []byte) string
	began   time.Time // and
	beganNs int64     // its time stamp
	leave   func()

	mu      sync.Mutex
	work    sync.Cond          // filling or links has grown, or mark or closed was set
	links   []pcapng.Interface // guarded by mu: by their number in the file
	filling []captured         // guarded by mu: what writeLoop takes next
	bytes   []byte             // guarded by mu: the frames of filling
	missed  []uint64           // guarded by mu: by link, since its last captured frame
	lost    []uint64           // guarded by mu: by link, since the beginning
	mark    int64              // guarded by mu: the time stamp of Mark; 0 for no mark
	syncs   []chan struct{}    // guarded by mu: waiting for the present contents to be written
	stats   CaptureStats       // guarded by mu
	closed  bool               // guarded by mu: add takes no more frames
	failed  bool               // guarded by mu: writing to the file has failed

	ended chan struct{} // closed when writeLoop has returned
	err   error         // of the file; valid when ended is closed
}

// CaptureOptions are the settings of a capture.
type CaptureOptions struct {
	// Comment, unless nil, returns the comment for a frame, "" for no comment. It is
	// called by the goroutine that writes, and must not keep the frame.
	Comment func(frame []byte) string
	// Offset is what to add to CLOCK_MONOTONIC for a time stamp, in ns. 0 is WallOffset
	// at the start.
	Offset int64
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

// newCapture starts a capture without links, and the goroutine that writes it.
func newCapture(w io.Writer, opt CaptureOptions) (*Capture, error) {
	now := time.Now()
	if opt.Offset == 0 {
		opt.Offset = offsetAt(now)
	}
	out, err := pcapng.NewWriter(w, "softswitch", ClockNote(opt.Offset))
	if err != nil {
		return nil, err
	}
	c := &Capture{
		out:     out,
		comment: opt.Comment,
		began:   now,
		beganNs: int64(timer.At(now)) + opt.Offset,
		bytes:   make([]byte, 0, captureBytes),
		ended:   make(chan struct{}),
	}
	c.work.L = &c.mu
	go c.writeLoop()
	return c, nil
}

// ClockNote is the sentence on time stamps in a capture's comment.
func ClockNote(offset int64) string { return fmt.Sprintf("CLOCK_MONOTONIC = time - %d ns", offset) }

// WallOffset is the difference between the wall clock and CLOCK_MONOTONIC now, in ns.
func WallOffset() int64 { return offsetAt(time.Now()) }

// offsetAt is WallOffset of a reading of both clocks.
func offsetAt(now time.Time) int64 { return now.UnixNano() - int64(timer.At(now)) }

func (c *Capture) stamp(at time.Time) int64 { return c.beganNs + int64(at.Sub(c.began)) }

// describe adds a link; it gets the next number.
func (c *Capture) describe(in pcapng.Interface) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, in)
	c.missed = append(c.missed, 0)
	c.lost = append(c.lost, 0)
	c.work.Signal()
}

// add copies frames into the buffer that writeLoop takes next.
func (c *Capture) add(link int, dir Direction, at time.Time, frames [][]byte) {
	ns := c.stamp(at)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	for _, f := range frames {
		if c.failed || len(c.bytes)+len(f) > captureBytes || len(c.filling) == captureFrames {
			c.missed[link]++
			c.lost[link]++
			c.stats.Missed++
			continue
		}
		c.bytes = append(c.bytes, f...)
		c.filling = append(c.filling, captured{at: ns, link: int32(link), dir: dir, end: len(c.bytes), missed: c.missed[link]})
		c.missed[link] = 0
		c.stats.Captured++
	}
	c.work.Signal()
}

// Mark records how far the capture has come: it writes statistics of each link behind
// all frames captured so far. Frames that a link is just sending may still follow.
func (c *Capture) Mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = c.stamp(time.Now())
	c.work.Signal()
}

// portion is what writeLoop writes in one go; the file is complete afterwards.
type portion struct {
	links  []pcapng.Interface // that the file does not describe yet
	frames []captured
	bytes  []byte
	mark   int64    // 0 for none
	lost   []uint64 // by link; nil without a mark
	syncs  []chan struct{}
	last   bool
}

// writeLoop writes what add has collected to the file, until Close.
func (c *Capture) writeLoop() {
	defer close(c.ended)
	p := portion{bytes: make([]byte, 0, captureBytes)}
	for known := 0; ; known += len(p.links) {
		c.await(&p, known)
		if err := c.write(p); err != nil {
			c.err = err
			c.fail(p)
			return
		}
		for _, done := range p.syncs {
			close(done)
		}
		// add takes no more frames once closed is set.
		if p.last {
			return
		}
	}
}

// await waits for something to write and swaps it with p, which has been written. known
// is how many links the file describes so far.
func (c *Capture) await(p *portion, known int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.filling) == 0 && len(c.links) == known && c.mark == 0 && c.syncs == nil && !c.closed {
		c.work.Wait()
	}
	p.frames, c.filling = c.filling, p.frames[:0]
	p.bytes, c.bytes = c.bytes, p.bytes[:0]
	p.links = c.links[known:]
	p.mark, c.mark = c.mark, 0
	p.syncs, c.syncs = c.syncs, nil
	if p.last = c.closed; p.last {
		p.mark = c.stamp(time.Now())
	}
	p.lost = nil
	if p.mark != 0 {
		p.lost = append(p.lost, c.lost...)
	}
}

func (c *Capture) write(p portion) error {
	for _, in := range p.links {
		if _, err := c.out.AddInterface(in); err != nil {
			return err
		}
	}
	start := 0
	for _, f := range p.frames {
		if err := c.writeFrame(f, p.bytes[start:f.end]); err != nil {
			return err
		}
		start = f.end
	}
	for i, lost := range p.lost {
		s := pcapng.Statistics{Interface: i, Time: p.mark, Dropped: lost, End: p.last}
		if err := c.out.WriteStatistics(s); err != nil {
			return err
		}
	}
	return c.out.Flush()
}

func (c *Capture) writeFrame(f captured, data []byte) error {
	p := pcapng.Packet{Interface: int(f.link), Time: f.at, Direction: pcapng.Inbound, Data: data, Dropped: f.missed}
	if f.dir == Out {
		p.Direction = pcapng.Outbound
	}
	if c.comment != nil {
		p.Comment = c.comment(data)
	}
	return c.out.WritePacket(p)
}

// fail ends the capture after p could not be written: all of it, and what waits behind it, is
// missed.
func (c *Capture) fail(p portion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = true
	missed := uint64(len(p.frames) + len(c.filling))
	c.stats.Captured -= missed
	c.stats.Missed += missed
}

// Stats returns the counts since the capture began.
func (c *Capture) Stats() CaptureStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Err is the first error in writing the file, nil so far if none. Nothing is captured
// after it.
func (c *Capture) Err() error {
	select {
	case <-c.ended:
		return c.err
	default:
		return nil
	}
}

// Sync returns when what was captured before the call has been written, or with the
// file's first error.
func (c *Capture) Sync() error {
	done := make(chan struct{})
	c.mu.Lock()
	c.syncs = append(c.syncs, done)
	c.work.Signal()
	c.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-c.ended:
		return c.err
	}
}

// Close ends the capture: it writes what has been captured and returns the file's first
// error. Frames that pass the links later are neither captured nor counted. Calling it
// twice is fine.
func (c *Capture) Close() error {
	c.leave()
	c.mu.Lock()
	c.closed = true
	c.work.Signal()
	c.mu.Unlock()
	<-c.ended
	return c.err
}

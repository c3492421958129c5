package link

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"softswitch/link/pcapng"
)

// Taps are the links of a node whose frames can be captured, at any time and by several
// captures at once. Without a capture, a link costs one more load from memory per
// batch. The zero value has no links and no captures.
type Taps struct {
	// running are the captures, read by the links; nil if there are none.
	running atomic.Pointer[[]*Capture]

	mu    sync.Mutex
	links []pcapng.Interface // guarded by mu: by their number in every capture
}

// Tap returns a link that is l and whose frames appear in captures of t as those of
// interface in. Call it before l is in use. It replaces an earlier link of the same
// name.
func (t *Taps) Tap(l Link, in pcapng.Interface) Link {
	t.mu.Lock()
	defer t.mu.Unlock()
	number := slices.IndexFunc(t.links, func(o pcapng.Interface) bool { return o.Name == in.Name })
	if number < 0 {
		number = len(t.links)
		t.links = append(t.links, in)
		for _, c := range t.captures() {
			c.describe(in)
		}
	}
	on := func() bool { return t.running.Load() != nil }
	return Tap(l, on, func(dir Direction, at time.Time, frames [][]byte) {
		for _, c := range t.captures() {
			c.add(number, dir, at, frames)
		}
	})
}

// Capture starts a capture of all links, including later ones, to w, and a goroutine
// that writes it. It does not close w.
func (t *Taps) Capture(w io.Writer, opt CaptureOptions) (*Capture, error) {
	c, err := newCapture(w, opt)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.leave = func() { t.leave(c) }
	for _, in := range t.links {
		c.describe(in)
	}
	all := append(slices.Clone(t.captures()), c)
	t.running.Store(&all)
	return c, nil
}

// captures may be called without the lock; hold it to change them.
func (t *Taps) captures() []*Capture {
	if all := t.running.Load(); all != nil {
		return *all
	}
	return nil
}

func (t *Taps) leave(c *Capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(t.captures()), func(o *Capture) bool { return o == c })
	if len(rest) == 0 {
		t.running.Store(nil)
		return
	}
	t.running.Store(&rest)
}

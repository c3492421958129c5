package live

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/unit"
)

// held is a machine that must be given nothing while it is held.
type held struct {
	*dataplane.Switch
	held   atomic.Bool
	misled atomic.Int32
	sent   atomic.Int32 // frames
}

func (h *held) Sent(now unit.Time, out unit.Port, fs []*buffer.Frame) {
	h.Switch.Sent(now, out, fs)
	h.sent.Add(int32(len(fs)))
}

func (h *held) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	if h.held.Load() {
		h.misled.Add(1)
	}
	h.Switch.Receive(now, in, fs)
}

// A frozen node takes nothing and answers nothing, and goes on when it is thawed.
func TestFrozenNode(t *testing.T) {
	var h *held
	b := startBed(t, 2, opts{machine: func(s *dataplane.Switch) Machine { h = &held{Switch: s}; return h }})
	b.write(0, frame(0, 1, 1, true))
	wantNumbers(t, "before", b.read(1, 1), 1)
	b.await(func() bool { return h.sent.Load() == 1 }, "the reader to have nothing more to send")

	b.Freeze()
	h.held.Store(true)
	b.write(0, frame(0, 1, 2, true))
	b.await(func() bool { return b.poller != nil || b.Stats(0).Received == 2 }, "the frame to be read")
	answered := make(chan struct{})
	go b.Do(func(unit.Time) {
		if h.held.Load() {
			t.Error("a frozen node has answered")
		}
		close(answered)
	})
	select {
	case <-answered:
		t.Error("a frozen node has answered")
	case <-time.After(20 * time.Millisecond): // that nothing comes is no event
	}
	h.held.Store(false)
	b.Thaw()
	wantNumbers(t, "after", b.read(1, 1), 2)
	await(t, answered, "the answer")
	if n := h.misled.Load(); n > 0 {
		t.Errorf("a frozen node was given frames %d times", n)
	}
}

// A node that crashes keeps what it held to itself, closes its links, and says nothing
// more, also of what it has not logged yet.
func TestCrash(t *testing.T) {
	paused, release := make(chan struct{}), make(chan struct{})
	var logged []event.Event
	b := startBed(t, 2, opts{
		config: func(c *dataplane.Config) { c.Ports[1].Rate = 1_000_000 },
		log: func(ev []event.Event) {
			logged = append(logged, ev...)
			if slices.ContainsFunc(ev, func(e event.Event) bool { return e.Type == event.Paused }) {
				close(paused)
				<-release
			}
		},
	})
	b.write(1, pfc(65535)) // 33 s
	await(t, paused, "the pause to be logged")
	before := len(logged)
	b.write(0, frame(0, 1, 1, true))
	late := time.Now().Add(patience)
	for waits := false; !waits && time.Now().Before(late); runtime.Gosched() {
		b.snapshot(func() { waits = b.sw.Queue(1, 3).Bytes() > 0 })
	}
	b.setLink(0, 1, false) // an event that has to wait for the log

	b.Freeze()
	b.Crash()
	b.snapshot(func() {}) // whoever asks now does not hang
	close(release)
	b.stop() // closes what is open
	if n := b.Stats(1).Sent; n > 0 {
		t.Errorf("%d frames left a node that had crashed", n)
	}
	if len(logged) != before {
		t.Errorf("events were logged after the crash: %v", logged[before:])
	}
}

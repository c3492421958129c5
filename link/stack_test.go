package link

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"softswitch/internal/testnetns"
)

// stack is a TAP device in a namespace of its own, which ends with the test, and the
// stack's side of it: a packet socket that a program might have.
//
//	s ═════ "nic0" ───── program
type stack struct {
	ns      *testnetns.Namespace
	s       *Stack
	program *Packet
}

// newStack makes a device that is up. It needs root.
func newStack(t testing.TB) *stack {
	t.Helper()
	k := &stack{ns: testnetns.New(t)}
	err := k.ns.Do(func() (err error) { k.s, err = OpenStack("nic0"); return err })
	if errors.Is(err, os.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.s.Close() })
	k.ns.SetUp("nic0")
	k.program = openIn(t, k.ns, "nic0", Options{})
	return k
}

func TestStackBothWays(t *testing.T) {
	k := newStack(t)
	want := [][]byte{numbered(1, 60), numbered(2, 1514), numbered(3, 18)}
	send(t, k.program, want...)
	wantFrames(t, receive(t, k.s, 3), want)
	send(t, k.s, want...)
	wantFrames(t, receive(t, k.program, 3), want)
	if s := k.s.Stats(); s != (Stats{Received: 3, Sent: 3}) {
		t.Errorf("%+v", s)
	}
}

// With the MTU of jumbo frames, they pass both ways.
func TestStackJumboFrames(t *testing.T) {
	k := newStack(t)
	if err := k.ns.NL.LinkSetMTU(k.ns.Link("nic0"), 9216); err != nil {
		t.Fatal(err)
	}
	program := openIn(t, k.ns, "nic0", Options{MTU: 9216})
	want := [][]byte{numbered(1, 9230), numbered(2, 60)}
	send(t, program, want...)
	wantFrames(t, receive(t, k.s, 2), want)
	send(t, k.s, want...)
	wantFrames(t, receive(t, program, 2), want)
}

// Nobody reads: the kernel's queue fills, and what finds it full is counted.
func TestStackCountsDrops(t *testing.T) {
	k := newStack(t)
	queue := k.ns.Link("nic0").Attrs().TxQLen
	const more = 7
	for i := range queue + more {
		if _, err := k.program.Write([][]byte{numbered(i, 60)}); err != nil && !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
	}
	got := receive(t, k.s, queue)
	if !bytes.Equal(got[queue-1], numbered(queue-1, 60)) {
		t.Errorf("the last of the queue is %x", got[queue-1])
	}
	if s := k.s.Stats(); s.Drops != more || int(s.Received) != queue {
		t.Errorf("%+v; want %d received, %d lost", s, queue, more)
	}
}

// A device that is down takes nothing; up again, it does.
func TestStackDown(t *testing.T) {
	k := newStack(t)
	k.ns.SetDown("nic0")
	if n, err := k.s.Write([][]byte{numbered(1, 60)}); n != 0 || !errors.Is(err, ErrDown) {
		t.Errorf("Write while it is down: %d, %v", n, err)
	}
	k.ns.SetUp("nic0")
	send(t, k.s, numbered(2, 60))
	wantFrames(t, receive(t, k.program, 1), [][]byte{numbered(2, 60)})
}

func TestStackRefusesShortFrames(t *testing.T) {
	k := newStack(t)
	n, err := k.s.Write([][]byte{numbered(1, 60), make([]byte, 5)})
	var frame *FrameError
	if n != 1 || !errors.As(err, &frame) || frame.Len != 5 {
		t.Errorf("Write: %d, %v", n, err)
	}
}

// A Read that waits ends with Close, and with the device.
func TestStackReadEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*stack) error
		want error
	}{
		{"close", func(k *stack) error { return k.s.Close() }, net.ErrClosed},
		{"delete", func(k *stack) error { k.ns.Delete("nic0"); return nil }, ErrGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newStack(t)
			done := make(chan error, 1)
			go func() {
				_, err := k.s.Read(frameBuffers(1, 2048))
				done <- err
			}()
			if err := c.end(k); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Errorf("Read: %v, want %v", err, c.want)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("Read goes on")
			}
			if _, err := k.s.Write([][]byte{numbered(1, 60)}); !errors.Is(err, c.want) {
				t.Errorf("Write: %v, want %v", err, c.want)
			}
			k.s.Stats()
		})
	}
}

// The device is the link's alone, and goes with it.
func TestStackName(t *testing.T) {
	k := newStack(t)
	open := func(name string) error {
		return k.ns.Do(func() error { _, err := OpenStack(name); return err })
	}
	wantError(t, open("nic0"), "exists already")
	wantError(t, open("a-name-that-is-too-long"), "1 to 15")
	if err := k.s.Close(); err != nil {
		t.Fatal(err)
	}
	var gone netlink.LinkNotFoundError
	if _, err := k.ns.NL.LinkByName("nic0"); !errors.As(err, &gone) {
		t.Errorf("after Close: %v", err)
	}
}

// Reading and writing allocate nothing.
func TestStackAllocations(t *testing.T) {
	k := newStack(t)
	bufs, out := frameBuffers(1, 2048), [][]byte{numbered(1, 60)}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := k.s.Write(out); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Write allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		send(t, k.program, out...)
		bufs[0] = bufs[0][:0]
		if _, err := k.s.Read(bufs); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Read allocates %v times", n)
	}
}

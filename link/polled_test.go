package link

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// poll takes n frames of a link that is polled.
func poll(t testing.TB, p *Packet, n int) [][]byte {
	t.Helper()
	var got [][]byte
	for late := time.Now().Add(patience); len(got) < n; {
		bufs := frameBuffers(min(32, n-len(got)), 9280)
		got = append(got, bufs[:p.Poll(bufs)]...)
		if time.Now().After(late) {
			t.Fatalf("%d of %d frames came", len(got), n)
		}
	}
	return got
}

// reading calls Read, and says what it returned.
func reading(p *Packet) <-chan error {
	ended := make(chan error, 1)
	go func() {
		n, err := p.Read(frameBuffers(1, 2048))
		if n > 0 {
			err = errors.New("a frame")
		}
		ended <- err
	}()
	return ended
}

// Frames of a link that is polled come by Poll, in order and whole, and none by Read, also
// such as its other socket would hear.
func TestPolledFramesCross(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{Polled: true, RingBytes: 1})
	ended := reading(right)
	if n := right.Poll(frameBuffers(4, 2048)); n != 0 {
		t.Fatalf("%d frames before any was sent", n)
	}
	heard := numbered(3, 60)
	binary.BigEndian.PutUint16(heard[12:], unix.ETH_P_LOOPBACK)
	const rounds = 100 // several times round the ring
	for i := range rounds {
		want := [][]byte{numbered(i, 60), tagged(numbered(i, 1400), 0x8100_6001), numbered(i, 1514), heard}
		send(t, left, want...)
		wantFrames(t, poll(t, right, len(want)), want)
	}
	send(t, right, numbered(1, 60))
	wantFrames(t, receive(t, left, 1), [][]byte{numbered(1, 60)})
	if s := counts(right); s != (Stats{Received: 4 * rounds, Sent: 1}) {
		t.Errorf("stats %+v", s)
	}
	select {
	case err := <-ended:
		t.Errorf("Read returned %v", err)
	default:
	}
	right.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close, Read = %v", err)
	}
	if s := counts(right); s != (Stats{Received: 4 * rounds, Sent: 1}) {
		t.Errorf("stats after Close %+v", s)
	}
}

func TestPolledFullRingIsCounted(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{Polled: true, RingBytes: 1})
	slots := uint64(blockBytes / right.rx.ring.slot)
	const sent = 500
	for i := range sent {
		send(t, left, numbered(i, 60))
	}
	for i, f := range poll(t, right, int(slots)) {
		wantFrames(t, [][]byte{f}, [][]byte{numbered(i, 60)})
	}
	right.Close()
	if s, want := counts(right), (Stats{Received: slots, Drops: sent - slots}); s != want {
		t.Errorf("stats %+v, want %+v", s, want)
	}
}

// Read of a link that is polled says what becomes of the interface, and frames come again
// when it is up again.
func TestPolledInterfaceGoes(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{Polled: true})
	w.b.SetDown("right")
	if err := <-reading(right); !errors.Is(err, ErrDown) {
		t.Fatalf("Read = %v, want ErrDown", err)
	}
	w.b.SetUp("right")
	gone := reading(right)
	for late := time.Now().Add(patience); ; { // the kernel says that there is no carrier for a moment
		if _, err := left.Write([][]byte{numbered(1, 60)}); err == nil && right.Poll(frameBuffers(1, 2048)) == 1 {
			break
		}
		if time.Now().After(late) {
			t.Fatal("no frame came after the interface was up again")
		}
	}
	w.a.Delete("left")
	for err := <-gone; !errors.Is(err, ErrGone); err = <-reading(right) {
		if !errors.Is(err, ErrDown) {
			t.Fatalf("Read = %v, want ErrGone", err)
		}
	}
}

func TestPollAllocatesNothing(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{Polled: true})
	frames := [][]byte{numbered(1, 60), numbered(3, 1514)}
	bufs := frameBuffers(len(frames), 2048)
	if allocs := testing.AllocsPerRun(200, func() {
		if n, err := left.Write(frames); n != len(frames) || err != nil {
			t.Fatal(n, err)
		}
		for got := 0; got < len(frames); {
			got += right.Poll(bufs)
		}
	}); allocs != 0 {
		t.Errorf("writing and polling %d frames allocates %v times, want 0", len(frames), allocs)
	}
}

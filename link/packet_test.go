package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
)

// testType is the EtherType of synthetic frames: 0x88B5, local experimental 1.
const testType = 0x88B5

// numbered is a broadcast frame of n bytes (at least 18) that carries i.
func numbered(i, n int) []byte {
	f := make([]byte, n)
	copy(f, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01")
	binary.BigEndian.PutUint16(f[12:], testType)
	binary.BigEndian.PutUint32(f[14:], uint32(i))
	for j := 18; j < n; j++ {
		f[j] = byte(i + j)
	}
	return f
}

// frameBuffers are n empty buffers with room for size bytes.
func frameBuffers(n, size int) [][]byte {
	bufs := make([][]byte, n)
	for i := range bufs {
		bufs[i] = make([]byte, 0, size)
	}
	return bufs
}

// send writes all frames and waits for room where there is none.
func send(t testing.TB, l Link, frames ...[]byte) {
	t.Helper()
	for len(frames) > 0 {
		n, err := l.Write(frames)
		if err != nil && !errors.Is(err, ErrBusy) {
			t.Fatalf("Write: %v", err)
		}
		frames = frames[n:]
	}
}

// receive reads n frames.
func receive(t testing.TB, l Link, n int) [][]byte {
	t.Helper()
	var got [][]byte
	for len(got) < n {
		bufs := frameBuffers(min(32, n-len(got)), 9280)
		k, err := l.Read(bufs)
		if err != nil {
			t.Fatalf("Read after %d of %d frames: %v", len(got), n, err)
		}
		got = append(got, bufs[:k]...)
	}
	return got
}

func wantFrames(t testing.TB, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("frame %d:\n got %x\nwant %x", i, got[i], want[i])
		}
	}
}

func TestFramesCross(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	want := [][]byte{numbered(1, 60), numbered(2, 1514), numbered(3, 18), numbered(4, 1513)}
	send(t, left, want...)
	wantFrames(t, receive(t, right, 4), want)
	send(t, right, want[1])
	wantFrames(t, receive(t, left, 1), want[1:2])

	if s := counts(left); s != (Stats{Received: 1, Sent: 4}) {
		t.Errorf("left: %+v", s)
	}
	if s := counts(right); s != (Stats{Received: 4, Sent: 1}) {
		t.Errorf("right: %+v", s)
	}
}

// counts are the statistics of p that tell of frames.
func counts(p *Packet) Stats {
	s := p.Stats()
	s.Waited = 0
	return s
}

// A frame that is not read waits in the ring.
func TestWaitIsMeasured(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	before := time.Now()
	send(t, left, numbered(1, 60))
	sent := time.Now()
	<-time.After(20 * time.Millisecond)
	least := time.Since(sent)
	receive(t, right, 1)
	most := time.Since(before)
	if got := time.Duration(right.Stats().Waited); got < least || got > most {
		t.Errorf("the frame waited %s, want %s to %s", got, least, most)
	}
	if got := left.Stats().Waited; got != 0 {
		t.Errorf("where no frame came one waited %d ns", got)
	}
}

// tagged is frame with tags put in, each given as TPID and TCI.
func tagged(frame []byte, tags ...uint32) []byte {
	f := bytes.Clone(frame[:macBytes])
	for _, tag := range tags {
		f = binary.BigEndian.AppendUint32(f, tag)
	}
	return append(f, frame[macBytes:]...)
}

func TestTagSurvives(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	plain := numbered(1, 1514)
	want := [][]byte{
		tagged(plain, 0x8100_6001),                   // priority 3, VLAN 1
		tagged(plain, 0x8100_8000),                   // priority 4, priority-tagged
		tagged(plain, 0x8100_0000),                   // a tag of zeros is a tag
		tagged(plain, 0x8100_b123),                   // drop eligible
		tagged(plain[:1510], 0x88a8_6001),            // a service tag
		tagged(plain[:60], 0x88a8_6001, 0x8100_2002), // two tags
		plain,
	}
	send(t, left, want...)
	wantFrames(t, receive(t, right, len(want)), want)
}

func TestOwnFramesAreNotSeen(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	send(t, left, numbered(1, 60))
	receive(t, right, 1)
	// What left read next is what right sends, not what left has sent.
	send(t, right, numbered(2, 60))
	wantFrames(t, receive(t, left, 1), [][]byte{numbered(2, 60)})
}

func TestBurstIsComplete(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	// Nobody reads during the burst: the ring holds it all.
	const burst = 2000
	want := make([][]byte, burst)
	for i := range want {
		want[i] = numbered(i, 64+i%1400)
	}
	send(t, left, want...)
	wantFrames(t, receive(t, right, burst), want)
	if s := right.Stats(); s.Received != burst || s.Drops != 0 || s.Truncated != 0 {
		t.Errorf("after a burst of %d: %+v", burst, s)
	}
}

// TestRingWraps sends many times a ring's slots through a small ring.
func TestRingWraps(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{RingBytes: 1}) // 32 slots
	for i := range 300 {
		want := [][]byte{numbered(7*i, 60), numbered(7*i+1, 1000), numbered(7*i+2, 61)}
		send(t, left, want...)
		wantFrames(t, receive(t, right, len(want)), want)
	}
}

func TestFullRingIsCounted(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{RingBytes: 1})
	slots := uint64(blockBytes / right.rx.ring.slot)
	const sent = 500
	for i := range sent {
		send(t, left, numbered(i, 60))
	}
	got := receive(t, right, int(slots))
	// The ring kept the oldest frames.
	for i, f := range got {
		if !bytes.Equal(f, numbered(i, 60)) {
			t.Fatalf("frame %d is %x", i, f)
		}
	}
	want := Stats{Received: slots, Drops: sent - slots}
	for range 2 { // the kernel resets its counter when it is read; ours stays
		if s := counts(right); s != want {
			t.Errorf("stats %+v, want %+v", s, want)
		}
	}
	right.Close()
	if s := counts(right); s != want {
		t.Errorf("stats after Close %+v, want %+v", s, want)
	}
}

func TestTooLongForBufferIsCounted(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	send(t, left, numbered(1, 101), tagged(numbered(2, 100), 0x8100_6001), numbered(3, 100))
	bufs := frameBuffers(3, 100)
	n, err := right.Read(bufs)
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, bufs[:n], [][]byte{numbered(3, 100)})
	if s := counts(right); s != (Stats{Received: 1, Truncated: 2}) {
		t.Errorf("stats %+v, want 1 received and 2 truncated", s)
	}
}

// A frame that is longer than a slot comes whole and in its place, as it may where the MTU was raised
// after the ring was made; one that is longer than the buffer too is counted.
func TestLongerThanASlot(t *testing.T) {
	w := newWire(t)
	right := w.openRight(Options{}) // its slots are sized for an MTU of 1500
	for _, h := range []struct {
		name string
		mtu  func() error
	}{
		{"left", func() error { return w.a.NL.LinkSetMTU(w.a.Link("left"), 9000) }},
		{"right", func() error { return w.b.NL.LinkSetMTU(w.b.Link("right"), 9000) }},
	} {
		if err := h.mtu(); err != nil {
			t.Fatalf("MTU of %s: %v", h.name, err)
		}
	}
	left := w.openLeft(Options{})
	const longest = 2048 - slotHead + 14
	want := [][]byte{numbered(1, longest), numbered(2, longest+1), tagged(numbered(3, 9014), 0x8100_6001), numbered(4, 60)}
	send(t, left, want...)
	wantFrames(t, receive(t, right, len(want)), want)

	send(t, left, numbered(5, longest+1), numbered(6, 60))
	bufs := frameBuffers(2, longest)
	n, err := right.Read(bufs)
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, bufs[:n], [][]byte{numbered(6, 60)})
	if s := counts(right); s != (Stats{Received: 5, Truncated: 1}) {
		t.Errorf("stats %+v, want 5 received, 1 truncated and none offloaded", s)
	}
}

// Frames of 9230 bytes cross in each direction, more of them than a ring has slots, with
// a tag and without; a byte more is refused where it is sent.
func TestJumboFramesCross(t *testing.T) {
	w := newWire(t)
	for _, err := range []error{
		w.a.NL.LinkSetMTU(w.a.Link("left"), 9216),
		w.b.NL.LinkSetMTU(w.b.Link("right"), 9216),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	opt := Options{RingBytes: 2 * blockBytes, MTU: 9216} // 14 slots
	left, right := w.openLeft(opt), w.openRight(opt)
	for i := range 40 {
		f := numbered(i, 9230-i%3)
		if i%5 == 0 {
			f = tagged(numbered(i, 9230), 0x8100_6001)
		}
		send(t, left, f)
		wantFrames(t, receive(t, right, 1), [][]byte{f})
		send(t, right, f)
		wantFrames(t, receive(t, left, 1), [][]byte{f})
	}
	var fe *FrameError
	if _, err := left.Write([][]byte{numbered(0, 9231)}); !errors.As(err, &fe) || fe.Len != 9231 {
		t.Errorf("a frame of 9231 bytes: %v, want a FrameError of it", err)
	}
}

// An interface whose MTU is below the one that is asked for is not opened, and the error
// says how to raise it.
func TestSmallMTU(t *testing.T) {
	w := newWire(t)
	err := w.a.Do(func() error {
		p, err := Open("left", Options{MTU: 9216})
		if err == nil {
			p.Close()
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "its MTU is 1500") || !strings.Contains(err.Error(), "`ip link set dev left mtu 9216`") {
		t.Errorf("Open = %v", err)
	}
}

func TestUnsendableFrame(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	for _, bad := range [][]byte{{}, make([]byte, 13), numbered(0, 1600)} {
		ok := numbered(1, 60)
		n, err := left.Write([][]byte{ok, bad, ok})
		var fe *FrameError
		if n != 1 || !errors.As(err, &fe) || fe.Len != len(bad) || fe.Interface != "left" {
			t.Errorf("a frame of %d bytes: Write = %d, %v; want 1 and a FrameError of it", len(bad), n, err)
		}
		wantFrames(t, receive(t, right, 1), [][]byte{ok})
	}
}

func TestFilter(t *testing.T) {
	// Frames whose EtherType is testType, in full; others not at all.
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: testType, SkipFalse: 1},
		bpf.RetConstant{Val: 1 << 16},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{Filter: filter})
	other := numbered(1, 60)
	binary.BigEndian.PutUint16(other[12:], 0x88B6)
	send(t, left, other, numbered(2, 60), other, numbered(3, 60))
	wantFrames(t, receive(t, right, 2), [][]byte{numbered(2, 60), numbered(3, 60)})
}

func TestCloseEndsRead(t *testing.T) {
	w := newWire(t)
	p := w.openLeft(Options{})
	ended := make(chan error, 1)
	go func() {
		_, err := p.Read(frameBuffers(1, 2048))
		ended <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read = %v, want net.ErrClosed", err)
	}
	if _, err := p.Read(frameBuffers(1, 2048)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read after Close = %v, want net.ErrClosed", err)
	}
	if n, err := p.Write([][]byte{numbered(1, 60)}); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("Write after Close = %d, %v, want 0, net.ErrClosed", n, err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestCloseDuringTraffic closes a link that a reader and a writer keep busy: the
// ring must not be unmapped below the reader.
func TestCloseDuringTraffic(t *testing.T) {
	w := newWire(t)
	left := w.openLeft(Options{})
	frames := [][]byte{numbered(1, 60), numbered(2, 1000), numbered(3, 60)}
	for range 20 {
		right := w.openRight(Options{RingBytes: 1})
		ended := make(chan error, 2)
		started := make(chan struct{})
		go func() {
			bufs := frameBuffers(8, 2048)
			_, err := right.Read(bufs)
			close(started)
			for err == nil {
				_, err = right.Read(bufs)
			}
			ended <- err
		}()
		go func() {
			var err error
			for err == nil || errors.Is(err, ErrBusy) {
				_, err = right.Write(frames)
			}
			ended <- err
		}()
		for reading := true; reading; {
			send(t, left, frames...)
			select {
			case <-started:
				reading = false
			default:
			}
		}
		right.Close()
		for range 2 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Fatalf("ended with %v, want net.ErrClosed", err)
			}
		}
	}
}

func TestFlapIsSurvived(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	bufs := frameBuffers(1, 2048)
	for i := range 3 {
		w.b.SetDown("right")
		if _, err := right.Read(bufs); !errors.Is(err, ErrDown) {
			t.Fatalf("flap %d: Read = %v, want ErrDown", i, err)
		}
		for range 2 { // Write says it each time
			if n, err := right.Write([][]byte{numbered(i, 60)}); n != 0 || !errors.Is(err, ErrDown) {
				t.Fatalf("flap %d: Write = %d, %v, want 0, ErrDown", i, n, err)
			}
		}
		// Asked again, Read waits through the down time for the next frame.
		got := make(chan error, 1)
		go func() {
			_, err := right.Read(bufs)
			got <- err
		}()
		w.b.SetUp("right")
		w.a.AwaitRunning("left")
		send(t, left, numbered(i, 60))
		if err := <-got; err != nil {
			t.Fatalf("flap %d: Read while it comes up = %v, want a frame", i, err)
		}
		wantFrames(t, bufs, [][]byte{numbered(i, 60)})
		send(t, right, numbered(i, 61))
		wantFrames(t, receive(t, left, 1), [][]byte{numbered(i, 61)})
	}
}

// TestDownSeenByWriterReachesReader: the kernel gives the pending error to
// whoever asks first, and that may be Write.
func TestDownSeenByWriterReachesReader(t *testing.T) {
	w := newWire(t)
	p := w.openLeft(Options{})
	w.a.SetDown("left")
	if err := p.rc.Control(func(fd uintptr) { socketError(fd) }); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([][]byte{numbered(1, 60)}); !errors.Is(err, ErrDown) {
		t.Fatalf("Write = %v, want ErrDown", err)
	}
	if _, err := p.Read(frameBuffers(1, 2048)); !errors.Is(err, ErrDown) {
		t.Errorf("Read = %v, want ErrDown", err)
	}
}

func TestOpenedWhileDown(t *testing.T) {
	w := newWire(t)
	w.b.SetDown("right")
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	bufs := frameBuffers(1, 2048)
	if _, err := right.Read(bufs); !errors.Is(err, ErrDown) {
		t.Fatalf("Read = %v, want ErrDown", err)
	}
	w.b.SetUp("right")
	w.a.AwaitRunning("left")
	send(t, left, numbered(1, 60))
	wantFrames(t, receive(t, right, 1), [][]byte{numbered(1, 60)})
}

// TestOpenedWhileComingUp: an interface that comes up at any moment of its opening is heard, as
// one that somebody moves into a container in which a switch waits for it.
func TestOpenedWhileComingUp(t *testing.T) {
	w := newWire(t)
	left := w.openLeft(Options{})
	for i := range 50 {
		w.b.SetDown("right")
		var right *Packet
		opened := make(chan error, 1)
		go func() {
			opened <- w.b.Do(func() (err error) { right, err = Open("right", Options{}); return err })
		}()
		time.Sleep(time.Duration(i) * time.Millisecond / 2) // opening takes up to 20 ms: another moment of it each time
		w.b.SetUp("right")
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		w.a.AwaitRunning("left")
		send(t, left, numbered(i, 60))
		deaf := time.AfterFunc(10*time.Second, func() { right.Close() })
		for heard := false; !heard; {
			bufs := frameBuffers(1, 2048)
			n, err := right.Read(bufs)
			if err != nil && !errors.Is(err, ErrDown) {
				t.Errorf("up %d half milliseconds after the opening began, and nothing is heard: %v", i, err)
				break
			}
			heard = n == 1 && bytes.Equal(bufs[0], numbered(i, 60))
		}
		deaf.Stop()
		right.Close()
	}
}

func TestCloseWhileDown(t *testing.T) {
	w := newWire(t)
	p := w.openLeft(Options{})
	w.a.SetDown("left")
	bufs := frameBuffers(1, 2048)
	if _, err := p.Read(bufs); !errors.Is(err, ErrDown) {
		t.Fatalf("Read = %v, want ErrDown", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.Read(bufs)
		ended <- err
	}()
	p.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read = %v, want net.ErrClosed", err)
	}
}

// readUntilGone reads until it does not say ErrDown any more.
func readUntilGone(p *Packet) error {
	for {
		if _, err := p.Read(frameBuffers(1, 2048)); !errors.Is(err, ErrDown) {
			return err
		}
	}
}

func TestDeletedInterfaceIsGone(t *testing.T) {
	t.Run("from up", func(t *testing.T) {
		w := newWire(t)
		p := w.openLeft(Options{})
		ended := make(chan error, 1)
		go func() { ended <- readUntilGone(p) }()
		w.b.Delete("right") // takes left with it
		if err := <-ended; !errors.Is(err, ErrGone) {
			t.Fatalf("Read = %v, want ErrGone", err)
		}
		if _, err := p.Read(frameBuffers(1, 2048)); !errors.Is(err, ErrGone) {
			t.Errorf("Read again = %v, want ErrGone", err)
		}
		if n, err := p.Write([][]byte{numbered(1, 60)}); n != 0 || !errors.Is(err, ErrGone) {
			t.Errorf("Write = %d, %v, want 0, ErrGone", n, err)
		}

		// The caller opens it again when it is back.
		p.Close()
		w.addVeth()
		left, right := w.openLeft(Options{}), w.openRight(Options{})
		send(t, left, numbered(1, 60))
		wantFrames(t, receive(t, right, 1), [][]byte{numbered(1, 60)})
	})
	t.Run("from down", func(t *testing.T) {
		w := newWire(t)
		p := w.openLeft(Options{})
		w.a.SetDown("left")
		if _, err := p.Read(frameBuffers(1, 2048)); !errors.Is(err, ErrDown) {
			t.Fatalf("Read = %v, want ErrDown", err)
		}
		w.a.Delete("left")
		if err := readUntilGone(p); !errors.Is(err, ErrGone) {
			t.Errorf("Read = %v, want ErrGone", err)
		}
	})
}

// A write that the kernel refuses for want of a carrier is ErrDown, and so is every one
// after it until the carrier is back. If the kernel takes the first one and drops it (see
// Link), another link is tried.
func TestNoCarrierIsDownForWrite(t *testing.T) {
	const tries = 20
	for range tries {
		if writeWithoutCarrier(t) {
			return
		}
	}
	t.Fatalf("none of %d links that lost their carrier refused a write", tries)
}

// writeWithoutCarrier reports whether a link that loses its carrier refuses a write, and
// then wants it to refuse all, until the carrier is back.
func writeWithoutCarrier(t *testing.T) bool {
	t.Helper()
	w := &wire{t: t, a: testkit.NewNamespace(t), b: testkit.NewNamespace(t)}
	w.a.LateVeth("left", w.b, "right") // the kernel refuses frames until it has taken note
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	w.b.SetDown("right")
	// The kernel's flag follows the carrier with a little delay.
	n, err := left.Write([][]byte{numbered(1, 60)})
	for errors.Is(err, ErrBusy) {
		n, err = left.Write([][]byte{numbered(1, 60)})
	}
	if n == 1 && err == nil {
		return false
	}
	for range 1000 { // said each time
		if n != 0 || !errors.Is(err, ErrDown) {
			t.Fatalf("Write without a carrier = %d, %v, want 0, ErrDown", n, err)
		}
		n, err = left.Write([][]byte{numbered(1, 60)})
	}
	if _, err := right.Read(frameBuffers(1, 2048)); !errors.Is(err, ErrDown) {
		t.Fatalf("Read of the end that is down = %v, want ErrDown", err)
	}
	w.b.SetUp("right")
	w.a.AwaitRunning("left")
	send(t, left, numbered(2, 60))
	wantFrames(t, receive(t, right, 1), [][]byte{numbered(2, 60)})
	return true
}

func TestOpenErrors(t *testing.T) {
	w := newWire(t)
	open := func(name string, opt Options) error {
		return w.a.Do(func() error { _, err := Open(name, opt); return err })
	}
	wantError(t, open("nosuch0", Options{}), `"nosuch0"`, "lo, left")
	wantError(t, open("left", Options{RingBytes: -1}), `"left"`, "RingBytes is -1")
	wantError(t, open("left", Options{RingBytes: 1 << 62}), `"left"`, "RingBytes is 4611686018427387904")
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestOpenUnprivileged(t *testing.T) {
	// A thread that gives up the right cannot be given it back: it ends with its
	// goroutine, which stays locked to it.
	w := newWire(t)
	result := make(chan error, 1)
	go func() { result <- openWithoutRight(w) }()
	wantError(t, <-result, `"left"`, "CAP_NET_RAW", "sudo")
}

// TestRefusals: what the kernel says about a frame, and what Write makes of it. A
// full send buffer cannot be had at will, since a veth delivers each frame at once;
// so this test says the kernel's part itself.
func TestRefusals(t *testing.T) {
	w := newWire(t)
	left := w.openLeft(Options{})
	frames := [][]byte{numbered(1, 60)}
	for _, tc := range []struct {
		errno unix.Errno
		want  error
		busy  uint64
	}{
		{unix.EAGAIN, ErrBusy, 1},
		{unix.ENOBUFS, ErrBusy, 2}, // the interface has a carrier
		{unix.ENETDOWN, ErrDown, 2},
		{unix.ENXIO, ErrGone, 2},
		{unix.ENODEV, ErrGone, 2},
		{unix.EIO, unix.EIO, 2},
	} {
		left.tx.n, left.tx.errno = 0, tc.errno
		if err := left.whyUnsent(frames, nil); !errors.Is(err, tc.want) {
			t.Errorf("%v: Write = %v, want %v", tc.errno, err, tc.want)
		}
		if busy := left.Stats().Busy; busy != tc.busy {
			t.Errorf("%v: Busy = %d, want %d", tc.errno, busy, tc.busy)
		}
	}
}

func TestPacketAllocatesNothing(t *testing.T) {
	w := newWire(t)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	frames := [][]byte{numbered(1, 60), tagged(numbered(2, 1400), 0x8100_6001), numbered(3, 1514)}
	bufs := frameBuffers(len(frames), 2048)
	if allocs := testing.AllocsPerRun(200, func() {
		if n, err := left.Write(frames); n != len(frames) || err != nil {
			t.Fatal(n, err)
		}
		for got := 0; got < len(frames); {
			n, err := right.Read(bufs)
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
	}); allocs != 0 {
		t.Errorf("writing and reading %d frames allocates %v times, want 0", len(frames), allocs)
	}
}

// A link that was opened deaf can send. It receives what comes after Hear, and nothing of before.
func TestDeafUntilHear(t *testing.T) {
	for _, polled := range []bool{false, true} {
		w := newWire(t)
		left, witness, right := w.openLeft(Options{}), w.openRight(Options{}), w.openRight(Options{Deaf: true, Polled: polled})
		send(t, right, numbered(1, 60))
		receive(t, left, 1)
		send(t, left, numbered(2, 60))
		receive(t, witness, 1)
		if err := right.Hear(); err != nil {
			t.Fatal(err)
		}
		send(t, left, numbered(3, 60))
		take := receive
		if polled {
			take = func(t testing.TB, l Link, n int) [][]byte { return poll(t, l.(*Packet), n) }
		}
		wantFrames(t, take(t, right, 1), [][]byte{numbered(3, 60)})
	}
}

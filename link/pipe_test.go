package link

import (
	"errors"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"

	"softswitch/internal/testkit"
)

func TestPipeCarriesFramesBothWays(t *testing.T) {
	a, b := Pipe()
	there := [][]byte{numbered(1, 60), numbered(2, 9000), numbered(3, 18)}
	back := [][]byte{numbered(4, 100)}
	send(t, a, there...)
	send(t, b, back...)
	wantFrames(t, readSome(t, b, 8, 9000), there)
	wantFrames(t, readSome(t, a, 8, 2000), back)
	if s := a.Stats(); s != (Stats{Sent: 3, Received: 1}) {
		t.Errorf("a: %+v", s)
	}
	if s := b.Stats(); s != (Stats{Sent: 1, Received: 3}) {
		t.Errorf("b: %+v", s)
	}
}

// readSome does one Read with n buffers of size bytes.
func readSome(t *testing.T, l Link, n, size int) [][]byte {
	t.Helper()
	bufs := frameBuffers(n, size)
	k, err := l.Read(bufs)
	if err != nil {
		t.Fatal(err)
	}
	return bufs[:k]
}

func TestPipeCopies(t *testing.T) {
	a, b := Pipe()
	frame := numbered(1, 60)
	send(t, a, frame)
	clear(frame) // the frame was lent for the call only
	wantFrames(t, receive(t, b, 1), [][]byte{numbered(1, 60)})
}

// TestPipeIsAQueue compares a pipe with a slice under random reads and writes.
func TestPipeIsAQueue(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	a, b := Pipe()
	var queue [][]byte
	for step := range 5000 {
		frames := make([][]byte, rng.IntN(80))
		for i := range frames {
			frames[i] = numbered(step, 18+rng.IntN(100))
		}
		n, err := a.Write(frames)
		room := pipeFrames - len(queue)
		if n != min(len(frames), room) || (err != nil) != (len(frames) > room) || (err != nil && err != ErrBusy) {
			t.Fatalf("step %d: Write of %d frames with room for %d = %d, %v", step, len(frames), room, n, err)
		}
		queue = append(queue, frames[:n]...)
		if len(queue) > 0 && rng.IntN(3) > 0 {
			got := readSome(t, b, 1+rng.IntN(120), 200)
			wantFrames(t, got, queue[:len(got)])
			queue = queue[len(got):]
		}
	}
}

func TestPipeTruncates(t *testing.T) {
	a, b := Pipe()
	send(t, a, numbered(1, 101), numbered(2, 100), numbered(3, 101))
	wantFrames(t, readSome(t, b, 4, 100), [][]byte{numbered(2, 100)})
	if s := b.Stats(); s != (Stats{Received: 1, Truncated: 2}) {
		t.Errorf("%+v", s)
	}
}

func TestPipeRefusesHeaderless(t *testing.T) {
	a, _ := Pipe()
	n, err := a.Write([][]byte{numbered(1, 60), make([]byte, 13)})
	var fe *FrameError
	if n != 1 || !errors.As(err, &fe) || fe.Len != 13 {
		t.Errorf("Write = %d, %v; want 1 and a FrameError of 13 bytes", n, err)
	}
}

func TestPipeCloseEndsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := a.Read(frameBuffers(1, 100))
			ended <- err
		}()
		synctest.Wait() // the Read is blocked
		a.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Read = %v, want net.ErrClosed", err)
		}
		if _, err := a.Write([][]byte{numbered(1, 60)}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Write = %v, want net.ErrClosed", err)
		}
		if n, err := b.Write([][]byte{numbered(1, 60)}); n != 0 || !errors.Is(err, ErrDown) {
			t.Errorf("Write of the other end = %d, %v, want 0, ErrDown", n, err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		b.Close()
	})
}

func TestPipeDeliversWhatIsUnderWay(t *testing.T) {
	a, b := Pipe()
	send(t, a, numbered(1, 60))
	a.Close()
	wantFrames(t, receive(t, b, 1), [][]byte{numbered(1, 60)})
}

func TestPipeReaderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		defer a.Close()
		defer b.Close()
		got := make(chan int, 1)
		go func() {
			n, _ := b.Read(frameBuffers(4, 100))
			got <- n
		}()
		synctest.Wait()
		select {
		case n := <-got:
			t.Fatalf("Read returned %d frames of an empty pipe", n)
		default:
		}
		send(t, a, numbered(1, 60), numbered(2, 60))
		if n := <-got; n != 2 {
			t.Errorf("Read = %d frames, want both of the batch", n)
		}
	})
}

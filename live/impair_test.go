package live

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/internal/timer"
	"softswitch/link/impair"
	"softswitch/unit"
)

const ms = unit.Millisecond

// crossing sends n frames from port 0 to port 1.
func (b *bed) crossing(n int) {
	for i := range n {
		b.write(0, frame(0, 1, uint64(i), true))
	}
}

// wantWire waits for a state: a frame is taken off the wire only behind the write to the link.
func (b *bed) wantWire(p unit.Port, want impair.State) {
	b.t.Helper()
	b.await(func() bool { return b.Wire(p) == want }, fmt.Sprintf("the wire of port %d to be %+v", p, want))
}

func TestWireDelays(t *testing.T) {
	b := startBed(t, 2, opts{})
	b.Impair(1, impair.Faults{Delay: 20 * ms})
	before := timer.Now()
	b.crossing(10)
	wantNumbers(t, "port 1", b.read(1, 10), 0)
	if took := timer.Now() - before; took < 20*ms {
		t.Errorf("10 frames took %d ns, over a wire of 20 ms", took)
	}
	b.Impair(1, impair.Faults{})
	b.crossing(10)
	wantNumbers(t, "port 1", b.read(1, 10), 0)
	b.wantWire(1, impair.State{})
}

func TestWireKeepsOrder(t *testing.T) {
	b := startBed(t, 2, opts{})
	seed := testkit.Seed(t)
	b.Impair(1, impair.Faults{Delay: ms, Jitter: 5 * ms})
	if err := b.stream(0, 1, 3000, 200, rand.New(rand.NewPCG(seed, 1))); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

func TestWireLoses(t *testing.T) {
	b := startBed(t, 2, opts{})
	all := impair.Faults{Loss: impair.Whole}
	b.Impair(1, all)
	b.crossing(5)
	b.await(func() bool { return b.Wire(1).Lost == 5 }, "5 frames to be lost")
	b.wantWire(1, impair.State{Faults: all, Lost: 5, Changed: true})
	b.Impair(1, impair.Faults{})
	b.write(0, frame(0, 1, 7, true))
	wantNumbers(t, "port 1", b.read(1, 1), 7)
}

// late is a machine to which something happens when a frame for port 1 is about to leave it.
type late struct {
	*dataplane.Switch
	happens func()
}

func (l *late) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (int, unit.Time) {
	if out == 1 && l.Queue(1, 3).Bytes() > 0 {
		l.happens()
	}
	return l.Switch.Transmit(now, out, fs)
}

// An order holds for the next frame, also if the port is being drained when it comes.
func TestWireObeysAtOnce(t *testing.T) {
	var b *bed
	all, once := impair.Faults{Loss: impair.Whole}, sync.Once{}
	b = startBed(t, 2, opts{machine: func(s *dataplane.Switch) Machine {
		return &late{s, func() { once.Do(func() { b.Impair(1, all) }) }}
	}})
	b.crossing(1)
	b.wantWire(1, impair.State{Faults: all, Lost: 1, Changed: true})
}

func TestWireDuplicates(t *testing.T) {
	b := startBed(t, 2, opts{})
	b.Impair(1, impair.Faults{Duplicate: impair.Whole})
	b.crossing(3)
	var got []uint64
	for _, f := range b.read(1, 6) {
		got = append(got, number(f))
	}
	if !slices.Equal(got, []uint64{0, 0, 1, 1, 2, 2}) {
		t.Errorf("frames %d, want each twice", got)
	}
}

// A frame that is overtaken takes twice the delay, and what comes later does not wait for it.
func TestWireReorders(t *testing.T) {
	b := startBed(t, 2, opts{})
	before := timer.Now()
	b.Impair(1, impair.Faults{Delay: 10 * ms, Reorder: impair.Whole})
	b.crossing(1)
	wantNumbers(t, "port 1", b.read(1, 1), 0)
	if took := timer.Now() - before; took < 20*ms {
		t.Errorf("it took %d ns to be overtaken on a wire of 10 ms", took)
	}

	b.Impair(1, impair.Faults{Delay: 3600 * unit.Second, Reorder: impair.Whole})
	b.crossing(1)
	b.await(func() bool { return b.Wire(1).Overtaken == 2 }, "the frame to be on the wire")
	b.Impair(1, impair.Faults{Delay: ms})
	b.write(0, frame(0, 1, 1, true))
	wantNumbers(t, "port 1", b.read(1, 1), 1)
	b.wantWire(1, impair.State{Faults: impair.Faults{Delay: ms}, Overtaken: 2, Held: 1, Changed: true})
}

func TestWireForges(t *testing.T) {
	b := startBed(t, 2, opts{})
	forged := frame(7, 9, 99, true)
	b.Forge(1, bytes.Clone(forged))
	if got := b.read(1, 1)[0]; !bytes.Equal(got, forged) {
		t.Errorf("came % x, want % x", got, forged)
	}
	if s := b.Stats(1); s.Sent != 1 {
		t.Errorf("%d frames sent, want 1", s.Sent)
	}
}

// What is on a wire when it is cut is lost, and counted.
func TestWireIsCut(t *testing.T) {
	b := startBed(t, 2, opts{})
	long := impair.Faults{Delay: 3600 * unit.Second}
	b.Impair(1, long)
	b.crossing(4)
	b.await(func() bool { return b.Wire(1).Held == 4 }, "4 frames to be on the wire")
	b.setLink(1, 1, false)
	b.await(func() bool { return b.Wire(1).Held == 0 }, "the wire to be cut")
	if s := b.Stats(1); s.Lost != 4 || s.Sent != 0 {
		t.Errorf("%d lost and %d sent, want 4 and 0", s.Lost, s.Sent)
	}
}

// A wire holds no more than heldMax.
func TestWireIsBounded(t *testing.T) {
	var s stage
	s.wire.Faults = impair.Faults{Delay: unit.Second}
	long := make([]byte, 1<<20)
	for range 40 {
		s.send(0, [][]byte{long})
	}
	if s.bytes > heldMax || s.lost.Load() != 8 {
		t.Errorf("%d bytes held and %d frames lost, want %d and 8", s.bytes, s.lost.Load(), heldMax)
	}
}

// The stage's ring, against sorting: random delays, deliveries in between.
func TestStageOrder(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 2))
	var s stage
	var model []flight
	for step := range 20_000 {
		if r.IntN(3) > 0 {
			x := flight{unit.Time(r.IntN(1000)), []byte{byte(step), byte(step >> 8), byte(r.IntN(256))}}
			s.push(x.due, x.data)
			i, _ := slices.BinarySearchFunc(model, x.due+1, func(f flight, t unit.Time) int { return int(f.due - t) })
			model = slices.Insert(model, i, x)
			continue
		}
		now := unit.Time(r.IntN(1000))
		frames := s.due(now)
		n := 0
		for n < min(Batch, len(model)) && model[n].due <= now {
			n++
		}
		if len(frames) != n {
			t.Fatalf("seed %d: step %d: %d frames are due, want %d", seed, step, len(frames), n)
		}
		for i, f := range frames {
			if !bytes.Equal(f, model[i].data) {
				t.Fatalf("seed %d: step %d: frame %d is % x, want % x", seed, step, i, f, model[i].data)
			}
		}
		k := r.IntN(n + 1)
		s.done(k)
		model = model[k:]
	}
}

// await waits until ok, which nothing signals.
func (b *bed) await(ok func() bool, what string) {
	b.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited in vain for %s", what)
		}
	}
}

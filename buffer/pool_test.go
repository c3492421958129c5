package buffer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
)

// lentFrame is the model's view of a frame that the pool lent: which slot's bytes
// it shares.
type lentFrame struct {
	f    *Frame
	slot int // number of the Get
}

// TestPoolAgainstModel lends, copies and puts back at random. The model is the
// list of lent frames: a slot is free if none of them shares it.
func TestPoolAgainstModel(t *testing.T) {
	const slots, copies, slotBytes = 5, 7, 64
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := NewPool(slots, slots, copies, slotBytes)
	var lent []lentFrame
	sharers := func(slot int) (n int) {
		for _, l := range lent {
			if l.slot == slot {
				n++
			}
		}
		return n
	}
	used := func() int {
		set := make(map[int]bool)
		for _, l := range lent {
			set[l.slot] = true
		}
		return len(set)
	}
	copied := func() (n int) {
		for _, l := range lent {
			if l.f != l.f.Orig() {
				n++
			}
		}
		return n
	}
	for step := range 20000 {
		fatalf := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, step %d: "+format, append([]any{seed, step}, args...)...)
		}
		switch k := rng.IntN(4); {
		case k == 0:
			f := p.Get()
			if (f != nil) != (used() < slots) {
				fatalf("Get = %p with %d of %d slots used", f, used(), slots)
			}
			if f == nil {
				break
			}
			if len(f.Data) != 0 || cap(f.Data) != slotBytes || f.Charged || f.Control || f.Orig() != f || f.next != nil {
				fatalf("Get lent a frame that is not fresh: %+v", f)
			}
			f.Data = append(f.Data, byte(step), byte(step>>8), byte(step>>16))
			f.Len, f.Charged = 3, true
			lent = append(lent, lentFrame{f, step})
		case k == 1 && len(lent) > 0:
			l := lent[rng.IntN(len(lent))]
			c := p.Copy(l.f)
			if want := copied() < copies; (c != nil) != want {
				fatalf("Copy = %p with %d of %d copies out", c, copied(), copies)
			}
			if c != nil {
				lent = append(lent, lentFrame{c, l.slot})
			}
		case len(lent) > 0:
			i := rng.IntN(len(lent))
			l := lent[i]
			lent = slices.Delete(lent, i, i+1)
			if got, want := p.Put(l.f), sharers(l.slot) == 0; got != want {
				fatalf("Put = %v, but %d others share the slot", got, sharers(l.slot))
			}
		}
		if p.Free() != slots-used() || p.Slots() != slots {
			fatalf("Free = %d of %d, but %d are used", p.Free(), p.Slots(), used())
		}
		for _, l := range lent {
			if want := []byte{byte(l.slot), byte(l.slot >> 8), byte(l.slot >> 16)}; !slices.Equal(l.f.Data, want) {
				fatalf("a frame of slot %d reads %x, want %x", l.slot, l.f.Data, want)
			}
			if got, want := p.Shared(l.f), sharers(l.slot) > 1; got != want {
				fatalf("Shared = %v, want %v", got, want)
			}
			if l.f.Len != 3 || !l.f.Orig().Charged {
				fatalf("a frame lost its fields: %+v", l.f)
			}
		}
	}
	for _, l := range lent {
		p.Put(l.f)
	}
	if p.Free() != slots || p.ncopies != copies {
		t.Errorf("seed %d: all put back, but %d of %d slots and %d of %d copies are free", seed, p.Free(), slots, p.ncopies, copies)
	}
}

// The bytes of one slot never reach into the next, however long the frame.
func TestSlotsAreApart(t *testing.T) {
	p := NewPool(3, 3, 0, 8)
	var fs []*Frame
	for f := p.Get(); f != nil; f = p.Get() {
		f.Data = f.Data[:cap(f.Data)]
		for i := range f.Data {
			f.Data[i] = byte(len(fs))
		}
		fs = append(fs, f)
	}
	for i, f := range fs {
		for _, b := range f.Data {
			if int(b) != i {
				t.Fatalf("slot %d reads %x", i, f.Data)
			}
		}
	}
	if len(fs) != 3 {
		t.Errorf("%d slots lent, want 3", len(fs))
	}
}

func TestCopyOfACopy(t *testing.T) {
	p := NewPool(1, 1, 2, 64)
	f := p.Get()
	f.Data, f.Len, f.In = append(f.Data, 1, 2, 3), 3, 5
	c := p.Copy(f)
	d := p.Copy(c)
	if c.Orig() != f || d.Orig() != f || d.In != 5 || d.Len != 3 || &d.Data[0] != &f.Data[0] {
		t.Errorf("copy of a copy: %+v", d)
	}
	if p.Put(f) || p.Put(c) || p.Free() != 0 {
		t.Error("the slot is free while a copy is lent")
	}
	if !p.Put(d) || p.Free() != 1 {
		t.Error("the slot is not free after its last copy")
	}
}

func TestPutTwicePanics(t *testing.T) {
	p := NewPool(2, 2, 0, 64)
	f := p.Get()
	p.Put(f)
	wantPanic(t, "put back twice", func() { p.Put(f) })
}

func TestPoolAllocatesNothing(t *testing.T) {
	p := NewPool(4, 4, 4, 64)
	var q Queue
	allocs := testing.AllocsPerRun(100, func() {
		f := p.Get()
		c := p.Copy(f)
		q.Push(c)
		q.Push(f)
		p.Put(q.Pop())
		p.Put(q.Pop())
	})
	if allocs != 0 || p.Free() != 4 {
		t.Errorf("%v allocations, %d slots free; want 0, 4", allocs, p.Free())
	}
}

// TestQueueAgainstModel compares a queue with a slice.
func TestQueueAgainstModel(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := NewPool(20, 20, 0, 64)
	var (
		q        Queue
		model    []*Frame
		bytes    int
		bytesMax int
	)
	for step := range 10000 {
		switch rng.IntN(9) {
		case 0, 1, 2, 3:
			if f := p.Get(); f != nil {
				f.Len = 1 + rng.IntN(1500)
				q.Push(f)
				model = append(model, f)
				bytes += f.Len
				bytesMax = max(bytesMax, bytes)
			}
		case 4:
			if rng.IntN(20) == 0 {
				q.ClearWatermark()
				bytesMax = bytes
			}
		default:
			f := q.Pop()
			if (f == nil) != (len(model) == 0) || f != nil && (f != model[0] || f.next != nil) {
				t.Fatalf("seed %d, step %d: Pop = %p with %d frames in the queue", seed, step, f, len(model))
			}
			if f != nil {
				model = model[1:]
				bytes -= f.Len
				p.Put(f)
			}
		}
		if q.Frames() != len(model) || q.Bytes() != bytes || q.Watermark() != bytesMax {
			t.Fatalf("seed %d, step %d: %d frames, %d bytes, watermark %d; want %d, %d, %d", seed, step, q.Frames(), q.Bytes(), q.Watermark(), len(model), bytes, bytesMax)
		}
		if head := q.Head(); (head == nil) != (len(model) == 0) || head != nil && head != model[0] {
			t.Fatalf("seed %d, step %d: wrong head", seed, step)
		}
	}
}

// A pool that grows has as many slots and copies as one that does not, each with
// bytes of its own.
func TestGrowingPool(t *testing.T) {
	const slots, copies = 3000, 2500 // more than two chunks, and no multiple
	p := NewPool(0, slots, copies, 8)
	var fs []*Frame
	for f := p.Get(); f != nil; f = p.Get() {
		f.Data = append(f.Data, byte(len(fs)), byte(len(fs)>>8))
		fs = append(fs, f)
	}
	if len(fs) != slots || p.Free() != 0 || p.Slots() != slots {
		t.Fatalf("lent %d slots, %d of %d are free; want %d, none", len(fs), p.Free(), p.Slots(), slots)
	}
	for i, f := range fs {
		if got := int(f.Data[0]) | int(f.Data[1])<<8; got != i || cap(f.Data) != 8 {
			t.Fatalf("slot %d holds %d in %d bytes", i, got, cap(f.Data))
		}
	}
	var cs []*Frame
	for c := p.Copy(fs[7]); c != nil; c = p.Copy(fs[7]) {
		cs = append(cs, c)
	}
	if len(cs) != copies {
		t.Errorf("%d copies, want %d", len(cs), copies)
	}
	for _, f := range append(fs, cs...) {
		p.Put(f)
	}
	if p.Free() != slots || p.ncopies != copies {
		t.Errorf("%d slots and %d copies are free, want all", p.Free(), p.ncopies)
	}
}

// A slot is above the longest frame, and as ever where the MTU is 1500.
func TestSlotBytes(t *testing.T) {
	for n, want := range map[int]int{60: 2048, 1518: 2048, 2047: 2048, 2048: 2112, 9018: 9024, 9023: 9024, 9024: 9088, 9234: 9280} {
		if got := SlotBytes(n); got != want {
			t.Errorf("frames of %d bytes: slots of %d, want %d", n, got, want)
		}
	}
}

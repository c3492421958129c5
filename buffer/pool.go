package buffer

import "softswitch/unit"

// Pool is a fixed number of frame slots. It is not safe for
// concurrent use: its owner is the machine that lends from it.
type Pool struct {
	free   *Frame  // slots, last returned first: the one that is still in the cache
	nfree  int     // slots that can be lent, those never used included
	unused []Frame // slots that were never lent, and block their bytes
	block  []byte
	size   int // of a slot
	slots  int

	copies  *Frame // headers without bytes, for the copies of flooded frames
	ncopies int    // headers that can be lent, those not yet made included
}

// chunk is how many slots, or headers, are made at once when all that were made are lent. Chosen: 2 MiB of
// slots of the usual size, so that a switch that fills up seldom asks for memory, and any other has little.
const chunk = 1024

// NewPool makes a pool with the given numbers of slots, of slotBytes each, and of headers
// for copies. made says how many of the slots, at most all, are one block, of which the
// kernel backs only what was ever lent; the other memory is taken in chunks when it is
// needed.
func NewPool(made, slots, copies, slotBytes int) *Pool {
	p := &Pool{slots: slots, nfree: slots, size: slotBytes, ncopies: copies}
	if made > 0 {
		p.makeSlots(min(made, slots))
	}
	return p
}

// SlotBytes is the size of a slot for frames of up to n bytes, the tag included: 2048 as
// long as n is below it, else whole cache lines. It is above n, because a TAP device does
// not say that it cut a frame; a full slot does. Chosen: 2048 is the power of two above a tagged frame of an
// mtu of 1500, and a cache line has 64 bytes.
func SlotBytes(n int) int {
	const line = 64
	return max(2048, n/line*line+line)
}

func (p *Pool) makeSlots(n int) { p.unused, p.block = make([]Frame, n), make([]byte, n*p.size) }

func (p *Pool) makeCopies(n int) {
	headers := make([]Frame, n)
	for i := range headers {
		headers[i].next, p.copies = p.copies, &headers[i]
	}
}

// Get lends a slot, nil if none is free.
func (p *Pool) Get() *Frame {
	f := p.free
	switch {
	case f != nil:
		p.free, f.next = f.next, nil
	case p.nfree == 0:
		return nil
	default:
		if len(p.unused) == 0 {
			p.makeSlots(min(chunk, p.nfree))
		}
		f = &p.unused[0]
		f.Data, f.orig = p.block[0:0:p.size], f
		p.unused, p.block = p.unused[1:], p.block[p.size:]
	}
	p.nfree--
	f.refs = 1
	f.Charged, f.Uncharged, f.Control, f.Flooded, f.Waiting = false, false, false, false, unit.PortSet{}
	return f
}

// Copy makes a second frame that shares f's bytes and starts with f's fields; nil
// if no header is free. The slot stays lent until every frame that shares it was
// Put.
func (p *Pool) Copy(f *Frame) *Frame {
	if p.ncopies == 0 {
		return nil
	}
	if p.copies == nil {
		p.makeCopies(min(chunk, p.ncopies))
	}
	c := p.copies
	p.copies = c.next
	p.ncopies--
	orig := f.orig
	*c = *f
	c.orig, c.next, c.refs = orig, nil, 0
	orig.refs++
	return c
}

// Put takes back a frame. It reports whether this was the last frame that shared
// the slot, and then the slot is free: charge must be released before.
func (p *Pool) Put(f *Frame) (last bool) {
	orig := f.orig
	orig.refs--
	if f != orig {
		p.putCopy(f)
	}
	if orig.refs > 0 {
		return false
	}
	if orig.refs < 0 {
		panic("buffer: a frame was put back twice")
	}
	orig.Data = orig.Data[:0]
	orig.next, p.free = p.free, orig
	p.nfree++
	return true
}

// Shared reports whether other frames share f's bytes.
func (p *Pool) Shared(f *Frame) bool { return f.orig.refs > 1 }

// Free is the number of free slots, Slots of all.
func (p *Pool) Free() int { return p.nfree }

// SlotBytes is the size of a slot as it was made. One that an append to Frame.Data grew is larger.
func (p *Pool) SlotBytes() int { return p.size }

// Slots is the number of slots of the pool.
func (p *Pool) Slots() int { return p.slots }

func (p *Pool) putCopy(c *Frame) {
	c.Data = nil
	c.next, p.copies = p.copies, c
	p.ncopies++
}

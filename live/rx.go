package live

import (
	"errors"
	"net"

	"softswitch/buffer"
	"softswitch/link"
)

// rx is what a port reads into. It stays when the link is opened anew, so that no
// slot is lost; one rxLoop at a time uses it.
type rx struct{ lend }

func (r *rx) init() {
	r.frames, r.bytes = make([]*buffer.Frame, Batch), make([][]byte, Batch)
}

// rxLoop reads batches from l and hands them to the machine until l is closed or
// its interface is gone, or says why it cannot read any more.
func (p *port) rxLoop(l link.Link) error {
	n := p.node
	n.mu.Lock()
	n.machine.Lend(p.n, p.rx.frames)
	n.mu.Unlock()
	for {
		for i, f := range p.rx.frames {
			p.rx.bytes[i] = f.Data[:0]
		}
		got, err := l.Read(p.rx.bytes)
		if err != nil {
			switch {
			case errors.Is(err, link.ErrDown):
				continue
			case errors.Is(err, link.ErrGone), errors.Is(err, net.ErrClosed):
				return nil
			}
			return err
		}
		fs := p.rx.frames[:got]
		for i, f := range fs {
			f.Data, f.Len = p.rx.bytes[i], len(p.rx.bytes[i])
			n.opt.Machine.Parse(f)
		}
		for len(fs) > 0 {
			k := portion(fs)
			p.receive(fs[:k])
			fs = fs[k:]
		}
	}
}

// portionBytes bounds what a port hands to the machine before it lets the frames
// leave. A whole batch of long frames would fill its bucket beyond the XOFF
// threshold, and even the headroom, before the first of them could leave: pauses
// and losses without congestion. It is well below the default XOFF threshold of 40
// KiB, and short frames still go by the batch.
const portionBytes = 16 << 10

// portion is how many of the frames, at least one, are handed to the machine at once.
func portion(fs []*buffer.Frame) (n int) {
	bytes := 0
	for n < len(fs) && (n == 0 || bytes+len(fs[n].Data) <= portionBytes) {
		bytes += len(fs[n].Data)
		n++
	}
	return n
}

// receive hands frames to the machine, replaces them by empty slots, and sends what
// became ready.
func (p *port) receive(fs []*buffer.Frame) {
	n := p.node
	n.mu.Lock()
	now := n.clock()
	n.machine.Receive(now, p.n, fs)
	clear(fs)
	n.machine.Lend(p.n, fs)
	ready := n.work(now)
	n.mu.Unlock()
	n.kickAll(ready)
}

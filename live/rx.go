package live

import (
	"errors"
	"net"

	"softswitch/buffer"
	"softswitch/link"
)

// rx is what a port reads into. It stays when the link is opened anew, so that no
// slot is lost; one rxLoop at a time uses it.
type rx struct {
	lend
	portion int // bytes; the machine's
}

func (r *rx) init(portion int) {
	r.portion = portion
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
			k := p.rx.next(fs)
			p.receive(fs[:k])
			fs = fs[k:]
		}
	}
}

// next is how many of the frames, at least one, are handed to the machine at once.
func (r *rx) next(fs []*buffer.Frame) (n int) {
	bytes := 0
	for n < len(fs) && (n == 0 || bytes+len(fs[n].Data) <= r.portion) {
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

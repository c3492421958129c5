package live

import (
	"errors"
	"net"

	"softswitch/buffer"
	"softswitch/internal/timer"
	"softswitch/link"
)

// rx is what a port reads into. It stays when the link is opened anew, so that no
// slot is lost; one rxLoop at a time uses it.
type rx struct{ lend }

func (r *rx) init() {
	r.frames, r.bytes = make([]*buffer.Frame, Batch), make([][]byte, Batch)
}

// rxLoop reads batches from l and hands them to the machine until l is closed or
// its interface is gone.
func (p *port) rxLoop(l link.Link) {
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
			case !errors.Is(err, link.ErrGone) && !errors.Is(err, net.ErrClosed):
				n.opt.Warn("port %s: receives no more: %v", p.opt.Name, err)
			}
			return
		}
		fs := p.rx.frames[:got]
		for i, f := range fs {
			f.Data, f.Len = p.rx.bytes[i], len(p.rx.bytes[i])
			n.opt.Machine.Parse(f)
		}
		n.mu.Lock()
		n.machine.Receive(timer.Now(), p.n, fs)
		clear(fs)
		n.machine.Lend(p.n, fs)
		ready := n.work()
		n.mu.Unlock()
		n.kickAll(ready)
	}
}

package live

import (
	"errors"
	"net"

	"softswitch/buffer"
	"softswitch/link"
)

// rx is what a port reads into. It stays when the link is opened again, so that no
// slot is lost; one rxLoop at a time uses it.
type rx struct {
	lend
	turn *turn
}

func (r *rx) init(t *turn) {
	r.turn, r.lend = t, newLend()
}

// rxLoop reads batches from l and hands them to the machine until l is closed or
// its interface is gone, or says why it cannot read any more.
func (p *port) rxLoop(l link.Link) error {
	bufs := p.rx.bytes
	if p.node.opt.Poller != nil {
		bufs = make([][]byte, 1) // no frame comes by Read
	} else {
		p.borrow()
	}
	for since := 0; ; {
		got, err := l.Read(bufs)
		if err != nil {
			switch {
			case errors.Is(err, link.ErrDown):
				continue
			case errors.Is(err, link.ErrGone), errors.Is(err, net.ErrClosed):
				return nil
			}
			return err
		}
		p.handle(got)
		if since += got; since >= turnFrames {
			since = 0
			p.rx.turn.pass()
		}
	}
}

// borrow gets the slots to read into.
func (p *port) borrow() {
	n := p.node
	n.mu.Lock()
	n.machine.Lend(p.n, p.rx.frames)
	n.mu.Unlock()
	for i, f := range p.rx.frames {
		p.rx.bytes[i] = f.Data[:0]
	}
}

// handle hands the first got frames that were read to the machine, and readies the slots
// for the next.
func (p *port) handle(got int) {
	fs := p.rx.frames[:got]
	for i, f := range fs {
		f.Data, f.Len = p.rx.bytes[i], len(p.rx.bytes[i])
		p.node.opt.Machine.Parse(f)
	}
	for len(fs) > 0 {
		fs = fs[p.receive(fs):]
	}
	for i, f := range p.rx.frames[:got] {
		p.rx.bytes[i] = f.Data[:0]
	}
}

// receive hands frames to the machine, as many at once as it takes, replaces them by empty
// slots, and sends what became ready. It returns how many they were.
func (p *port) receive(fs []*buffer.Frame) int {
	n := p.node
	n.mu.Lock()
	now := n.clock()
	fs = fs[:n.machine.Portion(p.n, fs)]
	n.machine.Receive(now, p.n, fs)
	clear(fs)
	n.machine.Lend(p.n, fs)
	ready := n.work(now)
	n.mu.Unlock()
	n.kickAll(ready)
	return len(fs)
}

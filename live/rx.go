package live

import (
	"errors"
	"net"

	"softswitch/buffer"
	"softswitch/link"
	"softswitch/unit"
)

// rx is what a port reads into. It stays when the link is opened again, so that no
// slot is lost; one rxLoop at a time uses it.
type rx struct {
	lend
	turn *turn
	at   []unit.Time // of the frames of the batch; nil if nobody asks, or the link does not know
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
		p.rx.at = nil // of a port that is polled it stays nil
	}
	read := l.Read
	if s, ok := l.(link.Stamper); ok && p.node.stamped != nil && p.node.opt.Poller == nil {
		p.rx.at = make([]unit.Time, len(bufs))
		read = func(bufs [][]byte) (int, error) { return s.ReadStamped(bufs, p.rx.at) }
	}
	for since := 0; ; {
		got, err := read(bufs)
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
	fs, at := p.rx.frames[:got], p.rx.at
	for i, f := range fs {
		f.Data, f.Len = p.rx.bytes[i], len(p.rx.bytes[i])
		p.node.opt.Machine.Parse(f)
	}
	for len(fs) > 0 {
		n := p.receive(fs, at)
		fs = fs[n:]
		if at != nil {
			at = at[n:]
		}
	}
	for i, f := range p.rx.frames[:got] {
		p.rx.bytes[i] = f.Data[:0]
	}
}

// receive hands frames to the machine, as many at once as it takes, replaces them by empty
// slots, and sends what became ready. at, unless nil, is when they came. It returns how many they were.
func (p *port) receive(fs []*buffer.Frame, at []unit.Time) int {
	n := p.node
	n.mu.Lock()
	now := n.clock()
	fs = fs[:n.machine.Portion(p.n, fs)]
	if at != nil && n.stamped != nil {
		n.stamped.ReceiveAt(now, p.n, fs, at[:len(fs)])
	} else {
		n.machine.Receive(now, p.n, fs)
	}
	clear(fs)
	n.machine.Lend(p.n, fs)
	ready := n.work(now)
	n.mu.Unlock()
	n.kickAll(ready)
	return len(fs)
}

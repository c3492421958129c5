package live

import (
	"time"

	"softswitch/link"
	"softswitch/unit"
)

// setLink follows an interface: it reports the state to the machine, and opens an
// interface that came back under its name.
func (n *Node) setLink(s LinkState) {
	for _, p := range n.ports {
		if p.opt.Name == s.Name {
			p.setLink(s)
		}
	}
}

func (p *port) setLink(s LinkState) {
	p.change.Lock()
	defer p.change.Unlock()
	p.told++
	p.linkMu.Lock()
	stale := p.index != 0 && p.index != s.Index || p.link != nil && s.Index == 0 // which may be known only now
	missing := p.link == nil && s.Index != 0
	if p.index == 0 && p.link != nil {
		p.index = s.Index
	}
	p.linkMu.Unlock()
	if stale {
		p.closeLink()
	}
	up := s.Running && s.Index != 0
	if p.told > 1 && up != p.running {
		p.node.opt.Tell("port %s: its %s", p.opt.Name, carrier(s))
	}
	p.running = up
	if !up {
		p.cutWire()
	}
	if up && (stale || missing) {
		if err := p.begin(s.Index); err != nil {
			p.node.opt.Warn("port %s: %v", p.opt.Name, err)
			up = false
			told := p.told
			p.node.loops.Go(func() { p.retry(s.Index, told) })
		}
	}
	p.node.Do(func(now unit.Time) {
		if s.Index != 0 && !p.opt.KeepMAC {
			p.node.machine.SetMAC(p.n, s.MAC)
		}
		p.node.machine.SetLink(now, p.n, up)
	})
}

// carrier says what became of an interface.
func carrier(s LinkState) string {
	switch {
	case s.Index == 0:
		return "interface is gone"
	case !s.Running:
		return "carrier is gone"
	}
	return "carrier is there"
}

// begin opens the port's interface and starts reading from it. Preconditions: p.change
// is held.
func (p *port) begin(index int) error {
	if err := p.open(index); err != nil {
		return err
	}
	if err := p.hear(); err != nil {
		p.closeLink()
		return err
	}
	p.read()
	return nil
}

// open opens the port's interface. Preconditions: p.change is held.
func (p *port) open(index int) error {
	var l link.Link
	err := p.node.opt.Within(func() (err error) {
		l, err = p.node.opt.Open(p.opt)
		return err
	})
	if err != nil {
		return err
	}
	p.linkMu.Lock()
	p.link, p.index, p.done, p.counting = l, index, nil, l
	p.linkMu.Unlock()
	p.opened = time.Now()
	return nil
}

// hear makes the link receive frames.
func (p *port) hear() error {
	if l, ok := p.current().(link.Hearer); ok {
		return l.Hear()
	}
	return nil
}

// read starts reading from the link, unless it has gone. Preconditions: p.change is held.
func (p *port) read() {
	l := p.current()
	if l == nil {
		return
	}
	done := make(chan struct{})
	p.linkMu.Lock()
	p.done = done
	p.linkMu.Unlock()
	p.node.loops.Go(func() {
		err := p.rxLoop(l)
		close(done)
		if err != nil {
			p.reopen(l, err)
		}
	})
	if p.opt.Polled {
		p.node.opt.Poller.add(p, l.(link.Poller))
	}
}

// reopenEvery is the shortest time between two attempts to open a link that cannot be
// opened, or not be read.
const reopenEvery = time.Second

// retry opens the interface that setLink, told of the port for the told-th time, could not open,
// once it can be, unless setLink is told of the port again.
func (p *port) retry(index, told int) {
	n := p.node
	p.change.Lock()
	defer p.change.Unlock()
	for {
		p.change.Unlock()
		n.sleep(reopenEvery)
		p.change.Lock()
		if n.over() || p.told != told || p.current() != nil {
			return
		}
		err := p.begin(index)
		if err == nil {
			n.Do(func(now unit.Time) { n.machine.SetLink(now, p.n, true) })
			return
		}
		n.opt.Warn("port %s: %v", p.opt.Name, err)
	}
}

// reopen opens the port's link again after reading l failed with cause, if l is still
// the port's link. If it was opened just now, or opening fails, the port is down in the
// meantime.
func (p *port) reopen(l link.Link, cause error) {
	n := p.node
	n.opt.Warn("port %s: receives no more and is reopened: %v", p.opt.Name, cause)
	p.change.Lock()
	defer p.change.Unlock()
	p.linkMu.Lock()
	mine, index := p.link == l, p.index
	p.linkMu.Unlock()
	if !mine {
		return
	}
	p.closeLink()
	for wait := reopenEvery - time.Since(p.opened); ; wait = reopenEvery {
		if wait > 0 {
			n.Do(func(now unit.Time) { n.machine.SetLink(now, p.n, false) })
			p.change.Unlock()
			n.sleep(wait)
			p.change.Lock()
			if n.over() || p.current() != nil { // no longer needed, or opened by someone else
				return
			}
		}
		if err := p.begin(index); err != nil {
			n.opt.Warn("port %s: %v", p.opt.Name, err)
			continue
		}
		p.linkMu.Lock()
		p.total.Reopened++
		p.linkMu.Unlock()
		n.Do(func(now unit.Time) { n.machine.SetLink(now, p.n, p.running) })
		return
	}
}

// closeLink closes the port's link, if it has one, and waits until nothing reads from
// it any more. Preconditions: p.change is held.
func (p *port) closeLink() {
	p.linkMu.Lock()
	l, done := p.link, p.done
	p.link, p.index = nil, 0
	p.linkMu.Unlock()
	if l == nil {
		return
	}
	if p.opt.Polled {
		p.node.opt.Poller.drop(p)
	}
	l.Close()
	if done != nil {
		<-done
	}
	last := l.Stats()
	p.linkMu.Lock()
	p.total, p.counting = addStats(p.total, last), nil
	p.linkMu.Unlock()
}

// current is the port's link, nil while the interface is gone.
func (p *port) current() link.Link {
	p.linkMu.Lock()
	defer p.linkMu.Unlock()
	return p.link
}

package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

const (
	// pollBatch is the most frames that a Poller fetches from a port before it looks at the
	// next one.
	pollBatch = 16
	// followMax is the most hops that a Poller follows a pause before it looks at other ports.
	followMax = 16
	// logEvery is how often a Poller looks at what can wait.
	logEvery = 5 * unit.Millisecond
)

// Poller fetches the frames and keeps the deadlines of all ports of the nodes of a process,
// in turn, in one goroutine that never waits. It keeps a processor busy, and no frame or
// deadline has to wake anyone.
type Poller struct {
	mu    sync.Mutex // held for a sweep
	ports []*port    // guarded by mu
	nodes []*Node    // guarded by mu: of those ports
	turn  int        // guarded by mu: the node that sent last, of those that owed no pause
	sent  *port      // guarded by mu: sent last, and nothing came since
}

// polled is what a port's Poller knows of it.
type polled struct {
	from link.Poller
	// far is where frames of the port came last, nil if that is not known: where to look
	// first when it has sent some.
	far *port
}

// Run sweeps until ctx ends. A thread that never sleeps had better not have a real-time priority:
// see docs/decisions/polling.md.
func (l *Poller) Run(ctx context.Context) {
	var logged unit.Time
	for ctx.Err() == nil {
		now := timer.Now()
		l.sweep(now)
		if now-logged >= logEvery {
			l.log()
			logged = now
		}
	}
}

// sweep looks at every port once, and has one of those that are ready send. A node that got a
// pause that it has to pass on does so before any other port is looked at, and the port that
// receives it is looked at next: so a label goes its way while data and other pauses wait.
func (l *Poller) sweep(now unit.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.ports {
		if p.tx.due.Load() <= int64(now) {
			p.node.ready.add(p.n.Set())
		}
		l.follow(l.fetch(p))
	}
	l.follow(l.next())
}

// follow looks at the far end of a port that has sent, and so on.
func (l *Poller) follow(sent *port) {
	for hops := 0; hops < followMax && sent != nil && sent.polled.far != nil; hops++ {
		sent = l.fetch(sent.polled.far)
	}
}

// fetch takes what arrived at a port. It returns the port by which the node sent a pause or a
// message then, nil if none.
func (l *Poller) fetch(p *port) (sent *port) {
	n := p.node
	if n.frozen {
		return nil
	}
	got := p.polled.from.Poll(p.rx.bytes[:pollBatch])
	if got == 0 {
		return nil
	}
	if l.sent != nil {
		l.sent.polled.far, l.sent = p, nil
	}
	p.handle(got)
	if n.ready.load().And(n.urgent.load()).Empty() {
		return nil
	}
	return l.send(n)
}

// next has a port send: one that owes a pause or a message, or else one of the node whose turn
// it is. It returns the port, nil if none is ready.
func (l *Poller) next() *port {
	turn := -1
	for i := range l.nodes {
		at := (l.turn + 1 + i) % len(l.nodes)
		n := l.nodes[at]
		ready := n.ready.load()
		switch {
		case ready.Empty() || n.frozen:
		case !ready.And(n.urgent.load()).Empty():
			return l.send(n)
		case turn < 0:
			turn = at
		}
	}
	if turn < 0 {
		return nil
	}
	l.turn = turn
	return l.send(l.nodes[turn])
}

// send has the first of the node's ready ports send, and returns it.
func (l *Poller) send(n *Node) *port {
	p := n.ports[n.first(n.ready.load())]
	n.ready.remove(p.n)
	budget := 2 // batches: what was left over, and what is new
	n.ready.add(p.kick(&budget))
	l.sent = p
	return p
}

// log has nodes pass on events that have waited for long.
func (l *Poller) log() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.nodes {
		if n.frozen {
			continue
		}
		n.mu.Lock()
		if now := timer.Now(); len(n.pending) > 0 && time.Duration(now-n.since) >= logIdle {
			n.since = now
			n.log.wake()
		}
		n.mu.Unlock()
	}
}

// add has the poller fetch a port's frames from a link.
func (l *Poller) add(p *port, from link.Poller) {
	p.borrow()
	l.mu.Lock()
	defer l.mu.Unlock()
	p.polled.from = from
	l.ports = append(l.ports, p)
	if !slices.Contains(l.nodes, p.node) {
		l.nodes = append(l.nodes, p.node)
	}
}

// drop ends that: the link is not touched any more when it returns.
func (l *Poller) drop(p *port) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ports = slices.DeleteFunc(l.ports, func(o *port) bool { return o == p })
	p.polled = polled{} // or it would lead, once it is back, to a port that has gone since
	for _, o := range l.ports {
		if o.polled.far == p {
			o.polled.far = nil
		}
	}
	if l.sent == p {
		l.sent = nil
	}
	if !slices.ContainsFunc(l.ports, func(o *port) bool { return o.node == p.node }) {
		l.nodes = slices.DeleteFunc(l.nodes, func(o *Node) bool { return o == p.node })
	}
}

package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/link/impair"
	"softswitch/unit"
)

// Batch is the most frames that a node reads, and writes, at once.
const Batch = 64

// Granularity is how precisely a node keeps its machine's deadlines: a paced port sends
// bursts of about this length, and each burst costs one wake-up.
const Granularity = unit.Millisecond

// Machine is what a Node runs.
type Machine interface {
	dataplane.Machine
	// SetMAC sets a port's address if the configuration leaves it to the interface.
	SetMAC(p unit.Port, m unit.MAC)
}

// StampedMachine is a Machine that is told when each frame came, where the link knows it.
type StampedMachine interface {
	Machine
	// ReceiveAt is Receive of frames that came at these points of the clock, which are not after now.
	ReceiveAt(now unit.Time, in unit.Port, fs []*buffer.Frame, at []unit.Time)
}

// Options are the settings of a node.
type Options struct {
	Machine Machine
	// Ports are the interfaces, in the machine's order.
	Ports []Port
	// Open opens an interface; nil means AF_PACKET in this namespace.
	Open func(p Port) (link.Link, error)
	// Within runs fn on a thread in the network namespace of the interfaces, where Open and
	// Watch find them; nil means that this process is there.
	Within func(fn func() error) error
	// Poller, unless nil, fetches the node's frames and keeps its deadlines; Open has to
	// return links that are a link.Poller.
	Poller *Poller
	// Look asks for link states once. nil means netlink in the namespace, or, with another Watch, that
	// the node knows nothing of its links before Watch tells it.
	Look func(names []string) ([]LinkState, error)
	// Watch reports link states, from one goroutine, until ctx ends; it returns then,
	// or on a fatal error. It begins with those of all interfaces. nil means netlink in the namespace.
	Watch func(ctx context.Context, names []string, update func(LinkState)) error
	// Farewell, unless nil, is the last frame of a port, nil for none. It is asked for when Run ends, with
	// exclusive use of the machine, and not of a node that has crashed.
	Farewell func(p unit.Port) []byte
	// Log receives the events, in order, in batches that it must not keep; nil drops
	// them.
	Log func([]event.Event)
	// Warn receives warnings for the operator; nil drops them.
	Warn func(format string, args ...any)
	// Tell receives, for the operator, that a carrier went or came; nil drops it.
	Tell func(format string, args ...any)
}

// Port is an interface of a node.
type Port struct {
	Name string
	// KeepMAC says that the configuration sets the port's address.
	KeepMAC bool
	// FacesHost says that the far end is a host, whose pauses no loop goes through.
	FacesHost bool
	// RingBytes is the size of its receive ring; 0 means the usual one.
	RingBytes int
	// MTU is what the interface has to have at least, in bytes; 0 means 1500, which is not
	// asked for.
	MTU int
	// Wire is what the wire from the port does to frames; Seed, and Stream among wires of
	// one seed, name its random numbers.
	Wire         impair.Faults
	Seed, Stream uint64
	// Crowded says that the process has the ports of many nodes.
	Crowded bool
	// Polled says that a Poller fetches the frames.
	Polled bool
	// offload tells that the far end leaves frames to be finished: see link.Options. Set by New.
	offload func()
}

// LinkState is the state of an interface.
type LinkState struct {
	Name    string
	Index   int // 0: the interface is gone
	Running bool
	MAC     unit.MAC
}

// Node is a machine that runs on links. New makes one; Run runs it once.
type Node struct {
	opt   Options
	ports []*port
	inner unit.PortSet // those that do not face a host
	log   logger
	// stamped is the machine, if it is told when each frame came; guarded by mu.
	stamped StampedMachine

	mu      sync.Mutex
	machine Machine       // guarded by mu
	pending []event.Event // guarded by mu: not yet taken by the logger
	since   unit.Time     // guarded by mu: when the first of them happened, or the logger was last woken
	lost    uint64        // guarded by mu: events dropped because the logger was too slow
	due     unit.Time     // guarded by mu: when to call appoint, unit.Never for never
	appoint func()        // guarded by mu: see Appoint

	// urgent is the machine's urgent ports as of the last work: a hint to kickAll,
	// which may find it outdated.
	urgent atomicPorts

	// ready are ports that have something to send, for opt.Poller.
	ready  atomicPorts
	frozen bool // guarded by opt.Poller.mu, unless that is nil: the Poller leaves the node alone

	loops sync.WaitGroup // the goroutines of rxLoop and txLoop
	ended chan struct{}  // closed when the links are about to be closed at the end
}

// port is a port's live side.
type port struct {
	node *Node
	n    unit.Port
	opt  Port

	// change is held while the link is opened or closed, and guards what only those
	// use.
	change  sync.Mutex
	running bool      // guarded by change: the interface is running, according to Watch
	told    int       // guarded by change: how often Watch has told of the interface
	opened  time.Time // guarded by change: when the link was opened

	linkMu   sync.Mutex
	link     link.Link     // guarded by linkMu; nil while the interface is gone
	index    int           // guarded by linkMu: the interface that link was opened on
	done     chan struct{} // guarded by linkMu: closed when link's rxLoop has ended; nil before it begins
	counting link.Link     // guarded by linkMu: the link whose statistics are not in total yet; nil for none
	total    link.Stats    // guarded by linkMu: of closed links

	rx     rx
	tx     tx
	polled polled // guarded by opt.Poller.mu of the node
}

// New makes a node. It does not open anything.
func New(opt Options) (*Node, error) {
	if len(opt.Ports) != opt.Machine.Ports() {
		return nil, fmt.Errorf("live: %d interfaces for a machine of %d ports", len(opt.Ports), opt.Machine.Ports())
	}
	if opt.Open == nil {
		opt.Open = OpenPacket
	}
	if opt.Within == nil {
		opt.Within = here
	}
	if opt.Watch == nil {
		opt.Look = func(names []string) ([]LinkState, error) { return lookNetlink(opt.Within, names) }
		opt.Watch = func(ctx context.Context, names []string, update func(LinkState)) error {
			return watchNetlink(ctx, opt.Within, names, update)
		}
	}
	if opt.Warn == nil {
		opt.Warn = func(string, ...any) {}
	}
	if opt.Tell == nil {
		opt.Tell = func(string, ...any) {}
	}
	n := &Node{opt: opt, machine: opt.Machine, due: unit.Never, ended: make(chan struct{})}
	n.stamped, _ = opt.Machine.(StampedMachine)
	n.ready.init(len(opt.Ports))
	n.urgent.init(len(opt.Ports))
	n.log.init(opt.Log)
	n.pending = make([]event.Event, 0, eventsFirst)
	for i, po := range opt.Ports {
		po.Polled = opt.Poller != nil
		po.offload = sync.OnceFunc(func() {
			n.loops.Go(func() { // who reads does not wait for an operator
				opt.Warn("port %s: its far end offloads: it leaves checksums, or the cutting of TCP and UDP, to a NIC; the port does both and counts such frames as offloaded", po.Name)
			})
		})
		p := &port{node: n, n: unit.Port(i), opt: po}
		if err := p.init(); err != nil {
			n.close()
			return nil, err
		}
		n.ports = append(n.ports, p)
		if !po.FacesHost {
			n.inner.Add(p.n)
		}
	}
	return n, nil
}

func (p *port) init() error {
	var t *timer.Timer
	var u *turn
	if !p.opt.Polled {
		var err error
		if t, err = timer.New(); err != nil {
			return err
		}
		if u, err = newTurn(); err != nil {
			t.Close()
			return err
		}
	}
	p.rx.init(u)
	p.tx.init(t)
	p.tx.stage.init(p.opt)
	return nil
}

// Open opens every interface, and begins to read when all are open and the machine knows which links
// are up: what is read before that would be lost for want of a link that is there. If one fails, it
// returns the error and leaves none open.
func (n *Node) Open() error {
	if err := n.openAll(); err != nil {
		n.close()
		return err
	}
	return nil
}

func (n *Node) openAll() error {
	for _, p := range n.ports {
		p.change.Lock()
		err := p.open(0)
		p.change.Unlock()
		if err != nil {
			return err
		}
	}
	var states []LinkState
	if n.opt.Look != nil {
		var err error
		if states, err = n.opt.Look(n.names()); err != nil {
			return err
		}
	}
	for _, p := range n.ports { // before anything is sent: the far end answers
		if err := p.hear(); err != nil {
			return err
		}
	}
	for _, s := range states {
		n.setLink(s)
	}
	for _, p := range n.ports {
		p.change.Lock()
		p.read()
		p.change.Unlock()
	}
	return nil
}

// Run runs the node until ctx ends; call Open first. It returns when every goroutine
// has ended and every event has been logged.
func (n *Node) Run(ctx context.Context) error {
	var log sync.WaitGroup
	if n.opt.Poller == nil {
		for _, p := range n.ports {
			n.loops.Go(p.txLoop)
		}
	}
	log.Go(n.log.loop(n))
	// Watch reopens links that came back. It ends before the links are closed, so that
	// it opens none after that; the logger ends when nothing can make events any more.
	err := n.opt.Watch(ctx, n.names(), n.setLink)
	n.farewell()
	n.close()
	n.loops.Wait()
	n.log.stop()
	log.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// farewell sends the last frame of each port. What the kernel has no room for is not sent.
func (n *Node) farewell() {
	if n.opt.Farewell == nil {
		return
	}
	for _, p := range n.ports {
		n.mu.Lock()
		var f []byte
		if _, crashed := n.machine.(corpse); !crashed {
			f = n.opt.Farewell(p.n)
		}
		n.mu.Unlock()
		if f != nil {
			p.tx.mu.Lock()
			p.offer([][]byte{f})
			p.tx.mu.Unlock()
		}
	}
}

// Close closes what Open opened, for a node that will not run after all, and releases those who wait in Sync.
func (n *Node) Close() {
	n.close()
	n.loops.Wait()
	n.log.stop()
}

// Do calls fn with exclusive use of the machine, and then sends on the ports that fn
// made ready.
func (n *Node) Do(fn func(now unit.Time)) {
	n.mu.Lock()
	now := n.clock()
	fn(now)
	ready := n.work(now)
	n.mu.Unlock()
	n.kickAll(ready)
}

// Appoint schedules fn to be called with exclusive use of the machine, showing its
// state at the instant at: after everything that happens to it before, and before
// anything that happens from then on. fn must only read. An idle node calls it when it
// next has something to do, or at the next Do. There is one appointment; a later call
// replaces it. It returns false, and changes nothing, if the instant has passed.
func (n *Node) Appoint(at unit.Time, fn func()) (ok bool) {
	n.Do(func(now unit.Time) {
		if ok = now < at; ok {
			n.due, n.appoint = at, fn
		}
	})
	return ok
}

// clock returns the time, after any appointment that is due. Preconditions: n.mu is
// held, and the machine's next action happens at that time.
func (n *Node) clock() unit.Time {
	now := timer.Now()
	if now >= n.due {
		n.due = unit.Never
		n.appoint()
	}
	return now
}

// Sync returns when every event that happened before the call has been passed to Log.
// The node must be running.
func (n *Node) Sync() {
	done := make(chan struct{})
	select {
	case n.log.sync <- done:
		<-done
	case <-n.log.close:
	}
}

// Lateness is the longest time by which the node missed a deadline of its machine, or
// for which a frame waited to be read: how long it was starved of a processor.
func (n *Node) Lateness() (worst unit.Time) {
	for _, p := range n.ports {
		worst = max(worst, unit.Time(p.tx.late.Load()), n.Stats(p.n).Waited)
	}
	return worst
}

// Stats are the link statistics of a port, summed over all links that it had. It asks
// the kernel, which may take its time: do not call it inside Do.
func (n *Node) Stats(p unit.Port) link.Stats {
	q := n.ports[p]
	q.linkMu.Lock()
	s, l := q.total, q.counting
	q.linkMu.Unlock()
	if l != nil {
		s = addStats(s, l.Stats())
	}
	s.Lost = q.tx.lost.Load()
	return s
}

// AllStats are the link statistics of all ports.
func (n *Node) AllStats() []link.Stats {
	return lists.Map(n.ports, func(p *port) link.Stats { return n.Stats(p.n) })
}

// EventsLost is the number of events that were not logged because the log was too slow.
func (n *Node) EventsLost() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lost
}

func (n *Node) names() []string {
	return lists.Map(n.ports, func(p *port) string { return p.opt.Name })
}

// eventsFirst is for how many events there is room from the beginning.
const eventsFirst = 256

// eventsMax limits the events waiting for the logger.
const eventsMax = 1 << 18

// work collects what the machine has to do at now. Preconditions: n.mu is held.
func (n *Node) work(now unit.Time) unit.PortSet {
	had := len(n.pending)
	var ready unit.PortSet
	ready, n.pending = n.machine.Work(n.pending)
	n.urgent.store(n.machine.Urgent())
	if len(n.pending) > eventsMax {
		n.lost += uint64(len(n.pending) - had)
		n.pending = n.pending[:had]
	}
	switch {
	case len(n.pending) == 0:
	case had == 0:
		n.since = now
		if n.opt.Poller == nil {
			n.log.idle.Reset(logIdle)
		}
	case now-n.since >= logDelay && n.opt.Poller == nil:
		n.since = now
		n.log.wake()
	}
	return ready
}

func (n *Node) close() {
	close(n.ended)
	var closing sync.WaitGroup // side by side: the kernel takes tens of milliseconds for a link
	for _, p := range n.ports {
		closing.Go(func() {
			p.change.Lock()
			p.closeLink()
			p.change.Unlock()
			if !p.opt.Polled {
				p.tx.timer.Close()
				p.rx.turn.close()
			}
		})
	}
	closing.Wait()
}

// sleep waits for d or until the node ends.
func (n *Node) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-n.ended:
	}
}

// over reports whether the links are closed at the end of the run, or about to be.
func (n *Node) over() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// handOver is how many batches a goroutine sends on other ports before it leaves the
// rest to their txLoops: one that reads from a link must get back to it before the
// link's receive ring is full (1024 frames: see ringBytes).
const handOver = 8

// kickAll sends what the ports of ready, and those that become ready by it, have to send.
func (n *Node) kickAll(ready unit.PortSet) {
	if l := n.opt.Poller; l != nil {
		n.ready.add(ready)
		return
	}
	for budget := handOver; !ready.Empty(); {
		p := n.first(ready)
		ready.Remove(p)
		ready = ready.Or(n.ports[p].kick(&budget))
	}
}

// first is which of the ready ports sends first: one that owes a pause, and of these one
// that faces a switch, the last. Each pause wakes its receiver, which then wants the
// processor too. A host passes no pause on. A switch below does, to where the frames came
// from, and that ends at hosts. What came down from above may have come from anywhere: by
// a switch above a loop closes, and those are the last where a switch has its ports from
// the hosts up, as in topo.FatTree.
func (n *Node) first(ready unit.PortSet) unit.Port {
	urgent := ready.And(n.urgent.load())
	switch {
	case !urgent.And(n.inner).Empty():
		return urgent.And(n.inner).Last()
	case !urgent.Empty():
		return urgent.Last()
	}
	return ready.First()
}

func addStats(a, b link.Stats) link.Stats {
	waited := max(a.Waited, b.Waited)
	stat.Add(&a, &b)
	a.Waited = waited
	return a
}

// lend is a batch of slots and their bytes.
type lend struct {
	frames []*buffer.Frame
	bytes  [][]byte
}

func newLend() lend { return lend{make([]*buffer.Frame, Batch), make([][]byte, Batch)} }

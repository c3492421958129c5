package sim

import (
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/link/impair"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// checker looks at a world after each event and holds it against what must always
// be true, counted anew from the frames themselves.
type checker struct {
	t     *testing.T
	w     *World
	every int // accounts are checked after every so many events; wires after each

	paused map[int32]unit.PrioritySet // by node that is a host, from its events
	ports  []seen
	spare  []*buffer.Frame // room for the next wire
	steps  int
}

// seen is a port as it was after the event before.
type seen struct {
	sending *buffer.Frame
	sentAt  unit.Time
	wire    []*buffer.Frame
}

// checkedMax is how many events of a run are checked.
var checkedMax = testkit.Sized(25_000, 50_000)

// begun is a scenario of which nothing but the start was played yet.
func begun(t *testing.T, p *scenario.Plan, seed uint64, every int) *checker {
	t.Helper()
	c := &checker{t: t, every: every, paused: make(map[int32]unit.PrioritySet)}
	w, err := New(p, Options{Seed: seed, Detectors: detectors, Events: c.event})
	if err != nil {
		t.Fatal(err)
	}
	c.w, c.ports = w, make([]seen, len(w.ports))
	f, err := verdict.Fabric(p.Fabric, verdict.Buffers(p))
	if err != nil {
		t.Fatal(err)
	}
	w.log = recorder{replay: oracle.NewReplay(f), sink: c.event}
	w.start()
	c.check()
	return c
}

// play plays up to checkedMax events, with all checks after each.
func (c *checker) play() {
	c.t.Helper()
	s := c.w.plan.Scenario
	for c.steps < checkedMax && c.w.step(s.Duration) {
		c.steps++
		if c.check(); c.t.Failed() {
			c.t.Fatalf("%s, seed %d: after event %d at %d ns", s.Name, c.w.opt.Seed, c.steps, c.w.now)
		}
	}
}

// verdict plays the rest, and judges all.
func (c *checker) verdict() *verdict.Verdict {
	c.t.Helper()
	for c.w.step(c.w.plan.Scenario.Duration) {
	}
	if _, err := c.w.finish(); err != nil {
		c.t.Fatal(err)
	}
	return c.w.verdict()
}

// event follows which priorities of the hosts are paused.
func (c *checker) event(n event.Node, e event.Event) {
	i := int32(n.ID) - 1
	if c.w == nil || c.w.nodes[i].host == nil {
		return
	}
	set := c.paused[i]
	switch e.Type {
	case event.Paused:
		set.Add(e.OutPriority)
	case event.Resumed, event.Expired:
		set &^= 1 << e.OutPriority
	}
	c.paused[i] = set
}

func (c *checker) check() {
	for p := range c.w.ports {
		c.checkDeparture(int32(p))
		c.checkWire(int32(p))
	}
	if c.steps%c.every == 0 {
		c.checkSlots()
		for i := range c.w.nodes {
			if c.w.nodes[i].sw != nil {
				c.checkBytes(&c.w.nodes[i])
			}
		}
	}
}

// checkDeparture: a port sends one frame after the other, each for its time, and
// none of a priority that is paused.
func (c *checker) checkDeparture(p int32) {
	q, was := &c.w.ports[p], &c.ports[p]
	if q.sending == was.sending && q.sentAt == was.sentAt {
		return
	}
	if f := q.sending; f != nil {
		if c.w.now < was.sentAt || q.sentAt != c.w.now+q.rate.FrameTime(f.Len) {
			c.t.Errorf("port %d sends %d bytes until %d ns, and sent until %d before", p, f.Len, q.sentAt, was.sentAt)
		}
		n := &c.w.nodes[q.node]
		if n.stopped || n.dead {
			c.t.Errorf("port %d sends although its node does nothing", p)
		}
		c.checkPaused(q, n, f)
	}
	was.sending, was.sentAt = q.sending, q.sentAt
}

func (c *checker) checkPaused(q *port, n *node, f *buffer.Frame) {
	switch {
	case n.sw != nil && !f.Control && n.sw.QueuePaused(q.n, f.OutPriority):
		c.t.Errorf("%s sends a frame of priority %d by port %d, which is paused", n.name.Name, f.OutPriority, q.n)
	case n.host != nil && !impair.IsControl(f.Data) && c.paused[q.node].Has(unit.Priority(f.Data[15]>>5)):
		c.t.Errorf("%s sends a frame of DSCP %d, which is paused", n.name.Name, f.Data[15]>>2)
	}
}

// checkWire: what is on a wire keeps its order and its distance; one frame at most
// has arrived, unless the link was cut.
func (c *checker) checkWire(p int32) {
	q, was := &c.w.ports[p], &c.ports[p]
	now := c.spare[:0]
	last := unit.Time(0)
	for i := range q.in.n {
		x := q.in.ring[(q.in.head+i)%len(q.in.ring)]
		if now = append(now, x.f); i > 0 && x.at < last+q.rate.FrameTime(x.f.Len) {
			c.t.Errorf("a frame of %d bytes arrives at port %d %d ns after another", x.f.Len, p, x.at-last)
		}
		last = x.at
	}
	if n := len(was.wire); n > 0 && len(now) > 0 {
		kept := slices.Index(was.wire, now[0])
		switch {
		case kept < 0 && q.up && n > 1:
			c.t.Errorf("port %d: %d frames are gone from the wire", p, n)
		case kept > 1, kept >= 0 && !slices.Equal(was.wire[kept:], now[:n-kept]):
			c.t.Errorf("port %d: frames on the wire have changed places", p)
		}
	}
	was.wire, c.spare = now, was.wire
}

// checkSlots: every slot that is not free holds a frame in a queue, with a driver
// or on a wire.
func (c *checker) checkSlots() {
	used := make(map[*buffer.Frame]bool)
	for p := range c.w.ports {
		q := &c.w.ports[p]
		if q.sending != nil {
			used[q.sending.Orig()] = true
		}
		for _, f := range c.ports[p].wire {
			used[f.Orig()] = true
		}
		if sw := c.w.nodes[q.node].sw; sw != nil {
			for priority := range unit.Priority(unit.Priorities) {
				for f := sw.Queue(q.n, priority).Head(); f != nil; f = f.Next() {
					used[f.Orig()] = true
				}
			}
		}
	}
	if got := c.w.partitions[0].pool.Slots() - c.w.partitions[0].pool.Free(); got != len(used) {
		c.t.Errorf("%d slots are in use, %d frames exist", got, len(used))
	}
}

// checkBytes: the account of every priority group is the frames that are charged to it, in
// queues or handed to the driver.
func (c *checker) checkBytes(n *node) {
	type pg struct {
		port     unit.Port
		priority unit.Priority
	}
	sums := make(map[pg]int)
	counted := make(map[*buffer.Frame]bool)
	count := func(f *buffer.Frame) {
		if o := f.Orig(); o.Charged && !counted[o] {
			counted[o] = true
			sums[pg{o.In, o.InPriority}] += o.Len
		}
	}
	for p := n.first; p < n.first+n.ports; p++ {
		if q := &c.w.ports[p]; q.sending != nil {
			count(q.sending)
		}
		for priority := range unit.Priority(unit.Priorities) {
			for f := n.sw.Queue(c.w.ports[p].n, priority).Head(); f != nil; f = f.Next() {
				count(f)
			}
		}
	}
	for p := range unit.Port(n.ports) {
		for priority := range unit.Priority(unit.Priorities) {
			if got, _ := n.sw.MMU().Bytes(p, priority); got != sums[pg{p, priority}] {
				c.t.Errorf("%s: priority group (%d, %d) is charged %d bytes, its frames have %d", n.name.Name, p, priority, got, sums[pg{p, priority}])
			}
		}
	}
}

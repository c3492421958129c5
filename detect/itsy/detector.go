package itsy

import (
	"fmt"

	"softswitch/detect"
	"softswitch/internal/stat"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Names in scenario files and verdicts.
const (
	Name          = "itsy"
	NameUnchecked = "itsy-unchecked"
)

// detector is the detector of one switch.
type detector struct {
	view    detect.View
	act     detect.Actions
	self    unit.NodeID
	checked bool // check what a label proves before it is declared
	hop     unit.Time

	// deadline is no later than the first due of a blocked priority group. It may be too early, for a due
	// that was put off since: Tick computes it again.
	deadline   unit.Time
	random     stat.Rand                   // breaks ties in time between switches that are otherwise alike
	stray      stat.Rand                   // for the ways of laps, apart: no decision depends on a diagnosis
	priorities [unit.Priorities]*priority  // nil for a lossy priority
	order      []*priority                 // those that are not
	queues     detect.Queues               // scratch, for View.Stays
	flows      []detect.Flow               // scratch
	frame      [max(lapLen, questLen)]byte // scratch
}

// New makes the detector of the switch that v shows; it is a detect.Factory. It
// allocates all its state and nothing later. It panics if the switch has no number
// or more ports than unit.MaxPorts.
func New(v detect.View, a detect.Actions) detect.Detector { return newDetector(v, a, true) }

// NewUnchecked is New without the check: what a label proves is declared when it comes
// home.
func NewUnchecked(v detect.View, a detect.Actions) detect.Detector { return newDetector(v, a, false) }

func newDetector(v detect.View, a detect.Actions, checked bool) *detector {
	if v.Self() == 0 || v.Ports() < 1 || v.Ports() > unit.MaxPorts {
		panic(fmt.Sprintf("itsy: switch %d with %d ports: want a number above 0 and 1 to %d ports", v.Self(), v.Ports(), unit.MaxPorts))
	}
	d := &detector{
		view: v, act: a, self: v.Self(), checked: checked, hop: v.Hop(),
		deadline: unit.Never, random: stat.Rand(v.Self()), stray: stat.Rand(v.Self()),
	}
	for set := v.Lossless(); set != 0; set &= set - 1 {
		c := newPriority(set.First(), v.Ports(), len(d.order), v.Lossless().Len())
		d.priorities[c.id], d.order = c, append(d.order, c)
	}
	return d
}

func (d *detector) Name() string {
	if d.checked {
		return Name
	}
	return NameUnchecked
}

func (d *detector) StateBytes() (n int) {
	for _, c := range d.order {
		n += c.size()
	}
	return n
}

// XOFF ignores a priority group that pauses a host: nothing waits behind a host.
func (d *detector) XOFF(now unit.Time, b detect.PG, _ detect.Queue) {
	c := d.priorities[b.Priority]
	if d.view.FacesHost(b.Port) {
		return
	}
	c.xoff.Add(b.Port)
	c.in[b.Port].blame = d.findTrigger(now, c, b.Port)
	// An XOFF is always a new wait of its upstream, so it mints whatever is published here, a declared label
	// included.
	if d.block(now, c, b.Port) {
		d.mint(c, b.Port, unit.NoPort)
	}
}

func (d *detector) XON(now unit.Time, b detect.PG) {
	c := d.priorities[b.Priority]
	if !c.xoff.Has(b.Port) {
		return
	}
	d.released(now, c, b.Port)
	c.xoff.Remove(b.Port)
	c.forget(b.Port)
	// Verifications need no grant from here: the upstream learns of it by the resume, which leaves before any
	// acknowledgement that is sent from now on.
	d.disengage(c, b.Port)
}

// Enqueue is called for every frame that is charged. It matters if the priority group is XOFF and
// the queue paused: a wait formed, or grew.
func (d *detector) Enqueue(now unit.Time, b detect.PG, q detect.Queue, f detect.FlowID, bytes int) {
	c := d.priorities[q.Priority]
	d.queued(now, c, b.Port, q.Port, bytes)
	c.out[q.Port].see(now, f)
	// What waits in a queue that may send is on its way out, and keeps nobody.
	if !c.paused.Has(q.Port) {
		return
	}
	if c.xoff.Has(b.Port) {
		// The View has this frame already. If there is no other of b in q, b waits for q from now on.
		first := d.view.Held(b, q) == bytes
		d.waits(now, c, b.Port, q.Port, d.published(c, b.Port), first)
	}
	d.lookAtPool(now)
}

// lookAtPool acts on the waits that formed through what others have in paused queues of the pool. With
// thresholds that no other priority group moves, a wait forms through bytes of the priority group itself, and
// Enqueue, Pause and XOFF see it.
func (d *detector) lookAtPool(now unit.Time) {
	if !d.view.Shares() {
		return
	}
	for _, c := range d.order {
		for set := c.xoff.Without(c.blocked); !set.Empty(); set.Pop() {
			d.waits(now, c, set.First(), unit.NoPort, label{}, false)
		}
	}
}

// Empty forgets who paused the queue: they are not to blame for what waits there later.
func (d *detector) Empty(_ unit.Time, q detect.Queue) { d.priorities[q.Priority].out[q.Port].forget() }

// Pause takes the label that came with a pause. A host's pause carries nothing that
// is believed.
func (d *detector) Pause(now unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	c := d.priorities[q.Priority]
	if d.view.FacesHost(q.Port) {
		c.stopped.Add(q.Port)
		c.out[q.Port].paused(now, newTrigger(d.at(q.Port), true), 255)
		return
	}
	l := parseLabel(t)
	c.out[q.Port].paused(now, l.trigger, t.Hops)
	old := c.lab[q.Port]
	// A refresh that says nothing new makes no wait. Most calls are such: by default a pause is repeated
	// three times or more while it lasts (config.DefaultRefresh).
	if !fresh && l == old {
		d.lookAtPool(now) // what left a headroom meanwhile counts too
		return
	}
	c.paused.Add(q.Port)
	// Before the priority groups are looked at, so that what they mint outranks l.
	c.see(l.rank())
	for set := c.xoff; !set.Empty(); set.Pop() {
		i := set.First()
		if d.view.Held(c.pg(i), q) == 0 {
			continue
		}
		// What i published before this pause: the label of the queue is put back for a moment.
		c.lab[q.Port] = old
		was := d.published(c, i)
		c.lab[q.Port] = l
		if was.id() == old.id() && l.less(old) && d.isStale(c, i, old, l) {
			d.mint(c, i, unit.NoPort)
		} else {
			d.waits(now, c, i, q.Port, was, fresh)
			d.absorbs(c, i, q.Port, l)
		}
	}
	c.lab[q.Port] = l
	d.lookAtPool(now)
}

// Resume forgets what the pause said. A priority group that had published it and is still
// blocked starts again with a label of its own: what it published is stale, and stands in the
// way of others. So does one that has declared a deadlock by this queue, or got its label
// home by it: it may be on another loop that stays.
func (d *detector) Resume(now unit.Time, q detect.Queue, _ bool) {
	c := d.priorities[q.Priority]
	c.out[q.Port].resumed(now)
	if d.view.FacesHost(q.Port) {
		c.stopped.Remove(q.Port)
		return
	}
	// Who published the label of this queue can be told only as long as it is there.
	var waiting, stale unit.PortSet
	for set := c.blocked; !set.Empty(); set.Pop() {
		if i := set.First(); d.view.Held(c.pg(i), q) > 0 {
			waiting.Add(i)
			if d.published(c, i).id() == c.lab[q.Port].id() {
				stale.Add(i)
			}
		}
	}
	c.paused.Remove(q.Port)
	c.lab[q.Port] = label{}
	d.release(c, q.Port)
	for ; !waiting.Empty(); waiting.Pop() {
		i := waiting.First()
		d.block(now, c, i)
		switch {
		// The next wait is a new one even if it is said to be declared. Otherwise rings that open for a frame
		// and close again are missed: 4 in 15,000 cases with expiry (docs/detection.md, "Which rules are
		// needed").
		case !c.blocked.Has(i):
			c.freed.Add(i)
		// It may be on a second loop. Without this case 1 deadlock of 186,205 was missed; with stale alone
		// the proof finds a miss (same place).
		case c.done.Has(i) && (stale.Has(i) || c.in[i].declared == q.Port):
			d.revive(now, c, i)
		case c.done.Has(i):
			d.lookAfter(now, c, i)
		case stale.Has(i):
			d.mint(c, i, unit.NoPort)
		}
	}
	d.leavePool(now)
}

// leavePool looks at the priority groups that may have been blocked by what others had in a queue of the
// pool that is paused no more. One that is blocked still may be stuck without that, which it was
// not told before: it verifies soon.
func (d *detector) leavePool(now unit.Time) {
	if !d.view.Shares() {
		return
	}
	for _, c := range d.order {
		for set := c.blocked; !set.Empty(); set.Pop() {
			i := set.First()
			switch d.block(now, c, i); {
			case !c.blocked.Has(i):
				c.freed.Add(i)
			case !c.done.Has(i):
				d.hurry(now, c, i)
			}
		}
	}
}

// waits acts on a wait of priority group i for the paused queue p that is new, or has grown, or
// for a p with another label. was is what i published before. A new wait gets a new
// label, unless it is for a deadlock that was declared and i is not known to have been
// freed since it went XOFF.
//
// Invariant: a priority group that publishes a label which is not declared has had no new wait since it saw
// it. The check rests on that. Without the exception for declared ones nothing is missed, but there are 3.7
// times as many declarations (docs/detection.md, "Which rules are needed").
func (d *detector) waits(now unit.Time, c *priority, i, p unit.Port, was label, fresh bool) {
	became := d.block(now, c, i)
	switch {
	case !c.blocked.Has(i):
		return
	case c.done.Has(i):
		d.lookAfter(now, c, i)
		return
	}
	is := d.published(c, i)
	switch {
	case (became || fresh) && (!is.has(flagDone) || c.freed.Has(i)):
		d.mint(c, i, p)
	// Without a pause ahead of time the label would go on with the next refresh, and a lap would last a
	// refresh for each of its links instead of a hop.
	case was.less(is) || c.unannounced(i, is):
		d.trace(detect.StepForward, c, p, i, is)
		d.act.Repause(c.pg(i))
	}
	d.home(now, c, i, p)
}

// absorbs logs that priority group i does not pass on the label l, which reached queue p: it has a
// greater one.
func (d *detector) absorbs(c *priority, i, p unit.Port, l label) {
	if c.blocked.Has(i) && !l.isNone() && l.owner() != d.at(i) && d.published(c, i).id() != l.id() {
		d.trace(detect.StepDrop, c, p, i, l)
	}
}

// isStale reports whether priority group i goes on publishing the label old although the queue
// that brought it now says less, l: it comes by another queue too. If the way to its
// owner was that one queue, the label goes round a loop that i is on, kept alive by
// nothing but itself, and hides the labels of the loop. Where l says that a deadlock was
// declared the loop is that one. Without this 1 of 6,241 deadlocks was missed (TestStaleLabel).
func (d *detector) isStale(c *priority, i unit.Port, old, l label) bool {
	return !l.has(flagDone) && old.owner() != d.at(i) && d.published(c, i).id() == old.id()
}

// unannounced reports whether l, which priority group i publishes, has a flag that the last pause
// frame had not.
func (c *priority) unannounced(i unit.Port, l label) bool {
	return l.has(flagProof) && !c.proved.Has(i) || l.has(flagDone) && !c.settled.Has(i)
}

func (d *detector) trace(s detect.Step, c *priority, p, i unit.Port, l label) {
	t := l.tlv()
	t.Priority = c.id
	d.act.Trace(detect.Trace{Step: s, Queue: c.queue(p), PG: c.pg(i), Label: t})
}

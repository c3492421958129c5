package itsy

import (
	"fmt"
	"math/bits"
	"unsafe"

	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
)

// Name is the detector's name in scenario files and verdicts.
const Name = "itsy"

type detector struct {
	view    detect.View
	act     detect.Actions
	self    unit.NodeID
	classes [unit.Priorities]*class
}

type class struct {
	paused unit.PortSet
	xoff   unit.PortSet
	done   unit.PortSet
	clock  uint16
	lab    []label
	in     []ingress
}

type ingress struct {
	own, min uint16
	blk      unit.Port
	root     [3]byte
}

func New(v detect.View, a detect.Actions) detect.Detector {
	d := &detector{view: v, act: a, self: v.Self()}
	for set := v.Lossless(); set != 0; set &= set - 1 {
		c := &class{lab: make([]label, v.Ports()), in: make([]ingress, v.Ports())}
		for i := range c.in {
			c.in[i].blk = unit.NoPort
		}
		d.classes[bits.TrailingZeros8(uint8(set))] = c
	}
	return d
}

func (d *detector) Name() string { return Name }
func (d *detector) StateBytes() (n int) {
	for _, c := range d.classes {
		if c != nil {
			n += len(c.lab)*6 + len(c.in)*int(unsafe.Sizeof(ingress{})) + 26
		}
	}
	return n
}
func (d *detector) Deadline() unit.Time                       { return unit.Never }
func (d *detector) Tick(unit.Time)                            {}
func (d *detector) Empty(unit.Time, detect.Queue)             {}
func (d *detector) Message(unit.Time, unit.Port, itsyhdr.TLV) {}

func (d *detector) strong(c *class, b detect.Bucket, p unit.Port) bool {
	return c.paused.Has(p) && d.view.Held(b, detect.Queue{Port: p, Class: b.Class}) > d.view.XON(b)
}

func (d *detector) pub(c *class, b detect.Bucket) label {
	in := &c.in[b.Port]
	var l label
	if in.blk != unit.NoPort {
		l = newLabel(in.own, unit.NodePort{Node: d.self, Port: b.Port})
		if m := c.lab[in.blk]; l.less(m) {
			l = m.id()
		}
	}
	return l
}

func (d *detector) root(c *class, b detect.Bucket) unit.NodePort {
	r := c.in[b.Port].root
	return unpack(uint32(r[0])<<16 | uint32(r[1])<<8 | uint32(r[2]))
}

func (d *detector) Label(now unit.Time, b detect.Bucket) itsyhdr.TLV {
	c := d.classes[b.Class]
	if d.view.Lapsed(b) {
		d.forget(c, b)
		d.eval(c, b, false)
	}
	l := d.pub(c, b)
	root := d.root(c, b)
	passed := root == unit.NodePort{Node: d.self, Port: b.Port}
	if blk := c.in[b.Port].blk; !passed && blk != unit.NoPort {
		m := c.lab[blk]
		passed = m&flagTrigger != 0 && m.trigger() == root
	}
	return l.withTrigger(root, passed && !l.isNone()).tlv()
}

func (d *detector) forget(c *class, b detect.Bucket) {
	in := &c.in[b.Port]
	in.own, in.min, in.blk = 0, 0, unit.NoPort
	c.done.Remove(b.Port)
}

func (d *detector) eval(c *class, b detect.Bucket, send bool) {
	in := &c.in[b.Port]
	if in.blk != unit.NoPort && !d.strong(c, b, in.blk) {
		in.blk = unit.NoPort
	}
	if in.blk != unit.NoPort {
		return
	}
	for set := c.paused; set != 0; set &= set - 1 {
		if p := set.First(); d.strong(c, b, p) {
			c.done.Remove(b.Port)
			if r := c.lab[p]; !r.isNone() && before(c.clock, r.rank()) {
				c.clock = r.rank()
			}
			c.clock = later(c.clock, 1)
			in.own = c.clock
			if in.min == 0 {
				in.min = in.own
			}
			in.blk = p
			d.act.Trace(detect.Trace{Step: detect.StepMint, Queue: detect.Queue{Port: p, Class: b.Class}, Bucket: b, Label: d.pub(c, b).tlv()})
			if send {
				d.act.Repause(b)
			}
			return
		}
	}
}

func (d *detector) XOFF(_ unit.Time, b detect.Bucket, cause detect.Queue) {
	c := d.classes[b.Class]
	c.xoff.Add(b.Port)
	// root
	at := unit.NodePort{Node: d.self, Port: b.Port}
	var paused unit.PortSet
	best, most := unit.NoPort, 0
	for p := range unit.Port(d.view.Ports()) {
		q := detect.Queue{Port: p, Class: b.Class}
		if d.view.Paused(q) {
			paused.Add(p)
			if h := d.view.Held(b, q); h > most {
				best, most = p, h
			}
		}
	}
	if d.view.HeldIn(b, paused) > d.view.XON(b) {
		if d.view.FacesHost(best) {
			at = unit.NodePort{Node: d.self, Port: best}
		} else if t := c.lab[best].trigger(); !t.IsZero() {
			at = t
		}
	}
	v := pack(at)
	c.in[b.Port].root = [3]byte{byte(v >> 16), byte(v >> 8), byte(v)}
	d.eval(c, b, true)
}

func (d *detector) XON(_ unit.Time, b detect.Bucket) {
	c := d.classes[b.Class]
	c.xoff.Remove(b.Port)
	d.forget(c, b)
}

func (d *detector) Enqueue(_ unit.Time, b detect.Bucket, q detect.Queue, _ int) {
	c := d.classes[q.Class]
	if c == nil || !c.paused.Has(q.Port) || !c.xoff.Has(b.Port) {
		return
	}
	d.eval(c, b, true)
}

func (d *detector) Pause(_ unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	c := d.classes[q.Class]
	if d.view.FacesHost(q.Port) {
		return
	}
	l := parseLabel(t)
	old := c.lab[q.Port]
	if fresh {
		old = 0
		c.paused.Add(q.Port)
	}
	if !l.isNone() && before(c.clock, l.rank()) {
		c.clock = l.rank()
	}
	for set := c.xoff; set != 0; set &= set - 1 {
		b := detect.Bucket{Port: set.First(), Class: q.Class}
		if d.view.Held(b, q) == 0 {
			continue
		}
		in := &c.in[b.Port]
		c.lab[q.Port] = old
		was := d.pub(c, b)
		c.lab[q.Port] = l
		switch {
		case in.blk == unit.NoPort:
			d.eval(c, b, true)
		case in.blk == q.Port && d.strong(c, b, q.Port):
			if l.owner() == (unit.NodePort{Node: d.self, Port: b.Port}) && in.min != 0 && within(l.rank(), in.min, in.own) {
				if !c.done.Has(b.Port) && !d.view.Lapsed(b) {
					c.done.Add(b.Port)
					d.act.Report(detect.Finding{Bucket: b, Queue: q, Label: l.tlv(), Trigger: d.root(c, b), OnLoop: l&flagTrigger != 0 && l.trigger() == d.root(c, b) || d.root(c, b) == l.owner()})
				}
			} else if now := d.pub(c, b); was.less(now) {
				d.act.Trace(detect.Trace{Step: detect.StepForward, Queue: q, Bucket: b, Label: l.tlv()})
				d.act.Repause(b)
			}
		}
	}
	c.lab[q.Port] = l
}

func (d *detector) Resume(_ unit.Time, q detect.Queue, _ bool) {
	c := d.classes[q.Class]
	if d.view.FacesHost(q.Port) {
		return
	}
	c.paused.Remove(q.Port)
	c.lab[q.Port] = 0
	for set := c.xoff; set != 0; set &= set - 1 {
		b := detect.Bucket{Port: set.First(), Class: q.Class}
		if c.in[b.Port].blk == q.Port {
			c.in[b.Port].blk = unit.NoPort
			d.eval(c, b, true)
		}
	}
}

var _ = fmt.Sprint

package model

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// toy is a detector that is easily seen through. Its state is how often its priority group was paused.
type toy struct {
	detect.None
	view  detect.View
	act   detect.Actions
	seen  byte
	hasty bool // declares what it suspects
	chats bool // answers every message, and begins when its time comes
}

func silent(v detect.View, a detect.Actions) Detector { return &toy{view: v, act: a} }
func hasty(v detect.View, a detect.Actions) Detector  { return &toy{view: v, act: a, hasty: true} }
func chats(v detect.View, a detect.Actions) Detector  { return &toy{view: v, act: a, chats: true} }

func (d *toy) State(b []byte) []byte { return append(b, d.seen) }
func (d *toy) SetState(b []byte)     { d.seen = b[0] }
func (d *toy) Age()                  {}

func (d *toy) Due(b detect.PG) bool { xoff, _ := d.view.XOFF(b); return xoff }

func (d *toy) Fire(b detect.PG, _ int) {
	if d.chats {
		d.act.Send(b.Port, itsyhdr.TLV{Kind: itsyhdr.KindAck, Priority: Priority, Initiator: unit.NodePort{Node: d.view.Self()}})
	}
}

func (d *toy) Message(_ unit.Time, p unit.Port, t itsyhdr.TLV) {
	if d.chats {
		d.act.Send(p, t)
	}
}

func (d *toy) Label(unit.Time, detect.PG) itsyhdr.TLV {
	return itsyhdr.TLV{Kind: itsyhdr.KindLabel, Seq: uint16(d.seen), Initiator: unit.NodePort{Node: d.view.Self()}}
}

func (d *toy) Pause(_ unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	b := pg(In)
	d.seen = (d.seen + 1) % 4
	if xoff, _ := d.view.XOFF(b); d.hasty && xoff && fresh && d.view.Held(b, q) > xon {
		d.act.Report(detect.Finding{PG: b, Queue: q})
	}
}

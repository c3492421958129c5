package itsypaper

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// home tests the switch's own label l, which reached q, for a causality loop (ITSY, III-B
// and Lemma 1): Seq is the newest and P_gen-ini is in xi_p. If so, the label is stored,
// since the check asks every port of the loop for it, and the check goes out where the
// label did.
func (d *detector) home(q detect.Queue, l label, t itsyhdr.TLV) {
	i := l.initiator().Port
	if int(i) >= d.ports() || l.seq() != d.seqs[i] || !d.traffic(q.Port).Has(i) {
		d.trace(detect.StepDrop, q, noPG, t)
		return
	}
	d.put(q.Port, l, newTrail(t.Hops, t.Flags))
	b := d.pg(i, q.Priority)
	d.trace(detect.StepLoop, q, b, t)

	c := itsyhdr.TLV{
		Kind:      itsyhdr.KindTemporalCheck,
		Initiator: t.Initiator,
		Seq:       t.Seq,
		Trigger:   t.Trigger,
		Flags:     newTrail(0, t.Flags).round(),
	}
	if by := d.takeovers.of(i); l.middle() && !by.IsZero() {
		c.Trigger = by
	}
	d.send(detect.StepCheck, q, b, c)
}

// check takes a temporal consistency check that reached p (ITSY, III-B, Lemma 2). It
// fails if p's RESUME tag is set or if p stores another label. At the initiator it is a
// deadlock; elsewhere it goes on to delta_p, once in a round.
func (d *detector) check(p unit.Port, t itsyhdr.TLV) {
	q := detect.Queue{Port: p, Priority: t.Priority}
	l, ok := parseLabel(t)
	if !ok || d.slots[p]&resumed != 0 || d.slots[p].label() != l {
		d.trace(detect.StepFail, q, noPG, t)
		return
	}
	if d.mine(l) {
		d.declare(q, l, t)
		return
	}
	delta, round := d.delta(p), newTrail(0, t.Flags).round()
	switch {
	case d.slots[p].checkRound() == round:
		d.trace(detect.StepDrop, q, noPG, t)
	case delta.Empty():
		d.trace(detect.StepFail, q, noPG, t)
	default:
		d.slots[p] = d.slots[p]&^checkRounds | slot(round)<<checkShift
		d.forward(detect.StepCheck, q, delta, t)
	}
}

// declare reports the deadlock that the check t, come home to q, has confirmed.
func (d *detector) declare(q detect.Queue, l label, t itsyhdr.TLV) {
	i := l.initiator().Port
	if int(i) >= d.ports() || !d.traffic(q.Port).Has(i) {
		d.trace(detect.StepFail, q, noPG, t)
		return
	}
	if d.ingress[i]&reported != 0 {
		d.trace(detect.StepDrop, q, noPG, t)
		return
	}
	d.ingress[i] |= reported
	d.act.Report(detect.Finding{
		PG:      d.pg(i, q.Priority),
		Queue:   q,
		Label:   t,
		Trigger: t.Trigger,
		OnLoop:  !l.middle(),
	})
}

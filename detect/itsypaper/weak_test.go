package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
)

// Further weak spots of the text, each shown by the smallest script: what the text
// does, and what is true.

// The text puts no condition on storing a label. One that comes to a port which is
// not paused stays, and the next pause there, from a plain device, is laid to it.
func TestFailsStaleLabelIsBlamed(t *testing.T) {
	sc := newRing(t, 4, hop)
	stranger := unit.NodePort{Node: 9, Port: 3}
	sc.To(1 * us)
	sc.s[2].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindChecking, Class: 3, Initiator: stranger, Trigger: stranger, Seq: 1})
	sc.To(1000 * us)
	sc.s[2].HostPause(p) // without a label
	sc.fill(2, b, p, 60)
	sc.s[2].XOFF(b, p)
	sc.settle()
	blamed := 0
	for _, tr := range sc.Traces {
		if tr.Switch == 2 && tr.Step == detect.StepForward && tr.Label.Initiator == stranger {
			blamed++
		}
	}
	if blamed != 1 {
		t.Errorf("S2 passed the stale label on %d times, want once", blamed)
		sc.log()
	}
	sc.wantStuck(false)
}

// The text gives Seq no width. With 8 bits a label that is 256 episodes old is
// taken for the latest.
func TestFailsSequenceWraps(t *testing.T) {
	sc := newRing(t, 4, hop)
	own := unit.NodePort{Node: 1, Port: b}
	episode := func() {
		sc.fill(1, b, p, 60)
		sc.s[1].XOFF(b, p)
		sc.To(sc.Now() + 10*us)
		sc.s[1].Leave(b, p, 60*kilo)
		sc.s[1].XON(b)
		sc.To(sc.Now() + 10*us)
	}
	old := func() { // the label of the first episode, come home
		sc.s[1].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindChecking, Class: 3, Initiator: own, Trigger: own, Seq: 1, Hops: 3})
	}
	for range 2 {
		episode()
	}
	sc.fill(1, b, p, 60)
	old()
	if n := sc.count(detect.StepLoop, 1); n != 0 {
		t.Fatalf("a label two episodes old was taken for a loop")
	}
	sc.s[1].Leave(b, p, 60*kilo)
	for range 256 - 1 {
		episode()
	}
	sc.fill(1, b, p, 60)
	old()
	if n := sc.count(detect.StepLoop, 1); n != 1 {
		t.Errorf("%d loops, want the label of 256 episodes ago taken for one", n)
	}
	sc.wantStuck(false)
}

// The test of a causality loop does not ask whether the initiator's port still
// pauses. It has resumed, a few bytes are left, and a loop is found.
func TestFailsInitiatorResumed(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	sc.closeRing(10 * us)
	sc.To(86 * us)
	sc.s[1].Leave(b, p, 50*kilo)
	sc.s[1].XON(b)
	sc.To(105 * us) // S2's pause brings S1's label home
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.wantStuck(false)
}

// Two rings that share a link are both dead and one loop is declared. When that one
// is opened the other stays dead: its pauses are old, and nobody sends a label again.
func TestFailsSecondLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	const (
		p2 unit.Port = ringPorts     // of S12: the egress into the second ring
		b2 unit.Port = ringPorts + 1 // of S11: the bucket for the end of the second ring
	)
	s1, s2 := sc.add(11, 6), sc.add(12, 6)
	s5, s6 := sc.add(5, 4), sc.add(6, 4)
	sc.Link(sc.s[4], p, s1, b, hop)
	sc.Link(s1, p, s2, b, hop)
	sc.Link(s2, p, sc.s[3], b, hop)
	sc.Link(s2, p2, s5, b, hop)
	sc.Link(s5, p, s6, b, hop)
	sc.Link(s6, p, s1, b2, hop)
	tr := sc.trigger(7, 12)
	tr.Enqueue(0, 1, 60*kilo)
	tr.XOFF(0, 1)
	sc.To(30 * us)
	sc.fill(12, b, p, 40)
	sc.fill(12, b, p2, 40)
	sc.fill(12, b, x, 10)
	s2.XOFF(b, x)
	for _, step := range []struct {
		at unit.Time
		k  unit.NodeID
		in unit.Port
	}{{55, 11, b}, {60, 11, b2}, {80, 4, b}, {85, 6, b}, {105, 3, b}, {110, 5, b}} {
		sc.To(step.at * us)
		sc.fill(step.k, step.in, p, 60)
		sc.s[step.k].XOFF(step.in, p)
	}
	sc.settle()
	if len(sc.Findings) != 1 {
		t.Fatalf("findings %+v, want one", sc.Findings)
	}
	opened, beyond := p, sc.s[3]
	if sc.Findings[0].Queue.Port == p2 {
		opened, beyond = p2, s5
	}
	beyond.Leave(b, p, 60*kilo)
	beyond.XON(b)
	sc.settle()
	s2.Leave(b, opened, 40*kilo) // 40 KB are left in the other ring, and keep the bucket XOFF
	sc.settle()
	sc.wantStuck(true)
	if len(sc.Findings) != 1 {
		t.Errorf("findings %+v, want no second one", sc.Findings)
	}
}

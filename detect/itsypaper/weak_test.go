package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Further weak spots of the text, each shown by the smallest script: what the text
// does, and what is true.

// The text puts no condition on storing a label. One that comes to a port which is
// not paused stays, and the next pause there, from a plain device, is laid to it.
func TestFailsStaleLabelIsBlamed(t *testing.T) {
	sc := newRing(t, 4, hop)
	stranger := unit.NodePort{Node: 9, Port: 3}
	sc.To(1 * us)
	sc.S[2].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: 3, Initiator: stranger, Trigger: stranger, Seq: 1})
	sc.To(1000 * us)
	sc.S[2].HostPause(p) // without a label
	sc.Close(1000*us, 2)
	sc.settle()
	blamed := 0
	for _, tr := range sc.Traces {
		if tr.Switch == 2 && tr.Step == detect.StepForward && tr.Label.Initiator == stranger {
			blamed++
		}
	}
	if blamed != 1 {
		t.Errorf("S2 passed the stale label on %d times, want once", blamed)
		sc.LogTraces()
	}
	sc.WantStuck(false)
}

// The text gives Seq no width. With 8 bits a label that is 256 episodes old is
// taken for the latest.
func TestFailsSequenceWraps(t *testing.T) {
	sc := newRing(t, 4, hop)
	own := unit.NodePort{Node: 1, Port: b}
	episode := func() {
		sc.Close(sc.Now(), 1)
		sc.To(sc.Now() + 10*us)
		sc.S[1].Leave(b, p, 60*kilo)
		sc.S[1].XON(b)
		sc.To(sc.Now() + 10*us)
	}
	old := func() { // the label of the first episode, come home
		sc.S[1].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: 3, Initiator: own, Trigger: own, Seq: 1, Hops: 3})
	}
	for range 2 {
		episode()
	}
	sc.Fill(1, b, p, 60)
	old()
	if n := sc.count(detect.StepLoop, 1); n != 0 {
		t.Fatalf("a label two episodes old was taken for a loop")
	}
	sc.S[1].Leave(b, p, 60*kilo)
	for range 256 - 1 {
		episode()
	}
	sc.Fill(1, b, p, 60)
	old()
	if n := sc.count(detect.StepLoop, 1); n != 1 {
		t.Errorf("%d loops, want the label of 256 episodes ago taken for one", n)
	}
	sc.WantStuck(false)
}

// The test of a causality loop does not ask whether the initiator's port still
// pauses. It has resumed, a few bytes are left, and a loop is found.
func TestFailsInitiatorResumed(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.closeRing(10 * us)
	sc.To(86 * us)
	sc.S[1].Leave(b, p, 50*kilo)
	sc.S[1].XON(b)
	sc.To(105 * us) // S2's pause brings S1's label home
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.WantStuck(false)
}

// Two rings that share a link are both dead and one loop is declared. When that one
// is opened the other stays dead: its pauses are old, and nobody sends a label again.
func TestFailsSecondLoop(t *testing.T) {
	sc := twoRings(t)
	if len(sc.Findings) != 1 {
		t.Fatalf("findings %+v, want one", sc.Findings)
	}
	opened, beyond := p, sc.S[3]
	if sc.Findings[0].Queue.Port == p2 {
		opened, beyond = p2, sc.S[5]
	}
	beyond.Leave(b, p, 60*kilo)
	beyond.XON(b)
	sc.settle()
	sc.S[12].Leave(b, opened, 40*kilo) // 40 KB are left in the other ring, and keep the priority group XOFF
	sc.settle()
	sc.WantStuck(true)
	if len(sc.Findings) != 1 {
		t.Errorf("findings %+v, want no second one", sc.Findings)
	}
}

package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/internal/unit"
)

func TestTriggerOnLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p) // p is not paused: S1 is the initial trigger
	sc.closeRing(10 * us)
	sc.To(105 * us) // S2's pause reaches S1: the label is home
	sc.wantStuck(true)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.settle()
	sc.wantFinding(205*us, 1, unit.NodePort{Node: 1, Port: b}, true) // 105 + 4 messages of 25
	if sc.Messages != 4 || sc.Pauses != 4 {
		t.Errorf("%d messages and %d pauses, want the check's 4 and 4", sc.Messages, sc.Pauses)
	}
}

// The log of all switches draws the loop: from each queue that the label came to,
// the bucket it was forwarded for, and on to the queue at the far end of its link.
func TestTracesDrawTheLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	sc.closeRing(0)
	sc.settle()
	for _, step := range []detect.Step{detect.StepForward, detect.StepCheck} {
		at, from := unit.NodeID(4), b // the label left S1 through b, towards S4
		for n := 0; n < 3; n++ {
			next := unit.NoPort
			for _, tr := range sc.Traces {
				if tr.Switch == at && tr.Step == step && tr.Label.Seq == 1 && tr.Label.Initiator == (unit.NodePort{Node: 1, Port: b}) {
					if tr.Queue.Port != p {
						t.Errorf("%v at S%d came to queue %d, want %d", step, at, tr.Queue.Port, p)
					}
					next = tr.Bucket.Port
				}
			}
			if next != from {
				t.Fatalf("%v at S%d: forwarded for bucket %d, want %d", step, at, next, from)
			}
			at--
		}
	}
	if sc.count(detect.StepLoop, 1) != 1 || sc.count(detect.StepMint, 0) != 1 {
		t.Errorf("%d loops and %d mints, want 1 and 1", sc.count(detect.StepLoop, 1), sc.count(detect.StepMint, 0))
		sc.log()
	}
}

func TestTriggerOutOfLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.trigger(5, 2)
	tr.Enqueue(0, 1, 60*kilo)
	tr.XOFF(0, 1)
	sc.outOfLoop(func() { sc.s[2].XOFF(b, x) })
	sc.settle()
	sc.wantStuck(true)
	// 110 T's label at p: middle; 210 home; 310 checked.
	sc.wantTimes(detect.StepMiddle, 2, 110)
	sc.wantTimes(detect.StepLoop, 2, 210)
	sc.wantFinding(310*us, 2, unit.NodePort{Node: 5, Port: 0}, false)
}

// outOfLoop lets x of S2 be paused by 20 us, S2's bucket go XOFF by it at 30 us and
// the ring close behind it, until a label reaches p of S2 at 110 us.
func (sc script) outOfLoop(xoff func()) {
	sc.To(30 * us)
	sc.fill(2, b, p, 50)
	sc.fill(2, b, x, 10)
	xoff()
	for _, k := range []unit.NodeID{1, 4, 3} {
		sc.To(sc.Now() + 20*us)
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
	sc.To(110 * us)
}

// A host names no id: its switch does, and takes over when the label comes home.
func TestHostTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.s[2].FaceHosts(x)
	sc.To(20 * us)
	sc.s[2].HostPause(x)
	sc.outOfLoop(func() { sc.s[2].XOFF(b, x) })
	sc.s[2].HostPause(x) // a refresh: no new episode
	sc.settle()
	sc.wantTimes(detect.StepMint, 2, 20)
	sc.wantFinding(310*us, 2, unit.NodePort{Node: 2, Port: x}, false)
}

// A two-switch routing loop: frames leave by the port they came in by.
func TestHairpinLoop(t *testing.T) {
	sc := newRing(t, 0, hop)
	s1, s2 := sc.add(1, 2), sc.add(2, 2)
	sc.Link(s1, 0, s2, 0, hop)
	s1.Enqueue(0, 0, 60*kilo)
	s1.XOFF(0, 0)
	sc.To(20 * us)
	s2.Enqueue(0, 0, 60*kilo)
	s2.XOFF(0, 0)
	sc.settle()
	sc.wantStuck(true)
	if len(sc.Findings) != 1 || sc.Findings[0].At != 90*us || sc.Findings[0].Trigger != (unit.NodePort{Node: 1, Port: 0}) {
		t.Errorf("findings %+v, want one by switch 1 at 90 us", sc.Findings)
	}
}

// ITSY, Fig. 4: S7 sees the id of S1 at two ports, but there is no loop.
func TestSameLabelTwiceWithoutLoop(t *testing.T) {
	sc := newRing(t, 0, hop)
	s1, s5, s6, s7, s8 := sc.add(1, 3), sc.add(5, 2), sc.add(6, 2), sc.add(7, 3), sc.add(8, 2)
	s1.FaceHosts(2)
	sc.Link(s5, 1, s1, 0, hop) // S7 > S5 > S1 and S7 > S6 > S1
	sc.Link(s6, 1, s1, 1, hop)
	sc.Link(s7, 1, s5, 0, hop)
	sc.Link(s7, 2, s6, 0, hop)
	sc.Link(s8, 1, s7, 0, hop) // S8 > S7
	sc.At(0, func() { s1.Enqueue(0, 2, 60*kilo); s1.XOFF(0, 2) })
	sc.To(20 * us)
	s5.Enqueue(0, 1, 60*kilo)
	s5.XOFF(0, 1)
	sc.To(40 * us)
	s7.Enqueue(0, 1, 30*kilo)
	s7.Enqueue(0, 2, 30*kilo)
	s7.XOFF(0, 1)
	// The same trigger, the same port's id, by the other arm: a host of S1 that both
	// arms feed is named once, so S6 hears of it through its own pause.
	sc.To(50 * us)
	id := sc.Traces[0].Label
	s6.Enqueue(0, 1, 60*kilo)
	s6.Deliver(1, id)
	sc.To(60 * us)
	s1.Enqueue(1, 2, 1*kilo)
	s1.XOFF(1, 2)
	s6.Deliver(1, id)
	sc.To(80 * us)
	s6.Deliver(1, id)
	s6.XOFF(0, 1)
	sc.settle()
	sc.wantSilence()
	sc.wantStuck(false)
}

// The loop forms, then one port resumes while the check is on its way.
func TestResumeDuringTheLap(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	sc.closeRing(10 * us)
	sc.To(110 * us)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.s[3].XON(b) // reaches p of S2 at 130; the check comes there at 180
	sc.settle()
	sc.wantSilence()
	sc.wantTimes(detect.StepFail, 2, 180)
}

// After a lap was broken by a resume, the port learns the label again, and the label
// passes once more where it is known: the deadlock that locks then is found.
func TestLabelLearnedAgainPasses(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	sc.closeRing(10 * us)
	for round := range 5 { // more than the four rounds that two bits tell apart
		sc.To(sc.Now() + 45*us)
		sc.s[4].XON(b)
		sc.To(sc.Now() + 120*us) // the resume has reached p of S3
		sc.s[4].XOFF(b, p)
		sc.wantSilence()
		sc.To(sc.Now() + 70*us) // 20 + 2 x 25
		if got := sc.times(detect.StepLoop, 1); len(got) != round+2 {
			sc.log()
			t.Fatalf("round %d: loops at %v us, want %d", round, got, round+2)
		}
	}
	sc.settle()
	sc.wantStuck(true)
	if len(sc.Findings) != 1 {
		t.Errorf("%d findings, want 1", len(sc.Findings))
	}
}

// A refresh carries no label: what is lost stays lost.
func TestRefreshCarriesNoLabel(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	sc.To(20 * us)
	sc.s[4].Expire(p)
	sc.s[1].Refresh(b)
	sc.To(40 * us)
	if !sc.s[4].Paused(p) {
		t.Fatal("the refresh did not pause p of S4")
	}
	sc.fill(4, b, p, 60)
	sc.s[4].XOFF(b, p)
	sc.settle()
	if n := sc.count(detect.StepForward, 4); n != 0 {
		t.Errorf("S4 forwarded %d labels, want none", n)
	}
}

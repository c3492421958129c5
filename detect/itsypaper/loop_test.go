package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

func TestTriggerOnLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.closeRing(10 * us)
	sc.To(105 * us) // S2's pause reaches S1: the label is home
	sc.WantStuck(true)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.settle()
	sc.wantRing(205*us, 1, unit.NodePort{Node: 1, Port: b}, true) // 105 + 4 messages of 25
	if sc.Messages != 4 || sc.Pauses != 4 {
		t.Errorf("%d messages and %d pauses, want the check's 4 and 4", sc.Messages, sc.Pauses)
	}
}

// The log of all switches draws the loop: from each queue that the label came to,
// the priority group it was forwarded for, and on to the queue at the far end of its link.
func TestTracesDrawTheLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
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
					next = tr.PG.Port
				}
			}
			if next != from {
				t.Fatalf("%v at S%d: forwarded for priority group %d, want %d", step, at, next, from)
			}
			at--
		}
	}
	if sc.count(detect.StepLoop, 1) != 1 || sc.count(detect.StepMint, 0) != 1 {
		t.Errorf("%d loops and %d mints, want 1 and 1", sc.count(detect.StepLoop, 1), sc.count(detect.StepMint, 0))
		sc.LogTraces()
	}
}

func TestTriggerOutOfLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Trigger(5, 2, hop).XOFF(0, 1)
	sc.outOfLoop()
	sc.settle()
	sc.WantStuck(true)
	// 110 T's label at p: middle; 210 home; 310 checked.
	sc.wantTimes(detect.StepMiddle, 2, 110)
	sc.wantTimes(detect.StepLoop, 2, 210)
	sc.wantRing(310*us, 2, unit.NodePort{Node: 5, Port: 0}, false)
}

// Where a pause has carried the middle switch's id on, the id comes home without its
// trigger, for which a port has no room: the middle switch remembers it.
func TestMiddleSwitchRemembersItsTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Trigger(5, 2, hop).XOFF(0, 1)
	sc.outOfLoop()
	sc.S[1].XON(b)
	sc.To(140 * us) // S2's id came to S1 at 135, which pauses nobody
	sc.S[1].XOFF(b, p)
	sc.To(209 * us)
	last := sc.Traces[len(sc.Traces)-1]
	if want := (unit.NodePort{Node: 2, Port: b}); last.Label.Initiator != want || !last.Label.Trigger.IsZero() {
		t.Errorf("the label that nears S2 is %+v, want initiator %v and no trigger", last.Label, want)
	}
	sc.settle()
	sc.WantStuck(true)
	sc.wantRing(310*us, 2, unit.NodePort{Node: 5, Port: 0}, false)
}

// outOfLoop lets x of S2 be paused by 20 us, S2's priority group go XOFF by it at 30 us and
// the ring close behind it, until a label reaches p of S2 at 110 us.
func (sc script) outOfLoop() {
	sc.To(30 * us)
	sc.Fill(2, b, p, 50)
	sc.Fill(2, b, x, 10)
	sc.S[2].XOFF(b, x)
	for _, k := range []unit.NodeID{1, 4, 3} {
		sc.Close(sc.Now()+20*us, k)
	}
	sc.To(110 * us)
}

// A host names no id: its switch does, and takes over when the label comes home.
func TestHostTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.S[2].FaceHosts(x)
	sc.To(20 * us)
	sc.S[2].HostPause(x)
	sc.outOfLoop()
	sc.S[2].HostPause(x) // a refresh: no new episode
	sc.settle()
	sc.wantTimes(detect.StepMint, 2, 20)
	sc.wantRing(310*us, 2, unit.NodePort{Node: 2, Port: x}, false)
}

// A two-switch routing loop: frames leave by the port they came in by.
func TestHairpinLoop(t *testing.T) {
	sc := newRing(t, 0, hop)
	s1, s2 := sc.Add(1, 2), sc.Add(2, 2)
	sc.Link(s1, 0, s2, 0, hop)
	s1.Enqueue(0, 0, 60*kilo)
	s1.XOFF(0, 0)
	sc.To(20 * us)
	s2.Enqueue(0, 0, 60*kilo)
	s2.XOFF(0, 0)
	sc.settle()
	sc.WantStuck(true)
	if len(sc.Findings) != 1 || sc.Findings[0].At != 90*us || sc.Findings[0].Trigger != (unit.NodePort{Node: 1, Port: 0}) {
		t.Errorf("findings %+v, want one by switch 1 at 90 us", sc.Findings)
	}
}

// ITSY, Fig. 4: S7 sees the id of S1 at two ports, by S5 and by S6, but there is no
// loop. It becomes a middle switch; its own label ends at S8.
func TestSameLabelTwiceWithoutLoop(t *testing.T) {
	sc := newRing(t, 0, hop)
	s1, s2 := sc.Add(1, 2), sc.Add(2, 3)
	s5, s6, s7, s8 := sc.Add(5, 2), sc.Add(6, 2), sc.Add(7, 3), sc.Add(8, 2)
	s1.FaceHosts(1)
	s8.FaceHosts(0)
	sc.Link(s2, 2, s1, 0, hop)
	sc.Link(s5, 1, s2, 0, hop)
	sc.Link(s6, 1, s2, 1, hop)
	sc.Link(s7, 1, s5, 0, hop)
	sc.Link(s7, 2, s6, 0, hop)
	sc.Link(s8, 1, s7, 0, hop)
	for _, step := range []struct {
		at      unit.Time
		s       *detecttest.Switch
		in, out unit.Port
	}{
		{0, s1, 0, 1}, {25, s2, 0, 2}, {30, s2, 1, 2}, {50, s5, 0, 1}, {55, s6, 0, 1}, {72, s7, 0, 1}, {95, s8, 0, 1},
	} {
		sc.At(step.at*us, func() {
			step.s.Enqueue(step.in, step.out, 60*kilo)
			step.s.XOFF(step.in, step.out)
		})
	}
	sc.At(60*us, func() { s7.Enqueue(0, 2, 30*kilo) })
	sc.settle()
	sc.wantTimes(detect.StepMiddle, 7, 75)         // S6's pause, after S5's at 70
	sc.wantTimes(detect.StepDrop, 8, 92, 100, 100) // S7's pause, S1's label as a message, S7's own
	sc.WantSilence()
	sc.WantStuck(false)
}

// The loop forms, then one port resumes while the check is on its way.
func TestResumeDuringTheLap(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.closeRing(10 * us)
	sc.To(110 * us)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.S[3].XON(b) // S3 goes on pausing nobody: the check stops there
	sc.settle()
	sc.WantSilence()
	sc.wantTimes(detect.StepFail, 3, 155)
}

// As above, but the port resumed and was paused again for another reason: its r_p
// is 0 and it stores no label.
func TestForgottenLabelFailsTheCheck(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.closeRing(10 * us)
	sc.To(110 * us)
	sc.S[3].XON(b)
	sc.Fill(3, b, h, 10)
	sc.S[3].XOFF(b, h) // S3 is a trigger of its own now
	sc.settle()
	sc.wantTimes(detect.StepFail, 2, 180)
	for _, f := range sc.Findings {
		if f.Trigger == (unit.NodePort{Node: 1, Port: b}) {
			t.Errorf("S1's episode was declared: %+v", f)
		}
	}
}

// After a lap was broken by a resume, the port learns the label again, and the label
// passes once more where it is known: the deadlock that locks then is found.
func TestLabelLearnedAgainPasses(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.closeRing(10 * us)
	for round := range 5 { // more than the three rounds that are told apart
		home := (105 + unit.Time(round)*190) * us
		sc.To(home + 5*us)
		sc.S[4].XON(b) // p of S3 resumes at 25; the check comes there at 50 and fails
		sc.To(home + 120*us)
		sc.S[4].XOFF(b, p) // learned again at 140, then p of S2 at 165, home at 190
		sc.To(home + 189*us)
		sc.WantSilence()
		sc.To(home + 190*us)
		if got := sc.times(detect.StepLoop, 1); len(got) != round+2 {
			sc.LogTraces()
			t.Fatalf("round %d: loops at %v us, want %d", round, got, round+2)
		}
	}
	sc.settle()
	sc.WantStuck(true)
	if len(sc.Findings) != 1 {
		t.Errorf("%d findings, want 1", len(sc.Findings))
	}
}

// A refresh carries no label: what is lost stays lost.
func TestRefreshCarriesNoLabel(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(0, 1)
	sc.To(20 * us)
	sc.S[4].Expire(p)
	sc.S[1].Refresh(b)
	sc.To(40 * us)
	if !sc.S[4].Paused(p) {
		t.Fatal("the refresh did not pause p of S4")
	}
	sc.Close(40*us, 4)
	sc.settle()
	if n := sc.count(detect.StepForward, 4); n != 0 {
		t.Errorf("S4 forwarded %d labels, want none", n)
	}
}

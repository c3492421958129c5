package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// The tests of this file record where the text fails. Each names the weak spot and
// asserts what the text does together with what is true. XON is 36 KB.

// A bit outlives its bytes: it is cleared when the egress queue is empty, not when
// the port's own frames have left it. The text declares although no stuck set exists.
func TestFailsBitOutlivesBytes(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Fill(2, b, p, 1)
	sc.Fill(2, h, p, 20)
	sc.S[2].Leave(b, p, 1*kilo) // the host's frames still wait in p: the bit stays
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.To(85 * us)
	sc.Fill(2, b, h, 60)
	sc.S[2].XOFF(b, h) // by its own host: a second trigger, {S2, b}
	sc.settle()
	sc.WantStuck(false)
	sc.wantRing(280*us, 2, unit.NodePort{Node: 2, Port: b}, true)
}

// A bit is not a byte count: half of every priority group waits for a fast host, and all
// resume by themselves. The text declares although no stuck set exists.
func TestFailsPartialDependency(t *testing.T) {
	sc := newRing(t, 4, detecttest.Delay{Pause: 5 * us, Message: 6 * us})
	half := func(k unit.NodeID, cause unit.Port) {
		sc.Fill(k, b, h, 30)
		sc.Fill(k, b, p, 30)
		sc.S[k].XOFF(b, cause)
	}
	sc.To(10 * us)
	half(1, h)
	for k, at := unit.NodeID(4), 16*us; k >= 2; k, at = k-1, at+6*us {
		sc.To(at)
		half(k, p)
	}
	sc.To(57 * us)
	sc.WantStuck(false)
	sc.wantTimes(detect.StepLoop, 1, 33)
	sc.wantRing(57*us, 1, unit.NodePort{Node: 1, Port: b}, true)
	for k, at := unit.NodeID(1), 170*us; k <= 4; k, at = k+1, at+15*us {
		sc.To(at)
		sc.S[k].Leave(b, h, 24*kilo)
		sc.S[k].XON(b)
	}
	sc.settle()
	sc.WantStuck(false)
}

// A trigger out of the loop resumes just before its label comes home: nobody is left
// to know it. The text says nothing although the ring is dead for good.
func TestFailsTransientTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.Trigger(5, 2, hop)
	tr.XOFF(0, 1)
	sc.At(112*us, func() { tr.XON(0) })
	sc.transient()
	if n := sc.count(detect.StepMiddle, 0); n != 0 {
		t.Errorf("%d middle switches, want none", n)
	}
}

// As above with a plain host for a trigger.
func TestFailsTransientHostTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	s2 := sc.S[2]
	s2.FaceHosts(x)
	sc.At(20*us, func() { s2.HostPause(x) })
	sc.At(132*us, func() { s2.HostResume(x) })
	sc.transient()
}

// transient lets the ring close behind x of S2, which resumes just before.
func (sc script) transient() {
	sc.To(1 * us)
	sc.Fill(2, h, p, 30)
	sc.To(30 * us)
	sc.Fill(2, b, p, 38)
	sc.Fill(2, b, x, 10)
	sc.S[2].XOFF(b, x)
	sc.To(31 * us)
	sc.Fill(2, b, p, 12)
	sc.Close(60*us, 1)
	sc.Close(90*us, 4)
	sc.Close(120*us, 3)
	sc.To(139 * us)
	sc.WantStuck(false)
	sc.To(140 * us) // the trigger's label reaches p of S2: the ring is dead
	sc.WantStuck(true)
	sc.settle()
	sc.WantStuck(true)
	sc.WantSilence()
}

// Resume and pause again within one Seq: equal reports are not continuity. The text
// declares although no stuck set exists.
func TestFailsOscillatingPG(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.To(85 * us)
	sc.Fill(2, b, h, 14)
	sc.Fill(2, b, p, 26)
	sc.S[2].XOFF(b, p)
	sc.To(139 * us)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.S[2].Leave(b, h, 4*kilo)
	sc.S[2].XON(b)
	sc.To(168 * us)
	sc.Fill(2, b, h, 5)
	sc.Fill(2, b, p, 2)
	sc.S[2].XOFF(b, p)
	sc.To(205 * us)
	sc.WantStuck(false)
	sc.wantRing(205*us, 1, unit.NodePort{Node: 1, Port: b}, true)
	sc.settle()
	sc.WantStuck(false)
}

// One label a port: a chattering trigger beside the ring overwrites the ring's label,
// and then the middle switch's, before their checks come by. The text says nothing
// although the ring is dead from 105 us on.
func TestFailsChatteringTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.Trigger(5, 2, hop)
	sc.Fill(2, h, x, 39)
	for k := range unit.Time(12) {
		sc.At((1+60*k)*us, func() { tr.XOFF(0, 1) })
		sc.At((41+60*k)*us, func() { tr.XON(0) })
	}
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.To(85 * us)
	sc.Fill(2, b, x, 8)
	sc.Fill(2, b, p, 52)
	sc.S[2].XOFF(b, p)
	sc.To(105 * us)
	sc.WantStuck(true)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.settle()
	sc.WantStuck(true)
	sc.WantSilence()
	if n := sc.count(detect.StepFail, 0); n == 0 {
		t.Error("no check failed, want the ring's own to die at S1")
	}
}

// Two triggers on two arms: both middle switches find their loop, and each check
// dies where the other's label is stored. The text says nothing although the ring is
// dead from 80 us on.
func TestFailsTwoTriggers(t *testing.T) {
	sc := newRing(t, 4, hop)
	for _, arm := range []struct{ id, at unit.NodeID }{{5, 1}, {6, 3}} {
		sc.Trigger(arm.id, arm.at, hop).XOFF(0, 1)
	}
	for _, k := range []unit.NodeID{1, 3} {
		sc.To((29 + unit.Time(k+1)/2) * us) // 30 and 31
		sc.Fill(k, b, p, 38)
		sc.Fill(k, b, x, 10)
		sc.S[k].XOFF(b, x)
	}
	sc.To(32 * us)
	sc.Fill(1, b, p, 14)
	sc.Fill(3, b, p, 14)
	sc.Close(60*us, 2)
	sc.Close(60*us, 4)
	sc.To(79 * us)
	sc.WantStuck(false)
	sc.To(80 * us)
	sc.WantStuck(true)
	sc.settle()
	for _, k := range []unit.NodeID{1, 3} {
		if sc.count(detect.StepMiddle, k) == 0 || sc.count(detect.StepLoop, k) == 0 {
			t.Errorf("S%d: %d times middle, %d loops, want some of both", k, sc.count(detect.StepMiddle, k), sc.count(detect.StepLoop, k))
		}
	}
	if n := sc.count(detect.StepFail, 0); n < 2 {
		t.Errorf("%d checks failed, want both", n)
	}
	sc.WantStuck(true)
	sc.WantSilence()
}

package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/unit"
)

// The tests of this file record where the text fails. Each names the weak spot and
// asserts what the text does together with what is true. XON is 36 KB.

// A bit outlives its bytes: it is cleared when the egress queue is empty, not when
// the port's own frames have left it. The text declares although no stuck set exists.
func TestFailsBitOutlivesBytes(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.fill(2, b, p, 1)
	sc.fill(2, h, p, 20)
	sc.s[2].Leave(b, p, 1*kilo) // the host's frames still wait in p: the bit stays
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	for k, at := unit.NodeID(4), 35*us; k >= 3; k, at = k-1, at+25*us {
		sc.To(at)
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
	sc.To(85 * us)
	sc.fill(2, b, h, 60)
	sc.s[2].XOFF(b, h) // by its own host: a second trigger, {S2, b}
	sc.settle()
	sc.wantStuck(false)
	sc.wantFinding(280*us, 2, unit.NodePort{Node: 2, Port: b}, true)
}

// A bit is not a byte count: half of every bucket waits for a fast host, and all
// resume by themselves. The text declares although no stuck set exists.
func TestFailsPartialDependency(t *testing.T) {
	sc := newRing(t, 4, detecttest.Delay{Pause: 5 * us, Message: 6 * us})
	half := func(k unit.NodeID, cause unit.Port) {
		sc.fill(k, b, h, 30)
		sc.fill(k, b, p, 30)
		sc.s[k].XOFF(b, cause)
	}
	sc.To(10 * us)
	half(1, h)
	for k, at := unit.NodeID(4), 16*us; k >= 2; k, at = k-1, at+6*us {
		sc.To(at)
		half(k, p)
	}
	sc.To(57 * us)
	sc.wantStuck(false)
	sc.wantTimes(detect.StepLoop, 1, 33)
	sc.wantFinding(57*us, 1, unit.NodePort{Node: 1, Port: b}, true)
	for k, at := unit.NodeID(1), 170*us; k <= 4; k, at = k+1, at+15*us {
		sc.To(at)
		sc.s[k].Leave(b, h, 24*kilo)
		sc.s[k].XON(b)
	}
	sc.settle()
	sc.wantStuck(false)
}

// A trigger out of the loop resumes just before its label comes home: nobody is left
// to know it. The text says nothing although the ring is dead for good.
func TestFailsTransientTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.trigger(5, 2)
	transientTrigger(sc, func() { tr.Enqueue(0, 1, 60*kilo); tr.XOFF(0, 1) }, func() { tr.XON(0) })
	if n := sc.count(detect.StepMiddle, 0); n != 0 {
		t.Errorf("%d middle switches, want none", n)
	}
}

// As above with a plain host for a trigger.
func TestFailsTransientHostTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	s2 := sc.s[2]
	s2.FaceHosts(x)
	transientTrigger(sc,
		func() { sc.At(20*us, func() { s2.HostPause(x) }) },
		func() { sc.At(132*us, func() { s2.HostResume(x) }) })
}

func transientTrigger(sc script, storm, calm func()) {
	storm()
	sc.To(1 * us)
	sc.fill(2, h, p, 30)
	sc.To(30 * us)
	sc.fill(2, b, p, 38)
	sc.fill(2, b, x, 10)
	sc.s[2].XOFF(b, x)
	sc.To(31 * us)
	sc.fill(2, b, p, 12)
	for _, step := range []struct {
		at unit.Time
		k  unit.NodeID
	}{{60, 1}, {90, 4}} {
		sc.To(step.at * us)
		sc.fill(step.k, b, p, 60)
		sc.s[step.k].XOFF(b, p)
	}
	sc.To(112 * us)
	calm()
	sc.To(120 * us)
	sc.fill(3, b, p, 60)
	sc.s[3].XOFF(b, p)
	sc.To(139 * us)
	sc.wantStuck(false)
	sc.To(140 * us) // the trigger's label reaches p of S2: the ring is dead
	sc.wantStuck(true)
	sc.settle()
	sc.wantStuck(true)
	sc.wantSilence()
}

// Resume and pause again within one Seq: equal reports are not continuity. The text
// declares although no stuck set exists.
func TestFailsOscillatingBucket(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	for k, at := unit.NodeID(4), 35*us; k >= 3; k, at = k-1, at+25*us {
		sc.To(at)
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
	sc.To(85 * us)
	sc.fill(2, b, h, 14)
	sc.fill(2, b, p, 26)
	sc.s[2].XOFF(b, p)
	sc.To(139 * us)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.s[2].Leave(b, h, 4*kilo)
	sc.s[2].XON(b)
	sc.To(168 * us)
	sc.fill(2, b, h, 5)
	sc.fill(2, b, p, 2)
	sc.s[2].XOFF(b, p)
	sc.To(205 * us)
	sc.wantStuck(false)
	sc.wantFinding(205*us, 1, unit.NodePort{Node: 1, Port: b}, true)
	sc.settle()
	sc.wantStuck(false)
}

// One label a port: a chattering trigger beside the ring overwrites the ring's label,
// and then the middle switch's, before their checks come by. The text says nothing
// although the ring is dead from 105 us on.
func TestFailsChatteringTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.trigger(5, 2)
	tr.Enqueue(0, 1, 60*kilo)
	sc.fill(2, h, x, 39)
	for k := range unit.Time(12) {
		sc.At((1+60*k)*us, func() { tr.XOFF(0, 1) })
		sc.At((41+60*k)*us, func() { tr.XON(0) })
	}
	sc.To(10 * us)
	sc.fill(1, b, p, 60)
	sc.s[1].XOFF(b, p)
	for k, at := unit.NodeID(4), 35*us; k >= 3; k, at = k-1, at+25*us {
		sc.To(at)
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
	sc.To(85 * us)
	sc.fill(2, b, x, 8)
	sc.fill(2, b, p, 52)
	sc.s[2].XOFF(b, p)
	sc.To(105 * us)
	sc.wantStuck(true)
	sc.wantTimes(detect.StepLoop, 1, 105)
	sc.settle()
	sc.wantStuck(true)
	sc.wantSilence()
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
		tr := sc.trigger(arm.id, arm.at)
		tr.Enqueue(0, 1, 60*kilo)
		tr.XOFF(0, 1)
	}
	for _, k := range []unit.NodeID{1, 3} {
		sc.To((29 + unit.Time(k+1)/2) * us) // 30 and 31
		sc.fill(k, b, p, 38)
		sc.fill(k, b, x, 10)
		sc.s[k].XOFF(b, x)
	}
	sc.To(32 * us)
	sc.fill(1, b, p, 14)
	sc.fill(3, b, p, 14)
	sc.To(60 * us)
	for _, k := range []unit.NodeID{2, 4} {
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
	sc.To(79 * us)
	sc.wantStuck(false)
	sc.To(80 * us)
	sc.wantStuck(true)
	sc.settle()
	for _, k := range []unit.NodeID{1, 3} {
		if sc.count(detect.StepMiddle, k) == 0 || sc.count(detect.StepLoop, k) == 0 {
			t.Errorf("S%d: %d times middle, %d loops, want some of both", k, sc.count(detect.StepMiddle, k), sc.count(detect.StepLoop, k))
		}
	}
	if n := sc.count(detect.StepFail, 0); n < 2 {
		t.Errorf("%d checks failed, want both", n)
	}
	sc.wantStuck(true)
	sc.wantSilence()
}

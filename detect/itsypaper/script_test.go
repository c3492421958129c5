package itsypaper

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// kilo is the unit of bytes in the scripts, which are in kilobytes.
const (
	us   = unit.Microsecond
	kilo = 1000
)

// Ports of a switch S_k of a ring: b comes from S_(k-1), p leads to S_(k+1), h to its
// host, x out of the ring.
const b, p, h, x = detecttest.In, detecttest.Out, detecttest.Host, detecttest.Aside

var hop = detecttest.Delay{Pause: 20 * us, Message: 25 * us}

// script is a script of this package's detector.
type script struct{ detecttest.Script }

// newRing is a ring of n switches, S1 to Sn.
func newRing(t *testing.T, n int, d detecttest.Delay) script {
	sc := script{detecttest.NewScript(t, New)}
	sc.Ring(n, d)
	return sc
}

func (sc script) settle() {
	sc.Helper()
	if !sc.Settle(100_000) {
		sc.Fatalf("100,000 events and no end: the labels circulate")
	}
}

// wantRing checks the only finding, which is of the ring: when, by which switch, with
// which trigger.
func (sc script) wantRing(at unit.Time, where unit.NodeID, trigger unit.NodePort, onLoop bool) {
	sc.Helper()
	f := sc.WantFinding(at, where)
	sc.WantTrigger(f, trigger, onLoop)
	if f.PG != (detect.PG{Port: b, Priority: detecttest.Priority}) || f.Queue != (detect.Queue{Port: p, Priority: detecttest.Priority}) {
		sc.Errorf("declared that %v waits for %v, want priority group %d and queue %d", f.PG, f.Queue, b, p)
	}
}

// count is how many steps of a kind the log has for a switch; 0 is any switch.
func (sc script) count(step detect.Step, at unit.NodeID) int {
	n := 0
	for _, t := range sc.Traces {
		if t.Step == step && (at == 0 || t.Switch == at) {
			n++
		}
	}
	return n
}

// times are the instants in us of a switch's steps of a kind.
func (sc script) times(step detect.Step, at unit.NodeID) []int {
	var all []int
	for _, t := range sc.Traces {
		if t.Step == step && t.Switch == at {
			all = append(all, int(t.At/us))
		}
	}
	return all
}

func (sc script) wantTimes(step detect.Step, at unit.NodeID, want ...int) {
	sc.Helper()
	if got := sc.times(step, at); !slices.Equal(got, want) {
		sc.Errorf("switch %d: %v at %v us, want %v", at, step, got, want)
		sc.LogTraces()
	}
}

// closeRing fills the ring's priority groups S1, S4, S3, S2 in turn as pauses reach them, each
// XOFF by the ring queue, which at S1 is not paused: S1 is the initial trigger. The
// label is home 95 us after the start.
func (sc script) closeRing(start unit.Time) {
	sc.Close(start, 1)
	for k, at := unit.NodeID(4), start+25*us; k >= 2; k, at = k-1, at+25*us {
		sc.Close(at, k)
	}
}

const (
	p2 = detecttest.RingPorts // of S12: the egress into the second ring
	b2 = p2 + 1               // of S11: the priority group for the end of the second ring
)

// twoRings is two rings that share the link S11 > S12, dead by a trigger behind S12:
//
//	S11 -> S12 -p> S3 -> S4 -b> S11
//	       S12 -p2> S5 -> S6 -b2> S11
func twoRings(t *testing.T) script {
	sc := newRing(t, 4, hop)
	// S1 and S2 anew, with one more port each.
	s1, s2, s5, s6 := sc.Add(11, 6), sc.Add(12, 6), sc.Add(5, 4), sc.Add(6, 4)
	sc.Link(sc.S[4], p, s1, b, hop)
	sc.Link(s1, p, s2, b, hop)
	sc.Link(s2, p, sc.S[3], b, hop)
	sc.Link(s2, p2, s5, b, hop)
	sc.Link(s5, p, s6, b, hop)
	sc.Link(s6, p, s1, b2, hop)
	sc.Trigger(7, 12, hop).XOFF(0, 1)
	sc.To(30 * us)
	sc.Fill(12, b, p, 40)
	sc.Fill(12, b, p2, 40)
	sc.Fill(12, b, x, 10)
	s2.XOFF(b, x)
	for _, step := range []struct {
		at unit.Time
		k  unit.NodeID
		in unit.Port
	}{{55, 11, b}, {60, 11, b2}, {80, 4, b}, {85, 6, b}, {105, 3, b}, {110, 5, b}} {
		sc.To(step.at * us)
		sc.Fill(step.k, step.in, p, 60)
		sc.S[step.k].XOFF(step.in, p)
	}
	sc.settle()
	return sc
}

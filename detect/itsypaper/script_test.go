package itsypaper

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/unit"
)

const us = unit.Microsecond

// Ports of a switch S_k of a ring S1 > S2 > ... > S1: b is its bucket for the link
// from S_(k-1), p its egress to S_(k+1), h leads to its host, x out of the ring.
const (
	b unit.Port = iota
	p
	h
	x
	ringPorts
)

// kilo is the unit of bytes in the scripts, which are in kilobytes.
const kilo = 1000

var hop = detecttest.Delay{Pause: 20 * us, Message: 25 * us}

// script is a fabric and its switches by number, with checks.
type script struct {
	*testing.T
	*detecttest.Fabric
	s map[unit.NodeID]*detecttest.Switch
}

// newRing is a ring of n switches, S1 to Sn.
func newRing(t *testing.T, n int, d detecttest.Delay) script {
	sc := script{t, detecttest.New(New), map[unit.NodeID]*detecttest.Switch{}}
	for k := 1; k <= n; k++ {
		sc.add(unit.NodeID(k), int(ringPorts)).FaceHosts(h)
	}
	for k := 1; k <= n; k++ {
		sc.Link(sc.s[unit.NodeID(k)], p, sc.s[unit.NodeID(k%n+1)], b, d)
	}
	return sc
}

func (sc script) add(id unit.NodeID, ports int) *detecttest.Switch {
	sc.s[id] = sc.Switch(id, ports)
	return sc.s[id]
}

// trigger hangs a switch T out of the ring behind x of the switch at: its bucket 0
// pauses x when it goes XOFF.
func (sc script) trigger(id, at unit.NodeID) *detecttest.Switch {
	t := sc.add(id, 2)
	t.FaceHosts(1)
	sc.Link(sc.s[at], x, t, 0, hop)
	return t
}

// fill puts kb kilobytes of bucket in into queue out of S_k.
func (sc script) fill(k unit.NodeID, in, out unit.Port, kb int) {
	sc.s[k].Enqueue(in, out, kb*kilo)
}

func (sc script) settle() {
	sc.Helper()
	if !sc.Settle(100_000) {
		sc.Fatalf("100,000 events and no end: the labels circulate")
	}
}

// wantStuck checks whether there is a deadlock now.
func (sc script) wantStuck(want bool) {
	sc.Helper()
	if got := sc.Stuck(); (len(got) > 0) != want {
		sc.Errorf("at %d us: stuck queues %v, want some: %v", sc.Now()/us, got, want)
	}
}

// wantSilence checks that nothing was declared.
func (sc script) wantSilence() {
	sc.Helper()
	if len(sc.Findings) > 0 {
		sc.Errorf("declared %+v, want nothing", sc.Findings)
		sc.log()
	}
}

// wantFinding checks the only finding.
func (sc script) wantFinding(at unit.Time, where unit.NodeID, trigger unit.NodePort, onLoop bool) {
	sc.Helper()
	if len(sc.Findings) != 1 {
		sc.log()
		sc.Fatalf("%d findings %+v, want 1", len(sc.Findings), sc.Findings)
	}
	f := sc.Findings[0]
	if f.At != at || f.Switch != where || f.Trigger != trigger || f.OnLoop != onLoop {
		sc.log()
		sc.Errorf("at %d us switch %d declared with trigger %v, on loop %v; want %d us, switch %d, %v, %v",
			f.At/us, f.Switch, f.Trigger, f.OnLoop, at/us, where, trigger, onLoop)
	}
	if f.Bucket != (detect.Bucket{Port: b, Class: detecttest.Class}) || f.Queue != (detect.Queue{Port: p, Class: detecttest.Class}) {
		sc.Errorf("declared that %v waits for %v, want bucket %d and queue %d", f.Bucket, f.Queue, b, p)
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
		sc.log()
	}
}

func (sc script) log() {
	sc.Helper()
	for _, t := range sc.Traces {
		sc.Logf("%4d us  S%d %-7v queue %2d bucket %3d  %v->%v seq %d trigger %v hops %d round %d", t.At/us, t.Switch, t.Step, t.Queue.Port,
			t.Bucket.Port, t.Label.Initiator, t.Label.Kind, t.Label.Seq, t.Label.Trigger, t.Label.Hops, t.Label.Flags)
	}
}

// closeRing fills the ring's buckets S4, S3, S2 in turn as pauses reach them, each
// XOFF by the paused ring queue; S1's bucket went XOFF before. It takes 80 us.
func (sc script) closeRing(start unit.Time) {
	for k, at := unit.NodeID(4), start+25*us; k >= 2; k, at = k-1, at+25*us {
		sc.To(at)
		sc.fill(k, b, p, 60)
		sc.s[k].XOFF(b, p)
	}
}

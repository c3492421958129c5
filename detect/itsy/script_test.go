package itsy

import (
	"slices"
	"testing"

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

// kilo is the unit of bytes in the scripts, which are in kilobytes. XON is 36.
const kilo = 1000

var hop = detecttest.Delay{Pause: 20 * us, Message: 20 * us}

// script is a fabric and its switches by number, with checks.
type script struct {
	*testing.T
	*detecttest.Fabric
	s map[unit.NodeID]*detecttest.Switch
}

func newScript(t *testing.T) script {
	return script{t, detecttest.New(New), map[unit.NodeID]*detecttest.Switch{}}
}

// newRing is a ring of n switches, S1 to Sn.
func newRing(t *testing.T, n int, d detecttest.Delay) script {
	sc := newScript(t)
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

// trigger hangs a switch out of the ring behind x of the switch at: its bucket 0
// pauses x when it goes XOFF.
func (sc script) trigger(id, at unit.NodeID) *detecttest.Switch {
	t := sc.add(id, 2)
	t.FaceHosts(1)
	sc.Link(sc.s[at], x, t, 0, hop)
	return t
}

// fill puts kb kilobytes of bucket in into queue out of S_k.
func (sc script) fill(k unit.NodeID, in, out unit.Port, kb int) { sc.s[k].Enqueue(in, out, kb*kilo) }

// close fills S_k's ring bucket and lets it go XOFF, at a time.
func (sc script) close(at unit.Time, k unit.NodeID) {
	sc.To(at)
	sc.fill(k, b, p, 60)
	sc.s[k].XOFF(b, p)
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

// wantFinding checks the only finding: when, by which switch.
func (sc script) wantFinding(at unit.Time, where unit.NodeID) detecttest.Found {
	sc.Helper()
	if len(sc.Findings) != 1 {
		sc.log()
		sc.Fatalf("%d findings %+v, want 1", len(sc.Findings), sc.Findings)
	}
	f := sc.Findings[0]
	if f.At != at || f.Switch != where {
		sc.log()
		sc.Errorf("declared at %d us by switch %d, want %d us, switch %d", f.At/us, f.Switch, at/us, where)
	}
	return f
}

// wantTrigger checks the trigger that a finding names.
func (sc script) wantTrigger(f detecttest.Found, trigger unit.NodePort, onLoop bool) {
	sc.Helper()
	if f.Trigger != trigger || f.OnLoop != onLoop {
		sc.Errorf("trigger %v, on loop %v; want %v, %v", f.Trigger, f.OnLoop, trigger, onLoop)
	}
}

func (sc script) log() {
	sc.Helper()
	for _, t := range sc.Traces {
		sc.Logf("%4d us  S%d %-7v queue %3d bucket %3d  %v rank %d flags %x", t.At/us, t.Switch, t.Step, t.Queue.Port,
			t.Bucket.Port, t.Label.Initiator, t.Label.Seq, t.Label.Flags)
	}
}

// class is the detector's state at a switch.
func (sc script) class(k unit.NodeID) *class {
	return sc.s[k].Detector().(*detector).classes[detecttest.Class]
}

// wantAllStuck checks that the findings' queues are stuck now.
func (sc script) wantAllStuck() {
	sc.Helper()
	stuck := sc.Stuck()
	for _, f := range sc.Findings {
		if at := (unit.NodePort{Node: f.Switch, Port: f.Queue.Port}); !slices.Contains(stuck, at) {
			sc.Errorf("declared %v, stuck are %v", at, stuck)
		}
	}
}

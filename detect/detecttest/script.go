package detecttest

import (
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// Ports of a switch S_k of a ring S1 > S2 > ... > S1.
const (
	In        unit.Port = iota // its priority group for the link from S_(k-1)
	Out                        // its egress to S_(k+1)
	Host                       // leads to its host
	Aside                      // out of the ring
	RingPorts                  // how many there are
)

const us = unit.Microsecond

// Script is a fabric and its switches by number, with checks. A package's own scripts
// embed it, and add what only they ask.
type Script struct {
	*testing.T
	*Fabric
	S map[unit.NodeID]*Switch
}

// NewScript is a script whose switches will run detectors made by f.
func NewScript(t *testing.T, f detect.Factory) Script {
	return Script{t, New(f), map[unit.NodeID]*Switch{}}
}

// Add adds switch S_id.
func (sc Script) Add(id unit.NodeID, ports int) *Switch {
	sc.S[id] = sc.Switch(id, ports)
	return sc.S[id]
}

// Ring adds a ring of n switches, S1 to Sn.
func (sc Script) Ring(n int, d Delay) {
	for k := 1; k <= n; k++ {
		sc.Add(unit.NodeID(k), int(RingPorts)).FaceHosts(Host)
	}
	for k := 1; k <= n; k++ {
		sc.Link(sc.S[unit.NodeID(k)], Out, sc.S[unit.NodeID(k%n+1)], In, d)
	}
}

// Trigger hangs a switch out of the ring behind Aside of the switch at. Its priority group 0
// has 60 KB for its host, and pauses Aside when it goes XOFF.
func (sc Script) Trigger(id, at unit.NodeID, d Delay) *Switch {
	t := sc.Add(id, 2)
	t.FaceHosts(1)
	sc.Link(sc.S[at], Aside, t, 0, d)
	sc.Fill(id, 0, 1, 60)
	return t
}

// Fill puts kb kilobytes of priority group in into queue out of S_k.
func (sc Script) Fill(k unit.NodeID, in, out unit.Port, kb int) { sc.S[k].Enqueue(in, out, kb*1000) }

// Close fills S_k's ring priority group and makes it go XOFF, at a time.
func (sc Script) Close(at unit.Time, k unit.NodeID) {
	sc.To(at)
	sc.Fill(k, In, Out, 60)
	sc.S[k].XOFF(In, Out)
}

// WantStuck checks whether there is a deadlock now.
func (sc Script) WantStuck(want bool) {
	sc.Helper()
	if got := sc.Stuck(); (len(got) > 0) != want {
		sc.Errorf("at %d us: stuck queues %v, want some: %v", sc.Now()/us, got, want)
	}
}

// WantSilence checks that nothing was declared.
func (sc Script) WantSilence() {
	sc.Helper()
	if len(sc.Findings) > 0 {
		sc.LogTraces()
		sc.Errorf("declared %+v, want nothing", sc.Findings)
	}
}

// WantFinding checks the only finding: when, by which switch.
func (sc Script) WantFinding(at unit.Time, where unit.NodeID) Found {
	sc.Helper()
	if len(sc.Findings) != 1 {
		sc.LogTraces()
		sc.Fatalf("%s %+v, want 1", unit.Count(len(sc.Findings), "finding"), sc.Findings)
	}
	f := sc.Findings[0]
	if f.At != at || f.Switch != where {
		sc.LogTraces()
		sc.Errorf("declared at %d us by switch %d, want %d us, switch %d", f.At/us, f.Switch, at/us, where)
	}
	return f
}

// WantTrigger checks the trigger that a finding names.
func (sc Script) WantTrigger(f Found, trigger unit.NodePort, onLoop bool) {
	sc.Helper()
	if f.Trigger != trigger || f.OnLoop != onLoop {
		sc.Errorf("trigger %v, on loop %v; want %v, %v", f.Trigger, f.OnLoop, trigger, onLoop)
	}
}

// LogTraces writes what the detectors logged to the test's log.
func (sc Script) LogTraces() {
	sc.Helper()
	for _, t := range sc.Traces {
		l := t.Label
		sc.Logf("%4d us  S%d %-7v queue %3d priority group %3d  %v->%v seq %d trigger %v hops %d flags %x", t.At/us, t.Switch, t.Step,
			t.Queue.Port, t.PG.Port, l.Initiator, l.Kind, l.Seq, l.Trigger, l.Hops, l.Flags)
	}
}

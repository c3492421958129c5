package itsy

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// S1 is congested first; the pauses go round and come back to it at 105 us: then the
// ring is dead, and one lap later, four pauses of 20 us, it is declared, by one.
func TestTriggerOnLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.Close(85*us, 2)
	sc.To(104 * us)
	sc.WantStuck(false)
	sc.To(105 * us)
	sc.WantStuck(true)
	sc.To(100_000 * us)
	f := sc.WantFinding(185*us, 1)
	sc.WantTrigger(f, unit.NodePort{Node: 1, Port: b}, true)
	if f.Bucket.Port != b || f.Queue.Port != p {
		t.Errorf("declared that %v waits for %v, want bucket %d and queue %d", f.Bucket, f.Queue, b, p)
	}
	// Four pauses closed the ring, four carried the label round and four the word that
	// it is declared: then there is silence.
	if sc.Messages != 0 || sc.Pauses > 4+12 {
		t.Errorf("%d messages and %d pauses, want none and at most 16", sc.Messages, sc.Pauses)
		sc.LogTraces()
	}
}

// The trigger is out of the loop: it is named all the same, and not as on the loop.
func TestTriggerOutOfLoop(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Trigger(5, 2, hop).XOFF(0, 1)
	sc.outOfLoop()
	f := sc.WantFinding(190*us, 2) // the ring is closed at 110
	sc.WantTrigger(f, unit.NodePort{Node: 5, Port: 0}, false)
}

// A host that pauses is named by the switch and port that it is behind.
func TestHostTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.S[2].FaceHosts(x)
	sc.hostPause(2)
	sc.outOfLoop()
	f := sc.WantFinding(190*us, 2)
	sc.WantTrigger(f, unit.NodePort{Node: 2, Port: x}, false)
	sc.wantCause(detect.CauseHost, unit.NodePort{Node: 2, Port: x})
}

// wantCause checks the only diagnosis: the cause that it names first.
func (sc script) wantCause(kind detect.CauseType, at unit.NodePort) {
	sc.Helper()
	if len(sc.Diagnoses) != 1 || len(sc.Diagnoses[0].Causes) == 0 {
		sc.Fatalf("diagnoses %+v, want one that names a cause", sc.Diagnoses)
	}
	if c := sc.Diagnoses[0].Causes[0]; c.Type != kind || c.At != at {
		sc.Errorf("named %v at %v first, want %v at %v", c.Type, c.At, kind, at)
	}
}

// hostPause lets the host behind x of S_k pause it at 20 us.
func (sc script) hostPause(k unit.NodeID) { sc.At(20*us, func() { sc.S[k].HostPause(x) }) }

// outOfLoop lets x of S2 be paused by 20 us, S2's bucket go XOFF by it at 40 us and
// the ring close behind it at 110 us, and waits.
func (sc script) outOfLoop() {
	sc.To(25 * us)
	sc.Fill(2, b, x, 40) // 10 us at the rate of a port: but for the pause it would be gone
	sc.To(40 * us)
	sc.S[2].XOFF(b, x)
	sc.Close(50*us, 1)
	sc.Close(70*us, 4)
	sc.To(80 * us)
	sc.Fill(2, b, p, 40)
	sc.Close(90*us, 3)
	sc.To(110 * us)
	sc.WantStuck(true)
	sc.To(1000 * us)
}

// A two-switch routing loop: frames leave by the port they came in by.
func TestHairpinLoop(t *testing.T) {
	sc := newScript(t)
	s1, s2 := sc.Add(1, 2), sc.Add(2, 2)
	sc.Link(s1, 0, s2, 0, hop)
	s1.Enqueue(0, 0, 60*kilo)
	s1.XOFF(0, 0)
	sc.To(20 * us)
	s2.Enqueue(0, 0, 60*kilo)
	s2.XOFF(0, 0)
	sc.To(1000 * us)
	sc.WantStuck(true)
	sc.WantFinding(80*us, 1)
}

// All at once: everyone mints, the greatest label survives, one declares.
func TestAllAtOnce(t *testing.T) {
	sc := newRing(t, 8, hop)
	for k := unit.NodeID(1); k <= 8; k++ {
		sc.Fill(k, b, p, 60)
	}
	for k := unit.NodeID(1); k <= 8; k++ {
		sc.S[k].XOFF(b, p)
	}
	sc.To(20_000 * us)
	sc.WantStuck(true)
	sc.WantFinding(180*us, 8) // dead at 20, a lap is 160
}

// A chain of pauses that ends at a host is no deadlock, however long it stands.
func TestStormAlone(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.S[4].HostPause(h)
	sc.Fill(4, b, h, 60)
	sc.S[4].XOFF(b, h)
	for k, at := unit.NodeID(3), 20*us; k >= 2; k, at = k-1, at+20*us {
		sc.Close(at, k)
	}
	sc.To(1_000_000 * us)
	sc.WantStuck(false)
	sc.WantSilence()
	if sc.Messages > 100 {
		t.Errorf("%d messages in 40,000 hops, want at most 100: no label came home", sc.Messages)
	}
}

// What a host sends is not believed, on a pause or alone.
func TestForgery(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.S[1].HostPause(h)
	d := sc.S[1].Detector()
	own := d.Label(sc.Now(), detect.Bucket{Port: b, Class: detecttest.Class})
	own.Class, own.Seq, own.Initiator = detecttest.Class, 1, unit.NodePort{Node: 1, Port: b}
	sc.Fill(1, b, h, 60)
	d.Pause(sc.Now(), detect.Queue{Port: h, Class: detecttest.Class}, own, false)
	for kind := range itsyhdr.Kind(8) {
		own.Kind = kind
		sc.S[1].Deliver(h, own)
	}
	sc.To(1000 * us)
	sc.WantSilence()
	if sc.Messages > 0 {
		t.Errorf("%d messages, want none", sc.Messages)
	}
}

// Messages of a neighbour that make no sense are survived, and prove nothing.
func TestNonsense(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	var kinds []itsyhdr.Kind
	for kind := range itsyhdr.Kind(8) {
		kinds = append(kinds, kind)
	}
	at := sc.Now()
	for n := range 4000 {
		at += us
		sc.To(at)
		m := itsyhdr.TLV{
			Kind: kinds[n%8], Class: unit.Priority(n / 8 % 8), Flags: uint8(n / 64 % 32), Seq: uint16(n % 7),
			Initiator: unit.NodePort{Node: unit.NodeID(n % 5), Port: unit.Port(n % 64)}, Hops: uint8(n),
		}
		sc.S[4].Deliver(unit.Port(n%3), m)
	}
	sc.WantStuck(false)
	sc.WantSilence()
}

// A label says whether it has passed the bucket that is the initial trigger.
func TestLabelPassesTheTrigger(t *testing.T) {
	s := &stub{id: 1, ports: 4}
	d := New(s, s)
	b0 := detect.Bucket{Port: 0, Class: 3}
	d.XOFF(0, b0, detect.Queue{Port: 1, Class: 3}) // nothing is paused: it is the trigger
	foreign := newLabel(50, unit.NodePort{Node: 9, Port: 5}) | flagProof
	for _, fresh := range []bool{true, false} { // the second time it is greater than what was minted meanwhile
		for q := unit.Port(1); q <= 2; q++ {
			d.Pause(0, detect.Queue{Port: q, Class: 3}, foreign.tlv(), fresh)
		}
		foreign = newLabel(90, unit.NodePort{Node: 9, Port: 5}) | flagProof
	}
	got := d.Label(0, b0)
	want := foreign.withTrigger(newTrigger(unit.NodePort{Node: 1, Port: 0}, false), true).tlv()
	if got != want {
		t.Errorf("label %v, want %v", got, want)
	}
}

// A bucket that has declared a deadlock, and sees a greater label where its own came
// home, begins anew after a while; but if that label is declared, it leaves it at that.
func TestGreaterLabelAfterDeclaration(t *testing.T) {
	for _, declared := range []bool{false, true} {
		pt := newPart(t)
		b0 := detect.Bucket{Port: 0, Class: 3}
		arrives := func(l itsyhdr.TLV) {
			for q := unit.Port(1); q <= 2; q++ {
				pt.d.Pause(pt.now, detect.Queue{Port: q, Class: 3}, l, false)
			}
		}
		own := pt.d.Label(0, b0)
		arrives(own)
		if pt.reports != 1 {
			t.Fatalf("%d reports, want 1 when the label is home", pt.reports)
		}
		other := newLabel(500, unit.NodePort{Node: 9, Port: 5}) | flagProof
		if declared {
			other |= flagDone
		}
		arrives(other.tlv())
		if l := pt.d.Label(pt.now, b0); l.Initiator != own.Initiator || l.Flags&wireDone == 0 {
			t.Errorf("label %v at once, want its own, declared", l)
		}
		for pt.d.Deadline() <= graceHops*pt.Hop() {
			pt.now = pt.d.Deadline()
			pt.d.Tick(pt.now)
		}
		l := parseLabel(pt.d.Label(pt.now, b0))
		if declared && l.id() != other.id() || !declared && (l.owner() != own.Initiator || !other.less(l)) || l&flagDone != 0 != declared {
			t.Errorf("label %x after %d hops with other declared %v", l, pt.now/pt.Hop(), declared)
		}
		if pt.reports != 1 {
			t.Errorf("%d reports, want still 1", pt.reports)
		}
	}
}

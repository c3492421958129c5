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
	sc.To(longHops * sc.Hop)
	f := sc.WantFinding(185*us, 1)
	sc.WantTrigger(f, unit.NodePort{Node: 1, Port: b}, true)
	if f.PG.Port != b || f.Queue.Port != p {
		t.Errorf("declared that %v waits for %v, want priority group %d and queue %d", f.PG, f.Queue, b, p)
	}
	// Four pauses closed the ring, four carried the label round and four the word that
	// it is declared: then there is silence.
	if sc.Messages != 0 || sc.Pauses > 4+12 {
		t.Errorf("%d messages and %d pauses, want none and at most 16", sc.Messages, sc.Pauses)
		sc.LogTraces()
	}
	// Then the other three verify it now and then, with eight messages each time, and find
	// S1, which has declared it.
	for _, c := range []struct{ hops, messages int }{{10 * longHops, 3 * 2 * 8}, {160 * longHops, 3 * 8 * 8}} {
		sc.To(unit.Time(c.hops) * sc.Hop)
		if sc.Messages == 0 || sc.Messages > c.messages || sc.Pauses > 4+12 {
			t.Errorf("after %d hops %d messages and %d pauses, want some, at most %d, and at most 16", c.hops, sc.Messages, sc.Pauses, c.messages)
		}
	}
	sc.WantFinding(185*us, 1)
}

// A label that says that a deadlock was declared, and whose owner does not exist, goes round a
// dead ring and hides it, until somebody verifies all the same. It is declared once, and the
// label is gone.
func TestNobodysLabel(t *testing.T) {
	for n := range 20 {
		sc := newRing(t, 4, hop)
		sc.Close(10*us, 1)
		sc.Close(35*us, 4)
		sc.Close(60*us, 3)
		sc.Close(85*us, 2)
		sc.To(unit.Time(100+5*n) * us)
		sc.S[4].DeliverPause(p, itsyhdr.TLV{ // S1 pauses it
			Kind: itsyhdr.KindLabel, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 60000}, Seq: 30000, Flags: wireProof | wireDone, Period: 1,
		})
		sc.WantStuck(n > 0)
		sc.To(10 * longHops * sc.Hop)
		sc.wantAllStuck()
		if len(sc.Findings) != 1 || sc.Findings[0].At > (4*longHops+100)*sc.Hop {
			t.Errorf("forged at %d us: declared %+v, want one within %d hops", 100+5*n, sc.Findings, 4*longHops+100)
		}
		for range 4 { // a pause is repeated
			for k := unit.NodeID(1); k <= 4; k++ {
				sc.S[k].Refresh(b)
			}
			sc.To(sc.Now() + sc.Hop)
		}
		for k := unit.NodeID(1); k <= 4; k++ {
			if l := sc.priority(k).lab[p]; l.owner().Node > 4 {
				t.Errorf("forged at %d us: S%d still has label %x", 100+5*n, k, l)
			}
		}
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
	if len(sc.Diagnoses) != 1 || len(sc.Diagnoses[0]) == 0 {
		sc.Fatalf("diagnoses %+v, want one that names a cause", sc.Diagnoses)
	}
	if c := sc.Diagnoses[0][0]; c.Type != kind || c.At != at {
		sc.Errorf("named %v at %v first, want %v at %v", c.Type, c.At, kind, at)
	}
}

// hostPause lets the host behind x of S_k pause it at 20 us.
func (sc script) hostPause(k unit.NodeID) { sc.At(20*us, func() { sc.S[k].HostPause(x) }) }

// outOfLoop lets x of S2 be paused by 20 us, S2's priority group go XOFF by it at 40 us and
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
	own := d.Label(sc.Now(), detect.PG{Port: b, Priority: detecttest.Priority})
	own.Priority, own.Seq, own.Initiator = detecttest.Priority, 1, unit.NodePort{Node: 1, Port: b}
	sc.Fill(1, b, h, 60)
	d.Pause(sc.Now(), detect.Queue{Port: h, Priority: detecttest.Priority}, own, false)
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
			Kind: kinds[n%8], Priority: unit.Priority(n / 8 % 8), Flags: uint8(n / 64 % 32), Seq: uint16(n % 7),
			Initiator: unit.NodePort{Node: unit.NodeID(n % 5), Port: unit.Port(n % 64)}, Hops: uint8(n),
		}
		sc.S[4].Deliver(unit.Port(n%3), m)
	}
	sc.WantStuck(false)
	sc.WantSilence()
}

// A label says whether it has passed the priority group that is the initial trigger.
func TestLabelPassesTheTrigger(t *testing.T) {
	s := &stub{id: 1, ports: 4}
	d := New(s, s)
	b0 := detect.PG{Port: 0, Priority: 3}
	d.XOFF(0, b0, detect.Queue{Port: 1, Priority: 3}) // nothing is paused: it is the trigger
	foreign := newLabel(50, unit.NodePort{Node: 9, Port: 5}).with(flagProof)
	for _, fresh := range []bool{true, false} { // the second time it is greater than what was minted meanwhile
		for q := unit.Port(1); q <= 2; q++ {
			d.Pause(0, detect.Queue{Port: q, Priority: 3}, foreign.tlv(), fresh)
		}
		foreign = newLabel(90, unit.NodePort{Node: 9, Port: 5}).with(flagProof)
	}
	got := d.Label(0, b0)
	want := foreign.withTrigger(newTrigger(unit.NodePort{Node: 1, Port: 0}, false), true).tlv()
	if got != want {
		t.Errorf("label %v, want %v", got, want)
	}
}

// A priority group that has declared a deadlock, and sees a greater label where its own came
// home, begins anew after a while; but if that label is declared, it stays as it is.
func TestGreaterLabelAfterDeclaration(t *testing.T) {
	for _, declared := range []bool{false, true} {
		pt := newPart(t)
		b0 := detect.PG{Port: 0, Priority: 3}
		arrives := func(l itsyhdr.TLV) {
			for q := unit.Port(1); q <= 2; q++ {
				pt.d.Pause(pt.now, detect.Queue{Port: q, Priority: 3}, l, false)
			}
		}
		own := pt.d.Label(0, b0)
		arrives(own)
		if pt.reports != 1 {
			t.Fatalf("%d reports, want 1 when the label is home", pt.reports)
		}
		other := newLabel(500, unit.NodePort{Node: 9, Port: 5}).with(flagProof)
		if declared {
			other = other.with(flagDone)
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
		if l.owner() != own.Initiator || declared != l.less(other) || declared != l.has(flagDone) {
			t.Errorf("label %x after %d hops with other declared %v", l, pt.now/pt.Hop(), declared)
		}
		if pt.reports != 1 {
			t.Errorf("%d reports, want still 1", pt.reports)
		}
	}
}

// A check of a label that goes round a loop, and whose owner does not exist, goes on with it: each
// priority group hands it on now and then at most, however many there are.
func TestChecksOfNobodysLabel(t *testing.T) {
	for _, n := range []int{4, 12} {
		sc := newRing(t, n, hop)
		nobodys := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 60000}, Seq: 30000, Flags: wireProof | wireDone, Period: 1}
		for k := n; k >= 1; k-- {
			sc.Close(sc.Now()+25*us, unit.NodeID(k))
		}
		sc.To(sc.Now() + 20*us)
		sc.S[unit.NodeID(n)].DeliverPause(p, nobodys)
		sc.To(sc.Now() + 2*unit.Time(n)*sc.Hop)
		if l := sc.priority(2).lab[p]; l.owner().Node != 60000 {
			t.Fatalf("%d switches: label %x, want the forged one", n, l)
		}
		sc.Messages = 0
		for range 100 {
			nobodys.Kind = itsyhdr.KindTemporalCheck
			sc.S[1].Deliver(b, nobodys)
			sc.To(sc.Now() + sc.Hop/10)
		}
		sc.To(sc.Now() + 100*sc.Hop)
		if most := n * 110 / (checkHops / 2); sc.Messages == 0 || sc.Messages > most {
			t.Errorf("%d switches: %d messages in 110 hops, want some, at most %d", n, sc.Messages, most)
		}
	}
}

// A priority group that has declared a deadlock begins anew when the queue is resumed for which it
// waited, although a greater label has come there since, if other queues keep it blocked.
func TestDeclaredQueueResumes(t *testing.T) {
	pt := newPart(t)
	q3 := detect.Queue{Port: 3, Priority: 3}
	pt.d.Pause(0, q3, itsyhdr.TLV{}, true)
	own := pt.d.Label(0, detect.PG{Port: 0, Priority: 3})
	for q := unit.Port(1); q <= 2; q++ {
		pt.d.Pause(0, detect.Queue{Port: q, Priority: 3}, own, false)
	}
	if pt.reports != 1 {
		t.Fatalf("%d reports, want 1", pt.reports)
	}
	other := newLabel(500, unit.NodePort{Node: 9, Port: 5}).with(flagProof | flagDone)
	for q := unit.Port(1); q <= 3; q++ {
		pt.d.Pause(0, detect.Queue{Port: q, Priority: 3}, other.tlv(), false)
	}
	pt.d.Resume(0, detect.Queue{Port: 2, Priority: 3}, false) // whose label was the last to come home
	if l := parseLabel(pt.d.Label(0, detect.PG{Port: 0, Priority: 3})); l.owner() != own.Initiator || !other.less(l) || l.has(flagDone) {
		t.Errorf("label %x, want one of its own that is greater than all", l)
	}
}

// A neighbour that pauses a priority group of a dead ring, says each time that a greater deadlock was
// declared, and answers nothing: the priority group that it pauses asks without it, whichever of its
// queues comes first.
func TestSilentNeighbour(t *testing.T) {
	for _, on := range []unit.Port{p, x} { // S2's port to S3
		aside := p + x - on
		sc := newScript(t)
		for k := unit.NodeID(1); k <= 4; k++ {
			sc.Add(k, int(detecttest.RingPorts))
		}
		to := func(k unit.NodeID) unit.Port {
			if k == 2 {
				return on
			}
			return p
		}
		for k := unit.NodeID(1); k <= 4; k++ {
			sc.Link(sc.S[k], to(k), sc.S[k%4+1], b, hop)
		}
		says := func(rank uint16) {
			sc.S[2].DeliverPause(aside, itsyhdr.TLV{
				Kind: itsyhdr.KindLabel, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 9}, Seq: rank, Flags: wireProof | wireDone,
			})
		}
		sc.Fill(2, b, aside, 40)
		for n, k := range []unit.NodeID{1, 4, 3, 2} {
			sc.To(unit.Time(10+25*n) * us)
			sc.Fill(k, b, to(k), 60)
			sc.S[k].XOFF(b, to(k))
		}
		says(1000)
		for n := range uint16(20) {
			sc.To(sc.Now() + longHops*sc.Hop)
			says(1001 + n)
		}
		sc.WantStuck(true)
		sc.wantAllStuck()
		if len(sc.Findings) == 0 || sc.Findings[0].Switch != 2 || sc.Findings[0].Queue.Port != on {
			t.Errorf("the ring goes on by port %d: declared %+v, want that S2 waits for the ring", on, sc.Findings)
		}
	}
}

package itsy

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// The tests of this file are the event orders in which a detector that counts bits,
// sends a label once or asks twice goes wrong. XON is 36 KB unless said.

// Half of every priority group waits for a fast host: all are paused, and all resume.
func TestPartialDependency(t *testing.T) {
	sc := newRing(t, 4, detecttest.Delay{Pause: 5 * us, Message: 6 * us})
	half := func(at unit.Time, k unit.NodeID, cause unit.Port) {
		sc.To(at)
		sc.Fill(k, b, h, 30)
		sc.Fill(k, b, p, 30)
		sc.S[k].XOFF(b, cause)
	}
	half(10*us, 1, h)
	half(16*us, 4, p)
	half(22*us, 3, p)
	half(28*us, 2, p)
	for k, at := unit.NodeID(1), 170*us; k <= 4; k, at = k+1, at+15*us {
		sc.To(at)
		sc.WantStuck(false)
		sc.S[k].Leave(b, h, 24*kilo)
		sc.S[k].XON(b)
	}
	sc.To(10_000 * us)
	sc.WantSilence()
}

// A trigger out of the loop resumes just before the ring closes. The ring is dead at
// 140 us; S2, for which the wait is new, declares it a lap later.
func TestTransientTrigger(t *testing.T) {
	for _, host := range []bool{false, true} {
		sc := newRing(t, 4, hop)
		if host {
			s2 := sc.S[2]
			s2.FaceHosts(x)
			sc.At(20*us, func() { s2.HostPause(x) })
			sc.At(132*us, func() { s2.HostResume(x) })
		} else {
			tr := sc.Trigger(5, 2, hop)
			tr.XOFF(0, 1)
			sc.At(112*us, func() { tr.XON(0) })
		}
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
		sc.To(140 * us)
		sc.WantStuck(true)
		sc.To(10_000 * us)
		sc.WantFinding(220*us, 2)
	}
}

// A priority group resumes and goes XOFF again while the label is under way: no stuck set.
func TestOscillatingPG(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.To(85 * us)
	sc.Fill(2, b, h, 14)
	sc.Fill(2, b, p, 26)
	sc.S[2].XOFF(b, p)
	sc.To(139 * us)
	sc.S[2].Leave(b, h, 4*kilo)
	sc.S[2].XON(b)
	sc.To(168 * us)
	sc.Fill(2, b, h, 5)
	sc.Fill(2, b, p, 2)
	sc.S[2].XOFF(b, p)
	sc.To(227 * us)
	sc.WantStuck(false)
	sc.S[2].Leave(b, h, 15*kilo)
	sc.S[2].XON(b)
	sc.To(10_000 * us)
	sc.WantStuck(false)
	sc.WantSilence()
}

// The wait that closes the loop comes to be by frames that were still on the wire:
// no pause tells of it.
func TestLateEdge(t *testing.T) {
	sc := newRing(t, 4, detecttest.Delay{Pause: 5 * us, Message: 5 * us})
	sc.XON = 20 * kilo
	sc.Link(sc.S[1], p, sc.S[2], b, detecttest.Delay{Pause: 100 * us, Message: 100 * us})
	sc.Fill(2, b, h, 41)
	sc.S[2].XOFF(b, h)
	sc.Close(102*us, 1)
	sc.Close(108*us, 4)
	sc.Close(114*us, 3)
	sc.To(191 * us)
	sc.WantStuck(false)
	for n := range 21 {
		sc.To((191 + unit.Time(n)) * us)
		sc.Fill(2, b, p, 1)
	}
	sc.WantStuck(true)
	sc.To(10_000 * us)
	f := sc.WantFinding(326*us, 2) // from 211 on one lap of 115
	sc.WantTrigger(f, unit.NodePort{Node: 2, Port: b}, true)
}

// A trigger that chatters beside the ring, before and after it is dead.
func TestChatteringTrigger(t *testing.T) {
	sc := newRing(t, 4, hop)
	tr := sc.Trigger(5, 2, hop)
	sc.Fill(2, h, x, 39)
	for k := range unit.Time(40) {
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
	sc.To(10_000 * us)
	if len(sc.Findings) != 1 || sc.Findings[0].At > 225*us {
		t.Errorf("%+v, want one within 1.5 laps", sc.Findings)
		sc.LogTraces()
	}
	sc.wantAllStuck()
}

// Two triggers on two arms.
func TestTwoTriggers(t *testing.T) {
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
	sc.To(80 * us)
	sc.WantStuck(true)
	sc.To(10_000 * us)
	sc.wantAllStuck()
	if len(sc.Findings) != 1 || sc.Findings[0].At != 160*us {
		t.Errorf("%+v, want one at 160 us", sc.Findings)
		sc.LogTraces()
	}
}

// A pause of an older period holds S1 while S2's priority group has resumed and gone XOFF
// again: there is a lap of labels, but no stuck set until the newer pause arrives.
func TestPauseOfAnOlderPeriod(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.XON = 37 * kilo
	sc.Link(sc.S[1], p, sc.S[2], b, detecttest.Delay{Pause: 60 * us, Message: hop.Message}) // S2's pauses of S1
	for k := unit.NodeID(1); k <= 4; k++ {
		sc.Fill(k, b, p, 60)
	}
	sc.To(1 * us)
	for _, k := range []unit.NodeID{1, 4, 3} {
		sc.S[k].XOFF(b, p)
	}
	sc.To(10 * us)
	sc.S[2].XOFF(b, p)
	sc.To(18 * us)
	sc.S[2].XON(b)
	sc.To(24 * us)
	sc.S[2].XOFF(b, p)
	sc.To(83 * us)
	sc.WantStuck(false)
	sc.WantSilence()
	sc.To(84 * us)
	sc.WantStuck(true)
	sc.To(10_000 * us)
	sc.wantAllStuck()
	if len(sc.Findings) != 1 || sc.Findings[0].At > 84*us+120*us {
		t.Errorf("%+v, want one within a lap of 120 us after 84", sc.Findings)
	}
}

// split is two rings over S1 > S2 and S3 > S4: S2 and S4 each hold 24 and 28 KB
// towards the two arms, so that no priority group holds more than XON in any one queue there.
//
//	S1 -> S2 -x> S1,  S2 -p> S3 -> S4 -p> S1', S4 -x> S3'
func split(t *testing.T) script { return longSplit(t, 0) }

// longSplit is split with so many switches on the way from S1 to S2.
func longSplit(t *testing.T, between int) script {
	sc := newScript(t)
	for k := unit.NodeID(1); k <= unit.NodeID(4+between); k++ {
		sc.Add(k, 4)
	}
	// Ports 0 and 1 of S1 and S3 take in, 2 sends; port 0 of S2 and S4 takes in, 1
	// and 2 send. On the way between 0 takes in and 1 sends.
	last, out := sc.S[1], unit.Port(2)
	for k := range unit.NodeID(between) {
		sc.Link(last, out, sc.S[5+k], 0, hop)
		last, out = sc.S[5+k], 1
		sc.Fill(5+k, 0, 1, 60)
		sc.S[5+k].XOFF(0, 1)
	}
	sc.Link(last, out, sc.S[2], 0, hop)
	sc.Link(sc.S[3], 2, sc.S[4], 0, hop)
	sc.Link(sc.S[2], 1, sc.S[1], 0, hop)
	sc.Link(sc.S[2], 2, sc.S[3], 0, hop)
	sc.Link(sc.S[4], 1, sc.S[1], 1, hop)
	sc.Link(sc.S[4], 2, sc.S[3], 1, hop)
	for _, k := range []unit.NodeID{1, 3} {
		for in := range unit.Port(2) {
			sc.Fill(k, in, 2, 60)
			sc.S[k].XOFF(in, 2)
		}
	}
	sc.To(60 * us)
	for _, k := range []unit.NodeID{2, 4} {
		sc.Fill(k, 0, 1, 24)
		sc.Fill(k, 0, 2, 28)
		sc.S[k].XOFF(0, 1)
	}
	sc.To(80 * us)
	sc.WantStuck(true)
	return sc
}

// No label can prove a split deadlock: the owner of the one that comes home verifies.
func TestSplit(t *testing.T) {
	sc := split(t)
	sc.To(100_000 * us)
	sc.wantAllStuck()
	if len(sc.Findings) != 1 || sc.Findings[0].At > 80*us+8*8*20*us {
		t.Errorf("%+v, want one within 8 laps of 8 queues", sc.Findings)
		sc.LogTraces()
	}
	t.Logf("declared after %d us, %d pauses and %d messages in all", (sc.Findings[0].At-80*us)/us, sc.Pauses, sc.Messages)
}

// A verification of a long loop takes longer than it was waited for at first. It may not be begun anew at
// the same wait for ever.
func TestLongSplit(t *testing.T) {
	for _, between := range []int{8, 16, 30, 60} {
		sc := longSplit(t, between)
		sc.To(100_000 * us)
		sc.wantAllStuck()
		if len(sc.Findings) == 0 {
			t.Errorf("%d switches between: nothing declared", between)
			continue
		}
		t.Logf("%d switches between: declared after %d hops, %d messages in all", between, (sc.Findings[0].At-80*us)/sc.Hop, sc.Messages)
	}
}

// A split deadlock that is broken somewhere and closed again is declared again.
func TestSplitAgain(t *testing.T) {
	for _, at := range []struct {
		k   unit.NodeID
		in  unit.Port
		out unit.Port
		kb  int // that leave
	}{{1, 0, 2, 30}, {1, 1, 2, 30}, {3, 0, 2, 30}, {2, 0, 1, 20}, {4, 0, 2, 20}} {
		sc := split(t)
		sc.To(5000 * us)
		before := len(sc.Findings)
		sc.S[at.k].Leave(at.in, at.out, at.kb*kilo)
		sc.S[at.k].XON(at.in)
		sc.To(5100 * us)
		sc.WantStuck(false)
		sc.Fill(at.k, at.in, at.out, at.kb)
		sc.S[at.k].XOFF(at.in, at.out)
		sc.To(5120 * us)
		sc.WantStuck(true)
		sc.To(5120*us + 200*sc.Hop)
		sc.wantAllStuck()
		if len(sc.Findings) == before {
			sc.LogTraces()
			t.Errorf("broken at S%d, priority group %d: no declaration after it was closed again", at.k, at.in)
		}
	}
}

// As above, but one arm has 2 KB less: the priority group gets down to XON by the other.
func TestAlmostSplit(t *testing.T) {
	sc := newScript(t)
	for k := unit.NodeID(1); k <= 2; k++ {
		sc.Add(k, 4)
	}
	sc.S[2].FaceHosts(2)
	sc.Link(sc.S[1], 1, sc.S[2], 0, hop)
	sc.Link(sc.S[2], 1, sc.S[1], 0, hop)
	sc.Fill(1, 0, 1, 60)
	sc.S[1].XOFF(0, 1)
	sc.S[2].HostPause(2)
	sc.To(30 * us)
	sc.Fill(2, 0, 1, 36)
	sc.Fill(2, 0, 2, 30)
	sc.S[2].XOFF(0, 1)
	sc.To(100_000 * us)
	sc.WantStuck(false)
	sc.WantSilence()
}

// A deadlock that is broken and comes again in the same place is declared again, and
// so is one that was broken elsewhere on the loop while its owner saw nothing.
func TestAgain(t *testing.T) {
	for _, at := range []unit.NodeID{1, 2, 3, 4} {
		sc := newRing(t, 4, hop)
		for k := unit.NodeID(1); k <= 4; k++ {
			sc.Close(unit.Time(k)*us, k)
		}
		sc.To(2000 * us)
		if len(sc.Findings) != 1 {
			t.Fatalf("%d findings, want 1", len(sc.Findings))
		}
		sc.S[at].Leave(b, p, 30*kilo) // as a response does
		sc.S[at].XON(b)
		sc.To(2100 * us)
		sc.WantStuck(false)
		sc.Fill(at, b, p, 30)
		sc.S[at].XOFF(b, p)
		sc.To(2120 * us)
		sc.WantStuck(true)
		sc.To(20_000 * us)
		sc.wantAllStuck()
		if len(sc.Findings) != 2 {
			t.Errorf("broken at S%d: %d findings, want 2", at, len(sc.Findings))
			sc.LogTraces()
		}
	}
}

// Two loops share two priority groups and close at once. The greater label, of S2 on the first
// loop, hides the other, and what S2 declares explains both. When S2 is let go, S1
// mints anew for the second loop.
func TestSecondLoop(t *testing.T) {
	sc := newScript(t)
	sc.XON = 20 * kilo
	s, join := sc.Add(1, 3), sc.Add(4, 3) // S1 sends into both loops, S4 takes in from both
	for ring := unit.NodeID(0); ring < 2; ring++ {
		far := sc.Add(2+ring, 2)
		sc.Link(s, 1+unit.Port(ring), far, 0, hop)
		sc.Link(far, 1, join, unit.Port(ring), hop)
	}
	sc.Link(join, 2, s, 0, hop)
	sc.priority(2).clock = 100
	s.Enqueue(0, 1, 30*kilo)
	s.Enqueue(0, 2, 30*kilo)
	s.XOFF(0, 1)
	for _, k := range []unit.NodeID{2, 3} {
		sc.Fill(k, 0, 1, 60)
		sc.S[k].XOFF(0, 1)
	}
	sc.To(100 * us)
	for in := range unit.Port(2) {
		join.Enqueue(in, 2, 60*kilo)
		join.XOFF(in, 2)
	}
	sc.To(5000 * us)
	sc.WantStuck(true)
	sc.WantFinding(180*us, 2) // closed at 120, a lap is 60
	sc.S[2].Leave(0, 1, 60*kilo)
	sc.S[2].XON(0)
	sc.To(5020 * us) // S1's queue is resumed
	s.Leave(0, 1, 30*kilo)
	sc.To(5080 * us)
	sc.WantStuck(true)
	if len(sc.Findings) != 2 {
		sc.LogTraces()
		t.Fatalf("%d findings a lap later, want 2", len(sc.Findings))
	}
	sc.To(50_000 * us)
	if n := len(sc.Findings); n != 2 {
		t.Errorf("%d findings, want 2", n)
	}
	sc.WantStuck(true)
}

// A label that came in from outside hides those of a ring, and goes round it when its
// owner waits no more: nothing but the ring says it then. S2, where it came in, is told
// by the next refresh, and its own new label declares the ring one lap later.
func TestStaleLabel(t *testing.T) {
	sc := newRing(t, 4, hop)
	outside, further := sc.Add(5, 2), sc.Add(6, 2)
	further.FaceHosts(1)
	sc.Link(sc.S[2], x, outside, 0, hop)
	sc.Link(outside, 1, further, 0, hop)
	outside.Enqueue(0, 1, 60*kilo)
	outside.XOFF(0, 1)
	sc.priority(5).clock = 100 // greater than any of the ring
	sc.Close(30*us, 1)
	sc.Close(55*us, 4)
	sc.Close(80*us, 3)
	sc.To(105 * us)
	sc.Fill(2, b, x, 10)
	sc.Close(105*us, 2)
	sc.At(106*us, func() { further.Enqueue(0, 1, 60*kilo); further.XOFF(0, 1) })
	sc.To(300 * us)
	sc.WantStuck(true)
	sc.WantSilence()

	further.XON(0)
	sc.To(330 * us)
	outside.Refresh(0)
	sc.To(10_000 * us)
	sc.WantFinding(430*us, 2)
	sc.wantAllStuck()
}

// The gap rule: a label that was minted before the owner's pause may have lapsed
// proves nothing when it comes home.
func TestLapsedPause(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.Close(85*us, 2)
	sc.To(165 * us)
	sc.S[1].Lapse(b) // no pause of it has left for long: p of S4 may have sent
	sc.S[4].Expire(p)
	sc.To(185 * us) // the label is home
	sc.WantSilence()
	old := sc.priority(1).in[b].own
	sc.S[1].Refresh(b)
	if n := sc.priority(1).in[b]; !before(old, n.min) {
		t.Errorf("labels from rank %d on are accepted, want none up to %d, which was minted before the gap", n.min, old)
	}
	sc.To(10_000 * us)
	sc.WantStuck(true)
	sc.wantAllStuck()
	if n := len(sc.Findings); n != 1 {
		t.Errorf("%d findings, want 1, by a label minted after the gap", n)
		sc.LogTraces()
	}
}

// Labels are state: one that was lost goes again with the next refresh.
func TestLostLabel(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.Close(85*us, 2)
	sc.To(140 * us)
	c := sc.priority(3)
	c.lab[p] = label{} // as if S4's last pauses had not carried any
	sc.To(160 * us)
	for k := unit.NodeID(1); k <= 4; k++ {
		sc.S[k].Refresh(b)
	}
	sc.To(10_000 * us)
	sc.WantStuck(true)
	sc.wantAllStuck()
	if n := len(sc.Findings); n != 1 {
		t.Errorf("%d findings, want 1", n)
	}
}

// Ranks wrap while labels are on their way.
func TestRankWraps(t *testing.T) {
	for first := uint16(65530); first != 4; first++ {
		sc := newRing(t, 4, hop)
		for k := unit.NodeID(1); k <= 4; k++ {
			sc.priority(k).clock = first
		}
		sc.Close(10*us, 1)
		sc.Close(35*us, 4)
		sc.Close(60*us, 3)
		sc.Close(85*us, 2)
		sc.To(10_000 * us)
		sc.WantFinding(185*us, 1)
	}
}

// Many priority groups verify at once, more than there are slots.
func TestManyVerifications(t *testing.T) {
	sc := split(t)
	for k := unit.NodeID(1); k <= 4; k++ {
		d := sc.S[k].Detector().(*detector)
		c := sc.priority(k)
		for set := c.blocked; !set.Empty(); set.Pop() {
			d.verify(sc.Now(), c, set.First())
		}
	}
	sc.To(100_000 * us)
	sc.wantAllStuck()
	if len(sc.Findings) == 0 {
		t.Error("nothing declared")
		sc.LogTraces()
	}
}

// A pause of a declared ring ends for an instant and is there again: that is another
// deadlock, although the label that comes with the pause says that it is declared.
func TestDeclaredRingOpensAndCloses(t *testing.T) {
	sc := closedRing(t, NewUnchecked)
	sc.To(1000 * us)
	sc.WantFinding(185*us, 1)
	sc.S[3].Expire(p)
	sc.WantStuck(false)
	sc.S[4].Refresh(b)
	sc.To(1020 * us)
	sc.WantStuck(true)
	sc.To(100_000 * us)
	if len(sc.Findings) != 2 {
		sc.LogTraces()
		t.Errorf("%d findings, want 2", len(sc.Findings))
	}
	sc.wantAllStuck()
}

// A priority group declares while its own verification runs. That is over then: if it failed
// later, it would put off what the priority group does about the deadlock.
func TestDeclaresDuringItsVerification(t *testing.T) {
	sc := closedRing(t, NewUnchecked)
	sc.Lost = func(from unit.NodeID, m itsyhdr.TLV) bool { return from == 2 && m.Kind == itsyhdr.KindAck }
	d := sc.S[1].Detector().(*detector)
	d.verify(sc.Now(), sc.priority(1), b)
	id := sc.priority(1).slots[0].id
	sc.To(1000 * us)
	sc.WantFinding(185*us, 1)
	due := sc.priority(1).in[b].due
	for range 2 { // of the query and, if it comes to that, of the walk
		sc.S[1].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindAck, Priority: detecttest.Priority, Period: uint8(detecttest.Priority), Initiator: id.owner(), Seq: id.rank(), Flags: wireFailed})
	}
	if got := sc.priority(1).in[b].due; got != due {
		t.Errorf("acts at hop %d, want %d", got, due)
	}
}

// closedRing is a ring that is closed at 105 us. Its label is home at 185.
func closedRing(t *testing.T, f detect.Factory) script {
	sc := script{detecttest.NewScript(t, f)}
	sc.Ring(4, hop)
	sc.Close(10*us, 1)
	sc.Close(35*us, 4)
	sc.Close(60*us, 3)
	sc.Close(85*us, 2)
	sc.To(105 * us)
	return sc
}

// With the check a label that comes home sends a check round, and that declares a lap
// later, at the cost of a message a hop.
func TestChecked(t *testing.T) {
	sc := closedRing(t, New)
	sc.To(10_000 * us)
	sc.WantFinding(265*us, 1)
	sc.wantAllStuck()
	if sc.Messages != 4 {
		t.Errorf("%d messages, want 4", sc.Messages)
	}
	if name := sc.S[1].Detector().Name(); name != Name {
		t.Errorf("name %q, want %q", name, Name)
	}
}

// A wait of the ring ends behind the label, as when its link fails: without the check it
// is declared, and the check finds it.
func TestCheckStops(t *testing.T) {
	broken := func(f detect.Factory) script {
		sc := closedRing(t, f)
		sc.To(130 * us)     // the label has passed S4
		sc.S[1].Down.Add(b) // no pause comes to S4 any more
		sc.S[4].Expire(p)
		sc.To(185 * us)
		sc.WantStuck(false)
		return sc
	}
	broken(NewUnchecked).WantFinding(185*us, 1)
	sc := broken(New)
	sc.To(10_000 * us)
	sc.WantSilence()
}

// A check of an older label comes home when a newer one is: that has not been checked.
func TestStaleCheck(t *testing.T) {
	sc := closedRing(t, New)
	sc.Lost = func(unit.NodeID, itsyhdr.TLV) bool { return true }
	sc.To(190 * us)
	own := sc.priority(1).in[b].own
	check := itsyhdr.TLV{Kind: itsyhdr.KindTemporalCheck, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 1, Port: b}, Hops: uint8(p)}
	check.Seq = own - 1
	sc.S[1].Deliver(b, check)
	sc.WantSilence()
	check.Seq = own
	for _, by := range []unit.Port{x, 64, 255} { // a queue by which it did not leave, or none
		wrong := check
		wrong.Hops = uint8(by)
		sc.S[1].Deliver(b, wrong)
	}
	sc.WantSilence()
	sc.S[1].Deliver(b, check)
	sc.WantFinding(190*us, 1)
}

// A check that is lost is followed by a verification.
func TestLostCheck(t *testing.T) {
	sc := closedRing(t, New)
	sc.Lost = func(_ unit.NodeID, m itsyhdr.TLV) bool { return m.Kind == itsyhdr.KindTemporalCheck }
	sc.To(10_000 * us)
	sc.wantAllStuck()
	if len(sc.Findings) != 1 || sc.Messages < 16 {
		t.Errorf("%d findings, %d messages; want 1, and at least 16 of a verification", len(sc.Findings), sc.Messages)
	}
}

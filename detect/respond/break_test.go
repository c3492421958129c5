package respond

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// long is beyond every time of a loop: laps, extra thresholds and the hold-down, in hops of 25 us.
const long = 100 * unit.Millisecond

var none unit.NodePort

// Dropping breaks the loop by no more than takes one priority group to XON.
func TestDrop(t *testing.T) {
	sc := newRing(t, 4, "drop")
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(false)
	sc.wantCount(detect.ActionDrop, 1)
	sc.wantCount(detect.ActionRestrict, 4)
	sc.wantCount(detect.ActionExtra, 0)
	sc.wantRefused()
	sc.wantClean()
	for _, m := range sc.Acts {
		if m.Action == detect.ActionDrop && (m.Switch != 1 || m.Bytes < 24*kilo || m.Bytes > 24*kilo+detecttest.MTU) {
			t.Errorf("S%d dropped %d bytes, want S1, and 24,000 and at most a frame more", m.Switch, m.Bytes)
		}
	}
}

// Forcing sends as much, in steps for which the next hop is given a frame more.
func TestForce(t *testing.T) {
	sc := newRing(t, 4, "force")
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(false)
	sc.wantCount(detect.ActionDrop, 0)
	sc.wantRefused()
	sc.wantClean()
	var given, forced int
	for _, m := range sc.Acts {
		switch {
		case m.Action == detect.ActionExtra && m.Switch == 2:
			given = m.Bytes // in all
		case m.Action == detect.ActionForce && m.Switch == 1:
			forced += m.Bytes
		}
		if forced > 0 && given < forced+detecttest.MTU {
			t.Errorf("S1 has forced %d bytes, for which S2 was given %d", forced, given)
		}
	}
	if forced < 20*kilo || forced > 24*kilo {
		t.Errorf("S1 forced %d bytes, want what S2 takes without a resume, and at most 24,000", forced)
		sc.log()
	}
}

// A bubble gives every priority group what makes it resume, once the loop is isolated.
func TestBubble(t *testing.T) {
	sc := newRing(t, 4, "bubble")
	sc.declare(1, none)
	sc.after(20 * 25 * us)
	sc.wantStuck(false)
	sc.wantCount(detect.ActionRestrict, 4)
	sc.wantCount(detect.ActionExtra, 4)
	sc.wantCount(detect.ActionExtraOver, 0)
	isolated := false
	for _, m := range sc.Acts {
		switch {
		case m.Action == detect.ActionExtra && !isolated:
			t.Error("given before the loop was isolated")
		case m.Action == detect.ActionRestrict && m.Switch == 4:
			isolated = true
		}
	}
	sc.after(long)
	sc.wantCount(detect.ActionDrop, 0)
	sc.wantRefused()
	sc.wantClean()
}

// The queue is let go when none of the loop's frames wait there, and what was given is
// returned then.
func TestBubbleEnds(t *testing.T) {
	sc := newRing(t, 4, "bubble")
	sc.declare(1, none)
	sc.after(20 * 25 * us)
	sc.s[3].Leave(b, p, 24*kilo)
	sc.after(2 * 25 * us)
	sc.wantCount(detect.ActionExtraOver, 0)
	sc.wantCount(detect.ActionFree, 0)
	sc.s[3].Leave(b, p, 36*kilo)
	sc.after(3 * 25 * us)
	sc.wantCount(detect.ActionFree, 1)
	sc.wantCount(detect.ActionExtraOver, 1)
	if sc.s[3].InForce() || !sc.s[1].InForce() {
		t.Error("S3 is to be free, and S1 not yet")
	}
}

// Every priority group is given what the fullest of the loop needs, as far as there is reserve.
func TestRoomForTheFullest(t *testing.T) {
	for pool, want := range map[int]int{100 * kilo: 44 * kilo, 46 * kilo: 24 * kilo} {
		sc := newRing(t, 4, "bubble")
		sc.s[3].Enqueue(b, p, 20*kilo)
		sc.Pool = pool
		sc.declare(1, none)
		sc.after(20 * 25 * us)
		sc.wantCount(detect.ActionExtra, 4)
		for _, m := range sc.Acts {
			if m.Action == detect.ActionExtra && m.Switch != 3 && (m.Bytes < want || m.Bytes > want+2*detecttest.MTU) {
				t.Errorf("pool of %d: S%d was given %d bytes, want %d and up to two frames", pool, m.Switch, m.Bytes, want)
			}
		}
	}
}

// Where the trigger is handled the loop keeps what it was given for as long, so that it
// does not close again; the next time for twice as long.
func TestLoopStaysOpen(t *testing.T) {
	for _, response := range []string{"drop+trigger", "force+trigger", "bubble+trigger"} {
		sc := newRing(t, 4, response)
		sc.trigger(9, 3).HostPause(1)
		from := sc.Now()
		for _, quiet := range []unit.Time{flowQuiet, 2 * flowQuiet} {
			returned := sc.count(detect.ActionExtraOver)
			sc.declare(1, unit.NodePort{Node: 9, Port: 1})
			sc.after(long)
			sc.wantStuck(false)
			sc.To(from + quiet - unit.Millisecond)
			sc.wantCount(detect.ActionExtraOver, returned)
			sc.after(2 * long)
			sc.wantCount(detect.ActionExtraOver, returned+4)
			sc.wantClean()
			for k := unit.NodeID(1); k <= 4; k++ {
				sc.s[k].Leave(b, p, sc.s[k].Facts().Held(pgOf(b), queueOf(p)))
			}
			sc.after(long)
			from = sc.Now()
			for k := unit.NodeID(1); k <= 4; k++ {
				sc.close(k)
			}
			sc.after(long)
		}
	}
}

// Without reserve it is broken all the same.
func TestNoReserveToStayOpen(t *testing.T) {
	sc := newRing(t, 4, "drop+trigger")
	sc.Pool = kilo
	sc.spread(sc.trigger(9, 3))
	sc.declare(1, unit.NodePort{Node: 9, Port: 1})
	sc.after(long)
	sc.wantStuck(false)
	sc.wantRefused()
	sc.wantCount(detect.ActionExtra, 0)
	sc.after(hostQuiet)
	sc.wantClean()
}

// One without reserve undoes the bubble of all.
func TestNoReserveForABubble(t *testing.T) {
	sc := newRing(t, 4, "bubble")
	sc.Pool = 26 * kilo // for one priority group of a switch; S3's is given out
	sc.s[3].Enqueue(x, h, 1)
	sc.s[3].Enqueue(b, h, 20*kilo)
	sc.declare(1, none)
	sc.after(long)
	sc.wantRefused(detect.RefusedNoReserve, detect.RefusedNoReserve)
	if sc.Refusals[0].Switch != 3 || sc.Refusals[1].Switch != 1 {
		t.Errorf("refused at %+v, want at S3, and so at S1", sc.Refusals)
	}
	sc.wantClean()
}

func TestNoReserveForForce(t *testing.T) {
	sc := newRing(t, 4, "force")
	sc.Pool = 10 * kilo
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(true)
	sc.wantRefused(detect.RefusedNoReserve)
	sc.wantCount(detect.ActionForce, 0)
	sc.wantClean()
}

// Whoever declares what is not there is told so, and nothing is done.
func TestUnconfirmed(t *testing.T) {
	for _, response := range []string{"drop", "force", "bubble"} {
		sc := newRing(t, 4, response)
		sc.s[3].Leave(b, p, 30*kilo)
		sc.s[3].XON(b)
		sc.declare(1, none)
		sc.after(long)
		sc.wantRefused(detect.RefusedUnconfirmed)
		if len(sc.Acts) > 0 {
			t.Errorf("%s: actions %+v, want none", response, sc.Acts)
		}
	}
}

func TestPortDown(t *testing.T) {
	sc := newRing(t, 4, "drop")
	sc.s[1].Down.Add(p)
	sc.declare(1, none)
	sc.after(long)
	sc.wantRefused(detect.RefusedPortDown)
	sc.wantCount(detect.ActionDrop, 0)
	sc.wantClean()
}

// A link that goes while the trigger is sought.
func TestPortGoesDown(t *testing.T) {
	sc := newRing(t, 4, "drop+trigger")
	sc.declare(1, unit.NodePort{Node: 99})
	sc.At(sc.Now()+120*us, func() { sc.s[1].Down.Add(p) })
	sc.after(long)
	sc.wantRefused(detect.RefusedUnreachable, detect.RefusedPortDown)
	sc.wantClean()
}

// A deadlock that is declared while another action holds is broken later.
func TestHeld(t *testing.T) {
	sc := newRing(t, 4, "drop")
	sc.declare(1, none)
	sc.after(400 * us)
	sc.wantStuck(false)
	sc.s[1].Enqueue(b, p, 30*kilo)
	sc.s[1].XOFF(b, p)
	sc.after(20 * us)
	sc.wantStuck(true)
	sc.declare(1, none)
	sc.after(25 * us)
	sc.wantRefused(detect.RefusedHeld)
	sc.wantCount(detect.ActionDrop, 1)
	sc.after(long)
	sc.wantStuck(false)
	sc.wantRefused(detect.RefusedHeld)
	sc.wantClean()
}

// A loop closes again, and is declared by a switch that is still isolated for the other,
// which broke it before and is done: it is held, and broken when that has ended.
func TestHeldBySeal(t *testing.T) {
	sc := newRing(t, 4, "drop")
	sc.declare(1, none)
	sc.after(200 * us)
	for _, k := range []unit.NodeID{4, 3, 2, 1} { // all but some of S2's leaves
		left := 0
		if k == 2 {
			left = 10 * kilo
		}
		sc.after(20 * us)
		sc.s[k].Leave(b, p, sc.s[k].Facts().Held(pgOf(b), queueOf(p))-left)
		if on, _ := sc.s[k].Facts().XOFF(pgOf(b)); on {
			sc.s[k].XON(b)
		}
	}
	sc.after(200 * us)
	for k := unit.NodeID(1); k <= 4; k++ {
		sc.close(k)
	}
	sc.after(40 * us)
	sc.declare(2, none)
	sc.after(200 * us)
	sc.wantStuck(true)
	sc.wantRefused(detect.RefusedHeld)
	sc.after(long)
	sc.wantStuck(false)
	sc.wantCount(detect.ActionDrop, 2)
	sc.wantClean()
}

// Two declare at once: one acts.
func TestElection(t *testing.T) {
	for _, response := range []string{"drop", "force", "bubble"} {
		sc := newRing(t, 4, response)
		sc.declare(1, none)
		sc.declare(3, none)
		sc.after(long)
		sc.wantStuck(false)
		sc.wantRefused(detect.RefusedHeld, detect.RefusedUnconfirmed)
		for _, r := range sc.Refusals {
			if r.Switch != 1 {
				t.Errorf("%s: %v at S%d, want at S1, whose claim is the smaller", response, r.Why, r.Switch)
			}
		}
		if sc.count(detect.ActionDrop)+sc.count(detect.ActionForce) > 1 {
			t.Errorf("%s: more than one switch acted", response)
			sc.log()
		}
		sc.wantClean()
	}
}

// A priority group that waits in two queues: the fuller one leads to a switch that is free, so
// the claim comes back and goes the other way.
func TestSplit(t *testing.T) {
	sc := newRing(t, 4, "drop")
	out := sc.trigger(9, 3)
	sc.s[3].Enqueue(b, x, 90*kilo)
	out.Enqueue(0, 1, 60*kilo)
	out.XOFF(0, 1) // it pauses S3, and waits for a host
	sc.after(40 * us)
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(false)
	sc.wantCount(detect.ActionDrop, 1)
	sc.wantRefused()
	sc.wantClean()
}

// Each message of a lap may be lost once.
func TestLostMessages(t *testing.T) {
	for _, response := range []string{"drop", "force", "bubble"} {
		for _, kind := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal, itsyhdr.KindReserve, itsyhdr.KindBubble} {
			for from := unit.NodeID(1); from <= 4; from++ {
				sc := newRing(t, 4, response)
				lost := false
				sc.Lost = func(at unit.NodeID, m itsyhdr.TLV) bool {
					lose := !lost && at == from && m.Kind == kind
					lost = lost || lose
					return lose
				}
				sc.declare(1, none)
				sc.after(long)
				sc.wantStuck(false)
				sc.wantClean()
				if t.Failed() {
					t.Fatalf("%s: %v lost at S%d", response, kind, from)
				}
			}
		}
	}
}

// The answer about room that comes after the next hop was asked again is as one that was lost: its
// room was there before what is sent now. One that comes twice counts once.
func TestLateAnswer(t *testing.T) {
	play := func(again ...unit.Time) []detecttest.Acted {
		sc := newRing(t, 4, "force")
		first := true
		sc.Lost = func(_ unit.NodeID, m itsyhdr.TLV) bool {
			lose := first && m.Kind == itsyhdr.KindReserve && m.Flags&flagBack != 0
			if lose {
				first = false
				for _, after := range again {
					sc.At(sc.Now()+after, func() { sc.s[1].Deliver(p, m) })
				}
			}
			return lose
		}
		sc.declare(1, none)
		sc.after(long)
		if first {
			t.Error("nobody was asked for room")
		}
		sc.wantStuck(false)
		sc.wantClean()
		return sc.Acts
	}
	lost, again := play(), askHops*25*us-hop.Message // from the answer until it is asked again
	for after := again + us; after < again+100*us; after += us {
		if got := play(after); !slices.Equal(got, lost) {
			t.Errorf("answered after %d us: %+v, want as without an answer: %+v", after/us, got, lost)
		}
	}
	if once, twice := play(hop.Message), play(hop.Message, hop.Message+us); !slices.Equal(once, twice) {
		t.Errorf("answered twice: %+v, want as once: %+v", twice, once)
	}
}

// Each message may come twice.
func TestTwice(t *testing.T) {
	for _, response := range []string{"drop", "force", "bubble", "drop+trigger"} {
		sc := newRing(t, 4, response)
		sc.spread(sc.trigger(9, 3))
		sc.Lost = func(from unit.NodeID, m itsyhdr.TLV) bool {
			to, at := from%4+1, b
			switch {
			case from > 4, m.Kind == itsyhdr.KindTrigger, m.Kind == itsyhdr.KindFound: // goes by many ports
				return false
			case m.Flags&flagBack != 0:
				to, at = (from+2)%4+1, p
			}
			sc.At(sc.Now()+hop.Message+us, func() { sc.s[to].Deliver(at, m) })
			return false
		}
		sc.declare(1, unit.NodePort{Node: 9, Port: 1})
		sc.after(long)
		sc.wantStuck(false)
		sc.wantRefused()
		sc.after(flowQuiet)
		sc.wantClean()
		if t.Failed() {
			t.Fatal(response)
		}
	}
}

// What is forced in small steps is, so often and no more; then it is said that there is no room.
func TestForceRounds(t *testing.T) {
	sc := newRing(t, 4, "force")
	sc.s[1].Enqueue(b, p, 400*kilo)
	sc.s[2].Leave(b, p, 60*kilo-40*kilo)
	sc.Lost = func(_ unit.NodeID, m itsyhdr.TLV) bool {
		if m.Kind == itsyhdr.KindReserve && m.Flags&flagBack != 0 { // the frames come
			sc.At(sc.Now()+2*hop.Message, func() { sc.s[2].Enqueue(b, p, int(m.Hops)*detecttest.MTU) })
		}
		return false
	}
	sc.declare(1, none)
	sc.after(long)
	sc.wantCount(detect.ActionForce, roundsMax)
	sc.wantRefused(detect.RefusedNoReserve)
	sc.wantStuck(true)
	sc.wantClean()
}

// A loop of more than 64 hops is not followed.
func TestHopLimit(t *testing.T) {
	for n, want := range map[int]bool{64: false, 65: true} {
		sc := newRing(t, n, "drop")
		sc.declare(1, none)
		sc.after(long)
		sc.wantStuck(want)
		sc.wantClean()
	}
}

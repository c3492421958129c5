package respond

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// wantTurn checks the n-th time that a turn was made lossy.
func (sc script) wantTurn(n int, k unit.NodeID, in, out unit.Port) {
	sc.Helper()
	for _, m := range sc.Acts {
		if m.Action != detect.ActionLossyTurn {
			continue
		}
		if n--; n > 0 {
			continue
		}
		if m.Switch != k || m.PG != pgOf(in) || m.Queue != queueOf(out) {
			sc.Errorf("turn of S%d from %v to %v made lossy, want S%d, port %d to %d", m.Switch, m.PG, m.Queue, k, in, out)
		}
		return
	}
	sc.Errorf("too few turns were made lossy")
	sc.log()
}

// cured is a ring of 4 that was dead and broken; x of each leads to a switch S10k, from
// which nothing has come yet.
func cured(t *testing.T) script {
	t.Helper()
	sc := newRing(t, 4, "cure")
	for k := unit.NodeID(1); k <= 4; k++ {
		sc.Link(sc.add(10*k, 2), 0, sc.s[k], x, hop)
	}
	sc.declare(1, none)
	sc.after(long)
	sc.wantStuck(false)
	return sc
}

// A deadlock is broken by as little as drop drops, the loop is lent reserve, and the turn
// that was declared is lossy for as long as nobody presses on it, and no longer.
func TestCure(t *testing.T) {
	sc := cured(t)
	sc.wantCount(detect.ActionDrop, 1)
	sc.wantCount(detect.ActionExtra, 4)
	sc.wantCount(detect.ActionLossyTurn, 1)
	sc.wantTurn(1, 1, b, p)
	sc.wantRefused()
	sc.wantCount(detect.ActionLosslessTurn, 0)
	sc.after(turnQuiet)
	sc.wantCount(detect.ActionLosslessTurn, 1)
	sc.after(flowQuiet)
	sc.wantClean()
}

// A turn stays lossy while it would hold its upstream; when it does so again after that,
// it is lossy for twice as long.
func TestPressedTurn(t *testing.T) {
	sc := cured(t)
	for range 5 {
		sc.s[1].Press(b, p)
		sc.after(turnQuiet / 2)
	}
	sc.wantCount(detect.ActionLosslessTurn, 0)
	sc.after(3 * turnQuiet)
	sc.wantCount(detect.ActionLosslessTurn, 1)
	sc.s[2].XOFF(b, p) // it pauses S1
	sc.close(1)
	sc.after(long)
	sc.wantCount(detect.ActionLossyTurn, 2)
	sc.after(2*turnQuiet - 2*long)
	sc.wantCount(detect.ActionLosslessTurn, 1)
	sc.after(2 * long)
	sc.wantCount(detect.ActionLosslessTurn, 2)
	sc.after(2 * flowQuiet)
	sc.wantClean()
}

// Switches of a loop that was broken watch their turns: one that begins to hold its
// upstream is made lossy at once, whether its priority group goes XOFF first or its queue is paused
// first, and no more is dropped than lets it resume.
func TestWatch(t *testing.T) {
	for _, pausedFirst := range []bool{true, false} {
		sc := cured(t)
		drops := sc.count(detect.ActionDrop)
		pause := func() { sc.s[4].XOFF(b, p); sc.after(long) } // it pauses S3
		if pausedFirst {
			pause()
		}
		sc.s[3].Enqueue(x, p, 60*kilo)
		sc.s[3].XOFF(x, p)
		if !pausedFirst {
			sc.after(long)
			sc.wantCount(detect.ActionLossyTurn, 1) // nothing keeps it from sending
			pause()
		}
		sc.after(us)
		sc.wantCount(detect.ActionLossyTurn, 2)
		sc.wantTurn(2, 3, x, p)
		sc.wantCount(detect.ActionDrop, drops+1)
		if on, _ := sc.s[3].Facts().XOFF(pgOf(x)); on {
			t.Error("the priority group is still XOFF")
		}
	}
}

// What does not wait for a switch is left alone: hosts that are slow, priority groups of hosts, and
// what is about to resume.
func TestWatchLeavesAlone(t *testing.T) {
	sc := cured(t)
	sc.s[4].XOFF(b, p)
	sc.s[3].HostPause(h)
	sc.after(long)
	sc.s[3].Enqueue(h, p, 60*kilo) // of a host
	sc.s[3].XOFF(h, p)
	sc.s[3].Enqueue(x, h, 60*kilo) // for a host
	sc.s[3].Enqueue(x, p, 30*kilo) // resumes without it
	sc.s[3].XOFF(x, h)
	sc.after(long)
	sc.wantCount(detect.ActionLossyTurn, 1)
}

// The watch ends when for a time nothing was made lossy, and begins with a deadlock.
func TestWatchEnds(t *testing.T) {
	hold := func(sc script) {
		sc.s[4].XOFF(b, p)
		sc.after(long)
		sc.s[3].Enqueue(x, p, 60*kilo)
		sc.s[3].XOFF(x, p)
		sc.after(long)
	}
	sc := cured(t)
	sc.after(turnQuiet + flowQuiet)
	hold(sc)
	sc.wantCount(detect.ActionLossyTurn, 1)

	sc = newRing(t, 4, "cure")
	sc.s[3].Enqueue(x, p, 60*kilo)
	sc.s[3].XOFF(x, p)
	sc.after(long)
	sc.wantCount(detect.ActionLossyTurn, 0)
}

// A priority group that waits in two queues, in neither of them for more than XON: both turns.
func TestWatchOfTwoArms(t *testing.T) {
	sc := cured(t)
	sc.Link(sc.s[3], h, sc.add(77, 1), 0, hop)
	sc.s[3].FaceHosts() // h leads to S77 now
	sc.s[4].XOFF(b, p)
	sc.s[30].XOFF(0, 1)
	sc.after(long)
	sc.s[3].Enqueue(b, p, 30*kilo)
	sc.s[3].Enqueue(b, x, 30*kilo)
	sc.s[3].XOFF(b, x)
	sc.after(us)
	sc.wantCount(detect.ActionLossyTurn, 3)
	sc.wantTurn(2, 3, b, p)
	sc.wantTurn(3, 3, b, x)
}

// A host that is the trigger is isolated; flows are not policed.
func TestCureOfTriggers(t *testing.T) {
	for port, want := range map[unit.Port]int{1: 1, 0: 0} {
		sc := newRing(t, 4, "cure")
		at := sc.trigger(9, 3)
		sc.spread(at)
		sc.flows(at)
		sc.declare(1, unit.NodePort{Node: 9, Port: port})
		sc.after(long)
		sc.wantStuck(false)
		sc.wantRefused()
		sc.wantCount(detect.ActionLossy, want)
		sc.wantCount(detect.ActionPolice, 0)
		sc.wantCount(detect.ActionLossyTurn, 1)
		sc.after(2*flowQuiet + hostQuiet)
		sc.wantClean()
	}
}

// A pool that has nothing to lend: what the drop let go takes the loop along.
func TestCureWithoutReserve(t *testing.T) {
	sc := newRing(t, 4, "cure")
	sc.Pool = 0
	sc.declare(1, none)
	sc.after(unit.Millisecond)
	for _, k := range []unit.NodeID{4, 3, 2} {
		sc.s[k].Leave(b, p, 60*kilo)
		sc.s[k].XON(b)
	}
	sc.after(long)
	sc.wantStuck(false)
	sc.wantRefused()
	sc.wantCount(detect.ActionExtra, 0)
	sc.wantCount(detect.ActionLossyTurn, 1)
	sc.after(flowQuiet + turnQuiet)
	sc.wantClean()
}

// A claim that meets itself comes back to the priority group that sent it, not to another whose
// claim left by the same port: S1 > S2 is part of two rings, over S3 and over S4.
func TestClaimMeetsItself(t *testing.T) {
	const from3, from4, to2 unit.Port = 0, 1, 2 // of S1
	const from1, to3, to4 unit.Port = 0, 1, 2   // of S2
	sc := newScript(t, "drop")
	sc.add(1, 3)
	sc.add(2, 3)
	sc.Link(sc.s[1], to2, sc.s[2], from1, hop)
	for k, ports := range map[unit.NodeID][2]unit.Port{3: {to3, from3}, 4: {to4, from4}} {
		sc.add(k, 2)
		sc.Link(sc.s[2], ports[0], sc.s[k], 0, hop)
		sc.Link(sc.s[k], 1, sc.s[1], ports[1], hop)
	}
	fill := func(k unit.NodeID, in, out unit.Port, kb int) {
		sc.s[k].Enqueue(in, out, kb*kilo)
		if on, _ := sc.s[k].Facts().XOFF(pgOf(in)); !on {
			sc.s[k].XOFF(in, out)
		}
	}
	fill(3, 0, 1, 60)
	fill(4, 0, 1, 60)
	fill(1, from3, to2, 60)
	fill(1, from4, to2, 60)
	fill(2, from1, to3, 40)
	fill(2, from1, to4, 60) // the claim goes there first
	sc.To(100 * us)
	sc.d[3].find = []detect.Finding{{PG: detect.PG{Port: 0, Priority: detecttest.Priority}, Queue: queueOf(1)}}
	sc.after(long)
	sc.wantRefused()
	sc.wantCount(detect.ActionDrop, 1)
}

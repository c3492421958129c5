package shpiner

import (
	"fmt"
	"slices"
	"testing"

	"softswitch/unit"
)

// lbScript is a switch with Loop Breaker, whose messages are SPUIDs.
type lbScript = script[uint32]

func newLBScript(t *testing.T) *lbScript { return newScript(t, NewLoopBreaker, lbMessage, lbParse) }

func lbMessage(spuid uint32) []byte {
	return AppendElection(nil, Election{Priority: priority, SPUID: spuid})
}

func lbParse(payload []byte) (uint32, error) {
	m, err := ParseElection(payload)
	if err == nil && m.Priority != priority {
		err = fmt.Errorf("priority %d", m.Priority)
	}
	return m.SPUID, err
}

// lbSuspected is a switch whose queue p holds frames of b and is suspected; alternative
// says whether they have another way.
func lbSuspected(t *testing.T, alternative bool) *lbScript {
	sc := newLBScript(t)
	if alternative {
		sc.Ways.Add(b)
	}
	sc.Enqueue(b, p, 50_000)
	sc.Pass(whole)
	return sc
}

// 3.2.1: while a port is suspected it sends its SPUID periodically, and no longer.
func TestSuspectSendsPeriodically(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Pass(3 * period)
	sc.WantSent(own, own, own)
	sc.Leave(b, p, 1)
	sc.Pass(2 * period)
	sc.WantSent()
}

// A new suspicion has a new SPUID.
func TestEverySuspicionDrawsAnew(t *testing.T) {
	sc := lbSuspected(t, true)
	first := sc.TakeOne()
	sc.Leave(b, p, 1)
	sc.Pass(whole + period)
	if second := sc.TakeOne(); second == first {
		t.Errorf("SPUID %08x again", first)
	}
}

// Several suspected ports send different SPUIDs.
func TestPortsHaveTheirOwn(t *testing.T) {
	sc := newLBScript(t)
	sc.Ways.Add(b)
	sc.Enqueue(b, p, 50_000)
	sc.Enqueue(b, p2, 50_000)
	sc.Pass(whole)
	at, spuids := sc.TakeMessages()
	if !slices.Equal(at, []unit.Port{p, p2}) || spuids[0] == spuids[1] {
		t.Errorf("sent %08x at %v, want two of them at %d and %d", spuids, at, p, p2)
	}
}

// Rule 1: a switch that sends nothing ignores what comes.
func TestNotSuspectedIgnores(t *testing.T) {
	sc := newLBScript(t)
	sc.Ways.Add(b)
	sc.Enqueue(b, p, 50_000)
	sc.Receive(b, 1)
	sc.WantSent()
	sc.Pass(whole)
	if own := sc.TakeOne(); own == 1 {
		t.Error("what came before the suspicion is sent, want an SPUID of its own")
	}
	sc.WantDone()
}

// Rule 2: a greater SPUID is ignored.
func TestGreaterIsIgnored(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Receive(b, own+1)
	sc.WantSent()
	sc.Pass(period)
	sc.WantSent(own)
}

// Rule 3: a smaller one replaces those that are greater, and those alone.
func TestSmallerReplacesGreater(t *testing.T) {
	sc := newLBScript(t)
	sc.Ways.Add(b)
	sc.Enqueue(b, p, 50_000)
	sc.Enqueue(b, p2, 50_000)
	sc.Pass(whole)
	_, own := sc.TakeMessages()
	low, high := min(own[0], own[1]), max(own[0], own[1])
	sc.Receive(b, low+1)
	sc.WantSent(low + 1) // at once, in place of high
	sc.Pass(period)
	if _, now := sc.TakeMessages(); slices.Contains(now, high) || !slices.Contains(now, low) || !slices.Contains(now, low+1) {
		t.Errorf("sent %08x, want %08x and %08x", now, low, low+1)
	}
	sc.Receive(b, low-1)
	sc.WantSent(low-1, low-1)
	sc.WantDone()
}

// Rule 4: the own SPUID makes the switch a master, and the port by which it came is
// the loop's ingress.
func TestOwnSPUIDHome(t *testing.T) {
	sc := lbSuspected(t, true)
	sc.Receive(b, sc.TakeOne())
	sc.WantDone("report 0>1", "avoid 0>1", "force 0>1 1500")
}

// An SPUID that was replaced makes nobody a master any more.
func TestReplacedSPUIDHome(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Receive(b, own-1)
	sc.Receive(b, own)
	sc.WantDone()
}

// 3.2.2: a switch without another path originates nothing and passes on what comes.
func TestWithoutAlternativePassesOn(t *testing.T) {
	sc := lbSuspected(t, false)
	sc.Pass(3 * period)
	sc.WantSent()
	sc.Receive(b, 700)
	sc.WantSent(700)
	sc.Pass(period)
	sc.WantSent() // once for each that came
	sc.Receive(b, 700)
	sc.WantSent(700)
	sc.WantDone("refuse 0>1 no alternative path")
}

// What circulates among switches that only pass on dies out: in a period a queue
// passes on falling SPUIDs only.
func TestPassedOnOnceAPeriod(t *testing.T) {
	sc := lbSuspected(t, false)
	for _, spuid := range []uint32{700, 700, 800, 600, 700, 600} {
		sc.Receive(b, spuid)
	}
	sc.WantSent(700, 600)
}

// Frames of one switch without another way are enough: they may be the loop's.
func TestOneIngressWithoutAlternative(t *testing.T) {
	sc := newLBScript(t)
	sc.Ways.Add(b)
	sc.Enqueue(b, p, 50_000)
	sc.Enqueue(p2, p, 1000)
	sc.Pass(whole)
	sc.WantSent()
}

// A host's frames are on no loop.
func TestHostsNeedNoAlternative(t *testing.T) {
	sc := newLBScript(t)
	sc.Ways.Add(b)
	sc.Enqueue(b, p, 50_000)
	sc.Enqueue(h, p, 1000)
	sc.Pass(whole)
	sc.TakeOne()
}

// 3.2.3: traffic is released gradually, while the queue does not move by itself.
func TestGradualRelease(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Receive(b, own)
	sc.Receive(b, own) // in the same period
	sc.WantDone("report 0>1", "avoid 0>1", "force 0>1 1500")
	for range 2 {
		sc.Pass(period)
		sc.WantSent(own)
		sc.Receive(b, own)
	}
	sc.WantDone("force 0>1 3000", "force 0>1 4500")
	sc.Leave(b, p, 30_000) // by itself
	sc.Pass(period)
	sc.WantSent()
	sc.WantDone("unforce 0>1") // ended
}

// The flows of the loop's ingress have no other way after all.
func TestNothingToReroute(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Ways = unit.PortSet{}
	sc.Receive(b, own)
	sc.Pass(period)
	sc.Receive(b, own)
	sc.WantDone("report 0>1", "refuse 0>1 no alternative path")
}

// The weak point of 3.2.1, kept: nothing asks whether the ingress feeds the queue.
func TestFalseMaster(t *testing.T) {
	sc := lbSuspected(t, true)
	sc.Receive(p2, sc.TakeOne())
	sc.WantDone("report 3>1", "refuse 3>1 no alternative path")
}

// An SPUID by which the switch was master is a replay after that.
func TestLoopBreakerReplay(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	sc.Receive(b, own)
	sc.Leave(b, p, 30_000)
	sc.Pass(whole + period)
	sc.Done = nil
	sc.TakeOne() // suspected again
	sc.Refuse(b, lbMessage(own))
	sc.WantSent()
	sc.WantDone()
}

// Bad input is refused, and nothing comes of it.
func TestLoopBreakerRefused(t *testing.T) {
	sc := lbSuspected(t, true)
	own := sc.TakeOne()
	for _, payload := range [][]byte{
		nil,
		lbMessage(own)[:11],
		AppendElection(nil, Election{Priority: priority + 1, SPUID: own}),
		AppendPath(nil, Path{Priority: priority, Index: 1, Hops: []Hop{{SPUID: own, Egress: p}}}),
	} {
		sc.Refuse(b, payload)
	}
	sc.Refuse(h, lbMessage(own))
	sc.WantSent()
	sc.WantDone()
}

func TestLoopBreakerStateBytes(t *testing.T) {
	if a, z := stateBytes(NewLoopBreaker, 2), stateBytes(NewLoopBreaker, 64); a <= 0 || z <= 8*a || z > 64*150 {
		t.Errorf("2 ports take %d bytes, 64 take %d; want more by port, up to 150 a port", a, z)
	}
}

package loopbreaker

import (
	"slices"
	"testing"

	"softswitch/clcm"
	"softswitch/detect/suspect"
	"softswitch/detect/suspect/suspecttest"
	"softswitch/internal/unit"
)

// Ports of a switch of a loop: b comes from the switch before, p and p2 lead to the
// next ones, h to a host.
const (
	b unit.Port = iota
	p
	p2
	h
	ports
)

const (
	period = suspect.PeriodHops * suspecttest.Hop
	whole  = suspect.SuspectHops * suspecttest.Hop
)

// script is a switch with Loop Breaker, with checks.
type script struct {
	*testing.T
	*suspecttest.Switch
	at unit.Time
}

func newScript(t *testing.T) *script {
	sc := &script{T: t, Switch: suspecttest.New(New, 5, int(ports))}
	sc.Hosts.Add(h)
	return sc
}

// suspected is a switch whose queue p holds frames of b and is suspected; alternative
// says whether they have another way.
func suspected(t *testing.T, alternative bool) *script {
	sc := newScript(t)
	if alternative {
		sc.Ways.Add(b)
	}
	sc.Hold(b, p, 50_000)
	sc.pass(whole)
	return sc
}

func (sc *script) pass(d unit.Time) {
	sc.at += d
	sc.To(sc.at)
}

func message(spuid uint32) []byte {
	return clcm.AppendElection(nil, clcm.Election{Class: suspecttest.Class, SPUID: spuid})
}

// sent is what left since the last call, by port and SPUID.
func (sc *script) sent() (ports []unit.Port, spuids []uint32) {
	sc.Helper()
	for _, s := range sc.Take() {
		m, err := clcm.ParseElection([]byte(s.Payload))
		if err != nil || m.Class != suspecttest.Class {
			sc.Fatalf("sent %x: %+v, %v", s.Payload, m, err)
		}
		ports, spuids = append(ports, s.Port), append(spuids, m.SPUID)
	}
	return ports, spuids
}

// own is the SPUID that queue p alone has sent.
func (sc *script) own() uint32 {
	sc.Helper()
	at, spuids := sc.sent()
	if !slices.Equal(at, []unit.Port{p}) {
		sc.Fatalf("sent at ports %v, want one message at %d", at, p)
	}
	return spuids[0]
}

func (sc *script) wantSent(spuids ...uint32) {
	sc.Helper()
	if _, got := sc.sent(); !slices.Equal(got, spuids) {
		sc.Errorf("sent %08x, want %08x", got, spuids)
	}
}

func (sc *script) wantDone(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.Done, want) {
		sc.Errorf("done %q, want %q", sc.Done, want)
	}
}

// receive lets an SPUID come in at in.
func (sc *script) receive(in unit.Port, spuid uint32) {
	sc.Helper()
	if !sc.Deliver(in, message(spuid)) {
		sc.Errorf("SPUID %08x is refused", spuid)
	}
}

func (sc *script) refuse(in unit.Port, payload []byte) {
	sc.Helper()
	if sc.Deliver(in, payload) {
		sc.Errorf("%x is taken, want it refused", payload)
	}
}

// 3.2.1: while a port is suspected it sends its SPUID periodically, and no longer.
func TestSuspectSendsPeriodically(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.pass(3 * period)
	sc.wantSent(own, own, own)
	sc.Leave(b, p, 1)
	sc.pass(2 * period)
	sc.wantSent()
}

// A new suspicion has a new SPUID.
func TestEverySuspicionDrawsAnew(t *testing.T) {
	sc := suspected(t, true)
	first := sc.own()
	sc.Leave(b, p, 1)
	sc.pass(whole + period)
	if second := sc.own(); second == first {
		t.Errorf("SPUID %08x again", first)
	}
}

// Several suspected ports send different SPUIDs.
func TestPortsHaveTheirOwn(t *testing.T) {
	sc := newScript(t)
	sc.Ways.Add(b)
	sc.Hold(b, p, 50_000)
	sc.Hold(b, p2, 50_000)
	sc.pass(whole)
	at, spuids := sc.sent()
	if !slices.Equal(at, []unit.Port{p, p2}) || spuids[0] == spuids[1] {
		t.Errorf("sent %08x at %v, want two of them at %d and %d", spuids, at, p, p2)
	}
}

// Rule 1: a switch that sends nothing ignores what comes.
func TestNotSuspectedIgnores(t *testing.T) {
	sc := newScript(t)
	sc.Ways.Add(b)
	sc.Hold(b, p, 50_000)
	sc.receive(b, 1)
	sc.wantSent()
	sc.pass(whole)
	if own := sc.own(); own == 1 {
		t.Error("what came before the suspicion is sent, want an SPUID of its own")
	}
	sc.wantDone()
}

// Rule 2: a greater SPUID is ignored.
func TestGreaterIsIgnored(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.receive(b, own+1)
	sc.wantSent()
	sc.pass(period)
	sc.wantSent(own)
}

// Rule 3: a smaller one replaces those that are greater, and those alone.
func TestSmallerReplacesGreater(t *testing.T) {
	sc := newScript(t)
	sc.Ways.Add(b)
	sc.Hold(b, p, 50_000)
	sc.Hold(b, p2, 50_000)
	sc.pass(whole)
	_, own := sc.sent()
	low, high := min(own[0], own[1]), max(own[0], own[1])
	sc.receive(b, low+1)
	sc.wantSent(low + 1) // at once, in place of high
	sc.pass(period)
	if _, now := sc.sent(); slices.Contains(now, high) || !slices.Contains(now, low) || !slices.Contains(now, low+1) {
		t.Errorf("sent %08x, want %08x and %08x", now, low, low+1)
	}
	sc.receive(b, low-1)
	sc.wantSent(low-1, low-1)
	sc.wantDone()
}

// Rule 4: the own SPUID makes the switch a master, and the port by which it came is
// the loop's ingress.
func TestOwnSPUIDHome(t *testing.T) {
	sc := suspected(t, true)
	sc.receive(b, sc.own())
	sc.wantDone("report 0>1", "avoid 0>1 true", "force 0>1 1518")
}

// An SPUID that was replaced makes nobody a master any more.
func TestReplacedSPUIDHome(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.receive(b, own-1)
	sc.receive(b, own)
	sc.wantDone()
}

// 3.2.2: a switch without another path originates nothing and passes on what comes.
func TestWithoutAlternativePassesOn(t *testing.T) {
	sc := suspected(t, false)
	sc.pass(3 * period)
	sc.wantSent()
	sc.receive(b, 700)
	sc.wantSent(700)
	sc.pass(period)
	sc.wantSent() // once for each that came
	sc.receive(b, 700)
	sc.wantSent(700)
	sc.wantDone("refuse 0>1 no alternative path")
}

// What circulates among switches that only pass on dies out: in a period a queue
// passes on falling SPUIDs only.
func TestPassedOnOnceAPeriod(t *testing.T) {
	sc := suspected(t, false)
	for _, spuid := range []uint32{700, 700, 800, 600, 700, 600} {
		sc.receive(b, spuid)
	}
	sc.wantSent(700, 600)
}

// Frames of one switch without another way are enough: they may be the loop's.
func TestOneIngressWithoutAlternative(t *testing.T) {
	sc := newScript(t)
	sc.Ways.Add(b)
	sc.Hold(b, p, 50_000)
	sc.Hold(p2, p, 1000)
	sc.pass(whole)
	sc.wantSent()
}

// A host's frames are on no loop.
func TestHostsNeedNoAlternative(t *testing.T) {
	sc := newScript(t)
	sc.Ways.Add(b)
	sc.Hold(b, p, 50_000)
	sc.Hold(h, p, 1000)
	sc.pass(whole)
	sc.own()
}

// 3.2.3: traffic is released gradually, while the queue does not move by itself.
func TestGradualRelease(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.receive(b, own)
	sc.receive(b, own) // in the same period
	sc.wantDone("report 0>1", "avoid 0>1 true", "force 0>1 1518")
	for range 2 {
		sc.Leave(b, p, 1518) // pushed out
		sc.pass(period)
		sc.wantSent(own)
		sc.receive(b, own)
	}
	sc.wantDone("report 0>1", "avoid 0>1 true", "force 0>1 1518", "force 0>1 3036", "force 0>1 4554")
	sc.Leave(b, p, 30_000) // by itself
	sc.pass(period)
	sc.wantSent()
	sc.wantDone("report 0>1", "avoid 0>1 true", "force 0>1 1518", "force 0>1 3036", "force 0>1 4554", "force 0>1 0")
}

// The flows of the loop's ingress have no other way after all.
func TestNothingToReroute(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.Ways = 0
	sc.receive(b, own)
	sc.pass(period)
	sc.receive(b, own)
	sc.wantDone("report 0>1", "refuse 0>1 no alternative path")
}

// The weak point of 3.2.1, kept: nothing asks whether the ingress feeds the queue.
func TestFalseMaster(t *testing.T) {
	sc := suspected(t, true)
	sc.receive(p2, sc.own())
	sc.wantDone("report 2>1", "refuse 2>1 no alternative path")
}

// An SPUID by which the switch was master is a replay after that.
func TestReplay(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	sc.receive(b, own)
	sc.Leave(b, p, 30_000)
	sc.pass(whole + period)
	done := slices.Clone(sc.Done)
	sc.own() // suspected again
	sc.refuse(b, message(own))
	sc.wantSent()
	sc.wantDone(done...)
}

// Bad input is refused, and nothing comes of it.
func TestRefused(t *testing.T) {
	sc := suspected(t, true)
	own := sc.own()
	for _, payload := range [][]byte{
		nil,
		message(own)[:11],
		clcm.AppendElection(nil, clcm.Election{Class: suspecttest.Class + 1, SPUID: own}),
		clcm.AppendPath(nil, clcm.Path{Class: suspecttest.Class, Index: 1, Hops: []clcm.Hop{{SPUID: own, Egress: p}}}),
	} {
		sc.refuse(b, payload)
	}
	sc.refuse(h, message(own))
	sc.wantSent()
	sc.wantDone()
}

func TestStateBytes(t *testing.T) {
	small, large := suspecttest.New(New, 1, 2), suspecttest.New(New, 1, 64)
	if a, z := small.System().StateBytes(), large.System().StateBytes(); a <= 0 || z <= 8*a || z > 64*150 {
		t.Errorf("2 ports take %d bytes, 64 take %d; want more by port, up to 150 a port", a, z)
	}
}

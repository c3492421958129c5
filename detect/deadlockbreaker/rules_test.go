package deadlockbreaker

import (
	"reflect"
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
	active = releaseHops * suspecttest.Hop
)

// other is a hop of another switch.
var other = clcm.Hop{SPUID: 0xaaaa, Egress: 9}

// script is a switch with Deadlock Breaker, with checks.
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

// suspected is a switch whose queue p holds 50,000 bytes of b and is suspected; own is
// that queue as a hop.
func suspected(t *testing.T) (sc *script, own clcm.Hop) {
	sc = newScript(t)
	sc.Hold(b, p, 50_000)
	sc.pass(whole)
	return sc, sc.sentOne().Hops[0]
}

func (sc *script) pass(d unit.Time) {
	sc.at += d
	sc.To(sc.at)
}

func detection(nonce uint32, hops ...clcm.Hop) clcm.Path {
	return clcm.Path{Class: suspecttest.Class, Nonce: nonce, Index: len(hops), Hops: hops}
}

func release(nonce uint32, index int, hops ...clcm.Hop) clcm.Path {
	return clcm.Path{Phase: clcm.Release, Class: suspecttest.Class, Nonce: nonce, Index: index, Hops: hops}
}

// sent is what left since the last call, by port.
func (sc *script) sent() (at []unit.Port, paths []clcm.Path) {
	sc.Helper()
	for _, s := range sc.Take() {
		m, err := clcm.ParsePath([]byte(s.Payload), nil)
		if err != nil {
			sc.Fatalf("sent %x: %v", s.Payload, err)
		}
		at, paths = append(at, s.Port), append(paths, m)
	}
	return at, paths
}

// sentOne is the only message that left, at p.
func (sc *script) sentOne() clcm.Path {
	sc.Helper()
	at, paths := sc.sent()
	if !slices.Equal(at, []unit.Port{p}) {
		sc.Fatalf("sent %+v at %v, want one message at %d", paths, at, p)
	}
	return paths[0]
}

func (sc *script) wantSent(want ...clcm.Path) {
	sc.Helper()
	if _, got := sc.sent(); !reflect.DeepEqual(got, want) {
		sc.Errorf("sent %+v, want %+v", got, want)
	}
}

func (sc *script) wantDone(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.Done, want) {
		sc.Errorf("done %q, want %q", sc.Done, want)
	}
	sc.Done = nil
}

func (sc *script) receive(in unit.Port, m clcm.Path) {
	sc.Helper()
	if !sc.Deliver(in, clcm.AppendPath(nil, m)) {
		sc.Errorf("%+v is refused", m)
	}
}

func (sc *script) refuse(in unit.Port, payload []byte) {
	sc.Helper()
	if sc.Deliver(in, payload) {
		sc.Errorf("%x is taken, want it refused", payload)
	}
}

// A suspected queue sends a path that begins with itself, in every period, each with a
// nonce of its own.
func TestSuspectBegins(t *testing.T) {
	sc := newScript(t)
	sc.Hold(b, p, 50_000)
	sc.pass(whole)
	first := sc.sentOne()
	if first.Phase != clcm.Detection || first.Index != 1 || len(first.Hops) != 1 || first.Hops[0].Egress != p {
		t.Errorf("sent %+v, want a detection whose only hop leaves by %d", first, p)
	}
	sc.pass(period)
	if again := sc.sentOne(); !slices.Equal(again.Hops, first.Hops) || again.Nonce == first.Nonce {
		t.Errorf("sent %+v, then %+v; want the same hop, another nonce", first, again)
	}
	sc.Leave(b, p, 1)
	sc.pass(period)
	sc.wantSent()
	sc.pass(whole)
	if anew := sc.sentOne(); anew.Hops[0].SPUID == first.Hops[0].SPUID {
		t.Errorf("a new suspicion sends SPUID %08x again", first.Hops[0].SPUID)
	}
}

// Detection: the egress is stored, the index advanced.
func TestExtend(t *testing.T) {
	sc, own := suspected(t)
	sc.receive(b, detection(7, other))
	sc.wantSent(detection(7, other, own))
	sc.wantDone()
}

// The ingress has to have traffic to the egress.
func TestIngressWithoutTraffic(t *testing.T) {
	sc, _ := suspected(t)
	sc.receive(p2, detection(7, other))
	sc.wantSent()
}

// A queue that moves ends a path.
func TestEgressNotSuspected(t *testing.T) {
	sc := newScript(t)
	sc.Hold(b, p, 50_000)
	sc.receive(b, detection(7, other))
	sc.wantSent()
}

// Of several egresses a random one is taken: each in its turn, one a message.
func TestExtendChooses(t *testing.T) {
	sc := newScript(t)
	sc.Hold(b, p, 50_000)
	sc.Hold(b, p2, 50_000)
	sc.pass(whole)
	sc.sent()
	count := map[unit.Port]int{}
	for nonce := range uint32(100) {
		sc.receive(b, detection(nonce+1, other))
		at, _ := sc.sent()
		if len(at) != 1 {
			t.Fatalf("sent at %v, want one port", at)
		}
		count[at[0]]++
	}
	if count[p] < 30 || count[p2] < 30 {
		t.Errorf("of 100 messages %d left by %d and %d by %d, want about half each", count[p], p, count[p2], p2)
	}
}

func TestPathFull(t *testing.T) {
	sc, own := suspected(t)
	full := make([]clcm.Hop, clcm.MaxHops)
	for i := range full {
		full[i] = other
	}
	sc.receive(b, detection(7, full[1:]...))
	sc.wantSent(detection(7, append(full[1:], own)...))
	sc.receive(b, detection(8, full...))
	sc.wantSent()
	sc.wantDone("refuse 0>1 path too long for a message")
}

// A deadlock is found: the phase changes, the index is that of the own hop, and what
// lies before it is no part of the loop.
func TestFound(t *testing.T) {
	sc, own := suspected(t)
	tail, next := clcm.Hop{SPUID: 3, Egress: 1}, clcm.Hop{SPUID: 4, Egress: 2}
	sc.receive(b, detection(7, tail, own, next))
	sc.wantDone("report 0>1", "restrict 0>1 true", "loan 0 15518") // 50,000 - XON 36,000 + MTU 1,518
	sc.wantSent(release(7, 2, tail, own, next))
	sc.receive(b, detection(8, own, next)) // while it is in force
	sc.wantDone()
	sc.wantSent()
}

// The loop has to be closed where it was found.
func TestFoundWithoutTraffic(t *testing.T) {
	sc, own := suspected(t)
	sc.receive(p2, detection(7, own, other))
	sc.wantDone()
	sc.wantSent()
}

// Release at a hop in between, and at the last one, which drops the message.
func TestReleaseHops(t *testing.T) {
	sc, own := suspected(t)
	sc.receive(b, release(7, 1, other, own, other))
	sc.wantDone("restrict 0>1 true", "loan 0 15518")
	sc.wantSent(release(7, 2, other, own, other))

	sc, own = suspected(t)
	sc.receive(b, release(7, 1, other, own))
	sc.wantDone("restrict 0>1 true", "loan 0 15518")
	sc.wantSent()
}

// When the time is over, both measures end, and once more a release is possible.
func TestReleaseEnds(t *testing.T) {
	sc, own := suspected(t)
	sc.receive(b, release(7, 0, own, other))
	sc.Done = nil
	sc.pass(active - 1)
	sc.wantDone()
	sc.pass(1)
	sc.wantDone("restrict 0>1 false", "loan 0 0")
	sc.receive(b, release(8, 0, own, other))
	sc.wantDone("restrict 0>1 true", "loan 0 15518")
}

// A bucket that is far below XON is lent an MTU.
func TestLeastLoan(t *testing.T) {
	sc := newScript(t)
	sc.Hold(b, p, 1000)
	sc.pass(whole)
	sc.receive(b, release(7, 0, sc.sentOne().Hops[0], other))
	sc.wantDone("restrict 0>1 true", "loan 0 1518")
}

// Without reserve nothing is left behind.
func TestNoReserve(t *testing.T) {
	sc, own := suspected(t)
	sc.Reserve = 15_517
	sc.receive(b, release(7, 0, own, other))
	sc.wantDone("restrict 0>1 true", "restrict 0>1 false", "refuse 0>1 no reserve to lend")
	sc.wantSent()
	sc.pass(2 * active)
	sc.wantDone()
}

// A release that was seen before does nothing, even after its time.
func TestReplay(t *testing.T) {
	sc, own := suspected(t)
	sc.receive(b, release(7, 0, own, other))
	sc.pass(2 * active)
	sc.sent()
	sc.Done = nil
	sc.refuse(b, clcm.AppendPath(nil, release(7, 0, own, other)))
	sc.wantDone()
	sc.wantSent()
}

// Another loop through the same queue, or the same bucket, has to wait.
func TestOneReleaseAtATime(t *testing.T) {
	sc := newScript(t)
	for _, in := range []unit.Port{b, p2} {
		sc.Hold(in, p, 50_000)
	}
	sc.Hold(b, p2, 50_000)
	sc.pass(whole)
	_, sent := sc.sent()
	toP, toP2 := sent[0].Hops[0], sent[1].Hops[0]
	sc.receive(b, release(7, 0, toP, other))
	sc.Done = nil
	sc.receive(p2, release(8, 0, toP, other))
	sc.receive(b, release(9, 0, toP2, other))
	sc.wantDone("refuse 2>1 held down", "refuse 0>2 held down")
	sc.sent()
	sc.receive(b, release(10, 0, toP, other)) // the same once more is passed on
	sc.wantDone()
	sc.wantSent(release(10, 1, toP, other))
}

// Bad input is refused, and nothing comes of it.
func TestRefused(t *testing.T) {
	sc, own := suspected(t)
	good := clcm.AppendPath(nil, release(7, 0, own, other))
	elsewhere := release(7, 0, own, other)
	elsewhere.Class++
	for name, payload := range map[string][]byte{
		"empty":                 nil,
		"truncated":             good[:len(good)-1],
		"path beyond the TLV":   slices.Concat(good[:13], []byte{9}, good[14:]),
		"index beyond":          slices.Concat(good[:12], []byte{2}, good[13:]),
		"an election":           clcm.AppendElection(nil, clcm.Election{Class: suspecttest.Class, SPUID: own.SPUID}),
		"another class":         clcm.AppendPath(nil, elsewhere),
		"another's hop":         clcm.AppendPath(nil, release(7, 1, own, other)),
		"a stale SPUID":         clcm.AppendPath(nil, release(7, 0, clcm.Hop{SPUID: own.SPUID + 1, Egress: p})),
		"a queue not suspected": clcm.AppendPath(nil, release(7, 0, clcm.Hop{SPUID: 1, Egress: p2})),
		"a port it has not":     clcm.AppendPath(nil, release(7, 0, clcm.Hop{SPUID: own.SPUID, Egress: 63})),
	} {
		t.Log(name)
		sc.refuse(b, payload)
	}
	sc.refuse(h, good)
	sc.wantSent()
	sc.wantDone()
	sc.receive(b, release(7, 0, own, other)) // the good one
	sc.wantDone("restrict 0>1 true", "loan 0 15518")
}

func TestStateBytes(t *testing.T) {
	small, large := suspecttest.New(New, 1, 2), suspecttest.New(New, 1, 64)
	if a, z := small.System().StateBytes(), large.System().StateBytes(); a <= 0 || z <= 3*a || z > 64*100 {
		t.Errorf("2 ports take %d bytes, 64 take %d; want more by port, up to 100 a port", a, z)
	}
}

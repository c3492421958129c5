package shpiner

import (
	"slices"
	"testing"

	"softswitch/unit"
)

// active is how long a release is in force.
const active = releaseHops * hop

// other is a hop of another switch.
var other = Hop{SPUID: 0xaaaa, Egress: 9}

// dbScript is a switch with Deadlock Breaker, whose messages are paths.
type dbScript = script[Path]

func newDBScript(t *testing.T) *dbScript { return newScript(t, NewDeadlockBreaker, dbMessage, dbParse) }

func dbMessage(m Path) []byte { return AppendPath(nil, m) }

func dbParse(payload []byte) (Path, error) { return ParsePath(payload, nil) }

// dbSuspected is a switch whose queue p holds 50,000 bytes of b and is suspected; own is
// that queue as a hop.
func dbSuspected(t *testing.T) (sc *dbScript, own Hop) {
	sc = newDBScript(t)
	sc.Enqueue(b, p, 50_000)
	sc.Pass(whole)
	return sc, sc.TakeOne().Hops[0]
}

func detection(nonce uint32, hops ...Hop) Path {
	return Path{Priority: priority, Nonce: nonce, Index: len(hops), Hops: hops}
}

func release(nonce uint32, index int, hops ...Hop) Path {
	return Path{Phase: Release, Priority: priority, Nonce: nonce, Index: index, Hops: hops}
}

// A suspected queue sends a path that begins with itself, in every period, each with a
// nonce of its own.
func TestSuspectBegins(t *testing.T) {
	sc := newDBScript(t)
	sc.Enqueue(b, p, 50_000)
	sc.Pass(whole)
	first := sc.TakeOne()
	if first.Phase != Detection || first.Index != 1 || len(first.Hops) != 1 || first.Hops[0].Egress != p {
		t.Errorf("sent %+v, want a detection whose only hop leaves by %d", first, p)
	}
	sc.Pass(period)
	if again := sc.TakeOne(); !slices.Equal(again.Hops, first.Hops) || again.Nonce == first.Nonce {
		t.Errorf("sent %+v, then %+v; want the same hop, another nonce", first, again)
	}
	sc.Leave(b, p, 1)
	sc.Pass(period)
	sc.WantSent()
	sc.Pass(whole)
	if anew := sc.TakeOne(); anew.Hops[0].SPUID == first.Hops[0].SPUID {
		t.Errorf("a new suspicion sends SPUID %08x again", first.Hops[0].SPUID)
	}
}

// Detection: the egress is stored, the index advanced.
func TestExtend(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Receive(b, detection(7, other))
	sc.WantSent(detection(7, other, own))
	sc.WantDone()
}

// The ingress has to have traffic to the egress.
func TestIngressWithoutTraffic(t *testing.T) {
	sc, _ := dbSuspected(t)
	sc.Receive(p2, detection(7, other))
	sc.WantSent()
}

// A queue that moves ends a path.
func TestEgressNotSuspected(t *testing.T) {
	sc := newDBScript(t)
	sc.Enqueue(b, p, 50_000)
	sc.Receive(b, detection(7, other))
	sc.WantSent()
}

// Of several egresses a random one is taken: each in its turn, one a message.
func TestExtendChooses(t *testing.T) {
	sc := newDBScript(t)
	sc.Enqueue(b, p, 50_000)
	sc.Enqueue(b, p2, 50_000)
	sc.Pass(whole)
	sc.TakeMessages()
	count := map[unit.Port]int{}
	for nonce := range uint32(100) {
		sc.Receive(b, detection(nonce+1, other))
		at, _ := sc.TakeMessages()
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
	sc, own := dbSuspected(t)
	full := make([]Hop, MaxHops)
	for i := range full {
		full[i] = other
	}
	sc.Receive(b, detection(7, full[1:]...))
	sc.WantSent(detection(7, append(full[1:], own)...))
	sc.Receive(b, detection(8, full...))
	sc.WantSent()
	sc.WantDone("refuse 0>1 path too long for a message")
}

// A deadlock is found: the phase changes, the index is that of the own hop, and what
// lies before it is no part of the loop.
func TestFound(t *testing.T) {
	sc, own := dbSuspected(t)
	tail, next := Hop{SPUID: 3, Egress: 1}, Hop{SPUID: 4, Egress: 2}
	sc.Receive(b, detection(7, tail, own, next))
	sc.WantDone("report 0>1", "restrict 0>1", "lend 0 15500") // 50,000 - XON 36,000 + MTU 1,500
	sc.WantSent(release(7, 2, tail, own, next))
	sc.Receive(b, detection(8, own, next)) // while it is in force
	sc.WantDone()
	sc.WantSent()
}

// The loop has to be closed where it was found.
func TestFoundWithoutTraffic(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Receive(p2, detection(7, own, other))
	sc.WantDone()
	sc.WantSent()
}

// Release at a hop in between, and at the last one, which drops the message.
func TestReleaseHops(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Receive(b, release(7, 1, other, own, other))
	sc.WantDone("restrict 0>1", "lend 0 15500")
	sc.WantSent(release(7, 2, other, own, other))

	sc, own = dbSuspected(t)
	sc.Receive(b, release(7, 1, other, own))
	sc.WantDone("restrict 0>1", "lend 0 15500")
	sc.WantSent()
}

// When the time is over, both actions end, and once more a release is possible.
func TestReleaseEnds(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Receive(b, release(7, 0, own, other))
	sc.Done = nil
	sc.Pass(active - 1)
	sc.WantDone()
	sc.Pass(1)
	sc.WantDone("free 0>1", "return 0")
	sc.Receive(b, release(8, 0, own, other))
	sc.WantDone("restrict 0>1", "lend 0 15500")
}

// A priority group that is far below XON is given an MTU.
func TestLeastExtra(t *testing.T) {
	sc := newDBScript(t)
	sc.Enqueue(b, p, 1000)
	sc.Pass(whole)
	sc.Receive(b, release(7, 0, sc.TakeOne().Hops[0], other))
	sc.WantDone("restrict 0>1", "lend 0 1500")
}

// Without reserve nothing is left behind.
func TestNoReserve(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Pool = 15_499
	sc.Receive(b, release(7, 0, own, other))
	sc.WantDone("restrict 0>1", "free 0>1", "refuse 0>1 no reserve to lend")
	sc.WantSent()
	sc.Pass(2 * active)
	sc.WantDone()
}

// A release that was seen before does nothing, even after its time.
func TestDeadlockBreakerReplay(t *testing.T) {
	sc, own := dbSuspected(t)
	sc.Receive(b, release(7, 0, own, other))
	sc.Pass(2 * active)
	sc.TakeMessages()
	sc.Done = nil
	sc.Refuse(b, dbMessage(release(7, 0, own, other)))
	sc.WantDone()
	sc.WantSent()
}

// Another loop through the same queue, or the same priority group, has to wait.
func TestOneReleaseAtATime(t *testing.T) {
	sc := newDBScript(t)
	for _, in := range []unit.Port{b, p2} {
		sc.Enqueue(in, p, 50_000)
	}
	sc.Enqueue(b, p2, 50_000)
	sc.Pass(whole)
	_, sent := sc.TakeMessages()
	toP, toP2 := sent[0].Hops[0], sent[1].Hops[0]
	sc.Receive(b, release(7, 0, toP, other))
	sc.Done = nil
	sc.Receive(p2, release(8, 0, toP, other))
	sc.Receive(b, release(9, 0, toP2, other))
	sc.WantDone("refuse 3>1 held down", "refuse 0>3 held down")
	sc.TakeMessages()
	sc.Receive(b, release(10, 0, toP, other)) // the same once more is passed on
	sc.WantDone()
	sc.WantSent(release(10, 1, toP, other))
}

// Bad input is refused, and nothing comes of it.
func TestDeadlockBreakerRefused(t *testing.T) {
	sc, own := dbSuspected(t)
	good := dbMessage(release(7, 0, own, other))
	elsewhere := release(7, 0, own, other)
	elsewhere.Priority++
	for name, payload := range map[string][]byte{
		"empty":                 nil,
		"truncated":             good[:len(good)-1],
		"path beyond the TLV":   slices.Concat(good[:13], []byte{9}, good[14:]),
		"index beyond":          slices.Concat(good[:12], []byte{2}, good[13:]),
		"an election":           AppendElection(nil, Election{Priority: priority, SPUID: own.SPUID}),
		"another priority":      dbMessage(elsewhere),
		"another's hop":         dbMessage(release(7, 1, own, other)),
		"a stale SPUID":         dbMessage(release(7, 0, Hop{SPUID: own.SPUID + 1, Egress: p})),
		"a queue not suspected": dbMessage(release(7, 0, Hop{SPUID: 1, Egress: p2})),
		"a port it has not":     dbMessage(release(7, 0, Hop{SPUID: own.SPUID, Egress: 63})),
	} {
		t.Log(name)
		sc.Refuse(b, payload)
	}
	sc.Refuse(h, good)
	sc.WantSent()
	sc.WantDone()
	sc.Receive(b, release(7, 0, own, other)) // the good one
	sc.WantDone("restrict 0>1", "lend 0 15500")
}

func TestDeadlockBreakerStateBytes(t *testing.T) {
	if a, z := stateBytes(NewDeadlockBreaker, 2), stateBytes(NewDeadlockBreaker, 64); a <= 0 || z <= 3*a || z > 64*100 {
		t.Errorf("2 ports take %d bytes, 64 take %d; want more by port, up to 100 a port", a, z)
	}
}

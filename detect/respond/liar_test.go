package respond

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// newMesh is n switches, each with a link to every other one: port k-1 of S_i leads to S_k. The
// port that would lead to itself leads to S_100, who lies.
func newMesh(t *testing.T, n int, response string) (script, *detecttest.Switch) {
	t.Helper()
	sc := newScript(t, response)
	liar := sc.add(100, n)
	for i := 1; i <= n; i++ {
		sc.add(unit.NodeID(i), n)
		sc.Link(sc.s[unit.NodeID(i)], unit.Port(i-1), liar, unit.Port(i-1), hop)
		for k := 1; k < i; k++ {
			sc.Link(sc.s[unit.NodeID(i)], unit.Port(k-1), sc.s[unit.NodeID(k)], unit.Port(i-1), hop)
		}
	}
	return sc, liar
}

// lie lets what S_100 says come to S_to, at the port that leads to it.
func (sc script) lie(to unit.NodeID, at unit.Port, t itsyhdr.TLV) {
	t.Priority = detecttest.Priority
	if t.Initiator.IsZero() {
		t.Initiator = unit.NodePort{Node: 100, Port: at}
	}
	sc.s[to].Deliver(at, t)
}

// Any number of searches at once makes as many messages as places, on each link once.
func TestSearchFlood(t *testing.T) {
	const n, searches = 5, 2000
	sc, _ := newMesh(t, n, "trigger")
	for seq := range uint16(searches) {
		sc.lie(1, 0, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Seq: seq + 1, Hops: 1, Trigger: unit.NodePort{Node: 77}})
	}
	sc.after(50 * unit.Millisecond)
	if links := n * n; sc.Messages == 0 || sc.Messages > searchesMax*links*2 {
		t.Errorf("%d messages of %d searches, want some, and at most %d", sc.Messages, searches, searchesMax*links*2)
	}
	if got := len(sc.Refusals); got < searches-searchesMax || sc.Refusals[0].Why != detect.RefusedTooMany {
		t.Errorf("%d refusals, the first %+v", got, sc.Refusals[0])
	}
}

// A flood of searches that comes by one link is not in the way of one that comes by another.
func TestSearchBesideAFlood(t *testing.T) {
	sc := newRing(t, 4, "drop+trigger")
	sc.add(100, 1)
	sc.Link(sc.s[2], x, sc.s[100], 0, hop)
	sc.spread(sc.trigger(9, 3))
	for seq := range uint16(500) {
		sc.lie(2, x, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Seq: seq + 1, Hops: hopsMax, Trigger: unit.NodePort{Node: 77}})
	}
	sc.declare(1, unit.NodePort{Node: 9, Port: 1})
	sc.after(long)
	sc.wantCount(detect.ActionLossy, 1)
	sc.wantStuck(false)
}

// A search names a host that pauses, and one names a queue in which flows wait: the switch has
// paused nobody for them, so nothing is done.
func TestWordAlone(t *testing.T) {
	for _, port := range []unit.Port{0, 1} {
		sc := newRing(t, 4, "drop+trigger")
		at := sc.trigger(9, 3)
		at.HostPause(1)
		sc.flows(at)
		sc.s[9].Deliver(0, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 3, Port: 1}, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 9, Port: port}})
		sc.after(long)
		sc.wantRefused(detect.RefusedUnfounded)
		if len(sc.Acts) > 0 {
			t.Errorf("port %d: %+v, want nothing done", port, sc.Acts)
		}
	}
}

// What a switch has seen counts for a while after the other one was let go, and no longer.
func TestSeenLately(t *testing.T) {
	for hops, want := range map[int]int{seenHops / 2: 1, 2 * seenHops: 0} {
		sc := newRing(t, 4, "drop+trigger")
		at := sc.trigger(9, 3)
		sc.spread(at)
		sc.after(unit.Time(hops) * at.Facts().Hop())
		sc.lie(9, 0, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 9, Port: 1}})
		sc.after(unit.Millisecond)
		sc.wantCount(detect.ActionLossy, want)
	}
}

// seals sends n claims of a loop that is not there to S2 of an open row, with a seal right after
// each, and lets gap pass between them. It returns for which part of the time S2's queue was
// restricted.
func (sc script) seals(n int, gap unit.Time) float64 {
	from := sc.Now()
	for seq := range uint16(n) {
		for _, kind := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal, itsyhdr.KindBubble} {
			sc.lie(2, b, itsyhdr.TLV{Kind: kind, Seq: seq + 1, Hops: 1, Period: framesMax, Trigger: unit.NodePort{Node: 1, Port: b}})
		}
		sc.after(gap)
	}
	var since, sum unit.Time
	on := false
	for _, m := range sc.Acts {
		if m.Switch != 2 || m.Action != detect.ActionRestrict && m.Action != detect.ActionFree {
			continue
		}
		if on {
			sum += m.At - since
		}
		on, since = m.Action == detect.ActionRestrict, m.At
	}
	if on {
		sum += sc.Now() - since
	}
	return float64(sum) / float64(sc.Now()-from)
}

// newRow is a row of switches S1 to S3 that wait for one another, and S3 for a host: no loop.
func newRow(t *testing.T, waits bool) script {
	t.Helper()
	sc := newScript(t, "bubble+trigger")
	for k := unit.NodeID(1); k <= 3; k++ {
		sc.add(k, int(ringPorts)).FaceHosts(h)
	}
	sc.Link(sc.s[1], p, sc.s[2], b, hop)
	sc.Link(sc.s[2], p, sc.s[3], b, hop)
	if waits {
		sc.s[3].Enqueue(b, h, 60*kilo)
		sc.s[3].XOFF(b, h)
		sc.close(2)
	}
	sc.after(unit.Millisecond)
	return sc
}

// A claim with a seal right behind it isolates nothing that does not wait, and what waits for half
// of the time at most.
func TestSealOfNoLoop(t *testing.T) {
	sc := newRow(t, false)
	if part := sc.seals(100, hopTime(sc)); part != 0 || len(sc.Acts) > 0 {
		t.Errorf("a queue that nobody pauses was restricted for %.2f of the time: %+v", part, sc.Acts)
	}
	sc = newRow(t, true)
	part := sc.seals(2000, 8*hopTime(sc))
	if part == 0 || part > 0.55 { // half, and the first times in a row
		t.Errorf("a queue that waits was restricted for %.2f of the time, want at most half", part)
	}
	sc.after(20 * flowQuiet)
	if last := sc.Acts[len(sc.Acts)-1]; last.Action == detect.ActionRestrict {
		t.Errorf("it stays restricted: %+v", last)
	}
}

func hopTime(sc script) unit.Time { return sc.s[2].Facts().Hop() }

// Bubbles of a loop that is not there lend a priority group no more than it could use, and requests for room
// no more either, however many there are.
func TestRoomForNoLoop(t *testing.T) {
	for kind, hops := range map[itsyhdr.Kind]uint8{itsyhdr.KindBubble: 1, itsyhdr.KindReserve: framesMax} { // of a reserve they are frames
		sc := newRow(t, true)
		for seq := range uint16(3) {
			for _, k := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal} {
				sc.lie(2, b, itsyhdr.TLV{Kind: k, Seq: seq + 1, Hops: 1, Period: framesMax, Trigger: unit.NodePort{Node: 1, Port: b}})
			}
			for range 50 {
				sc.lie(2, b, itsyhdr.TLV{Kind: kind, Seq: seq + 1, Hops: hops, Period: framesMax, Trigger: unit.NodePort{Node: 1, Port: b}})
				sc.after(us)
			}
			sc.after(400 * hopTime(sc))
		}
		sc.wantLent(kind)
	}
}

// Nor do claims that come between the requests, each of which finds what was lent before.
func TestRoomForManyClaims(t *testing.T) {
	for kind, hops := range map[itsyhdr.Kind]uint8{itsyhdr.KindBubble: 1, itsyhdr.KindReserve: framesMax} {
		sc := newRow(t, true)
		at := unit.NodePort{Node: 1, Port: b}
		for _, k := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal} {
			sc.lie(2, b, itsyhdr.TLV{Kind: k, Seq: 1, Hops: 1, Period: framesMax, Trigger: at})
		}
		sc.lie(2, b, itsyhdr.TLV{Kind: kind, Seq: 1, Hops: hops, Period: framesMax, Trigger: at})
		for seq := range uint16(400) {
			sc.lie(2, b, itsyhdr.TLV{Kind: itsyhdr.KindClaim, Seq: seq + 2, Hops: 1, Period: framesMax, Trigger: at})
			sc.lie(2, b, itsyhdr.TLV{Kind: kind, Seq: 1, Hops: hops, Period: framesMax, Trigger: at})
			sc.after(us)
		}
		sc.wantLent(kind)
	}
}

// A queue that serves a priority group alone is not taken from it by the loop of another one.
func TestSealsOfOneQueue(t *testing.T) {
	sc := newRow(t, true)
	sc.s[2].Enqueue(x, p, 60*kilo)
	sc.s[2].XOFF(x, p)
	for seq, in := range []unit.Port{b, x} {
		for _, k := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal} {
			sc.lie(2, in, itsyhdr.TLV{Kind: k, Initiator: unit.NodePort{Node: unit.NodeID(100 + seq), Port: 1}, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 1, Port: in}})
		}
	}
	sc.after(long)
	sc.wantCount(detect.ActionRestrict, 1)
	sc.wantCount(detect.ActionFree, 1)
	if sc.Acts[0].PG != pgOf(b) {
		t.Errorf("%+v, want the queue to serve what was sealed first", sc.Acts[0])
	}
	sc.wantClean()
}

func TestBubbleOfNoLoop(t *testing.T) {
	sc := newRow(t, true)
	sc.seals(50, 8*hopTime(sc))
	sc.wantLent(itsyhdr.KindBubble)
}

// wantLent checks that something was lent to a priority group that has 24 KB above XON, and at most so
// often as much.
func (sc script) wantLent(kind itsyhdr.Kind) {
	sc.Helper()
	most := 0
	for _, m := range sc.Acts {
		if m.Action == detect.ActionExtra {
			most = max(most, m.Bytes)
		}
	}
	if at := sc.s[2].Facts(); most == 0 || most > needMax*(60*kilo-36*kilo+at.MTU())+at.MTU() {
		sc.Errorf("%v: %d bytes lent to a priority group with 24 KB above XON", kind, most)
	}
}

// A claim that found no way home is in nobody's way, and no seal follows it.
func TestClaimInVain(t *testing.T) {
	sc := newRow(t, true)
	sc.lie(3, b, itsyhdr.TLV{Kind: itsyhdr.KindClaim, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 2, Port: b}})
	sc.lie(3, b, itsyhdr.TLV{Kind: itsyhdr.KindSeal, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 2, Port: b}})
	sc.after(long)
	if slices.ContainsFunc(sc.Acts, func(m detecttest.Acted) bool { return m.Switch == 3 }) {
		t.Errorf("%+v, want nothing done at S3", sc.Acts)
	}
}

// What a loop is lent is kept twice as long when it comes again, and not for each round of breaking it.
func TestSupportOfRounds(t *testing.T) {
	for gap, want := range map[unit.Time]int{isolationHops + 8: 1, 2 * freshHops: 0} {
		sc := newRow(t, true)
		for seq := range uint16(2) {
			for _, kind := range []itsyhdr.Kind{itsyhdr.KindClaim, itsyhdr.KindSeal, itsyhdr.KindBubble} {
				sc.lie(2, b, itsyhdr.TLV{Kind: kind, Seq: seq + 1, Hops: 1, Period: framesMax, Trigger: unit.NodePort{Node: 1, Port: b}})
			}
			sc.after(gap * hopTime(sc))
			sc.s[2].Enqueue(b, p, 400*kilo)
			sc.s[2].XOFF(b, p)
		}
		sc.wantCount(detect.ActionRestrict, 2)
		sc.s[2].Leave(b, p, 800*kilo)
		sc.after(flowQuiet * 3 / 2)
		sc.wantCount(detect.ActionExtraOver, want)
		sc.after(flowQuiet)
		sc.wantCount(detect.ActionExtraOver, 1)
	}
}

package itsy

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// part is a switch's part in another's verification: priority group 0 waits for queues 1 and
// 2, each with 1000 bytes of it, XON being 1500.
type part struct {
	*testing.T
	*stub
	d    detect.Detector
	now  unit.Time
	rank uint16
}

// next is a greater rank each time.
func (pt *part) next() uint16 {
	pt.rank++
	return pt.rank
}

func newPart(t *testing.T) *part {
	pt := &part{T: t, stub: &stub{id: 1, ports: 4, record: true}}
	pt.d = NewUnchecked(pt.stub, pt.stub)
	for q := unit.Port(1); q <= 2; q++ {
		pt.d.Pause(0, detect.Queue{Port: q, Priority: 3}, itsyhdr.TLV{}, true)
	}
	pt.d.XOFF(0, detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 1, Priority: 3})
	pt.sent = nil
	return pt
}

// take delivers a message of the verification of rank seq at a port.
func (pt *part) take(p unit.Port, kind itsyhdr.Kind, seq uint16) {
	pt.now += 100
	pt.d.Message(pt.now, p, itsyhdr.TLV{Kind: kind, Priority: 3, Period: 3, Seq: seq, Initiator: unit.NodePort{Node: 9, Port: 5}})
}

// want checks what was sent since the last call: "query 1, ack 0".
func (pt *part) want(want string) {
	pt.Helper()
	var got []string
	for _, s := range pt.sent {
		text := fmt.Sprintf("%v %d", s.t.Kind, s.port)
		if s.t.Flags != 0 {
			text += " failed"
		}
		got = append(got, text)
	}
	pt.sent = nil
	if text := strings.Join(got, ", "); text != want {
		pt.Errorf("sent %q, want %q", text, want)
	}
}

// engaged brings the part to where the first pass is over and priority group 0 is stuck.
func engaged(t *testing.T) *part {
	pt := newPart(t)
	pt.take(0, itsyhdr.KindQuery, 7)
	pt.want("query 1, query 2")
	pt.take(1, itsyhdr.KindAck, 7)
	pt.want("")
	pt.take(2, itsyhdr.KindAck, 7)
	pt.want("ack 0")
	return pt
}

func TestStuckAllTheWay(t *testing.T) {
	pt := engaged(t)
	pt.take(0, itsyhdr.KindWalk, 7)
	pt.want("walk 1, walk 2")
	pt.take(0, itsyhdr.KindWalk, 7) // by another way
	pt.want("ack 0")
	pt.take(1, itsyhdr.KindAck, 7)
	pt.take(2, itsyhdr.KindAck, 7)
	pt.want("ack 0")
}

// A grant leaves priority group 0 with 1000 bytes: it grants too, and owes the first query's
// acknowledgement until its grant is acknowledged.
func TestGrant(t *testing.T) {
	pt := newPart(t)
	pt.take(0, itsyhdr.KindQuery, 7)
	pt.want("query 1, query 2")
	pt.take(1, itsyhdr.KindGrant, 7)
	pt.want("grant 0, ack 1")
	pt.take(1, itsyhdr.KindAck, 7)
	pt.take(2, itsyhdr.KindAck, 7)
	pt.want("")
	pt.take(0, itsyhdr.KindAck, 7)
	pt.want("ack 0")
	pt.take(0, itsyhdr.KindQuery, 7) // asked again: it grants again
	pt.want("grant 0")
}

// A priority group that is not blocked grants at once.
func TestLivePGGrants(t *testing.T) {
	pt := newPart(t)
	pt.take(3, itsyhdr.KindQuery, 7)
	pt.want("grant 3")
	pt.take(3, itsyhdr.KindAck, 7)
	pt.want("ack 3")
}

// A resume while the switch owes an acknowledgement counts as a grant; one that comes
// when it owes none makes the walk fail, though the queue is paused again.
func TestResumeFrees(t *testing.T) {
	q := detect.Queue{Port: 1, Priority: 3}
	pt := newPart(t)
	pt.take(0, itsyhdr.KindQuery, 7)
	pt.want("query 1, query 2")
	pt.d.Resume(pt.now, q, false)
	pt.want("grant 0")

	pt = engaged(t)
	pt.d.Resume(pt.now, q, true)
	pt.want("")
	pt.d.Pause(pt.now, q, itsyhdr.TLV{}, true)
	pt.take(0, itsyhdr.KindWalk, 7)
	pt.want("grant 0")
	pt.take(0, itsyhdr.KindAck, 7)
	pt.want("ack 0 failed")
}

// So does an XON in between, though the priority group is XOFF again.
func TestXONFails(t *testing.T) {
	b := detect.PG{Port: 0, Priority: 3}
	pt := engaged(t)
	pt.d.XON(pt.now, b)
	pt.d.XOFF(pt.now, b, detect.Queue{Port: 1, Priority: 3})
	pt.take(0, itsyhdr.KindWalk, 7)
	pt.want("ack 0 failed")
}

// A failure further on is passed on.
func TestFailurePassesOn(t *testing.T) {
	pt := engaged(t)
	pt.take(0, itsyhdr.KindWalk, 7)
	pt.want("walk 1, walk 2")
	pt.d.Message(pt.now, 1, itsyhdr.TLV{Kind: itsyhdr.KindAck, Priority: 3, Period: 3, Seq: 7, Initiator: unit.NodePort{Node: 9, Port: 5}, Flags: wireFailed})
	pt.take(2, itsyhdr.KindAck, 7)
	pt.want("ack 0 failed")
}

// Only a query makes a switch take part. A verification that was pushed out of its
// slot by greater ones is acknowledged no more.
func TestUnknownVerification(t *testing.T) {
	pt := newPart(t)
	for kind := itsyhdr.KindGrant; kind <= itsyhdr.KindAck; kind++ {
		pt.take(0, kind, 7)
	}
	pt.want("")
	for seq := uint16(7); seq < 7+slotCount; seq++ {
		pt.take(0, itsyhdr.KindQuery, seq)
		pt.want("query 1, query 2")
	}
	pt.take(0, itsyhdr.KindQuery, 6) // smaller than all
	pt.want("")
	pt.take(0, itsyhdr.KindQuery, 7+slotCount)
	pt.want("query 1, query 2")
	pt.take(1, itsyhdr.KindAck, 7)
	pt.take(2, itsyhdr.KindAck, 7)
	pt.want("")
	pt.take(1, itsyhdr.KindAck, 8)
	pt.take(2, itsyhdr.KindAck, 8)
	pt.want("ack 0")
	// One that has been idle gives way to any.
	pt.now += (idleHops + 2) * pt.Hop()
	pt.take(0, itsyhdr.KindQuery, 1)
	pt.want("query 1, query 2")
}

// A neighbour that begins verifications without end makes a switch take part in so many at once,
// and in one each hop after that.
func TestQueryFlood(t *testing.T) {
	pt := newPart(t)
	queries := func(n int) (passed int) {
		for range n {
			pt.sent = nil
			pt.d.Message(pt.now, 0, itsyhdr.TLV{Kind: itsyhdr.KindQuery, Priority: 3, Period: 3, Seq: pt.next(), Initiator: unit.NodePort{Node: 9, Port: 5}})
			if len(pt.sent) > 0 {
				passed++
			}
		}
		return passed
	}
	if n := queries(1000); n != asksMax {
		t.Errorf("%d of 1000 queries at once were passed on, want %d", n, asksMax)
	}
	passed := 0
	for range 100 {
		pt.now += pt.Hop()
		passed += queries(10)
	}
	if passed != 100 {
		t.Errorf("%d queries were passed on in 100 hops, want one each", passed)
	}
	pt.now += 1000 * pt.Hop()
	if n := queries(100); n != asksMax {
		t.Errorf("%d of 100 queries at once were passed on after a pause, want %d", n, asksMax)
	}
	pt.sent = nil
	pt.take(3, itsyhdr.KindQuery, pt.next()) // another neighbour is heard
	pt.want("grant 3")
}

// The walk came home by queue 1. If that resumes meanwhile priority group 0 is stuck all the same, by
// queues 2 and 3: a deadlock by queue 1 is not declared, and the priority group verifies again.
func TestWayHomeThatResumes(t *testing.T) {
	for _, resumes := range []bool{false, true} {
		pt := &part{T: t, stub: &stub{id: 1, ports: 5, record: true}}
		pt.d = NewUnchecked(pt.stub, pt.stub)
		for q := unit.Port(1); q <= 3; q++ {
			pt.d.Pause(0, detect.Queue{Port: q, Priority: 3}, itsyhdr.TLV{}, true)
		}
		pt.d.XOFF(0, detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 1, Priority: 3})
		begin := func() (id itsyhdr.TLV) {
			pt.sent = nil
			for n := 0; len(pt.sent) == 0; n++ {
				if n == longHops {
					t.Fatal("no verification begins")
				}
				pt.now = pt.d.Deadline()
				pt.d.Tick(pt.now)
			}
			id = pt.sent[0].t
			pt.want("query 1, query 2, query 3")
			return id
		}
		id := begin()
		message := func(p unit.Port, kind itsyhdr.Kind, via unit.Port) {
			id.Kind, id.Hops = kind, uint8(via)
			pt.d.Message(pt.now, p, id)
		}
		acks := func() {
			for q := unit.Port(1); q <= 3; q++ {
				message(q, itsyhdr.KindAck, 0)
			}
		}
		message(0, itsyhdr.KindQuery, 0)
		pt.want("ack 0")
		acks()
		pt.want("walk 1, walk 2, walk 3")
		message(0, itsyhdr.KindWalk, 1)
		pt.want("ack 0")
		if resumes {
			pt.d.Resume(pt.now, detect.Queue{Port: 1, Priority: 3}, false)
		}
		acks()
		if want := map[bool]int{false: 1}[resumes]; pt.reports != want {
			t.Errorf("queue 1 resumed: %v: %d deadlocks declared, want %d", resumes, pt.reports, want)
		}
		if resumes {
			pt.d.Pause(pt.now, detect.Queue{Port: 1, Priority: 3}, itsyhdr.TLV{}, true)
			begin()
		}
	}
}

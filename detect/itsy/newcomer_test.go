package itsy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// A queue remembers the flows that began last, with the time of their first frame, however
// often they and older ones send. It may miss a flow, but takes none for younger than it is.
func TestNewest(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	missed, asked := 0, 0
	for range 200 {
		var q newest
		var began []unit.Time // by flow, from 1 on
		for now := unit.Time(1); now < 2000; now++ {
			f := 1 + r.IntN(len(began)+1)
			if f > len(began) && (len(began) >= seenMax/2 || r.IntN(40) > 0) {
				continue
			}
			if f > len(began) {
				began = append(began, now)
			}
			q.see(now, flow(f))
		}
		for f := range began {
			age, ok := q.age(2000, flow(f+1))
			if ok && age != 2000-began[f] {
				t.Fatalf("flow %d of %d is %v old, want %v", f+1, len(began), age, 2000-began[f])
			}
			if f+newestMax >= len(began) {
				asked++
				if !ok {
					missed++
				}
			}
		}
	}
	if missed*20 > asked {
		t.Errorf("%d of the %d newest flows were missed, want at most one in twenty", missed, asked)
	}
}

// flow is an identifier like a hash.
func flow(n int) detect.FlowID { return detect.FlowID(uint32(n) * 2654435761) }

// A flow that has been silent while two filters filled is new again; one that goes on is not.
func TestNewAgain(t *testing.T) {
	var q newest
	silent, goesOn := flow(1), flow(2)
	q.see(1, silent)
	for n := range 3 * seenMax {
		q.see(unit.Time(2+n), goesOn)
		q.see(unit.Time(2+n), flow(3+n))
	}
	if _, ok := q.age(1000, goesOn); ok {
		t.Error("the flow that goes on is one of the newest")
	}
	q.see(999, silent)
	if age, ok := q.age(1000, silent); !ok || age != 1 {
		t.Errorf("the flow that was silent is %v old, %v; want 1", age, ok)
	}
}

// Most speaks for much of a young flow: neither for the heaviest nor for the youngest.
func TestNewcomers(t *testing.T) {
	l := lap{eldest: 100_000}
	l.addYoung(young{flow: 1, age: 100_000, bytes: 90_000})
	l.addYoung(young{flow: 2, age: 1000, bytes: 30_000, in: 2, most: 30_000})
	l.addYoung(young{flow: 3, age: 10, bytes: 1000})
	l.addYoung(young{flow: 4, age: 1100, bytes: 20_000})
	l.addYoung(young{flow: 2, age: 900, bytes: 40_000, in: 5, most: 40_000})
	l.addYoung(young{flow: 5, age: 50_000, bytes: 20_000})
	flows, stands := l.newcomers()
	if want := (young{flow: 2, age: 900, bytes: 70_000, in: 5, most: 40_000}); len(flows) != 1 || flows[0] != want || !stands {
		t.Errorf("newcomers %+v, %v; want %+v alone", flows, stands, want)
	}
	l.young[3].bytes = 60_000
	if flows, _ := l.newcomers(); len(flows) != 2 || flows[1].flow != 4 {
		t.Errorf("newcomers %+v; want flow 4 too", flows)
	}
	for f := range detect.FlowID(youngMax) {
		l.addYoung(young{flow: 10 + f, age: 1000, bytes: 50_000})
	}
	if flows, stands := l.newcomers(); len(flows) != youngMax || stands {
		t.Errorf("%d newcomers, standing out %v; want %d of which none does", len(flows), stands, youngMax)
	}
	if i := slices.IndexFunc(l.young[:], func(y young) bool { return y.flow == 1 || y.flow == 3 || y.flow == 5 }); i >= 0 {
		t.Errorf("flow %d has kept its place", l.young[i].flow)
	}
}

// A flow that is younger than the eldest by less than youngMin does not count as young,
// whatever it holds.
func TestHardlyYounger(t *testing.T) {
	const eldest = 1 << 17
	for _, c := range []struct {
		age   uint32
		young bool
	}{{eldest, false}, {eldest * 31 / 32, false}, {eldest * 30 / 32, true}, {eldest / 2, true}} {
		y := young{age: c.age, bytes: 1 << 30}
		if got := y.weight(eldest) > 0; got != c.young {
			t.Errorf("%d us old beside %d: young %v", c.age, eldest, got)
		}
	}
}

// Flows that came with a link's failure are its detour, later ones are not.
func TestCameLast(t *testing.T) {
	l := lap{eldest: 100_000}
	l.detour.at, l.detour.age, l.detour.flows = unit.NodePort{Node: 9, Port: 1}, 1000, detect.CauseFlows{7}
	at := unit.NodePort{Node: 5, Port: 2}
	l.addYoung(young{flow: 7, age: 990, bytes: 10_000, at: at, in: 3, most: 10_000})
	if c, stands := l.cameLast(nil); c.Type != detect.CauseLink || c.At != l.detour.at || !stands {
		t.Errorf("%+v, %v; want the link", c, stands)
	}
	l.young[0].age = 500
	if c, stands := l.cameLast(nil); c.Type != detect.CauseContention || c.At != at || c.In != 3 || !c.OnLoop || !stands {
		t.Errorf("%+v, %v; want contention at %v by 3", c, stands, at)
	}
	met := quest{at: unit.NodePort{Node: 6, Port: 4}, flows: detect.CauseFlows{7, 8}}
	if c, _ := l.cameLast(&met); c.OnLoop || c.At != at || c.Flows != (detect.CauseFlows{7, 8}) {
		t.Errorf("%+v; want flows 7 and 8, which meet off the loop", c)
	}
	if c, stands := (&lap{}).cameLast(nil); c.Type != 0 || stands {
		t.Errorf("%+v, %v; want nothing", c, stands)
	}
}

// Old flows go round a ring, and later two new ones come to a host behind it: they are named,
// and said to meet off the loop. Where a flow goes round the whole ring that is the likelier
// cause, and nobody asks where the new ones meet.
func TestNewcomersInTheRing(t *testing.T) {
	for _, goesRound := range []bool{false, true} {
		sc := newRing(t, 4, hop)
		sc.S[3].FaceHosts(x)
		for k := range unit.NodeID(4) {
			sc.S[1+k].EnqueueFlow(b, p, detect.FlowID(1+k), 20*kilo)
			sc.S[1+k].EnqueueFlow(b, p, detect.FlowID(5+k), 20*kilo)
			if goesRound {
				sc.S[1+k].EnqueueFlow(b, p, 9, 20*kilo)
			}
		}
		sc.To(2000 * us)
		for _, f := range []detect.FlowID{101, 202} {
			sc.S[1].EnqueueFlow(b, p, f, 30*kilo)
			sc.S[2].EnqueueFlow(b, p, f, 40*kilo)
			sc.S[3].EnqueueFlow(b, x, f, 10*kilo)
		}
		for k := range unit.NodeID(4) {
			sc.Close(2100*us, 4-k)
		}
		sc.To(4000 * us)
		asked := false
		for k := range unit.NodeID(4) {
			asked = asked || sc.priority(1+k).askUntil != 0
		}
		if asked == goesRound {
			t.Errorf("a flow goes round: %v; a switch asked where the new ones meet: %v", goesRound, asked)
		}
		if goesRound {
			if c := sc.Diagnoses[0][0]; c.Type != detect.CauseRouting || c.Flows != (detect.CauseFlows{9}) {
				t.Errorf("%+v; want the routing loop of flow 9", c)
			}
			continue
		}
		sc.wantCause(detect.CauseContention, unit.NodePort{Node: 2, Port: p})
		if c := sc.Diagnoses[0][0]; c.In != b || c.OnLoop || c.Flows != (detect.CauseFlows{101, 202}) {
			t.Errorf("%+v; want flows 101 and 202 by port %d, which meet off the loop", c, b)
		}
	}
}

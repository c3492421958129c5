package itsypaper

import (
	"math/rand/v2"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

func testRand(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(testkit.Seed(t), 0)) }

// A label whose owner is off the loop circulates for ever in the text. Here it is
// absorbed where it comes round.
func TestStrangersLabelGoesRoundOnce(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Trigger(5, 2, hop).XOFF(0, 1)
	sc.outOfLoop()
	sc.settle()
	// T's own label takes 5 pauses and 1 message, the middle switch's a lap of 4
	// messages, its check another.
	if sc.Pauses != 5 || sc.Messages != 1+4+4 {
		t.Errorf("%d pauses and %d messages, want 5 and 9", sc.Pauses, sc.Messages)
		sc.LogTraces()
	}
}

// Two rings that share the link S1 > S2: in the text every lap doubles the labels.
func TestTwoRingsDoNotMultiply(t *testing.T) {
	sc := twoRings(t)
	sc.WantStuck(true)
	t.Logf("%d pauses, %d messages, %d findings", sc.Pauses, sc.Messages, len(sc.Findings))
	if sc.Messages > 30 {
		t.Errorf("%d messages, want at most 30", sc.Messages)
		sc.LogTraces()
	}
	if len(sc.Findings) != 1 || sc.Findings[0].Trigger != (unit.NodePort{Node: 7, Port: 0}) || sc.Findings[0].OnLoop {
		t.Errorf("findings %+v, want one with trigger 7.0 out of the loop", sc.Findings)
	}
}

func TestHopLimit(t *testing.T) {
	for _, kind := range []itsyhdr.Kind{itsyhdr.KindChecking, itsyhdr.KindTemporalCheck} {
		for _, c := range []struct {
			hops uint8
			want int // messages
		}{{0, 1}, {HopLimit - 2, 1}, {HopLimit - 1, 0}, {HopLimit, 0}, {255, 0}} {
			sc := newRing(t, 4, hop)
			sc.Close(0, 2)
			id := unit.NodePort{Node: 9, Port: 3}
			m := itsyhdr.TLV{Kind: kind, Priority: detecttest.Priority, Initiator: id, Trigger: id, Seq: 4, Flags: 1, Hops: c.hops}
			if kind == itsyhdr.KindTemporalCheck { // of a label that p stores
				label := m
				label.Kind, label.Hops = itsyhdr.KindChecking, HopLimit-1
				sc.S[2].Deliver(p, label)
			}
			sc.S[2].Deliver(p, m)
			if sc.Messages != c.want {
				t.Errorf("kind %d with %d hops: %d messages, want %d", kind, c.hops, sc.Messages, c.want)
			}
		}
	}
}

// A flood of labels, each of them new, is cut at the budget of each window.
func TestBudgetCutsAFlood(t *testing.T) {
	sc := newRing(t, 4, hop)
	sc.Close(0, 2)
	flood := func(from, n int) {
		for k := from; k < from+n; k++ {
			id := unit.NodePort{Node: unit.NodeID(100 + k), Port: 1}
			sc.S[2].Deliver(p, itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: detecttest.Priority, Initiator: id, Trigger: id, Flags: 1})
		}
	}
	limit := int(detecttest.RingPorts) * messagesPerPort
	flood(0, limit)
	if sc.Messages != limit {
		t.Fatalf("%d messages, want all %d", sc.Messages, limit)
	}
	flood(1000, limit)
	if sc.Messages != limit {
		t.Errorf("%d messages in one window, want %d", sc.Messages, limit)
	}
	sc.To(1 << 20)
	flood(2000, 2*limit)
	if sc.Messages != 2*limit {
		t.Errorf("%d messages in two windows, want %d", sc.Messages, 2*limit)
	}
}

// What does not fit an id is dropped: nothing is stored, nothing sent.
func TestStrangeLabels(t *testing.T) {
	ok := itsyhdr.TLV{Kind: itsyhdr.KindChecking, Initiator: unit.NodePort{Node: 9, Port: 3}, Trigger: unit.NodePort{Node: 9, Port: 3}, Seq: 4}
	for name, change := range map[string]func(t *itsyhdr.TLV){
		"no switch":       func(t *itsyhdr.TLV) { t.Initiator.Node = 0 },
		"switch number":   func(t *itsyhdr.TLV) { t.Initiator.Node = 1 << 14 },
		"port number":     func(t *itsyhdr.TLV) { t.Initiator.Port = MaxPorts },
		"sequence":        func(t *itsyhdr.TLV) { t.Seq = 256 },
		"own, no port":    func(t *itsyhdr.TLV) { t.Initiator = unit.NodePort{Node: 2, Port: 63} },
		"own, not newest": func(t *itsyhdr.TLV) { t.Initiator = unit.NodePort{Node: 2, Port: b}; t.Seq = 7 },
		"another kind":    func(t *itsyhdr.TLV) { t.Kind = itsyhdr.KindLabel },
	} {
		sc := newRing(t, 4, hop)
		sc.Close(0, 2)
		m := ok
		change(&m)
		sc.S[2].Deliver(p, m)
		if s := sc.S[2].Detector().(*detector).slots[p]; sc.Messages != 0 || s != 0 {
			t.Errorf("%s: %d messages, stored %#x, want none", name, sc.Messages, s)
		}
	}
}

// Random fabrics with random pauses: the messages keep to the budget, and HopLimit
// hops after the last event the fabric is silent.
func TestRandomFabricsFallSilent(t *testing.T) {
	r := testRand(t)
	const fabrics, steps, slowest = 200, 400, 30 * us
	most := 0.0
	for n := range fabrics {
		sc := randomFabric(t, r)
		for range steps {
			sc.To(sc.Now() + unit.Time(r.IntN(10))*us)
			sc.randomStep(r)
		}
		last := sc.Now()
		sc.settle()
		if took := sc.Now() - last; took > 3*HopLimit*slowest { // a label, a middle switch's, its check
			t.Errorf("fabric %d: silent after %d us, want %d", n, took/us, 3*HopLimit*slowest/us)
		}
		ports := 0
		for _, s := range sc.S {
			ports += s.Facts().Ports()
		}
		windows := int(sc.Now()>>20) + 1
		if limit := windows * ports * messagesPerPort; sc.Messages > limit {
			t.Errorf("fabric %d: %d messages in %d windows, want at most %d", n, sc.Messages, windows, limit)
		}
		most = max(most, float64(sc.Messages)/float64(sc.Pauses))
	}
	t.Logf("at most %.1f messages a pause", most)
}

// randomFabric is a connected graph of switches with extra links and a host each.
func randomFabric(t *testing.T, r *rand.Rand) script {
	sc := newRing(t, 0, hop)
	const ports = 8
	free := map[unit.NodeID]unit.Port{}
	n := unit.NodeID(3 + r.IntN(6))
	for k := unit.NodeID(1); k <= n; k++ {
		sc.Add(k, ports).FaceHosts(0)
		free[k] = 1
	}
	join := func(i, j unit.NodeID) {
		if free[i] < ports && free[j] < ports && i != j {
			sc.Link(sc.S[i], free[i], sc.S[j], free[j], detecttest.Delay{Pause: unit.Time(5+r.IntN(20)) * us, Message: unit.Time(5+r.IntN(25)) * us})
			free[i]++
			free[j]++
		}
	}
	for k := unit.NodeID(2); k <= n; k++ {
		join(k, 1+unit.NodeID(r.IntN(int(k-1))))
	}
	for range n {
		join(1+unit.NodeID(r.IntN(int(n))), 1+unit.NodeID(r.IntN(int(n))))
	}
	return sc
}

func (sc script) randomStep(r *rand.Rand) {
	s := sc.S[1+unit.NodeID(r.IntN(len(sc.S)))]
	in, out := unit.Port(r.IntN(8)), unit.Port(r.IntN(8))
	facts := s.Facts()
	on, _ := facts.XOFF(detect.PG{Port: in, Priority: detecttest.Priority})
	held := facts.Held(detect.PG{Port: in, Priority: detecttest.Priority}, detect.Queue{Port: out, Priority: detecttest.Priority})
	switch k := r.IntN(10); {
	case k < 4:
		s.Enqueue(in, out, 20*kilo)
		if !on {
			s.XOFF(in, out)
		}
	case k < 6 && !on:
		s.XOFF(in, out)
	case k == 6 && on:
		s.XON(in)
	case k == 7 && on:
		s.Refresh(in)
	case k == 8 && held > 0:
		s.Leave(in, out, held)
	case k == 9:
		[]func(){func() { s.HostPause(0) }, func() { s.HostResume(0) }, func() { s.Expire(out) }}[r.IntN(3)]()
	}
}

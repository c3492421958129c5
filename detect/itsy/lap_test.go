package itsy

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

func randomFlows(r *rand.Rand) (s detect.CauseFlows) {
	for range r.IntN(len(s) + 1) {
		s.Add(1 + detect.FlowID(r.Uint32N(1<<32-1)))
	}
	return s
}

func randomPort(r *rand.Rand) unit.NodePort {
	return unit.NodePort{Node: unit.NodeID(1 + r.IntN(1<<16-1)), Port: unit.Port(r.IntN(unit.MaxPorts))}
}

func randomTurn(r *rand.Rand) turn {
	return turn{at: randomPort(r), in: unit.Port(r.IntN(unit.MaxPorts)), count: uint8(r.Uint32()), flows: randomFlows(r)}
}

func randomLap(r *rand.Rand) lap {
	l := lap{
		priority: unit.Priority(r.IntN(8)), owner: randomPort(r), rank: uint16(r.Uint32()), hops: uint8(r.Uint32()),
		least: randomTurn(r), most: randomTurn(r), through: randomFlows(r),
	}
	l.flooded.turns, l.flooded.turn = uint8(r.Uint32()), randomTurn(r)
	l.detour.at, l.detour.age, l.detour.flows = randomPort(r), r.Uint32(), randomFlows(r)
	l.eldest = r.Uint32()
	for i := range r.IntN(youngMax + 1) {
		l.young[i] = young{1 + detect.FlowID(r.Uint32N(1<<32-1)), r.Uint32(), r.Uint32(), randomPort(r), unit.Port(r.IntN(unit.MaxPorts)), r.Uint32()}
	}
	for i := range r.IntN(hostsMax + 1) {
		l.hosts[i] = hostPart{newTrigger(randomPort(r), true), uint8(r.Uint32()), uint8(r.Uint32()), uint16(r.Uint32())}
	}
	return l
}

func randomQuest(r *rand.Rand) quest {
	q := quest{
		priority: unit.Priority(r.IntN(8)), owner: randomPort(r), rank: uint16(r.Uint32()), about: 1 + detect.FlowID(r.Uint32N(1<<32-1)), eldest: r.Uint32(),
		left: r.IntN(2) == 0, hops: uint8(r.IntN(questMax + 1)), answered: r.IntN(2) == 0, at: randomPort(r), onLoop: r.IntN(2) == 0, flows: randomFlows(r),
	}
	for i := range q.path {
		q.path[i] = unit.Port(r.IntN(unit.MaxPorts))
	}
	return q
}

// What append writes, parse reads as the same; the other parser takes it for nothing.
func TestDiagnosisRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 2000 {
		l, q := randomLap(r), randomQuest(r)
		if got, ok := parseLap(l.append(nil)); !ok || !reflect.DeepEqual(got, l) {
			t.Fatalf("lap %+v came back as %+v, %v", l, got, ok)
		}
		if got, ok := parseQuest(q.append(nil)); !ok || !reflect.DeepEqual(got, q) {
			t.Fatalf("quest %+v came back as %+v, %v", q, got, ok)
		}
		if _, ok := parseQuest(l.append(nil)); ok {
			t.Fatalf("a lap is read as a quest: %+v", l)
		}
		if _, ok := parseLap(q.append(nil)); ok {
			t.Fatalf("a quest is read as a lap: %+v", q)
		}
	}
	if lapLen > detect.PayloadMax || questLen > detect.PayloadMax {
		t.Errorf("a lap has %d octets and a quest %d, want at most %d", lapLen, questLen, detect.PayloadMax)
	}
}

// Values that make no sense are refused.
func TestDiagnosisRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	l, q := randomLap(r), randomQuest(r)
	l.young, l.hosts = [youngMax]young{}, [hostsMax]hostPart{}
	for name, change := range map[string]func(l *lap){
		"no owner":            func(l *lap) { l.owner.Node = 0 },
		"a hole in the flows": func(l *lap) { l.through = detect.CauseFlows{0, 7} },
		"a hole in the young": func(l *lap) { l.young[3].flow = 70 },
		"an age of no flow":   func(l *lap) { l.young[0].age = 1 },
		"a hole in the hosts": func(l *lap) { l.hosts[3].trigger = triggerHost | 70 },
		"a part of no host":   func(l *lap) { l.hosts[0].sum = 1 },
	} {
		m := l
		change(&m)
		if _, ok := parseLap(m.append(nil)); ok {
			t.Errorf("a lap with %s is taken", name)
		}
	}
	for name, change := range map[string]func(q *quest){
		"no flow":       func(q *quest) { q.about = 0 },
		"too many hops": func(q *quest) { q.hops = questMax + 1 },
	} {
		m := q
		change(&m)
		if _, ok := parseQuest(m.append(nil)); ok {
			t.Errorf("a quest with %s is taken", name)
		}
	}
}

// Any octets: no panic; what is accepted is written again as it was.
func FuzzDiagnosis(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	l, q := randomLap(r), randomQuest(r)
	f.Add(l.append(nil))
	f.Add(q.append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := parseLap(b); ok && !bytes.Equal(l.append(nil), b[:lapLen]) {
			t.Errorf("lap %x is written as %x", b, l.append(nil))
		}
		if q, ok := parseQuest(b); ok && !bytes.Equal(q.append(nil), b[:questLen]) {
			t.Errorf("quest %x is written as %x", b, q.append(nil))
		}
	})
}

package itsy

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// liar is a switch of a world that says what it likes to its neighbours, besides what it would
// say: it has heard of every label and every verification.
type liar struct {
	*world
	at    unit.NodeID
	ids   []label                     // the last that were named anywhere
	heard int                         // traces
	round map[unit.NodePort]unit.Time // when watch has seen a priority group last
}

func newLiar(t *testing.T, f detect.Factory, seed uint64) *liar {
	w := newWorld(t, f, seed)
	l := &liar{world: w, at: unit.NodeID(1 + w.rng.IntN(w.n)), round: map[unit.NodePort]unit.Time{}}
	w.Liar = l.at
	return l
}

// listen takes note of what is named.
func (l *liar) listen() {
	for _, t := range l.Traces[l.heard:] {
		l.ids = append(l.ids, newLabel(t.Label.Seq, t.Label.Initiator))
	}
	l.heard = len(l.Traces)
	l.ids = l.ids[max(0, len(l.ids)-20):]
}

// lie sends a neighbour a message, or a pause with a label.
func (l *liar) lie() {
	link := l.links[l.rng.IntN(len(l.links))]
	me := slices.IndexFunc(link[:], func(e unit.NodePort) bool { return e.Node == l.at })
	if me < 0 || len(l.ids) == 0 {
		return
	}
	to := link[1-me]
	id := l.ids[l.rng.IntN(len(l.ids))]
	if l.rng.IntN(8) == 0 {
		id = newLabel(id.rank()+uint16(l.rng.IntN(3)), unit.NodePort{Node: unit.NodeID(1 + l.rng.IntN(l.n)), Port: unit.Port(l.rng.IntN(l.ports))})
	}
	m := itsyhdr.TLV{Priority: detecttest.Priority, Initiator: id.owner(), Seq: id.rank(), Hops: uint8(l.rng.IntN(l.ports))}
	s := l.S[to.Node]
	if l.rng.IntN(3) == 0 { // only where it pauses already, so that the lie is in the label
		if s.Paused(to.Port) {
			m.Kind, m.Flags = itsyhdr.KindLabel, uint8(l.rng.IntN(8))
			_, m.Period = l.S[l.at].Facts().XOFF(detect.PG{Port: link[me].Port, Priority: detecttest.Priority})
			s.DeliverPause(to.Port, m)
		}
		return
	}
	kinds := []itsyhdr.Kind{itsyhdr.KindTemporalCheck, itsyhdr.KindQuery, itsyhdr.KindGrant, itsyhdr.KindWalk, itsyhdr.KindAck}
	m.Kind = kinds[l.rng.IntN(len(kinds))]
	if m.Kind == itsyhdr.KindAck {
		m.Flags = uint8(l.rng.IntN(4) / 3)
	}
	s.Deliver(to.Port, m)
}

// watch takes note of which priority groups wait for themselves now, if every pause of the liar lasts
// for ever and whatever comes to it waits for whatever leaves it; and of those for which the
// liar waits, which can say that they wait for it.
func (l *liar) watch() {
	stuck := l.Stuck()
	if len(stuck) == 0 {
		return
	}
	byLiar := map[unit.NodePort]bool{}
	for out := range unit.Port(l.ports) {
		l.follow(unit.NodePort{Node: l.at, Port: out}, stuck, byLiar)
	}
	for _, q := range stuck {
		seen := map[unit.NodePort]bool{}
		l.follow(q, stuck, seen)
		for i := range unit.Port(l.ports) {
			if b := (unit.NodePort{Node: q.Node, Port: i}); l.holds(b, q.Port) && (seen[b] || byLiar[b]) {
				l.round[b] = l.Now()
			}
		}
	}
}

// follow finds the priority groups that are waited for by whoever waits for q.
func (l *liar) follow(q unit.NodePort, stuck []unit.NodePort, seen map[unit.NodePort]bool) {
	b := l.S[q.Node].Peer(q.Port)
	if b.IsZero() || seen[b] {
		return
	}
	seen[b] = true
	for out := range unit.Port(l.ports) {
		next := unit.NodePort{Node: b.Node, Port: out}
		if b.Node == l.at || slices.Contains(stuck, next) && l.holds(b, out) {
			l.follow(next, stuck, seen)
		}
	}
}

func (l *liar) holds(b unit.NodePort, out unit.Port) bool {
	return l.held[[3]int{int(b.Node), int(b.Port), int(out)}] > 0
}

// judge checks what honest switches have declared since the last call: watch has seen it, at an
// instant of the check or of the verification. What the liar lets go after it was asked cannot
// be known yet.
func (l *liar) judge(from int) (judged int, ok bool) {
	for _, f := range l.Findings[from:] {
		last, was := l.round[unit.NodePort{Node: f.Switch, Port: f.PG.Port}]
		if f.Switch != l.at && (!was || last < l.Now()-2*unit.Time(l.n)*worldLink) {
			return len(l.Findings), false
		}
	}
	return len(l.Findings), true
}

// play runs the world beside the liar, and reports how many honest findings there were and
// whether all of them are as judge wants them.
func (l *liar) play() (findings int, ok bool) {
	judged := 0
	for i := range 200 {
		for end := l.Now() + worldStep; l.Now() < end; {
			l.To(l.Now() + us)
			l.listen()
			l.watch()
			if judged, ok = l.judge(judged); !ok {
				return judged, false
			}
			for range l.rng.IntN(4) {
				l.lie()
				if judged, ok = l.judge(judged); !ok {
					return judged, false
				}
			}
		}
		l.step(i > 100)
		if judged, ok = l.judge(judged); !ok {
			return judged, false
		}
		if i%20 == 0 {
			l.refresh()
		}
	}
	return judged, true
}

// The worst that a switch can make others declare, whatever it says: what is a deadlock if its
// own pauses last for ever. A label that proves a loop is not enough for that without the
// check, as the detector without it shows.
func TestLiarLiesAboutItselfAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   detect.Factory
		worlds uint64 // twice
	}{{Name, New, testkit.Sized[uint64](20, 50)}, {NameUnchecked, NewUnchecked, 10}} {
		t.Run(c.name, func(t *testing.T) {
			findings, wrong := 0, 0
			for _, first := range []uint64{1, testkit.Seed(t)} {
				for n := range c.worlds {
					l := newLiar(t, c.make, first+n)
					got, ok := l.play()
					findings += got
					if ok {
						continue
					}
					wrong++
					if c.name == Name {
						f := l.Findings[got-1]
						l.LogTraces()
						t.Fatalf("seed %d: liar S%d; at %d us S%d declared that priority group %d waits for queue %d", first+n, l.at, f.At/us, f.Switch, f.PG.Port, f.Queue.Port)
					}
				}
			}
			t.Logf("%d findings, %d worlds with a wrong one", findings, wrong)
			if findings < 40 || c.name == NameUnchecked && wrong == 0 {
				t.Errorf("%d findings, %d worlds with a wrong one: the test tests little", findings, wrong)
			}
		})
	}
}

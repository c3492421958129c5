package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/oracle"
	"softswitch/unit"
)

// Who is stuck, in which components, is what package oracle says, at random.
func TestTruthIsTheOracles(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	stuck, parts := 0, 0
	for range 40_000 {
		all := [...]Fabric{Ring(2), Ring(4), Eight(2, 3), Branch(3), Victim(2), Shortcut(3), Flooded(3)}
		pl := newPlan(all[r.IntN(len(all))])
		at := randomFacts(r, pl)
		got := pl.truth(func(k unit.NodeID) *facts { return &at[k].facts }, false)
		want := oracleTruth(t, pl, at)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %+v, the oracle says %+v\n%+v", pl.Name, got, want, at)
		}
		if got.stuck != 0 {
			stuck++
		}
		parts += len(got.parts)
	}
	if stuck < 1000 || parts < 1000 {
		t.Errorf("only %d stuck states with %d components", stuck, parts)
	}
}

// switchFacts are what is true at a switch, with the ports in which units wait.
type switchFacts struct {
	facts
	in [maxPorts][maxUnits]portMask
}

func randomFacts(r *rand.Rand, pl *plan) []switchFacts {
	at := make([]switchFacts, pl.Switches+1)
	for _, k := range pl.Links {
		q, b := &at[k.From.Node].ports[k.From.Port], &at[k.To.Node].ports[k.To.Port]
		q.by, b.period = uint8(r.IntN(16)/15), uint8(r.IntN(16)/15)
		if r.IntN(8) > 0 {
			q.state |= isPaused
		}
		if r.IntN(8) > 0 {
			b.state |= isXOFF
		}
		turns := pl.turns[k.To.Node][k.To.Port]
		for u := range maxUnits {
			if len(turns) > 0 && r.IntN(4) > 0 {
				m := turns[r.IntN(len(turns))]
				at[k.To.Node].in[k.To.Port][u] = m
				at[k.To.Node].units[k.To.Port][u] = pl.linksFrom(k.To.Node, m)
			}
		}
	}
	return at
}

func oracleTruth(t *testing.T, pl *plan, at []switchFacts) (is truth) {
	t.Helper()
	f, err := oracle.NewFabric(oracleNodes(pl))
	if err != nil {
		t.Fatal(err)
	}
	s := oracle.NewState(f)
	number := map[oracle.Queue]int{}
	for l, k := range pl.Links {
		q, b := oracle.Queue{NodePort: k.From, Priority: Priority}, oracle.PG{NodePort: k.To, Priority: Priority}
		number[q] = l
		if p := at[k.From.Node].ports[k.From.Port]; p.state.has(isPaused) {
			s.SetPaused(q, p.by)
		}
		if p := at[k.To.Node].ports[k.To.Port]; p.state.has(isXOFF) {
			s.SetXOFF(b, p.period, xon)
		}
		held := map[portMask]int{}
		for _, m := range at[k.To.Node].in[k.To.Port] {
			if m != 0 {
				held[m]++
				s.SetHeld(b, unit.PortsOfWords([4]uint64{uint64(m)}), Priority, held[m])
			}
		}
	}
	set := func(queues []oracle.Queue) (is links) {
		for _, q := range queues {
			is |= 1 << number[q]
		}
		return is
	}
	stuck := s.Stuck()
	is.stuck = set(stuck.Queues)
	for _, c := range stuck.Components {
		is.core |= set(c.Queues)
		is.parts = append(is.parts, part{set(c.Queues), c.Knot, c.Strong})
	}
	slices.SortFunc(is.parts, func(a, b part) int { return cmp.Compare(a.queues&-a.queues, b.queues&-b.queues) })
	return is
}

// oracleNodes is the fabric as package oracle takes it. What leads to a host is wired to nothing.
func oracleNodes(pl *plan) (nodes []oracle.Node, all []oracle.Link) {
	for _, k := range pl.Links {
		all = append(all, oracle.Link{A: k.From, B: k.To})
	}
	ports := make([]string, maxPorts)
	for k := 1; k <= pl.Switches; k++ {
		nodes = append(nodes, oracle.Node{ID: unit.NodeID(k), Name: fmt.Sprint("S", k), Ports: ports})
	}
	return nodes, all
}

// The store numbers states as a map does.
func TestStore(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	s, want := newStore(3), map[[3]uint32]uint32{}
	var order [][3]uint32
	for i := range uint32(400_000) {
		v := [3]uint32{r.Uint32N(80), r.Uint32N(80), r.Uint32N(80)}
		if _, known := want[v]; !known {
			want[v] = i
			order = append(order, v)
		}
		s.add(v[:], i)
	}
	if s.len() != len(order) {
		t.Fatalf("%d states, want %d", s.len(), len(order))
	}
	for i, v := range order {
		if got := s.at(uint32(i)); !slices.Equal(got, v[:]) || s.before[i] != want[v] {
			t.Fatalf("state %d is %v from %d, want %v from %d", i, got, s.before[i], v, want[v])
		}
	}
}

// What is put on a wire comes off in its order, and a sequence has one number.
func TestWires(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	w := newWires()
	number := map[string]uint32{"[]": 0}
	for range 2000 {
		at, want := uint32(0), []uint32{}
		for range 12 {
			if r.IntN(3) > 0 || at == 0 {
				f := w.frame(frame{kind: frameKind(r.IntN(3)), tlv: itsyhdr.TLV{Initiator: unit.NodePort{Node: unit.NodeID(r.IntN(3))}}})
				at, want = w.add(at, f), append(want, f)
			} else {
				if w.seqs[at].head != want[0] {
					t.Fatalf("frame %d comes first, want %d of %v", w.seqs[at].head, want[0], want)
				}
				at, want = w.seqs[at].rest, want[1:]
			}
			if n, known := number[fmt.Sprint(want)]; known && n != at {
				t.Fatalf("%v is %d, and was %d", want, at, n)
			}
			number[fmt.Sprint(want)] = at
			w.wantMarks(t, at, want)
		}
	}
}

// wantMarks checks what a sequence knows of its frames.
func (w *wires) wantMarks(t *testing.T, at uint32, frames []uint32) {
	t.Helper()
	pauses, owners := false, uint32(0)
	for _, n := range frames {
		switch f := w.frames[n]; f.kind {
		case pauseFrame:
			pauses = true
		case messageFrame:
			owners |= bit(f.tlv.Initiator.Node)
		}
	}
	if s := w.seqs[at]; s.pauses != pauses || s.owners != owners {
		t.Fatalf("%v: pauses %v, owners %b; want %v, %b", frames, s.pauses, s.owners, pauses, owners)
	}
}

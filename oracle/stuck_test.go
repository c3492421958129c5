package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// world is a State in the plainest form, and the reference model of all that is computed
// from it.
type world struct {
	f      *Fabric
	queues []Queue // all that leave a wired port, in order
	xoff   map[PG]uint8
	xon    map[PG]int
	paused map[Queue]uint8
	anyPer map[Queue]bool
	frames []frames
	// Of switches with Rules: what a priority group has in its headroom and outside it, and its extra
	// threshold.
	headroom map[PG][2]int
	extra    map[PG]int
}

// frames of a priority group that wait in exactly these ports.
type frames struct {
	b       PG
	ports   unit.PortSet
	bytes   int
	flooded bool
}

func someFrames(b PG, ports unit.PortSet, bytes int) frames {
	return frames{b, ports, bytes, ports.Len() > 1}
}

func newWorld(f *Fabric) *world {
	w := &world{
		f: f, xoff: map[PG]uint8{}, xon: map[PG]int{}, paused: map[Queue]uint8{}, anyPer: map[Queue]bool{},
		headroom: map[PG][2]int{}, extra: map[PG]int{},
	}
	for _, n := range f.nodes {
		for p := range n.Ports {
			q := Queue{unit.NodePort{Node: n.ID, Port: unit.Port(p)}, 3}
			if _, wired := f.Down(q); wired && !n.Host {
				w.queues = append(w.queues, q)
			}
		}
	}
	slices.SortFunc(w.queues, compareQueues)
	return w
}

// tell puts the world into a State.
func (w *world) tell(s *State) {
	for _, q := range w.queues {
		b, _ := w.f.Down(q)
		if period, on := w.xoff[b]; on {
			s.SetXOFF(b, period, w.xon[b])
		} else {
			s.SetXON(b)
		}
		s.ForgetPG(b)
		s.SetHeadroom(b, w.headroom[b][0], w.headroom[b][1])
		s.SetExtra(b, w.extra[b])
		switch period, on := w.paused[q]; {
		case w.anyPer[q]:
			s.SetPausedAnyPeriod(q)
		case on:
			s.SetPaused(q, period)
		default:
			s.SetResumed(q)
		}
	}
	for _, f := range w.frames {
		switch {
		case f.bytes == 0:
		case f.flooded:
			s.SetFlooded(f.b, f.ports, 3, f.bytes)
		default:
			s.SetHeld(f.b, f.ports, 3, f.bytes)
		}
	}
}

// stuck is the definition, word for word.
func (w *world) stuck(set map[Queue]bool) bool {
	for q := range set {
		if !w.holdsIn(q, set) {
			return false
		}
	}
	return true
}

// holdsIn reports whether q fulfils the conditions of a stuck set in this one.
func (w *world) holdsIn(q Queue, set map[Queue]bool) bool {
	b, _ := w.f.Down(q)
	period, xoff := w.xoff[b]
	by, paused := w.paused[q]
	return paused && xoff && (by == period || w.anyPer[q]) && w.bytes(b, set) > w.xon[b]
}

// bytes of b that have a copy in some queue of the set.
func (w *world) bytes(b PG, set map[Queue]bool) (sum int) {
	for _, f := range w.frames {
		if f.b != b {
			continue
		}
		for p := range unit.Port(unit.MaxPorts) {
			if f.ports.Has(p) && set[Queue{unit.NodePort{Node: b.Node, Port: p}, 3}] {
				sum += f.bytes
				break
			}
		}
	}
	return sum
}

// brute is the union of all stuck sets, out of all subsets.
func (w *world) brute() map[Queue]bool {
	union := map[Queue]bool{}
	for bits := 1; bits < 1<<len(w.queues); bits++ {
		set := map[Queue]bool{}
		for i, q := range w.queues {
			if bits>>i&1 != 0 {
				set[q] = true
			}
		}
		if w.stuck(set) {
			for q := range set {
				union[q] = true
			}
		}
	}
	return union
}

// slow is the largest stuck set by taking out, one after the other, any queue that
// breaks the definition.
func (w *world) slow() map[Queue]bool {
	set := map[Queue]bool{}
	for _, q := range w.queues {
		set[q] = true
	}
	for again := true; again; {
		again = false
		for _, q := range w.queues {
			if set[q] && !w.holdsIn(q, set) {
				delete(set, q)
				again = true
			}
		}
	}
	return set
}

// check compares all that Stuck says with the definition, given S*.
func (w *world) check(t *testing.T, got *Stuck, want map[Queue]bool) {
	t.Helper()
	var list []Queue
	for _, q := range w.queues {
		if want[q] {
			list = append(list, q)
		}
	}
	if !slices.Equal(got.Queues, list) {
		t.Fatalf("S* is %v, by definition %v\n%s", got.Queues, list, w)
	}
	reach := w.distances(list)
	for i, q := range list {
		core := reach[i][i] > 0
		if !got.Has(q) || got.InCore(q) != core || slices.Contains(got.Victims(), q) == core {
			t.Fatalf("%v: in S* %t, in core %t, victim %t; its shortest cycle is %d\n%s", q, got.Has(q), got.InCore(q), slices.Contains(got.Victims(), q), reach[i][i], w)
		}
		cycle := got.Cycle(q)
		if len(cycle) != reach[i][i] || core && cycle[0] != q {
			t.Fatalf("%v: cycle %v, want one of %d\n%s", q, cycle, reach[i][i], w)
		}
		for k := range cycle {
			if from, to := slices.Index(list, cycle[k]), slices.Index(list, cycle[(k+1)%len(cycle)]); reach[from][to] != 1 {
				t.Fatalf("cycle %v: %v does not wait for %v\n%s", cycle, list[from], list[to], w)
			}
		}
		w.checkComponent(t, got, list, reach, i)
	}
	if len(list) > 0 && !slices.ContainsFunc(got.Components, func(c Component) bool { return c.Knot }) {
		t.Fatalf("a deadlock without a knot: %+v\n%s", got.Components, w)
	}
}

func (w *world) checkComponent(t *testing.T, got *Stuck, list []Queue, reach [][]int, i int) {
	t.Helper()
	if reach[i][i] == 0 {
		return
	}
	var want Component
	want.Knot = true
	for j, q := range list {
		if reach[i][j] > 0 && reach[j][i] > 0 {
			want.Queues = append(want.Queues, q)
		} else if reach[i][j] > 0 {
			want.Knot = false
		}
	}
	want.Kind = w.kind(want.Queues, list)
	c := got.Components[got.component(list[i])]
	if !slices.Equal(c.Queues, want.Queues) || c.Knot != want.Knot || c.Kind != want.Kind {
		t.Fatalf("component of %v is %+v, want %+v\n%s", list[i], c, want, w)
	}
}

// kind is that of the component of these queues; stuck is S*.
func (w *world) kind(queues, stuck []Queue) (k Kind) {
	set := map[Queue]bool{}
	for _, q := range queues {
		set[q] = true
		down, _ := w.f.Down(q)
		for _, f := range w.frames {
			for _, r := range stuck {
				if f.b == down && f.bytes > 0 && f.flooded && r.Node == down.Node && f.ports.Has(r.Port) {
					k.Flooded = true
				}
			}
		}
	}
	k.Strong = w.strongCycle(set)
	return k
}

// distances[i][j] is the length of a shortest way of at least one step in G from
// list[i] to list[j], 0 if there is none: Floyd and Warshall.
func (w *world) distances(list []Queue) [][]int {
	d := make([][]int, len(list))
	for i, q := range list {
		d[i] = make([]int, len(list))
		b, _ := w.f.Down(q)
		for j, r := range list {
			if w.bytes(b, map[Queue]bool{r: true}) > 0 && r.Node == b.Node {
				d[i][j] = 1
			}
		}
	}
	for k := range list {
		for i := range list {
			for j := range list {
				if via := d[i][k] + d[k][j]; d[i][k] > 0 && d[k][j] > 0 && (d[i][j] == 0 || via < d[i][j]) {
					d[i][j] = via
				}
			}
		}
	}
	return d
}

func (w *world) String() string {
	return fmt.Sprintf("links %v\nXOFF %v\nXON at %v\npaused %v, any period %v\nframes %v", w.f.far, w.xoff, w.xon, w.paused, w.anyPer, w.frames)
}

// switches is a fabric of n switches with these links between them; ports are
// counted up.
func switches(t testing.TB, n int, links ...[2]int) *Fabric {
	t.Helper()
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: unit.NodeID(i + 1), Name: fmt.Sprintf("s%d", i+1)}
	}
	port := func(i int) unit.NodePort {
		nodes[i-1].Ports = append(nodes[i-1].Ports, "")
		return unit.NodePort{Node: unit.NodeID(i), Port: unit.Port(len(nodes[i-1].Ports) - 1)}
	}
	var wires []Link
	for _, l := range links {
		wires = append(wires, Link{port(l[0]), port(l[1])})
	}
	f, err := NewFabric(nodes, wires)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Two switches, two links: four queues, four priority groups, and every state of them in
// which a priority group goes XON at 3 and holds 0, 2 or 4 bytes for its first queue, 0 or
// 2 for its second and 0 or 2 in frames that are flooded to both. It has hairpins,
// split knots (2 + 2 > 3) and flooded frames that count once.
func TestExhaustive(t *testing.T) {
	f := switches(t, 2, [2]int{1, 2}, [2]int{1, 2})
	w, s := newWorld(f), NewState(f)
	deadlocks, splits, floods := 0, 0, 0
	const perPG = 3 * 2 * 2
	const states = 16 * perPG * perPG * perPG * perPG
	for state := 0; state < states; state += testkit.Sized(5, 1) { // every fifth in make test
		rest := state
		clear(w.xoff)
		clear(w.paused)
		w.frames = w.frames[:0]
		for _, q := range w.queues {
			b, _ := f.Down(q)
			w.xon[b] = 3
			if w.paused[q] = 1; rest&1 != 0 {
				w.xoff[b] = 1
			}
			rest /= 2
		}
		for _, q := range w.queues {
			b, _ := f.Down(q)
			h := rest % perPG
			rest /= perPG
			w.frames = append(w.frames, someFrames(b, unit.PortsOf(0), h%3*2), someFrames(b, unit.PortsOf(1), h/3%2*2), someFrames(b, unit.PortsOf(0, 1), h/6*2))
		}
		w.tell(s)
		want := w.brute()
		got := s.Stuck()
		w.check(t, got, want)
		if len(want) > 0 {
			deadlocks++
		}
		if len(want) > 0 && !w.strongCycle(want) {
			splits++
		}
		if len(want) > 0 && w.needsFlood(want) {
			floods++
		}
	}
	t.Logf("%d deadlocks, %d of them without a cycle of strong edges, %d that are smaller if flooded frames are left out", deadlocks, splits, floods)
	if deadlocks == 0 || splits == 0 || floods == 0 {
		t.Error("the space holds no case of some kind")
	}
}

// strongCycle reports whether S* has a cycle of edges that hold more than XON each.
func (w *world) strongCycle(set map[Queue]bool) bool {
	strong := *w
	strong.frames = nil
	for _, q := range w.queues {
		b, _ := w.f.Down(q)
		for _, r := range w.queues {
			if set[q] && set[r] && r.Node == b.Node && w.bytes(b, map[Queue]bool{r: true}) > w.xon[b] {
				strong.frames = append(strong.frames, someFrames(b, r.Port.Set(), w.xon[b]+1))
			}
		}
	}
	return len(strong.slow()) > 0
}

func (w *world) needsFlood(set map[Queue]bool) bool {
	without := *w
	without.frames = slices.DeleteFunc(slices.Clone(w.frames), func(f frames) bool { return f.ports.Len() > 1 })
	return len(without.slow()) < len(set)
}

// Conditions 1 and 2 for every combination of pause and XOFF of one link of a ring
// that is stuck otherwise.
func TestClosed(t *testing.T) {
	f := switches(t, 2, [2]int{1, 2})
	w := newWorld(f)
	for _, xoff := range []int{-1, 0, 1, 255} {
		for _, pause := range []int{-2, -1, 0, 1, 255} {
			w.frames = nil
			clear(w.anyPer)
			for _, q := range w.queues {
				b, _ := f.Down(q)
				w.xoff[b], w.paused[q], w.xon[b] = 7, 7, 3
				w.frames = append(w.frames, someFrames(b, unit.PortsOf(0), 4)) // hairpin: back to where they came from
			}
			q := w.queues[0]
			b, _ := f.Down(q)
			if w.xoff[b] = uint8(xoff); xoff < 0 {
				delete(w.xoff, b)
			}
			w.paused[q] = uint8(pause)
			w.anyPer[q] = pause == -2
			if pause == -1 {
				delete(w.paused, q)
			}
			s := NewState(f)
			w.tell(s)
			want := w.brute()
			w.check(t, s.Stuck(), want)
			if expect := xoff >= 0 && (pause == xoff || pause == -2); expect != (len(want) == 2) {
				t.Errorf("XOFF period %d, pause of %d: S* %v", xoff, pause, want)
			}
		}
	}
}

// randomWorld has random links, and facts near the border between stuck and not.
func randomWorld(t *testing.T, r *rand.Rand, nodes, links int) *world {
	var wires [][2]int
	for len(wires) < links {
		if a, b := 1+r.IntN(nodes), 1+r.IntN(nodes); a != b {
			wires = append(wires, [2]int{a, b})
		}
	}
	w := newWorld(switches(t, nodes, wires...))
	w.draw(r)
	return w
}

func (w *world) draw(r *rand.Rand) {
	clear(w.xoff)
	clear(w.paused)
	clear(w.anyPer)
	w.frames = nil
	for _, q := range w.queues {
		b, _ := w.f.Down(q)
		w.xon[b] = r.IntN(8)
		if r.IntN(10) > 0 {
			w.xoff[b] = uint8(r.IntN(2) * 255)
			w.paused[q] = w.xoff[b]
		}
		if r.IntN(10) == 0 {
			w.paused[q] = uint8(r.IntN(256))
		}
		w.anyPer[q] = r.IntN(20) == 0 && w.paused[q] != 0
		ports := len(w.f.node(b.Node).Ports)
		seen := map[unit.PortSet]bool{}
		for range 1 + r.IntN(3) {
			set := unit.Port(r.IntN(ports)).Set()
			if r.IntN(4) == 0 {
				set.Add(unit.Port(r.IntN(ports)))
			}
			if !seen[set] {
				seen[set] = true
				w.frames = append(w.frames, someFrames(b, set, r.IntN(10)))
			}
		}
	}
}

func TestRandomAgainstBrute(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	deadlocks := 0
	for range 400 {
		nodes := 2 + r.IntN(4)
		w := randomWorld(t, r, nodes, 1+r.IntN(5))
		s := NewState(w.f)
		for range 4 {
			w.draw(r)
			w.tell(s)
			want := w.brute()
			w.check(t, s.Stuck(), want)
			if len(want) > 0 {
				deadlocks++
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: %d of 1600 states with a deadlock", seed, deadlocks)
	if deadlocks < 50 {
		t.Error("too few deadlocks to prove anything")
	}
}

func TestRandomLarge(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	deadlocks, several := 0, 0
	for range 150 {
		w := randomWorld(t, r, 5+r.IntN(20), 10+r.IntN(30))
		s := NewState(w.f)
		w.tell(s)
		got := s.Stuck()
		w.check(t, got, w.slow())
		if !got.Empty() {
			deadlocks++
		}
		if len(got.Components) > 1 {
			several++
		}
	}
	t.Logf("%d of 150 with a deadlock, %d with several components", deadlocks, several)
	if deadlocks < 20 || several == 0 {
		t.Error("too few deadlocks to prove anything")
	}
}

// One fact at a time changes, and after each the State must say what a fresh State
// with the same facts says: nothing that matters may be taken for unchanged.
func TestOneFactAtATime(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	changes, openings := 0, 0
	for i := range 80 {
		w := randomWorld(t, r, 3+r.IntN(3), 4+r.IntN(4))
		if i%2 == 1 {
			w.sharePools(r)
		}
		s := NewState(w.f)
		w.tell(s)
		before := s.Stuck()
		for range 400 {
			w.change(r, s)
			fresh := NewState(w.f)
			w.tell(fresh)
			got := s.Stuck()
			if want := fresh.Stuck(); !got.equal(want) {
				t.Fatalf("S* is %v, opening %v; of a fresh State %v, opening %v\n%s", got.Queues, got.Opening, want.Queues, want.Opening, w)
			}
			if !got.equal(before) {
				changes++
			}
			if !slices.Equal(got.Opening, before.Opening) {
				openings++
			}
			before = got
		}
	}
	if changes < 200 || openings < 100 {
		t.Errorf("S* changed only %d times, and what opens by itself %d times", changes, openings)
	}
}

// sharePools gives most switches a pool that is short now and then.
func (w *world) sharePools(r *rand.Rand) {
	w.f.pools = true
	for i := range w.f.nodes {
		if r.IntN(4) == 0 {
			continue
		}
		rule := buffer.Rule{Pool: 10 + r.IntN(20), Size: r.IntN(3), Dynamic: true, DynamicTh: -r.IntN(3), MinXON: r.IntN(4), XONOffset: r.IntN(4)}
		w.f.nodes[i].Rules = slices.Repeat([]buffer.Rule{rule}, len(w.f.nodes[i].Ports))
	}
}

// change changes one fact in the world and in the State.
func (w *world) change(r *rand.Rand, s *State) {
	q := w.queues[r.IntN(len(w.queues))]
	b, _ := w.f.Down(q)
	period := uint8(min(1, r.IntN(8)))
	switch n := r.IntN(27); {
	case n == 25:
		w.headroom[b] = [2]int{r.IntN(2) * r.IntN(5), r.IntN(10)}
		s.SetHeadroom(b, w.headroom[b][0], w.headroom[b][1])
	case n == 26:
		w.extra[b] = r.IntN(5)
		s.SetExtra(b, w.extra[b])
	case n == 0:
		delete(w.xoff, b)
		s.SetXON(b)
	case n < 7:
		w.xoff[b] = period
		s.SetXOFF(b, period, w.xon[b])
	case n == 7:
		delete(w.paused, q)
		w.anyPer[q] = false
		s.SetResumed(q)
	case n < 14:
		w.paused[q], w.anyPer[q] = period, false
		s.SetPaused(q, period)
	case n == 14:
		w.xon[b] = r.IntN(8)
		s.SetLimit(b, w.xon[b])
	case n < 23:
		w.setFrames(b, unit.PortsOfWords([4]uint64{1 + r.Uint64N(1<<len(w.f.node(b.Node).Ports)-1)}), r.IntN(10), s)
	case n == 23:
		s.ForgetNode(q.Node)
		w.forgetNode(q.Node)
	default:
		s.ForgetQueue(q)
		s.ForgetPG(b)
		w.forget(q, b)
	}
}

func (w *world) forgetNode(id unit.NodeID) {
	maps.DeleteFunc(w.xoff, func(b PG, _ uint8) bool { return b.Node == id })
	maps.DeleteFunc(w.paused, func(q Queue, _ uint8) bool { return q.Node == id })
	maps.DeleteFunc(w.anyPer, func(q Queue, _ bool) bool { return q.Node == id })
	maps.DeleteFunc(w.headroom, func(b PG, _ [2]int) bool { return b.Node == id })
	maps.DeleteFunc(w.extra, func(b PG, _ int) bool { return b.Node == id })
	w.frames = slices.DeleteFunc(w.frames, func(f frames) bool { return f.b.Node == id })
}

func (w *world) setFrames(b PG, ports unit.PortSet, bytes int, s *State) {
	now := someFrames(b, ports, bytes)
	w.frames = slices.DeleteFunc(w.frames, func(f frames) bool { return f.b == b && f.ports == ports && f.flooded == now.flooded })
	w.frames = append(w.frames, now)
	if now.flooded {
		s.SetFlooded(b, ports, 3, bytes)
	} else {
		s.SetHeld(b, ports, 3, bytes)
	}
}

func (w *world) forget(q Queue, b PG) {
	var kept []frames
	for _, f := range w.frames {
		if f.b.Node == q.Node {
			f.ports.Remove(q.Port)
		}
		if f.b == b || f.ports.Empty() || f.bytes == 0 {
			continue
		}
		if like := slices.IndexFunc(kept, func(k frames) bool { return k.b == f.b && k.ports == f.ports && k.flooded == f.flooded }); like >= 0 {
			kept[like].bytes += f.bytes
			continue
		}
		kept = append(kept, f)
	}
	w.frames = kept
}

// Two rings that share a priority group: s1 sends to s2, and s2 to s3 and s4, which both
// send back to s1. s2 holds 24 bytes for one and 28 for the other and resumes at
// 36: neither arm alone holds it, both together do.
func TestSplitKnot(t *testing.T) {
	f := switches(t, 4, [2]int{1, 2}, [2]int{2, 3}, [2]int{2, 4}, [2]int{3, 1}, [2]int{4, 1})
	s := NewState(f)
	at := func(node, port int) unit.NodePort {
		return unit.NodePort{Node: unit.NodeID(node), Port: unit.Port(port)}
	}
	closed := func(node, port int) {
		q := Queue{at(node, port), 3}
		b, _ := f.Down(q)
		s.SetXOFF(b, 1, 36)
		s.SetPaused(q, 1)
	}
	closed(1, 0) // s1 to s2
	closed(2, 1) // s2 to s3
	closed(2, 2) // s2 to s4
	closed(3, 1) // s3 to s1
	closed(4, 1) // s4 to s1
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(1), 3, 24)
	s.SetHeld(PG{at(3, 0), 3}, unit.PortsOf(1), 3, 60)
	s.SetHeld(PG{at(4, 0), 3}, unit.PortsOf(1), 3, 60)
	s.SetHeld(PG{at(1, 1), 3}, unit.PortsOf(0), 3, 60)
	s.SetHeld(PG{at(1, 2), 3}, unit.PortsOf(0), 3, 60)
	if got := s.Stuck(); !got.Empty() {
		t.Fatalf("24 bytes for one arm alone: S* is %v", got.Queues)
	}
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(2), 3, 28)
	got := s.Stuck()
	if len(got.Queues) != 5 || len(got.Components) != 1 || !got.Components[0].Knot {
		t.Fatalf("S* is %v with components %+v, want five queues in one knot", got.Queues, got.Components)
	}
	// The same bytes as one flooded frame to both arms: once 36 is not above 36.
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(1), 3, 0)
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(2), 3, 0)
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(1, 2), 3, 36)
	if got := s.Stuck(); !got.Empty() {
		t.Fatalf("36 flooded bytes counted twice: S* is %v", got.Queues)
	}
	s.SetHeld(PG{at(2, 0), 3}, unit.PortsOf(1, 2), 3, 37)
	if got := s.Stuck(); len(got.Queues) != 5 {
		t.Fatalf("37 flooded bytes: S* is %v, want five queues", got.Queues)
	}
}

// A priority group of priority 3 may wait in a queue of priority 4 and nowhere else: a pause of
// priority 3 does not hold it.
func TestPriorities(t *testing.T) {
	f := switches(t, 2, [2]int{1, 2})
	s := NewState(f)
	one, two := unit.NodePort{Node: 1}, unit.NodePort{Node: 2}
	for _, c := range []unit.Priority{3, 4} {
		for _, np := range []unit.NodePort{one, two} {
			s.SetXOFF(PG{np, c}, 9, 10)
			s.SetPaused(Queue{np, c}, 9)
		}
	}
	s.SetHeld(PG{one, 3}, unit.PortsOf(0), 4, 11)
	s.SetHeld(PG{two, 4}, unit.PortsOf(0), 3, 11)
	got := s.Stuck()
	if len(got.Queues) != 2 || !got.InCore(Queue{one, 4}) || !got.InCore(Queue{two, 3}) {
		t.Fatalf("S* is %v, want 1.0/4 and 2.0/3, each waiting for the other", got.Queues)
	}
	s.SetResumed(Queue{two, 3})
	if got := s.Stuck(); !got.Empty() {
		t.Fatalf("S* is %v after the resume of 2.0/3", got.Queues)
	}
}

func TestStatePanicsOnUnknownPort(t *testing.T) {
	s := NewState(switches(t, 2, [2]int{1, 2}))
	defer func() {
		if r := fmt.Sprint(recover()); r == "<nil>" {
			t.Error("no panic")
		}
	}()
	s.SetPaused(Queue{unit.NodePort{Node: 1, Port: 5}, 3}, 0)
}

// A ring of n switches, all stuck: the cost of one evaluation.
func BenchmarkStuckRing96(b *testing.B) {
	var links [][2]int
	for i := range 96 {
		links = append(links, [2]int{i + 1, (i+1)%96 + 1})
	}
	f := switches(b, 96, links...)
	w := newWorld(f)
	for _, q := range w.queues {
		down, _ := f.Down(q)
		w.xoff[down], w.paused[q], w.xon[down] = 1, 1, 36
		w.frames = append(w.frames, someFrames(down, unit.PortsOf(0), 30), someFrames(down, unit.PortsOf(1), 30))
	}
	s := NewState(f)
	w.tell(s)
	if got := len(s.Stuck().Queues); got != 192 {
		b.Fatalf("%d queues stuck", got)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.changed = true
		s.Stuck()
	}
}

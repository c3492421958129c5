package itsy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// world is a few switches with priority groups that fill, drain and go XOFF and XON at
// random: not as a network would, but as the thresholds demand. The truth about it is
// detecttest's, computed from all switches at once.
type world struct {
	script
	rng   *rand.Rand
	links [][2]unit.NodePort // both ends
	held  map[[3]int]int     // bytes by switch, priority group, queue
	xoff  map[[2]int]bool
	ports int
	n     int
}

const (
	worldXOFF = 40 * kilo
	worldStep = 7 * us
	worldLink = 33 * us // the longest that a message takes to the next switch, and one microsecond
)

// newWorld wires n switches in a ring, with a few more links across.
func newWorld(t *testing.T, f detect.Factory, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{script: script{detecttest.NewScript(t, f)}, rng: rng, held: map[[3]int]int{}, xoff: map[[2]int]bool{}, n: 2 + rng.IntN(5), ports: 4}
	w.XON = []int{4 * kilo, 20 * kilo, 36 * kilo}[rng.IntN(3)]
	for k := 1; k <= w.n; k++ {
		w.Add(unit.NodeID(k), w.ports)
	}
	used := map[unit.NodePort]bool{}
	free := func(k int) (unit.Port, bool) {
		for q := range unit.Port(w.ports) {
			if !used[unit.NodePort{Node: unit.NodeID(k), Port: q}] {
				return q, true
			}
		}
		return 0, false
	}
	link := func(k, l int) {
		a, okA := free(k)
		used[unit.NodePort{Node: unit.NodeID(k), Port: a}] = true
		z, okZ := free(l)
		if !okA || !okZ {
			return
		}
		used[unit.NodePort{Node: unit.NodeID(l), Port: z}] = true
		d := detecttest.Delay{Pause: unit.Time(3+rng.IntN(25)) * us}
		d.Message = d.Pause + unit.Time(rng.IntN(5))*us
		w.Link(w.S[unit.NodeID(k)], a, w.S[unit.NodeID(l)], z, d)
		w.links = append(w.links, [2]unit.NodePort{{Node: unit.NodeID(k), Port: a}, {Node: unit.NodeID(l), Port: z}})
	}
	for k := 1; k <= w.n; k++ {
		link(k, k%w.n+1)
	}
	for range rng.IntN(3) {
		if k, l := 1+rng.IntN(w.n), 1+rng.IntN(w.n); k != l {
			link(k, l)
		}
	}
	return w
}

// step drains what is not paused, and fills some priority groups, unless calm.
func (w *world) step(calm bool) {
	for _, l := range w.links {
		for _, end := range l {
			w.drain(end)
		}
	}
	if calm {
		return
	}
	for range 1 + w.n/2 {
		end := w.links[w.rng.IntN(len(w.links))][w.rng.IntN(2)]
		w.fillRandom(end)
	}
}

// drain lets bytes leave the queue of a port, if it is not paused.
func (w *world) drain(end unit.NodePort) {
	s, k, out := w.S[end.Node], int(end.Node), int(end.Port)
	for in := range w.ports {
		key := [3]int{k, in, out}
		if s.Paused(end.Port) || w.held[key] == 0 || w.rng.IntN(3) == 0 {
			continue
		}
		n := min(w.held[key], 1+w.rng.IntN(12*kilo))
		w.held[key] -= n
		s.Leave(unit.Port(in), end.Port, n)
		if b := [2]int{k, in}; w.xoff[b] && w.total(k, in) <= w.XON {
			w.xoff[b] = false
			s.XON(unit.Port(in))
		}
	}
}

// fillRandom lets frames come in by a port, as long as its priority group has room.
func (w *world) fillRandom(end unit.NodePort) {
	s, k, in := w.S[end.Node], int(end.Node), int(end.Port)
	for range 1 + w.rng.IntN(3) {
		to := w.links[w.rng.IntN(len(w.links))]
		for _, e := range to {
			if e.Node != end.Node || w.total(k, in) > worldXOFF+15*kilo || w.xoff[[2]int{k, in}] && w.rng.IntN(4) > 0 {
				continue
			}
			n := 1 + w.rng.IntN(30*kilo)
			w.held[[3]int{k, in, int(e.Port)}] += n
			s.Enqueue(end.Port, e.Port, n)
			if b := [2]int{k, in}; !w.xoff[b] && w.total(k, in) >= worldXOFF {
				w.xoff[b] = true
				s.XOFF(end.Port, e.Port)
			}
		}
	}
}

func (w *world) total(k, in int) (n int) {
	for out := range w.ports {
		n += w.held[[3]int{k, in, out}]
	}
	return n
}

// refresh repeats every pause.
func (w *world) refresh() {
	for _, l := range w.links {
		for _, end := range l {
			if w.xoff[[2]int{int(end.Node), int(end.Port)}] {
				w.S[end.Node].Refresh(end.Port)
			}
		}
	}
}

// judge checks the findings since the last call: what was declared is stuck.
func (w *world) judge(from int) bool {
	stuck := w.Stuck()
	for _, f := range w.Findings[from:] {
		if at := (unit.NodePort{Node: f.Switch, Port: f.Queue.Port}); !slices.Contains(stuck, at) {
			w.Errorf("at %d us: declared %v, stuck are %v", f.At/us, at, stuck)
			return false
		}
	}
	return true
}

// isStuck reports whether what f declares is stuck now.
func (w *world) isStuck(f detecttest.Found) bool {
	return slices.Contains(w.Stuck(), unit.NodePort{Node: f.Switch, Port: f.Queue.Port})
}

// Random worlds: nothing is declared that is not stuck at that instant, and what is
// stuck in the end has been declared.
func TestRandomWorlds(t *testing.T) {
	for name, f := range map[string]detect.Factory{Name: New, NameUnchecked: NewUnchecked} {
		t.Run(name, func(t *testing.T) { randomWorlds(t, f) })
	}
}

func randomWorlds(t *testing.T, f detect.Factory) {
	random := testkit.Seed(t)
	seeds := testkit.Sized([]uint64{1000, random}, []uint64{1000, 2000, 3000, random})
	each, deadlocks := testkit.Sized(40, 250), 0
	for _, first := range seeds {
		for n := range uint64(each) {
			seed := first + n
			w := newWorld(t, f, seed)
			for i := range 300 {
				calm := i > 150
				before := len(w.Findings)
				end := w.Now() + worldStep
				for now := w.Now() + us; now <= end; now += us { // so often that a finding is judged at once
					w.To(now)
					if !w.judge(before) {
						t.Fatalf("seed %d", seed)
					}
					before = len(w.Findings)
				}
				w.step(calm)
				if !w.judge(before) {
					t.Fatalf("seed %d", seed)
				}
				if i%20 == 0 {
					w.refresh()
				}
			}
			if len(w.Stuck()) == 0 {
				continue
			}
			deadlocks++
			w.To(w.Now() + 600*w.Hop)
			if !slices.ContainsFunc(w.Findings, w.isStuck) {
				w.LogTraces()
				t.Fatalf("seed %d: stuck %v, declared only %+v", seed, w.Stuck(), w.Findings)
			}
		}
	}
	t.Logf("seeds %d, %d deadlocks in %d worlds", seeds, deadlocks, each*len(seeds))
	if deadlocks*10 < each*len(seeds) {
		t.Errorf("only %d deadlocks: the test tests little", deadlocks)
	}
}

package scc_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/scc"
	"softswitch/internal/testkit"
)

// graph makes the slices of edges, by tail.
func graph(edges [][]int32) (at, to []int32) {
	at = []int32{0}
	for _, heads := range edges {
		to = append(to, heads...)
		at = append(at, int32(len(to)))
	}
	return at, to
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		what  string
		edges [][]int32
		want  []int32
	}{
		{"nothing", nil, nil},
		{"a chain", [][]int32{{1}, {2}, {}}, []int32{-1, -1, -1}},
		{"an edge to itself", [][]int32{{1}, {1}}, []int32{-1, 0}},
		{"edges that lead nowhere", [][]int32{{-1, 1}, {-1, 0, -1}, {-1}}, []int32{0, 0, -1}},
		{"by their first nodes, not as they are left", [][]int32{{1, 3}, {2}, {1}, {0}}, []int32{0, 1, 1, 0}},
		{"two cycles that share a node", [][]int32{{1}, {0, 2}, {1}}, []int32{0, 0, 0}},
	} {
		at, to := graph(c.edges)
		comp := make([]int32, len(c.want))
		n := new(scc.Finder).Find(comp, at, to)
		if wantN := int(slices.Max(append(c.want, -1)) + 1); !slices.Equal(comp, c.want) || n != wantN {
			t.Errorf("%s: %d components, %v; want %d, %v", c.what, n, comp, wantN, c.want)
		}
	}
}

// TestFindByReachability holds random graphs, by one Finder, against the definition: two nodes
// are in a component if each reaches the other.
func TestFindByReachability(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var f scc.Finder
	for range 2000 {
		edges := random(r, r.IntN(24))
		want, wantN := byReachability(edges)
		at, to := graph(edges)
		comp := make([]int32, len(edges))
		if n := f.Find(comp, at, to); n != wantN || !slices.Equal(comp, want) {
			t.Fatalf("%v: %d components, %v; want %d, %v", edges, n, comp, wantN, want)
		}
	}
}

// random is a graph of n nodes in which few edges, or many, lead to nodes or nowhere.
func random(r *rand.Rand, n int) [][]int32 {
	edges := make([][]int32, n)
	for range r.IntN(3*n + 1) {
		i := r.IntN(n)
		edges[i] = append(edges[i], int32(r.IntN(n+1)-1))
	}
	return edges
}

// byReachability is the slow reference: the closure of the edges.
func byReachability(edges [][]int32) (comp []int32, n int) {
	reach := make([][]bool, len(edges))
	for i := range edges {
		reach[i] = make([]bool, len(edges))
		for _, j := range edges[i] {
			if j >= 0 {
				reach[i][j] = true
			}
		}
	}
	for k := range edges {
		for i := range edges {
			for j := range edges {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	comp = make([]int32, len(edges))
	for i := range comp {
		comp[i] = -1
	}
	for i := range edges {
		if comp[i] >= 0 || !reach[i][i] {
			continue
		}
		for j := range edges {
			if reach[i][j] && reach[j][i] {
				comp[j] = int32(n)
			}
		}
		n++
	}
	return comp, n
}

// TestLongChain: a cycle of a million nodes needs no deep stack.
func TestLongChain(t *testing.T) {
	const n = 1_000_000
	at, to, comp := make([]int32, n+1), make([]int32, n), make([]int32, n)
	for i := range int32(n) {
		at[i+1], to[i] = i+1, (i+1)%n
	}
	if got := new(scc.Finder).Find(comp, at, to); got != 1 || slices.Max(comp) != 0 || slices.Min(comp) != 0 {
		t.Errorf("%d components, from %d to %d; want one", got, slices.Min(comp), slices.Max(comp))
	}
}

// TestNoAllocation: a Finder that has found once needs no more memory.
func TestNoAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	at, to := graph(random(r, 200))
	comp := make([]int32, 200)
	var f scc.Finder
	for range 2 {
		f.Find(comp, at, to)
	}
	if n := testing.AllocsPerRun(100, func() { f.Find(comp, at, to) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

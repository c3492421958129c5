package ui

import "softswitch/topo/layout"

// layOut places the nodes and returns the shape: see layout.Graph.Place.
func (w *wiring) layOut() (shape string) {
	at, shape := layout.New(len(w.switches), len(w.nodes), w.pairs()).Place()
	for i, p := range at {
		w.nodes[i].X, w.nodes[i].Y = p.X, p.Y
	}
	return shape
}

// pairs are the ends of the links.
func (w *wiring) pairs() (pairs [][2]int) {
	for _, l := range w.links {
		pairs = append(pairs, [2]int{l.A, l.B})
	}
	return pairs
}

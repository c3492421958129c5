package ui

import (
	"softswitch/internal/lists"
	"softswitch/view/drawing"
)

// layOut places the nodes and the ends of the links: see layout.Graph.Place.
func (w *wiring) layOut() Layout {
	d := drawing.NewPlacement(len(w.switches), len(w.nodes), w.pairs()).Place()
	for i, p := range d.At {
		w.nodes[i].X, w.nodes[i].Y = p.X, p.Y
	}
	for i, e := range d.Ends {
		l := &w.links[i]
		l.X1, l.Y1, l.X2, l.Y2 = e[0].X, e[0].Y, e[1].X, e[1].Y
	}
	return Layout{d.Shape, Box(d.Switch), Box(d.Host)}
}

// pairs are the ends of the links.
func (w *wiring) pairs() [][2]int {
	return lists.Map(w.links, func(l Link) [2]int { return [2]int{l.A, l.B} })
}

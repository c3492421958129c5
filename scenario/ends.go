package scenario

import "softswitch/topo"

// PerEnd is by link of a fabric what its ends have, each its own; nil if none has anything.
type PerEnd[T any] []Ends[T]

// Ends is what the ends A and B of a link have.
type Ends[T any] struct{ A, B T }

// of is where p has what end e has. p is not nil.
func (p PerEnd[T]) of(f *topo.Fabric, e topo.End) *T {
	link := f.Nodes[e.Node].Ports[e.Port].Link
	if f.Links[link].A == e {
		return &p[link].A
	}
	return &p[link].B
}

// at is what end e has, the zero value if p is nil.
func (p PerEnd[T]) at(f *topo.Fabric, e topo.End) (has T) {
	if p != nil {
		has = *p.of(f, e)
	}
	return has
}

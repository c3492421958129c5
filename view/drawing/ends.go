package drawing

import (
	"cmp"
	"math"
	"slices"
)

// side is a side of a box.
type side int

const (
	top side = iota
	bottom
	left
	right
)

// side is the one by which a link leaves node a for node b.
func (s *sheet) side(a, b int) side {
	p, q := s.at[a], s.at[b]
	m, n := s.box(a), s.box(b)
	if s.across(a, b) {
		q = Point{width / 2, height / 2}
	}
	dx, dy := q.X-p.X, q.Y-p.Y
	upright := math.Abs(dy)*(m.W+n.W) > math.Abs(dx)*(m.H+n.H)
	if s.steep {
		upright = math.Abs(dy) >= m.H+n.H
	}
	switch {
	case upright && dy < 0:
		return top
	case upright:
		return bottom
	case dx < 0:
		return left
	}
	return right
}

// across reports whether a link goes from one node on an ellipse to another that is not
// beside it. Such links leave boxes inwards, in front of those between.
func (s *sheet) across(a, b int) bool {
	i, j, n := slices.Index(s.ellipse, a), slices.Index(s.ellipse, b), len(s.ellipse)
	gap := max(i-j, j-i)
	return i >= 0 && j >= 0 && gap > 1 && gap < n-1
}

// spreadOver is how much of a side links meet.
const spreadOver = 0.85

// end is one of the two ends of a link.
type end struct{ link, which int }

// ends is, by link, where it meets the boxes of its nodes: those of one side of a box are
// spread along it, in the order in which the nodes at their far ends are.
func (s *sheet) ends() [][2]Point {
	ends := make([][2]Point, len(s.g.links))
	at := make([][4][]end, s.g.nodes)
	for i, l := range s.g.links {
		for w := range 2 {
			side := s.side(l[w], l[1-w])
			at[l[w]][side] = append(at[l[w]][side], end{i, w})
		}
	}
	for node := range at {
		for i, list := range at[node] {
			side := side(i)
			lying := side == top || side == bottom
			along := func(e end) float64 {
				far := s.at[s.g.links[e.link][1-e.which]]
				if lying {
					return far.X
				}
				return far.Y
			}
			slices.SortStableFunc(list, func(x, y end) int { return cmp.Compare(along(x), along(y)) })
			for k, e := range list {
				t := spreadOver * ((2*float64(k)+1)/float64(len(list)) - 1)
				ends[e.link][e.which] = s.on(node, side, t)
			}
		}
	}
	s.straighten(ends)
	return ends
}

// on is a point on a side of a node's box: t is from -1 to 1 along it, 0 in its middle.
func (s *sheet) on(node int, at side, t float64) Point {
	p, b := s.at[node], s.box(node)
	return [4]Point{
		top:    {p.X + t*b.W, p.Y - b.H},
		bottom: {p.X + t*b.W, p.Y + b.H},
		left:   {p.X - b.W, p.Y + t*b.H},
		right:  {p.X + b.W, p.Y + t*b.H},
	}[at]
}

// straighten makes the links of hosts in rows as upright as their boxes allow, so that
// those to hosts one below the other run side by side.
func (s *sheet) straighten(ends [][2]Point) {
	for i, l := range s.g.links {
		for w, h := range l {
			if sw := l[1-w]; s.steep && h >= s.g.switches && sw < s.g.switches {
				if side := s.side(h, sw); side == top || side == bottom {
					p, most := s.at[h].X, spreadOver*s.host.W
					ends[i][w].X = min(max(ends[i][1-w].X, p-most), p+most)
				}
			}
		}
	}
}

package drawing

import (
	"cmp"
	"math"
	"slices"
)

// enough is how large boxes have to be, as a fraction of their largest size. Below it, a shape
// that is easier to read is given up for one with larger boxes.
const enough = 0.75

// fold places switches that form a line or, closed, a ring: from left to right, then back
// in the next row, and so on. Hosts are on the side of their switch where no link leads to
// another row. The link that closes a ring has the left edge for itself.
func (g *Placement) fold(order []int, closed bool) *sheet {
	var best *sheet
	step := 1 // rows
	if closed {
		step = 2 // to end on the side where it began
	}
	for n := step; n == step || n <= len(order)/2; n += step {
		rows, where := folded(order, n, closed)
		s := g.rows(rows, gapLinked, func(node int) part { return where[node] })
		if best == nil || s.fit() > best.fit() {
			best = s
		}
		if best.fit() >= enough {
			break
		}
	}
	return best
}

// folded is an order in n rows.
func folded(order []int, n int, closed bool) (rows []row, where map[int]part) {
	where = map[int]part{}
	free := 0 // cells that the rows between the first and the last leave at the left
	if closed {
		free = n - 2
	}
	cells, from := len(order)+free, 0
	for k := range n {
		count := cells*(k+1)/n - cells*k/n
		r := row{}
		if closed && k > 0 && k < n-1 {
			r.left = 1
			count--
		}
		r.nodes = slices.Clone(order[from : from+max(0, count)])
		from += max(0, count)
		for _, i := range r.nodes {
			where[i] = both
		}
		if len(r.nodes) > 0 {
			if n > 1 && (k > 0 || closed) {
				where[r.nodes[0]] = below // a link leads up
			}
			if last := r.nodes[len(r.nodes)-1]; k < n-1 {
				where[last] = above // a link leads down
			}
			if closed && k == 0 {
				where[r.nodes[0]] = above
			}
			if closed && k == n-1 {
				where[r.nodes[len(r.nodes)-1]] = below
			}
		}
		if k%2 == 1 {
			slices.Reverse(r.nodes)
		}
		rows = append(rows, r)
	}
	return rows, where
}

// layers places switches in a row by level, or in several rows if their boxes would be too
// narrow in one; those of levels above the first above the middle of their neighbours
// below; and those that cannot reach a host on top, with loose hosts.
func (g *Placement) layers(levels []int) *sheet {
	order := g.byLevel(levels)
	longest := 1
	for _, level := range order {
		longest = max(longest, len(level))
	}
	var best *sheet
	for n := 1; n == 1 || longest/n >= 4; n++ {
		var rows []row
		for _, level := range order {
			rows = append(rows, split(level, (len(level)*n+longest-1)/longest)...)
		}
		s := g.rows(rows, gapAside, func(int) part { return below })
		if best == nil || s.fit() > best.fit() {
			best = s
		}
		if best.legible() {
			break
		}
	}
	return best
}

// byLevel is the switches by level, the highest first, in the order in which they are
// drawn from left to right.
func (g *Placement) byLevel(levels []int) [][]int {
	rows := make([][]int, slices.Max(append([]int{1}, levels...))+1)
	for i, l := range levels {
		rows[l] = append(rows[l], i)
	}
	x := make([]float64, g.switches)
	for l := 1; l < len(rows); l++ {
		if l > 1 {
			g.sortByMiddle(rows[l], levels, x)
		}
		for k, i := range rows[l] {
			x[i] = (float64(k) + 0.5) / float64(len(rows[l]))
		}
	}
	rows[0] = append(rows[0], g.loose...)
	slices.Reverse(rows[1:])
	return slices.DeleteFunc(rows, func(r []int) bool { return len(r) == 0 })
}

// sortByMiddle orders a row by the mean position x of the neighbours in the row below;
// ties keep their order.
func (g *Placement) sortByMiddle(row, levels []int, x []float64) {
	middle := func(i int) float64 {
		sum, n := 0.0, 0
		for _, b := range g.next[i] {
			if levels[b] == levels[i]-1 {
				sum += x[b]
				n++
			}
		}
		return math.Round(1e6*sum/float64(max(1, n))) / 1e6
	}
	slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
}

// split deals nodes out to n rows in turn. Each row stands a little to the right of that
// above, so that links pass between the boxes.
func split(nodes []int, n int) []row {
	rows := make([]row, n)
	for k, i := range nodes {
		rows[k%n].nodes = append(rows[k%n].nodes, i)
	}
	for k := range rows {
		rows[k].left = float64(k) / float64(n)
		rows[k].right = float64(n-1-k) / float64(n)
	}
	return rows
}

// ellipse places nodes around an ellipse in this order, hosts outside, in boxes as large as
// there is room for.
func (g *Placement) ellipse(order []int) *sheet {
	s := g.sheet()
	s.ellipse = order
	inner := 0.34
	if g.nodes == len(order) {
		inner = 0.44 // no hosts
	}
	share := 2 * math.Pi / float64(max(1, len(order)))
	for k, i := range order {
		angle := share*float64(k) - math.Pi/2
		s.put(i, width*(0.5+inner*math.Cos(angle)), height*(0.5+inner*math.Sin(angle)))
		if i >= g.switches {
			continue
		}
		for j, h := range g.hosts[i] {
			a := angle + share*0.8*((float64(j)+0.5)/float64(len(g.hosts[i]))-0.5)
			s.put(h, width*(0.5+0.465*math.Cos(a)), height*(0.5+0.475*math.Sin(a)))
		}
	}
	s.shrink()
	return s
}

// shrink makes boxes smaller until none touches another.
func (s *sheet) shrink() {
	const gap = 14
	scale := 1.0
	for i, p := range s.at {
		for j, q := range s.at[:i] {
			a, b := s.box(i), s.box(j)
			scale = min(scale, max(math.Abs(p.X-q.X)/(a.W+b.W+gap), math.Abs(p.Y-q.Y)/(a.H+b.H+gap)))
		}
	}
	s.sw, s.host = Box{s.sw.W * scale, s.sw.H * scale}, Box{s.host.W * scale, s.host.H * scale}
}

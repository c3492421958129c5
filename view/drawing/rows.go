package drawing

import "math"

// row is switches side by side, each in a cell that has room for its hosts too. A loose
// host can take the place of a switch.
type row struct {
	nodes       []int
	left, right float64 // free room at the ends, in cells of the usual width
}

// part is where the hosts of a switch are.
type part int

const (
	below part = iota
	above
	both // half of them above, half below
)

// Gaps in units. Those between a switch and its hosts and between rows grow if there is room.
const (
	gapEdge                = 2.0
	gapAside               = 8.0  // side by side
	gapLinked              = 36.0 // side by side with a link between: room for its marks
	gapStack               = 8.0  // between hosts one below the other
	gapHosts, gapHostsMost = 16.0, 150.0
	gapRows, gapRowsMost   = 24.0, 300.0
)

// stack is hosts in columns, above or below their switch.
type stack struct {
	hosts []int
	cols  int
}

func (t stack) rows() int { return (len(t.hosts) + max(1, t.cols) - 1) / max(1, t.cols) }

// newStack has as many columns as there are hosts, or fewer if they would get too narrow.
func newStack(hosts []int, cell float64) stack {
	t := stack{hosts: hosts, cols: min(len(hosts), max(1, int(cell/(2*slim+gapAside))))}
	if t.cols > 0 {
		t.cols = (len(hosts) + t.rows() - 1) / t.rows() // rows of the same length
	}
	return t
}

// cell is where a switch is in its row, and its hosts.
type cell struct {
	node        int
	x, w        float64 // middle and width
	upper, down stack
}

// rows draws rows of switches, the highest first, with this gap between the switches of a
// row.
func (g *Placement) rows(rows []row, gap float64, where func(node int) part) *sheet {
	s := g.sheet()
	s.steep = true
	lines := make([]line, len(rows))
	for k, r := range rows {
		for _, c := range g.cells(r, where) {
			lines[k].cells = append(lines[k].cells, c)
			lines[k].upper = max(lines[k].upper, c.upper.rows())
			lines[k].down = max(lines[k].down, c.down.rows())
			s.narrow(c, gap)
		}
	}
	g.spread(s, lines)
	return s
}

// weight is the width of a switch's cell: 1, or more if it has more hosts than others.
func (g *Placement) weight(node int) float64 {
	if node >= g.switches {
		return 1
	}
	hosts, with := 0, 0
	for _, h := range g.hosts {
		hosts += len(h)
		with += min(1, len(h))
	}
	return math.Max(1, math.Sqrt(float64(len(g.hosts[node])*with)/float64(max(1, hosts))))
}

func (g *Placement) cells(r row, where func(node int) part) (cells []cell) {
	total := r.left + r.right
	for _, n := range r.nodes {
		total += g.weight(n)
	}
	x := r.left
	for _, n := range r.nodes {
		w := g.weight(n)
		c := cell{node: n, x: (x + w/2) * width / total, w: w * width / total}
		x += w
		if n < g.switches {
			up := 0
			switch where(n) {
			case above:
				up = len(g.hosts[n])
			case both:
				up = len(g.hosts[n]) / 2
			}
			down := len(g.hosts[n]) - up
			c.down, c.upper = newStack(g.hosts[n][:down], c.w), newStack(g.hosts[n][down:], c.w)
		}
		cells = append(cells, c)
	}
	return cells
}

// narrow makes the boxes as narrow as the cell needs them.
func (s *sheet) narrow(c cell, gap float64) {
	fits := func(most, room, gap float64) float64 { return min(most, max(room-gap, room*0.7)/2) }
	if c.node < s.g.switches {
		s.sw.W = fits(s.sw.W, c.w, gap)
	} else {
		s.host.W = fits(s.host.W, c.w, gap)
	}
	for _, t := range []stack{c.upper, c.down} {
		if t.cols > 0 {
			s.host.W = fits(s.host.W, c.w/float64(t.cols), gapAside)
		}
	}
}

// line is a row with how many rows of hosts are above and below its switches.
type line struct {
	cells       []cell
	upper, down int
}

// spread places lines one below the other, with boxes as high as there is room for.
func (g *Placement) spread(s *sheet, lines []line) {
	boxes, near := 2*gapEdge, 0 // what does not grow; gaps between switches and hosts
	for _, l := range lines {
		boxes += 2 * switchH
		for _, n := range []int{l.upper, l.down} {
			if n > 0 {
				near++
				boxes += float64(n)*2*hostH + float64(n-1)*gapStack
			}
		}
	}
	far := max(0, len(lines)-1)
	scale := min(1, height/(boxes+float64(near)*gapHosts+float64(far)*gapRows))
	s.sw.H, s.host.H = switchH*scale, hostH*scale
	// A gap between rows grows by twice as much as one between a switch and its hosts.
	grow := (height/scale - boxes - float64(near)*gapHosts - float64(far)*gapRows) / float64(max(1, near+2*far))
	hosts, between := min(gapHosts+grow, gapHostsMost)*scale, min(gapRows+2*grow, gapRowsMost)*scale
	step := 2*s.host.H + gapStack*scale
	y := (height-scale*boxes-float64(near)*hosts-float64(far)*between)/2 + gapEdge*scale
	for _, l := range lines {
		if l.upper > 0 {
			y += float64(l.upper)*step - gapStack*scale + hosts
		}
		y += s.sw.H
		for _, c := range l.cells {
			s.put(c.node, c.x, y)
			s.stack(c, c.upper, y-s.sw.H-hosts-s.host.H, -step)
			s.stack(c, c.down, y+s.sw.H+hosts+s.host.H, step)
		}
		y += s.sw.H
		if l.down > 0 {
			y += hosts + float64(l.down)*step - gapStack*scale
		}
		y += between
	}
}

// stack places the hosts of a cell from y on, row after row.
func (s *sheet) stack(c cell, t stack, y, step float64) {
	for j, h := range t.hosts {
		k := j / t.cols
		cols := min(t.cols, len(t.hosts)-k*t.cols)
		x := c.x + (float64(j%t.cols)-float64(cols-1)/2)*c.w/float64(t.cols)
		s.put(h, x, y+float64(k)*step)
	}
}

package drawing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/topo"
	"softswitch/view/drawing"
)

// fabric is the input of a layout.
type fabric struct {
	switches, nodes int
	links           [][2]int
}

// hosts adds n hosts to a switch.
func (f *fabric) hosts(sw, n int) {
	for range n {
		f.links = append(f.links, [2]int{sw, f.nodes})
		f.nodes++
	}
}

// of is a fabric with hosts at all of the switches, which these links join.
func of(switches, hosts int, links ...[2]int) *fabric {
	f := &fabric{switches: switches, nodes: switches, links: links}
	for i := range switches {
		f.hosts(i, hosts)
	}
	return f
}

// row is the links of switches in a row.
func row(from, to int) (links [][2]int) {
	for i := from; i+1 < to; i++ {
		links = append(links, [2]int{i, i + 1})
	}
	return links
}

// ring is the links of switches in a ring.
func ring(from, to int) [][2]int { return append(row(from, to), [2]int{to - 1, from}) }

// built is a fabric that package topo builds; the layout numbers its switches first.
func built(t testing.TB, from *topo.Fabric, err error) *fabric {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	f := &fabric{}
	number := make([]int, len(from.Nodes))
	for _, kind := range []topo.Kind{topo.Switch, topo.Host} {
		for i, n := range from.Nodes {
			if n.Kind == kind {
				number[i] = f.nodes
				f.nodes++
			}
		}
		if kind == topo.Switch {
			f.switches = f.nodes
		}
	}
	for _, l := range from.Links {
		f.links = append(f.links, [2]int{number[l.A.Node], number[l.B.Node]})
	}
	return f
}

// pixels is the drawing in the pixels of the page.
type pixels struct {
	*fabric
	*drawing.Drawing
}

func (f *fabric) place() pixels {
	d := drawing.NewPlacement(f.switches, f.nodes, f.links).Place()
	scale := func(p *drawing.Point) { p.X, p.Y = p.X*1460, p.Y*790 }
	for i := range d.At {
		scale(&d.At[i])
	}
	for i := range d.Ends {
		scale(&d.Ends[i][0])
		scale(&d.Ends[i][1])
	}
	for _, b := range []*drawing.Box{&d.Switch, &d.Host} {
		b.W, b.H = b.W*1460, b.H*790
	}
	return pixels{f, d}
}

func (p pixels) box(node int) drawing.Box {
	if node < p.switches {
		return p.Switch
	}
	return p.Host
}

// fault is what is wrong with a drawing: a box off it, or boxes less than half a pixel apart.
func (p pixels) fault() error {
	if len(p.At) != p.nodes || len(p.Ends) != len(p.links) {
		return fmt.Errorf("%d nodes and %d links are drawn of %d and %d", len(p.At), len(p.Ends), p.nodes, len(p.links))
	}
	for i, a := range p.At {
		m := p.box(i)
		if !(m.W > 0 && m.H > 0 && a.X >= m.W && a.X <= 1460-m.W && a.Y >= m.H && a.Y <= 790-m.H) {
			return fmt.Errorf("node %d, in a box of half %v, is at %v: off the drawing", i, m, a)
		}
		for j, b := range p.At[:i] {
			n := p.box(j)
			if math.Abs(a.X-b.X) < m.W+n.W+0.5 && math.Abs(a.Y-b.Y) < m.H+n.H+0.5 {
				return fmt.Errorf("nodes %d at %v in a box of half %v and %d at %v in one of %v touch", i, a, m, j, b, n)
			}
		}
	}
	for i, e := range p.Ends {
		for w, at := range e {
			n := p.links[i][w]
			dx, dy := math.Abs(at.X-p.At[n].X)-p.box(n).W, math.Abs(at.Y-p.At[n].Y)-p.box(n).H
			if math.Abs(max(dx, dy)) > 0.01 {
				return fmt.Errorf("link %v ends at %v, not at the edge of node %d at %v", p.links[i], at, n, p.At[n])
			}
		}
	}
	return nil
}

// behind counts the boxes that links pass behind without joining them: hosts of a switch
// that the link joins, and others.
func (p pixels) behind() (own, others int) {
	at := map[int]int{} // by host: its switch
	for _, l := range p.links {
		at[max(l[0], l[1])] = min(l[0], l[1])
	}
	for i, l := range p.links {
		for n := range p.At {
			if n == l[0] || n == l[1] || !crosses(p.Ends[i][0], p.Ends[i][1], p.At[n], p.box(n)) {
				continue
			}
			if sw := at[n]; n >= p.switches && (sw == l[0] || sw == l[1]) {
				own++
			} else {
				others++
			}
		}
	}
	return own, others
}

// crosses reports whether a point of the line from p to q is inside the box around m.
func crosses(p, q, m drawing.Point, b drawing.Box) bool {
	from, to := 0.0, 1.0
	clip := func(at, step, low, high float64) {
		if step == 0 {
			if at <= low || at >= high {
				to = -1
			}
			return
		}
		s, t := (low-at)/step, (high-at)/step
		from, to = max(from, min(s, t)), min(to, max(s, t))
	}
	clip(p.X, q.X-p.X, m.X-b.W, m.X+b.W)
	clip(p.Y, q.Y-p.Y, m.Y-b.H, m.Y+b.H)
	return to-from > 1e-9
}

// TestTable: fabrics as they are built are drawn in boxes that a name fits into, and their
// links pass behind few nodes that they do not join.
func TestTable(t *testing.T) {
	type entry struct {
		name   string
		f      *fabric
		shape  string
		behind int // at most so many boxes that a link does not join are in front of it
	}
	var table []entry
	for _, k := range []int{4, 6, 8} {
		f, err := topo.FatTree(k)
		table = append(table, entry{fmt.Sprint("fat-tree ", k), built(t, f, err), "layers", 0})
	}
	for _, c := range [][3]int{{16, 4, 4}, {4, 4, 16}} {
		f, err := topo.LeafSpine(c[0], c[1], c[2])
		table = append(table, entry{fmt.Sprint("leaf-spine ", c), built(t, f, err), "layers", 0})
	}
	dual, err := topo.DualHomed(8, 4, 4)
	table = append(table, entry{"hosts at two leaves", built(t, dual, err), "layers", 0})
	rails, err := topo.Rails(8, 4, 16)
	table = append(table, entry{"rails", built(t, rails, err), "layers", 0})
	f, err := topo.LeafSpine(64, 8, 2)
	table = append(table, entry{"leaf-spine, leaves in two rows", built(t, f, err), "layers", 1300})
	for n := 3; n <= 200; n += 1 + n/6 {
		table = append(table, entry{fmt.Sprint("ring ", n), of(n, 1, ring(0, n)...), "ring", 0})
	}
	for _, n := range []int{3, 12, 33} {
		table = append(table, entry{fmt.Sprint("ring with 3 hosts each ", n), of(n, 3, ring(0, n)...), "ring", 0})
	}
	for n := 1; n <= 50; n++ {
		table = append(table, entry{fmt.Sprint("line ", n), of(n, 2, row(0, n)...), "line", 0})
	}
	star := of(1, 100)
	table = append(table, entry{"star", star, "line", 0})
	arms := &fabric{switches: 9, nodes: 9}
	for i := 1; i < 9; i++ {
		arms.links = append(arms.links, [2]int{0, i})
		arms.hosts(i, 12)
	}
	table = append(table, entry{"star of stars", arms, "layers", 0})
	table = append(table, entry{"two rings", of(12, 2, append(ring(0, 6), ring(6, 12)...)...), "ring", 0})
	table = append(table, entry{"two lines", of(12, 2, append(row(0, 6), row(6, 12)...)...), "ring", 0})
	for _, c := range [][3]int{{24, 3, 2}, {50, 4, 1}, {100, 4, 3}, {200, 3, 1}, {200, 4, 1}} {
		f, err := topo.Jellyfish(c[0], c[1], c[2], 1)
		shape, most := "mesh", 2*len(f.Links)
		if c[0] == 24 {
			shape, most = "ring", 10
		}
		table = append(table, entry{fmt.Sprint("jellyfish ", c), built(t, f, err), shape, most})
	}
	f, err = topo.Dragonfly(5, 4, 2, 1)
	table = append(table, entry{"dragonfly of 20 switches", built(t, f, err), "ring", 10})
	f, err = topo.Dragonfly(9, 4, 2, 2)
	table = append(table, entry{"dragonfly of 36 switches", built(t, f, err), "mesh", 70})
	for _, e := range table {
		p := e.f.place()
		own, others := p.behind()
		t.Logf("%-30s %3d nodes: %-6s switch %3.0f x %2.0f, host %2.0f x %2.0f, links behind %d hosts of their switch and %d others",
			e.name, e.f.nodes, p.Shape, 2*p.Switch.W, 2*p.Switch.H, 2*p.Host.W, 2*p.Host.H, own, others)
		if err := p.fault(); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		if e.shape != "" && p.Shape != e.shape {
			t.Errorf("%s: a %s, want a %s", e.name, p.Shape, e.shape)
		}
		if others > e.behind {
			t.Errorf("%s: links pass behind %d nodes that they do not join, want at most %d", e.name, others, e.behind)
		}
		if 2*p.Switch.W < 36 || 2*p.Switch.H < 28 || 2*p.Host.W < 32 || 2*p.Host.H < 12 {
			t.Errorf("%s: the boxes are too small for names", e.name)
		}
	}
}

// random is a fabric of any kind: with or without a pattern, in one piece or several, with
// hosts at few or many switches, at two, at none, and linked twice.
func random(rnd *rand.Rand) *fabric {
	n := rnd.IntN(rnd.IntN(200)+1) + 1
	f := &fabric{switches: n, nodes: n}
	link := func(a, b int) {
		if a != b {
			f.links = append(f.links, [2]int{a, b})
		}
	}
	lowest := 0 // the first switch with hosts
	switch rnd.IntN(6) {
	case 0:
		f.links = row(0, n)
	case 1:
		f.links = ring(0, n)
	case 2: // a tree
		for i := 1; i < n; i++ {
			link(i, rnd.IntN(i))
		}
	case 3: // two levels
		lowest = n / 2
		for range rnd.IntN(4 * n) {
			link(rnd.IntN(max(1, n/2)), n/2+rnd.IntN(n-n/2))
		}
	case 4: // a torus
		width := rnd.IntN(n) + 1
		for i := range n {
			link(i, (i+1)%n)
			link(i, (i+width)%n)
		}
	default:
		for range rnd.IntN(3 * n) {
			link(rnd.IntN(n), rnd.IntN(n))
		}
	}
	for range rnd.IntN(10) / 8 * n { // further links, some of them doubles
		link(rnd.IntN(n), rnd.IntN(n))
	}
	left := 400 - n
	each := rnd.IntN(4)
	for i := lowest; i < n; i++ {
		hosts := min(left, each)
		switch rnd.IntN(20 * (rnd.IntN(8) + 1)) {
		case 0:
			hosts = rnd.IntN(left + 1)
		case 1:
			hosts = 0
		}
		f.hosts(i, hosts)
		left -= hosts
	}
	if rnd.IntN(10) == 0 { // hosts without a link, at two switches, and at each other
		for range min(left, rnd.IntN(10)) {
			f.nodes++
		}
		if f.nodes > n+1 {
			link(rnd.IntN(n), n)
			link(n, n+1)
		}
	}
	return f
}

// TestRandom: no boxes touch, whatever the fabric, and it is always drawn alike.
func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	runs, shapes := testkit.Sized(80, 300), map[string]int{}
	for range runs {
		f := random(rnd)
		p := f.place()
		shapes[p.Shape]++
		if err := p.fault(); err != nil {
			t.Fatalf("%s: %v\n%d switches, %d nodes, links %v", p.Shape, err, f.switches, f.nodes, f.links)
		}
		if !reflect.DeepEqual(p, f.place()) {
			t.Fatalf("%d switches, %d nodes, links %v: drawn differently when drawn again", f.switches, f.nodes, f.links)
		}
	}
	t.Log(shapes)
	for _, shape := range []string{"line", "ring", "layers", "mesh"} {
		if testkit.Long() && shapes[shape] == 0 { // of few, one may lack; TestTable has all
			t.Errorf("no %s among them", shape)
		}
	}
}

// TestFault: the check finds what it is to find.
func TestFault(t *testing.T) {
	for name, spoil := range map[string]func(pixels){
		"a node moved":        func(p pixels) { p.At[3] = p.At[7] },
		"higher switches":     func(p pixels) { p.Switch.H *= 4 },
		"wider hosts":         func(p pixels) { p.Host.W *= 4 },
		"a node off the page": func(p pixels) { p.At[0].X = -1 },
		"a link's end floats": func(p pixels) { p.Ends[5][1].Y += 3 },
		"boxes of no size":    func(p pixels) { p.Host = drawing.Box{} },
	} {
		f, err := topo.FatTree(6)
		p := built(t, f, err).place()
		if err := p.fault(); err != nil {
			t.Fatal(err)
		}
		if spoil(p); p.fault() == nil {
			t.Errorf("%s: nothing found", name)
		}
	}
	p := of(3, 0, [2]int{0, 2}).place() // 1 is apart
	p.At = []drawing.Point{{X: 100, Y: 100}, {X: 300, Y: 100}, {X: 500, Y: 100}}
	p.Ends = [][2]drawing.Point{{{X: 158, Y: 100}, {X: 442, Y: 100}}}
	if own, others := p.behind(); own != 0 || others != 1 {
		t.Errorf("a link behind a switch counts as behind %d hosts and %d others", own, others)
	}
}

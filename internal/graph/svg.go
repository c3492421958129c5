package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes in the picture.
const (
	cellWidth   = 84 // of the longest row; others spread over the same width
	rowHeight   = 120
	boxHeight   = 26
	charWidth   = 7.2 // of a letter at fontSize
	fontSize    = 12
	noteSize    = 11
	arcPerCell  = 9 // how high a link between two nodes of a row goes over those between
	arcMost     = 160
	parallelGap = 12 // between two links of the same two nodes
)

// SVG draws the graph in rows, the highest level on top. It is self-contained: no
// external fonts, links or scripts. Colours never carry meaning alone.
func (g *Graph) SVG() string {
	p := picture{g: g, levels: g.levels()}
	p.place()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="%d">`+"\n",
		p.width, p.height, p.width, p.height, fontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escape(g.Name))
	for i := range g.Links {
		p.link(&b, i)
	}
	for i := range g.Nodes {
		p.node(&b, i)
	}
	for i := range g.Links {
		p.note(&b, i)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

type picture struct {
	g             *Graph
	levels        []int
	x, y          []int // middles of the nodes
	column        []int // their place in their row
	parallel      []int // by link: how many before it join the same two nodes
	width, height int
}

func (p *picture) place() {
	n := len(p.g.Nodes)
	p.x, p.y, p.column = make([]int, n), make([]int, n), make([]int, n)
	rows := p.g.rows()
	for _, row := range rows {
		p.width = max(p.width, cellWidth*len(row))
	}
	for k, row := range slices.Backward(rows) {
		for j, i := range row {
			p.x[i] = p.width * (2*j + 1) / (2 * len(row))
			p.y[i] = rowHeight*(len(rows)-1-k) + rowHeight/2
			p.column[i] = j
		}
	}
	p.height = rowHeight * len(rows)
	seen := map[[2]int]int{}
	for _, l := range p.g.Links {
		pair := [2]int{min(l.A, l.B), max(l.A, l.B)}
		p.parallel = append(p.parallel, seen[pair])
		seen[pair]++
	}
	p.shiftDown()
}

// shiftDown makes room for links that go over the highest row.
func (p *picture) shiftDown() {
	top := noteSize
	for i := range p.g.Links {
		_, y := p.middle(i)
		top = min(top, y)
	}
	for i := range p.y {
		p.y[i] += noteSize - top
	}
	p.height += noteSize - top
}

// middle is where link i is furthest from its ends: between them; above, if they are of
// one row and others stand between; and beside it if another link has that place.
func (p *picture) middle(i int) (x, y int) {
	l := p.g.Links[i]
	x, y = (p.x[l.A]+p.x[l.B])/2, (p.y[l.A]+p.y[l.B])/2
	if p.levels[l.A] != p.levels[l.B] {
		return x + parallelGap*p.parallel[i], y
	}
	if gap := p.column[l.A] - p.column[l.B]; max(gap, -gap) > 1 {
		y -= min(boxHeight+arcPerCell*max(gap, -gap), arcMost)
	}
	return x, y - parallelGap*p.parallel[i]
}

func (p *picture) link(b *strings.Builder, i int) {
	l := p.g.Links[i]
	mx, my := p.middle(i)
	x1, y1, x2, y2 := p.x[l.A], p.y[l.A], p.x[l.B], p.y[l.B]
	style := `stroke="#555"`
	if l.Down {
		style = `stroke="#b00" stroke-dasharray="6 4"`
	}
	// A quadratic curve passes half way between its control point and the middle of its
	// ends.
	fmt.Fprintf(b, `<path d="M%d %d Q%d %d %d %d" fill="none" %s/>`+"\n", x1, y1, 2*mx-(x1+x2)/2, 2*my-(y1+y2)/2, x2, y2, style)
}

func (p *picture) note(b *strings.Builder, i int) {
	note := p.g.Links[i].Note
	if note == "" {
		return
	}
	x, y := p.middle(i)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" font-size="%d" fill="#b00" stroke="#fff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", x, y, noteSize, escape(note))
}

func (p *picture) node(b *strings.Builder, i int) {
	n := p.g.Nodes[i]
	width := int(charWidth*float64(len(n.Name))) + 12
	round, fill := 3, "#dde8f5"
	if n.Host {
		round, fill = boxHeight/2, "#fff"
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="#234"/>`, p.x[i]-width/2, p.y[i]-boxHeight/2, width, boxHeight, round, fill)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", p.x[i], p.y[i]+fontSize/3, escape(n.Name))
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

package drawing

import (
	"fmt"
	"math"
	"strings"
)

// Sizes in the picture, in pixels.
const (
	charWidth = 7.2 // of a letter at fontSize
	fontSize  = 12
	noteSize  = 11
	boxHeight = 22    // at least
	leastSide = 240.0 // of the picture
)

// SVG draws the graph as Place places it, large enough for the names to fit into
// their boxes. It is self-contained: no external fonts, links or scripts. Colours never
// carry meaning alone.
func (g *Graph) SVG() string {
	p := g.place()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="%d">`+"\n",
		p.width, p.height, p.width, p.height, fontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escape(g.Name))
	p.all(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

// all draws links, nodes and notes.
func (p *picture) all(b *strings.Builder) {
	for i := range p.g.Links {
		p.link(b, i)
	}
	for i := range p.g.Nodes {
		p.node(b, i)
	}
	for i := range p.g.Links {
		p.note(b, i)
	}
}

// picture is a drawing and its size in pixels.
type picture struct {
	g *Graph
	*Drawing
	number        []int // of each node in the drawing
	width, height int
}

func (g *Graph) place() *picture {
	drawn, number := g.layout()
	p := &picture{g: g, Drawing: drawn.Place(), number: number}
	width, height := leastSide, leastSide
	for i, n := range g.Nodes {
		b := p.box(i)
		width = max(width, (charWidth*float64(len(n.Name))+12)/(2*b.W))
		height = max(height, boxHeight/(2*b.H))
	}
	p.width, p.height = int(math.Ceil(width)), int(math.Ceil(height))
	return p
}

func (p *picture) box(node int) Box {
	if p.g.Nodes[node].Host {
		return p.Host
	}
	return p.Switch
}

// size is the box as a distance.
func size(b Box) Point { return Point{X: b.W, Y: b.H} }

// pixels is a place in the picture.
func (p *picture) pixels(at Point) (x, y float64) {
	return at.X * float64(p.width), at.Y * float64(p.height)
}

func (p *picture) link(b *strings.Builder, i int) {
	style := `stroke="#555"`
	if p.g.Links[i].Down {
		style = `stroke="#b00" stroke-dasharray="6 4"`
	}
	x1, y1 := p.pixels(p.Ends[i][0])
	x2, y2 := p.pixels(p.Ends[i][1])
	fmt.Fprintf(b, `<path d="M%.1f %.1f L%.1f %.1f" %s/>`+"\n", x1, y1, x2, y2, style)
}

func (p *picture) note(b *strings.Builder, i int) {
	note, colour := p.g.Links[i].Note, "#345"
	if note == "" {
		return
	}
	if p.g.Links[i].Down {
		colour = "#b00"
	}
	x1, y1 := p.pixels(p.Ends[i][0])
	x2, y2 := p.pixels(p.Ends[i][1])
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%d" fill="%s" stroke="#fff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", (x1+x2)/2, (y1+y2)/2, noteSize, colour, escape(note))
}

func (p *picture) node(b *strings.Builder, i int) {
	n, box := p.g.Nodes[i], p.box(i)
	x, y := p.pixels(p.At[p.number[i]])
	w, h := p.pixels(size(box))
	round, fill := 3.0, "#dde8f5"
	if n.Host {
		round, fill = h, "#fff"
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f" fill="%s" stroke="#234"/>`, x-w, y-h, 2*w, 2*h, round, fill)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x, y+fontSize/3, escape(n.Name))
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

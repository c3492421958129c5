package drawing

import (
	"fmt"
	"math"
	"strings"
)

// Base is a picture of a graph that a page has once and shows marked in several ways: Symbol is the first
// thing of the page that draws, Marked each of the others.
type Base struct {
	p  *picture
	id string
}

// Arrow marks the direction of a link from A to B, or, Back, from B to A.
type Arrow struct {
	Link int
	Back bool
}

// NewBase makes the picture of g, which has this id in its page.
func NewBase(g *Graph, id string) *Base { return &Base{p: g.place(), id: id} }

// Symbol is the picture, which shows where Marked is.
func (d *Base) Symbol() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><symbol id="%s" viewBox="0 0 %d %d">`+"\n", d.id, d.p.width, d.p.height)
	d.p.all(&b)
	b.WriteString("</symbol></svg>\n")
	return b.String()
}

// Marked is the picture with links that are down and with arrows, titled for who does not see it.
func (d *Base) Marked(title string, down []int, arrows []Arrow) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d" style="max-width:%dpx" role="img"><title>%s</title>`+"\n",
		d.p.width, d.p.height, fontSize, d.p.width, escape(title))
	fmt.Fprintf(&b, `<use href="#%s" width="%d" height="%d"/>`+"\n", d.id, d.p.width, d.p.height)
	for _, l := range down {
		x1, y1 := d.p.pixels(d.p.Ends[l][0])
		x2, y2 := d.p.pixels(d.p.Ends[l][1])
		fmt.Fprintf(&b, `<path d="M%.1f %.1f L%.1f %.1f" stroke="#fff" stroke-width="3"/><path d="M%.1f %.1f L%.1f %.1f" stroke="#b00" stroke-width="2" stroke-dasharray="3 5"/>`+"\n",
			x1, y1, x2, y2, x1, y1, x2, y2)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="16" font-weight="bold" fill="#b00" stroke="#fff" stroke-width="3" paint-order="stroke">×</text>`+"\n", (x1+x2)/2, (y1+y2)/2+5)
	}
	for _, a := range arrows {
		d.arrow(&b, a)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// Sizes of an arrow in pixels: its head, and how far it is to the right of its link, as one drives.
const (
	headLength = 11.0
	headWidth  = 5.5
	aside      = 3.0
)

func (d *Base) arrow(b *strings.Builder, a Arrow) {
	from, to := 0, 1
	if a.Back {
		from, to = 1, 0
	}
	x1, y1 := d.p.pixels(d.p.Ends[a.Link][from])
	x2, y2 := d.p.pixels(d.p.Ends[a.Link][to])
	length := max(math.Hypot(x2-x1, y2-y1), 1)
	ux, uy := (x2-x1)/length, (y2-y1)/length
	sx, sy := -uy*aside, ux*aside
	x1, y1, x2, y2 = x1+sx, y1+sy, x2+sx, y2+sy
	hx, hy := x2-ux*headLength, y2-uy*headLength
	fmt.Fprintf(b, `<path d="M%.1f %.1f L%.1f %.1f" stroke="#06c" stroke-width="3"/><path d="M%.1f %.1f L%.1f %.1f L%.1f %.1f Z" fill="#06c"/>`+"\n",
		x1, y1, hx, hy, x2, y2, hx-uy*headWidth, hy+ux*headWidth, hx+uy*headWidth, hy-ux*headWidth)
}

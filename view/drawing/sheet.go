package drawing

import (
	"math"

	"softswitch/internal/lists"
)

// Sizes in units of the drawing in which a layout is worked out. The page's is as large;
// in another one the boxes keep their share of it.
const (
	width, height = 1460.0, 790.0

	switchW, switchH = 58.0, 32.0 // half the size of the largest boxes
	hostW, hostH     = 39.0, 14.0

	legible = 0.57 // of the largest height: letters of 14 units are then 8 high
	narrow  = 17.0 // half the width of the narrowest switch whose name can be read
	slim    = 15.0 // of such a host
)

// sheet is a drawing in units.
type sheet struct {
	g        *Placement
	at       []Point
	sw, host Box   // half width and half height
	steep    bool  // links between rows leave boxes by their upper and lower sides
	ellipse  []int // nodes on an ellipse, in order
}

func (g *Placement) sheet() *sheet {
	return &sheet{g: g, at: make([]Point, g.nodes), sw: Box{switchW, switchH}, host: Box{hostW, hostH}}
}

func (s *sheet) box(node int) Box {
	if node < s.g.switches {
		return s.sw
	}
	return s.host
}

// legible reports whether names fit into the boxes in letters that can be read.
func (s *sheet) legible() bool {
	return s.sw.W >= narrow && s.host.W >= slim && s.sw.H >= legible*switchH && s.host.H >= legible*hostH
}

// fit is the least part of their largest size that the boxes have, at most 1.
func (s *sheet) fit() float64 {
	return min(s.sw.W/switchW, s.sw.H/switchH, s.host.W/hostW, s.host.H/hostH)
}

// limit makes boxes that are larger than this part of their largest size as small as that.
func (s *sheet) limit(part float64) {
	s.sw = Box{min(s.sw.W, switchW*part), min(s.sw.H, switchH*part)}
	s.host = Box{min(s.host.W, hostW*part), min(s.host.H, hostH*part)}
}

// put places a node. Rounded, positions that should be the same are so on every machine.
func (s *sheet) put(node int, x, y float64) { s.at[node] = Point{round(x), round(y)} }

func round(x float64) float64 { return math.Round(x*64) / 64 }

// drawing is the sheet in fractions.
func (s *sheet) drawing(shape string) *Drawing {
	fraction := func(p Point) Point { return Point{p.X / width, p.Y / height} }
	return &Drawing{
		Shape: shape, Switch: Box{s.sw.W / width, s.sw.H / height}, Host: Box{s.host.W / width, s.host.H / height},
		At:   lists.Map(s.at, fraction),
		Ends: lists.Map(s.ends(), func(e [2]Point) [2]Point { return [2]Point{fraction(e[0]), fraction(e[1])} }),
	}
}

package cause

import (
	"cmp"
	"fmt"
	"strings"

	"softswitch/unit"
)

// DOT is the chronology in the language of Graphviz: an arrow leads from a period to
// each that it caused. Pauses of hosts are ellipses, periods on the loop are bold, and
// sources are filled.
func (r *Report) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR\n  node [shape=box]\n", r.Scenario)
	for i, p := range r.Chronology.Periods {
		style := ""
		if p.Host {
			style += ", shape=ellipse"
		}
		switch {
		case p.OnLoop && p.CausedBy == nil:
			style += `, style="bold,filled"`
		case p.OnLoop:
			style += ", style=bold"
		case p.CausedBy == nil:
			style += ", style=filled"
		}
		fmt.Fprintf(&b, "  p%d [label=%q%s]\n", i+1, fmt.Sprintf("%s %s\npriority %d\n%s ms", p.Node, p.Port, p.Priority, ms(p.From)), style)
	}
	for i, p := range r.Chronology.Periods {
		for _, by := range p.CausedBy {
			fmt.Fprintf(&b, "  p%d -> p%d\n", by+1, i+1)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// Sizes in the picture.
const (
	laneHeight = 26
	barHeight  = 14
	timeWidth  = 760
	charWidth  = 7
	wordWidth  = 48 // of "source"
	fontSize   = 12
	margin     = 16
)

// lane is a row of the picture: a priority group, or a host's port and priority.
type lane struct {
	node, port string
	priority   unit.Priority
}

func (l lane) String() string { return fmt.Sprintf("%s %s, priority %d", l.node, l.port, l.priority) }

func laneOf(p Period) lane { return lane{p.Node, p.Port, p.Priority} }

// SVG draws the chronology over time: a row for each priority group and host, a bar for each
// period, and an arrow from the period that caused one to where that began. A thick line
// stands where a source begins, and the word if there is room; bars of the loop have a
// thick border. The picture is self-contained.
func (r *Report) SVG() string {
	p := newPicture(r)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="%d">`+"\n",
		p.width, p.height, p.width, p.height, fontSize)
	fmt.Fprintf(&b, "<title>%s, seed %d: what led to the deadlock at %s ms</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escape(r.Scenario), r.Seed, ms(p.to))
	for i, l := range p.lanes {
		y := p.y(i)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, y+fontSize/3, escape(l.String()))
		fmt.Fprintf(&b, `<path d="M%d %dH%d" stroke="#ddd"/>`+"\n", p.left, y, p.left+timeWidth)
	}
	for _, period := range r.Chronology.Periods {
		p.bar(&b, period)
	}
	for _, period := range r.Chronology.Periods {
		for _, by := range period.CausedBy {
			p.arrow(&b, r.Chronology.Periods[by], period)
		}
	}
	y := p.height - margin
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s ms</text>`+"\n", p.left, y, ms(p.from))
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">deadlock at %s ms</text>`+"\n", p.left+timeWidth, y, ms(p.to))
	b.WriteString("</svg>\n")
	return b.String()
}

type picture struct {
	lanes         []lane
	number        map[lane]int
	from, to      unit.Time
	left          int // where time begins
	width, height int
}

func newPicture(r *Report) *picture {
	p := &picture{number: map[lane]int{}, from: r.Chronology.Periods[0].From, to: r.Deadlock.At}
	longest := 0
	for _, period := range r.Chronology.Periods {
		l := laneOf(period)
		if _, known := p.number[l]; !known {
			p.number[l] = len(p.lanes)
			p.lanes = append(p.lanes, l)
			longest = max(longest, len(l.String()))
		}
	}
	p.left = 2*margin + charWidth*longest
	p.width = p.left + timeWidth + margin
	p.height = 3*margin + laneHeight*len(p.lanes)
	return p
}

// x is where a time is, y the middle of a lane.
func (p *picture) x(at unit.Time) int {
	return p.left + int(int64(timeWidth)*int64(at-p.from)/int64(max(1, p.to-p.from)))
}

func (p *picture) y(lane int) int { return margin + laneHeight*lane + laneHeight/2 }

func (p *picture) bar(b *strings.Builder, period Period) {
	end := cmp.Or(period.To, p.to)
	x, y := p.x(period.From), p.y(p.number[laneOf(period)])
	fill, stroke := "#dde8f5", 1
	if period.Host {
		fill = "#f5e3dd"
	}
	if period.OnLoop {
		stroke = 3
	}
	width := max(2, p.x(end)-x)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="#234" stroke-width="%d"/>`, x, y-barHeight/2, width, barHeight, fill, stroke)
	if period.CausedBy == nil {
		fmt.Fprintf(b, `<path d="M%d %dv%d" stroke="#b00" stroke-width="3"/>`, x, y-barHeight/2-3, barHeight+6)
		if width >= wordWidth {
			fmt.Fprintf(b, `<text x="%d" y="%d" font-size="%d" fill="#b00">source</text>`, x+4, y+4, fontSize-1)
		}
	}
	b.WriteString("\n")
}

// arrow leads down or up from the cause to where the caused period begins.
func (p *picture) arrow(b *strings.Builder, cause, caused Period) {
	x := p.x(caused.From)
	from, to := p.y(p.number[laneOf(cause)]), p.y(p.number[laneOf(caused)])
	head := 5
	if from > to {
		head = -head
	}
	to -= barHeight / 2 * head / 5
	fmt.Fprintf(b, `<path d="M%d %dV%dm-3 %dl3 %dl3 %d" fill="none" stroke="#b00"/>`+"\n", x, from, to, -head, head, -head)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

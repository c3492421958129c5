package conform

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"softswitch/unit"
)

// Sizes of the drawing of a trial, in pixels.
const (
	drawnLeft  = 190 // of the names
	drawnWidth = 800
	drawnRow   = 18
	drawnBins  = 200
)

// draw draws a trial over time: for each stream when its frames came, for each train when it paused the DUT or
// sent a frame, and when the DUT paused the tester.
func (r *Record) draw(t *Task) template.HTML {
	var b strings.Builder
	rows := 0
	end := max(r.End, r.Script.End, 1)
	x := func(at unit.Time) float64 {
		return drawnLeft + float64(min(max(at, 0), end))/float64(end)*drawnWidth
	}
	row := func(name, title string) int {
		rows++
		fmt.Fprintf(&b, `<text x="0" y="%d">%s<title>%s</title></text>`, rows*drawnRow+13, html.EscapeString(name), html.EscapeString(title))
		return rows*drawnRow + 3
	}
	rect := func(class string, from, to unit.Time, y, height int, title string) {
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d">`, class, x(from), y, max(x(to)-x(from), 1), height)
		if title != "" {
			fmt.Fprintf(&b, "<title>%s</title>", html.EscapeString(title))
		}
		b.WriteString("</rect>")
	}
	port := func(i int) string { return t.Profile.Ports[i].Name }
	for _, p := range r.Script.Phases {
		fmt.Fprintf(&b, `<text class="phase" x="%.1f" y="13">%s<title>phase %s, %v to %v</title></text>`, x(p.From)+2, html.EscapeString(p.Name), html.EscapeString(p.Name), p.From, p.To)
	}
	for i, f := range r.Script.Trains {
		left := r.Trains[i].Left
		y := row(fmt.Sprintf("%s into %s", f.Name, port(f.Port)), unit.Count(len(left), "frame"))
		if f.Pause > 0 && len(left) > 0 {
			to := left[len(left)-1].Lo
			if f.Last == nil {
				to += f.Pause
			}
			rect("storm", left[0].Lo, to, y, 12, fmt.Sprintf("priorities %v paused, %v to %v", f.Set, left[0], to))
		}
		drawBins(left, end, func(from, to unit.Time, n int) { rect("train", from, to, y, 12, unit.Count(n, "frame")) })
	}
	for i, f := range r.Script.Receivers {
		y := row(fmt.Sprintf("%s pauses %s", f.Name, port(f.Port)), unit.Count(len(r.Receivers[i].Left), "pause"))
		drawBins(r.Receivers[i].Left, end, func(from, to unit.Time, n int) { rect("train", from, to, y, 12, unit.Count(n, "pause")) })
	}
	for i, f := range r.Script.Streams {
		s := &r.Streams[i]
		y := row(fmt.Sprintf("%s, %s to %s", f.Name, port(f.From), port(f.To)), fmt.Sprintf("priority %d, %d sent, %d came", f.Priority, s.Sent, s.Came))
		var came []Span
		for _, a := range s.Arrivals {
			came = append(came, a.At)
		}
		drawBins(came, end, func(from, to unit.Time, n int) { rect("came", from, to, y, 12, "") })
	}
	for p := range t.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			all := r.PausesOf(p, c)
			if len(all) == 0 {
				continue
			}
			y := row(fmt.Sprintf("DUT pauses %s, priority %d", port(p), c), unit.Count(len(all), "frame"))
			for k, of := range all {
				if of.Quanta > 0 {
					to := of.At.Lo + t.Quanta(p, of.Quanta)
					if k+1 < len(all) {
						to = min(to, all[k+1].At.Lo)
					}
					rect("dut", of.At.Lo, to, y, 12, "")
				}
			}
		}
	}
	height := (rows+1)*drawnRow + 18
	axis := fmt.Sprintf(`<text class="phase" x="%d" y="%d">0</text><text class="phase" x="%d" y="%d" text-anchor="end">%v</text>`, drawnLeft, height-4, drawnLeft+drawnWidth, height-4, end)
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s%s</svg>`, drawnLeft+drawnWidth, height, html.EscapeString("trial "+fmt.Sprint(r.Trial+1)+": "+r.Script.Title), b.String(), axis))
}

// drawBins calls draw for runs of bins of the drawing in which something happened, with how often it did.
func drawBins(at []Span, end unit.Time, draw func(from, to unit.Time, n int)) {
	var bins [drawnBins]int
	for _, s := range at {
		if i := int64(s.Lo) * drawnBins / int64(end); i >= 0 {
			bins[min(i, drawnBins-1)]++
		}
	}
	for i := 0; i < drawnBins; i++ {
		from, n := i, 0
		for ; i < drawnBins && bins[i] > 0; i++ {
			n += bins[i]
		}
		if n > 0 {
			draw(end*unit.Time(from)/drawnBins, end*unit.Time(i)/drawnBins, n)
		}
	}
}

package conform

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what page.html shows.
type page struct {
	*Report
	Answer string
	Rows   [][2]string
	Groups []pageGroup
}

type pageGroup struct {
	Letter, Title string
	Cases         []pageCase
}

type pageCase struct {
	*Outcome
	// Measured and Bound are of the check that decided, Why is the reason where none did.
	Measured, Bound, Why string
	Case                 *Case
	Drawings             []pageTrial
	More                 int // trials that are not drawn
}

type pageTrial struct {
	Number  int
	Title   string
	Void    string
	Drawing template.HTML
}

// WriteHTML writes the report as one file that needs nothing else, with drawings of trials.
func (r *Report) WriteHTML(w io.Writer) error {
	p := page{Report: r, Answer: r.Answer(), Rows: r.Head()}
	for _, letter := range Groups() {
		g := pageGroup{Letter: letter, Title: GroupTitle(letter)}
		for i := range r.Cases {
			if o := &r.Cases[i]; o.ID[:1] == letter {
				g.Cases = append(g.Cases, pageCaseOf(o))
			}
		}
		if g.Cases != nil {
			p.Groups = append(p.Groups, g)
		}
	}
	return pageTemplate.Execute(w, p)
}

func pageCaseOf(o *Outcome) pageCase {
	c := pageCase{Outcome: o, Case: Find(o.ID)}
	if x, ok := o.deciding(); ok {
		c.Measured, c.Bound = x.What+": "+x.Measured, x.Bound
	} else {
		c.Why = o.Reason
	}
	for i, drawing := range o.drawings {
		c.Drawings = append(c.Drawings, pageTrial{i + 1, o.Played[i].Title, o.Played[i].Void, drawing})
	}
	c.More = len(o.Played) - len(c.Drawings)
	return c
}

// drawn is how many trials of a case are drawn: of one that passed the first alone.
func (o *Outcome) drawn() int {
	if o.Result == Pass {
		return 1
	}
	return 5
}

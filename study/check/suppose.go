package check

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/topo"
)

// Suppose makes links be down in every case, in addition to what fails in it. It is called before the
// first case is checked, and before Clone.
func (c *Checker) Suppose(down []int) {
	c.supposed = slices.Clone(down)
	isDown := func(l int) bool { return slices.Contains(c.supposed, l) }
	c.links = lists.Where(c.links, func(l int) bool { return !isDown(l) })
	c.indexLinks()
	c.file = lists.Where(c.file, func(set []int) bool { return slices.ContainsFunc(set, func(l int) bool { return !isDown(l) }) })
}

// Case is the case of a number.
func (c *Checker) Case(i int) Case {
	k := c.failing(i)
	if len(c.supposed) > 0 {
		k.Links = slices.Concat(c.supposed, k.Links)
		slices.Sort(k.Links)
		k.Links = slices.Compact(k.Links)
	}
	return k
}

// linkNames are the names of links.
func (c *Checker) linkNames(links []int) []string {
	return append([]string{}, lists.Map(links, func(l int) string { return c.plan.Fabric.Links[l].Name })...)
}

// when is what has to fail for a cycle that takes so many failures.
func (c *Checker) when(failures int) string {
	if len(c.supposed) > 0 {
		return [...]string{"no further failure", "one further failure", "two further failures"}[failures]
	}
	return [...]string{"no failure", "one failure", "two failures"}[failures]
}

// LinksOf returns the links that names name: each a link, in either direction, or a switch, of which it
// is all links. The error names what is neither, with the names that are near.
func LinksOf(f *topo.Fabric, names []string) (links []int, err error) {
	for _, name := range names {
		if l, ok := f.Link(name); ok {
			links = append(links, l)
			continue
		}
		i, ok := f.Node(name)
		if !ok || i >= f.Switches() {
			return nil, unknown(f, name)
		}
		for _, p := range f.Nodes[i].Ports {
			links = append(links, p.Link)
		}
	}
	slices.Sort(links)
	return slices.Compact(links), nil
}

// unknown is the error for a name that is no link's and no switch's. Beside a node there are its links.
func unknown(f *topo.Fabric, name string) error {
	var near, beside []string
	ends := strings.SplitN(name, "--", 2)
	for _, l := range f.Links {
		a, b := f.Nodes[l.A.Node].Name, f.Nodes[l.B.Node].Name
		near = append(near, l.Name, b+"--"+a)
		if slices.Contains(ends, a) || slices.Contains(ends, b) {
			beside = append(beside, l.Name)
		}
	}
	near = append(near, lists.Map(f.Nodes[:f.Switches()], func(n topo.Node) string { return n.Name })...)
	text := fmt.Sprintf("no link and no switch is called %q%s", name, strictyaml.DidYouMean(name, near))
	switch {
	case len(beside) > 0:
		text += "; links there: " + some(beside)
	case !strings.Contains(text, "did you mean"):
		text += "; links are called such as " + f.Links[0].Name + ", switches such as " + f.Nodes[0].Name
	}
	return fmt.Errorf("%s", text)
}

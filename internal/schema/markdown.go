package schema

import (
	"bytes"
	"fmt"
	"strings"

	"softswitch/internal/lists"
)

// Markdown is the reference of a format whose name, such as "scenario", is that of the
// whole file: a section for every object, the whole file first, each with a table of
// its keys.
func (o *Object) Markdown(name string) []byte {
	w := reference{places: map[*Object]string{}, link: func(path string) string { return fmt.Sprintf("[%s](#%s)", path, anchor(path)) }}
	w.place(o, name)
	for i := 0; i < len(w.order); i++ { // grows meanwhile
		w.section(w.order[i])
	}
	return w.out.Bytes()
}

// reference writes sections in the order in which objects are first met.
type reference struct {
	out    bytes.Buffer
	places map[*Object]string // path of the key that an object is first the value of
	order  []*Object
	link   func(path string) string // to the section of an object
}

// place notes where an object is, and those below it, breadth first in the order of
// their keys.
func (w *reference) place(o *Object, path string) {
	if _, ok := w.places[o]; ok {
		return
	}
	w.places[o] = path
	w.order = append(w.order, o)
}

func (w *reference) section(o *Object) {
	path := w.places[o]
	fmt.Fprintf(&w.out, "## %s\n\n", path)
	if o.Text != "" {
		fmt.Fprintf(&w.out, "%s\n\n", o.Text)
	}
	if len(o.Rules.Cases) > 0 {
		w.cases(o.Rules)
	}
	below := path + "."
	if len(w.order) > 0 && o == w.order[0] {
		below = ""
	}
	w.out.WriteString("| key | value | default | |\n|---|---|---|---|\n")
	for _, f := range o.Fields {
		def := f.Default
		switch {
		case f.Required:
			def = "required"
		case def != "":
			def = "`" + def + "`"
		}
		fmt.Fprintf(&w.out, "| `%s` | %s | %s | %s |\n", f.Key, cell(w.kind(f.Value, below+f.Key)), cell(def), cell(w.text(f)))
	}
	w.out.WriteString("\n")
	if sets := o.Rules.OneOf; len(sets) > 0 {
		fmt.Fprintf(&w.out, "One of these is given: %s.\n\n", strings.Join(lists.Map(sets, keys), "; "))
	}
}

// text is the comment of a field, or that of the object that it has.
func (w *reference) text(f Field) string {
	if f.Text == "" && f.Value.Object != nil {
		return f.Value.Object.Text
	}
	return f.Text
}

func (w *reference) cases(r Rules) {
	fmt.Fprintf(&w.out, "| `%s` | has | may have | |\n|---|---|---|---|\n", r.CaseOf)
	for _, c := range r.Cases {
		fmt.Fprintf(&w.out, "| `%s` | %s | %s | %s |\n", c.Is, keys(c.Must), keys(c.May), cell(c.Text))
	}
	w.out.WriteString("\n")
}

func keys(names []string) string {
	return strings.Join(lists.Map(names, quoted), ", ")
}

// kind is what a value is, with a link to the section of an object; path is where it
// is in the file.
func (w *reference) kind(v Value, path string) string {
	switch {
	case v.Object != nil:
		w.place(v.Object, path)
		return w.link(w.places[v.Object])
	case v.One:
		return w.kind(*v.List, path) + ", or a list"
	case v.List != nil:
		return "list of " + w.kind(*v.List, path+"[]")
	case v.Map != nil:
		name := v.Keys.Name
		if v.Keys.Number {
			name = "N"
		}
		return v.Keys.Name + ": " + w.kind(*v.Map, path+"."+strings.ToUpper(name))
	case v.Kind.Words != nil:
		return oneOf(v.Kind.Words)
	}
	return v.Kind.Name
}

// anchor is what a heading becomes in a link, as GitHub and GitLab have it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.ToLower(heading))
}

// cell keeps a text within its cell, and what is in angle brackets a text.
func cell(text string) string { return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(text) }

package schema

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"softswitch/internal/lists"
)

// Page is the reference of a format for a terminal, in lines of 80 columns: what Markdown has, with a
// paragraph for each key.
func (o *Object) Page(name string) []byte {
	var out bytes.Buffer
	for i, s := range o.sections(name) {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%s\n", strings.ToUpper(s.path))
		broken(&out, "  ", s.text)
		for _, e := range s.entries {
			fmt.Fprintf(&out, "\n  %s  (%s)\n", e.term, e.value)
			broken(&out, "      ", e.text)
		}
		if s.note != "" {
			out.WriteString("\n")
			broken(&out, "  ", s.note)
		}
	}
	return out.Bytes()
}

// Man is the reference of a format as a manual page of section 5.
func (o *Object) Man(name, title string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, ".nh\n.TH %q \"5\" \"\" \"softswitch\" \"softswitch\"\n.SH NAME\nsoftswitch-%s \\- %s\n", strings.ToUpper("softswitch-"+name), name, roff(title))
	for _, s := range o.sections(name) {
		fmt.Fprintf(&out, ".SH %s\n", roff(strings.ToUpper(s.path)))
		fmt.Fprintln(&out, roff(s.text))
		for _, e := range s.entries {
			fmt.Fprintf(&out, ".TP\n\\fB%s\\fP (%s)\n%s\n", roff(e.term), roff(e.value), roff(e.text))
		}
		if s.note != "" {
			fmt.Fprintf(&out, ".PP\n%s\n", roff(s.note))
		}
	}
	return out.Bytes()
}

// section is an object in words: where it is, what it is, and its keys.
type section struct {
	path, text, note string
	entries          []entry
}

// entry is a key, or the value of one that decides about others.
type entry struct{ term, value, text string }

func (o *Object) sections(name string) (all []section) {
	w := reference{places: map[*Object]string{}, link: func(path string) string { return path }}
	w.place(o, name)
	for i := 0; i < len(w.order); i++ { // grows meanwhile
		at := w.order[i]
		s := section{path: w.places[at], text: unquoted(at.Text)}
		below := s.path + "."
		if i == 0 {
			below = ""
		}
		for _, f := range at.Fields {
			value := unquoted(w.kind(f.Value, below+f.Key))
			switch {
			case f.Required:
				value += "; required"
			case f.Default != "":
				value += "; default " + f.Default
			}
			s.entries = append(s.entries, entry{f.Key, value, unquoted(w.text(f))})
		}
		for _, c := range at.Rules.Cases {
			s.entries = append(s.entries, entry{at.Rules.CaseOf + ": " + c.Is, has(c), unquoted(c.Text)})
		}
		if sets := at.Rules.OneOf; len(sets) > 0 {
			s.note = "One of these is given: " + unquoted(strings.Join(lists.Map(sets, keys), "; ")) + "."
		}
		all = append(all, s)
	}
	return all
}

// has is which keys go with a case.
func has(c Case) string {
	var parts []string
	if len(c.Must) > 0 {
		parts = append(parts, "has "+strings.Join(c.Must, ", "))
	}
	if len(c.May) > 0 {
		parts = append(parts, "may have "+strings.Join(c.May, ", "))
	}
	if parts == nil {
		return "no more keys"
	}
	return strings.Join(parts, "; ")
}

func unquoted(text string) string { return strings.ReplaceAll(text, "`", "") }

// broken writes a text, each of its lines broken at spaces, with an indent.
func broken(out *bytes.Buffer, indent, text string) {
	const columns = 80
	for paragraph := range strings.Lines(text) {
		line := indent
		for _, word := range strings.Fields(paragraph) {
			if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
				fmt.Fprintln(out, line)
				line = indent
			}
			if line != indent {
				line += " "
			}
			line += word
		}
		if line != indent {
			fmt.Fprintln(out, line)
		}
	}
}

// roff keeps a text from being read as requests or escapes of troff.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

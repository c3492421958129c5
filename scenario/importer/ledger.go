package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Imported is a scenario that was made of other programs' files.
type Imported struct {
	Text []byte // the scenario file; the comments at its head are what Told says
	// Told is what a reader has to know, a paragraph each: what is supposed, what differs, what is not used.
	Told []string
	// Unused counts the fields and tables of the files that are not used. Told names each.
	Unused int
}

// ledger is what becomes of every field of a format, by table: PORT of a config_db.json, node of a topology.
type ledger map[string]fields

// fields is what becomes of the fields of a table. Names have spaces between; "*" is every field that the
// table does not name.
type fields struct {
	used string
	// told is what could matter, and a scenario cannot say: why, by names.
	told reasons
	// idle is what has no effect on frames: why, by names.
	idle reasons
	// all is why no field of the table has an effect on frames; "" if it has fields that do.
	all string
	// lost is why a scenario can say nothing of the table, which could matter; "" if it can.
	lost string
	// spare is why a row of the table is not used that nothing else refers to.
	spare string
}

// whole reports whether all fields of the table have one fate, so that its name is enough.
func (f fields) whole() bool { return f.all != "" || f.lost != "" }

// reasons are the names of fields, and why these are not used: a sentence without a period.
type reasons [][2]string

// find returns the reason for a field; false if no names have it.
func (r reasons) find(field string) (reason string, ok bool) {
	for _, one := range r {
		if has(one[0], field) {
			return one[1], true
		}
	}
	return "", false
}

func has(names, field string) bool { return slices.Contains(strings.Fields(names), field) }

// fate is what becomes of a field, in the order in which the head of a scenario tells it.
type fate uint8

const (
	isUnknown fate = iota // no table has it
	isTold
	isIdle
	isUsed
)

// of finds out what becomes of a field of a table, and why.
func (l ledger) of(table, field string) (fate, string) {
	f, ok := l[table]
	switch {
	case !ok:
		return isUnknown, ""
	case f.all != "":
		return isIdle, f.all
	case f.lost != "":
		return isTold, f.lost
	}
	for _, name := range []string{field, "*"} {
		if has(f.used, name) {
			return isUsed, ""
		}
		if why, ok := f.told.find(name); ok {
			return isTold, why
		}
		if why, ok := f.idle.find(name); ok {
			return isIdle, why
		}
	}
	return isUnknown, ""
}

// sighting is the places where something was seen: the first, the last, and how many.
type sighting struct {
	first, last string
	count       int
}

func (s *sighting) String() string {
	if s.count > 1 {
		return fmt.Sprintf("%s and %d more", s.first, s.count-1)
	}
	return s.first
}

// sightings are those of things by their words, in the order in which they came.
type sightings struct {
	keys []string
	of   map[string]*sighting
	more int // beyond maxKept: those that are only counted
}

// maxKept limits the things that are kept by their words, whatever a file has.
const maxKept = 10_000

func (s *sightings) add(key, place string) {
	if s.of == nil {
		s.of = map[string]*sighting{}
	}
	at := s.of[key]
	if at == nil && len(s.keys) == maxKept {
		s.more++
		return
	}
	if at == nil {
		at = &sighting{first: place}
		s.of[key], s.keys = at, append(s.keys, key)
	}
	if at.count == 0 || at.last != place { // once for all that is alike there
		at.last = place
		at.count++
	}
}

// tally collects what the reader of a scenario is told of the files that it was made of.
type tally struct {
	ledger ledger
	notes  sightings
	unused lists.Groups[outcome, *sightings] // fields that are not used; each outcome has one
}

// outcome is what becomes of a field, and why.
type outcome struct {
	fate fate
	why  string
}

// see looks a field of a table up in the ledger, and keeps it if it is not used. place is where it is.
func (t *tally) see(table, field, place string) {
	what, why := t.ledger.of(table, field)
	if what == isUsed {
		return
	}
	name := quoted(table) + "." + quoted(field)
	if t.ledger[table].whole() || field == "" {
		name = quoted(table)
	}
	t.keep(outcome{what, why}, name, place)
}

// seeSpare keeps a row of a table that nothing refers to.
func (t *tally) seeSpare(table, row, place string) {
	t.keep(outcome{isTold, t.ledger[table].spare}, quoted(table+"|"+row), place)
}

// keep keeps what is not used, once for all its places.
func (t *tally) keep(group outcome, name, place string) {
	if t.unused.Of[group] == nil {
		t.unused.Add(group, new(sightings))
	}
	t.unused.Of[group][0].add(name, place)
}

// tell notes a sentence without a period.
func (t *tally) tell(format string, args ...any) {
	t.notes.add(fmt.Sprintf(format, args...), "")
}

// tellAt notes what is the case at a place: of several places that it is told of, the first is named, and
// how many more there are.
func (t *tally) tellAt(place, format string, args ...any) {
	t.notes.add(fmt.Sprintf(format, args...), place)
}

// maxNames limits the names of fields in a paragraph of a head.
const maxNames = 60

// told returns the paragraphs: the notes in the order in which they came, then the fields that are not used.
func (t *tally) told() (all []string) {
	for _, note := range t.notes.keys {
		if at := t.notes.of[note]; at.first != "" {
			note = at.String() + ": " + note
		}
		all = append(all, note+".")
	}
	if t.notes.more > 0 {
		all = append(all, fmt.Sprintf("And %s of other kinds.", unit.Count(t.notes.more, "remark")))
	}
	for _, group := range slices.SortedFunc(slices.Values(t.unused.Keys), func(a, b outcome) int {
		return cmp.Or(int(a.fate)-int(b.fate), compareNames(t.first(a), t.first(b)))
	}) {
		all = append(all, paragraph(group, t.unused.Of[group][0]))
	}
	return all
}

// first returns the first of the names of fields with an outcome.
func (t *tally) first(group outcome) string {
	return slices.MinFunc(t.unused.Of[group][0].keys, compareNames)
}

// paragraph tells of the fields with an outcome.
func paragraph(group outcome, seen *sightings) string {
	names := slices.SortedFunc(slices.Values(seen.keys), compareNames)
	more := ""
	if n := len(names) + seen.more - maxNames; n > 0 {
		names, more = names[:min(maxNames, len(names))], fmt.Sprintf(" and %d more", n)
	}
	if group.fate != isIdle { // whose places are of no use
		names = lists.Map(names, func(name string) string { return fmt.Sprintf("%s (%s)", name, seen.of[name]) })
	}
	list := strings.Join(names, ", ") + more
	switch group.fate {
	case isUnknown:
		return "Unknown, and not used: " + list + "."
	case isTold:
		return "Not used: " + list + ": " + group.why + "."
	}
	return "Without effect on frames: " + list + ": " + group.why + "."
}

// imported returns the scenario whose file is body behind a head of comments: first, which says what it is
// made of, and what was told.
func (t *tally) imported(first string, body []byte) Imported {
	m := Imported{Told: append([]string{first}, t.told()...)}
	for _, group := range t.unused.Keys {
		m.Unused += len(t.unused.Of[group][0].keys) + t.unused.Of[group][0].more
	}
	var b strings.Builder
	for _, told := range m.Told {
		comment(&b, told)
	}
	m.Text = append([]byte(b.String()), body...)
	return m
}

// width is how long lines of lists and comments are.
const width = 100

// comment writes a paragraph as lines of comments, whatever it has of a file.
func comment(b *strings.Builder, paragraph string) {
	paragraph = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(paragraph, "?"))
	line := "#"
	for _, word := range strings.Fields(paragraph) {
		if len(line)+1+len(word) > width && line != "#" {
			b.WriteString(line + "\n")
			line = "#  "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// quoted is a name of a file as it can stand in a comment: as it is if it is a word, else in quotes, and
// not longer than a line.
func quoted(name string) string {
	if word(name) && len(name) <= width {
		return name
	}
	if len(name) > width {
		return strconv.QuoteToASCII(name[:width]) + "..."
	}
	return strconv.QuoteToASCII(name)
}

// word reports whether a name has letters, digits and the signs that names of fields have, alone.
func word(name string) bool {
	for _, c := range []byte(name) {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-_.:,|/@", c) >= 0) {
			return false
		}
	}
	return name != ""
}

// UnusedWords returns how many fields are not used, in words; "" if all are used.
func (m *Imported) UnusedWords() string {
	if m.Unused == 0 {
		return ""
	}
	is := "are"
	if m.Unused == 1 {
		is = "is"
	}
	return fmt.Sprintf("%s of the files %s not used; the head of the scenario says which", unit.Count(m.Unused, "field"), is)
}

// reference is the ledger in Markdown: a table of what is partly used, and lists of what is not.
func (l ledger) reference() string {
	var b strings.Builder
	b.WriteString("| table | used | told of: why it is not used | without effect on frames: why |\n|---|---|---|---|\n")
	var whole lists.Groups[outcome, string]
	cell := func(list reasons) string {
		return strings.Join(lists.Map(list, func(r [2]string) string {
			return "`" + strings.Join(strings.Fields(r[0]), "`, `") + "`: " + r[1]
		}), "; ")
	}
	for _, name := range keysOf(l) {
		f := l[name]
		if f.whole() {
			what, why := l.of(name, "")
			whole.Add(outcome{what, why}, "`"+name+"`")
			continue
		}
		used := strings.Join(strings.Fields(strings.ReplaceAll(f.used, "*", "all")), "`, `")
		if used != "" {
			used = "`" + used + "`"
		} else {
			used = "its keys"
		}
		told := cell(f.told)
		if f.spare != "" {
			told = strings.TrimSuffix("other rows: "+f.spare+"; "+told, "; ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ReplaceAll(used, "`all`", "all"), told, cell(f.idle))
	}
	for _, what := range []struct {
		fate fate
		head string
	}{{isTold, "Not used, and told of"}, {isIdle, "Without effect on frames"}} {
		head := "\n" + what.head + ":\n\n"
		for _, group := range whole.Keys {
			if group.fate == what.fate {
				fmt.Fprintf(&b, "%s- %s: %s\n", head, strings.Join(whole.Of[group], ", "), group.why)
				head = ""
			}
		}
	}
	return b.String()
}

// Reference returns what becomes of each field of all formats, in Markdown: of a config_db.json first, without
// a heading.
func Reference() string {
	text := sonicLedger.reference()
	for _, f := range []struct {
		heading string
		ledger  ledger
	}{
		{"Topology, flows and config.txt of HPCC's simulator and its relatives", hpccLedger},
		{"GraphML: attributes, with a @, and data by the names of their keys", graphmlLedger},
		{"A topology of containerlab", clabLedger},
	} {
		text += "\n## " + f.heading + "\n\n" + f.ledger.reference()
	}
	return text
}

// Package strictyaml reads a YAML file into a Go struct and reports every fault
// of the file at once, each with its file, its line and the valid choices.
//
//	bytes --parse--> syntax tree --[apply]--> tree --fill--> struct ---caller's checks---> Err
//	                      `---- lines of every key ----'
//
// Read in this order: Read (tree to struct), Doc (lines, the caller's own
// faults), Setting (set.go: values in the place of the file's), former.go (keys by their names in
// older files), Nearest (help with misspelt names), Parse (files of others).
//
// Invariants:
//   - all faults: a fault never hides another one, except one at the same key or
//     below it, which would only repeat it;
//   - order: faults are reported in the order of the file's lines;
//   - bounded: a file has at most MaxBytes, lines of at most 4 KiB and 64 brackets
//     open, so that the parser, which recurses, cannot exhaust the stack. Anchors,
//     aliases, tags and merge keys are refused, so that no file grows while it is
//     read.
//
// What it does not do: it fills in no defaults, knows no meaning of a key, and
// writes no YAML.
package strictyaml

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"softswitch/internal/lists"
)

// MaxBytes is the length of the longest file.
const MaxBytes = 4 << 20

// Other limits of a file.
const (
	maxLine  = 4 << 10
	maxDepth = 64
)

// Fault is one thing wrong in a file.
type Fault struct {
	File string `json:"-"`
	Line int    `json:"line,omitempty"` // counted from 1; 0 if the fault has no place
	Key  string `json:"key,omitempty"`  // path of the key, such as "flows[2].rate"; "" for the whole file
	Set  string `json:"set,omitempty"`  // path of the setting that the value comes from; "" if it is the file's
	Text string `json:"text"`           // what is wrong, with the value and the valid choices
}

func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(f.Line))
	}
	b.WriteString(": ")
	if f.Set != "" {
		b.WriteString("--set " + f.Set + ": ")
	}
	if f.Key != "" && f.Key != f.Set {
		b.WriteString(f.Key)
		b.WriteString(": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// Faults is all that is wrong in a file, in the order of its lines: at least one.
type Faults []Fault

// Error has one line per fault.
func (fs Faults) Error() string {
	return strings.Join(lists.Map(fs, Fault.String), "\n")
}

// Doc is a file that has been read: the lines of its keys and the faults so far.
type Doc struct {
	name    string
	lines   map[string]int
	origins []origin // of values that settings gave
	faults  Faults
	faulty  map[string]bool // keys that have a fault of Faultf
	above   map[string]bool // keys that have a fault, and all that are above them
	last    []Fault         // of Lastf
	lastly  map[string]bool // keys of last
	empty   map[string]bool // keys without a value
	unread  bool            // the file could not be parsed: nothing is known of its keys
}

// Read parses data, the content of the file called name, into the struct that
// dst points to. Keys are those of its Fields' yaml tags; interfaces are not supported. A key that dst
// does not have, the lack of one whose schema tag says "required", a value of the wrong kind or out of
// the field's range, and a key given twice are faults; their fields keep the value they had. Fields
// without a key keep theirs too. What a field's tag was says is its key as well, but not beside the other
// one.
//
// Scalars of every kind are taken for a string field as they are written, and so for a
// type with UnmarshalText, whose error is the fault and for which "" is empty. An
// empty value ("key:") leaves the field as it is.
//
// Settings are read in the place of what the file has there, the later ones over the
// earlier ones. Two of one path are a fault.
func Read(name string, data []byte, dst any, settings ...Setting) *Doc {
	d := NewDoc(name)
	body, line, fault := read(data)
	if fault != "" {
		d.refuse(line, fault)
		return d
	}
	former, into := d.renewal(), reflect.TypeOf(dst).Elem()
	former.tree(body, into, "")
	if body = d.apply(body, former.settings(settings, into)); body != nil {
		former.tree(body, into, "") // what settings gave
		d.fill(body, reflect.ValueOf(dst).Elem(), "")
	}
	return d
}

// Parse is the syntax tree of data, the content of the file called name, nil if there is
// nothing in it. The file is as bounded as one that is Read, but what its keys, anchors and
// aliases mean is up to the caller: it is for the formats of others. The error is Faults.
func Parse(name string, data []byte) (ast.Node, error) {
	body, line, fault := read(data)
	if fault != "" {
		return nil, Faults{{File: name, Line: line, Text: fault}}
	}
	return body, nil
}

// Some is a list. Instead of a list of one, the one itself can be written, at the list's
// own key.
type Some[T any] []T

// OneWillDo marks the type.
func (Some[T]) OneWillDo() {}

// NewDoc returns the Doc of values that come from no file: its faults carry name
// and no line.
func NewDoc(name string) *Doc {
	return &Doc{name: name, lines: map[string]int{}, faulty: map[string]bool{}, above: map[string]bool{}, lastly: map[string]bool{}, empty: map[string]bool{}}
}

// Has reports whether the file has the key path.
func (d *Doc) Has(path string) bool {
	_, ok := d.lines[path]
	return ok
}

// Given reports whether the file has the key path with a value.
func (d *Doc) Given(path string) bool { return d.Has(path) && !d.empty[path] }

// Faulty reports whether the key path, or one below it, has a fault.
func (d *Doc) Faulty(path string) bool { return d.above[path] }

func (d *Doc) add(f Fault) {
	d.faults = append(d.faults, f)
	d.note(f.Key)
}

// note notes that a key has a fault.
func (d *Doc) note(key string) {
	for ; !d.above[key]; key = parent(key) {
		d.above[key] = true
	}
}

// Line is the line of the key path, or of the nearest key above it that the file
// has; 0 if there is none, or if the value is a setting's.
func (d *Doc) Line(path string) int {
	if d.setting(path) != "" {
		return 0
	}
	for {
		if n, ok := d.lines[path]; ok {
			return n
		}
		if path == "" {
			return 0
		}
		path = parent(path)
	}
}

// parent is the path without its last step: "a.b[2]" -> "a.b" -> "a" -> "".
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// Faultf adds a fault at the key path. It is dropped if there is one at that
// key, or at a key above it, already, and if the file could not be parsed.
func (d *Doc) Faultf(path, format string, args ...any) {
	if d.unread || d.hidden(path) {
		return
	}
	d.faulty[path] = path != ""
	d.add(d.At(path, fmt.Sprintf(format, args...)))
}

// Fault adds err, unless nil, at the key path.
func (d *Doc) Fault(path string, err error) {
	if err != nil {
		d.Faultf(path, "%v", err)
	}
}

// Within adds a fault unless the value n of the key path is lo to hi, and reports whether it is.
func (d *Doc) Within(path string, n, lo, hi int) bool {
	ok := n >= lo && n <= hi
	if !ok {
		d.Faultf(path, "%d: use %d to %d", n, lo, hi)
	}
	return ok
}

// Choice adds a fault unless the value s of the key path is one of these, and reports whether it is.
func (d *Doc) Choice(path, s string, valid []string) bool {
	ok := slices.Contains(valid, s)
	if !ok {
		d.Faultf(path, "%q%s; use %s", s, DidYouMean(s, valid), strings.Join(valid, ", "))
	}
	return ok
}

// hidden reports whether a key, or one above it, has a fault of Faultf.
func (d *Doc) hidden(path string) bool {
	for ; path != ""; path = parent(path) {
		if d.faulty[path] {
			return true
		}
	}
	return false
}

// Lastf adds a fault at the key path that gives way to any other fault at that key, which says more.
func (d *Doc) Lastf(path, format string, args ...any) {
	if d.unread || d.lastly[path] {
		return
	}
	d.lastly[path] = true
	d.last = append(d.last, d.At(path, fmt.Sprintf(format, args...)))
	d.note(path)
}

// refuse adds the one fault of a file that cannot be parsed.
func (d *Doc) refuse(line int, text string) {
	d.add(Fault{File: d.name, Line: line, Text: text})
	d.unread = true
}

// At is a fault at the key path that is not one of the file's: a warning.
func (d *Doc) At(path, text string) Fault {
	return Fault{File: d.name, Line: d.Line(path), Key: path, Set: d.setting(path), Text: text}
}

// Err returns the faults as a Faults in the order of the file, or nil.
func (d *Doc) Err() error {
	fs := slices.Clone(d.faults)
	for _, f := range d.last {
		if !d.hidden(f.Key) {
			fs = append(fs, f)
		}
	}
	if len(fs) == 0 {
		return nil
	}
	slices.SortStableFunc(fs, func(a, b Fault) int { return a.Line - b.Line })
	return fs
}

// read returns the top value of a text, nil if it is empty; or what is wrong with it, and
// in which line.
func read(data []byte) (body ast.Node, at int, fault string) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at, fault := outOfBounds(data); fault != "" {
		return nil, at, fault
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, fault := notYAML(err)
		return nil, at, fault
	}
	docs := slices.DeleteFunc(slices.Clone(file.Docs), func(doc *ast.DocumentNode) bool { return doc.Body == nil })
	switch len(docs) {
	case 0:
		return nil, 0, ""
	case 1:
		return docs[0].Body, 0, ""
	}
	return nil, line(docs[1].Body), "a second YAML document: a file has one"
}

// outOfBounds keeps from the parser what could exhaust the stack. It counts brackets
// wherever they stand, so a text with 64 more opening than closing brackets is refused as
// well.
func outOfBounds(data []byte) (at int, fault string) {
	if len(data) > MaxBytes {
		return 0, fmt.Sprintf("more than %d bytes", MaxBytes)
	}
	depth, line, start := 0, 1, 0
	for i, c := range data {
		switch c {
		case '\n':
			line, start = line+1, i+1
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		switch {
		case depth > maxDepth:
			return line, fmt.Sprintf("more than %d brackets open", maxDepth)
		case i-start > maxLine:
			return line, fmt.Sprintf("a line of more than %d bytes", maxLine)
		}
	}
	return 0, ""
}

func notYAML(err error) (at int, fault string) {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return 0, fmt.Sprintf("not YAML: %v", err)
	}
	if t := ye.GetToken(); t != nil && t.Position != nil {
		at = t.Position.Line
	}
	return at, "not YAML: " + ye.GetMessage()
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// fill puts the value n of the key path into v.
func (d *Doc) fill(n ast.Node, v reflect.Value, path string) {
	if _, ok := d.lines[path]; !ok {
		d.lines[path] = line(n)
	}
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		d.empty[path] = true
		return
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode, *ast.DirectiveNode:
		d.Faultf(path, "%s: anchors, aliases, tags and directives are not supported: write the value itself", n.GetToken().Value)
		return
	}
	if to, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.fillText(n, to, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		e := reflect.New(v.Type().Elem())
		before := len(d.faults)
		d.fill(n, e.Elem(), path)
		if len(d.faults) == before || e.Elem().Kind() == reflect.Struct { // of which the rest is judged too
			v.Set(e)
		}
	case reflect.Struct:
		d.fillStruct(n, v, path)
	case reflect.Map:
		d.fillMap(n, v, path)
	case reflect.Slice:
		d.fillSlice(n, v, path)
	default:
		d.fillScalar(n, v, path)
	}
}

func (d *Doc) fillStruct(n ast.Node, v reflect.Value, path string) {
	fields := Fields(v.Type())
	names := lists.Map(fields, Key)
	d.pairs(n, path, "keys "+strings.Join(names, ", "), func(key string, kn, vn ast.Node) {
		sub := join(path, key)
		i := slices.Index(names, key)
		if i < 0 {
			d.lines[sub] = line(kn)
			d.Faultf(sub, "unknown key %q%s; the keys here are %s", key, DidYouMean(key, names), strings.Join(names, ", "))
			return
		}
		if vn != absent && d.first(sub, kn) {
			d.fill(vn, v.FieldByIndex(fields[i].Index), sub)
		}
	})
	for i, name := range names {
		_, options, _ := strings.Cut(fields[i].Tag.Get("schema"), ",")
		if sub := join(path, name); options == "required" && !d.Given(sub) {
			d.Lastf(sub, "missing")
		}
	}
}

func (d *Doc) fillMap(n ast.Node, v reflect.Value, path string) {
	t := v.Type()
	m := reflect.MakeMap(t)
	d.pairs(n, path, "pairs", func(key string, kn, vn ast.Node) {
		sub := join(path, key)
		if vn == absent || !d.first(sub, kn) {
			return
		}
		k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		before := len(d.faults)
		d.fillScalar(kn, k, sub)
		d.fill(vn, e, sub)
		if len(d.faults) == before {
			m.SetMapIndex(k, e)
		}
	})
	v.Set(m)
}

// first notes the line of the key path and reports whether the file has it for
// the first time.
func (d *Doc) first(path string, kn ast.Node) bool {
	if l, ok := d.lines[path]; ok {
		f := Fault{File: d.name, Line: line(kn), Key: path, Set: d.setting(parent(path)), Text: fmt.Sprintf("given twice, first in line %d", l)}
		if f.Set != "" {
			f.Line = 0
		}
		d.add(f)
		return false
	}
	d.lines[path] = line(kn)
	return true
}

// pairs calls each for the pairs of the mapping n.
func (d *Doc) pairs(n ast.Node, path, want string, each func(key string, kn, vn ast.Node)) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		d.Faultf(path, "%s where %s should be", describe(n), want)
	}
	for _, p := range pairsOf(n) {
		key, ok := scalar(p.Key)
		if !ok {
			d.Faultf(path, "%s as a key in line %d: a key is a plain word", describe(p.Key), line(p.Key))
			continue
		}
		each(key, p.Key, p.Value)
	}
}

func (d *Doc) fillSlice(n ast.Node, v reflect.Value, path string) {
	seq, ok := n.(*ast.SequenceNode)
	if one := reflect.TypeFor[interface{ OneWillDo() }](); !ok && v.Type().Implements(one) {
		s := reflect.MakeSlice(v.Type(), 1, 1)
		d.fill(n, s.Index(0), path)
		v.Set(s)
		return
	}
	if !ok {
		d.Faultf(path, "%s where a list should be", describe(n))
		return
	}
	s := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, e := range seq.Values {
		d.fill(e, s.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(s)
}

// fillText has a value read its own text.
func (d *Doc) fillText(n ast.Node, to encoding.TextUnmarshaler, path string) {
	text, ok := scalar(n)
	if !ok {
		d.Faultf(path, "%s where a word should be", describe(n))
		return
	}
	if text == "" {
		d.empty[path] = true
		return
	}
	if err := to.UnmarshalText([]byte(text)); err != nil {
		d.Faultf(path, "%v", err)
	}
}

func (d *Doc) fillScalar(n ast.Node, v reflect.Value, path string) {
	text, ok := scalar(n)
	if !ok {
		d.Faultf(path, "%s where %s should be", describe(n), kindName(v))
		return
	}
	if v.CanInt() || v.CanUint() {
		if digits := strings.TrimLeft(text, "+-"); len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
			d.Faultf(path, "%q begins with 0, so that it counts by eights for some (YAML 1.1) and by tens for others: write it without", text)
			return
		}
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			d.Faultf(path, "%q is neither true nor false", text)
			return
		}
		v.SetBool(b.Value)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(text, 0, 64)
		if err != nil || v.OverflowInt(i) {
			d.Faultf(path, "%q is not a whole number", text)
			return
		}
		v.SetInt(i)
	case reflect.Uint16, reflect.Uint32:
		u, err := strconv.ParseUint(text, 0, 64)
		if err != nil || v.OverflowUint(u) {
			d.Faultf(path, "%q is not a whole number of 0 to %d", text, uint64(math.MaxUint64)>>(64-v.Type().Bits()))
			return
		}
		v.SetUint(u)
	default:
		panic(fmt.Sprintf("strictyaml: field %s has the unsupported type %s", path, v.Type()))
	}
}

// scalar is the text of a scalar as it is written.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingKeyNode:
		return "?"
	case *ast.MergeKeyNode:
		return "<<"
	}
	if s, ok := scalar(n); ok {
		return strconv.Quote(s)
	}
	return "something else"
}

func kindName(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return "a word"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

package importer

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"softswitch/internal/strictyaml"
)

// maxNested is how many aliases or merge keys can lead from one to the next.
const maxNested = 16

// clabReader reads values, with the aliases in them, which the library would read otherwise
// (docs/decisions/aliases.md). err is the first fault; behind it everything is empty.
type clabReader struct {
	file    string
	t       *tally
	root    ast.Node
	anchors map[string]ast.Node
	keys    int // that have been read
	err     error
}

// mapping is the entries of one, in the order of the file.
type mapping []entry

// entry is a key with its place, and its value.
type entry struct {
	key       string
	at, value ast.Node
}

// crowded is the line at which a mapping has more than maxMapping keys, 0 if none has. It is judged by the
// indentation of lines, before the library reads them, which takes a time that is quadratic in these keys.
func crowded(data []byte) (line int) {
	var depths, keys []int // of the mappings that are open: how far their lines are indented, and how many keys they have
	for text := range strings.Lines(string(data)) {
		line++
		body := strings.TrimLeft(text, " ")
		if strings.TrimSpace(body) == "" || body[0] == '#' {
			continue
		}
		depth := len(text) - len(body)
		for len(depths) > 0 && (depths[len(depths)-1] > depth || depths[len(depths)-1] == depth && body[0] == '-') {
			depths, keys = depths[:len(depths)-1], keys[:len(keys)-1]
		}
		if len(depths) == 0 || depths[len(depths)-1] < depth {
			depths, keys = append(depths, depth), append(keys, 0)
		}
		n := 1
		if strings.ContainsAny(body, "{,") {
			n = strings.Count(body, ":") + strings.Count(body, ",")
		}
		if keys[len(keys)-1] += n; keys[len(keys)-1] > maxMapping {
			return line
		}
	}
	return 0
}

func newReader(file string, data []byte, t *tally) (*clabReader, error) {
	root, err := strictyaml.Parse(file, data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fmt.Errorf("%s: empty: want a topology of containerlab, with nodes and links", file)
	}
	r := &clabReader{file: file, t: t, root: root, anchors: map[string]ast.Node{}}
	ast.Walk(r, root)
	return r, r.err
}

// Visit implements ast.Visitor: it notes anchors.
func (r *clabReader) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		if _, twice := r.anchors[name]; twice {
			r.faultf(n, "&%s: another anchor has this name", name)
		}
		r.anchors[name] = a.Value
	}
	return r
}

func (r *clabReader) faultf(n ast.Node, format string, args ...any) {
	r.faultAt(line(n), format, args...)
}

func (r *clabReader) faultAt(line int, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: %s", r.file, line, fmt.Sprintf(format, args...))
	}
}

func line(n ast.Node) int {
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		return n.GetToken().Position.Line
	}
	return 1
}

// value resolves an alias to the node of its anchor.
func (r *clabReader) value(n ast.Node) ast.Node {
	at := n
	for range maxNested {
		switch t := n.(type) {
		case *ast.AnchorNode:
			n = t.Value
		case *ast.TagNode:
			n = t.Value
		case *ast.AliasNode:
			name := t.Value.GetToken().Value
			to, ok := r.anchors[name]
			if !ok {
				r.faultf(t, "*%s: no anchor has this name", name)
				return nil
			}
			n = to
		default:
			return n
		}
	}
	r.faultf(at, "an alias that leads to itself, or by more than %d others", maxNested)
	return nil
}

// mapping reads n, which has keys and values or is empty. Its own keys come before those
// that are merged into it ("<<"), and hide them.
func (r *clabReader) mapping(n ast.Node) (m mapping) {
	r.merge(n, &m, map[string]bool{}, 0)
	if r.err != nil {
		return nil
	}
	return m
}

func (r *clabReader) merge(n ast.Node, m *mapping, has map[string]bool, nested int) {
	at := n
	var pairs []*ast.MappingValueNode
	switch t := r.value(n).(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode:
		pairs = t.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{t}
	default:
		r.faultf(at, "%q where keys and values should be", t.GetToken().Value)
	}
	if nested > maxNested {
		r.faultf(at, "more than %d merge keys, each in what the one before it merges", maxNested)
	}
	var merged []ast.Node
	own := map[string]bool{}
	for _, p := range pairs {
		if r.keys++; r.keys > maxKeys {
			r.faultf(p, "more than %d keys, with those of aliases", maxKeys)
		}
		if r.err != nil {
			return
		}
		if _, ok := p.Key.(*ast.MergeKeyNode); ok {
			merged = append(merged, p.Value)
			continue
		}
		key, ok := scalar(r.value(p.Key))
		if !ok || own[key] {
			r.faultf(p.Key, "%q: a key is a plain word, and is there once", p.Key.GetToken().Value)
			return
		}
		own[key] = true
		if !has[key] {
			has[key] = true
			*m = append(*m, entry{key, p.Key, p.Value})
		}
	}
	for _, n := range merged {
		all := []ast.Node{n}
		if seq, ok := r.value(n).(*ast.SequenceNode); ok {
			all = seq.Values
		}
		for _, n := range all {
			if r.merge(n, m, has, nested+1); r.err != nil {
				return
			}
		}
	}
}

// value is that of a key, nil if the mapping does not have it.
func (m mapping) value(key string) ast.Node {
	for _, e := range m {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// list reads n, which is a list or empty.
func (r *clabReader) list(n ast.Node) []ast.Node {
	switch t := r.value(n).(type) {
	case nil, *ast.NullNode:
	case *ast.SequenceNode:
		return t.Values
	default:
		r.faultf(n, "%q where a list should be", t.GetToken().Value)
	}
	return nil
}

// text reads n, which is a word or empty.
func (r *clabReader) text(n ast.Node) string {
	t := r.value(n)
	if t == nil || t.Type() == ast.NullType {
		return ""
	}
	s, ok := scalar(t)
	if !ok {
		r.faultf(n, "%q where a word should be", t.GetToken().Value)
	}
	return s
}

func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

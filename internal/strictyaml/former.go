package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"softswitch/internal/lists"
)

// A key that had another name in older files is read under that name too. Its field has a tag for it,
//
//	Priority int `yaml:"priority" was:"class"`
//
// and it has its present name in the tree before settings are put into that, so that nothing else knows
// of former names: not the paths of faults, not those that callers ask for.

// renewal gives the keys of a file their present names.
type renewal struct {
	doc   *Doc
	known map[reflect.Type]map[string]keyed
}

// keyed is what a key of a struct stands for, by its present name or by its former one.
type keyed struct {
	name  string // the present one
	value reflect.Type
}

func (d *Doc) renewal() *renewal { return &renewal{d, map[reflect.Type]map[string]keyed{}} }

// keys are those of a struct. One that is a present name of a field is no former one of another.
func (r *renewal) keys(t reflect.Type) map[string]keyed {
	if keys, ok := r.known[t]; ok {
		return keys
	}
	keys := map[string]keyed{}
	r.known[t] = keys
	fields := Fields(t)
	for _, f := range fields {
		if name := Key(f); name != "" {
			keys[name] = keyed{name, f.Type}
		}
	}
	for _, f := range fields {
		if was := f.Tag.Get("was"); was != "" && keys[was].name == "" {
			keys[was] = keyed{Key(f), f.Type}
		}
	}
	return keys
}

// holder is t without pointers, or the type of a text if it reads its own.
func holder(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return reflect.TypeFor[string]()
	}
	return t
}

// tree renews the keys of n, the value at a path, which is read into a value of type t.
func (r *renewal) tree(n ast.Node, t reflect.Type, path string) {
	t = holder(t)
	switch t.Kind() {
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok { // one that stands without its list
			r.tree(n, t.Elem(), path)
			return
		}
		for i, e := range seq.Values {
			r.tree(e, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		for _, p := range pairsOf(n) {
			if key, ok := scalar(p.Key); ok {
				r.tree(p.Value, t.Elem(), join(path, key))
			}
		}
	case reflect.Struct:
		r.keysOf(n, t, path)
	}
}

// keysOf renews the keys of n, which is read into a struct of type t. A key that is given by both of its
// names is a fault, and counts by the present one.
func (r *renewal) keysOf(n ast.Node, t reflect.Type, path string) {
	keys, given := r.keys(t), map[string]bool{}
	for _, p := range pairsOf(n) {
		if key, ok := scalar(p.Key); ok {
			given[key] = true
		}
	}
	var twice []*ast.MappingValueNode
	for _, p := range pairsOf(n) {
		key, ok := scalar(p.Key)
		k, known := keys[key]
		if !ok || !known {
			continue
		}
		sub := join(path, k.name)
		if key != k.name {
			if given[k.name] {
				f := r.doc.At(sub, fmt.Sprintf("given as %q too, its name in older files: remove %q", key, key))
				if f.Set == "" {
					f.Line = line(p.Key)
				}
				r.doc.add(f)
				twice = append(twice, p)
				continue
			}
			if s, ok := p.Key.(*ast.StringNode); ok {
				s.Value = k.name
			}
		}
		r.tree(p.Value, k.value, sub)
	}
	if m, ok := n.(*ast.MappingNode); ok {
		m.Values = slices.DeleteFunc(m.Values, func(p *ast.MappingValueNode) bool { return slices.Contains(twice, p) })
	}
}

// settings are those with paths of present names, in a file that is read into a value of type t.
func (r *renewal) settings(all []Setting, t reflect.Type) []Setting {
	return lists.Map(all, func(s Setting) Setting { return Setting{r.path(s.Path, t), s.Text} })
}

// path is a path of present names, itself if it is none.
func (r *renewal) path(path string, t reflect.Type) string {
	steps, err := stepsOf(path)
	if err != nil {
		return path
	}
	upTo := ""
	for _, s := range steps {
		t = holder(t)
		if s.key == "" {
			upTo += fmt.Sprintf("[%d]", s.index)
		} else {
			if t.Kind() == reflect.Slice { // of which one stands without its list
				t = holder(t.Elem())
			}
			if t.Kind() == reflect.Struct {
				if k, ok := r.keys(t)[s.key]; ok {
					upTo, t = join(upTo, k.name), k.value
					continue
				}
			}
			upTo = join(upTo, s.key)
		}
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			t = t.Elem()
		default:
			t = reflect.TypeFor[string]() // nothing is known below it
		}
	}
	return upTo
}

// pairsOf are the pairs of a mapping; none of what is no mapping.
func pairsOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

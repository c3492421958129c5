package strictyaml

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"softswitch/unit"
)

// Setting is a value that is read in the place of a file's own. Its faults, and those
// below it, are told with the flag --set.
type Setting struct {
	Path string // of the key, such as "flows[2].rate", whether the file has it or not
	Text string // YAML, as it could stand in the file; "" takes the key out of it
}

// ParseSetting reads a setting that is written as PATH=TEXT.
func ParseSetting(text string) (Setting, error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok {
		return Setting{}, errors.New("write KEY=VALUE, such as buffer.xoff=40960")
	}
	if _, err := stepsOf(path); err != nil {
		return Setting{}, err
	}
	return Setting{path, value}, nil
}

// step is one of the steps of a path: to a key, or to an entry of a list.
type step struct {
	key   string // "" for an entry
	index int
	upTo  string // the path so far, with this step
}

// stepsOf takes a path apart: at least one step, the first to a key.
func stepsOf(path string) (steps []step, err error) {
	for i, part := range strings.Split(path, ".") {
		key, rest, isList := strings.Cut(part, "[")
		upTo := key
		if i > 0 {
			upTo = steps[len(steps)-1].upTo + "." + key
		}
		if key == "" || strings.ContainsAny(key, "] \t\n") {
			return nil, fmt.Errorf("%q is no key; write one as faults name it, such as buffer.xoff or flows[0].rate", path)
		}
		steps = append(steps, step{key: key, upTo: upTo})
		for isList {
			var number string
			var ok bool
			number, rest, ok = strings.Cut(rest, "]")
			n, err := strconv.ParseUint(number, 10, 31)
			if !ok || err != nil {
				return nil, fmt.Errorf("%q: an entry of a list is written as a number in brackets, such as flows[0].rate", path)
			}
			upTo += "[" + number + "]"
			steps = append(steps, step{index: int(n), upTo: upTo})
			if rest == "" {
				break
			}
			if rest[0] != '[' {
				return nil, fmt.Errorf("%q: after a bracket comes a dot, or another one", path)
			}
			rest = rest[1:]
		}
	}
	return steps, nil
}

// origin says that the value at a path comes from a setting.
type origin struct{ at, setting string }

// setting is the path of the setting that the value of the key path comes from, "" if
// that is the file's.
func (d *Doc) setting(path string) string {
	for ; path != ""; path = parent(path) {
		for _, o := range d.origins {
			if o.at == path {
				return o.setting
			}
		}
	}
	return ""
}

// apply puts the settings into the tree of a file, in their order, and returns its top:
// root, or a new one if the file is empty.
func (d *Doc) apply(root ast.Node, settings []Setting) ast.Node {
	for i, s := range settings {
		given := slices.ContainsFunc(settings[:i], func(other Setting) bool { return other.Path == s.Path })
		d.origins = slices.DeleteFunc(d.origins, func(o origin) bool { return below(o.at, s.Path) })
		d.origins = append(d.origins, origin{s.Path, s.Path})
		value, _, fault := read([]byte(s.Text))
		switch {
		case given:
			d.Faultf(s.Path, "given twice")
		case fault != "":
			d.Faultf(s.Path, "%s", fault)
		default:
			d.put(&root, s, value)
		}
	}
	return root
}

// below reports whether a path is at, or below, another.
func below(path, at string) bool {
	rest, is := strings.CutPrefix(path, at)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// put puts a value into the tree that begins at slot. What is missing on the way to its
// key is made.
func (d *Doc) put(slot *ast.Node, s Setting, value ast.Node) {
	steps, err := stepsOf(s.Path)
	if err != nil {
		d.Faultf(s.Path, "%v", err)
		return
	}
	at := "the file"
	for _, step := range steps {
		next, isNew, fault := step.from(slot)
		if fault != "" {
			d.Faultf(s.Path, "%s %s", at, fault)
			return
		}
		if isNew && step.upTo != s.Path {
			d.origins = append(d.origins, origin{step.upTo, s.Path})
		}
		slot, at = next, step.upTo
	}
	if value == nil {
		value = absent
	}
	*slot = value
}

// from goes the step down from the value in slot, and says what is wrong with that value
// if it cannot. What it reaches is new if there was none.
func (s step) from(slot *ast.Node) (next *ast.Node, isNew bool, fault string) {
	if s.key != "" {
		m := mappingIn(slot)
		if m == nil {
			return nil, false, "is " + describe(*slot) + ": no key is below it" + entryHint(*slot)
		}
		for _, p := range m.Values {
			if key, ok := scalar(p.Key); ok && key == s.key {
				return &p.Value, false, ""
			}
		}
		p := ast.MappingValue(noToken(), ast.String(&token.Token{Value: s.key}), ast.Null(noToken()))
		m.Values = append(m.Values, p)
		return &p.Value, true, ""
	}
	list := listIn(slot)
	switch {
	case list == nil:
		return nil, false, "is " + describe(*slot) + ", no list"
	case s.index > len(list.Values):
		return nil, false, fmt.Sprintf("has %s: the next one is [%d]", unit.Count(len(list.Values), "entry"), len(list.Values))
	case s.index == len(list.Values):
		list.Values = append(list.Values, ast.Null(noToken()))
		isNew = true
	}
	return &list.Values[s.index], isNew, ""
}

// mappingIn is the mapping in slot, a new one if that is empty, nil if it holds something
// else.
func mappingIn(slot *ast.Node) *ast.MappingNode {
	switch n := (*slot).(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		*slot = ast.Mapping(n.Start, false, n)
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		*slot = ast.Mapping(noToken(), false)
	}
	m, _ := (*slot).(*ast.MappingNode)
	return m
}

// listIn is the list in slot, as mappingIn.
func listIn(slot *ast.Node) *ast.SequenceNode {
	switch (*slot).(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		*slot = ast.Sequence(noToken(), false)
	}
	l, _ := (*slot).(*ast.SequenceNode)
	return l
}

func entryHint(n ast.Node) string {
	if _, ok := n.(*ast.SequenceNode); ok {
		return "; write which entry, such as [0]"
	}
	return ""
}

// absent is the value of a key that was taken out.
var absent ast.Node = ast.Null(noToken())

// noToken is that of what stands in no file.
func noToken() *token.Token { return &token.Token{} }

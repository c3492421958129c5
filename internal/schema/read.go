package schema

import (
	"fmt"
	"reflect"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
)

// Read describes f. Comments are those of the source of its types. It panics on a tag
// that says what cannot be: that is a fault of the types.
func Read(f Format, c Comments) *Object {
	r := reader{choices: f.Choices, rules: f.Rules, comments: c, known: map[reflect.Type]*Object{}}
	o := r.object(f.Root)
	if f.Description != "" {
		o.Text = f.Description
	}
	return o
}

type reader struct {
	choices  map[string][]string
	rules    map[reflect.Type]Rules
	comments Comments
	known    map[reflect.Type]*Object
}

func (r *reader) object(t reflect.Type) *Object {
	if o, ok := r.known[t]; ok {
		return o
	}
	o := &Object{Name: t.String(), Rules: r.rules[t]}
	r.known[t] = o
	names := fieldNames(t)
	o.Text = plain(r.comments[o.Name], names, t.Name(), "")
	for _, f := range strictyaml.Fields(t) {
		own := t // the struct that has the field
		for _, i := range f.Index[:len(f.Index)-1] {
			own = own.Field(i).Type
		}
		o.Fields = append(o.Fields, r.field(own.String(), f, names))
	}
	o.Rules.check(o)
	return o
}

// fieldNames is the keys of t's fields by the names of those.
func fieldNames(t reflect.Type) []fieldName {
	return lists.Map(strictyaml.Fields(t), func(f reflect.StructField) fieldName { return fieldName{f.Name, strictyaml.Key(f)} })
}

type fieldName struct{ name, key string }

func (r *reader) field(object string, sf reflect.StructField, names []fieldName) Field {
	f := Field{Key: strictyaml.Key(sf), Was: sf.Tag.Get("was")}
	f.Text = plain(r.comments[object+"."+sf.Name], names, sf.Name, f.Key)
	t := tagOf(sf)
	f.Required, f.Default = t.required, t.def
	f.Value = r.value(sf.Type, t)
	return f
}

// tag is a schema tag, taken apart.
type tag struct {
	kind, keys, def string
	required        bool
}

func (t *tag) parse(text string) {
	text, t.def, _ = strings.Cut(text, ",default=")
	parts := strings.Split(text, ",")
	t.kind = parts[0]
	for _, p := range parts[1:] {
		keys, isKeys := strings.CutPrefix(p, "keys=")
		switch {
		case isKeys:
			t.keys = keys
		case p == "required":
			t.required = true
		default:
			panic(fmt.Sprintf("schema: tag %q: %q is neither required, keys= nor default=", text, p))
		}
	}
}

func (r *reader) value(t reflect.Type, tag tag) Value {
	if knowsText(t) {
		return Value{Kind: r.kind(tag.kind, t)}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.value(t.Elem(), tag)
	case reflect.Struct:
		return Value{Object: r.object(t)}
	case reflect.Slice:
		e := r.value(t.Elem(), tag)
		return Value{List: &e, One: t.Implements(reflect.TypeFor[interface{ OneWillDo() }]())}
	case reflect.Map:
		e := r.value(t.Elem(), tag)
		return Value{Map: &e, Keys: r.kind(tag.keys, t.Key())}
	}
	return Value{Kind: r.kind(tag.kind, t)}
}

// check panics if a rule is about a key that o does not have.
func (r Rules) check(o *Object) {
	all := append([][]string{}, r.OneOf...)
	for _, c := range r.Cases {
		all = append(all, c.Must, c.May, []string{r.CaseOf})
	}
	for _, keys := range all {
		for _, k := range keys {
			if o.field(k) == nil {
				panic(fmt.Sprintf("schema: a rule of %s is about a key %q, which it does not have", o.Name, k))
			}
		}
	}
}

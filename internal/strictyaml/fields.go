package strictyaml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Fields are the fields of the struct t that keys are of. In the place of an embedded struct with the
// tag `yaml:",inline"` stand those of it, and in the place of one that t has too, that of t. With the
// tag `schema:",optional"` beside it none of them is required or has a default.
func Fields(t reflect.Type) (fields []reflect.StructField) {
	add := func(f reflect.StructField) {
		if !slices.ContainsFunc(fields, func(g reflect.StructField) bool { return g.Name == f.Name }) {
			fields = append(fields, f)
		}
	}
	for f := range t.Fields() {
		if f.Tag.Get("yaml") != ",inline" {
			add(f)
			continue
		}
		for _, in := range Fields(f.Type) {
			seen, _ := t.FieldByName(in.Name)
			if f.Tag.Get("schema") == ",optional" && len(seen.Index) > 1 {
				kind, _, _ := strings.Cut(seen.Tag.Get("schema"), ",")
				seen.Tag = reflect.StructTag(fmt.Sprintf("yaml:%q schema:%q was:%q", seen.Tag.Get("yaml"), kind, seen.Tag.Get("was")))
			}
			add(seen)
		}
	}
	return fields
}

// Key is the key of a field.
func Key(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}

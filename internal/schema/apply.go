package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/strictyaml"
)

// Fill sets each field of the struct that v points to, and of those below it, to the default of its
// schema tag if it is zero or nil. A value below it that has a Fill method of its own fills itself.
func Fill(v any) { fill(reflect.ValueOf(v).Elem()) }

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillBelow(v.Elem())
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && hasFields(v.Type().Elem()); i++ {
			fillBelow(v.Index(i))
		}
	case reflect.Struct:
		for _, sf := range strictyaml.Fields(v.Type()) {
			f, t := v.FieldByIndex(sf.Index), tagOf(sf)
			if t.def != "" && f.IsZero() {
				set(f, t.def)
			}
			if hasFields(f.Type()) {
				fillBelow(f)
			}
		}
	}
}

func fillBelow(v reflect.Value) {
	if own, ok := v.Addr().Interface().(interface{ Fill() }); ok && v.Kind() == reflect.Struct {
		own.Fill()
		return
	}
	fill(v)
}

// hasFields reports whether a value of type t can have fields of a format below it.
func hasFields(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !knowsText(t)
}

// knowsText reports whether a value of type t reads its own text.
func knowsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// set gives v the value of a default, which is one of its type or a list of numbers.
func set(v reflect.Value, text string) {
	var err error
	switch to, ok := v.Addr().Interface().(encoding.TextUnmarshaler); {
	case ok:
		err = to.UnmarshalText([]byte(text))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), text)
	case v.Kind() == reflect.String:
		v.SetString(text)
	default: // a number, true or false, or a list, as JSON has them
		err = json.Unmarshal([]byte(text), v.Addr().Interface())
	}
	if err != nil {
		panic(fmt.Sprintf("schema: default %q of a %s: %v", text, v.Type(), err))
	}
}

// Check adds to d what the schema tags of the struct that v points to, and of those below it, do not
// allow: numbers out of their range and unknown words. A zero is unset, unless the key is required or
// the file gives it. Maps are left to the caller. What the caller says of the same key goes first.
func Check(d *strictyaml.Doc, v any) { CheckAt(d, "", v) }

// CheckAt is Check of a struct at a key path.
func CheckAt(d *strictyaml.Doc, path string, v any) {
	check(d, path, tag{}, reflect.ValueOf(v).Elem(), true)
}

// check checks v, the value of a key with tag t. There is one if given, else its zero is unset.
func check(d *strictyaml.Doc, path string, t tag, v reflect.Value, given bool) {
	switch {
	case knowsText(v.Type()), v.Kind() == reflect.Map:
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			check(d, path, t, v.Elem(), true)
		}
	case v.Kind() == reflect.Struct:
		for _, sf := range strictyaml.Fields(v.Type()) {
			key := strictyaml.Key(sf)
			if path != "" {
				key = path + "." + key
			}
			check(d, key, tagOf(sf), v.FieldByIndex(sf.Index), false)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			key := fmt.Sprintf("%s[%d]", path, i)
			if d.Has(path) && !d.Has(key) { // one stands without its list
				key = path
			}
			check(d, key, t, v.Index(i), true)
		}
	case given || t.required || !v.IsZero() || d.Given(path):
		scalar(d, path, t.kind, v)
	}
}

// scalar checks a number or a word against a kind.
func scalar(d *strictyaml.Doc, path, kind string, v reflect.Value) {
	if lo, hi, ok := strings.Cut(kind, ".."); ok {
		low, _ := strconv.ParseInt(lo, 10, 64)
		high, _ := strconv.ParseInt(hi, 10, 64)
		if n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64); n < low || n > high {
			d.Lastf(path, "%d: use %d to %d", n, low, high)
		}
		return
	}
	words := strings.Split(kind, "|")
	text := fmt.Sprint(v)
	if len(words) == 1 || slices.Contains(words, text) {
		return
	}
	if v.Kind() == reflect.String {
		text = strconv.Quote(text) + strictyaml.DidYouMean(text, words) + ";"
	} else {
		text += ":"
	}
	d.Lastf(path, "%s use %s", text, strings.Join(words, ", "))
}

func tagOf(f reflect.StructField) (t tag) {
	t.parse(f.Tag.Get("schema"))
	return t
}

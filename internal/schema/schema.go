// Package schema describes a YAML format to people and to editors, from the Go types
// that the format is read into: as JSON Schema, and as a reference in Markdown.
//
//	Go types: yaml tags, schema tags --.
//	Go source: comments ---------------+--> Read --> Object --> JSON
//	Format: rules, names of detectors -'                    '--> Markdown, Page, Man
//
// The tags of a type also fill in its defaults and check its values: Fill and Check.
//
// Read in this order: Format, Object, Field and Value (this file), read.go (from
// types), apply.go (Fill, Check), kinds.go (what a schema tag can say), comments.go (from source), json.go,
// markdown.go, text.go.
//
// A schema tag stands beside the yaml tag of a field:
//
//	TTL *int `yaml:"ttl" schema:"1..255,default=64"`
//
// A tag was beside it is the field's key in older files, which are read too (package strictyaml).
//
// The first part is the kind of value (see kinds.go), or empty to use the Go type's;
// then, in any order, "required" and "keys=KIND" for a map; last "default=TEXT".
//
// Invariants:
//   - sound: what a schema refuses, the format's own reader refuses too, except for a
//     number in quotes and a key without a value, which that reader accepts;
//   - stable: the same types and comments give the same bytes.
//
// What it does not do: it reads no file. A format's own reader checks what a tag
// cannot express, such as which links exist, with better errors.
package schema

import "reflect"

// Format is a format to be described.
type Format struct {
	Title, Description string
	// Root is the struct that a whole file is read into.
	Root reflect.Type
	// Rules are what field tags cannot express, by struct.
	Rules map[reflect.Type]Rules
	// Choices are the valid names of kinds that the format leaves to its user:
	// "detector", "response".
	Choices map[string][]string
}

// Rules are constraints between the keys of an object.
type Rules struct {
	// OneOf are sets of keys. One or more keys of exactly one of the sets must be
	// present.
	OneOf [][]string
	// Cases say which keys go with which value of the key CaseOf.
	CaseOf string
	Cases  []Case
}

// Case is which of the keys in a rule must and may be present if CaseOf has the value
// Is.
type Case struct {
	Is        string
	Must, May []string
	Text      string // what it means
}

// Object is keys and values.
type Object struct {
	// Name is the Go type, "config.Buffer", and Text its comment.
	Name, Text string
	Fields     []Field
	Rules      Rules
}

// Field is a key.
type Field struct {
	Key, Text string
	Was       string // its key in older files; "" if it is the same
	Required  bool
	Default   string // as it would be written; "" if there is none to tell
	Value     Value
}

// Value is what a key can have. One of its parts is set.
type Value struct {
	Kind   Kind // of a scalar
	Object *Object
	List   *Value // of its elements
	One    bool   // instead of a list of one, the one itself can stand
	Map    *Value // of its values; Keys is its keys
	Keys   Kind
}

// field is the field with this key, nil if there is none.
func (o *Object) field(key string) *Field {
	for i := range o.Fields {
		if o.Fields[i].Key == key {
			return &o.Fields[i]
		}
	}
	return nil
}

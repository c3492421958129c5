// Package schema describes a YAML format to people and to editors, from the Go types
// that the format is read into: as JSON Schema, and as a reference in Markdown.
//
//	Go types: yaml tags, schema tags --.
//	Go source: comments ---------------+--> Read --> Object --> JSON
//	Format: rules, names of detectors -'                    '--> Markdown
//
// Read in this order: Format, Object, Field and Value (this file), read.go (from
// types), kinds.go (what a schema tag can say), comments.go (from source), json.go,
// markdown.go.
//
// A schema tag stands beside the yaml tag of a field:
//
//	TTL *int `yaml:"ttl" schema:"1..255,default=64"`
//
// First is the kind of value (see kinds.go), or nothing for what the Go type says;
// then, in any order, "required" and "keys=KIND" for a map; last "default=TEXT".
//
// Invariants:
//   - sound: what a schema refuses, the format's own reader refuses too, except for a
//     number in quotes and a key without a value, which that reader lets pass;
//   - stable: the same types and comments give the same bytes.
//
// What it does not do: it checks no file. A reader of a format knows what a schema
// cannot say, such as which links there are, and its errors are better.
package schema

import "reflect"

// Format is a format to be described.
type Format struct {
	Title, Description string
	// Root is the struct that a whole file is read into.
	Root reflect.Type
	// Rules are what tags of fields cannot say, by struct.
	Rules map[reflect.Type]Rules
	// Choices are the valid names of kinds that the format leaves to its user:
	// "detector", "response".
	Choices map[string][]string
}

// Rules are what holds between the keys of an object.
type Rules struct {
	// OneOf are sets of keys. Keys of exactly one of the sets are there, one or more.
	OneOf [][]string
	// Cases tell which keys go with which value of the key CaseOf.
	CaseOf string
	Cases  []Case
}

// Case is which of the keys that a rule is about must and may be there if CaseOf has
// the value Is.
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
	Required  bool
	Default   string // as it would be written; "" if there is none to tell
	Value     Value
}

// Value is what a key can have. One of its parts is set.
type Value struct {
	Kind   Kind // of a scalar
	Object *Object
	List   *Value // of its elements
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

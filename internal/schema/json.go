package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"softswitch/internal/lists"
)

// draft is what editors understand best.
const draft = "http://json-schema.org/draft-07/schema#"

// JSON is the format as JSON Schema, with a line end.
func (o *Object) JSON(title string) []byte {
	w := writer{defs: map[*Object]string{}}
	root := w.object(o)
	root.Schema, root.Title = draft, title
	root.Definitions = w.list
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil { // the nodes hold nothing that JSON cannot say
		panic("schema: " + err.Error())
	}
	return out.Bytes()
}

// node is a schema, with the keywords in the order in which they are written.
type node struct {
	Schema      string     `json:"$schema,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Type        any        `json:"type,omitempty"` // a word or a list of words
	Default     any        `json:"default,omitempty"`
	Enum        []any      `json:"enum,omitempty"`
	Const       any        `json:"const,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Minimum     *int64     `json:"minimum,omitempty"`
	Maximum     *int64     `json:"maximum,omitempty"`
	Items       *node      `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Names       *node      `json:"propertyNames,omitempty"`
	Additional  any        `json:"additionalProperties,omitempty"` // false or a node
	Required    []string   `json:"required,omitempty"`
	AllOf       []*node    `json:"allOf,omitempty"`
	AnyOf       []*node    `json:"anyOf,omitempty"`
	OneOf       []*node    `json:"oneOf,omitempty"`
	If          *node      `json:"if,omitempty"`
	Then        *node      `json:"then,omitempty"`
	Definitions properties `json:"definitions,omitempty"`
}

// properties are schemas by name, in their order.
type properties []property

type property struct {
	name string
	node any // *node, or false for one that must not be there
}

// MarshalJSON writes them as one JSON object.
func (ps properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, p.name), ':')
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(p.node); err != nil {
			return nil, err
		}
		out = append(out, value.Bytes()...)
	}
	return append(out, '}'), nil
}

// writer collects the objects below the root as definitions.
type writer struct {
	defs map[*Object]string
	list properties
}

func (w *writer) object(o *Object) *node {
	n := &node{Type: "object", Description: o.Text, Additional: false}
	for _, f := range o.Fields {
		n.Properties = append(n.Properties, property{f.Key, w.described(f.Value, f.Text, literal(f.Default))})
		if f.Was != "" {
			n.Properties = append(n.Properties, property{f.Was, w.described(f.Value, "`"+f.Key+"` in older files.", nil)})
		}
		if f.Required {
			n.need(f)
		}
	}
	for _, keys := range o.Rules.OneOf {
		var any []*node
		for _, k := range keys {
			any = append(any, o.field(k).given()...)
		}
		n.OneOf = append(n.OneOf, &node{AnyOf: any})
	}
	n.AllOf = append(n.AllOf, lists.Map(o.Rules.Cases, o.when)...)
	return n
}

// need has n require f, by its key or by that of older files.
func (n *node) need(f Field) {
	if f.Was == "" {
		n.Required = append(n.Required, f.Key)
		return
	}
	n.AllOf = append(n.AllOf, &node{AnyOf: f.given()})
}

// given are the ways in which f can be there.
func (f Field) given() []*node {
	ways := []*node{{Required: []string{f.Key}}}
	if f.Was != "" {
		ways = append(ways, &node{Required: []string{f.Was}})
	}
	return ways
}

// when is "if CaseOf is Is then the keys are these".
func (o *Object) when(c Case) *node {
	then := &node{}
	for _, k := range c.Must {
		then.need(*o.field(k))
	}
	for _, k := range o.Rules.keys() {
		if slices.Contains(c.Must, k) || slices.Contains(c.May, k) {
			continue
		}
		then.Properties = append(then.Properties, property{k, false})
		if was := o.field(k).Was; was != "" {
			then.Properties = append(then.Properties, property{was, false})
		}
	}
	is := properties{{o.Rules.CaseOf, &node{Const: c.Is}}}
	return &node{If: &node{Properties: is, Required: []string{o.Rules.CaseOf}}, Then: then}
}

// keys are those that some case is about, each once.
func (r Rules) keys() (keys []string) {
	for _, c := range r.Cases {
		for _, k := range slices.Concat(c.Must, c.May) {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// described is a value with what is said of it.
func (w *writer) described(v Value, text string, def any) *node {
	n := w.value(v)
	if text == "" && def == nil {
		return n
	}
	if n.Ref != "" { // beside a reference nothing else counts
		n = &node{AllOf: []*node{n}}
	}
	n.Description, n.Default = text, def
	return n
}

func (w *writer) value(v Value) *node {
	switch {
	case v.Object != nil:
		return &node{Ref: "#/definitions/" + w.define(v.Object)}
	case v.One:
		return &node{AnyOf: []*node{w.value(*v.List), {Type: "array", Items: w.value(*v.List)}}}
	case v.List != nil:
		return &node{Type: "array", Items: w.value(*v.List)}
	case v.Map != nil:
		return &node{Type: "object", Names: v.Keys.name(), Additional: w.value(*v.Map)}
	}
	return v.Kind.node()
}

// define adds o to the definitions, unless it is there, and returns its name there.
func (w *writer) define(o *Object) string {
	if name, ok := w.defs[o]; ok {
		return name
	}
	w.defs[o] = o.Name
	i := len(w.list)
	w.list = append(w.list, property{name: o.Name})
	w.list[i].node = w.object(o)
	return o.Name
}

func (k Kind) node() *node {
	switch {
	case k.Bool:
		return &node{Type: "boolean"}
	case k.Number:
		n := &node{Type: "integer"}
		if k.Low > math.MinInt64 {
			n.Minimum, n.Maximum = &k.Low, &k.High
		}
		return n
	case k.Words != nil:
		return &node{Enum: lists.Map(k.Words, literal)}
	}
	n := &node{Type: "string"}
	if k.Pattern != "" {
		n.Pattern = "^(" + k.Pattern + ")$"
	}
	switch {
	case k.OrAny:
		n.Type = []string{"string", "number", "boolean"}
	case k.OrZero:
		zero := int64(0)
		n.Type, n.Minimum, n.Maximum = []string{"string", "integer"}, &zero, &zero
	}
	return n
}

// name is the kind as keys of a map, which are words in JSON.
func (k Kind) name() *node {
	switch {
	case k.Words != nil:
		return k.node()
	case k.Number && k.High-k.Low < 100:
		n := &node{}
		for i := k.Low; i <= k.High; i++ {
			n.Enum = append(n.Enum, strconv.FormatInt(i, 10))
		}
		return n
	}
	return nil
}

// literal is a YAML scalar, or a list of numbers, as JSON has it: nil for none.
func literal(text string) any {
	if text == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err == nil {
		return v
	}
	return text
}

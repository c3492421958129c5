package verdict

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Schema is the JSON schema of a verdict. docs/verdict.md explains the fields.
func Schema() []byte {
	s := schemaOf(reflect.TypeFor[Verdict]())
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "A verdict of softswitch"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // it holds maps and strings only
	}
	return append(b, '\n')
}

// schemaOf is the schema of a type as encoding/json writes it. A field is required unless its tag has an
// option, of which omitempty is the only one in use here; no other key may be there, so that a field that is
// added without its documentation is noticed. Every number but a float is an integer.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous {
				continue // its fields are among those that are visible
			}
			name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties[name] = schemaOf(f.Type)
			if omit == "" {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

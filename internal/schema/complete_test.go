package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestComplete: a setting goes on with the keys and words of the format.
func TestComplete(t *testing.T) {
	o := readLamps(t)
	for begun, want := range map[string][]string{
		"":                 {"name=", "watt=", "colours.", "shade.", "spares[0].", "on=", "socket=", "do=", "hertz="},
		"s":                {"shade.", "spares[0].", "socket="},
		"shade.":           {"shade.paper="},
		"shade.p":          {"shade.paper="},
		"shade.paper=":     {"shade.paper=true", "shade.paper=false"},
		"spares[7].":       {"spares[7].paper="},
		"spares[7].paper=": {"spares[7].paper=true", "spares[7].paper=false"},
		"spares.":          nil,
		"spares[0.":        nil,
		"socket=E1":        {"socket=E14"},
		"do=":              {"do=glow", "do=blink"},
		"colours.1=":       {"colours.1=red", "colours.1=green"},
		"name=":            nil,
		"name.x":           nil,
		"none=":            nil,
		"none.x.":          nil,
	} {
		if got := o.Complete(begun); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", begun, got, want)
		}
	}
}

// TestSome: what may be one or a list is completed as one, and both are valid.
func TestSome(t *testing.T) {
	type part struct {
		Of string `yaml:"of" schema:"red|green"`
	}
	type file struct {
		Parts strictSome[part]   `yaml:"parts"`
		Names strictSome[string] `yaml:"names"`
	}
	o := Read(Format{Root: reflect.TypeFor[file]()}, nil)
	for begun, want := range map[string][]string{
		"":              {"parts.", "names="},
		"parts.":        {"parts.of="},
		"parts.of=r":    {"parts.of=red"},
		"parts[1].of=r": {"parts[1].of=red"},
	} {
		if got := o.Complete(begun); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", begun, got, want)
		}
	}
	text := string(o.JSON("x"))
	if n := strings.Count(text, `"type": "array"`); n != 2 || strings.Count(text, `"anyOf"`) != 2 {
		t.Errorf("%d lists in %s", n, text)
	}
	if md := string(o.Markdown("x")); strings.Count(md, ", or a list |") != 2 {
		t.Errorf("reference: %s", md)
	}
}

// strictSome is marked as strictyaml.Some is.
type strictSome[T any] []T

func (strictSome[T]) OneWillDo() {}
